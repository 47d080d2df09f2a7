/* SPDX-License-Identifier: BSD-2-Clause */
/* ud_world.c - see ud_world.h. */
#include "ud_world.h"

#include <stdlib.h>
#include <string.h>

/* ---- sending ---- */

/* The bytes of a datagram: its number, and what follows from that. */
static void fill(uint8_t *out, uint64_t number, uint32_t bytes)
{
	uint32_t first = (uint32_t)number * 0x9E37u;

	memcpy(out, &number, 8);
	for (uint32_t i = 8; i < bytes; i++)
		out[i] = (uint8_t)((first + i) * 0x85u >> 3);
}

static uint32_t tx_budget(void *ctx, uint32_t port, uint64_t now_ns)
{
	struct host *h = ctx;

	(void)now_ns;
	return h->up >> port & 1 ? 4 : 0;
}

static uint32_t host_at(const struct world *w, const struct rd_gid *gid)
{
	return gid->b[15] - 1u < w->n_hosts ? gid->b[15] - 1u : NET_NO_NODE;
}

static void fly(struct host *h, const struct mt_tx_desc *d, struct net_packet *p, bool datagram)
{
	p->src = h->id;
	p->dst = host_at(h->w, &d->dst);
	assert_true(p->dst != NET_NO_NODE);
	assert_true(h->up >> d->port & 1);
	/* Data is what switches cut and mark. */
	p->data = p->waits = datagram;
	p->tclass = d->tclass;
	p->meta = (struct mt_rx_meta){.src = h->gid, .ev = d->ev, .port = d->port, .icrc_ok = true};
	engine_net_send(&h->w->net, p);
}

static bool tx(void *ctx, const struct mt_tx_desc *d, const struct mw_datagram *headers,
	       uint8_t traffic_class)
{
	struct host *h = ctx;
	uint8_t head[MW_DATAGRAM_HEADERS_MAX];
	size_t n = mw_datagram_encode(headers, head);
	struct net_packet *p = net_packet_new(n + headers->payload_len + headers->pad);

	(void)traffic_class;
	memcpy(p->bytes, head, n);
	p->headers_len = n;
	assert_u_eq(d->n_sge, 1);
	memcpy(p->bytes + n, h->memory + (d->sge[0].addr - START), headers->payload_len);
	for (uint32_t i = 0; i < h->w->n_planes * h->w->n_paths; i++)
		if (h->w->evs[i].value == d->ev && h->w->evs[i].port == d->port)
			h->ev_used_ns[i] = h->w->net.now_ns;
	fly(h, d, p, true);
	return true;
}

static void tx_flush(void *ctx, uint32_t port, uint64_t now_ns)
{
	(void)ctx;
	(void)port;
	(void)now_ns;
}

static void send_packet(void *ctx, const struct mt_tx_desc *d, uint32_t ports)
{
	uint8_t head[MW_HEADERS_MAX];
	size_t n = mw_packet_encode(&d->pkt, head);
	struct net_packet *p = net_packet_new(n);

	(void)ports;
	memcpy(p->bytes, head, n);
	p->headers_len = n;
	p->pkt = d->pkt;
	fly(ctx, d, p, false);
}

static void tx_probes(void *ctx, uint64_t now_ns)
{
	struct host *h = ctx;

	engine_node_send(&h->base, now_ns, 16);
}

static void event(void *ctx, const struct mt_event *ev)
{
	struct host *h = ctx;

	if (ev->type == MT_EVENT_ENDPOINT)
		assert_true(mu_deliver_probe(h->ud, ev, h->w->net.now_ns));
}

static uint32_t free_ports(void *ctx, uint32_t n)
{
	(void)n;
	return ((struct host *)ctx)->up;
}

/* ---- receiving ---- */

static struct mu_qp *find_qp(void *ctx, uint32_t qpn)
{
	struct host *h = ctx;

	return qpn - 0x10 < QPS ? h->qps[qpn - 0x10] : NULL;
}

