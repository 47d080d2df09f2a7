/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: the input is a script for two connected engines. Each step is a byte that says what
 * to do and the bytes it needs: post, let packets out, deliver, lose, double, cut, mark or change
 * one, feed raw bytes, move time, change a QP, take a memory region away, bind and invalidate
 * windows, take ports down, ask the other endpoint. When the input ends every missing byte reads as
 * zero.
 *
 * Nothing that comes in may crash an engine, trip an assertion or make it write outside a region;
 * completions come at most once and in order; calls say no more than they were asked; timers rest.
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "fuzz_engine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STEPS_MAX 400u

/* ---- what the engines ask for and report ---- */

static bool place(void *ctx, void *mr_user, uint64_t offset, const void *src, uint32_t len)
{
	struct region *r = mr_user;
	const uint8_t *bytes = src;

	mb_assert(&((struct node *)ctx)->region == r && r->live);
	mb_assert(len > 0 && offset <= REGION_BYTES && len <= REGION_BYTES - offset);
	/* Every byte is really there. */
	for (uint32_t i = 0; i < len; i++)
		r->placed += bytes[i];
	return true;
}

/* Carries nothing out, but what it was given must be right. */
static bool atomic(void *ctx, void *mr_user, uint64_t offset, const struct mt_atomic *op,
		   uint64_t *original)
{
	struct region *r = mr_user;

	mb_assert(&((struct node *)ctx)->region == r && r->live);
	mb_assert(offset % 8 == 0 && offset <= REGION_BYTES - 8);
	*original = op->swaps ? op->compare : r->placed++;
	return true;
}

static void take_event(void *ctx, const struct mt_event *ev)
{
	struct end *end = ev->qp_user;

	(void)ctx;
	switch ((enum mt_event_type)ev->type) {
	case MT_EVENT_SEND:
		if (ev->opcode >= RD_WR_LOCAL_INV) {
			mb_assert(ev->wr_id >= end->local_done && ev->wr_id < end->local_next);
			end->local_done = ev->wr_id + 1;
			return;
		}
		mb_assert(ev->wr_id >= end->send_done && ev->wr_id < end->send_next);
		end->send_done = ev->wr_id + 1;
		return;
	case MT_EVENT_RECV:
		mb_assert(ev->wr_id >= end->recv_done && ev->wr_id < end->recv_next);
		end->recv_done = ev->wr_id + 1;
		return;
	case MT_EVENT_QP:
		mb_assert(end && ev->status != RD_WC_SUCCESS);
		return;
	case MT_EVENT_SQ_DRAINED:
	case MT_EVENT_LAST_WQE:
	case MT_EVENT_SRQ_LIMIT:
		mb_assert(end);
		return;
	case MT_EVENT_EV:
		mb_assert(!end && ev->ev_state < MT_EV_STATES && ev->ev_cause < MT_EV_CAUSES);
		return;
	case MT_EVENT_PORT:
	case MT_EVENT_ENDPOINT:
		mb_assert(!end && ev->ev.port < 2 && ev->ep_status <= MT_EP_TIMED_OUT);
		return;
	}
	mb_unreachable();
}

/* A full air loses the oldest packet. */
static struct packet *fly(struct fuzz *f)
{
	if (f->n_flying == FLYING)
		memmove(f->flying, f->flying + 1, --f->n_flying * sizeof(f->flying[0]));
	return &f->flying[f->n_flying++];
}

static void encode(void *ctx, const struct mt_tx_desc *d, uint32_t ports)
{
	struct node *node = ctx;
	struct packet *p = fly(node->f);
	uint32_t tail = d->pkt.payload_len + d->pkt.bth.pad;

	(void)ports;
	mb_assert(d->port < 2 && (d->ev == 10 || d->ev == 11) && d->pkt.payload_len <= MTU_MAX);
	mb_assert(node->ports >> d->port & 1);
	p->to = (uint8_t)(1 - node->id);
	p->meta = (struct mt_rx_meta){
		.src = address(node->id), .ev = d->ev, .port = d->port, .icrc_ok = true};
	p->len = mw_packet_encode(&d->pkt, p->bytes);
	memset(p->bytes + p->len, 0xA5, tail);
	p->len += tail;
}

