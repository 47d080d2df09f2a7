/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_wr.c - send WRs that need no packet: their ring, when they are executed, and how their
 * completions merge with those of the send queue. See core/state/qp.h.
 */
#include <string.h>

#include "base/assert.h"
#include "core/ext/ext.h"

#define FLAGS_KNOWN ((uint32_t)RD_SEND_SIGNALED | RD_SEND_FENCE)

/*
 * The ring has as many places as the send queue, for the depth that a program asks for bounds both.
 */
static size_t local_sq_bytes(const struct mt_qp *qp)
{
	return sizeof(struct mt_local_sq) +
	       ((size_t)qp->req.sq.mask + 1) * sizeof(struct mt_local_wqe);
}

/* The order that core/state/qp.h draws, and no more WRs than the send queue has places. */
static bool is_consistent(const struct mt_qp *qp, const struct mt_local_sq *l)
{
	return l->head <= l->next && l->next <= l->tail && l->tail - l->head <= qp->req.sq.depth;
}

/* An unsignalled WR that succeeded has no completion, so its place can be used again at once. */
static bool is_silent_success(const struct mt_qp *qp, const struct mt_local_wqe *local)
{
	return local->status == RD_WC_SUCCESS && !qp->req.sq.signal_all &&
	       !(local->wr.flags & RD_SEND_SIGNALED);
}

/* ---- posting ---- */

static bool alloc_local_sq(struct mt_qp *qp)
{
	struct mt_local_sq *l = qp->ext->local_sq;

	if (l)
		return true;
	l = mt_engine_alloc(qp->engine, local_sq_bytes(qp));
	if (!l)
		return false;
	mb_assert(qp->req.sq.depth <= (uint64_t)qp->req.sq.mask + 1);
	*l = (struct mt_local_sq){.mask = qp->req.sq.mask};
	qp->ext->local_sq = l;
	return true;
}

/* Frees the places of those that have no completion, once all before them are complete. */
static void free_silent(struct mt_qp *qp, struct mt_local_sq *l)
{
	mb_assert(is_consistent(qp, l));
	while (l->head < l->next && mt_local_wqe_at(l, l->head)->before <= qp->req.sq.head &&
	       is_silent_success(qp, mt_local_wqe_at(l, l->head)))
		l->head++;
}

/* Local WRs are part of the extensions; a plain QP refuses them with an error. */
static bool local_wr_is_supported(const struct mt_qp *qp, const struct mt_local_wr *wr)
{
	return qp->ext && (wr->opcode == RD_WR_LOCAL_INV || wr->opcode == RD_WR_BIND_MW) &&
	       !(wr->flags & ~FLAGS_KNOWN);
}

/*
 * A local WR is executed at once when everything before it is sent, and otherwise by the requester.
 */
int mt_qp_post_local(struct mt_qp *qp, const struct mt_local_wr *wr)
{
	struct mt_local_sq *l;

	if (!mt_qp_may_send(qp) && qp->state != RD_QPS_ERR)
		return MT_ERR_STATE;
	if (!local_wr_is_supported(qp, wr))
		return MT_ERR_INVALID;
	if (!alloc_local_sq(qp))
		return MT_ERR_MEMORY;
	l = qp->ext->local_sq;
	free_silent(qp, l);
	if (l->tail - l->head == qp->req.sq.depth)
		return MT_ERR_FULL;
	*mt_local_wqe_at(l, l->tail++) =
		(struct mt_local_wqe){.wr = *wr, .before = qp->req.sq.tail};
	if (qp->state == RD_QPS_ERR) {
		mt_local_wr_flush(qp);
		mt_qp_queue_for_poll(qp);
		return MT_OK;
	}
	mt_local_wr_execute(qp); /* else when what is before it is sent or answered */
	return MT_OK;
}

/* ---- executing ---- */

