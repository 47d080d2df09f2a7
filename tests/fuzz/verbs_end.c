/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs_end.c - QPs of fuzz_verbs, what they complete and which events there are. */
#include <errno.h>

#include "base/assert.h"
#include "fuzz_verbs.h"

uint8_t *verbs_slot(const struct verbs *v, uint32_t side, uint32_t i, uint32_t number)
{
	return world_slot(&v->w.side[side], i * DEPTH + number % DEPTH);
}

/* ---- completions ---- */

static void check_recv(struct verbs *v, uint32_t side, uint32_t i, const struct ibv_wc *wc)
{
	struct end *e = &v->of[side].end[i];
	const uint8_t *slot;

	mb_assert(verbs_srq_has(wc) == e->shared);
	if (e->shared)
		slot = verbs_srq_done(v, side, e, wc);
	else
		slot = verbs_slot(v, side, i, model_recv_done(&e->model, wc));
	if (wc->status != IBV_WC_SUCCESS)
		return;
	if (i == UD)
		verbs_ud_received(v, side, wc, slot);
	else
		model_received(&e->model, wc, slot);
}

int verbs_poll(struct verbs *v, uint32_t side, uint32_t i, int n)
{
	struct end *e = &v->of[side].end[i];
	struct ibv_wc wc[16];
	int got = verbs_poll_cq(v, e->cq, n, wc);

	mb_assert(got >= 0 && got <= n);
	for (int k = 0; k < got; k++) {
		mb_assert(e->qp && wc[k].qp_num == e->qp->qp_num);
		if (verbs_srq_has(&wc[k]) || model_is_recv(&wc[k])) {
			check_recv(v, side, i, &wc[k]);
			continue;
		}
		model_send_done(&e->model, &wc[k]);
		v->adds_done += wc[k].status == IBV_WC_SUCCESS && wc[k].opcode == IBV_WC_FETCH_ADD;
	}
	return got;
}

void verbs_poll_all(struct verbs *v, uint32_t side)
{
	for (uint32_t i = 0; i < ENDS; i++)
		while (verbs_poll(v, side, i, 16) > 0)
			continue;
}

/* ---- asynchronous events ---- */

static void take_event(struct verbs *v, const struct ibv_async_event *event)
{
	struct end *e;

	if (event->event_type == IBV_EVENT_SRQ_LIMIT_REACHED)
		verbs_srq_limit_reached(event->element.srq->srq_context);
	mb_assert(event->event_type != IBV_EVENT_CQ_ERR);
	if (event->event_type != IBV_EVENT_QP_LAST_WQE_REACHED)
		return;
	e = event->element.qp->qp_context;
	mb_assert(e->qp == event->element.qp && e->shared && (v->drops || !e->last_wqe));
	e->last_wqe = true;
}

void verbs_take_events(struct verbs *v, uint32_t side)
{
	struct ibv_async_event event;

	while (ibv_get_async_event(v->w.side[side].context, &event) == 0) {
		take_event(v, &event);
		ibv_ack_async_event(&event);
	}
	verbs_srq_check(&v->of[side].srq);
}

/* ---- life and states ---- */

/*
 * A reset drops completions, and with them what became of receives of the SRQ: so that each is
 * known, all are polled before, or the SRQ is not judged as strictly any more. Receives that the QP
 * had taken for messages to come go back to the SRQ, in front of those that others took meanwhile.
 */
static void before_reset(struct verbs *v, uint32_t side, uint32_t i)
{
	struct end *e = &v->of[side].end[i];
	struct srq *q = &v->of[side].srq;

	if (!e->shared)
		return;
	if (v->drops) {
		q->inexact = true;
	} else {
		verbs_poll_all(v, side);
		verbs_take_events(v, side);
	}
	q->ordered_from = q->next;
}

static void after_reset(struct end *e)
{
	model_forget(&e->model);
	e->srq_last = 0;
	e->last_wqe = false;
}

