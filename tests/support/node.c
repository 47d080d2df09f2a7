/* SPDX-License-Identifier: BSD-2-Clause */
/* Engines for tests; see node.h. */
#include "support/node.h"

#include "support/test.h"

#include "base/serial.h"

/* PSNs of a QP begin here: one wrap up and a little before its end, as qp_modify.c counts them. */
#define FIRST_WIRE_PSN ((1u << 24) - NODE_PSNS_TO_WRAP)
#define FIRST_PSN ((UINT64_C(1) << 24) + FIRST_WIRE_PSN)
#define PEER_EV 0xE0E1E2E3u

/* Enough for the windows of several QPs, as any adapter would give. */
#define CHUNK_MIN 16384u

static uint8_t payload[NODE_PAYLOAD_BYTES];

const uint8_t *node_payload(uint32_t offset)
{
	if (payload[1] == 0)
		for (uint32_t i = 0; i < NODE_PAYLOAD_BYTES; i++)
			payload[i] = (uint8_t)(i * 7 + i / 256 * 13);
	return payload + offset;
}

void node_opts_default(struct node_opts *o)
{
	memset(o, 0, sizeof(*o));
	mt_engine_cfg_default(&o->cfg, 2);
	/* Every message asks for its SACK, and two packets get one: what a test counts. */
	o->cfg.timing.sack_bytes = 4096;
	o->cfg.timing.sack_in_order_bytes = 0;
	o->cfg.max_qps = 4;
	o->cfg.max_mrs = 4;
	o->cfg.seed = 1;
	o->cfg.timing.idle_ns = 0; /* windows stay, and no deadline comes from them */
	for (uint32_t i = 0; i < NODE_EVS_MAX; i++)
		o->evs[i] = (struct mt_ev){.value = 0xC0DE0000u + i, .port = i % 2};
	o->ev_profile = (struct mt_ev_profile_cfg){
		.n_evs = 8,
		.n_active = 8,
		.min_active = 1,
		.revive_probes = 2,
		.probe_interval_ns = 10000,
		.probe_interval_max_ns = 80000,
	};
	o->cap = (struct mt_qp_cap){.sq_depth = 64, .rq_depth = 64, .max_sge = 4, .pd = NODE_PD};
	mt_qp_attr_default(&o->attr);
	o->attr.path_mtu = NODE_MTU;
	o->attr.mpr = o->attr.mpr_dest = 1;
	o->attr.rq_psn = o->attr.sq_psn = FIRST_WIRE_PSN;
	o->attr.timeout = 10; /* about a millisecond */
}

void node_exhaust(struct node *n)
{
	for (size_t size = 1 << 20; size >= 64; size /= 2)
		while (mb_pool_get(&n->engine->pool, size))
			;
}

static bool atomic(void *ctx, void *mr_user, uint64_t offset, const struct mt_atomic *op,
		   uint64_t *original)
{
	struct node *n = ctx;
	uint64_t now;

	assert_ptr_equal(mr_user, n);
	assert_true(offset % 8 == 0 && offset <= NODE_MR_BYTES - 8);
	memcpy(original, n->memory + offset, 8);
	now = op->swaps ? (*original == op->compare ? op->swap_add : *original)
			: *original + op->swap_add;
	if (op->stores)
		now = op->swap_add;
	memcpy(n->memory + offset, &now, 8);
	return !n->memory_gone;
}

static bool place(void *ctx, void *mr_user, uint64_t offset, const void *src, uint32_t len)
{
	struct node *n = ctx;

	assert_ptr_equal(mr_user, n);
	assert_true(len > 0 && offset <= NODE_MR_BYTES && len <= NODE_MR_BYTES - offset);
	if (n->memory_gone)
		return false;
	if (src)
		memcpy(n->memory + offset, src, len);
	n->placed++;
	n->last_at = offset;
	n->last_len = len;
	return true;
}

int node_modify(struct node *n, struct mt_qp *qp, const struct rd_qp_attr *attr, uint32_t mask)
{
	return engine_node_modify(&n->base, qp, 0, attr, mask);
}

void node_check_attr_eq(const struct rd_qp_attr *got, const struct rd_qp_attr *want)
{
	assert_u_eq(got->state, want->state);
	assert_memory_equal(&got->dest, &want->dest, sizeof(want->dest));
	assert_u_eq(got->dest_qpn, want->dest_qpn);
	assert_u_eq(got->rq_psn, want->rq_psn);
	assert_u_eq(got->sq_psn, want->sq_psn);
	assert_u_eq(got->path_mtu, want->path_mtu);
	assert_u_eq(got->access, want->access);
	assert_u_eq(got->mpr, want->mpr);
	assert_u_eq(got->mpr_dest, want->mpr_dest);
	assert_u_eq(got->max_wimm, want->max_wimm);
	assert_u_eq(got->max_wimm_dest, want->max_wimm_dest);
	assert_u_eq(got->timeout, want->timeout);
	assert_u_eq(got->retry_linear, want->retry_linear);
	assert_u_eq(got->retry_exp, want->retry_exp);
	assert_u_eq(got->p_key, want->p_key);
	assert_u_eq(got->ev_profile, want->ev_profile);
	assert_u_eq(got->cc_profile, want->cc_profile);
	assert_u_eq(got->trim_nack_dest, want->trim_nack_dest);
	assert_u_eq(got->svc_time_dest, want->svc_time_dest);
	assert_u_eq(got->dynamic_mpr, want->dynamic_mpr);
}