static uint32_t free_ports(void *ctx, uint32_t n)
{
	(void)n;
	return ((struct node *)ctx)->f->free_ports;
}

/* ---- set-up ---- */

static int modify(struct fuzz *f, unsigned n, unsigned i, const struct rd_qp_attr *attr,
		  uint32_t mask)
{
	struct node *node = &f->nodes[n];
	int r = engine_node_modify(&node->base, node->ends[i].qp, f->now, attr, mask);

	mb_assert(r != MT_ERR_MEMORY);
	return r;
}

/* From RESET to RTS; says nothing when the QP is elsewhere. */
static void connect(struct fuzz *f, unsigned n, unsigned i)
{
	struct rd_qp_attr attr;

	mt_qp_attr_default(&attr);
	attr.dest = address(1 - n);
	attr.dest_qpn = qpn_of(i);
	attr.path_mtu = f->mtu[i];
	attr.mpr = attr.mpr_dest = 1;
	attr.max_wimm = attr.max_wimm_dest = 4;
	attr.sq_psn = n == 0 ? 0xFFFFF0 : 5;
	attr.rq_psn = n == 0 ? 5 : 0xFFFFF0;
	attr.timeout = 4;
	attr.retry_linear = 2;
	attr.retry_exp = 2;
	attr.cc_profile = i;
	attr.access = ACCESS_ALL;
	attr.max_rd_atomic = 3; /* more than is taken */
	attr.max_dest_rd_atomic = 2;
	for (unsigned s = RD_QPS_INIT; s <= RD_QPS_RTS; s++) {
		uint32_t mask = RD_QP_STATE;

		if (s == RD_QPS_INIT)
			mask |= RD_QP_DEST | RD_QP_RQ_PSN | RD_QP_SQ_PSN | RD_QP_PATH_MTU |
				RD_QP_MPR | RD_QP_MPR_DEST | RD_QP_MAX_WIMM | RD_QP_MAX_WIMM_DEST |
				RD_QP_TIMEOUT | RD_QP_RETRY | RD_QP_CC_PROFILE | RD_QP_ACCESS |
				RD_QP_MAX_RD_ATOMIC | RD_QP_MAX_DEST_RD_ATOMIC;
		attr.state = s;
		modify(f, n, i, &attr, mask);
	}
}

static void add_region(struct node *node)
{
	node->region.live = mt_mr_add(node->base.engine, KEY, 0, REGION_START, REGION_BYTES,
				      ACCESS_ALL | RD_ACCESS_MW_BIND, &node->region) == MT_OK;
	mb_assert(node->region.live);
}

static void open_node(struct fuzz *f, unsigned n)
{
	/* One is plain MRC, the other has extensions. */
	static const struct mt_qp_cap caps[QPS] = {
		{.sq_depth = 8, .rq_depth = 8, .max_sge = 2, .signal_all = true},
		{.sq_depth = 8,
		 .rq_depth = 8,
		 .max_sge = 2,
		 .signal_all = true,
		 .extensions = MW_EXT_SEND | MW_EXT_READ | MW_EXT_ATOMIC | MW_EXT_INV |
			       MW_EXT_ATOMIC_WRITE,
		 .in_order = true,
		 .max_recv_sge = 2}};
	static const struct mt_ev evs[] = {{10, 0}, {11, 0}, {10, 1}, {11, 1}};
	static const struct mt_cc_profile_cfg ccs[] = {
		{.kind = MT_CC_NONE, .link_bps = 1000000000, .base_rtt_ns = 10000},
		{.kind = MT_CC_NSCC, .link_bps = 1000000000, .base_rtt_ns = 10000},
	};
	struct node *node = &f->nodes[n];
	struct engine_node_ops ops = {.env = {.ctx = node, .place = place, .atomic = atomic},
				      .send = encode,
				      .free_ports = free_ports,
				      .event = take_event};
	struct engine_node_cfg cfg = {.ev_profile = {.evs = evs,
						     .n_evs = 4,
						     .n_active = 4,
						     .min_active = 1,
						     .revive_probes = 2,
						     .probe_interval_ns = 20000,
						     .probe_interval_max_ns = 80000},
				      .cc_profiles = ccs,
				      .n_cc_profiles = 2,
				      .grows_max = 64};

	node->f = f;
	node->id = n;
	mt_engine_cfg_default(&cfg.engine, 2);
	cfg.engine.max_qps = 8;
	cfg.engine.max_mrs = 4;
	cfg.engine.max_profiles = 2;
	cfg.engine.control_ring = 8;
	cfg.engine.event_ring = 8;
	engine_node_open(&node->base, &ops, &cfg, f->now);
	add_region(node);
	node->ports = 3;
	mb_assert(mt_mw_add(node->base.engine, MW_1 << 8, 0, RD_MW_TYPE_1) == MT_OK &&
		  mt_mw_add(node->base.engine, MW_2 << 8, 0, RD_MW_TYPE_2) == MT_OK);
	for (unsigned i = 0; i < QPS; i++) {
		struct end *end = &node->ends[i];

		end->qp = engine_node_qp(&node->base, &caps[i], qpn_of(i), end);
		connect(f, n, i);
	}
}

