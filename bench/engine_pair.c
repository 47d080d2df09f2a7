/* SPDX-License-Identifier: BSD-2-Clause */
/* engine_pair.c - see engine_pair.h. */
#include "engine_pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bits.h"

#define EV_BASE 49152u
#define QPN_BASE 64u
#define MR_START UINT64_C(0x10000)
#define MR_BYTES (UINT64_C(1) << 40)
#define MR_INDEX 1u
#define MR_KEY (MR_INDEX << 8)
#define BATCH 64u
#define SQ_DEPTH 64u
#define QPS_LEAST 16384u
/* Packets of a batch that a host looks ahead: for a QP, and for what the QP points to. */
#define QP_AHEAD 8u
#define PARTS_AHEAD 4u
#define NOMINAL 88u /* bytes of headers on the wire */
#define PSNS (1u << 24)

static void exit_with_error(const char *what, int result)
{
	fprintf(stderr, "bench: %s: %d\n", what, result);
	exit(1);
}

#define HUGE_PAGE (UINT64_C(2) << 20)

/* Memory from huge pages, as an adapter with thousands of QPs would give it. */
struct chunk {
	struct chunk *next;
	size_t used, size;
	uint8_t pad[64 - sizeof(struct chunk *) - 2 * sizeof(size_t)];
};
_Static_assert(sizeof(struct chunk) == 64, "what follows it is aligned");

static struct chunk *chunks;

