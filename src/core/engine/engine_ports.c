/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_ports.c - what follows when a port goes down or comes back.
 *
 * Each EV set has a mask of the ports it may use, which everything that chooses an EV looks at;
 * so no EV has to change its state, and back again later. What was outstanding is found
 * lost by the ordinary rule, from the SACKs of what goes out on the other ports.
 */
#include "base/assert.h"
#include "core/endpoint/endpoint.h"

/* REQ(ep.port.local-down) REQ(ep.port.return) */
int mt_engine_port_set(struct mt_engine *e, uint64_t now_ns, uint32_t port, bool up)
{
	uint64_t before_ns;

	mb_assert(e->ports.n == e->cfg.n_ports);
	if (port >= e->cfg.n_ports)
		return MT_ERR_INVALID;
	before_ns = e->ports.since_ns[port];
	if (!mt_local_ports_set(&e->ports, port, up, now_ns))
		return MT_OK;
	for (struct mb_link *l = e->ev_sets.next; l != &e->ev_sets; l = l->next) {
		struct mt_ev_set *s = mb_container_of(l, struct mt_ev_set, link);

		if (up)
			mt_ev_sets_port_restored(e, s, port, before_ns);
		mt_ev_sets_update_ports(e, s, now_ns);
		mt_peers_notify(e, s, now_ns);
	}
	mt_engine_port_event(e, NULL, port, up);
	return MT_OK;
}

uint32_t mt_engine_ports_up(const struct mt_engine *e)
{
	return e->ports.up;
}
