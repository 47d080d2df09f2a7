/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * switch.c - a switch in one window: everything that comes, in order, to the port it leaves by.
 *
 * No table is looked up. Down, the port follows from the destination; up, it is a field of the EV,
 * just as the uSIDs that a real sender writes into the carrier follow from the two, or with ECMP
 * what routing.h chooses.
 */
#include "sim/lane.h"

/* The port, from the unit's first, that a packet leaves by. */
static uint32_t route(const struct ms_net *net, const struct ms_unit *unit,
		      const struct ms_packet *p)
{
	const struct mf_topology *t = &net->units.t;
	uint32_t t0 = mf_host_t0(t, p->dst);

	switch (unit->tier) {
	case MF_T0:
		if (t0 == unit->index)
			return p->dst - t0 * t->cfg.hosts_per_t0;
		return unit->downlinks +
		       (p->ecmp ? ms_ecmp_uplink(net, unit, p) : mf_ev_uplink(p->ev));
	case MF_T1:
		if (t0 - unit->first_t0 < unit->downlinks)
			return t0 - unit->first_t0;
		return unit->downlinks +
		       (p->ecmp ? ms_ecmp_uplink(net, unit, p) : mf_ev_t1_uplink(p->ev));
	default:
		return mf_t0_pod(t, t0);
	}
}

/* Packets ahead for whose port memory is asked, and for what waits in it. */
#define PORT_AHEAD 8u
#define PACKET_AHEAD 4u

static void look_ahead(const struct ms_lane *lane, const struct ms_unit *unit,
		       const struct ms_key *keys, uint32_t i, uint32_t n)
{
	const struct ms_net *net = lane->net;

	if (i + PORT_AHEAD < n && keys[i + PORT_AHEAD].p->bytes)
		ms_port_soon(lane, unit, route(net, unit, keys[i + PORT_AHEAD].p));
	if (i + PACKET_AHEAD < n && keys[i + PACKET_AHEAD].p->bytes)
		ms_port_sooner(lane, unit, route(net, unit, keys[i + PACKET_AHEAD].p));
}

/* Something comes to a switch. */
static void arrive(struct ms_lane *lane, struct ms_unit *unit, const struct ms_packet *p)
{
	uint64_t t_ps = lane->start_ps + p->at;

	if (!p->bytes) {
		ms_notice_comes(lane, unit, t_ps, p);
		return;
	}
	if (unit->faulty && ms_fault_lost(lane, p)) {
		lane->c.dropped[MS_DROP_LINK_DOWN]++;
		return;
	}
	ms_saw(lane, t_ps, p);
	ms_port_take(lane, unit, route(lane->net, unit, p), t_ps, p);
}

void ms_switch_run(struct ms_lane *lane, uint32_t number)
{
	struct ms_net *net = lane->net;
	struct ms_unit *unit = &net->unit[number];
	uint32_t n = ms_gather(lane, number);
	struct ms_key *keys =
		ms_order(lane->keys, lane->keys_other, n, net->window_ps, lane->counts);

	for (uint32_t i = 0; i < n; i++) {
		look_ahead(lane, unit, keys, i, n);
		arrive(lane, unit, keys[i].p);
	}
	ms_release(lane, number);
	if (unit->backlog)
		ms_backlog_advance(lane, unit);
}
