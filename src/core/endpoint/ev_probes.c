/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ev_probes.c - queues the probes of a destination: of EVs that are ASSUMED_BAD, of the peer's
 * doubtful ports, and of every plane when a peer is heard again after a silence.
 *
 * A probe is sent as a packet of a QP that may send there, of another QP each time.
 */
#include "base/assert.h"
#include "core/endpoint/endpoint.h"
#include "core/state/qp.h"

/* A QP through which the destination can be probed; another one each time. */
static struct mt_qp *pick_prober(struct mt_ev_set *s)
{
	for (uint32_t n = 0; n < s->refs; n++) {
		struct mt_qp *qp = mb_container_of(s->users.next, struct mt_qp, ev_set_user);

		mb_assert(qp->ev_set == s);
		mb_list_rotate(&s->users);
		if (mt_qp_may_send(qp))
			return qp;
	}
	return NULL;
}

/* REQ(req.ev.endpoint) */
void mt_ev_sets_resume(struct mt_engine *e, struct mt_ev_set *s, uint64_t now_ns)
{
	struct mt_control probe = {.kind = MT_CONTROL_PROBE, .qp = pick_prober(s)};
	uint32_t planes = 0;

	for (uint8_t p = 0; p < s->n_ports && probe.qp; p++) {
		if (s->ports[p].usable == 0 || !(s->open_ports >> p & 1))
			continue;
		probe.index = mt_spray_pick_control(&probe.qp->req.spray, s, p);
		if (s->evs[probe.index].port != p)
			continue;
		probe.cause.probe_id = mt_ev_new_probe_id(s, probe.index);
		mt_engine_queue_control(e, &probe);
		planes |= UINT32_C(1) << p;
	}
	mt_liveness_resume(&s->liveness, now_ns, planes);
}

void mt_ev_sets_tick(struct mt_engine *e, struct mt_ev_set *s, uint64_t now_ns)
{
	struct mt_control probe = {.kind = MT_CONTROL_PROBE, .qp = pick_prober(s)};

	for (;;) {
		probe.index = mt_ev_set_next_probe(s, now_ns);
		if (probe.index == MT_EV_NONE)
			break;
		probe.cause.probe_id = mt_ev_new_probe_id(s, probe.index);
		if (probe.qp)
			mt_engine_queue_control(e, &probe);
	}
	mt_port_status_tick(e, s, probe.qp, now_ns);
	mt_ev_sets_arm_probes(e, s);
}
