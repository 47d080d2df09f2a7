/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault_apply.c - faults happen: on time, at both ends of a link.
 *
 * A fault travels as a packet without length, to the unit that sends on the link and to the one
 * that receives, so that each acts at the right moment between its packets.
 */
#include "sim/kernel/worker.h"

#include <stdlib.h>

enum {
	BODY_PORT,
	BODY_KIND,
	BODY_VALUE,
	BODY_RECEIVING,
};

/* ---- what happens ---- */

static bool report_carrier(const struct ms_worker *worker, uint32_t up_port, uint32_t down_port)
{
	const struct ms_link_fault *sends = ms_link_fault_find(&worker->faults, up_port, false);
	const struct ms_link_fault *receives = ms_link_fault_find(&worker->faults, down_port, true);

	return !(sends && sends->down) && !(receives && receives->down);
}

/* Tells a host of a port whose carrier came or went. */
static void change_at_host(struct ms_worker *worker, struct ms_link_fault *f, uint32_t down,
			   uint32_t host, uint32_t up_port, uint32_t down_port, uint64_t t_ps)
{
	const struct ms_hosts *hosts = &worker->net->cfg.hosts;
	bool before = report_carrier(worker, up_port, down_port), after;

	f->down = down;
	after = report_carrier(worker, up_port, down_port);
	if (before != after && hosts->carrier)
		hosts->carrier(hosts->ctx, worker, host, t_ps,
			       up_port % worker->net->units.t.cfg.planes, after);
}

static void set_down(struct ms_worker *worker, struct ms_unit *unit, struct ms_link_fault *f,
		     uint32_t down, const struct ms_packet *p, uint64_t t_ps)
{
	const struct ms_units *u = &worker->net->units;
	uint32_t port = (uint32_t)p->body[BODY_PORT], reverse;

	if (unit->tier != MF_HOST) {
		f->down = down;
		return;
	}
	reverse = ms_units_port(u, mf_link_reverse(ms_units_link(u, port)));
	if (p->body[BODY_RECEIVING])
		change_at_host(worker, f, down, p->dst, reverse, port, t_ps);
	else
		change_at_host(worker, f, down, p->dst, port, reverse, t_ps);
}

/* At the end that sends. */
static void cut_port(struct ms_worker *worker, struct ms_unit *unit, uint32_t local, uint64_t t_ps)
{
	struct ms_port *port = &worker->net->port[unit->first_port + local];

	ms_port_flush(worker, unit, local);
	if (port->free_ps > t_ps)
		port->free_ps = t_ps;
}

static void apply_link_fault(struct ms_worker *worker, struct ms_unit *unit,
			     struct ms_link_fault *f, const struct ms_packet *p, uint64_t t_ps)
{
	uint32_t value = (uint32_t)p->body[BODY_VALUE], port = (uint32_t)p->body[BODY_PORT];

	switch ((enum ms_fault_kind)p->body[BODY_KIND]) {
	case MS_FAULT_DOWN:
		f->cuts++;
		if (!p->body[BODY_RECEIVING] && f->down == 0)
			cut_port(worker, unit, port - unit->first_port, t_ps);
		set_down(worker, unit, f, f->down + 1, p, t_ps);
		break;
	case MS_FAULT_UP:
		if (f->down)
			set_down(worker, unit, f, f->down - 1, p, t_ps);
		break;
	case MS_FAULT_BLACKHOLE:
		f->blackhole = value;
		break;
	case MS_FAULT_LOSS:
		f->loss = value;
		break;
	case MS_FAULT_CORRUPT:
		f->corrupt = value;
		break;
	case MS_FAULT_RATE:
		f->rate = value;
		break;
	case MS_FAULT_KINDS:
		break;
	}
}

void ms_fault_apply(struct ms_worker *worker, struct ms_unit *unit, uint64_t t_ps,
		    const struct ms_packet *p)
{
	uint32_t port = (uint32_t)p->body[BODY_PORT];
	bool receiving = p->body[BODY_RECEIVING];
	struct ms_link_fault *f = ms_link_fault_get(worker, port, receiving);

	if (!f)
		return;
	if (receiving) {
		unit->faulty = true;
	} else {
		/* What began before this instant began as things were. */
		if (t_ps > 0)
			ms_port_advance(worker, unit, port - unit->first_port, t_ps - 1);
		worker->net->port[port].flags |= MS_PORT_FAULTY;
	}
	apply_link_fault(worker, unit, f, p, t_ps);
}