void verbs_open_qp(struct verbs *v, uint32_t side, uint32_t i)
{
	struct end *e = &v->of[side].end[i];
	struct srq *q = &v->of[side].srq;
	struct ibv_qp_init_attr init = {.qp_context = e,
					.send_cq = e->cq,
					.recv_cq = e->cq,
					.cap = {DEPTH, DEPTH, 2, 2, 64},
					.qp_type = i == UD ? IBV_QPT_UD : IBV_QPT_RC};

	if (e->wants_srq && !q->srq)
		verbs_srq_open(v, side);
	if (e->wants_srq)
		init.srq = q->srq;
	e->qp = verbs_create_qp(v, v->w.side[side].pd, &init);
	mb_assert(e->qp || errno == ENOMEM);
	e->shared = e->qp && e->wants_srq;
}

void verbs_destroy_qp(struct verbs *v, uint32_t side, uint32_t i)
{
	struct end *e = &v->of[side].end[i];

	before_reset(v, side, i);
	mb_assert(ibv_destroy_qp(e->qp) == 0);
	e->qp = NULL;
	e->shared = false;
	after_reset(e);
}

int verbs_to_state(struct verbs *v, uint32_t side, uint32_t i, enum ibv_qp_state state)
{
	struct end *e = &v->of[side].end[i];
	struct ibv_qp_attr attr = {.qp_state = state, .port_num = 1};
	int err;

	if (state == IBV_QPS_RESET)
		before_reset(v, side, i);
	err = ibv_modify_qp(e->qp, &attr, IBV_QP_STATE);
	if (!err && state == IBV_QPS_RESET)
		after_reset(e);
	return err;
}

enum ibv_qp_state verbs_state(const struct end *e)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	mb_assert(ibv_query_qp(e->qp, &attr, IBV_QP_STATE, &init) == 0);
	return attr.qp_state;
}

static void to_rts(struct ibv_qp *qp, const struct side *far, uint32_t dest_qpn, uint32_t psn)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT,
				.port_num = 1,
				.qp_access_flags = ACCESS_ALL & ~IBV_ACCESS_MW_BIND,
				.path_mtu = IBV_MTU_256,
				.dest_qp_num = dest_qpn,
				.rq_psn = psn,
				.sq_psn = psn,
				.max_rd_atomic = 4,
				.max_dest_rd_atomic = 4,
				.min_rnr_timer = 1,
				.timeout = 6,
				.retry_cnt = 7,
				.rnr_retry = 6,
				.ah_attr = {.grh.dgid = far->gid, .is_global = 1, .port_num = 1}};

	mb_assert(ibv_modify_qp(qp, &a,
				IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					IBV_QP_ACCESS_FLAGS) == 0);
	a.qp_state = IBV_QPS_RTR;
	mb_assert(ibv_modify_qp(qp, &a,
				IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
					IBV_QP_MIN_RNR_TIMER) == 0);
	a.qp_state = IBV_QPS_RTS;
	mb_assert(ibv_modify_qp(qp, &a,
				IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					IBV_QP_MAX_QP_RD_ATOMIC) == 0);
}

/* A reset is always possible. */
void verbs_connect(struct verbs *v, uint32_t pair)
{
	struct end *e[SIDES] = {&v->of[0].end[pair], &v->of[1].end[pair]};
	uint32_t psn = world_next_psn(&v->w);

	for (uint32_t s = 0; s < SIDES; s++) {
		if (!e[s]->qp)
			verbs_open_qp(v, s, pair);
		if (!e[s]->qp)
			return;
		mb_assert(verbs_to_state(v, s, pair, IBV_QPS_RESET) == 0);
	}
	for (uint32_t s = 0; s < SIDES; s++)
		to_rts(e[s]->qp, &v->w.side[1 - s], e[1 - s]->qp->qp_num, psn);
	model_connect(&e[0]->model, &e[1]->model);
}
