/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_neighbour.c - two QPs of one node, of which one has a hostile peer. What the other QP sends
 * is byte for byte, and at the same times, what it sends in a world without the hostile packets.
 */
#include "case.h"

#define PACKETS_MAX 8192u
/* Two nodes share an address. The watched QP is one of node 0 to node WATCHED. */
#define WATCHED 2u
#define AT_ITS_ADDRESS 3u
#define ELSEWHERE 4u
/* The hostile peer's one honest message has arrived by then, and most of the watched have not. */
#define FLOOD_FROM_NS (6 * SIM_US)
#define FLOOD_EACH_NS (2 * SIM_US)
#define FLOOD_NS (200 * SIM_US)

/* One packet of the QP that is watched. */
struct record {
	uint64_t at_ns;
	uint64_t hash; /* of its bytes */
	uint32_t ev;
	uint8_t port, tclass, opcode;
};

struct recording {
	struct record packets[PACKETS_MAX];
	uint32_t n;
};

/* A data packet to the hostile peer, of which it knows all that a SACK or NACK says. */
struct bait {
	uint32_t psn, ev;
	uint16_t stamp;
};

#define BAITS 64u

/* What a hostile peer sends between two packets of the adapter's. */
typedef void flood_fn(struct sim_world *w, struct sim_qp *hostile);

/* The watch over one world: what the QP `watched` sends; data to it are trimmed and marked. */
static struct watch {
	struct recording *to;
	uint32_t qpn, peer_qpn;
	uint64_t data_in;
	flood_fn *flood;
	struct sim_qp *hostile;
	uint64_t until_ns;
	struct bait baits[BAITS]; /* the newest, in a ring */
	uint32_t n_baits;
} watch;

static uint64_t hash_of(const struct net_packet *p)
{
	uint64_t hash = UINT64_C(0xCBF29CE484222325);

	for (size_t i = 0; i < p->len; i++)
		hash = (hash ^ p->bytes[i]) * UINT64_C(0x100000001B3);
	return hash;
}

static bool record_packet(void *ctx, struct net_packet *p)
{
	struct sim_world *w = ctx;
	struct recording *r = watch.to;

	if (p->src == 0 && p->pkt.bth.dqp == watch.peer_qpn) {
		assert_true(r->n < PACKETS_MAX);
		r->packets[r->n++] = (struct record){
			.at_ns = w->net.now_ns,
			.hash = hash_of(p),
			.ev = p->meta.ev,
			.port = p->meta.port,
			.tclass = p->tclass,
			.opcode = p->pkt.bth.opcode,
		};
	}
	if (p->src == 0 && p->data && p->pkt.bth.dqp != watch.peer_qpn)
		watch.baits[watch.n_baits++ % BAITS] = (struct bait){
			.psn = p->pkt.bth.psn,
			.ev = p->meta.ev,
			.stamp = p->pkt.data.tseth.tx_timestamp,
		};
	/* The network's own randomness would differ between the worlds. */
	if (p->data && p->dst == 0 && p->pkt.bth.dqp == watch.qpn) {
		watch.data_in++;
		if (watch.data_in % 7 == 0)
			net_packet_trim(p, MT_TRIM_MIDPATH, 64);
		else if (watch.data_in % 5 == 0)
			p->meta.ecn_ce = true;
	}
	return true;
}

static void flood(void *ctx, uint64_t arg)
{
	struct sim_world *w = ctx;

	watch.flood(w, watch.hostile);
	if (w->net.now_ns < watch.until_ns)
		engine_net_at(&w->net, w->net.now_ns + FLOOD_EACH_NS, flood, w, arg);
}

/* Node 0 receives it; what follows from it leaves when the node runs next. */
static void receive(struct sim_world *w, const struct mt_rx_meta *meta, const struct mw_packet *p)
{
	uint8_t bytes[MW_HEADERS_MAX + 128] = {0};
	size_t len = mw_packet_encode(p, bytes);

	engine_node_rx_bytes(&w->nodes[0].base, w->net.now_ns, meta, bytes,
			     len + p->payload_len + p->bth.pad);
	engine_node_grow_if_wanted(&w->nodes[0].base);
}

