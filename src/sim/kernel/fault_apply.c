/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault_apply.c - what packets without length tell a unit: faults, on time and at both ends of a
 * link, and pauses of PFC.
 *
 * A fault travels as a packet without length, to the unit that sends on the link and to the one
 * that receives, so that each acts at the right moment between its packets.
 */
#include "sim/kernel/worker.h"

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

static void apply_fault(struct ms_worker *worker, struct ms_unit *unit, uint64_t t_ps,
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

/* ---- PFC ---- */

static void resume_port(struct ms_port *port, struct ms_paused *state, uint64_t t_ps)
{
	port->flags &= ~(uint32_t)MS_PORT_PAUSED;
	state->all_ps += t_ps - state->since_ps;
	if (port->free_ps < t_ps)
		port->free_ps = t_ps;
}

/* The end of a link that sends stops and resumes sending data. REQ(sim.pfc.pause) */
static void apply_pfc(struct ms_worker *worker, struct ms_unit *unit, uint64_t t_ps,
		      const struct ms_packet *p)
{
	const struct ms_hosts *hosts = &worker->net->cfg.hosts;
	uint32_t number = (uint32_t)p->body[MS_PFC_BODY_PORT];
	struct ms_port *port = &worker->net->port[number];
	struct ms_paused *state = &worker->net->pfc.paused[number];

	/* What began before this instant began as things were. */
	ms_port_advance(worker, unit, number - unit->first_port, t_ps - 1);
	if (p->body[MS_PFC_BODY_PAUSE]) {
		port->flags |= MS_PORT_PAUSED;
		state->since_ps = t_ps;
		state->pauses++;
		return;
	}
	resume_port(port, state, t_ps);
	if (unit->tier == MF_HOST && hosts->pfc_resumed)
		hosts->pfc_resumed(hosts->ctx, worker, p->dst, t_ps,
				   number % worker->net->units.t.cfg.planes);
}

void ms_notice_apply(struct ms_worker *worker, struct ms_unit *unit, uint64_t t_ps,
		     const struct ms_packet *p)
{
	if (p->head == MS_NOTICE_PFC)
		apply_pfc(worker, unit, t_ps, p);
	else
		apply_fault(worker, unit, t_ps, p);
}

/* ---- when faults happen ---- */

static bool is_fault_valid(const struct ms_net *net, const struct ms_fault *f)
{
	return f->kind < MS_FAULT_KINDS && f->link < net->units.t.n_links &&
	       f->at_ps >= ms_net_now_ps(net) && f->at_ps != MS_NEVER &&
	       (f->kind != MS_FAULT_RATE || f->value > 0) && f->value <= 1000000;
}

bool ms_net_add_fault(struct ms_net *net, const struct ms_fault *fault)
{
	const struct ms_pending_fault pending = {{fault->at_ps, net->faults_added++}, *fault};

	return is_fault_valid(net, fault) && ms_heap_add(&net->faults, &pending);
}

void ms_faults_begin(struct ms_net *net)
{
	uint64_t end_ps = (net->window + 1) * net->window_ps;

	net->now_faults.n = 0;
	while (net->faults.n && net->faults.at[0].when.key < end_ps) {
		const struct ms_fault *f = &ms_heap_take(&net->faults)->f;

		if (!ms_grow_add(&net->now_faults, f) ||
		    (net->cfg.ecmp && !ms_routing_add_change(net, f)))
			atomic_store(&net->no_memory, true);
	}
}

static void post_fault(struct ms_worker *worker, const struct ms_fault *due, uint32_t number,
		       bool receiving)
{
	const struct ms_units *u = &worker->net->units;
	uint32_t unit = receiving ? ms_units_to(u, due->link) : ms_units_from(u, due->link);
	struct mf_end end =
		receiving ? mf_link_to(&u->t, due->link) : mf_link_from(&u->t, due->link);
	struct ms_packet *p;
	uint32_t at;

	if (worker->net->unit[unit].worker != worker->global)
		return;
	p = ms_schedule_arrival_at(worker, unit, worker->window,
				   (uint32_t)(due->at_ps - worker->start_ps));
	at = p->at;
	*p = (struct ms_packet){.at = at, .port = number};
	p->dst = end.node < u->t.n_hosts ? end.node & (MS_HOSTS_MAX - 1) : 0;
	p->body[BODY_PORT] = ms_units_port(u, due->link);
	p->body[BODY_KIND] = due->kind;
	p->body[BODY_VALUE] = due->value;
	p->body[BODY_RECEIVING] = receiving;
}

void ms_faults_post(struct ms_worker *worker)
{
	const struct ms_net *net = worker->net;

	for (size_t i = 0; i < net->now_faults.n; i++) {
		post_fault(worker, &net->now_faults.at[i], (uint32_t)i, false);
		post_fault(worker, &net->now_faults.at[i], (uint32_t)i, true);
	}
}
