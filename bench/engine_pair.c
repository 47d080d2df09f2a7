/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine_pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define EV_BASE 49152u
#define QPN_BASE 64u
#define MR_START UINT64_C(0x10000)
#define MR_BYTES (UINT64_C(1) << 40)
#define MR_INDEX 1u
#define MR_KEY (MR_INDEX << 8)
#define BATCH 64u
#define AHEAD 8u    /* packets of a batch that a host looks ahead */
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

static struct rd_gid side_address(int side)
{
	return (struct rd_gid){{(uint8_t)(side + 1)}};
}

static void set_profiles(struct pair *p, struct mt_engine *e)
{
	struct mt_ev evs[PAIR_EVS_MAX];
	struct mt_ev_profile_cfg ev = {
		.evs = evs,
		.n_evs = (uint16_t)p->cfg.evs,
		.n_active = (uint16_t)p->cfg.evs,
		.min_active = 1,
		.revive_probes = 3,
		.probe_interval_ns = 50000,
		.probe_interval_max_ns = 1000000,
	};
	struct mt_cc_profile_cfg cc = {
		.kind = (uint8_t)p->cfg.cc,
		.trimming = true,
		.link_bps = p->cfg.ports * UINT64_C(100000000000),
		.base_rtt_ns = 2 * p->cfg.one_way_ns,
	};

	for (uint32_t i = 0; i < p->cfg.evs; i++)
		evs[i] = pair_ev(&p->cfg, i);
	if (mt_ev_profile_set(e, 0, &ev) != MT_OK || mt_cc_profile_set(e, 0, &cc) != MT_OK)
		exit_with_error("profile refused", 0);
}

static void open_engine(struct pair *p, int side)
{
	struct mt_qp_cap cap = {.sq_depth = 64, .max_sge = 1, .signal_all = true};
	struct mt_env env = {.ctx = p, .place = place_payload};
	struct mt_engine_cfg cfg;
	struct mt_engine *e;

	mt_engine_cfg_default(&cfg, p->cfg.ports);
	cfg.max_qps = 16384;
	cfg.seed = (uint64_t)side + 1;
	p->memory[side] = alloc_memory(mt_engine_size(&cfg));
	e = p->engine[side] = mt_engine_init(p->memory[side], &cfg, &env, 0);
	mt_engine_add_memory(e, alloc_memory(1u << 20), 1u << 20);
	set_profiles(p, e);
	if (mt_mr_add(e, MR_INDEX, 0, 0, MR_START, MR_BYTES,
		      RD_ACCESS_LOCAL_WRITE | RD_ACCESS_REMOTE_WRITE, NULL) != MT_OK)
		exit_with_error("MR refused", 0);
	p->qp[side] = alloc_memory(p->cfg.qps * sizeof(struct mt_qp *));
	for (uint32_t i = 0; i < p->cfg.qps; i++)
		if (mt_qp_init(e, alloc_memory(mt_qp_size(&cap)), &cap, QPN_BASE + i,
			       (void *)(uintptr_t)i, &p->qp[side][i]) != MT_OK)
			exit_with_error("QP refused", 0);
	p->way[side].ring = alloc_memory(PAIR_FLIGHT * sizeof(struct pair_flying));
}

static void grow_engine(struct mt_engine *e)
{
	size_t size = mt_engine_memory_wanted(e);

	if (size < 1u << 20)
		size = 1u << 20;
	mt_engine_add_memory(e, alloc_memory(size), size);
}

static void connect_qp(struct pair *p, int side, uint32_t i)
{
	struct rd_qp_attr a;
	int r;

	mt_qp_attr_default(&a);
	a.state = RD_QPS_INIT;
	/* Thousands of QPs share a link: a QP's turn may come later than the default timeout. */
	a.timeout = 14;
	r = mt_qp_modify(p->qp[side][i], 0, &a, RD_QP_STATE | RD_QP_TIMEOUT);
	a.state = RD_QPS_RTR;
	a.dest = side_address(1 - side);
	a.dest_qpn = QPN_BASE + i;
	while (r == MT_OK) {
		r = mt_qp_modify(p->qp[side][i], 0, &a, RD_QP_STATE | RD_QP_DEST);
		if (r != MT_ERR_MEMORY)
			break;
		grow_engine(p->engine[side]);
		r = MT_OK;
	}
	a.state = RD_QPS_RTS;
	if (r == MT_OK)
		r = mt_qp_modify(p->qp[side][i], 0, &a, RD_QP_STATE);
	if (r != MT_OK)
		exit_with_error("QP does not connect", r);
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
	int r = mt_qp_post_send(p->qp[0][i], p->now_ns, &wr);

	while (r == MT_ERR_MEMORY) {
		grow_engine(p->engine[0]);
		r = mt_qp_post_send(p->qp[0][i], p->now_ns, &wr);
	}
	if (r != MT_OK)
		exit_with_error("post refused", r);
}