static bool place(void *ctx, void *mr_user, uint64_t offset, const void *src, uint32_t len)
{
	struct host *h = ctx;

	assert_true(mr_user == h && h->w->due && h->w->due->to == h->id);
	assert_true(offset <= MEMORY && len <= MEMORY - offset);
	memcpy(h->memory + offset, src, len);
	return true;
}

static void check_bytes(const struct host *h, const struct recv *r, const struct gram *g)
{
	const uint8_t *at = h->memory + r->at;
	uint8_t want[MTU];

	fill(want, (uint64_t)(g - h->w->grams), g->bytes);
	assert_memory_equal(at + 8, h->w->hosts[g->from].gid.b, 16);
	assert_memory_equal(at + 24, h->gid.b, 16);
	assert_memory_equal(at + MU_GRH_BYTES, want, g->bytes);
}

/* REQ(ud.drop) REQ(ud.grh) */
static void take_recv(struct end *end, const struct mu_completion *c)
{
	struct host *h = end->host;
	const struct gram *g = h->w->due;
	const struct recv *r = &end->recv[end->received % DEPTH];

	assert_non_null(g);
	h->w->due = NULL;
	assert_u_eq(c->status, RD_WC_SUCCESS);
	assert_u_eq(c->wr_id, end->received++);
	assert_u_eq(g->to_qp, end->i);
	assert_u_eq(c->byte_len, MU_GRH_BYTES + g->bytes);
	assert_u_eq(c->src_qpn, 0x10 + g->qp);
	assert_u_eq(c->flags, RD_WC_GRH | (g->with_imm ? RD_WC_WITH_IMM : 0u) |
				      (g->solicited ? RD_WC_SOLICITED : 0u));
	if (g->with_imm)
		assert_u_eq(c->imm, g->imm);
	check_bytes(h, r, g);
	h->w->delivered++;
}

static void complete(void *qp_user, const struct mu_completion *c)
{
	struct end *end = qp_user;

	if (c->is_recv) {
		take_recv(end, c);
		return;
	}
	assert_u_eq(c->status, RD_WC_SUCCESS);
	assert_u_eq(c->wr_id, end->sent++);
}

/* What a datagram that arrives must come to: the counter that goes up; ud_rx with a delivery. */
static uint64_t *verdict(struct host *h, const struct net_packet *p, const struct gram *g)
{
	const struct end *end = &h->ends[g->to_qp % QPS];
	uint16_t both = g->p_key ^ end->p_key;

	if (p->meta.trim != MT_TRIM_NONE || !p->meta.icrc_ok)
		return &h->want.ud_drop_corrupt;
	if (g->to_qp >= QPS)
		return &h->want.ud_drop_no_qp;
	if (g->q_key != end->q_key || both & 0x7FFF || !((g->p_key | end->p_key) & 0x8000))
		return &h->want.ud_drop_key;
	if (end->received == end->recvs)
		return &h->want.ud_drop_no_recv;
	if (end->recv[end->received % DEPTH].bytes < MU_GRH_BYTES + g->bytes)
		return &h->want.ud_drop_recv_too_short;
	return &h->want.ud_rx;
}

static void check_counts(const struct host *h)
{
	const struct mu_counts *got = mu_counts(h->ud);

	assert_u_eq(got->ud_rx, h->want.ud_rx);
	assert_u_eq(got->ud_drop_corrupt, h->want.ud_drop_corrupt);
	assert_u_eq(got->ud_drop_malformed, 0);
	assert_u_eq(got->ud_drop_no_qp, h->want.ud_drop_no_qp);
	assert_u_eq(got->ud_drop_key, h->want.ud_drop_key);
	assert_u_eq(got->ud_drop_no_recv, h->want.ud_drop_no_recv);
	assert_u_eq(got->ud_drop_recv_too_short, h->want.ud_drop_recv_too_short);
}

