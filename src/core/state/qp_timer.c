/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * qp_timer.c - when a QP's timer is due: the ACK timeout, tail probes, and the times for which the
 * peer asked to wait. What happens then is in qp/qp.c.
 */
#include "base/assert.h"
#include "core/state/engine_state.h"
#include "core/state/qp.h"

static uint64_t agreed_rto_ns(const struct mt_qp *qp)
{
	uint64_t rto_ns = UINT64_C(1024) << qp->attr.timeout;
	uint64_t least_ns = qp->engine->cfg.timing.rto_min_ns;

	mb_assert_slow(qp->attr.timeout <= RD_TIMEOUT_MAX);
	return rto_ns < least_ns ? least_ns : rto_ns;
}

struct mt_rto_limits mt_qp_rto_limits(const struct mt_qp *qp)
{
	return (struct mt_rto_limits){
		.rto_ns = agreed_rto_ns(qp),
		.patience_ns = qp->peer ? mt_slowest_patience_ns(&qp->peer->slowest) : 0,
		.linear = qp->attr.retry_linear,
		.exp = qp->attr.retry_exp,
	};
}

static uint64_t tail_probe_ns(const struct mt_qp *qp)
{
	return mt_rtt_tail_probe(&qp->req.rtt, &qp->engine->cfg.timing);
}

/*
 * The ACK timer goes on while a packet is in back-off, for a peer that never has room must not be
 * waited for without end. So the packet must be tried a few times before the timeouts are used up,
 * however long answers take.
 */
#define HOLDS_A_TIMEOUT 4u

uint64_t mt_qp_longest_wait_ns(const struct mt_qp *qp)
{
	uint64_t rto_ns = agreed_rto_ns(qp);

	mb_assert(rto_ns >= HOLDS_A_TIMEOUT);
	return rto_ns / HOLDS_A_TIMEOUT;
}

uint64_t mt_qp_nack_backoff_ns(const struct mt_qp *qp)
{
	uint64_t most = mt_qp_longest_wait_ns(qp), wait = tail_probe_ns(qp);

	return wait < most ? wait : most;
}

uint64_t mt_qp_packet_ns(const struct mt_qp *qp)
{
	uint64_t kbps;

	mb_assert(qp->attr.cc_profile < qp->engine->cfg.max_profiles);
	kbps = qp->engine->cc_profiles[qp->attr.cc_profile].nscc.link_kbps;
	return kbps ? (uint64_t)(qp->attr.path_mtu + MT_NOMINAL_HEADER) * 8000000 / kbps : 0;
}

uint64_t mt_qp_turn_ns(const struct mt_qp *qp)
{
	return mt_qp_packet_ns(qp) * qp->ev_set->n_ports;
}

/* Who was asked to wait for a receive expects nothing of the peer until then. */
static bool waits_for_peer(const struct mt_qp *qp)
{
	return qp->req.rto.armed && !(qp->ext && qp->ext->rnr.waits);
}

static void update_waiting(struct mt_qp *qp)
{
	struct mt_requester *req = &qp->req;
	bool waits = waits_for_peer(qp);

	if (req->waits == waits)
		return;
	mb_assert(qp->peer);
	req->waits = waits;
	mt_liveness_count_waiter(&qp->peer->liveness, req->rto.step_ns, req->waits);
	if (req->waits && qp->ev_set->stretch > 1)
		mt_engine_use_ev_set(qp->engine, qp->ev_set, req->rto.step_ns);
}

void mt_qp_stop_timer(struct mt_qp *qp)
{
	qp->req.rto.armed = false;
	if (qp->peer)
		update_waiting(qp);
	mb_timer_disarm(&qp->engine->qp_timers, &qp->timer);
}

/*
 * What a QP still has to send asks for SACKs as well as a probe does. While all that is missing is
 * held back because the peer had no room for it, there is nothing to learn, and a peer that is
 * short of memory must not be probed for as long as that lasts; nor while the next packet is to go
 * at a certain time, which asks for a SACK as well.
 */
uint64_t mt_qp_probe_after_ns(const struct mt_qp *qp)
{
	const struct mt_tx_window *w = &qp->req.window;

	if (qp->req.pace.waiting || (w->outstanding == 0 && w->n_backoff > 0))
		return MT_RTO_NO_PROBE;
	return mb_link_is_empty(&qp->ready) ? tail_probe_ns(qp) : MT_RTO_NO_PROBE;
}

void mt_qp_arm(struct mt_qp *qp)
{
	struct mt_rto_limits limits = mt_qp_rto_limits(qp);
	uint64_t due = mt_rto_deadline(&qp->req.rto, &limits, mt_qp_probe_after_ns(qp));
	const struct mt_tx_window *w = &qp->req.window;

	if (qp->ext && qp->ext->rnr.waits)
		due = qp->ext->rnr.until_ns; /* the peer asked us to wait, so it may be silent */
	if (w->n_backoff > 0 && w->backoff_due_ns < due)
		due = w->backoff_due_ns;
	if (qp->req.pace.waiting && qp->req.pace.next_ns < due)
		due = qp->req.pace.next_ns;
	update_waiting(qp);
	/* Deadlines mostly move away; a timer that fires early costs less than moving it each
	 * time. */
	if (due < qp->timer.deadline_ns)
		mb_timer_arm(&qp->engine->qp_timers, &qp->timer, due);
	mb_assert_slow(qp->timer.deadline_ns <= due);
}