/*
 * A world with the hostile packets, or with fn NULL without them, into *r. To a neighbour at the
 * address of the hostile peer only data go: what is known of paths for answers is of the address.
 */
static struct sim_world *run_world(uint32_t hostile_node, flood_fn *fn, struct recording *r)
{
	struct sim_world_cfg cfg = case_cfg(2, 4);
	struct sim_qp *watched, *hostile;
	struct sim_qp_cfg def;
	struct sim_world *w;

	cfg.net.n_nodes = ELSEWHERE + 1;
	cfg.net.nodes_per_host = 2;
	w = case_open(&cfg);
	sim_qp_cfg_default(&def);
	def.attr.cc_profile = 1;
	watched = sim_connect(w, 0, WATCHED, &def, &def);
	hostile = sim_connect(w, 0, hostile_node, &def, &def);
	*r = (struct recording){.n = 0};
	watch = (struct watch){
		.to = r,
		.qpn = watched->qpn,
		.peer_qpn = watched->peer->qpn,
		.flood = fn,
		.hostile = hostile,
		.until_ns = w->net.now_ns + FLOOD_NS,
	};
	w->net.filter = record_packet;
	w->net.filter_ctx = w;
	sim_post(hostile->peer, 100, 0);
	if (fn)
		engine_net_at(&w->net, w->net.now_ns + FLOOD_FROM_NS, flood, w, 0);
	case_post(watched, 20, 100000, 0);
	if (hostile_node == AT_ITS_ADDRESS)
		case_post(hostile, 20, 100000, 0);
	else
		case_post(watched->peer, 20, 100000, 0);
	sim_run_for(w, FLOOD_NS);
	sim_run_done(w, 20 * SIM_MS);
	return w;
}

static void check_same(uint32_t hostile_node, flood_fn *fn)
{
	static struct recording without, with;
	struct sim_world *w;

	case_close(run_world(hostile_node, NULL, &without));
	w = run_world(hostile_node, fn, &with);
	for (uint32_t i = 0; i < without.n && i < with.n; i++) {
		const struct record *a = &without.packets[i], *b = &with.packets[i];

		CASE_EQ(w, b->at_ns, a->at_ns);
		CASE_EQ(w, b->opcode, a->opcode);
		CASE_EQ(w, b->ev, a->ev);
		CASE_EQ(w, b->port, a->port);
		CASE_EQ(w, b->tclass, a->tclass);
		CASE_EQ(w, b->hash, a->hash);
	}
	CASE_EQ(w, with.n, without.n);
	CASE_TRUE(w, without.n >= 500);
	case_close(w);
}

static struct mw_packet control_for(const struct sim_qp *hostile, uint8_t opcode)
{
	return (struct mw_packet){.bth = {.opcode = opcode, .p_key = 0xFFFF, .dqp = hostile->qpn}};
}

static void flood_probes(struct sim_world *w, struct sim_qp *hostile)
{
	struct mt_rx_meta meta = case_meta(w, hostile->peer->node->id);
	struct mw_packet p = control_for(hostile, MW_PROBE);

	p.peth.ts.ftype = MW_FTYPE_TIMESTAMP;
	for (uint16_t i = 0; i < 1000; i++) {
		p.peth.probe_id = i;
		receive(w, &meta, &p);
	}
}

TEST(sim_neighbour, probes_at_line_rate)
{
	check_same(ELSEWHERE, flood_probes);
}

/* Duplicates of one packet, each marked: each asks for a SACK of its own. */
static void flood_marked(struct sim_world *w, struct sim_qp *hostile)
{
	struct mt_rx_meta meta = case_meta(w, hostile->peer->node->id);
	struct mw_packet p = case_data(hostile->peer, 0, 100);

	meta.ecn_ce = true;
	for (uint32_t i = 0; i < 1000; i++)
		receive(w, &meta, &p);
}

TEST(sim_neighbour, marked_duplicates_at_line_rate)
{
	check_same(ELSEWHERE, flood_marked);
}

