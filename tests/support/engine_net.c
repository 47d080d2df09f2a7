/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_net.c - see engine_net.h: every packet is one event for each queue it may have to wait in.
 */
#include "support/engine_net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "wire/packet.h"

/* Headers below the BTH and the frame around them, for the time a packet takes on a link. */
#define FRAME_BYTES 82u

/* ---- the heap: the children of item i are items 2i + 1 and 2i + 2 ---- */

static bool is_before(const struct net_heap_item *a, const struct net_heap_item *b)
{
	return a->when != b->when ? a->when < b->when : a->order < b->order;
}

static void make_room(struct net_heap *h)
{
	if (h->n < h->room)
		return;
	h->room = h->room ? 2 * h->room : 64;
	h->items = realloc(h->items, h->room * sizeof(*h->items));
	if (!h->items) {
		perror("engine_net");
		abort();
	}
}

static void push_event(struct engine_net *net, uint64_t when, struct net_event *event)
{
	struct net_heap *h = &net->heap;
	struct net_heap_item item = {.when = when, .order = h->pushed++, .event = event};
	size_t i;

	make_room(h);
	for (i = h->n++; i > 0 && is_before(&item, &h->items[(i - 1) / 2]); i = (i - 1) / 2)
		h->items[i] = h->items[(i - 1) / 2];
	h->items[i] = item;
}

uint64_t engine_net_next(const struct engine_net *net)
{
	return net->heap.n ? net->heap.items[0].when : NET_NEVER;
}

/* There must be one. */
static struct net_event *pop_event(struct engine_net *net)
{
	struct net_heap *h = &net->heap;
	struct net_heap_item last;
	struct net_event *event = h->items[0].event;
	size_t i = 0;

	last = h->items[--h->n];
	for (size_t child; (child = 2 * i + 1) < h->n; i = child) {
		if (child + 1 < h->n && is_before(&h->items[child + 1], &h->items[child]))
			child++;
		if (!is_before(&h->items[child], &last))
			break;
		h->items[i] = h->items[child];
	}
	h->items[i] = last;
	return event;
}

/* ---- life ---- */

void engine_net_init(struct engine_net *net, const struct engine_net_cfg *cfg)
{
	*net = (struct engine_net){.cfg = *cfg, .egress_room_ns = 2000};
	rng_init(&net->rng, cfg->seed);
	net->log = calloc(cfg->log_room, sizeof(*net->log));
	if (!net->log) {
		perror("engine_net");
		abort();
	}
}

void engine_net_fini(struct engine_net *net)
{
	/* Packets begin with their event and calls are nothing else, so both free alike. */
	while (net->heap.n > 0)
		free(pop_event(net));
	free(net->heap.items);
	for (uint32_t i = 0; i < NET_NODES_MAX; i++)
		for (uint32_t j = 0; j < NET_NODES_MAX; j++)
			free(net->paths[i][j]);
	free(net->log);
}

/* ---- paths ---- */

static struct net_path *make_paths(const struct engine_net *net)
{
	size_t n = (size_t)net->cfg.n_planes * net->cfg.n_paths;
	struct net_path *paths = calloc(n, sizeof(*paths));

	if (!paths) {
		perror("engine_net");
		abort();
	}
	for (size_t i = 0; i < n; i++)
		paths[i] = net->cfg.path;
	return paths;
}

uint32_t engine_net_host(const struct engine_net *net, uint32_t node)
{
	return net->cfg.nodes_per_host > 1 ? node - node % net->cfg.nodes_per_host : node;
}

struct net_path *engine_net_path(struct engine_net *net, uint32_t src, uint32_t dst, uint32_t plane,
				 uint32_t path)
{
	if (engine_net_host(net, src) != engine_net_host(net, dst)) {
		src = engine_net_host(net, src);
		dst = engine_net_host(net, dst);
	}
	if (!net->paths[src][dst])
		net->paths[src][dst] = make_paths(net);
	return &net->paths[src][dst][(size_t)plane * net->cfg.n_paths + path];
}

uint32_t engine_net_path_of(const struct engine_net *net, uint32_t ev_value)
{
	return (ev_value - net->cfg.ev_base) % net->cfg.n_paths;
}

/* ---- packets ---- */

struct net_packet *net_packet_new(size_t len)
{
	struct net_packet *p = calloc(1, sizeof(*p) + len);