static void fail_case(void *ctx, const char *what, int result)
{
	(void)ctx;
	fail_msg("%s: %d", what, result);
}

static void bring_qp_to(struct node *n, struct mt_qp *qp, uint32_t dest, enum rd_qp_state state)
{
	struct rd_qp_attr attr = n->opts.attr;

	attr.dest = n->peer;
	attr.dest_qpn = dest;
	assert_i_eq(engine_node_bring_to(&n->base, qp, 0, &attr, state), MT_OK);
}

void node_open(struct node *n, const struct node_opts *o, unsigned side)
{
	struct engine_node_ops ops = {.env = {.ctx = n, .place = place, .atomic = atomic},
				      .fail = fail_case};
	struct engine_node_cfg cfg = {
		.engine = o->cfg,
		.ev_profile = o->ev_profile,
		.cc_profiles = &o->cc_profile,
		.n_cc_profiles = 1,
		.memory_least = CHUNK_MIN,
	};

	memset(n, 0, sizeof(*n));
	n->opts = *o;
	n->self.b[0] = (uint8_t)(1 + side);
	n->peer.b[0] = (uint8_t)(2 - side);
	n->qpn = 0x101 + side;
	n->peer_qpn = 0x102 - side;
	n->opts.ev_profile.evs = cfg.ev_profile.evs = n->opts.evs;
	engine_node_open(&n->base, &ops, &cfg, 0);
	n->engine = n->base.engine;
	n->memory = engine_node_block(&n->base, NODE_MR_BYTES);
	memset(n->memory, 0, NODE_MR_BYTES);
	assert_i_eq(mt_mr_add(n->engine, NODE_KEY, NODE_PD, NODE_MR_START, NODE_MR_BYTES,
			      RD_ACCESS_LOCAL_WRITE | RD_ACCESS_REMOTE_WRITE |
				      RD_ACCESS_REMOTE_READ | RD_ACCESS_REMOTE_ATOMIC,
			      n),
		    MT_OK);
	n->qp = engine_node_qp(&n->base, &o->cap, n->qpn, n);
	bring_qp_to(n, n->qp, n->peer_qpn, RD_QPS_INIT);
}

void node_connect(struct node *n)
{
	bring_qp_to(n, n->qp, n->peer_qpn, RD_QPS_RTS);
}

struct mt_qp *node_add_qp(struct node *n, uint32_t qpn, uint32_t dest, void *user)
{
	struct mt_qp *qp = engine_node_qp(&n->base, &n->opts.cap, qpn, user);

	bring_qp_to(n, qp, dest, RD_QPS_RTS);
	return qp;
}

void node_close(struct node *n)
{
	engine_node_close(&n->base);
	n->engine = NULL;
}

int node_post(struct node *n, struct mt_qp *qp, uint64_t wr_id, uint32_t len, uint32_t flags)
{
	struct rd_sge sge = {.addr = 0, .length = len, .lkey = MT_LKEY_ADAPTER};
	struct rd_send_wr wr = {
		.wr_id = wr_id,
		.sge = &sge,
		.n_sge = 1,
		.flags = flags,
		.imm = 0xABC00000u + (uint32_t)wr_id,
		.rkey = NODE_KEY,
		.remote_addr = NODE_MR_START,
	};

	return engine_node_post(&n->base, qp, 0, &wr);
}

uint32_t node_tx(struct node *n, uint64_t now_ns, struct mt_tx_desc *descs, uint32_t max)
{
	return mt_engine_tx(n->engine, now_ns, NODE_ALL_PORTS, descs, max);
}

bool node_tx_opcode(struct node *n, uint64_t now_ns, uint8_t opcode, struct mt_tx_desc *desc)
{
	while (node_tx(n, now_ns, desc, 1) == 1)
		if (desc->pkt.bth.opcode == opcode)
			return true;
	return false;
}

uint32_t node_drain(struct node *n, uint64_t now_ns)
{
	struct mt_tx_desc desc;
	uint32_t sent = 0;

	while (node_tx(n, now_ns, &desc, 1) == 1)
		sent++;
	return sent;
}

uint64_t node_until_timeout(struct node *n)
{
	uint64_t before = 0;

	while (node_stats(n).timeouts == 0) {
		uint64_t now_ns = mt_engine_deadline(n->engine);

		before = node_stats(n).tail_probes;
		mt_engine_tick(n->engine, now_ns);
		node_drain(n, now_ns);
	}
	return node_stats(n).tail_probes - before;
}

