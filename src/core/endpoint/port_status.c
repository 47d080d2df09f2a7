/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * port_status.c - the planes of a destination, by what its peer says and by probes.
 *
 * ev_set.h has the rules. A plane is probed by a reliability probe through any QP that sends there;
 * what any packet on the plane brings back counts as well. The last plane is never abandoned.
 */
#include "base/assert.h"
#include "core/endpoint/endpoint.h"
#include "core/ev/spray.h"

static struct mt_peer_port_timing port_timing(const struct mt_engine *e, const struct mt_ev_set *s)
{
	uint64_t answer_ns = 2 * s->probe_rtt_ns;

	if (answer_ns < e->cfg.timing.tail_probe_min_ns)
		answer_ns = e->cfg.timing.tail_probe_min_ns;
	return (struct mt_peer_port_timing){
		.answer_ns = answer_ns,
		.interval_ns = s->shared->probe_interval_ns > answer_ns
				       ? s->shared->probe_interval_ns
				       : answer_ns,
		.interval_max_ns = s->shared->probe_interval_max_ns,
	};
}

void mt_port_status_rx(struct mt_engine *e, const struct rd_gid *peer, uint32_t up, uint64_t now_ns)
{
	struct mt_ev_set *s = NULL;

	while ((s = mt_ev_sets_next(e, peer, s))) {
		struct mt_peer_port_timing w = port_timing(e, s);

		mt_peer_ports_status(&s->peer_ports, up, &w, now_ns);
		mt_ev_sets_arm_probes(e, s);
	}
}

/* REQ(ep.port.last-plane) */
static bool has_other_open_port(const struct mt_ev_set *s, uint32_t plane)
{
	return (s->open_ports & s->shared->own_ports & ~(1u << plane)) != 0;
}

static void abandon_port(struct mt_engine *e, struct mt_ev_set *s, uint32_t plane, uint64_t now_ns)
{
	mb_assert(has_other_open_port(s, plane)); /* the last plane is never left */
	mt_peer_ports_abandon(&s->peer_ports, plane, now_ns);
	mt_ev_sets_update_ports(e, s, now_ns);
	mt_engine_port_event(e, &s->peer, plane, false);
	e->stats.peer_ports_abandoned++;
}

void mt_port_status_tick(struct mt_engine *e, struct mt_ev_set *s, struct mt_qp *prober,
			 uint64_t now_ns)
{
	struct mt_peer_port_timing w = port_timing(e, s);
	uint16_t ev;
	uint8_t plane;
	bool unanswered;

	while ((plane = mt_peer_ports_next_probe(&s->peer_ports, &w, now_ns, &unanswered)) !=
	       MT_PLANE_NONE) {
		ev = mt_spray_pick_probe(s, plane, (uint16_t)mb_prng_u64(&e->prng));
		if (!prober || ev == MT_EV_NONE || !mt_local_port_is_up(&e->ports, plane)) {
			mt_peer_ports_postpone(&s->peer_ports, plane, now_ns + w.interval_ns);
			continue;
		}
		if (unanswered && has_other_open_port(s, plane))
			abandon_port(e, s, plane, now_ns);
		mt_engine_queue_probe(e, prober, ev, MT_PROBE_PEER_PORT);
	}
}

/* REQ(ep.port.peer-down) REQ(ep.port.return) */
void mt_port_status_answered(struct mt_engine *e, struct mt_ev_set *s, uint16_t ev,
			     uint64_t sent_ns, uint64_t now_ns)
{
	uint8_t plane = mt_ev_port(s, ev);
	uint64_t left_ns;

	mb_assert(ev < s->n_evs);
	if (((s->peer_ports.suspect | s->peer_ports.abandoned) >> plane & 1) == 0)
		return;
	left_ns = s->peer_ports.port[plane].since_ns;
	if (!mt_peer_ports_answered(&s->peer_ports, plane, sent_ns, now_ns))
		return;
	mt_ev_sets_port_restored(e, s, plane, left_ns);
	mt_ev_sets_update_ports(e, s, now_ns);
	mt_engine_port_event(e, &s->peer, plane, true);
	e->stats.peer_ports_restored++;
}
