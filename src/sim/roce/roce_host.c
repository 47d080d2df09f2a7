/* SPDX-License-Identifier: BSD-2-Clause */
/* roce_host.c - RoCE's hosts and the two ends of flows: opened, posted to, freed. */
#include <string.h>

#include "base/bits.h"
#include "sim/roce/roce_state.h"

/* A part of a message is a multiple of this. */
#define GRAIN 128u
#define QPN_MASK 0xFFFFFFu
/* Source ports of RoCEv2 are in the upper quarter. */
#define SPORT_BITS 14u
#define SPORT_BASE 0xC000u

struct ms_nic_host *ms_rhost_open(struct ms_nic_set *set, struct ms_nic_worker *own,
				  uint32_t number, uint64_t now_ns)
{
	struct ms_roce *r = (struct ms_roce *)set;
	struct ms_rhost *h =
		(struct ms_rhost *)ms_nic_host_alloc(set, own, number, sizeof(*h), 0, NULL);

	(void)now_ns;
	if (!h)
		return NULL;
	h->r = r;
	h->stats = &r->worker[own - set->worker].stats;
	mb_link_init(&h->timers);
	return &h->nic;
}

/*
 * ---- which QP sends which bytes ----
 *
 * Each message is cut into as many parts as there are QPs, all of one size, a multiple of GRAIN
 * bytes, but the last ones, which may be shorter or empty; a part is cut into packets. An empty
 * message is one empty packet of the first QP.
 */

static uint64_t divide_up(uint64_t a, uint64_t b)
{
	return (a + b - 1) / b;
}

static struct ms_rpart part_of(const struct ms_rcut *c, uint32_t i, uint64_t bytes)
{
	uint64_t size = divide_up(divide_up(bytes, c->qps), GRAIN) * GRAIN, at = i * size;
	uint64_t left = at < bytes ? bytes - at : 0;

	return (struct ms_rpart){at, left < size ? left : size};
}

uint64_t ms_roce_split_packets(const struct ms_rcut *c, uint32_t i, uint64_t bytes)
{
	return bytes ? divide_up(part_of(c, i, bytes).bytes, c->mtu) : i == 0;
}

struct ms_rpart ms_roce_split_packet(const struct ms_rcut *c, uint32_t i, uint64_t bytes,
				     uint64_t n)
{
	struct ms_rpart part = part_of(c, i, bytes);

	part.offset += n * c->mtu;
	part.bytes -= n * c->mtu;
	part.bytes = part.bytes < c->mtu ? part.bytes : c->mtu;
	return part;
}

/* ---- EVs: what switches hash ---- */