/* ---- when it happens ---- */

static bool is_fault_before(const struct ms_pending_fault *a, const struct ms_pending_fault *b)
{
	return a->f.at_ps != b->f.at_ps ? a->f.at_ps < b->f.at_ps : a->number < b->number;
}

static void swap_faults(struct ms_pending_fault *a, struct ms_pending_fault *b)
{
	struct ms_pending_fault c = *a;

	*a = *b;
	*b = c;
}

static bool is_fault_valid(const struct ms_net *net, const struct ms_fault *f)
{
	return f->kind < MS_FAULT_KINDS && f->link < net->units.t.n_links &&
	       f->at_ps >= ms_net_now_ps(net) && f->at_ps != MS_NEVER &&
	       (f->kind != MS_FAULT_RATE || f->value > 0) && f->value <= 1000000;
}

static bool room_for(struct ms_pending_fault **at, size_t n, size_t *room)
{
	size_t more = *room ? *room * 2 : 64;
	void *p;

	if (n < *room)
		return true;
	p = realloc(*at, more * sizeof(**at));
	if (!p)
		return false;
	*at = p;
	*room = more;
	return true;
}

bool ms_net_add_fault(struct ms_net *net, const struct ms_fault *fault)
{
	struct ms_pending_fault *heap;
	size_t i = net->faults;

	if (!is_fault_valid(net, fault) || !room_for(&net->fault, net->faults, &net->faults_room))
		return false;
	heap = net->fault;
	heap[i] = (struct ms_pending_fault){*fault, net->faults_added++};
	net->faults++;
	for (; i > 0 && is_fault_before(&heap[i], &heap[(i - 1) / 2]); i = (i - 1) / 2)
		swap_faults(&heap[i], &heap[(i - 1) / 2]);
	return true;
}

static struct ms_pending_fault pop_fault(struct ms_net *net)
{
	struct ms_pending_fault *heap = net->fault, first = heap[0];
	size_t i = 0;

	heap[0] = heap[--net->faults];
	for (;;) {
		size_t least = i, child = 2 * i + 1;

		for (size_t k = child; k < child + 2 && k < net->faults; k++)
			if (is_fault_before(&heap[k], &heap[least]))
				least = k;
		if (least == i)
			return first;
		swap_faults(&heap[i], &heap[least]);
		i = least;
	}
}

void ms_faults_begin(struct ms_net *net)
{
	uint64_t end_ps = (net->window + 1) * net->window_ps;

	net->now_faults = 0;
	while (net->faults && net->fault[0].f.at_ps < end_ps) {
		if (!room_for(&net->now_fault, net->now_faults, &net->now_faults_room)) {
			atomic_store(&net->no_memory, true);
			return;
		}
		net->now_fault[net->now_faults] = pop_fault(net);
		if (net->cfg.ecmp &&
		    !ms_routing_add_change(net, &net->now_fault[net->now_faults].f)) {
			atomic_store(&net->no_memory, true);
			return;
		}
		net->now_faults++;
	}
}

static void post_fault(struct ms_worker *worker, const struct ms_pending_fault *due,
		       uint32_t number, bool receiving)
{
	const struct ms_units *u = &worker->net->units;
	uint32_t unit = receiving ? ms_units_to(u, due->f.link) : ms_units_from(u, due->f.link);
	struct mf_end end =
		receiving ? mf_link_to(&u->t, due->f.link) : mf_link_from(&u->t, due->f.link);
	struct ms_packet *p;
	uint32_t at;

	if (worker->net->unit[unit].worker != worker->global)
		return;
	p = ms_schedule_arrival_at(worker, unit, worker->window,
				   (uint32_t)(due->f.at_ps - worker->start_ps));
	at = p->at;
	*p = (struct ms_packet){.at = at, .port = number};
	p->dst = end.node < u->t.n_hosts ? end.node & (MS_HOSTS_MAX - 1) : 0;
	p->body[BODY_PORT] = ms_units_port(u, due->f.link);
	p->body[BODY_KIND] = due->f.kind;
	p->body[BODY_VALUE] = due->f.value;
	p->body[BODY_RECEIVING] = receiving;
}

void ms_faults_post(struct ms_worker *worker)
{
	const struct ms_net *net = worker->net;

	for (size_t i = 0; i < net->now_faults; i++) {
		post_fault(worker, &net->now_fault[i], (uint32_t)i, false);
		post_fault(worker, &net->now_fault[i], (uint32_t)i, true);
	}
}
