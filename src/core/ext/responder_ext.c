/* SPDX-License-Identifier: BSD-2-Clause */
/* responder_ext.c - what becomes of data packets on QPs with extensions only; see qp.h. */
#include <string.h>

#include "base/assert.h"
#include "base/serial.h"
#include "core/ext/ext.h"

/*
 * The extension that both ends must have for an opcode. A packet of another one is dropped like an
 * unknown opcode.
 */
static uint8_t needed_ext(const struct mt_incoming *c)
{
	if (c->op & MW_OP_SEND)
		return c->op & MW_OP_INV ? MW_EXT_SEND | MW_EXT_INV : MW_EXT_SEND;
	if (c->pkt->bth.opcode == MW_ATOMIC_WRITE)
		return MW_EXT_ATOMIC_WRITE;
	return c->pkt->bth.opcode == MW_READ_REQUEST ? MW_EXT_READ : MW_EXT_ATOMIC;
}

/* Answers are taken while requests may be out, and in ERR to say so. REQ(ext.strict) */
bool mt_ext_admit(struct mt_incoming *c)
{
	struct mt_qp *qp = c->qp;
	struct mt_rd_atomic *r;

	if (!(c->op & MW_OP_RESPONSE))
		return qp->ext && !(needed_ext(c) & ~qp->ext->negotiation.negotiated);
	r = qp->ext ? qp->ext->rd_atomic : NULL;
	if (!r || (!mt_qp_may_send(qp) && r->qp.state != RD_QPS_ERR))
		return false;
	mb_assert(r->of == qp && r->qp.response_bit);
	c->qp = &r->qp;
	return true;
}

/* The PSN with which the message of a packet begins. */
static uint32_t first_psn(const struct mt_incoming *c)
{
	return mb_psn_wire(c->psn - c->pkt->data.reth.va / c->qp->attr.path_mtu);
}

/* Packets are full but the last, so that an offset is a number of packets. */
bool mt_parts_fit(const struct mt_parts *p, const struct mt_incoming *c)
{
	const struct mw_reth *reth = &c->pkt->data.reth;

	if (reth->va > reth->dmalen || c->pkt->payload_len > reth->dmalen - reth->va ||
	    reth->va % c->qp->attr.path_mtu != 0)
		return false;
	if ((c->op & MW_OP_START && reth->va != 0) ||
	    (c->op & MW_OP_END && reth->va + c->pkt->payload_len != reth->dmalen))
		return false;
	return p->count == 0 || p->first == first_psn(c);
}

void mt_parts_add(struct mt_parts *p, const struct mt_incoming *c)
{
	p->first = first_psn(c);
	p->count++;
}

/* What is longer than its receive, or contradicts what came before of it. REQ(ext.recv.length) */
void mt_recv_check_room(const struct mt_incoming *c)
{
	const struct mw_reth *reth = &c->pkt->data.reth;

	mb_assert(c->rqe);
	if (reth->dmalen > mt_recv_room(&c->qp->rsp.rq, c->rqe))
		mt_incoming_nak(c, MW_NAK_INVALID_REQUEST, RD_WC_LOC_LEN_ERR);
	else if (!mt_parts_fit(&c->rqe->parts, c) ||
		 (c->rqe->parts.count > 0 && reth->dmalen != c->rqe->byte_len))
		mt_incoming_nak(c, MW_NAK_INVALID_REQUEST, RD_WC_SUCCESS);
}

/*
 * Keeps in the receive what its completion reports, until all earlier messages are complete.
 * REQ(ext.recv.order)
 */
void mt_recv_note(const struct mt_incoming *c)
{
	struct mt_rqe *rqe = c->rqe;

	mb_assert(rqe);
	rqe->byte_len = c->pkt->data.reth.dmalen;
	if (c->op & MW_OP_SEND)
		mt_parts_add(&rqe->parts, c);
	if (!(c->op & MW_OP_END))
		return;
	rqe->msn = (uint32_t)c->msn;
	rqe->imm = c->pkt->data.imm;
	rqe->opcode = c->op & MW_OP_SEND ? RD_WR_SEND : RD_WR_WRITE;
	rqe->with_imm = c->op & MW_OP_IMM;
	rqe->with_inv = rqe->inv_due = c->op & MW_OP_INV;
	c->qp->ext->invalidates |= rqe->inv_due;
	rqe->solicited = c->pkt->bth.se;
	rqe->arrived = true;
}

/*
 * Completes receives of messages that are complete. One that ended without all its packets would
 * show what its buffers held before: it is refused. REQ(rsp.complete.whole)
 */