	if (!p) {
		perror("engine_net");
		abort();
	}
	p->len = len;
	return p;
}

void net_packet_trim(struct net_packet *p, enum mt_trim how, size_t keep)
{
	if (keep < NET_TRIM_MIN)
		keep = NET_TRIM_MIN;
	if (keep < p->len)
		p->len = keep;
	p->meta.trim = (uint8_t)how;
	p->meta.icrc_ok = false;
}

void net_packet_corrupt(struct net_packet *p, size_t bit)
{
	bit %= p->len * 8;
	p->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	p->meta.icrc_ok = false;
}

static void drop_packet(struct engine_net *net, struct net_packet *p, enum net_fate why)
{
	net->counts.lost++;
	net_log_fate(net, p->log_number, why);
	free(p);
}

/* ---- queues ---- */

static uint64_t wire_ns(uint64_t bps, size_t len)
{
	return (len + FRAME_BYTES) * 8 * UINT64_C(1000000000) / bps;
}

static uint64_t waiting_ns(const struct net_queue *q, uint64_t now)
{
	return q->busy_until_ns > now ? q->busy_until_ns - now : 0;
}

/* What went through a queue leaves it after everything before it. */
static uint64_t pass_queue(struct net_queue *q, uint64_t now, size_t len)
{
	uint64_t start = q->busy_until_ns > now ? q->busy_until_ns : now;

	q->busy_until_ns = start + wire_ns(q->bps, len);
	return q->busy_until_ns;
}

static void mark(struct engine_net *net, struct net_packet *p)
{
	if (!p->data || p->meta.ecn_ce)
		return;
	p->meta.ecn_ce = true;
	net->counts.marked++;
}

static void trim(struct engine_net *net, struct net_packet *p, enum mt_trim how)
{
	static const size_t sizes[] = {16, 20, 24, 30, 36, 40, 128, 5000};

	net_packet_trim(p, how, sizes[rng_below(&net->rng, 8)]);
	net->counts.trimmed++;
}

/*
 * Takes a packet through a queue of the fabric. Returns when it leaves, or NET_NEVER when the
 * queue was full and it cannot be trimmed. Control and trimmed packets have priority: no wait.
 */
static uint64_t fabric_queue(struct engine_net *net, struct net_queue *q, struct net_packet *p,
			     uint64_t now, enum mt_trim how)
{
	uint64_t wait = waiting_ns(q, now);

	if (q->bps == 0)
		return now;
	if (!p->waits || p->meta.trim != MT_TRIM_NONE)
		return now + wire_ns(q->bps, p->len);
	if (p->data && q->full_ns && wait > q->full_ns) {
		/* What is broken already must not get past the ICRC by losing it. */
		if (!q->trims || !p->meta.icrc_ok)
			return NET_NEVER;
		trim(net, p, how);
		return now + wire_ns(q->bps, p->len);
	}
	if (q->ecn_ns && wait > q->ecn_ns)
		mark(net, p);
	return pass_queue(q, now, p->len);
}

uint32_t engine_net_free_ports(const struct engine_net *net, uint32_t node, uint32_t n,
			       uint32_t bytes)
{
	uint32_t mask = 0;

	for (uint32_t port = 0; port < net->cfg.n_planes; port++) {
		const struct net_queue *q = &net->egress[node][port];
		uint64_t wait = waiting_ns(q, net->now_ns);

		if (q->bps == 0 || wait == 0 ||
		    wait + n * wire_ns(q->bps, bytes) <= net->egress_room_ns)
			mask |= 1u << port;
	}
	return mask;
}

uint64_t engine_net_room_at(const struct engine_net *net, uint32_t node, uint32_t n, uint32_t bytes)
{
	uint64_t first = NET_NEVER;

	for (uint32_t port = 0; port < net->cfg.n_planes; port++) {
		const struct net_queue *q = &net->egress[node][port];
		uint64_t batch = q->bps ? n * wire_ns(q->bps, bytes) : 0;
		uint64_t ahead = batch < net->egress_room_ns ? net->egress_room_ns - batch : 0;
		uint64_t when;

		if (waiting_ns(q, net->now_ns) == 0)
			continue;
		when = q->busy_until_ns > ahead ? q->busy_until_ns - ahead : 0;
		if (when > net->now_ns && when < first)
			first = when;
	}
	return first;
}

/* ---- the path of a packet ---- */

