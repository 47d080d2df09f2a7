/* SPDX-License-Identifier: BSD-2-Clause */
/* sim_reference.c - see sim_reference.h. */
#include "sim_reference.h"

#include <stdlib.h>
#include <string.h>

#include "fabric/fabric_node.h"
#include "fabric/fabric_path.h"
#include "sim/kernel/random.h"
#include "sim/kernel/worker.h"
#include "support/test.h"

/* In the order in which they happen at one instant. */
enum kind {
	FAULT,
	SENT,
	ARRIVES,
	WAKES,
};

struct event {
	struct event *next;
	uint64_t t;
	enum kind kind;
	uint64_t order; /* fault: as added; arrival: port; wake: host */
	uint32_t link;
	uint64_t generation; /* SENT: of the port; WAKES: of the host */
	uint64_t began;	     /* ARRIVES: when its sending began */
	uint32_t hop;
	struct ms_packet p;
	struct ms_fault fault;
};

struct waiting {
	struct waiting *next;
	uint32_t hop;
	struct ms_packet p;
};

struct port {
	struct waiting *queue[2]; /* data, control; first to last */
	bool busy;
	uint64_t generation;
	uint32_t down, loss, corrupt, rate;
	bool blackhole;
	uint64_t last_down;
	bool was_down;
};

struct ref_net {
	struct ms_net_cfg cfg;
	struct ms_units units;
	struct ref_hosts hosts;
	struct ref_out out;
	struct event *events;
	struct port *port; /* by link */
	uint64_t *wake_generation;
	uint64_t faults, now;
	struct ms_counters c;
};

static bool before(const struct event *a, const struct event *b)
{
	if (a->t != b->t)
		return a->t < b->t;
	if (a->kind != b->kind)
		return a->kind < b->kind;
	return a->order < b->order;
}

static void schedule(struct ref_net *r, struct event e)
{
	struct event **at = &r->events, *copy = malloc(sizeof(*copy));

	assert_non_null(copy);
	*copy = e;
	while (*at && !before(copy, *at))
		at = &(*at)->next;
	copy->next = *at;
	*at = copy;
}

static enum ms_port_kind kind_of(const struct ref_net *r, uint32_t link)
{
	bool down = mf_link_down(link);
	enum mf_link_kind kind = mf_link_kind(&r->units.t, link);

	if (kind == MF_HOST_T0)
		return down ? MS_PORT_T0_DOWN : MS_PORT_HOST_UP;
	if (kind == MF_T0_T1)
		return down ? MS_PORT_T1_DOWN : MS_PORT_T0_UP;
	return down ? MS_PORT_T2_DOWN : MS_PORT_T1_UP;
}

static uint64_t time_to_send(const struct ref_net *r, uint32_t link, uint32_t bytes)
{
	const uint64_t fraction = UINT64_C(1) << 20;
	uint64_t per_byte = UINT64_C(8000000000000) * fraction / mf_link_bit_s(&r->units.t, link);
	uint64_t t = bytes * per_byte / fraction;

	return r->port[link].rate == 1000000 ? t : t * 1000000 / r->port[link].rate;
}

static uint64_t time_to_travel(const struct ref_net *r, uint32_t link)
{
	uint64_t ns = mf_link_latency_ns(&r->units.t, link);

	if (kind_of(r, link) != MS_PORT_T0_DOWN)
		ns += r->units.t.cfg.switch_ns;
	return ns * 1000;
}

static void transmit(struct ref_net *r, uint32_t link, const struct ms_packet *p, uint32_t hop)
{
	struct port *port = &r->port[link];
	uint32_t number = ms_units_port(&r->units, link);
	uint64_t sent = r->now + time_to_send(r, link, p->bytes);
	struct event arrival = {.t = sent + time_to_travel(r, link),
				.kind = ARRIVES,
				.order = number,
				.link = link,
				.began = r->now,
				.hop = hop,
				.p = *p};

	port->busy = true;
	r->c.hops++;
	schedule(r, (struct event){.t = sent,
				   .kind = SENT,
				   .order = number,
				   .link = link,
				   .generation = port->generation});
	if (port->blackhole) {
		r->c.dropped[MS_DROP_BLACKHOLE]++;
	} else if (ms_draw_ppm(r->cfg.seed, number, r->now, MS_DRAW_LOSS, port->loss)) {
		r->c.dropped[MS_DROP_LOSS]++;
	} else {
		if (ms_draw_ppm(r->cfg.seed, number, r->now, MS_DRAW_CORRUPT, port->corrupt)) {
			arrival.p.corrupt = 1;
			r->c.corrupted++;
		}
		schedule(r, arrival);
	}
}

