/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * responder_reverse.c - what a receiver learns of the EVs on which its answers return: it tests
 * them, and hears that its peer seems not to get them.
 */
#include "core/ev/spray.h"
#include "core/qp/halves.h"

/* After so many times the shortest wait for an answer without a packet all begins again. */
#define REVERSE_IDLE 8u

/* REQ(req.reverse.probe) */
void mt_responder_probe_reverse_ev(struct mt_qp *qp, uint64_t now_ns)
{
	struct mt_engine *e = qp->engine;
	uint64_t due_ns = qp->ev_set->reverse_ev_next_ns;
	uint16_t ev;

	if (!mt_qp_may_send(qp))
		return;
	mt_reverse_ev_postpone(qp->ev_set, &e->cfg.timing, now_ns);
	if (due_ns == 0 || now_ns - due_ns > REVERSE_IDLE * e->cfg.timing.tail_probe_min_ns)
		return; /* after a pause: packets that we send may be answered before a probe is */
	ev = mt_reverse_ev_candidate(qp->ev_set, &qp->req.spray.prng);
	if (ev == MT_EV_NONE)
		return;
	mt_engine_queue_probe(e, qp, ev, MT_PROBE_REVERSE_EV);
	e->stats.reverse_ev_probes++;
}

/* REQ(req.reverse.doubt) */
void mt_responder_doubt_reverse_evs(struct mt_qp *qp, uint64_t now_ns)
{
	uint64_t waited_ns = qp->engine->cfg.timing.tail_probe_min_ns;

	if (waited_ns < qp->ev_set->probe_rtt_ns)
		waited_ns = qp->ev_set->probe_rtt_ns;
	if (now_ns > waited_ns)
		mt_spray_doubt(&qp->req.spray, now_ns - waited_ns);
}