static void arrive(struct engine_net *net, struct net_event *event)
{
	struct net_packet *p = mb_container_of(event, struct net_packet, event);

	net->counts.arrived++;
	net_log_fate(net, p->log_number, NET_ARRIVED);
	net->deliver(net->deliver_ctx, p);
}

static void reach_last_hop(struct engine_net *net, struct net_event *event)
{
	struct net_packet *p = mb_container_of(event, struct net_packet, event);
	struct net_queue *q = &net->lasthop[p->dst][p->meta.port];
	uint64_t when = fabric_queue(net, q, p, net->now_ns, MT_TRIM_LASTHOP);

	if (when == NET_NEVER) {
		drop_packet(net, p, NET_OVERFLOWED);
		return;
	}
	p->event.run = arrive;
	push_event(net, when, &p->event);
}

static void spoil(struct engine_net *net, const struct net_path *path, struct net_packet *p)
{
	if (p->data && rng_chance(&net->rng, path->trim_ppm))
		trim(net, p, MT_TRIM_MIDPATH);
	else if (p->data && rng_chance(&net->rng, path->trim_lasthop_ppm))
		trim(net, p, MT_TRIM_LASTHOP);
	else if (rng_chance(&net->rng, path->corrupt_ppm)) {
		net_packet_corrupt(p, (size_t)rng_below(&net->rng, p->len * 8));
		net->counts.corrupted++;
	}
	if (rng_chance(&net->rng, path->ecn_ppm))
		mark(net, p);
}

static uint64_t delay_ns(struct engine_net *net, const struct net_path *path)
{
	uint64_t ns = path->latency_ns;

	if (path->jitter_ns)
		ns += rng_below(&net->rng, path->jitter_ns + 1);
	if (rng_chance(&net->rng, path->reorder_ppm)) {
		ns += rng_below(&net->rng, path->reorder_ns + 1);
		net->counts.held++;
	}
	return ns;
}

static void fly(struct engine_net *net, struct net_path *path, struct net_packet *p,
		uint64_t leaves)
{
	uint64_t when = fabric_queue(net, &path->queue, p, leaves, MT_TRIM_MIDPATH);

	if (when == NET_NEVER) {
		drop_packet(net, p, NET_OVERFLOWED);
		return;
	}
	when += delay_ns(net, path) + p->extra_ns;
	p->event.run = net->lasthop[p->dst][p->meta.port].bps ? reach_last_hop : arrive;
	push_event(net, when, &p->event);
}

static void fly_doubled(struct engine_net *net, struct net_path *path, const struct net_packet *p,
			uint64_t leaves)
{
	struct net_packet *copy = net_packet_new(p->len);

	memcpy(copy, p, sizeof(*p) + p->len);
	net->counts.doubled++;
	fly(net, path, copy, leaves + rng_below(&net->rng, path->latency_ns + 1));
}

static uint64_t leave_port(struct engine_net *net, const struct net_packet *p)
{
	struct net_queue *q = &net->egress[p->src][p->meta.port];

	return q->bps && p->waits ? pass_queue(q, net->now_ns, p->len) : net->now_ns;
}

static uint64_t write_log(struct engine_net *net, const struct net_packet *p)
{
	net->log[net->logged & (net->cfg.log_room - 1)] = (struct net_seen){
		.at_ns = net->now_ns,
		.src = p->src,
		.dst = p->dst,
		.ev = p->meta.ev,
		.port = p->meta.port,
		.tclass = p->tclass,
		.pkt = p->pkt,
	};
	return net->logged++;
}

void engine_net_send(struct engine_net *net, struct net_packet *p)
{
	struct net_path *path;
	uint64_t leaves = leave_port(net, p);

	net->counts.sent++;
	p->sent_ns = net->now_ns;
	p->log_number = write_log(net, p);
	if (p->dst == NET_NO_NODE || (net->filter && !net->filter(net->filter_ctx, p))) {
		drop_packet(net, p, NET_FILTERED);
		return;
	}
	path = engine_net_path(net, p->src, p->dst, p->meta.port,
			       engine_net_path_of(net, p->meta.ev));
	if (path->dead || (path->lost_above && p->len > path->lost_above) ||
	    rng_chance(&net->rng, path->loss_ppm)) {
		drop_packet(net, p, path->dead ? NET_BLACKHOLED : NET_LOST);
		return;
	}
	spoil(net, path, p);
	net_log_line(net, p->log_number)->trim = p->meta.trim;
	net_log_line(net, p->log_number)->ce = p->meta.ecn_ce;
	if (rng_chance(&net->rng, path->dup_ppm))
		for (uint32_t i = 0; i < (path->copies ? path->copies : 1); i++)
			fly_doubled(net, path, p, leaves);
	fly(net, path, p, leaves);
}

