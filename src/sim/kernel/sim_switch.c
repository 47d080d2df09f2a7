/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_switch.c - a switch in one window: everything that comes, in order, to the port it leaves by.
 *
 * No table is looked up. Down, the port follows from the destination; up, it is a field of the EV,
 * just as the uSIDs that a real sender writes into the carrier follow from the two, or with ECMP
 * what worker.h chooses.
 */
#include "sim/kernel/worker.h"

/* The port, from the unit's first, that a packet leaves by. */
static uint32_t route_packet(const struct ms_net *net, const struct ms_unit *unit,
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

static void look_ahead(const struct ms_worker *worker, const struct ms_unit *unit,
		       const struct ms_key *keys, uint32_t i, uint32_t n)
{
	const struct ms_net *net = worker->net;

	if (i + PORT_AHEAD < n && keys[i + PORT_AHEAD].p->bytes)
		ms_port_prefetch(worker, unit, route_packet(net, unit, keys[i + PORT_AHEAD].p));
	if (i + PACKET_AHEAD < n && keys[i + PACKET_AHEAD].p->bytes)
		ms_port_prefetch_queue(worker, unit,
				       route_packet(net, unit, keys[i + PACKET_AHEAD].p));
}

/* Something comes to a switch. */
static void handle_arrival(struct ms_worker *worker, struct ms_unit *unit,
			   const struct ms_packet *p)
{
	uint64_t t_ps = worker->start_ps + p->at;

	if (!p->bytes) {
		ms_notice_apply(worker, unit, t_ps, p);
		return;
	}
	if (unit->faulty && ms_fault_cut_packet(worker, p)) {
		worker->c.dropped[MS_DROP_LINK_DOWN]++;
		return;
	}
	ms_hash_arrival(worker, t_ps, p);
	ms_port_enqueue(worker, unit, route_packet(worker->net, unit, p), t_ps, p);
}

void ms_switch_run(struct ms_worker *worker, uint32_t number)
{
	struct ms_net *net = worker->net;
	struct ms_unit *unit = &net->unit[number];
	uint32_t n = ms_gather_arrivals(worker, number);
	struct ms_key *keys =
		ms_order(worker->keys, worker->keys_other, n, net->window_ps, worker->counts);

	for (uint32_t i = 0; i < n; i++) {
		look_ahead(worker, unit, keys, i, n);
		handle_arrival(worker, unit, keys[i].p);
	}
	ms_release_arrivals(worker, number);
	if (unit->backlog)
		ms_backlog_advance(worker, unit);
}