void pair_open(struct pair *p, const struct pair_cfg *cfg)
{
	*p = (struct pair){.cfg = *cfg};
	open_engine(p, 0);
	open_engine(p, 1);
	for (uint32_t i = 0; i < cfg->qps; i++) {
		connect_qp(p, 0, i);
		connect_qp(p, 1, i);
	}
	for (uint32_t m = 0; m < cfg->messages; m++)
		for (uint32_t i = 0; i < cfg->qps; i++)
			post_write(p, i);
}

void pair_close(struct pair *p)
{
	*p = (struct pair){0};
	while (chunks) {
		struct chunk *c = chunks;

		chunks = c->next;
		free(c);
	}
}

/* Takes completions and posts as many again. */
static void poll_events(struct pair *p)
{
	struct mt_event events[BATCH];
	uint32_t n;

	while ((n = mt_engine_poll(p->engine[0], events, BATCH)) > 0)
		for (uint32_t i = 0; i < n; i++) {
			if (events[i].type == MT_EVENT_QP)
				exit_with_error("QP failed", events[i].status);
			if (events[i].type != MT_EVENT_SEND)
				continue;
			p->completed++;
			post_write(p, (uint32_t)(uintptr_t)events[i].qp_user);
		}
	while (mt_engine_poll(p->engine[1], events, BATCH) > 0)
		;
}

static void deliver_packet(struct pair *p, int to, const uint8_t *headers, size_t headers_len,
			   uint32_t payload_len, uint32_t ev, uint8_t port, uint64_t now_ns)
{
	struct mt_rx_meta meta = {
		.src = side_address(1 - to), .ev = ev, .port = port, .icrc_ok = true};
	struct mw_packet pkt;
	size_t len;

	if (mw_packet_decode(headers, headers_len, true, &pkt, &len) != MW_OK)
		exit_with_error("packet does not decode", 0);
	pkt.payload_len = payload_len;
	mt_engine_rx(p->engine[to], now_ns, &meta, &pkt, NULL);
	if (mt_engine_memory_wanted(p->engine[to]) > 0)
		grow_engine(p->engine[to]);
}

static void exchange_from(struct pair *p, int side)
{
	static struct mt_tx_desc descs[BATCH];
	uint8_t headers[MW_HEADERS_MAX];
	uint32_t n;

	if (mt_engine_deadline(p->engine[side]) <= p->now_ns)
		mt_engine_tick(p->engine[side], p->now_ns);
	n = mt_engine_tx(p->engine[side], p->now_ns, UINT32_MAX, descs, BATCH);
	for (uint32_t i = 0; i < n; i++) {
		size_t len;

		if (i + AHEAD < n)
			mt_engine_prefetch_qp(p->engine[1 - side], descs[i + AHEAD].pkt.bth.dqp);
		len = mw_packet_encode(&descs[i].pkt, headers);

		p->data_sent += descs[i].pkt.payload_len > 0;
		deliver_packet(p, 1 - side, headers, len, descs[i].pkt.payload_len, descs[i].ev,
			       descs[i].port, p->now_ns + p->cfg.one_way_ns);
	}
}

void pair_exchange(struct pair *p)
{
	/* Time passes as it would at line rate: 64 packets of 4 KiB at 800 Gb/s. */
	p->now_ns += 2700;
	exchange_from(p, 0);
	exchange_from(p, 1);
	poll_events(p);
}

/* ---- event by event ---- */

static uint32_t ev_index(const struct pair *p, uint32_t ev, uint8_t port)
{
	return (ev - EV_BASE) * p->cfg.ports + port;
}

/* Says whether the packet goes down with its path, and keeps the books of QP 0's data. */
static bool is_packet_dropped(struct pair *p, int from, const struct mt_tx_desc *d)
{
	uint32_t psn = d->pkt.bth.psn;

	if (!p->dead[ev_index(p, d->ev, d->port)])
		return false;
	if (from == 0 && d->pkt.payload_len > 0) {
		p->last_on_dead_ns = p->now_ns;
		if (!(p->lost_psns[psn / 64] >> (psn % 64) & 1))
			p->lost++;
		p->lost_psns[psn / 64] |= UINT64_C(1) << (psn % 64);
	}
	return true;
}

