/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rd_atomic_requester.c - answers to our READs and atomics. Number and offset of an answer's packet
 * say which bytes of which WR it brings; both are compared with what was requested.
 * REQ(ext.response.place)
 */
#include "base/assert.h"
#include "core/ext/ext.h"

/*
 * The WQE of the n-th request. Its slot is still its own: a WQE completes only after its response.
 */
static struct mt_wqe *requesting_wqe(struct mt_rd_atomic *r, uint64_t n)
{
	mb_assert(n < r->n_requested && r->n_requested - n <= RD_ATOMIC_MAX);
	return mt_sq_at(&r->of->req.sq, r->req_msns[n % RD_ATOMIC_MAX]);
}

/* Whether the packet can be of the answer that the WR waits for. */
static bool fits_response(const struct mt_incoming *c, const struct mt_wqe *wqe)
{
	const struct mw_reth *reth = &c->pkt->data.reth;

	if (c->pkt->bth.opcode == MW_ATOMIC_RESPONSE)
		return wqe->opcode != RD_WR_READ && reth->dmalen == 0;
	return wqe->opcode == RD_WR_READ && reth->dmalen == wqe->imm && reth->va <= reth->dmalen &&
	       c->pkt->payload_len <= reth->dmalen - reth->va;
}

/* The key is checked again for each piece, since the MR may be gone since the WR was posted. */
static bool place_piece(const struct mt_incoming *c, const struct rd_sge *piece, const void *src)
{
	const struct mt_engine *e = c->qp->engine;
	const struct mt_mr *mr = mt_mr_check(&e->mrs, piece->lkey, c->qp->cap.pd, piece->addr,
					     piece->length, RD_ACCESS_LOCAL_WRITE);

	if (!mr ||
	    !e->env.place(e->env.ctx, mr->user, piece->addr - mr->origin, src, piece->length))
		return false;
	mt_incoming_stats(c)->rx_data_bytes += piece->length;
	return true;
}

/* The payload goes to the SGEs of the READ, at the offset that the packet names. */
static bool place_read(const struct mt_incoming *c, const struct mt_qp *of,
		       const struct mt_wqe *wqe)
{
	const struct rd_sge *sges = mt_sq_sges(&of->req.sq, wqe);
	const uint8_t *src = c->rx->payload;
	struct rd_sge piece;
	struct rd_sge_walk walk =
		rd_sge_walk(sges, wqe->n_sge, c->pkt->data.reth.va, c->pkt->payload_len);

	while (rd_sge_next(&walk, &piece)) {
		if (!place_piece(c, &piece, src))
			return false;
		if (src)
			src += piece.length;
	}
	return true;
}

/* The value that the atomic found travels in the header, so that the response has no payload. */
static bool place_atomic(const struct mt_incoming *c, const struct mt_qp *of,
			 const struct mt_wqe *wqe)
{
	const struct rd_sge *sge = &of->ext->operands[wqe - of->req.sq.wqes].result;
	uint64_t original = c->pkt->data.reth.va;

	mb_assert(sge->length == sizeof(original));
	return place_piece(c, sge, &original);
}

/* An atomic writes one number to one SGE; a READ scatters its bytes over all of them. */
static bool place_payload(const struct mt_incoming *c, const struct mt_qp *of,
			  const struct mt_wqe *wqe)
{
	return wqe->opcode == RD_WR_READ ? place_read(c, of, wqe) : place_atomic(c, of, wqe);
}

/*
 * A peer may send any response: number, kind, offset and length are checked against the request
 * before anything is written.
 */
enum mt_response_found mt_rd_atomic_place_resp(const struct mt_incoming *c)
{
	struct mt_rd_atomic *r = mt_rd_atomic_of(c->qp);
	struct mt_wqe *wqe;
	bool placed;

	if (c->msn >= r->n_requested)
		return MT_RESPONSE_MALFORMED;
	wqe = requesting_wqe(r, c->msn);
	mb_assert_slow(wqe->flags & MT_WQE_AWAITS_RESPONSE);
	if (!fits_response(c, wqe))
		return MT_RESPONSE_MALFORMED;
	placed = wqe->opcode == RD_WR_ATOMIC_WRITE || place_payload(c, r->of, wqe);
	if (placed)
		return MT_RESPONSE_PLACED;
	mt_qp_fail(r->of, RD_WC_LOC_PROT_ERR, RD_WC_LOC_PROT_ERR);
	return MT_RESPONSE_NO_MEMORY;
}

/*
 * An answer proves that its request was executed, and so all before it. Its bytes being there
 * is what the WR waited for. REQ(ext.response.complete)
 */
void mt_rd_atomic_resp_done(const struct mt_incoming *c)
{
	struct mt_rd_atomic *r = mt_rd_atomic_of(c->qp);

	/* A peer that lies about MSNs may have ended more messages than were requested. */
	while (r->n_completed < r->qp.rsp.msn && r->n_completed < r->n_requested) {
		struct mt_wqe *wqe = requesting_wqe(r, r->n_completed);
		uint64_t msn = r->req_msns[r->n_completed++ % RD_ATOMIC_MAX];

		mb_assert(wqe->flags & MT_WQE_AWAITS_RESPONSE);
		wqe->flags &= (uint8_t)~MT_WQE_AWAITS_RESPONSE;
		wqe->length = wqe->opcode == RD_WR_READ ? wqe->imm : (uint32_t)sizeof(uint64_t);
		if (r->acked <= msn)
			r->acked = msn + 1;
	}
}
