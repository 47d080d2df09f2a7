/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * roce_host.c - hosts, the two ends of flows, and the application that posts on them; as
 * nic_conn.c does it for MRC.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "sim/roce/roce_state.h"

#define QPN_MASK 0xFFFFFFu
#define SEED_STEP UINT64_C(0x9E3779B97F4A7C15)
/* Source ports of RoCEv2 are in the upper quarter. */
#define SPORT_BITS 14u
#define SPORT_BASE 0xC000u

void ms_roce_report_violation(struct ms_rworker *worker, const char *format, ...)
{
	va_list ap;

	if (worker->sums.violations++ > 0)
		return;
	va_start(ap, format);
	vsnprintf(worker->violation, sizeof(worker->violation), format, ap);
	va_end(ap);
}

static void out_of_memory(struct ms_rhost *h, uint32_t flow)
{
	h->worker->no_memory = true;
	ms_roce_report_violation(h->worker, "host %u: no memory for flow %u", h->number, flow);
}

struct ms_rhost *ms_rhost_get(struct ms_roce *r, struct ms_rworker *worker, uint32_t number)
{
	size_t head = mb_align64(sizeof(struct ms_rhost)), table;
	struct ms_rhost *h = r->host[number];
	uint8_t *mem;
	uint32_t slots;

	if (h)
		return h;
	slots = ms_workload_slots(r->workload, number);
	table = mb_align64(slots * sizeof(void *));
	mem = ms_arena_alloc(&worker->arena, head + table);
	if (!mem) {
		worker->no_memory = true;
		return NULL;
	}
	memset(mem, 0, head + table);
	h = (struct ms_rhost *)(void *)mem;
	h->r = r;
	h->worker = worker;
	h->number = number;
	h->n_slots = slots;
	h->app.host = h;
	h->app.number = number;
	h->outgoing = ms_workload_outgoing(r->workload, number);
	h->conns = (struct ms_rconn **)(void *)(mem + head);
	h->wake_ps = MS_NEVER;
	mb_link_init(&h->timers);
	r->host[number] = h;
	return h;
}

/* ---- ways ---- */

/* QPNs of a host follow each other from a random one, as on a machine that has run for a while. */
static uint32_t qpn_of(const struct ms_roce *r, uint32_t host, uint32_t slot, uint32_t index)
{
	uint64_t base = ms_mix(r->cfg.seed + SEED_STEP * (host + UINT64_C(1)));

	return (uint32_t)(base + (uint64_t)slot * r->cfg.qps + index) & QPN_MASK;
}

/* REQ(sim.ecmp.hash) */
uint32_t ms_roce_ev(const struct ms_roce *r, uint32_t src, uint32_t dst, uint32_t slot,
		    uint32_t index)
{
	uint64_t sport = ms_mix(qpn_of(r, src, slot, index)) >> (64 - SPORT_BITS) | SPORT_BASE;

	return (uint32_t)(ms_mix(((uint64_t)src << 40 ^ (uint64_t)dst << 16) + sport) >> 32);
}

/* ---- connections ---- */

/* What lies behind a connection: QPs, and the places of messages under way. */
static size_t end_bytes(uint32_t qps, uint32_t depth, bool outgoing)
{
	return mb_align64(sizeof(struct ms_rconn)) +
	       qps * (outgoing ? sizeof(struct ms_rqp) : sizeof(struct ms_rrx)) +
	       depth * (qps * sizeof(uint64_t) + sizeof(uint32_t));
}

static uint32_t depth_of(const struct ms_roce *r, const struct ms_flow *f)
{
	return f->messages < r->cfg.depth ? f->messages : r->cfg.depth;
}

/* What is different for a flow that is a channel of a graph. */
static void of_graph(const struct ms_roce *r, struct ms_rconn *c)
{
	uint32_t channel;
	const struct ms_graph *g = ms_workload_graph(r->workload, c->flow, NULL, &channel);

	if (g)
		c->sizes = ms_graph_sizes(g, channel);
}