static uint64_t length(const struct waiting *w)
{
	uint64_t bytes = 0;

	for (; w; w = w->next)
		bytes += w->p.bytes;
	return bytes;
}

static bool marked(const struct ref_net *r, uint32_t link, uint64_t waiting)
{
	const struct ms_queue_cfg *q = &r->cfg.queue[kind_of(r, link)];
	uint64_t scale;

	if (q->ecn_max_bytes == 0 || waiting < q->ecn_min_bytes)
		return false;
	if (waiting >= q->ecn_max_bytes)
		return true;
	/* The kernel's fixed point, so that both see the same chance. */
	scale = (((uint64_t)q->ecn_ppm << 32) / 1000000 << 16) /
		(q->ecn_max_bytes - q->ecn_min_bytes);
	return ms_draw_bits(r->cfg.seed, ms_units_port(&r->units, link), r->now, MS_DRAW_ECN) <
	       (waiting - q->ecn_min_bytes) * scale >> 16;
}

static void enqueue(struct ref_net *r, uint32_t link, struct ms_packet p, uint32_t hop)
{
	const struct ms_queue_cfg *q = &r->cfg.queue[kind_of(r, link)];
	struct port *port = &r->port[link];
	uint64_t data = length(port->queue[0]), control = length(port->queue[1]);
	bool trimmable = p.cls == MW_DSCP_TRIMMABLE || p.cls == MW_DSCP_TRIMMABLE_RETX;
	bool high = p.cls >= MW_DSCP_TRIMMED, cut = false;
	struct waiting **end, *w;

	if (!high && trimmable && q->trim_bytes && data + p.bytes > q->trim_bytes) {
		high = true;
		cut = p.bytes > r->cfg.trim_to_bytes;
	} else if (!high && q->data_limit_bytes && data + p.bytes > q->data_limit_bytes) {
		r->c.dropped[MS_DROP_DATA_FULL]++;
		return;
	} else if (!high && marked(r, link, data)) {
		r->c.ecn_marks += !p.ce;
		p.ce = 1;
	}
	if (cut) {
		p.bytes = r->cfg.trim_to_bytes;
		p.cls = kind_of(r, link) == MS_PORT_T0_DOWN ? MW_DSCP_TRIMMED_LASTHOP
							    : MW_DSCP_TRIMMED;
	}
	if (high && q->control_limit_bytes && control + p.bytes > q->control_limit_bytes) {
		r->c.dropped[MS_DROP_CONTROL_FULL]++;
		return;
	}
	r->c.trims += cut;
	end = &port->queue[high];
	while (*end)
		end = &(*end)->next;
	w = malloc(sizeof(*w));
	assert_non_null(w);
	*w = (struct waiting){NULL, hop, p};
	*end = w;
}

/* A packet comes to the port at the beginning of its link number `hop`. */
static void forward(struct ref_net *r, const struct ms_packet *p, uint32_t hop)
{
	struct mf_pair pair = mf_pair_of(&r->units.t, p->src, p->dst);
	uint32_t link = mf_path_link(&r->units.t, &pair, p->ev, hop);

	if (r->port[link].down)
		r->c.dropped[MS_DROP_LINK_DOWN]++;
	else if (r->port[link].busy)
		enqueue(r, link, *p, hop);
	else
		transmit(r, link, p, hop);
}

static void sent(struct ref_net *r, const struct event *e)
{
	struct port *port = &r->port[e->link];

	if (e->generation != port->generation)
		return;
	port->busy = false;
	for (int c = 1; c >= 0; c--) {
		struct waiting *w = port->queue[c];

		if (!w)
			continue;
		port->queue[c] = w->next;
		transmit(r, e->link, &w->p, w->hop);
		free(w);
		return;
	}
}

static void arrives(struct ref_net *r, const struct event *e)
{
	const struct port *port = &r->port[e->link];
	struct mf_pair pair = mf_pair_of(&r->units.t, e->p.src, e->p.dst);

	if (port->down || (port->was_down && port->last_down > e->began)) {
		r->c.dropped[MS_DROP_LINK_DOWN]++;
	} else if (e->hop + 1 < mf_pair_links(&pair)) {
		forward(r, &e->p, e->hop + 1);
	} else {
		r->c.delivered++;
		r->hosts.receive(r->hosts.ctx, &r->out, e->p.dst, r->now, &e->p);
	}
}

static void set_down(struct ref_net *r, uint32_t link, uint32_t down)
{
	struct port *port = &r->port[link], *other = &r->port[mf_link_reverse(link)];
	bool up_before = !port->down && !other->down, up;

	port->down = down;
	up = !port->down && !other->down;
	if (mf_link_kind(&r->units.t, link) == MF_HOST_T0 && up != up_before) {
		struct mf_end end = mf_link_down(link) ? mf_link_to(&r->units.t, link)
						       : mf_link_from(&r->units.t, link);

		r->hosts.carrier(r->hosts.ctx, end.node, r->now, end.port, up);
	}
}