static void close_node(struct node *node)
{
	for (unsigned i = 0; i < QPS; i++)
		mt_qp_fini(node->ends[i].qp);
	engine_node_close(&node->base);
}

/* ---- packets ---- */

static void let_out(struct fuzz *f, unsigned n, uint32_t ports)
{
	f->free_ports = ports;
	engine_node_send(&f->nodes[n].base, f->now, 4);
}

static void give(struct fuzz *f, unsigned n, const struct mt_rx_meta *meta, const uint8_t *bytes,
		 size_t len)
{
	engine_node_rx_bytes(&f->nodes[n].base, f->now, meta, bytes, len);
	engine_node_grow_if_wanted(&f->nodes[n].base);
}

enum fate { DELIVER, LOSE, DOUBLE, CUT, MARK, BREAK };

static void handle(struct fuzz *f, enum fate fate, uint8_t which)
{
	struct packet *p, copy;
	unsigned i;

	if (f->n_flying == 0)
		return;
	i = which % f->n_flying;
	p = &f->flying[i];
	copy = *p;
	if (fate != DOUBLE)
		memmove(p, p + 1, (--f->n_flying - i) * sizeof(*p));
	if (fate == CUT) {
		uint8_t keep = next(f);

		copy.meta.trim = keep & 1 ? MT_TRIM_MIDPATH : MT_TRIM_LASTHOP;
		copy.meta.icrc_ok = false;
		copy.len = copy.len < keep ? copy.len : keep;
	}
	copy.meta.ecn_ce = fate == MARK;
	copy.meta.icrc_ok = copy.meta.icrc_ok && fate != BREAK;
	if (fate != LOSE)
		give(f, copy.to, &copy.meta, copy.bytes, copy.len);
}

/* A change that the ICRC does not reveal: the peer lies. */
static void change(struct fuzz *f)
{
	uint8_t which = next(f), at = next(f), value = next(f);
	struct packet *p;

	if (f->n_flying == 0)
		return;
	p = &f->flying[which % f->n_flying];
	p->bytes[at % p->len] = value;
}

static void raw(struct fuzz *f)
{
	uint8_t how = next(f);
	size_t len = next(f);
	struct mt_rx_meta meta = {.src = address(how & 1),
				  .ev = 10 + (how >> 1 & 1),
				  .port = how >> 2 & 3,
				  .trim = (how >> 4 & 3) % 3,
				  .ecn_ce = how >> 6 & 1,
				  .icrc_ok = true};

	len = len < f->left ? len : f->left;
	give(f, how & 1 ? 0 : 1, &meta, f->data, len);
	f->data += len;
	f->left -= len;
}

/* ---- the rest of the world ---- */

static void move_time(struct fuzz *f, uint8_t how)
{
	f->now += UINT64_C(1) << how % 32;
	for (unsigned n = 0; n < NODES; n++)
		engine_node_tick(&f->nodes[n].base, f->now);
}

static void make_request(struct rd_send_wr *wr, struct rd_sge *sges)
{
	static const enum rd_wr_opcode opcodes[] = {RD_WR_READ, RD_WR_COMPARE_SWAP, RD_WR_FETCH_ADD,
						    RD_WR_ATOMIC_WRITE};

	wr->opcode = opcodes[wr->flags & 3];
	wr->flags = wr->flags & 4 ? RD_SEND_FENCE : 0;
	wr->compare_add = 7;
	wr->swap = wr->wr_id;
	if (wr->opcode == RD_WR_READ)
		return;
	sges[0].length = 8;
	wr->n_sge = 1;
	wr->remote_addr &= ~UINT64_C(7);
}

