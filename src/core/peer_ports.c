/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_ports.c - the planes of a destination, as its peer speaks of them and as probes find them.
 *
 * planes.h has the rules. A plane is probed by a reliability probe through any QP that sends
 * there; what any packet on the plane brings back counts as well. The last plane is never left.
 */
#include <string.h>

#include "core/engine_state.h"
#include "core/qp.h"

static struct mt_planes_wait waits(const struct mt_engine *e, const struct mt_path_set *s)
{
	uint64_t answer_ns = 2 * s->probe_rtt_ns;

	if (answer_ns < e->cfg.timing.tail_probe_min_ns)
		answer_ns = e->cfg.timing.tail_probe_min_ns;
	return (struct mt_planes_wait){
		.answer_ns = answer_ns,
		.interval_ns = s->probe_interval_ns > answer_ns ? s->probe_interval_ns : answer_ns,
		.interval_max_ns = s->probe_interval_max_ns,
	};
}

void mt_peer_ports_told(struct mt_engine *e, const struct mt_addr *peer, uint32_t up,
			uint64_t now_ns)
{
	for (struct mt_path_set *s = *mt_paths_chain(e, peer); s; s = s->chain) {
		struct mt_planes_wait w = waits(e, s);

		if (memcmp(&s->peer, peer, sizeof(*peer)) != 0)
			continue;
		mt_planes_told(&s->planes, up, &w, now_ns);
		mt_paths_arm(e, s);
	}
}

/* REQ(ep.port.last-plane) */
static bool others_open(const struct mt_path_set *s, uint32_t plane)
{
	return (s->open_ports & s->own_ports & ~(1u << plane)) != 0;
}

static void leave(struct mt_engine *e, struct mt_path_set *s, uint32_t plane, uint64_t now_ns)
{
	mt_planes_leave(&s->planes, plane, now_ns);
	mt_engine_paths_open(e, s, now_ns);
	mt_engine_port_event(e, &s->peer, plane, false);
	e->stats.planes_left++;
}

void mt_peer_ports_tick(struct mt_engine *e, struct mt_path_set *s, struct mt_qp *prober,
			uint64_t now_ns)
{
	struct mt_control probe = {.kind = MT_CONTROL_PROBE, .qp = prober};
	struct mt_planes_wait w = waits(e, s);
	uint8_t plane;
	bool unanswered;

	while ((plane = mt_planes_next_probe(&s->planes, &w, now_ns, &unanswered)) !=
	       MT_PLANE_NONE) {
		probe.path = mt_spray_probe(s, plane, (uint16_t)mb_prng_u64(&e->prng));
		if (!prober || probe.path == MT_PATH_NONE || !mt_ports_up(&e->ports, plane)) {
			mt_planes_postpone(&s->planes, plane, now_ns + w.interval_ns);
			continue;
		}
		if (unanswered && others_open(s, plane))
			leave(e, s, plane, now_ns);
		probe.cause.probe_id = mt_path_set_probe_id(s, probe.path);
		mt_engine_control(e, &probe);
	}
}

/* REQ(ep.port.peer-down) REQ(ep.port.return) */
void mt_peer_ports_alive(struct mt_engine *e, struct mt_path_set *s, uint16_t path,
			 uint64_t sent_ns, uint64_t now_ns)
{
	uint8_t plane = s->paths[path].port;
	uint64_t left_ns;

	if (((s->planes.suspect | s->planes.left) >> plane & 1) == 0)
		return;
	left_ns = s->planes.plane[plane].since_ns;
	if (!mt_planes_alive(&s->planes, plane, sent_ns, now_ns))
		return;
	mt_engine_port_back(e, s, plane, left_ns);
	mt_engine_paths_open(e, s, now_ns);
	mt_engine_port_event(e, &s->peer, plane, true);
	e->stats.planes_back++;
}