static void *alloc_memory(size_t size)
{
	size_t whole = (size + sizeof(struct chunk) + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	struct chunk *c = chunks;

	size = (size + 63) & ~(size_t)63;
	if (!c || c->size - c->used < size) {
		c = aligned_alloc(HUGE_PAGE, whole);
		if (!c)
			exit_with_error("out of memory", 0);
		madvise(c, whole, MADV_HUGEPAGE); /* a hint; without it TLB misses are measured */
		memset(c, 0, whole);
		*c = (struct chunk){.next = chunks, .used = sizeof(*c), .size = whole};
		chunks = c;
	}
	c->used += size;
	return (uint8_t *)c + c->used - size;
}

static bool place_payload(void *ctx, void *mr_user, uint64_t offset, const void *src, uint32_t len)
{
	(void)ctx;
	(void)mr_user;
	(void)offset;
	(void)src;
	(void)len;
	return true;
}

struct mt_ev pair_ev(const struct pair_cfg *cfg, uint32_t i)
{
	return (struct mt_ev){.value = EV_BASE + i / cfg->ports, .port = (uint8_t)(i % cfg->ports)};
}

/* The address of a side, as QP i of the other side knows it. */
static struct rd_gid side_address(const struct pair *p, int side, uint32_t i)
{
	/* Two words, each stored as a whole: to read what was stored in parts takes a wait. */
	uint64_t words[2] = {(uint64_t)side + 1, p->cfg.ev_set_each ? i : 0};
	struct rd_gid gid;

	_Static_assert(sizeof(words) == sizeof(gid), "an address in two words");
	memcpy(&gid, words, sizeof(gid));
	return gid;
}

static void post_write(struct pair *p, uint32_t i)
{
	struct rd_sge sge = {.addr = MR_START, .length = p->cfg.message_bytes, .lkey = MR_KEY};
	struct rd_send_wr wr = {
		.sge = &sge,
		.n_sge = 1,
		.rkey = MR_KEY,
		.remote_addr = MR_START,
	};
	int r = engine_node_post(&p->sides[0].node, p->sides[0].qps[i], p->net.now_ns, &wr);

	if (r != MT_OK)
		exit_with_error("post refused", r);
}

/* Posts as many again as complete. */
static void take_event(void *ctx, const struct mt_event *ev)
{
	struct pair *p = ((struct pair_side *)ctx)->pair;

	if (ctx != &p->sides[0])
		return;
	if (ev->type == MT_EVENT_QP)
		exit_with_error("QP failed", ev->status);
	if (ev->type != MT_EVENT_SEND)
		return;
	p->completed++;
	post_write(p, (uint32_t)(uintptr_t)ev->qp_user);
}

static void deliver_packet(struct pair *p, const struct pair_packet *packet, uint64_t now_ns)
{
	struct engine_node *to = &p->sides[packet->to].node;
	struct mt_rx_meta meta = {
		.ev = packet->ev, .port = packet->port, .ecn_ce = packet->ce, .icrc_ok = true};
	struct mw_packet pkt;
	size_t len;

	/* The decoder looks at the length of the payload and its pad, not at what is in them. */
	if (mw_packet_decode(packet->headers, packet->len + packet->tail_len, false, &pkt, &len) !=
	    MW_OK)
		exit_with_error("packet does not decode", 0);
	meta.src = side_address(p, 1 - packet->to, pkt.bth.dqp - QPN_BASE);
	mt_engine_rx(to->engine, now_ns, &meta, &pkt, NULL);
	engine_node_grow_if_wanted(to);
}

static void encode_packet(const struct mt_tx_desc *d, int from, struct pair_packet *packet)
{
	packet->len = (uint8_t)mw_packet_encode(&d->pkt, packet->headers);
	packet->tail_len = d->pkt.payload_len + d->pkt.bth.pad;
	packet->ev = d->ev;
	packet->dqp = d->pkt.bth.dqp;
	packet->port = d->port;
	packet->to = (uint8_t)(1 - from);
	packet->ce = false;
}

/* ---- straight from one engine to the other ---- */

/* Time passes as it would at line rate: a batch of packets of 4 KiB at 800 Gb/s. */
#define BATCH_NS UINT64_C(2700)

static uint32_t take_batch(struct pair *p, int side, struct mt_tx_desc *descs)
{
	struct mt_engine *e = p->sides[side].node.engine;

	if (mt_engine_deadline(e) <= p->net.now_ns)
		mt_engine_tick(e, p->net.now_ns);
	return mt_engine_tx(e, p->net.now_ns, UINT32_MAX, descs, BATCH);
}

static void exchange_from(struct pair *p, int side)
{
	static struct mt_tx_desc descs[BATCH];
	uint32_t n = take_batch(p, side, descs);

	for (uint32_t i = 0; i < n; i++) {
		struct pair_packet packet;

		if (i + QP_AHEAD < n)
			mt_engine_prefetch_qp(p->sides[1 - side].node.engine,
					      descs[i + QP_AHEAD].pkt.bth.dqp,
					      descs[i + QP_AHEAD].pkt.bth.opcode);
		if (i + PARTS_AHEAD < n)
			mt_engine_prefetch_qp_parts(p->sides[1 - side].node.engine,
						    descs[i + PARTS_AHEAD].pkt.bth.dqp,
						    descs[i + PARTS_AHEAD].pkt.bth.opcode);
		encode_packet(&descs[i], side, &packet);
		p->data_sent += descs[i].pkt.payload_len > 0;
		deliver_packet(p, &packet, p->net.now_ns + p->cfg.one_way_ns);
	}
}

void pair_exchange(struct pair *p)
{
	p->net.now_ns += BATCH_NS;
	exchange_from(p, 0);
	exchange_from(p, 1);
	engine_node_poll(&p->sides[0].node);
	engine_node_poll(&p->sides[1].node);
}

/* ---- in random order ---- */

#define CE_PPM 50000u

/* Sends a batch on its way; the packets of one batch arrive in different rounds. */
static void launch_batch(struct pair *p, int side)
{
	static struct mt_tx_desc descs[BATCH];
	uint32_t n = take_batch(p, side, descs);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t later = 1 + (uint32_t)rng_below(&p->rng, PAIR_ROUNDS);
		struct pair_arrivals *a = &p->arrivals[(p->round + later) % (PAIR_ROUNDS + 1)];
		struct pair_packet *packet = &a->packets[a->n++];

		if (a->n == PAIR_ARRIVALS_MAX)
			exit_with_error("more packets than one round takes", (int)a->n);
		encode_packet(&descs[i], side, packet);
		if (packet->tail_len == 0)
			continue;
		p->data_sent++;
		packet->ce = rng_chance(&p->rng, CE_PPM);
	}
}