static void post(struct fuzz *f, unsigned n, unsigned i)
{
	struct end *end = &f->nodes[n].ends[i];
	uint8_t len = next(f), flags = next(f);
	struct rd_sge sges[2] = {{REGION_START, len * 8u, KEY}, {REGION_START + 9, 5, KEY}};
	struct rd_send_wr wr = {.wr_id = end->send_next,
				.sge = sges,
				.n_sge = len ? 1 + (flags >> 3 & 1) : 0,
				.flags = flags & 7,
				.imm = flags,
				.opcode = flags & 0x20 ? RD_WR_SEND : RD_WR_WRITE,
				.rkey = flags & 0x80 ? KEY ^ 1 : KEY,
				.remote_addr =
					REGION_START + (flags & 0x40 ? REGION_BYTES - 300 : 0)};
	int r;

	if (flags & 0x80 && len & 2) { /* of a window, which may count from 0 */
		wr.rkey = (len & 1 ? MW_2 : MW_1) << 8 | (len >> 2) % MW_TAGS;
		wr.remote_addr -= flags & 8 ? REGION_START : 0;
	}
	if ((flags & 0xA0) == 0xA0) { /* a SEND that invalidates */
		wr.flags = (wr.flags & ~(uint32_t)RD_SEND_IMM) | RD_SEND_INV;
		wr.imm = wr.rkey;
	}
	if (flags & 0x10)
		make_request(&wr, sges);
	r = engine_node_post(&f->nodes[n].base, end->qp, f->now, &wr);
	mb_assert(r != MT_ERR_MEMORY);
	if (r == MT_OK)
		end->send_next++;
}

static void post_recv(struct fuzz *f, unsigned n, unsigned i)
{
	struct end *end = &f->nodes[n].ends[i];
	struct rd_sge sges[2] = {{REGION_START, 300, KEY},
				 {REGION_START + REGION_BYTES - 700, 700, KEY}};
	struct rd_recv_wr wr = {.wr_id = end->recv_next, .sge = sges, .n_sge = i ? 2 : 0};

	if (mt_qp_post_recv_sges(end->qp, &wr) == MT_OK)
		end->recv_next++;
}

static void change_qp(struct fuzz *f, unsigned n, unsigned i)
{
	uint32_t mask = (uint32_t)next(f) << 8 | next(f);
	uint8_t v = next(f);
	struct rd_qp_attr attr = {.state = v % 8,
				  .dest = address(v & 1),
				  .dest_qpn = v,
				  .rq_psn = v * 70001u,
				  .sq_psn = v * 70001u,
				  .path_mtu = 256u << v % 6,
				  .access = v % 5,
				  .mpr = v,
				  .mpr_dest = v % 4,
				  .max_wimm = v,
				  .max_wimm_dest = v,
				  .timeout = v % 32,
				  .retry_linear = v % 9,
				  .retry_exp = v % 28,
				  .p_key = 0xFFFF,
				  .ev_profile = v % 3,
				  .cc_profile = v % 3,
				  .trim_nack_dest = v & 1};

	modify(f, n, i, &attr, mask);
	if (!(mask & RD_QP_STATE) || attr.state != RD_QPS_RESET || !(v & 8))
		return;
	f->mtu[i] = 256u << (v >> 4) % 5;
	connect(f, n, i);
}

static void change_region(struct fuzz *f, unsigned n)
{
	struct node *node = &f->nodes[n];

	(void)f;
	if (!node->region.live) {
		add_region(node);
		return;
	}
	/* Windows that are bound keep it. REQ(ext.mw.holds-mr) */
	node->region.live = mt_mr_remove(node->base.engine, KEY >> 8) == MT_ERR_STATE;
}

