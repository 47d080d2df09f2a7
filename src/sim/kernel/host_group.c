/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host_group.c - a group of hosts in one window, host by host: what comes to it, its wake-ups, and
 * what it sends from within these calls.
 */
#include "sim/kernel/worker.h"

static void receive_packet(struct ms_worker *worker, const struct ms_packet *p)
{
	const struct ms_hosts *hosts = &worker->net->cfg.hosts;

	if (!p->bytes) {
		ms_notice_apply(worker, worker->unit, worker->now_ps, p);
		return;
	}
	if (worker->unit->faulty && ms_fault_cut_packet(worker, p)) {
		worker->c.dropped[MS_DROP_LINK_DOWN]++;
		return;
	}
	ms_hash_arrival(worker, worker->now_ps, p);
	worker->c.delivered++;
	hosts->receive(hosts->ctx, worker, worker->host, worker->now_ps, p);
}

/* One host: arrivals and wake-ups in the order of time, an arrival first. */
static void run_host(struct ms_worker *worker, uint32_t host, const struct ms_key *key, uint32_t n)
{
	struct ms_net *net = worker->net;
	const struct ms_hosts *hosts = &net->cfg.hosts;
	uint64_t *wake = &net->wake_ps[host];
	uint32_t i = 0;

	worker->host = host;
	for (;;) {
		uint64_t comes = i < n ? worker->start_ps + key[i].p->at : MS_NEVER;

		if (*wake && *wake - 1 < comes) {
			if (*wake - 1 >= worker->end_ps)
				break;
			worker->now_ps = *wake - 1;
			*wake = 0;
			hosts->wake(hosts->ctx, worker, host, worker->now_ps);
		} else if (i < n) {
			worker->now_ps = comes;
			receive_packet(worker, key[i++].p);
		} else {
			break;
		}
	}
	ms_wheel_insert(worker, host);
}

/* How many keys, from the first, are one host's. */
static uint32_t count_of(const struct ms_key *key, uint32_t n, uint32_t host)
{
	uint32_t i = 0;

	while (i < n && key[i].p->dst == host)
		i++;
	return i;
}

/* The next host with something to do at or after `i` keys; UINT32_MAX: none. */
static uint32_t next_host(const struct ms_unit *unit, const struct ms_key *keys, uint32_t i,
			  uint32_t n, uint64_t due)
{
	uint32_t by_key = i < n ? keys[i].p->dst : UINT32_MAX;
	uint32_t by_time = due ? unit->index + (uint32_t)__builtin_ctzll(due) : UINT32_MAX;

	return by_key < by_time ? by_key : by_time;
}

void ms_group_run(struct ms_worker *worker, uint32_t number)
{
	struct ms_net *net = worker->net;
	const struct ms_hosts *hosts = &net->cfg.hosts;
	struct ms_unit *unit = &net->unit[number];
	uint32_t n = ms_gather_arrivals(worker, number), i = 0, host;
	uint64_t due = worker->due[number];
	struct ms_key *keys = ms_order(worker->keys, worker->keys_other, n,
				       net->window_ps << net->units.group_log, worker->counts);

	worker->due[number] = 0;
	worker->unit = unit;
	host = next_host(unit, keys, i, n, due);
	while (host != UINT32_MAX) {
		uint32_t own = count_of(keys + i, n - i, host), next;

		due &= ~(UINT64_C(1) << (host - unit->index));
		next = next_host(unit, keys, i + own, n, due);
		if (hosts->prefetch && next != UINT32_MAX)
			hosts->prefetch(hosts->ctx, next);
		run_host(worker, host, keys + i, own);
		i += own;
		host = next;
	}
	ms_release_arrivals(worker, number);
	if (unit->backlog)
		ms_backlog_advance(worker, unit);
}

void ms_send(struct ms_worker *worker, const struct ms_packet *p)
{
	const struct mf_topology *t = &worker->net->units.t;
	uint32_t local = (worker->host - worker->unit->index) * t->cfg.planes + p->plane;
	uint32_t t1_uplinks = t->cfg.tiers == 3 ? t->cfg.t1_uplinks : 1;

	worker->c.injected++;
	if (p->dst >= t->n_hosts || p->plane >= t->cfg.planes || p->bytes == 0 ||
	    (!p->ecmp &&
	     (mf_ev_uplink(p->ev) >= t->cfg.t1s || mf_ev_t1_uplink(p->ev) >= t1_uplinks))) {
		worker->c.dropped[MS_DROP_NO_ROUTE]++;
		return;
	}
	ms_port_enqueue(worker, worker->unit, local, worker->now_ps, p);
}

uint64_t ms_port_idle_ps(const struct ms_worker *worker, uint32_t plane)
{
	const struct ms_net *net = worker->net;
	uint32_t number = worker->host * net->units.t.cfg.planes + plane;
	const struct ms_port *port = &net->port[number];
	const struct ms_wire *wire = &net->wire[MS_PORT_HOST_UP];
	const struct ms_link_fault *fault = NULL;
	uint64_t wait;

	if (port->flags & MS_PORT_PAUSED)
		return MS_NEVER;
	wait = ms_wire_time(wire, port->bytes[MS_DATA] + port->bytes[MS_CONTROL]);

	if (port->flags & MS_PORT_FAULTY)
		fault = ms_link_fault_find(&worker->faults, number, false);
	return port->free_ps + (fault ? wait * 1000000 / fault->rate : wait);
}

void ms_wake_at(struct ms_worker *worker, uint64_t at_ps)
{
	if (at_ps != MS_NEVER && at_ps < worker->now_ps)
		at_ps = worker->now_ps;
	worker->net->wake_ps[worker->host] = at_ps + 1;
}

uint32_t ms_worker_number(const struct ms_worker *worker)
{
	return worker->number;
}