bool node_poll(struct node *n, struct mt_event *ev)
{
	return mt_engine_poll(n->engine, ev, 1) == 1;
}

void node_check_completion(struct node *n, uint64_t wr_id, enum rd_wc_status status)
{
	struct mt_event ev;

	assert_true(node_poll(n, &ev));
	assert_u_eq(ev.type, MT_EVENT_SEND);
	assert_u_eq(ev.wr_id, wr_id);
	assert_u_eq(ev.status, status);
}

void node_check_no_event(struct node *n)
{
	struct mt_event ev;

	assert_false(node_poll(n, &ev));
}

struct mt_stats node_stats(const struct node *n)
{
	struct mt_stats stats;

	mt_engine_stats(n->engine, &stats);
	return stats;
}

/* ---- packets ---- */

uint64_t node_psn(uint64_t i)
{
	return FIRST_PSN + i;
}

uint32_t node_wire_psn(uint64_t i)
{
	return (uint32_t)(FIRST_PSN + i) & 0xFFFFFFu;
}

static struct mw_bth bth(const struct node *n, uint8_t opcode, uint32_t psn)
{
	return (struct mw_bth){.opcode = opcode, .p_key = 0xFFFF, .dqp = n->qpn, .psn = psn};
}

struct mw_packet node_write(const struct node *n, uint8_t opcode, uint64_t i, uint16_t msn,
			    uint32_t len, uint32_t whole)
{
	struct mw_packet pkt = {
		.bth = bth(n, opcode, node_wire_psn(i)),
		.data =
			{
				.meth = {.msn = msn},
				.tseth = {.tx_timestamp = (uint16_t)(0x1000 + i), .ftype = 1},
				.reth = {.va = NODE_MR_START, .rkey = NODE_KEY, .dmalen = whole},
			},
		.payload_len = len,
	};

	pkt.bth.ts = true;
	pkt.bth.pad = (uint8_t)(-len & 3);
	return pkt;
}

struct mw_packet node_sack(const struct node *n, const struct mt_tx_desc *trigger,
			   uint64_t expected)
{
	uint32_t cack = node_wire_psn(expected - 1);
	struct mw_packet pkt = {
		.bth = bth(n, MW_SACK, cack),
		.seth =
			{
				.entropy = trigger->ev,
				.cack_psn = cack,
				.mpr = 1,
				.sack_offset = 1,
				.tx_timestamp = trigger->pkt.data.tseth.tx_timestamp,
			},
	};

	pkt.bth.rtx = trigger->pkt.bth.rtx;
	pkt.seth.ack_psn_offset =
		(int16_t)(mb_psn_extend(node_psn(expected - 1), trigger->pkt.bth.psn) -
			  node_psn(expected - 1));
	return pkt;
}

struct mw_packet node_nack(const struct node *n, const struct mt_tx_desc *trigger, uint8_t reason)
{
	return (struct mw_packet){
		.bth = bth(n, MW_NACK, trigger->pkt.bth.psn),
		.neth =
			{
				.reason = reason,
				.entropy = trigger->ev,
				.nack_psn = trigger->pkt.bth.psn,
				.cc_type = 2,
				.tx_timestamp = trigger->pkt.data.tseth.tx_timestamp,
			},
	};
}

struct mw_packet node_ack(const struct node *n, uint8_t syndrome, uint32_t msn)
{
	const struct mt_requester *req = &n->qp->req;
	uint64_t psn = req->window.next - 1;

	if (msn > req->sq.done && msn <= req->sq.next)
		psn = mt_wqe_end(mt_sq_at(&req->sq, msn - 1)) - 1;
	return (struct mw_packet){
		.bth = bth(n, MW_ACK, mb_psn_wire(psn)),
		.aeth = {.syndrome = syndrome, .msn = msn},
	};
}

struct mw_packet node_probe(const struct node *n, uint16_t id)
{
	return (struct mw_packet){
		.bth = bth(n, MW_PROBE, 0),
		.peth = {.probe_id = id, .ts = {.tx_timestamp = 0x7A7A, .ftype = 1}},
	};
}

struct mt_rx_meta node_meta(const struct node *n)
{
	return (struct mt_rx_meta){.src = n->peer, .ev = PEER_EV, .icrc_ok = true};
}

void node_rx_meta(struct node *n, uint64_t now_ns, const struct mt_rx_meta *meta,
		  const struct mw_packet *pkt)
{
	mt_engine_rx(n->engine, now_ns, meta, pkt, node_payload(0));
	engine_node_grow_if_wanted(&n->base);
}

void node_rx(struct node *n, uint64_t now_ns, const struct mw_packet *pkt)
{
	struct mt_rx_meta meta = node_meta(n);

	node_rx_meta(n, now_ns, &meta, pkt);
}
