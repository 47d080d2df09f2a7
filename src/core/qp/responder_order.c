/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * responder_order.c - what a responder with extensions does in the order of messages: placing ends
 * of messages that waited, executing READs and atomics, invalidating keys.
 */
#include "base/assert.h"
#include "core/ext/ext.h"
#include "core/qp/halves.h"

/*
 * READs and atomics of the peer before which nothing is missing, with MSNs below `below`. A new one
 * may acknowledge answers; what that frees is free before it is executed. REQ(ext.request.order)
 */
static void execute_requests(struct mt_qp *qp, uint64_t below, uint64_t now_ns)
{
	struct mt_rd_atomic *r = qp->ext->rd_atomic;
	struct mt_rd_atomic_req request;

	mb_assert(r && r->of == qp);
	while (mt_rd_atomic_next_req(qp, below, &request)) {
		mt_completer_implied_ack(&r->qp, mt_rd_atomic_implied_ack(r), now_ns);
		mt_rd_atomic_execute(r, &request);
	}
}

/*
 * Places what lies before messages below `below`, WRITEs first: a READ or an atomic must see the
 * memory that WRITEs before it have left.
 */
static void place_in_order(const struct mt_incoming *c, uint64_t below)
{
	struct mt_qp_ext *ext = c->qp->ext;

	mt_in_order_place(c->qp, below);
	if (ext->rd_atomic)
		execute_requests(c->qp, below, c->rx->now_ns);
}

/* The oldest receive whose message invalidates a key, if all of the message and before it came. */
static struct mt_rqe *next_invalidation(struct mt_qp *qp, uint64_t msn)
{
	const struct mt_rq *rq = &qp->rsp.rq;

	for (uint64_t i = rq->used; i < rq->tail; i++) {
		struct mt_rqe *rqe = mt_rq_at(rq, i);

		if (rqe->inv_due)
			return (int32_t)((uint32_t)msn - rqe->msn) > 0 ? rqe : NULL;
	}
	qp->ext->invalidates = false;
	return NULL;
}

/*
 * All before the message is done with the key, and nothing behind it has begun. A key that names no
 * window of this QP makes the message fail with a NAK. REQ(ext.send.inv) REQ(ext.send.inv-refused)
 */
static void invalidate_key(const struct mt_incoming *c, uint64_t msn)
{
	struct mt_rqe *rqe;

	while (c->qp->ext->invalidates && (rqe = next_invalidation(c->qp, msn))) {
		struct mt_incoming of = {.qp = c->qp,
					 .msn = msn - (uint32_t)((uint32_t)msn - rqe->msn)};

		mb_assert(rqe->with_inv && of.msn < msn);
		place_in_order(c, of.msn);
		rqe->inv_due = false;
		if (!mt_incoming_may_place(&of) || mt_mw_invalidate(c->qp, rqe->imm))
			continue;
		mt_incoming_stats(c)->rx_access_errors++;
		mt_incoming_nak(&of, MW_NAK_REMOTE_ACCESS, RD_WC_REM_INV_REQ_ERR);
	}
}

/* Invalidation goes first, for it places what comes before its own message by itself. */
void mt_responder_run_in_order(const struct mt_incoming *c, uint64_t msn)
{
	if (c->qp->ext->invalidates)
		invalidate_key(c, msn);
	place_in_order(c, UINT64_MAX);
}