/* QPNs of a host follow each other from a random one, as on a machine that has run for a while. */
static uint32_t qpn_of(const struct ms_roce *r, uint32_t host, uint32_t slot, uint32_t index)
{
	uint64_t base = ms_mix(r->cfg.seed + MS_HOST_SEED_STEP * (host + UINT64_C(1)));

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

static struct ms_rconn *new_conn(struct ms_rhost *h, uint32_t id, const struct ms_flow *f,
				 bool outgoing)
{
	uint32_t qps = h->r->cfg.qps;
	struct ms_flow_end end;
	struct ms_rconn *c;
	size_t bytes;
	uint8_t *mem;

	ms_flow_end_init(&end, h->nic.set->workload, id, f, h->r->cfg.depth, outgoing);
	bytes = end_bytes(qps, end.depth, outgoing);
	mem = ms_arena_alloc(&h->nic.worker->arena, bytes);
	c = (struct ms_rconn *)(void *)mem;
	if (!mem) {
		ms_nic_report_no_memory(&h->nic, id);
		return NULL;
	}
	memset(mem, 0, bytes);
	*c = (struct ms_rconn){
		.end = end,
		.peer = outgoing ? f->dst : f->src,
		.peer_slot = outgoing ? f->dst_slot : f->src_slot,
		.cut = {h->r->cfg.path_mtu, qps},
	};
	mem += mb_align64(sizeof(*c));
	c->qp = (struct ms_rqp *)(void *)mem;
	mem += qps * (outgoing ? sizeof(struct ms_rqp) : sizeof(struct ms_rrx));
	c->part_end = (uint64_t *)(void *)mem;
	c->message = (uint32_t *)(void *)(mem + (size_t)end.depth * qps * sizeof(uint64_t));
	h->nic.ends[end.slot] = &c->end;
	return c;
}

void ms_rconn_free(struct ms_rhost *h, struct ms_rconn *c)
{
	if (c->over && c->queued == 0)
		ms_arena_free(&h->nic.worker->arena, c, end_bytes(c->cut.qps, c->end.depth, true));
}

/* The number of QP i among numbers that lie `stride` bytes apart. */
static uint64_t number_of(const uint64_t *first, size_t stride, uint32_t i)
{
	const void *of = (const uint8_t *)first + i * stride;

	return *(const uint64_t *)of;
}

uint32_t ms_rconn_passed(const struct ms_rconn *c, const uint64_t *packets, size_t stride)
{
	uint32_t passed = c->end.passed;

	for (; passed < c->end.posted; passed++)
		for (uint32_t i = 0; i < c->cut.qps; i++)
			if (number_of(packets, stride, i) < ms_rconn_end(c, passed, i))
				return passed;
	return passed;
}

void ms_rconn_place(struct ms_rconn *c, uint32_t k, const uint64_t *before, size_t stride)
{
	uint32_t at = c->end.posted++ % c->end.depth;

	c->message[at] = k;
	for (uint32_t i = 0; i < c->cut.qps; i++)
		c->part_end[at * c->cut.qps + i] =
			number_of(before, stride, i) +
			ms_roce_split_packets(&c->cut, i, ms_flow_end_message_bytes(&c->end, k));
}

struct ms_flow_end *ms_rconn_open(struct ms_nic_host *nic, uint32_t id, const struct ms_flow *f,
				  uint64_t now_ps)
{
	struct ms_rhost *h = (struct ms_rhost *)nic;
	struct ms_rconn *c = new_conn(h, id, f, true);

	(void)now_ps;
	if (!c)
		return NULL;
	for (uint32_t i = 0; i < c->cut.qps; i++) {
		struct ms_rqp *q = &c->qp[i];

		q->conn = c;
		q->index = (uint8_t)i;
		q->plane = (uint8_t)((c->end.slot + i) % nic->set->planes);
		q->ev = ms_roce_ev(h->r, nic->number, c->peer, c->end.slot, i);
		mb_link_init(&q->timer);
		ms_dcqcn_init(&q->cc, &h->r->cfg.dcqcn);
	}
	return &c->end;
}

struct ms_rconn *ms_rconn_accept(struct ms_rhost *h, uint32_t slot)
{
	uint32_t id = ms_workload_flow_at(h->nic.set->workload, h->nic.number, slot);
	struct ms_rconn *c;
	struct ms_flow f;

	ms_workload_flow(h->nic.set->workload, id, &f);
	c = new_conn(h, id, &f, false);
	for (uint32_t i = 0; c && i < c->cut.qps; i++)
		c->rx[i].ev = ms_roce_ev(h->r, h->nic.number, c->peer, slot, i);
	return c;
}

bool ms_rconn_post(struct ms_nic_host *h, struct ms_flow_end *e, uint32_t k, uint64_t now_ps)
{
	struct ms_rconn *c = (struct ms_rconn *)e;

	(void)h;
	(void)now_ps;
	ms_rconn_place(c, k, &c->qp->end, sizeof(*c->qp));
	for (uint32_t i = 0; i < c->cut.qps; i++)
		c->qp[i].end = ms_rconn_end(c, e->posted - 1, i);
	return true;
}

/* It is freed when no heap holds a QP of it. */
void ms_rconn_close(struct ms_nic_host *h, struct ms_flow_end *e)
{
	(void)h;
	((struct ms_rconn *)e)->over = true;
}