/* The number lies behind the headers; damage may have changed it, but then it does not count. */
static const struct gram *gram_of(const struct world *w, const struct net_packet *p)
{
	uint64_t number = 0;

	if (p->len >= p->headers_len + 8)
		memcpy(&number, p->bytes + p->headers_len, 8);
	return &w->grams[number < w->n_grams ? number : 0];
}

static void deliver(void *ctx, struct net_packet *p)
{
	struct world *w = ctx;
	struct host *h = &w->hosts[p->dst];
	uint64_t *count;

	if (!(h->up >> p->meta.port & 1)) {
		free(p);
		return;
	}
	if (p->data) {
		const struct gram *g = gram_of(w, p);

		count = verdict(h, p, g);
		w->due = count == &h->want.ud_rx ? g : NULL;
		(*count)++;
		mu_receive(h->ud, &p->meta, 0, p->bytes, p->len, p->len);
		check_counts(h);
		assert_null(w->due);
	} else {
		engine_node_rx_bytes(&h->base, w->net.now_ns, &p->meta, p->bytes, p->len);
		engine_node_send(&h->base, w->net.now_ns, 16);
		engine_node_poll(&h->base);
	}
	free(p);
}

/* ---- programs ---- */

/* The upper half of a host's memory is for what it sends, more than is posted at a time. */
static uint64_t take_bytes(struct host *h)
{
	uint64_t at = h->used < MEMORY / 2 || h->used + MTU > MEMORY ? MEMORY / 2 : h->used;

	h->used = at + MTU;
	return at;
}

static void post_recvs(struct host *h, uint32_t i)
{
	struct end *end = &h->ends[i];

	while (end->recvs - end->received < DEPTH && rng_below(&h->w->rng, 8)) {
		struct recv *r = &end->recv[end->recvs % DEPTH];
		struct rd_sge sge = {.lkey = KEY};
		struct rd_recv_wr wr = {.wr_id = end->recvs, .sge = &sge, .n_sge = 1};

		r->bytes = rng_below(&h->w->rng, 10) ? MU_GRH_BYTES + MTU : MU_GRH_BYTES + 100;
		r->at = (i * DEPTH + end->recvs % DEPTH) * (MU_GRH_BYTES + MTU);
		sge.addr = START + r->at;
		sge.length = r->bytes;
		assert_true(mu_qp_post_recv(h->qps[i], &wr));
		end->recvs++;
	}
}

static struct gram *add_gram(struct world *w)
{
	if (w->n_grams == w->room) {
		w->room = 2 * w->room + 256;
		w->grams = realloc(w->grams, w->room * sizeof(*w->grams));
		assert_non_null(w->grams);
	}
	return &w->grams[w->n_grams++];
}

static void draw_gram(struct host *h, uint32_t i, struct gram *g)
{
	struct rng *r = &h->w->rng;

	*g = (struct gram){
		.from = h->id,
		.to = (uint32_t)((h->id + rng_between(r, 1, h->w->n_hosts - 1)) % h->w->n_hosts),
		.qp = i,
		.to_qp = (uint32_t)(rng_below(r, 20) ? rng_below(r, QPS) : QPS),
		.bytes = (uint32_t)rng_between(r, 8, MTU),
		.imm = (uint32_t)rng_rand(r),
		.p_key = h->ends[i].p_key,
		.with_imm = rng_below(r, 2),
		.solicited = rng_below(r, 2)};
	g->q_key = h->w->hosts[g->to].ends[g->to_qp % QPS].q_key;
	if (rng_below(r, 10) == 0)
		g->q_key ^= 1u << rng_below(r, 30);
	/* That of the sending QP is meant. */
	if (rng_below(r, 10) == 0)
		g->q_key = h->ends[i].q_key;
}

