/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/local.h"

#include <string.h>

#include "core/engine_state.h"
#include "core/mw.h"
#include "core/responses.h"

#define FLAGS_KNOWN ((uint32_t)MT_WR_SIGNALED | MT_WR_FENCE)

static size_t size_of(const struct mt_qp *qp)
{
	return sizeof(struct mt_locals) + ((size_t)qp->req.sq.mask + 1) * sizeof(struct mt_local);
}

static struct mt_local *at(struct mt_locals *l, uint64_t n)
{
	return &l->ring[n & l->mask];
}

static bool silent(const struct mt_qp *qp, const struct mt_local *local)
{
	return local->status == MT_WC_SUCCESS && !qp->req.sq.signal_all &&
	       !(local->wr.flags & MT_WR_SIGNALED);
}

/* ---- posting ---- */

static bool take_ring(struct mt_qp *qp)
{
	struct mt_locals *l = qp->ext->locals;

	if (l)
		return true;
	l = mt_engine_alloc(qp->engine, size_of(qp));
	if (!l)
		return false;
	*l = (struct mt_locals){.mask = qp->req.sq.mask};
	qp->ext->locals = l;
	return true;
}

/* Frees the places of those that nobody asks for and that all before them are complete. */
static void skip_silent(struct mt_qp *qp, struct mt_locals *l)
{
	while (l->head < l->next && at(l, l->head)->before <= qp->req.sq.head &&
	       silent(qp, at(l, l->head)))
		l->head++;
}

static bool known(const struct mt_qp *qp, const struct mt_local_wr *wr)
{
	return qp->ext && (wr->opcode == MT_WR_LOCAL_INV || wr->opcode == MT_WR_BIND_MW) &&
	       !(wr->flags & ~FLAGS_KNOWN);
}

int mt_qp_post_local(struct mt_qp *qp, const struct mt_local_wr *wr)
{
	struct mt_locals *l;

	if (!mt_qp_may_send(qp) && qp->state != MT_QPS_ERR)
		return MT_ERR_STATE;
	if (!known(qp, wr))
		return MT_ERR_INVALID;
	if (!take_ring(qp))
		return MT_ERR_MEMORY;
	l = qp->ext->locals;
	skip_silent(qp, l);
	if (l->tail - l->head == qp->req.sq.depth)
		return MT_ERR_FULL;
	*at(l, l->tail++) = (struct mt_local){.wr = *wr, .before = qp->req.sq.tail};
	if (qp->state == MT_QPS_ERR) {
		mt_locals_flush(qp);
		mt_qp_completes(qp);
		return MT_OK;
	}
	mt_locals_carry_out(qp);
	mt_qp_wake(qp);
	return MT_OK;
}

/* ---- carrying out ---- */

static enum mt_wc_status carry_out(struct mt_qp *qp, const struct mt_local_wr *wr)
{
	if (wr->opcode == MT_WR_LOCAL_INV)
		return mt_mw_invalidate(qp, wr->rkey) ? MT_WC_SUCCESS : MT_WC_LOC_QP_OP_ERR;
	if (!mt_mw_bind(qp, wr))
		return MT_WC_MW_BIND_ERR;
	qp->ext->binds = true;
	return MT_WC_SUCCESS;
}

/* REQ(ext.local.fence) REQ(req.sqd) */
static bool turn_has_come(const struct mt_qp *qp, const struct mt_local *local)
{
	return qp->state == MT_QPS_RTS &&
	       !(local->wr.flags & MT_WR_FENCE && mt_responses_open(qp) > 0);
}

/* REQ(ext.local.error) */
static void fail(struct mt_qp *qp, struct mt_local *local, enum mt_wc_status status)
{
	if (qp->req.sq.done < qp->req.sq.next)
		return; /* it is tried again when more is complete */
	local->status = (uint8_t)status;
	qp->ext->locals->next++;
	mt_qp_fail(qp, MT_WC_WR_FLUSH_ERR, status);
}

bool mt_locals_carry_out(struct mt_qp *qp)
{
	struct mt_locals *l = qp->ext->locals;

	while (l && l->next < l->tail && at(l, l->next)->before <= qp->req.sq.next) {
		struct mt_local *local = at(l, l->next);
		enum mt_wc_status status;

		if (!turn_has_come(qp, local))
			return false;
		status = carry_out(qp, &local->wr);
		if (status != MT_WC_SUCCESS) {
			fail(qp, local, status);
			return false;
		}
		local->status = MT_WC_SUCCESS;
		l->next++;
		mt_qp_completes(qp);
	}
	return true;
}

/* ---- completions ---- */

void mt_locals_flush(struct mt_qp *qp)
{
	struct mt_locals *l = qp->ext ? qp->ext->locals : NULL;

	for (; l && l->next < l->tail; l->next++)
		at(l, l->next)->status = MT_WC_WR_FLUSH_ERR;
}

static void tell(const struct mt_local *local, struct mt_event *ev)
{
	*ev = (struct mt_event){
		.type = MT_EVENT_SEND,
		.status = local->status,
		.opcode = (uint8_t)local->wr.opcode,
		.wr_id = local->wr.wr_id,
	};
}

bool mt_locals_poll(struct mt_qp *qp, struct mt_event *ev)
{
	struct mt_locals *l = qp->ext->locals;
	struct mt_sq *sq = &qp->req.sq;

	while (l->head < l->next) {
		const struct mt_local *local = at(l, l->head);

		if (mt_sq_poll(sq, local->before, ev))
			return true;
		if (sq->head < local->before)
			return false;
		l->head++;
		if (!silent(qp, local)) {
			tell(local, ev);
			return true;
		}
	}
	return mt_sq_poll(sq, UINT64_MAX, ev);
}

void mt_locals_free(struct mt_qp *qp)
{
	struct mt_locals *l = qp->ext->locals;

	if (qp->ext->binds)
		mt_mw_forget_qp(qp);
	if (l)
		mb_pool_put(&qp->engine->pool, l, size_of(qp));
	qp->ext->locals = NULL;
}
