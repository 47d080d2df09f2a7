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
static bool fits_response(const struct mt_incoming *c, const struct mt_wqe *wqe,
			  const struct mt_parts *parts)
{
	const struct mw_reth *reth = &c->pkt->data.reth;

	if (c->pkt->bth.opcode == MW_ATOMIC_RESPONSE)
		return wqe->opcode != RD_WR_READ && reth->dmalen == 0;
	return wqe->opcode == RD_WR_READ && reth->dmalen == wqe->imm && mt_parts_fit(parts, c);
}

/*
 * A READ scatters its payload over the SGEs, from the offset on that the packet names. An atomic
 * writes one number to one SGE: it travels in the header, so that the response has no payload.
 */
static bool place_response(const struct mt_incoming *c, const struct mt_qp *of,
			   const struct mt_wqe *wqe)
{
	uint64_t original = c->pkt->data.reth.va;
	const struct rd_sge *result;

	if (wqe->opcode == RD_WR_READ)
		return mt_recv_scatter(c, of->cap.pd,
				       rd_sge_walk(mt_sq_sges(&of->req.sq, wqe), wqe->n_sge,
						   original, c->pkt->payload_len),
				       c->rx->payload);
	result = &of->ext->operands[wqe - of->req.sq.wqes].result;
	mb_assert(result->length == sizeof(original));
	return mt_recv_scatter(c, of->cap.pd, rd_sge_walk(result, 1, 0, sizeof(original)),
			       &original);
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
	if (!fits_response(c, wqe, &r->resps[c->msn % RD_ATOMIC_MAX]))
		return MT_RESPONSE_MALFORMED;
	placed = wqe->opcode == RD_WR_ATOMIC_WRITE || place_response(c, r->of, wqe);
	if (placed && wqe->opcode == RD_WR_READ)
		mt_parts_add(&r->resps[c->msn % RD_ATOMIC_MAX], c);
	if (placed)
		return MT_RESPONSE_PLACED;
	mt_qp_fail(r->of, RD_WC_LOC_PROT_ERR, RD_WC_LOC_PROT_ERR);
	return MT_RESPONSE_NO_MEMORY;
}

/*
 * An answer proves that its request was executed, and so all before it. Its bytes being there
 * is what the WR waited for. REQ(ext.response.complete) REQ(rsp.complete.whole)
 */
bool mt_rd_atomic_resp_done(const struct mt_incoming *c, uint64_t *below)
{
	struct mt_rd_atomic *r = mt_rd_atomic_of(c->qp);
	uint32_t mtu = c->qp->attr.path_mtu;

	*below = 0;

	/* A peer that lies about MSNs may have ended more messages than were requested. */
	while (r->n_completed < r->qp.rsp.msn && r->n_completed < r->n_requested) {
		struct mt_wqe *wqe = requesting_wqe(r, r->n_completed);
		const struct mt_parts *parts = &r->resps[r->n_completed % RD_ATOMIC_MAX];

		if (wqe->opcode == RD_WR_READ && !mt_parts_are_whole(parts, wqe->imm, mtu)) {
			mt_qp_fail(r->of, RD_WC_FATAL_ERR, RD_WC_FATAL_ERR);
			return false;
		}
		mb_assert(wqe->flags & MT_WQE_AWAITS_RESPONSE);
		wqe->flags &= (uint8_t)~MT_WQE_AWAITS_RESPONSE;
		wqe->length = wqe->opcode == RD_WR_READ ? wqe->imm : (uint32_t)sizeof(uint64_t);
		*below = r->req_msns[r->n_completed++ % RD_ATOMIC_MAX] + 1;
	}
	return true;
}