/* Binds a window, or invalidates one, with rights and a place of which not all are allowed. */
static void post_local(struct fuzz *f, unsigned n, unsigned i)
{
	struct end *end = &f->nodes[n].ends[i];
	uint8_t how = next(f);
	uint32_t window = how & 1 ? MW_2 : MW_1;
	struct mt_local_wr wr = {.wr_id = end->local_next,
				 .opcode = how & 2 ? RD_WR_BIND_MW : RD_WR_LOCAL_INV,
				 .window = window,
				 .rkey = window << 8 | (how >> 2) % MW_TAGS,
				 .lkey = KEY,
				 .addr = REGION_START + (how & 0x20 ? REGION_BYTES - 100 : 0),
				 .length = how & 0x40 ? 101 : 2000,
				 .access = ACCESS_ALL,
				 .zero_based = how & 0x80,
				 .flags = how & 0x10 ? RD_SEND_FENCE : RD_SEND_SIGNALED};
	int r;

	ENGINE_NODE_CALL(&f->nodes[n].base, r, mt_qp_post_local(end->qp, &wr));
	mb_assert(r != MT_ERR_MEMORY);
	if (r == MT_OK)
		end->local_next++;
}

/* What is flying was sent before; nothing leaves by a port that is down. */
static void set_port(struct fuzz *f, unsigned n)
{
	struct node *node = &f->nodes[n];
	uint8_t how = next(f);
	uint32_t port = how & 1;

	node->ports = how & 2 ? node->ports | 1u << port : node->ports & ~(1u << port);
	mb_assert(mt_engine_port_set(node->base.engine, f->now, port, how & 2) == MT_OK);
}

static void ask_endpoint(struct fuzz *f, unsigned n)
{
	uint8_t how = next(f);
	struct mt_ep_request req = {.dst = address(1 - n),
				    .ev = {10 + (how & 1), how >> 1 & 1},
				    .op = how >> 2 & 1,
				    .tclass = how >> 3 & 3,
				    .id_given = how & 0x20,
				    .id = how,
				    .port_mask = how,
				    .timeout_ns = how & 0x40 ? 0 : 100000};

	mt_engine_ep_request(f->nodes[n].base.engine, f->now, &req, NULL);
}

/* An honest network for a while, which gets a script deep into a conversation. */
static void be_honest(struct fuzz *f)
{
	for (unsigned round = 0; round < 8; round++) {
		for (unsigned n = 0; n < NODES; n++)
			let_out(f, n, 3);
		move_time(f, 12);
		while (f->n_flying > 0)
			handle(f, DELIVER, 0);
		for (unsigned n = 0; n < NODES; n++)
			engine_node_poll(&f->nodes[n].base);
	}
}

static void change_place(struct fuzz *f, unsigned n, unsigned i, unsigned what)
{
	switch (what) {
	case 0:
		change_region(f, n);
		break;
	case 1:
		set_port(f, n);
		break;
	case 2:
		ask_endpoint(f, n);
		break;
	default:
		post_local(f, n, i);
		break;
	}
}

static void step(struct fuzz *f)
{
	uint8_t op = next(f);
	unsigned n = op >> 7, i = op >> 6 & 1;

	switch (op & 0x0F) {
	case 0:
		post(f, n, i);
		break;
	case 1:
		post_recv(f, n, i);
		break;
	case 2:
		let_out(f, n, op >> 4 & 3);
		break;
	case 3: /* to 8 */
	case 4:
	case 5:
	case 6:
	case 7:
	case 8:
		handle(f, (op & 0x0F) - 3, next(f));
		break;
	case 9:
		change(f);
		break;
	case 10:
		move_time(f, next(f));
		break;
	case 11:
		raw(f);
		break;
	case 12:
		change_qp(f, n, i);
		break;
	case 13:
		mt_qp_ev_deny(f->nodes[n].ends[i].qp, f->now, next(f) % 5, op >> 4 & 1);
		break;
	case 14:
		change_place(f, n, i, op >> 4 & 3);
		break;
	default:
		be_honest(f);
		break;
	}
	engine_node_poll(&f->nodes[n].base);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz *f = calloc(1, sizeof(*f));

	mb_assert(f);
	f->data = data;
	f->left = size;
	f->now = 1000000;
	for (unsigned i = 0; i < QPS; i++)
		f->mtu[i] = 256;
	for (unsigned n = 0; n < NODES; n++)
		open_node(f, n);
	for (unsigned k = 0; f->left > 0 && k < STEPS_MAX; k++)
		step(f);
	be_honest(f);
	for (unsigned n = 0; n < NODES; n++)
		close_node(&f->nodes[n]);
	free(f);
	return 0;
}