/* As an adapter does that was given many packets by one call. */
static void prefetch_ahead(const struct pair *p, const struct pair_arrivals *a, uint32_t i)
{
	const struct pair_packet *far = &a->packets[i + QP_AHEAD];
	const struct pair_packet *near = &a->packets[i + PARTS_AHEAD];

	if (i + QP_AHEAD < a->n)
		mt_engine_prefetch_qp(p->sides[far->to].node.engine, far->dqp, far->headers[0]);
	if (i + PARTS_AHEAD < a->n)
		mt_engine_prefetch_qp_parts(p->sides[near->to].node.engine, near->dqp,
					    near->headers[0]);
}

void pair_exchange_reordered(struct pair *p)
{
	struct pair_arrivals *a;

	p->net.now_ns += BATCH_NS;
	p->round++;
	launch_batch(p, 0);
	a = &p->arrivals[p->round % (PAIR_ROUNDS + 1)];
	for (uint32_t i = 0; i < a->n; i++) {
		prefetch_ahead(p, a, i);
		deliver_packet(p, &a->packets[i], p->net.now_ns);
		if (a->packets[i].to == 1)
			launch_batch(p, 1);
	}
	a->n = 0;
	engine_node_poll(&p->sides[0].node);
	engine_node_poll(&p->sides[1].node);
}

/* ---- through the network, event by event ---- */

static void recover_packet(struct pair *p, uint32_t psn)
{
	if (!p->lost_psns || !(p->lost_psns[psn / 64] >> (psn % 64) & 1))
		return;
	p->lost_psns[psn / 64] &= ~(UINT64_C(1) << (psn % 64));
	p->recovered++;
	p->last_recovered_ns = p->net.now_ns;
}

static void receive_packet(void *ctx, struct net_packet *packet)
{
	struct pair *p = ctx;
	struct pair_packet arrival = {
		.tail_len = packet->pkt.payload_len + packet->pkt.bth.pad,
		.ev = packet->meta.ev,
		.len = (uint8_t)packet->len,
		.port = packet->meta.port,
		.to = (uint8_t)packet->dst,
	};

	memcpy(arrival.headers, packet->bytes, packet->len);
	if (packet->data)
		recover_packet(p, packet->pkt.bth.psn);
	deliver_packet(p, &arrival, p->net.now_ns);
	free(packet);
}

static void lose_packet(struct pair *p, uint32_t psn)
{
	p->last_on_dead_ns = p->net.now_ns;
	if (!(p->lost_psns[psn / 64] >> (psn % 64) & 1))
		p->lost++;
	p->lost_psns[psn / 64] |= UINT64_C(1) << (psn % 64);
}

static bool is_path_dead(struct pair *p, const struct net_packet *packet)
{
	return engine_net_path(&p->net, packet->src, packet->dst, packet->meta.port,
			       engine_net_path_of(&p->net, packet->meta.ev))
		->dead;
}

static void launch_packet(void *ctx, const struct mt_tx_desc *d, uint32_t ports)
{
	struct pair_side *side = ctx;
	struct pair *p = side->pair;
	struct net_packet *packet = net_packet_new(MW_HEADERS_MAX);

	(void)ports;
	packet->len = mw_packet_encode(&d->pkt, packet->bytes);
	packet->pkt = d->pkt;
	packet->src = (uint32_t)(side - p->sides);
	packet->dst = 1 - packet->src;
	packet->meta = (struct mt_rx_meta){.ev = d->ev, .port = d->port, .icrc_ok = true};
	packet->data = packet->src == 0 && d->pkt.payload_len > 0;
	if (packet->data) {
		p->data_sent++;
		if (p->cfg.port_bps)
			p->port_free_ns[d->port] =
				p->net.now_ns + (d->pkt.payload_len + NOMINAL) * 8 *
							UINT64_C(1000000000) / p->cfg.port_bps;
		if (is_path_dead(p, packet))
			lose_packet(p, d->pkt.bth.psn);
	}
	engine_net_send(&p->net, packet);
}

