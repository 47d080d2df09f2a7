/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * qp_state.c - steps of a QP that every part may take: it joins the lists that the engine goes
 * through, begins to send or receive, and fails.
 */
#include "base/assert.h"
#include "base/serial.h"
#include "core/state/engine_state.h"
#include "core/state/qp.h"

/* PSNs start one cycle of 2^24 up, so that "a little behind the first" is not below zero. */
#define PSN_ORIGIN (UINT64_C(1) << MB_PSN_BITS)

void mt_qp_init_links(struct mt_qp *qp)
{
	mb_link_init(&qp->ready);
	mb_link_init(&qp->control);
	mb_link_init(&qp->completion);
	mb_link_init(&qp->ev_set_user);
	mb_link_init(&qp->window_owner);
	mb_timer_init(&qp->timer);
}

void mt_qp_queue_for_tx(struct mt_qp *qp)
{
	const struct mt_requester *req = &qp->req;

	if (mt_qp_may_send(qp) && (req->sq.next < req->sq.tail || req->window.lost > 0 ||
				   req->repeat_last || mt_local_wr_pending(qp)))
		mb_list_push(&qp->engine->ready, &qp->ready);
}

void mt_qp_queue_for_poll(struct mt_qp *qp)
{
	mb_list_push(&qp->engine->completions, &qp->completion);
}

bool mt_qp_uses_dynamic_mpr(const struct mt_qp *qp)
{
	return qp->attr.dynamic_mpr || qp->engine->cfg.dynamic_mpr;
}

/* REQ(ext.mw.of-qp) */
const struct mt_mr *mt_mr_check_peer(const struct mt_qp *qp, uint32_t key, uint64_t addr,
				     uint64_t len, uint32_t access)
{
	const struct mt_mr *mr = mt_mr_check(&qp->engine->mrs, key, qp->cap.pd, addr, len, access);

	return mr && mr->qpn != 0 && mr->qpn != qp->qpn ? NULL : mr;
}

void mt_qp_begin_receiving(struct mt_qp *qp, const struct rd_qp_attr *a)
{
	mb_assert(a->mpr_dest > 0 && a->max_wimm_dest > 0 && a->rq_psn <= MB_PSN_MASK);
	mb_assert(!qp->rsp.window.received && !qp->rsp.stash.slots);
	mt_rx_window_init(&qp->rsp.window, a->mpr_dest * MT_MPR_UNIT, PSN_ORIGIN + a->rq_psn);
	mt_imm_stash_init(&qp->rsp.stash, a->max_wimm_dest);
}

/* REQ(req.retry.timeout) */
void mt_qp_begin_sending(struct mt_qp *qp, const struct rd_qp_attr *a, uint64_t now_ns)
{
	const struct mt_engine *e = qp->engine;
	struct mt_requester *req = &qp->req;

	mb_assert(a->mpr > 0 && a->path_mtu > 0 && a->sq_psn <= MB_PSN_MASK);
	mb_assert(a->cc_profile < e->cfg.max_profiles && e->cc_profiles[a->cc_profile].set);
	mb_assert(mt_tx_is_empty(&req->window) && req->sq.next == req->sq.tail);
	mt_tx_window_init(&req->window, PSN_ORIGIN + a->sq_psn);
	req->post_psn = req->window.next;
	qp->first_probe = e->probes.next;
	/* Until the responder has said what it has room for, as little as it can offer. */
	req->mpr = mt_qp_uses_dynamic_mpr(qp) || a->dynamic_mpr ? 1 : a->mpr;
	mt_rtt_init(&req->rtt);
	req->pace = (struct mt_pace){0};
	mt_cc_init(&req->cc, &e->cc_profiles[a->cc_profile], a->path_mtu, now_ns);
}

void mt_rd_atomic_stop(struct mt_rd_atomic *r)
{
	struct mt_sq *sq = &r->qp.req.sq;

	mb_assert(r->qp.response_bit && r->of->ext->rd_atomic == r);
	r->qp.state = RD_QPS_ERR;
	r->n_queued = 0;
	sq->head = sq->done = sq->next = sq->tail;
	mt_qp_stop_timer(&r->qp);
	mb_link_remove(&r->qp.ready);
}

void mt_local_wr_flush(struct mt_qp *qp)
{
	struct mt_local_sq *l = qp->ext ? qp->ext->local_sq : NULL;

	mb_assert(!l || (l->head <= l->next && l->next <= l->tail));
	for (; l && l->next < l->tail; l->next++)
		mt_local_wqe_at(l, l->next)->status = RD_WC_WR_FLUSH_ERR;
}

/*
 * The response QP reports nothing: the requester that waits for a response times out.
 * REQ(req.error.flush)
 */
void mt_qp_fail(struct mt_qp *qp, enum rd_wc_status oldest, enum rd_wc_status why)
{
	enum rd_wc_status first = qp->rsp.nak_due && qp->rsp.pending_nak.recv
					  ? (enum rd_wc_status)qp->rsp.pending_nak.recv
					  : RD_WC_WR_FLUSH_ERR;

	mb_assert(oldest != RD_WC_SUCCESS && why != RD_WC_SUCCESS);
	if (qp->response_bit) {
		mt_rd_atomic_stop(mt_rd_atomic_of(qp));
		return;
	}
	/* Requests before the one with the NAK are still answered. */
	if (qp->ext && qp->ext->rd_atomic && !qp->rsp.nak_due)
		mt_rd_atomic_stop(qp->ext->rd_atomic);
	qp->state = RD_QPS_ERR;
	qp->failure = (uint8_t)why;
	qp->failure_unreported = true;
	qp->last_wqe_unreported = qp->rsp.rq.srq != NULL;
	mt_sq_flush(&qp->req.sq, oldest);
	mt_local_wr_flush(qp);
	mt_rq_flush(&qp->rsp.rq, first);
	mt_qp_stop_timer(qp);
	mb_link_remove(&qp->ready);
	mt_qp_queue_for_poll(qp);
	mb_assert(qp->req.sq.done == qp->req.sq.tail && qp->rsp.rq.used == qp->rsp.rq.tail);
	mb_assert(!mt_local_wr_pending(qp) && !mb_timer_is_armed(&qp->timer));
}
