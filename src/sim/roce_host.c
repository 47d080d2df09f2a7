/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * roce_host.c - hosts, the two ends of flows, and the application that posts on them; as
 * nic_conn.c does it for MRC.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "sim/roce_state.h"

#define QPN_MASK 0xFFFFFFu
#define SEED_STEP UINT64_C(0x9E3779B97F4A7C15)
/* Source ports of RoCEv2 are in the upper quarter. */
#define SPORT_BITS 14u
#define SPORT_BASE 0xC000u

void ms_roce_complain(struct ms_rlane *lane, const char *format, ...)
{
	va_list ap;

	if (lane->sums.complaints++ > 0)
		return;
	va_start(ap, format);
	vsnprintf(lane->complaint, sizeof(lane->complaint), format, ap);
	va_end(ap);
}

static void out_of_memory(struct ms_rhost *h, uint32_t flow)
{
	h->lane->no_memory = true;
	ms_roce_complain(h->lane, "host %u: no memory for flow %u", h->number, flow);
}

struct ms_rhost *ms_rhost_get(struct ms_roce *r, struct ms_rlane *lane, uint32_t number)
{
	size_t head = mb_align64(sizeof(struct ms_rhost)), table;
	struct ms_rhost *h = r->host[number];
	uint8_t *mem;
	uint32_t slots;

	if (h)
		return h;
	slots = ms_workload_slots(r->workload, number);
	table = mb_align64(slots * sizeof(void *));
	mem = ms_arena_take(&lane->arena, head + table);
	if (!mem) {
		lane->no_memory = true;
		return NULL;
	}
	memset(mem, 0, head + table);
	h = (struct ms_rhost *)(void *)mem;
	h->r = r;
	h->lane = lane;
	h->number = number;
	h->n_slots = slots;
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

static size_t end_bytes(uint32_t qps, bool outgoing)
{
	return mb_align64(sizeof(struct ms_rconn)) +
	       qps * (outgoing ? sizeof(struct ms_rqp) : sizeof(struct ms_rrx));
}

static struct ms_rconn *new_conn(struct ms_rhost *h, uint32_t id, const struct ms_flow *f,
				 bool outgoing)
{
	size_t bytes = end_bytes(h->r->cfg.qps, outgoing);
	uint8_t *mem = ms_arena_take(&h->lane->arena, bytes);
	struct ms_rconn *c = (struct ms_rconn *)(void *)mem;

	if (!mem) {
		out_of_memory(h, id);
		return NULL;
	}
	memset(mem, 0, bytes);
	c->flow = id;
	c->outgoing = outgoing;
	c->slot = outgoing ? f->src_slot : f->dst_slot;
	c->peer = outgoing ? f->dst : f->src;
	c->peer_slot = outgoing ? f->dst_slot : f->src_slot;
	ms_rcut_of(&c->cut, f, &h->r->cfg);
	c->qp = (struct ms_rqp *)(void *)(mem + mb_align64(sizeof(*c)));
	h->conns[c->slot] = c;
	return c;
}

void ms_rconn_free(struct ms_rhost *h, struct ms_rconn *c)
{
	if (c->over && c->queued == 0)
		ms_arena_give(&h->lane->arena, c, end_bytes(c->cut.qps, true));
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

uint32_t ms_rconn_progress(const struct ms_rhost *h, uint32_t slot, uint32_t messages)
{
	const struct ms_rconn *c = h->conns[slot];

	if (!c)
		return 0;
	return c == MS_ROCE_DONE ? messages : c->passed;
}

static bool needs_met(const struct ms_rhost *h, uint32_t id, const struct ms_flow *f, uint32_t k)
{
	for (uint32_t i = 0; i < f->n_needs; i++) {
		struct ms_need need;
		struct ms_flow on;
		uint32_t count;

		ms_workload_need(h->r->workload, id, i, &need);
		if (k < need.from)
			continue;
		ms_workload_flow(h->r->workload, need.flow, &on);
		count = ms_need_count(&need, k, on.messages);
		if (ms_rconn_progress(h, need.end == MS_SENT ? on.src_slot : on.dst_slot,
				      on.messages) < count)
			return false;
	}
	return true;
}

void ms_rconn_begin(struct ms_rhost *h, uint32_t id, uint64_t now_ps)
{
	struct ms_rconn *c;
	struct ms_flow f;
	uint32_t before;

	ms_workload_flow(h->r->workload, id, &f);
	c = h->conns[f.src_slot];
	if (c == MS_ROCE_DONE || f.start_ns > now_ps / MS_PS_PER_NS || (c && c->failed))
		return;
	if (!c && needs_met(h, id, &f, 0))
		c = open_outgoing(h, id, &f, now_ps);
	if (!c)
		return;
	before = c->posted;
	while (c->posted < f.messages && c->posted - c->passed < h->r->cfg.depth &&
	       needs_met(h, id, &f, c->posted))
		c->posted++;
	if (c->posted > before)
		ms_rqp_post(h, c, now_ps);
}

void ms_rconn_let_go(struct ms_rhost *h, uint32_t id, enum ms_end end, uint64_t now_ps)
{
	const struct ms_workload *w = h->r->workload;
	uint32_t on;

	for (uint32_t i = 0; (on = ms_workload_dependent(w, id, end, i)) != MS_FLOW_NONE; i++)
		ms_rconn_begin(h, on, now_ps);
}