static uint32_t free_ports(void *ctx, uint32_t n)
{
	const struct pair_side *side = ctx;
	const struct pair *p = side->pair;
	uint32_t mask = 0;

	(void)n;
	if (side != &p->sides[0])
		return UINT32_MAX;
	for (uint32_t i = 0; i < p->cfg.ports; i++)
		if (p->port_free_ns[i] <= p->net.now_ns)
			mask |= 1u << i;
	return mask;
}

static uint64_t next_event(const struct pair *p)
{
	uint64_t next = engine_net_next(&p->net);

	for (int side = 0; side < 2; side++) {
		uint64_t at = mt_engine_deadline(p->sides[side].node.engine);

		next = at < next ? at : next;
	}
	for (uint32_t i = 0; i < p->cfg.ports && mt_engine_tx_is_blocked(p->sides[0].node.engine);
	     i++)
		if (p->port_free_ns[i] > p->net.now_ns && p->port_free_ns[i] < next)
			next = p->port_free_ns[i];
	return next;
}

void pair_run(struct pair *p, uint64_t until_ns)
{
	for (;;) {
		uint64_t next;

		for (int side = 0; side < 2; side++)
			engine_node_send(&p->sides[side].node, p->net.now_ns, 1);
		next = next_event(p);
		if (next > until_ns)
			break;
		if (next > p->net.now_ns)
			p->net.now_ns = next;
		while (engine_net_next(&p->net) <= p->net.now_ns)
			engine_net_step(&p->net);
		for (int side = 0; side < 2; side++)
			engine_node_tick(&p->sides[side].node, p->net.now_ns);
		for (int side = 0; side < 2; side++)
			engine_node_poll(&p->sides[side].node);
	}
	p->net.now_ns = until_ns;
}

void pair_break(struct pair *p, bool (*hit)(uint32_t ev_index, uint8_t port))
{
	p->lost_psns = alloc_memory(PSNS / 8);
	p->fault_ns = p->net.now_ns;
	for (uint32_t i = 0; i < p->cfg.evs; i++) {
		struct mt_ev ev = pair_ev(&p->cfg, i);
		uint32_t path = engine_net_path_of(&p->net, ev.value);

		for (uint32_t src = 0; src < 2; src++)
			engine_net_path(&p->net, src, 1 - src, ev.port, path)->dead =
				hit(i, ev.port);
	}
}

/* ---- set-up ---- */

static void exit_with_failure(void *ctx, const char *what, int result)
{
	(void)ctx;
	exit_with_error(what, result);
}

