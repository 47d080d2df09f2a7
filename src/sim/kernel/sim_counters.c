/* SPDX-License-Identifier: BSD-2-Clause */
/* sim_counters.c - what a net says of itself: its time, its hosts, what it has counted. */
#include "sim/kernel/worker.h"

/* ---- counters; packets that wait and that fly are counted where they are, one by one ---- */

/* Packets, not faults, in a box. */
static uint64_t in_box(ms_tail tail)
{
	const struct ms_chunk *chunk;
	const struct ms_packet *end = (const struct ms_packet *)(uintptr_t)tail;
	uint64_t n = 0;

	if (!tail)
		return 0;
	for (chunk = ms_tail_chunk(tail); chunk; chunk = chunk->next) {
		for (const struct ms_packet *p = chunk->packet; p < end; p++)
			n += p->bytes != 0;
		end = chunk->next ? chunk->next->packet + MS_CHUNK_PACKETS : NULL;
	}
	return n;
}

static uint64_t count_in_flight(const struct ms_net *net, const struct ms_worker *worker)
{
	const struct ms_far_packet *far = worker->far.at;
	uint64_t n = 0;

	for (size_t i = 0; i < worker->far.n; i++)
		n += far[i].p.bytes != 0;

	for (size_t i = 0; i < (size_t)net->slots * net->units.n; i++)
		n += in_box(worker->inbox[i]);
	return n;
}

static uint64_t waiting_at(const struct ms_worker *worker, const struct ms_port *port)
{
	uint64_t n = 0;

	for (uint32_t c = 0; c < MS_CLASSES; c++)
		for (uint32_t i = port->head[c]; i; i = worker->slab.packet[i].at)
			n++;
	return n;
}

static uint64_t count_queued(const struct ms_net *net, const struct ms_worker *worker)
{
	uint64_t n = 0;

	for (uint32_t u = 0; u < net->units.n; u++) {
		const struct ms_unit *unit = &net->unit[u];

		if (unit->worker != worker->global)
			continue;
		for (uint32_t local = 0; unit->backlog && local < unit->ports; local++)
			n += waiting_at(worker, &net->port[unit->first_port + local]);
	}
	return n;
}

static void add_counters(struct ms_counters *sum, const struct ms_counters *c)
{
	sum->injected += c->injected;
	sum->delivered += c->delivered;
	for (uint32_t i = 0; i < MS_DROPS; i++)
		sum->dropped[i] += c->dropped[i];
	sum->hops += c->hops;
	sum->trims += c->trims;
	sum->ecn_marks += c->ecn_marks;
	sum->corrupted += c->corrupted;
	sum->pauses += c->pauses;
	sum->hash += c->hash;
}

static void add_pauses(const struct ms_net *net, struct ms_counters *c)
{
	uint64_t now_ps = ms_net_now_ps(net);

	for (uint32_t u = 0; net->pfc.paused && u < net->units.n; u++) {
		const struct ms_unit *unit = &net->unit[u];

		uint32_t end = unit->first_port + unit->ports;

		if (unit->worker / net->threads != net->rank)
			continue;
		/* The last group of hosts may not be full. */
		if (unit->tier == MF_HOST && end > net->units.first_switch_port)
			end = net->units.first_switch_port;
		for (uint32_t port = unit->first_port; port < end; port++) {
			c->paused_ps += ms_pfc_paused_ps(net, port, now_ps);
			c->paused_ports += net->pfc.paused[port].pauses > 0;
		}
	}
}

bool ms_net_counters(const struct ms_net *net, bool all_ranks, struct ms_counters *c)
{
	*c = (struct ms_counters){0};
	for (uint32_t i = 0; i < net->threads; i++) {
		add_counters(c, &net->worker[i]->c);
		c->waiting += count_queued(net, net->worker[i]);
		c->flying += count_in_flight(net, net->worker[i]);
	}
	add_pauses(net, c);
	if (!all_ranks || net->ranks == 1)
		return true;
	/* It is numbers of 64 bits, all of which are to be added. */
	return net->cfg.ranks->sum(net->cfg.ranks->ctx, (uint64_t *)(void *)c,
				   sizeof(*c) / sizeof(uint64_t));
}

uint64_t ms_net_hops(const struct ms_net *net)
{
	uint64_t hops = 0;

	for (uint32_t i = 0; i < net->threads; i++)
		hops += net->worker[i]->c.hops;
	return hops;
}

/* REQ(sim.accounted) */
bool ms_counters_are_conserved(const struct ms_counters *c)
{
	uint64_t found = c->delivered + c->waiting + c->flying;

	for (uint32_t i = 0; i < MS_DROPS; i++)
		found += c->dropped[i];
	return found == c->injected;
}

/* ---- time and hosts ---- */

uint64_t ms_net_now_ps(const struct ms_net *net)
{
	return net->window * net->window_ps;
}

bool ms_net_host_is_local(const struct ms_net *net, uint32_t host)
{
	uint32_t unit = ms_units_of_host(&net->units, host);

	return host < net->units.t.n_hosts && net->unit[unit].worker / net->threads == net->rank;
}

uint32_t ms_worker_of(const struct ms_net *net, uint32_t host)
{
	return net->unit[ms_units_of_host(&net->units, host)].worker - net->first_worker;
}

const char *ms_drop_name(enum ms_drop d)
{
	static const char *const names[MS_DROPS] = {
		[MS_DROP_DATA_FULL] = "data_full", [MS_DROP_CONTROL_FULL] = "control_full",
		[MS_DROP_LINK_DOWN] = "link_down", [MS_DROP_BLACKHOLE] = "blackhole",
		[MS_DROP_LOSS] = "loss",	   [MS_DROP_NO_ROUTE] = "no_route",
		[MS_DROP_HEADROOM] = "headroom",
	};

	return names[d];
}
