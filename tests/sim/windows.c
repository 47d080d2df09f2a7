/* SPDX-License-Identifier: BSD-2-Clause */
/* windows.c - memory windows that are bound and taken back in the middle of traffic; see shared.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "node.h"

/* Tells them from messages. */
#define WR_ID (UINT64_C(1) << 61)

void sim_mw_open(struct sim_qp *qp, uint32_t i, enum rd_mw_type type)
{
	struct sim_node *node = qp->node;
	struct sim_mw *mw = &qp->mws[i];
	int result;

	*mw = (struct sim_mw){.qp = qp, .index = SIM_MRS_MAX + 1 + node->n_mws++, .type = type};
	result = mt_mw_add(node->engine, mw->index << 8, qp->cfg.cap.pd, type);
	if (result != MT_OK)
		sim_fail(&node->w->check, "node %u: mt_mw_add: %d", node->id, result);
}

void sim_mws_fini(struct sim_qp *qp)
{
	for (uint32_t i = 0; i < SIM_MWS; i++)
		for (struct sim_key *key = qp->mws[i].key, *before; key; key = before) {
			before = key->before;
			free(key);
		}
}

/* ---- posting ---- */

static bool post(struct sim_mw *mw, struct mt_local_wr *wr)
{
	struct sim_qp *qp = mw->qp;
	struct sim_locals *l = &qp->locals;
	int result;

	wr->wr_id = WR_ID | l->posted;
	wr->flags |= RD_SEND_SIGNALED;
	ENGINE_NODE_CALL(&qp->node->base, result, mt_qp_post_local(qp->qp, wr));
	if (result == MT_ERR_MEMORY || result == MT_ERR_FULL)
		return false;
	if (result != MT_OK || l->n == SIM_LOCALS_MAX) {
		sim_fail(&qp->node->w->check, "node %u qp %u: mt_qp_post_local: %d", qp->node->id,
			 qp->qpn, result);
		return false;
	}
	l->posted++;
	l->of[l->n].wr_id = wr->wr_id;
	l->of[l->n].after = qp->out.n;
	l->of[l->n].opcode = wr->opcode;
	l->of[l->n++].mw = mw;
	return true;
}

static void add_key(struct sim_mw *mw, uint32_t rkey)
{
	struct sim_key *key = malloc(sizeof(*key));

	if (!key) {
		perror("sim world");
		abort();
	}
	*key = (struct sim_key){.rkey = rkey, .before = mw->key};
	key->addr = mw->zero_based ? 0 : mw->qp->mr->start + mw->base;
	mw->key = key;
}

static uint32_t next_key(const struct sim_mw *mw)
{
	return mw->index << 8 | (((mw->key ? mw->key->rkey : 0) + 1) & 0xFF);
}

bool sim_mw_bind(struct sim_mw *mw, uint64_t length, bool zero_based, uint32_t flags)
{
	struct sim_mr *mr = mw->qp->mr;
	uint64_t taken = mr->taken;
	struct mt_local_wr wr = {.opcode = RD_WR_BIND_MW,
				 .window = mw->index,
				 .rkey = next_key(mw),
				 .lkey = mr->key,
				 .access = RD_ACCESS_REMOTE_WRITE | RD_ACCESS_REMOTE_READ,
				 .addr = mr->start + taken,
				 .length = length,
				 .zero_based = zero_based,
				 .flags = flags};

	if (!post(mw, &wr))
		return false;
	mw->base = sim_mr_take(mr, length);
	mw->length = length;
	mw->taken = 0;
	mw->zero_based = zero_based;
	mw->last_use = 0;
	mw->state = SIM_MW_ASKED;
	add_key(mw, wr.rkey);
	return true;
}

bool sim_mw_end(struct sim_mw *mw, uint32_t flags)
{
	struct mt_local_wr wr = {.opcode =
					 mw->type == RD_MW_TYPE_1 ? RD_WR_BIND_MW : RD_WR_LOCAL_INV,
				 .window = mw->index,
				 .rkey = mw->key->rkey,
				 .flags = flags};

	/* Bound to nothing its key names nothing, which would be so with the old key, too. */
	if (mw->type == RD_MW_TYPE_1)
		wr.rkey = next_key(mw);
	if (!post(mw, &wr))
		return false;
	mw->state = SIM_MW_ENDING;
	return true;
}

void sim_mw_aim(struct sim_mw *mw, uint32_t len, struct sim_msg *m)
{
	m->mr_offset = mw->base + mw->taken;
	m->remote_addr = mw->key->addr + mw->taken;
	m->rkey = mw->key->rkey;
	m->key = mw->key;
	mw->taken += len;
}

bool sim_mw_is_quiet(const struct sim_mw *mw)
{
	return mw->qp->peer->out.completed >= mw->last_use;
}

/* ---- judging ---- */

static void local_is_done(struct sim_mw *mw)
{
	if (mw->state == SIM_MW_ASKED) {
		/* Of type 1 the binding before ends with this one; those before it have ended. */
		for (struct sim_key *key = mw->key->before; key && !key->over; key = key->before)
			key->over = true;
		mw->state = SIM_MW_BOUND;
		return;
	}
	mw->key->over = true;
	mw->state = SIM_MW_FREE;
}

static bool message_is_due(const struct sim_flow *f, size_t below)
{
	for (size_t i = f->completed; i < below; i++)
		if (f->signal_all || f->msgs[i]->flags & RD_SEND_SIGNALED ||
		    f->msgs[i]->want != RD_WC_SUCCESS)
			return true;
	return false;
}

/* REQ(ext.local.order) */
void sim_local_event(struct sim_qp *qp, const struct mt_event *ev)
{
	struct sim_locals *l = &qp->locals;

	if (l->n == 0 || ev->wr_id != l->of[0].wr_id || ev->opcode != l->of[0].opcode ||
	    ev->status != RD_WC_SUCCESS || message_is_due(&qp->out, l->of[0].after)) {
		sim_fail(&qp->node->w->check,
			 "node %u qp %u: local WR %" PRIx64 " completed with %s, %u are pending, "
			 "the first behind message %zu",
			 qp->node->id, qp->qpn, ev->wr_id, mt_wc_status_name(ev->status), l->n,
			 l->n ? l->of[0].after : 0);
		return;
	}
	local_is_done(l->of[0].mw);
	l->n--;
	for (uint32_t i = 0; i < l->n; i++)
		l->of[i] = l->of[i + 1];
}

void sim_local_check(struct sim_qp *qp)
{
	const struct sim_locals *l = &qp->locals;

	if (l->n > 0 && qp->out.completed > l->of[0].after)
		sim_fail(&qp->node->w->check,
			 "node %u qp %u: a message completes before a local WR posted before it",
			 qp->node->id, qp->qpn);
}

/* REQ(ext.mw.invalidate) */
void sim_mw_invalidated(struct sim_qp *qp, const struct sim_msg *m, const struct mt_event *ev)
{
	bool wanted = m->flags & RD_SEND_INV;

	if (ev->invalidated != wanted || (wanted && ev->imm != m->imm)) {
		sim_fail(&qp->node->w->check,
			 "%s: message %zu invalidates %x, completion says %d %x", m->flow->name,
			 m->number, m->imm, ev->invalidated, ev->imm);
		return;
	}
	for (uint32_t i = 0; wanted && i < SIM_MWS; i++)
		if (qp->mws[i].key && qp->mws[i].key->rkey == m->imm) {
			qp->mws[i].key->over = true;
			qp->mws[i].state = SIM_MW_FREE;
		}
}