static void goes_down(struct ref_net *r, uint32_t link)
{
	struct port *port = &r->port[link];

	port->last_down = r->now;
	port->was_down = true;
	for (int c = 0; c < 2 && !port->down; c++)
		while (port->queue[c]) {
			struct waiting *w = port->queue[c];

			port->queue[c] = w->next;
			free(w);
			r->c.dropped[MS_DROP_LINK_DOWN]++;
		}
	if (!port->down) {
		port->busy = false;
		port->generation++;
	}
	set_down(r, link, port->down + 1);
}

static void fault(struct ref_net *r, const struct ms_fault *f)
{
	struct port *port = &r->port[f->link];

	switch ((enum ms_fault_kind)f->kind) {
	case MS_FAULT_DOWN:
		goes_down(r, f->link);
		break;
	case MS_FAULT_UP:
		if (port->down)
			set_down(r, f->link, port->down - 1);
		break;
	case MS_FAULT_BLACKHOLE:
		port->blackhole = f->value;
		break;
	case MS_FAULT_LOSS:
		port->loss = f->value;
		break;
	case MS_FAULT_CORRUPT:
		port->corrupt = f->value;
		break;
	case MS_FAULT_RATE:
		port->rate = f->value;
		break;
	case MS_FAULT_KINDS:
		break;
	}
}

void ref_run(struct ref_net *r, uint64_t until_ps)
{
	while (r->events && r->events->t < until_ps) {
		struct event e = *r->events;

		free(r->events);
		r->events = e.next;
		r->now = e.t;
		if (e.kind == FAULT)
			fault(r, &e.fault);
		else if (e.kind == SENT)
			sent(r, &e);
		else if (e.kind == ARRIVES)
			arrives(r, &e);
		else if (e.generation == r->wake_generation[e.order])
			r->hosts.wake(r->hosts.ctx, &r->out, (uint32_t)e.order, r->now);
	}
}

static void host_sends(void *model, uint32_t host, const struct ms_packet *p)
{
	struct ref_net *r = model;

	assert_u_eq(host, p->src);
	r->c.injected++;
	forward(r, p, 0);
}

static void host_wakes_at(void *model, uint32_t host, uint64_t at_ps)
{
	ref_wake(model, host, at_ps);
}

void ref_wake(struct ref_net *r, uint32_t host, uint64_t at_ps)
{
	r->wake_generation[host]++;
	if (at_ps != MS_NEVER)
		schedule(r, (struct event){.t = at_ps < r->now ? r->now : at_ps,
					   .kind = WAKES,
					   .order = host,
					   .generation = r->wake_generation[host]});
}

void ref_fault(struct ref_net *r, const struct ms_fault *f)
{
	schedule(r,
		 (struct event){.t = f->at_ps, .kind = FAULT, .order = r->faults++, .fault = *f});
}

struct ref_net *ref_create(const struct ms_net_cfg *cfg, const struct ref_hosts *hosts)
{
	struct ref_net *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	r->cfg = *cfg;
	r->hosts = *hosts;
	r->out = (struct ref_out){r, host_sends, host_wakes_at};
	ms_units_init(&r->units, &cfg->topology, 1);
	r->port = calloc(cfg->topology.n_links, sizeof(*r->port));
	r->wake_generation = calloc(cfg->topology.n_hosts, sizeof(*r->wake_generation));
	assert_non_null(r->port);
	assert_non_null(r->wake_generation);
	for (uint32_t i = 0; i < cfg->topology.n_links; i++)
		r->port[i].rate = 1000000;
	return r;
}

void ref_counters(const struct ref_net *r, struct ms_counters *c)
{
	*c = r->c;
	for (uint32_t i = 0; i < r->units.t.n_links; i++)
		for (int k = 0; k < 2; k++)
			for (const struct waiting *w = r->port[i].queue[k]; w; w = w->next)
				c->waiting++;
	for (const struct event *e = r->events; e; e = e->next)
		c->flying += e->kind == ARRIVES;
}

void ref_destroy(struct ref_net *r)
{
	while (r->events) {
		struct event *e = r->events;

		r->events = e->next;
		free(e);
	}
	for (uint32_t i = 0; i < r->units.t.n_links; i++)
		for (int k = 0; k < 2; k++)
			while (r->port[i].queue[k]) {
				struct waiting *w = r->port[i].queue[k];

				r->port[i].queue[k] = w->next;
				free(w);
			}
	free(r->port);
	free(r->wake_generation);
	free(r);
}