static struct ms_rconn *new_conn(struct ms_rhost *h, uint32_t id, const struct ms_flow *f,
				 bool outgoing)
{
	uint32_t qps = h->r->cfg.qps, depth = depth_of(h->r, f);
	size_t bytes = end_bytes(qps, depth, outgoing);
	uint8_t *mem = ms_arena_alloc(&h->worker->arena, bytes);
	struct ms_rconn *c = (struct ms_rconn *)(void *)mem;

	if (!mem) {
		out_of_memory(h, id);
		return NULL;
	}
	memset(mem, 0, bytes);
	*c = (struct ms_rconn){
		.flow = id,
		.slot = outgoing ? f->src_slot : f->dst_slot,
		.peer = outgoing ? f->dst : f->src,
		.peer_slot = outgoing ? f->dst_slot : f->src_slot,
		.cut = {h->r->cfg.path_mtu, qps},
		.bytes = f->bytes,
		.message_bytes = f->message_bytes,
		.messages = f->messages,
		.depth = depth,
		.outgoing = outgoing,
	};
	of_graph(h->r, c);
	mem += mb_align64(sizeof(*c));
	c->qp = (struct ms_rqp *)(void *)mem;
	mem += qps * (outgoing ? sizeof(struct ms_rqp) : sizeof(struct ms_rrx));
	c->end = (uint64_t *)(void *)mem;
	c->message = (uint32_t *)(void *)(mem + (size_t)depth * qps * sizeof(uint64_t));
	h->conns[c->slot] = c;
	return c;
}

void ms_rconn_free(struct ms_rhost *h, struct ms_rconn *c)
{
	if (c->over && c->queued == 0)
		ms_arena_free(&h->worker->arena, c, end_bytes(c->cut.qps, c->depth, true));
}

void ms_rconn_place(struct ms_rconn *c, uint32_t k, const uint64_t *before, size_t stride)
{
	uint32_t at = c->posted++ % c->depth;

	c->message[at] = k;
	for (uint32_t i = 0; i < c->cut.qps; i++) {
		const void *of = (const uint8_t *)before + i * stride;

		c->end[at * c->cut.qps + i] =
			*(const uint64_t *)of +
			ms_roce_split_packets(&c->cut, i, ms_rconn_message_bytes(c, k));
	}
}

static struct ms_rconn *open_outgoing(struct ms_rhost *h, uint32_t id, const struct ms_flow *f,
				      uint64_t now_ps)
{
	struct ms_rconn *c = new_conn(h, id, f, true);

	for (uint32_t i = 0; c && i < c->cut.qps; i++) {
		struct ms_rqp *q = &c->qp[i];

		q->conn = c;
		q->index = (uint8_t)i;
		q->plane = (uint8_t)((c->slot + i) % h->r->planes);
		q->ev = ms_roce_ev(h->r, h->number, c->peer, c->slot, i);
		mb_link_init(&q->timer);
		ms_dcqcn_init(&q->cc, &h->r->cfg.dcqcn);
	}
	if (c)
		h->r->source[id].start_ns = now_ps / MS_PS_PER_NS;
	return c;
}

struct ms_rconn *ms_rconn_accept(struct ms_rhost *h, uint32_t slot)
{
	uint32_t id = ms_workload_flow_at(h->r->workload, h->number, slot);
	struct ms_rconn *c;
	struct ms_flow f;

	ms_workload_flow(h->r->workload, id, &f);
	c = new_conn(h, id, &f, false);
	for (uint32_t i = 0; c && i < c->cut.qps; i++)
		c->rx[i].ev = ms_roce_ev(h->r, h->number, c->peer, slot, i);
	return c;
}

/* ---- posting ---- */

uint32_t ms_rconn_progress(const void *host, uint32_t slot, uint32_t messages)
{
	const struct ms_rhost *h = host;
	const struct ms_rconn *c = h->conns[slot];

	if (!c)
		return 0;
	return c == MS_ROCE_DONE ? messages : c->passed;
}

void ms_rconn_begin(void *host, uint32_t id, uint64_t now_ps)
{
	struct ms_rhost *h = host;
	const struct ms_app *app = &h->r->app;
	struct ms_rconn *c;
	struct ms_flow f;
	bool any = false;

	ms_workload_flow(h->r->workload, id, &f);
	c = h->conns[f.src_slot];
	if (c == MS_ROCE_DONE || f.start_ns > now_ps / MS_PS_PER_NS || (c && c->failed))
		return;
	if (!c && ms_app_can_post(app, &h->app, id, &f, 0))
		c = open_outgoing(h, id, &f, now_ps);
	while (c && c->posted - c->passed < c->depth &&
	       ms_app_can_post(app, &h->app, id, &f, c->posted)) {
		ms_rconn_place(c, ms_app_claim_message(app, id, c->posted), &c->qp->end,
			       sizeof(*c->qp));
		for (uint32_t i = 0; i < c->cut.qps; i++)
			c->qp[i].end = ms_rconn_end(c, c->posted - 1, i);
		any = true;
	}
	if (any)
		ms_rqp_post(h, c, now_ps);
}