static enum rd_wc_status execute_local_wr(struct mt_qp *qp, const struct mt_local_wr *wr)
{
	if (wr->opcode == RD_WR_LOCAL_INV)
		return mt_mw_invalidate(qp, wr->rkey) ? RD_WC_SUCCESS : RD_WC_LOC_QP_OP_ERR;
	if (!mt_mw_bind(qp, wr))
		return RD_WC_MW_BIND_ERR;
	qp->ext->binds = true;
	return RD_WC_SUCCESS;
}

/*
 * A fence waits for READs and atomics, which may still use the key that is to be invalidated. In
 * SQD nothing begins. REQ(ext.local.fence) REQ(req.sqd)
 */
static bool can_execute(const struct mt_qp *qp, const struct mt_local_wqe *local)
{
	return qp->state == RD_QPS_RTS &&
	       !(local->wr.flags & RD_SEND_FENCE && mt_rd_atomic_outstanding(qp) > 0);
}

/*
 * A failure ends the QP, so it waits until all earlier WRs are complete and keep their own status.
 * REQ(ext.local.error)
 */
static void fail_local_wr(struct mt_qp *qp, struct mt_local_wqe *local, enum rd_wc_status status)
{
	mb_assert(status != RD_WC_SUCCESS && qp->ext->local_sq->next < qp->ext->local_sq->tail);
	if (qp->req.sq.done < qp->req.sq.next)
		return; /* it is tried again when more is complete */
	local->status = (uint8_t)status;
	qp->ext->local_sq->next++;
	mt_qp_fail(qp, RD_WC_WR_FLUSH_ERR, status);
}

/* Executes in the order of posting, and stops at the first that must wait. */
bool mt_local_wr_execute(struct mt_qp *qp)
{
	struct mt_local_sq *l = qp->ext->local_sq;

	while (l && l->next < l->tail && mt_local_wqe_at(l, l->next)->before <= qp->req.sq.next) {
		struct mt_local_wqe *local = mt_local_wqe_at(l, l->next);
		enum rd_wc_status status;

		if (!can_execute(qp, local))
			return false;
		status = execute_local_wr(qp, &local->wr);
		if (status != RD_WC_SUCCESS) {
			fail_local_wr(qp, local, status);
			return false;
		}
		mb_assert(local->before <= qp->req.sq.tail);
		local->status = RD_WC_SUCCESS;
		l->next++;
		mt_qp_queue_for_poll(qp);
	}
	return true;
}

/* ---- completions ---- */

static void fill_completion(const struct mt_local_wqe *local, struct mt_event *ev)
{
	*ev = (struct mt_event){
		.type = MT_EVENT_SEND,
		.status = local->status,
		.opcode = (uint8_t)local->wr.opcode,
		.wr_id = local->wr.wr_id,
	};
}

/*
 * Merges the completions of both queues. `before` of a local WR says how many WQEs complete first.
 */
bool mt_local_wr_poll(struct mt_qp *qp, struct mt_event *ev)
{
	struct mt_local_sq *l = qp->ext->local_sq;
	struct mt_sq *sq = &qp->req.sq;

	mb_assert(is_consistent(qp, l));
	while (l->head < l->next) {
		const struct mt_local_wqe *local = mt_local_wqe_at(l, l->head);

		if (mt_sq_poll(sq, local->before, ev))
			return true;
		if (sq->head < local->before)
			return false;
		l->head++;
		if (!is_silent_success(qp, local)) {
			fill_completion(local, ev);
			return true;
		}
	}
	return mt_sq_poll(sq, UINT64_MAX, ev);
}

/* Windows that the QP bound are unbound: the QPN may soon belong to another QP. */
void mt_local_wr_free(struct mt_qp *qp)
{
	struct mt_local_sq *l = qp->ext->local_sq;

	if (qp->ext->binds)
		mt_mw_unbind_qp(qp);
	if (l)
		mb_pool_put(&qp->engine->pool, l, local_sq_bytes(qp));
	qp->ext->local_sq = NULL;
}