static void post_send(struct host *h, uint32_t i)
{
	struct world *w = h->w;
	struct end *end = &h->ends[i];
	struct gram *g = add_gram(w);
	uint64_t number = w->n_grams - 1, at;
	struct rd_sge sge = {.lkey = KEY};
	struct rd_ah ah = {.dest = {{0}}};
	struct rd_send_wr wr = {.wr_id = end->sends, .sge = &sge, .n_sge = 1};

	draw_gram(h, i, g);
	at = take_bytes(h);
	fill(h->memory + at, number, g->bytes);
	sge.addr = START + at;
	sge.length = g->bytes;
	ah.dest = w->hosts[g->to].gid;
	wr.opcode = RD_WR_SEND;
	wr.flags = RD_SEND_SIGNALED | (g->with_imm ? RD_SEND_IMM : 0u) |
		   (g->solicited ? RD_SEND_SOLICITED : 0u);
	wr.imm = g->imm;
	wr.ud = (struct rd_ud_addr){.ah = &ah, .qpn = 0x10 + g->to_qp, .q_key = g->q_key};
	if (g->q_key == end->q_key)
		wr.ud.q_key = MW_Q_KEY_CONTROLLED;
	assert_true(mu_qp_post_send(h->qps[i], &wr));
	end->sends++;
}

static void run_host(struct host *h, bool posts)
{
	struct world *w = h->w;

	for (uint32_t i = 0; posts && i < QPS; i++) {
		post_recvs(h, i);
		while (h->ends[i].sends - h->ends[i].sent < DEPTH / 2 && rng_below(&w->rng, 3))
			post_send(h, i);
	}
	engine_node_tick(&h->base, w->net.now_ns);
	engine_node_poll(&h->base);
	mu_run(h->ud, h->up, w->net.now_ns);
	engine_node_send(&h->base, w->net.now_ns, 16);
}

void ud_world_run(struct world *w, uint64_t ns)
{
	uint64_t end = w->net.now_ns + ns;

	for (uint64_t next = w->net.now_ns; next < end; next += POST_GAP_NS) {
		while (engine_net_next(&w->net) <= next)
			engine_net_step(&w->net);
		w->net.now_ns = next;
		for (uint32_t i = 0; i < w->n_hosts; i++)
			run_host(&w->hosts[i], true);
	}
}

/* ---- worlds ---- */

static void open_qp(struct host *h, uint32_t i)
{
	struct mt_qp_cap cap = {
		.sq_depth = DEPTH, .rq_depth = DEPTH, .max_sge = 1, .max_recv_sge = 1, .pd = 3};
	struct end *end = &h->ends[i];
	struct rd_qp_attr attr;

	*end = (struct end){.host = h,
			    .i = i,
			    .q_key = (uint32_t)(1 + rng_below(&h->w->rng, 3)),
			    .p_key = rng_below(&h->w->rng, 6) ? 0xFFFF : 0x7FFF};
	if (rng_below(&h->w->rng, 8) == 0)
		end->p_key = 0x8123;
	h->qps[i] = mu_qp_create(h->ud, &cap, 3, 0x10 + i, MU_QPT_UD, end);
	assert_non_null(h->qps[i]);
	mt_qp_attr_default(&attr);
	attr.q_key = end->q_key;
	attr.p_key = end->p_key;
	for (unsigned s = RD_QPS_INIT; s <= RD_QPS_RTS; s++) {
		attr.state = (enum rd_qp_state)s;
		assert_true(
			mu_qp_modify(h->qps[i], &attr, RD_QP_STATE | RD_QP_Q_KEY | RD_QP_P_KEY));
	}
}