static void open_engine(struct pair *p, int number)
{
	struct pair_side *side = &p->sides[number];
	struct mt_qp_cap cap = {.sq_depth = p->cfg.sq_depth ? p->cfg.sq_depth : SQ_DEPTH,
				.max_sge = 1,
				.signal_all = true};
	struct mt_ev evs[PAIR_EVS_MAX];
	struct mt_cc_profile_cfg cc = {
		.kind = (uint8_t)p->cfg.cc,
		.trimming = true,
		.link_bps = p->cfg.ports * UINT64_C(100000000000),
		.base_rtt_ns = 2 * p->cfg.one_way_ns,
	};
	struct engine_node_ops ops = {
		.env = {.ctx = side, .place = place_payload},
		.send = launch_packet,
		.free_ports = free_ports,
		.event = take_event,
		.fail = exit_with_failure,
		.alloc = alloc_memory,
	};
	struct engine_node_cfg cfg = {
		.ev_profile = {.evs = evs,
			       .n_evs = (uint16_t)p->cfg.evs,
			       .n_active = (uint16_t)p->cfg.evs,
			       .min_active = 1,
			       .revive_probes = 3,
			       .probe_interval_ns = 50000,
			       .probe_interval_max_ns = 1000000},
		.cc_profiles = &cc,
		.n_cc_profiles = 1,
		.memory_begin = 1u << 20,
		.memory_least = 1u << 20,
	};

	side->pair = p;
	for (uint32_t i = 0; i < p->cfg.evs; i++)
		evs[i] = pair_ev(&p->cfg, i);
	mt_engine_cfg_default(&cfg.engine, p->cfg.ports);
	cfg.engine.max_qps = mb_pow2_ceil(p->cfg.qps < QPS_LEAST ? QPS_LEAST : p->cfg.qps);
	cfg.engine.seed = (uint64_t)number + 1;
	engine_node_open(&side->node, &ops, &cfg, 0);
	if (mt_mr_add(side->node.engine, MR_INDEX << 8, 0, MR_START, MR_BYTES,
		      RD_ACCESS_LOCAL_WRITE | RD_ACCESS_REMOTE_WRITE, NULL) != MT_OK)
		exit_with_error("MR refused", 0);
	side->qps = alloc_memory(p->cfg.qps * sizeof(*side->qps));
	for (uint32_t i = 0; i < p->cfg.qps; i++)
		side->qps[i] =
			engine_node_qp(&side->node, &cap, QPN_BASE + i, (void *)(uintptr_t)i);
}

static void connect_qp(struct pair *p, int side, uint32_t i)
{
	struct rd_qp_attr a;
	int r;

	mt_qp_attr_default(&a);
	/* Thousands of QPs share a link: a QP may have to wait longer than the default timeout. */
	a.timeout = 14;
	a.dest = side_address(p, 1 - side, i);
	a.dest_qpn = QPN_BASE + i;
	r = engine_node_bring_to(&p->sides[side].node, p->sides[side].qps[i], 0, &a, RD_QPS_RTS);
	if (r != MT_OK)
		exit_with_error("QP does not connect", r);
}

/* As the host does what the store of its node says. */
static void deny_ev(struct pair *p, uint32_t side, uint32_t ev)
{
	struct engine_node *n = &p->sides[side].node;
	int r;

	ENGINE_NODE_CALL(n, r, mt_ev_profile_deny(n->engine, 0, ev, true));
	if (r != MT_OK) {
		fprintf(stderr, "bench: EV %u cannot be denied\n", ev);
		exit(1);
	}
}

void pair_open(struct pair *p, const struct pair_cfg *cfg)
{
	struct engine_net_cfg net = {
		.n_nodes = 2,
		.n_planes = cfg->ports,
		.n_paths = cfg->evs / cfg->ports,
		.ev_base = EV_BASE,
		.path = {.latency_ns = cfg->one_way_ns},
		.log_room = 1,
	};

	*p = (struct pair){.cfg = *cfg};
	engine_net_init(&p->net, &net);
	p->net.deliver = receive_packet;
	p->net.deliver_ctx = p;
	rng_init(&p->rng, 1);
	p->arrivals = alloc_memory((PAIR_ROUNDS + 1) * sizeof(*p->arrivals));
	open_engine(p, 0);
	open_engine(p, 1);
	for (uint32_t i = 0; i < cfg->qps; i++) {
		connect_qp(p, 0, i);
		connect_qp(p, 1, i);
	}
	for (uint32_t i = 0; i < cfg->denied; i++) {
		deny_ev(p, 0, i);
		deny_ev(p, 1, i);
	}
	for (uint32_t m = 0; m < cfg->messages; m++)
		for (uint32_t i = 0; i < cfg->qps; i++)
			post_write(p, i);
}

void pair_close(struct pair *p)
{
	engine_net_fini(&p->net);
	engine_node_close(&p->sides[0].node);
	engine_node_close(&p->sides[1].node);
	*p = (struct pair){0};
	while (chunks) {
		struct chunk *c = chunks;

		chunks = c->next;
		free(c);
	}
}