void mt_recv_complete(struct mt_qp *qp)
{
	struct mt_responder *rsp = &qp->rsp;
	bool torn = false;

	if (mt_recv_complete_below(&rsp->rq, rsp->msn, qp->attr.path_mtu, &torn))
		mt_qp_queue_for_poll(qp);
	if (!torn)
		return;
	rsp->msn -= (uint32_t)rsp->msn - mt_rq_at(&rsp->rq, rsp->rq.used)->msn;
	rsp->pending_nak =
		(struct mt_pending_nak){.msn = rsp->msn, .syndrome = MW_NAK_INVALID_REQUEST};
}

/*
 * Each piece has its own key, which is checked here: what it names may be gone since the WR was
 * posted.
 */
bool mt_recv_scatter(const struct mt_incoming *c, uint32_t pd, struct rd_sge_walk walk,
		     const void *bytes)
{
	const struct mt_engine *e = c->qp->engine;
	const uint8_t *src = bytes;
	struct rd_sge piece;

	while (rd_sge_next(&walk, &piece)) {
		const struct mt_mr *mr = mt_mr_check(&e->mrs, piece.lkey, pd, piece.addr,
						     piece.length, RD_ACCESS_LOCAL_WRITE);

		if (!mr ||
		    !e->env.place(e->env.ctx, mr->user, piece.addr - mr->origin, src, piece.length))
			return false;
		mt_incoming_stats(c)->rx_data_bytes += piece.length;
		if (src)
			src += piece.length;
	}
	return true;
}

/* REQ(ext.recv.scatter) */
void mt_recv_place(const struct mt_incoming *c)
{
	const struct mt_rq *rq = &c->qp->rsp.rq;
	uint32_t pd = rq->srq ? rq->srq->pd : c->qp->cap.pd;

	if (!mt_incoming_may_place(c))
		return;
	mb_assert(c->rqe && c->rqe->n_sge <= rq->max_sge);
	if (!mt_recv_scatter(c, pd,
			     rd_sge_walk(mt_rq_sges(rq, c->rqe), c->rqe->n_sge,
					 c->pkt->data.reth.va, c->pkt->payload_len),
			     c->rx->payload))
		mt_incoming_nak(c, MW_NAK_REMOTE_OP, RD_WC_LOC_PROT_ERR);
}

/*
 * An end of a WRITE ahead of a hole, where the QP keeps the order. SENDs and requests are packets
 * of the extensions and are not placed by key: receives and the queue of requests keep their order.
 * REQ(ext.order.wait)
 */
bool mt_in_order_must_wait(const struct mt_incoming *c)
{
	return c->op & MW_OP_END && c->psn != c->qp->rsp.window.expected && c->qp->cap.in_order &&
	       !(c->op & MW_OP_EXT) && c->pkt->payload_len > 0;
}

/* Copies the payload, since the frame it came in goes back to the driver when this call returns. */
void mt_in_order_buffer(const struct mt_incoming *c)
{
	struct mt_buffered *w = c->buffered;

	mb_assert(w && c->pkt->payload_len > 0);
	*w = (struct mt_buffered){
		.psn = c->psn,
		.msn = c->msn,
		.va = c->pkt->data.reth.va,
		.rkey = c->pkt->data.reth.rkey,
		.len = c->pkt->payload_len,
		.bytes = c->rx->payload != NULL,
	};
	if (w->bytes)
		memcpy(mt_buffered_bytes(w), c->rx->payload, w->len);
	mt_in_order_insert(&c->qp->ext->in_order, w);
}

/*
 * What waited for the hole that is filled now. Its key is asked for once more: it may be gone.
 * REQ(ext.order.wait)
 */
void mt_in_order_place(struct mt_qp *qp, uint64_t below)
{
	const struct mt_engine *e = qp->engine;
	struct mt_buffered *w;

	while ((w = mt_in_order_pop(&qp->ext->in_order, qp->rsp.window.expected, below))) {
		const struct mt_mr *mr =
			mt_mr_check_peer(qp, w->rkey, w->va, w->len, RD_ACCESS_REMOTE_WRITE);
		struct mt_incoming of = {.qp = qp, .msn = w->msn};

		mb_assert(w->psn < qp->rsp.window.expected);
		if (!mt_incoming_may_place(&of))
			; /* its message fails already */
		else if (!mr)
			mt_incoming_nak(&of, MW_NAK_REMOTE_ACCESS, RD_WC_SUCCESS);
		else if (e->env.place(e->env.ctx, mr->user, w->va - mr->origin,
				      w->bytes ? mt_buffered_bytes(w) : NULL, w->len))
			mt_incoming_stats(&of)->rx_data_bytes += w->len;
		else
			mt_incoming_nak(&of, MW_NAK_REMOTE_OP, RD_WC_SUCCESS);
		mt_qp_free_buffered(qp, w);
	}
}