static void recover_packet(struct pair *p, uint32_t psn)
{
	if (!p->lost_psns || !(p->lost_psns[psn / 64] >> (psn % 64) & 1))
		return;
	p->lost_psns[psn / 64] &= ~(UINT64_C(1) << (psn % 64));
	p->recovered++;
	p->last_recovered_ns = p->now_ns;
}

static void launch_packet(struct pair *p, int from, const struct mt_tx_desc *d)
{
	struct pair_direction *way = &p->way[from];
	struct pair_flying *f = &way->ring[way->tail & (PAIR_FLIGHT - 1)];

	if (from == 0 && d->pkt.payload_len > 0) {
		p->data_sent++;
		if (p->cfg.port_bps)
			p->port_free_ns[d->port] = p->now_ns + (d->pkt.payload_len + NOMINAL) * 8 *
								       UINT64_C(1000000000) /
								       p->cfg.port_bps;
	}
	if (is_packet_dropped(p, from, d))
		return;
	if (way->tail - way->head == PAIR_FLIGHT)
		exit_with_error("too many packets in flight", 0);
	f->arrives_ns = p->now_ns + p->cfg.one_way_ns;
	f->headers_len = (uint8_t)mw_packet_encode(&d->pkt, f->headers);
	f->port = d->port;
	f->ev = d->ev;
	f->payload_len = d->pkt.payload_len;
	way->tail++;
}

static uint32_t free_ports(const struct pair *p)
{
	uint32_t mask = 0;

	for (uint32_t i = 0; i < p->cfg.ports; i++)
		if (p->port_free_ns[i] <= p->now_ns)
			mask |= 1u << i;
	return mask;
}

static void send_all(struct pair *p)
{
	struct mt_tx_desc d;

	for (int side = 0; side < 2; side++)
		while (mt_engine_tx(p->engine[side], p->now_ns,
				    side == 0 ? free_ports(p) : UINT32_MAX, &d, 1) == 1)
			launch_packet(p, side, &d);
}

static uint64_t next_event(const struct pair *p)
{
	uint64_t next = UINT64_MAX;

	for (int side = 0; side < 2; side++) {
		const struct pair_direction *way = &p->way[side];
		uint64_t at = mt_engine_deadline(p->engine[side]);

		if (at < next)
			next = at;
		if (way->head == way->tail)
			continue;
		at = way->ring[way->head & (PAIR_FLIGHT - 1)].arrives_ns;
		if (at < next)
			next = at;
	}
	for (uint32_t i = 0; i < p->cfg.ports && mt_engine_tx_is_blocked(p->engine[0]); i++)
		if (p->port_free_ns[i] > p->now_ns && p->port_free_ns[i] < next)
			next = p->port_free_ns[i];
	return next;
}

static void receive_all(struct pair *p, int from)
{
	struct pair_direction *way = &p->way[from];

	while (way->head != way->tail) {
		const struct pair_flying *f = &way->ring[way->head & (PAIR_FLIGHT - 1)];

		if (f->arrives_ns > p->now_ns)
			break;
		way->head++;
		if (from == 0 && f->payload_len > 0)
			recover_packet(p, (uint32_t)f->headers[9] << 16 |
						  (uint32_t)f->headers[10] << 8 | f->headers[11]);
		deliver_packet(p, 1 - from, f->headers, f->headers_len, f->payload_len, f->ev,
			       f->port, p->now_ns);
	}
}

void pair_run(struct pair *p, uint64_t until_ns)
{
	for (;;) {
		uint64_t next;

		send_all(p);
		next = next_event(p);
		if (next > until_ns)
			break;
		if (next > p->now_ns)
			p->now_ns = next;
		receive_all(p, 0);
		receive_all(p, 1);
		for (int side = 0; side < 2; side++)
			if (mt_engine_deadline(p->engine[side]) <= p->now_ns)
				mt_engine_tick(p->engine[side], p->now_ns);
		poll_events(p);
	}
	p->now_ns = until_ns;
}

void pair_break(struct pair *p, bool (*hit)(uint32_t ev_index, uint8_t port))
{
	p->lost_psns = alloc_memory(PSNS / 8);
	p->fault_ns = p->now_ns;
	for (uint32_t i = 0; i < p->cfg.evs; i++)
		p->dead[i] = hit(i, pair_ev(&p->cfg, i).port);
}