static void open_host(struct world *w, uint32_t id)
{
	struct host *h = &w->hosts[id];
	uint32_t n = w->n_planes * w->n_paths;
	struct engine_node_ops ops = {.env = {.ctx = h, .place = place},
				      .send = send_packet,
				      .free_ports = free_ports,
				      .event = event};
	struct engine_node_cfg cfg = {.ev_profile = {.evs = w->evs,
						     .n_evs = (uint16_t)n,
						     .n_active = (uint16_t)n,
						     .min_active = 1,
						     .revive_probes = 2,
						     .probe_interval_ns = 100 * US,
						     .probe_interval_max_ns = MS},
				      .memory_least = 65536};
	struct mu_env env = {.ctx = h,
			     .tx_budget = tx_budget,
			     .tx = tx,
			     .tx_flush = tx_flush,
			     .tx_probes = tx_probes,
			     .place = place,
			     .find_qp = find_qp,
			     .complete = complete};
	struct mu_cfg ud = {.mtu = MTU,
			    .qpn_index_bits = 24,
			    .evs = w->evs,
			    .n_evs = (uint16_t)n,
			    .n_ports = w->n_planes,
			    .seed = id + 1};

	*h = (struct host){.w = w, .id = id, .up = (1u << w->n_planes) - 1};
	h->gid.b[0] = 0xFD;
	h->gid.b[15] = (uint8_t)(id + 1);
	mt_engine_cfg_default(&cfg.engine, w->n_planes);
	cfg.engine.seed = id;
	engine_node_open(&h->base, &ops, &cfg, w->net.now_ns);
	assert_i_eq(mt_mr_add(h->base.engine, KEY, 3, START, MEMORY, RD_ACCESS_LOCAL_WRITE, h),
		    MT_OK);
	ud.engine = h->base.engine;
	ud.gid = h->gid;
	h->ud = mu_create(&ud, &env);
	assert_non_null(h->ud);
	for (uint32_t i = 0; i < QPS; i++)
		open_qp(h, i);
}

struct world *ud_world_open(uint64_t seed, uint32_t hosts, uint32_t planes, uint32_t paths)
{
	struct world *w = calloc(1, sizeof(*w));
	struct engine_net_cfg cfg = {
		.seed = seed, .nodes_per_host = 1, .ev_base = EV_BASE, .log_room = 64};

	assert_non_null(w);
	rng_init(&w->rng, seed);
	w->n_hosts = hosts ? hosts : (uint32_t)rng_between(&w->rng, 2, HOSTS_MAX);
	w->n_planes = planes ? planes : (uint32_t)rng_between(&w->rng, 1, PLANES_MAX);
	w->n_paths = paths ? paths : (uint32_t)rng_between(&w->rng, 1, PATHS_MAX);
	for (uint32_t i = 0; i < w->n_planes * w->n_paths; i++)
		w->evs[i] = (struct mt_ev){.value = EV_BASE + i / w->n_planes,
					   .port = (uint8_t)(i % w->n_planes)};
	cfg.n_nodes = w->n_hosts;
	cfg.n_planes = w->n_planes;
	cfg.n_paths = w->n_paths;
	cfg.path.latency_ns = rng_between(&w->rng, 1000, 50000);
	cfg.path.jitter_ns = rng_below(&w->rng, 20000);
	engine_net_init(&w->net, &cfg);
	w->net.now_ns = MS;
	w->net.deliver = deliver;
	w->net.deliver_ctx = w;
	for (uint32_t i = 0; i < w->n_hosts; i++)
		open_host(w, i);
	return w;
}

void ud_world_close(struct world *w)
{
	for (uint32_t k = 0; k < w->n_hosts; k++) {
		for (uint32_t i = 0; i < QPS; i++)
			mu_qp_destroy(w->hosts[k].qps[i]);
		mu_destroy(w->hosts[k].ud);
		engine_node_close(&w->hosts[k].base);
	}
	engine_net_fini(&w->net);
	free(w->grams);
	free(w);
}

struct net_path *ud_world_path(struct world *w, uint32_t src, uint32_t dst, uint32_t ev)
{
	return engine_net_path(&w->net, src, dst, w->evs[ev].port,
			       engine_net_path_of(&w->net, w->evs[ev].value));
}

void ud_world_port(struct host *h, uint32_t port, bool up)
{
	h->up = up ? h->up | 1u << port : h->up & ~(1u << port);
	assert_i_eq(mt_engine_port_set(h->base.engine, h->w->net.now_ns, port, up), MT_OK);
}
