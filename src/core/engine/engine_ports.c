/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_ports.c - what follows when a port goes down or comes back.
 *
 * Each path set has a mask of the ports it may use, which everything that chooses a path looks at;
 * so no EV has to be touched, and none has to be found again later. What was under way is found
 * lost by the ordinary rule, from the SACKs of what goes out on the other ports.
 */
#include "core/engine/engine_state.h"
#include "core/qp/qp.h"

void mt_engine_update_ev_ports(struct mt_engine *e, struct mt_ev_set *s, uint64_t now_ns)
{
	uint32_t open = e->ports.up & ~s->peer_ports.abandoned;

	/* Bad ways are better than none. */
	mt_ev_set_update_ports(s, open & s->own_ports ? open : e->ports.up);
	mt_ev_sets_arm_probes(e, s);
	/* What waited for its port is due now; it is not late, as it would be if nobody had
	 * come. */
	if (s->timer.deadline_ns < now_ns)
		mb_timer_arm(&e->ev_timers, &s->timer, now_ns);
}

/*
 * A port is back. What was lost on it before anybody knew that it was down has made EVs bad, and
 * says nothing about them now. REQ(ep.port.not-attributed)
 */
void mt_engine_port_restored(struct mt_engine *e, struct mt_ev_set *s, uint32_t port,
			     uint64_t down_ns)
{
	uint64_t notice_ns = e->cfg.timing.port_notice_ns;
	struct mt_ev_change change = {.state = MT_EV_GOOD, .cause = MT_EV_BY_PORT};

	for (uint16_t i = 0; i < s->n_evs; i++) {
		if (s->evs[i].port != port ||
		    !mt_ev_restore_after_port_down(s, i,
						   down_ns > notice_ns ? down_ns - notice_ns : 0))
			continue;
		change.ev = i;
		mt_engine_report_ev(e, s, &change);
	}
}

/* REQ(ep.port.local-down) REQ(ep.port.return) */
int mt_engine_port_set(struct mt_engine *e, uint64_t now_ns, uint32_t port, bool up)
{
	uint64_t before_ns;

	if (port >= e->cfg.n_ports)
		return MT_ERR_INVALID;
	before_ns = e->ports.since_ns[port];
	if (!mt_local_ports_set(&e->ports, port, up, now_ns))
		return MT_OK;
	for (struct mb_link *l = e->ev_sets.next; l != &e->ev_sets; l = l->next) {
		struct mt_ev_set *s = mb_container_of(l, struct mt_ev_set, link);

		if (up)
			mt_engine_port_restored(e, s, port, before_ns);
		mt_engine_update_ev_ports(e, s, now_ns);
		mt_peers_notify(e, s, now_ns);
	}
	mt_engine_port_event(e, NULL, port, up);
	return MT_OK;
}

uint32_t mt_engine_ports_up(const struct mt_engine *e)
{
	return e->ports.up;
}