/* Each is answered by a NACK. */
static void flood_trimmed(struct sim_world *w, struct sim_qp *hostile)
{
	struct mt_rx_meta meta = case_meta(w, hostile->peer->node->id);
	struct mw_packet p = case_data(hostile->peer, 1, 100);

	meta.trim = MT_TRIM_MIDPATH;
	meta.icrc_ok = false;
	for (uint32_t i = 0; i < 1000; i++)
		receive(w, &meta, &p);
}

TEST(sim_neighbour, trimmed_packets_at_line_rate)
{
	check_same(ELSEWHERE, flood_trimmed);
}

/* Whoever knows the address may ask: no QP is needed, and no source address is proved. */
static void flood_requests(struct sim_world *w, struct sim_qp *hostile)
{
	struct mt_rx_meta meta = case_meta(w, ELSEWHERE);
	struct mw_packet p = control_for(hostile, MW_EP_REQUEST);

	p.bth.dqp = MW_QPN_ENDPOINT;
	p.erth.op = MW_EP_EV_PROBE;
	p.erth.ts.ftype = MW_FTYPE_TIMESTAMP;
	for (uint32_t i = 0; i < 1000; i++) {
		p.bth.psn = i;
		meta.src.b[14] = (uint8_t)(1 + i % 255);
		receive(w, &meta, &p);
	}
}

TEST(sim_neighbour, endpoint_requests_of_unknown_senders)
{
	check_same(ELSEWHERE, flood_requests);
}

/* ---- a neighbour at one address with the hostile peer: its EVs are the same ---- */

/* A SACK for each packet that went to the hostile peer lately, but for those on one EV. */
static void claim(struct sim_world *w, struct sim_qp *hostile, uint8_t mark)
{
	struct mt_rx_meta meta = case_meta(w, AT_ITS_ADDRESS);
	struct mw_packet p = control_for(hostile, MW_SACK);
	uint32_t una = (uint32_t)case_info(hostile).psn_una & 0xFFFFFF;

	for (uint32_t i = 0; i < BAITS && i < watch.n_baits; i++) {
		const struct bait *b = &watch.baits[i];

		if (b->ev == w->cfg.net.ev_base)
			continue;
		p.bth.psn = (una - 1) & 0xFFFFFF;
		p.seth = (struct mw_seth){
			.m = mark,
			.cack_psn = p.bth.psn,
			.ack_psn_offset = (int16_t)(b->psn - p.bth.psn),
			.entropy = b->ev,
			.tx_timestamp = b->stamp,
			.mpr = 1,
			.rcv_cwnd_pen = 127,
		};
		receive(w, &meta, &p);
	}
}

static void claim_skip_once(struct sim_world *w, struct sim_qp *hostile)
{
	claim(w, hostile, MW_MARK_SKIP_ONCE);
}

/* REQ(req.ev.skip-once) */
TEST(sim_neighbour, marks_of_a_peer_at_the_same_address)
{
	check_same(AT_ITS_ADDRESS, claim_skip_once);
}

static void claim_always_skip(struct sim_world *w, struct sim_qp *hostile)
{
	claim(w, hostile, MW_MARK_ALWAYS_SKIP);
}

/* REQ(req.ev.always-skip) */
TEST(sim_neighbour, a_peer_at_the_same_address_condemns_all_evs_but_one)
{
	check_same(AT_ITS_ADDRESS, claim_always_skip);
}

static void claim_trims(struct sim_world *w, struct sim_qp *hostile)
{
	struct mt_rx_meta meta = case_meta(w, AT_ITS_ADDRESS);
	struct mw_packet p = control_for(hostile, MW_NACK);

	for (uint32_t i = 0; i < BAITS && i < watch.n_baits; i++) {
		p.neth = (struct mw_neth){
			.reason = i % 2 ? MW_NACK_TRIMMED : MW_NACK_NO_RESOURCE,
			.entropy = watch.baits[i].ev,
			.nack_psn = watch.baits[i].psn,
			.cc_type = 2,
			.tx_timestamp = watch.baits[i].stamp,
		};
		receive(w, &meta, &p);
	}
}

/* REQ(req.ev.trim-skips) */
TEST(sim_neighbour, nacks_of_a_peer_at_the_same_address)
{
	check_same(AT_ITS_ADDRESS, claim_trims);
}