/* ---- time ---- */

struct call {
	struct net_event event;
	void (*run)(void *ctx, uint64_t arg);
	void *ctx;
	uint64_t arg;
};

static void run_call(struct engine_net *net, struct net_event *event)
{
	struct call *c = mb_container_of(event, struct call, event);

	(void)net;
	c->run(c->ctx, c->arg);
	free(c);
}

void engine_net_at(struct engine_net *net, uint64_t when, void (*run)(void *ctx, uint64_t arg),
		   void *ctx, uint64_t arg)
{
	struct call *c = calloc(1, sizeof(*c));

	if (!c) {
		perror("engine_net");
		abort();
	}
	*c = (struct call){.event = {run_call}, .run = run, .ctx = ctx, .arg = arg};
	push_event(net, when, &c->event);
}

void engine_net_again(struct engine_net *net, uint64_t when, struct net_event *event)
{
	push_event(net, when, event);
}

void engine_net_step(struct engine_net *net)
{
	uint64_t when = engine_net_next(net);
	struct net_event *event = pop_event(net);

	if (when > net->now_ns)
		net->now_ns = when;
	event->run(net, event);
}

/* ---- log ---- */

uint64_t net_log_first(const struct engine_net *net)
{
	return net->logged > net->cfg.log_room ? net->logged - net->cfg.log_room : 0;
}

struct net_seen *net_log_line(const struct engine_net *net, uint64_t number)
{
	return &net->log[number & (net->cfg.log_room - 1)];
}

void net_log_fate(struct engine_net *net, uint64_t number, enum net_fate fate)
{
	if (number >= net_log_first(net))
		net_log_line(net, number)->fate = (uint8_t)fate;
}

static void print_body(const struct net_seen *s)
{
	const struct mw_seth *k = &s->pkt.seth;

	if (mw_opcode_info(s->pkt.bth.opcode)->flags & MW_OP_DATA)
		printf(" msn %u rqmsn %u len %u%s", s->pkt.data.meth.msn, s->pkt.data.meth.rqmsn,
		       s->pkt.payload_len, s->pkt.bth.a ? " a" : "");
	else if (s->pkt.bth.opcode == MW_SACK)
		printf(" cack %u off %d map %016llx trig %d ev %u m %u%s ooo %u", k->cack_psn,
		       k->sack_offset, (unsigned long long)k->sack_bitmap, k->ack_psn_offset,
		       k->entropy, k->m, k->pr ? " pr" : "", k->ooo_count);
	else if (s->pkt.bth.opcode == MW_NACK)
		printf(" reason %u psn %u ev %u", s->pkt.neth.reason, s->pkt.neth.nack_psn,
		       s->pkt.neth.entropy);
	else if (s->pkt.bth.opcode == MW_ACK)
		printf(" syndrome 0x%02x msn %u", s->pkt.aeth.syndrome, s->pkt.aeth.msn);
}

static void print_line(const struct net_seen *s)
{
	static const char *const fates[] = {
		"still flying", "", "LOST", "BLACKHOLED", "FILTERED", "OVERFLOWED", "UNHEARD",
	};

	printf("# %10.3f us %u>%u p%u ev %u %-16s qp %u psn %u%s", (double)s->at_ns / 1000, s->src,
	       s->dst, s->port, s->ev, mw_opcode_info(s->pkt.bth.opcode)->name, s->pkt.bth.dqp,
	       s->pkt.bth.psn, s->pkt.bth.rtx ? " rtx" : "");
	print_body(s);
	printf("%s%s %s\n", s->trim ? " TRIMMED" : "", s->ce ? " CE" : "", fates[s->fate]);
}

void net_log_print(const struct engine_net *net, uint64_t n)
{
	uint64_t first = net_log_first(net);

	if (net->logged - first > n)
		first = net->logged - n;
	for (uint64_t i = first; i < net->logged; i++)
		print_line(net_log_line(net, i));
}
