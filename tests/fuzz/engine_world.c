/* SPDX-License-Identifier: BSD-2-Clause */
/* engine_world.c - the two nodes of fuzz_engine.c: what their engines ask for, send and report. */
#include <string.h>

#include "base/assert.h"
#include "fuzz_engine.h"

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
	model_place(ctx, REGION_START + offset, bytes, len);
	return true;
}

/* Carries nothing out, but what it was given must be right. */
static bool atomic(void *ctx, void *mr_user, uint64_t offset, const struct mt_atomic *op,
		   uint64_t *original)
{
	struct region *r = mr_user;

	mb_assert(&((struct node *)ctx)->region == r && r->live);
	mb_assert(offset % 8 == 0 && offset <= REGION_BYTES - 8);
	*original = model_atomic(ctx, REGION_START + offset, op);
	return true;
}

static void take_completion(struct node *node, struct end *end, const struct mt_event *ev)
{
	if (ev->opcode >= RD_WR_LOCAL_INV) {
		mb_assert(ev->wr_id >= end->local_done && ev->wr_id < end->local_next);
		end->local_done = ev->wr_id + 1;
		return;
	}
	mb_assert(ev->wr_id >= end->send_done && ev->wr_id < end->send_next);
	end->send_done = ev->wr_id + 1;
	model_complete(node, end, ev);
}

static void take_receive(struct node *node, struct end *end, const struct mt_event *ev)
{
	if (end->receives == &end->own) {
		mb_assert(ev->wr_id >= end->recv_done);
		end->recv_done = ev->wr_id + 1;
	}
	model_received(node, end, ev);
}

static void take_event(void *ctx, const struct mt_event *ev)
{
	struct node *node = ctx;
	struct end *end = ev->qp_user;

	switch ((enum mt_event_type)ev->type) {
	case MT_EVENT_SEND:
		take_completion(node, end, ev);
		return;
	case MT_EVENT_RECV:
		take_receive(node, end, ev);
		return;
	case MT_EVENT_QP:
		mb_assert(end && ev->status != RD_WC_SUCCESS);
		return;
	case MT_EVENT_SQ_DRAINED:
		mb_assert(end);
		return;
	case MT_EVENT_LAST_WQE:
		mb_assert(end->receives == &node->shared);
		return;
	case MT_EVENT_SRQ_LIMIT:
		mb_assert(ev->qp_user == node && node->limits_reported < node->limits_armed);
		node->limits_reported++;
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

/* What the SGEs name. Operands of atomics are memory of the engine, all else is made up. */
static void gather(const struct mt_tx_desc *d, uint8_t *to)
{
	struct rd_sge_walk walk = rd_sge_walk(d->sge, d->n_sge, d->offset, d->pkt.payload_len);
	struct rd_sge piece;

	for (; rd_sge_next(&walk, &piece); to += piece.length)
		if (piece.lkey == MT_LKEY_ADAPTER)
			memcpy(to, (const void *)(uintptr_t)piece.addr, piece.length);
		else
			for (uint32_t i = 0; i < piece.length; i++)
				to[i] = model_byte(piece.addr + i);
}

static void encode(void *ctx, const struct mt_tx_desc *d, uint32_t ports)
{
	struct node *node = ctx;
	struct end *end = d->qp_user;
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
	gather(d, p->bytes + p->len);
	p->len += tail;
	p->pair = end ? (uint8_t)end->pair : QPS;
	if (end)
		end->fresh_mtu = 0;
}

/* As if an old connection were long gone: nothing of it is mistaken for one of the new. */
static void clear_air(struct fuzz *f, unsigned pair)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < f->n_flying; i++)
		if (f->flying[i].pair != pair)
			f->flying[kept++] = f->flying[i];
	f->n_flying = kept;
}

static uint32_t free_ports(void *ctx, uint32_t n)
{
	(void)n;
	return ((struct node *)ctx)->f->free_ports;
}

/* ---- set-up ---- */

int world_modify(struct fuzz *f, unsigned n, unsigned i, const struct rd_qp_attr *attr,
		 uint32_t mask)
{
	struct node *node = &f->nodes[n];
	bool resets = mask & RD_QP_STATE && attr->state == RD_QPS_RESET;
	int r;

	/* Of one QP of the SRQ no completion is dropped, so that each of its receives is known. */
	if (resets && i == SRQ_QPS)
		engine_node_poll(&node->base);
	else if (resets && i > SRQ_QPS)
		node->dropped = true;
	r = engine_node_modify(&node->base, node->ends[i].qp, f->now, attr, mask);
	mb_assert(r != MT_ERR_MEMORY);
	if (r == MT_OK && resets) {
		clear_air(f, i);
		model_forget(node, &node->ends[i]);
	}
	return r;
}

/* From RESET to RTS; says nothing when the QP is elsewhere. */
void world_connect(struct fuzz *f, unsigned n, unsigned i)
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
	attr.cc_profile = i % 2;
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
		if (world_modify(f, n, i, &attr, mask) != MT_OK)
			return;
	}
	model_connected(&f->nodes[n], &f->nodes[n].ends[i], attr.path_mtu);
}

void world_add_region(struct node *node)
{
	node->region.live = mt_mr_add(node->base.engine, KEY, 0, REGION_START, REGION_BYTES,
				      ACCESS_ALL | RD_ACCESS_MW_BIND, &node->region) == MT_OK;
	mb_assert(node->region.live);
}

static void open_srq(struct node *node, uint32_t depth)
{
	struct mt_srq_cap cap = {.depth = depth, .max_sge = 2};

	node->shared.queue = QPS;
	mb_assert(mt_srq_init(node->base.engine, engine_node_block(&node->base, mt_srq_size(&cap)),
			      &cap, node, &node->srq) == MT_OK);
}

/* One is plain MRC, the others have extensions, the last of them without the order of verbs. */
static void open_qp(struct node *node, unsigned i)
{
	struct mt_qp_cap cap = {.sq_depth = 8, .rq_depth = 8, .max_sge = 2, .signal_all = true};
	struct end *end = &node->ends[i];

	if (i > 0) {
		cap.extensions = MW_EXT_SEND | MW_EXT_READ | MW_EXT_ATOMIC | MW_EXT_INV |
				 MW_EXT_ATOMIC_WRITE;
		cap.in_order = i < 3;
		cap.max_recv_sge = 2;
		cap.srq = i < SRQ_QPS ? NULL : node->srq;
	}
	end->pair = i;
	end->own.queue = i;
	end->receives = cap.srq ? &node->shared : &end->own;
	end->qp = engine_node_qp(&node->base, &cap, qpn_of(i), end);
	world_connect(node->f, node->id, i);
}

void world_open_node(struct fuzz *f, unsigned n)
{
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

	mt_engine_cfg_default(&cfg.engine, 2);
	cfg.engine.max_qps = 8;
	cfg.engine.max_mrs = 4;
	cfg.engine.max_profiles = 2;
	cfg.engine.control_ring = 8;
	cfg.engine.event_ring = 8;
	engine_node_open(&node->base, &ops, &cfg, f->now);
	world_add_region(node);
	node->ports = 3;
	mb_assert(mt_mw_add(node->base.engine, MW_1 << 8, 0, RD_MW_TYPE_1) == MT_OK &&
		  mt_mw_add(node->base.engine, MW_2 << 8, 0, RD_MW_TYPE_2) == MT_OK);
	mb_assert(mt_mr_add(node->base.engine, SOURCE_KEY, 0, SOURCE_START, SOURCE_BYTES,
			    RD_ACCESS_REMOTE_READ, &node->source) == MT_OK);
	open_srq(node, 8);
	for (unsigned i = 0; i < QPS; i++)
		open_qp(node, i);
}

static void reset(struct node *node, unsigned i)
{
	struct rd_qp_attr attr = {.state = RD_QPS_RESET};

	mb_assert(world_modify(node->f, node->id, i, &attr, RD_QP_STATE) == MT_OK);
}

/* What QPs took and did not use comes back to it. */
void world_check_srq(struct node *node)
{
	struct rd_recv_wr wr;
	bool dropped;

	engine_node_poll(&node->base);
	mb_assert(mt_srq_limit(node->srq) > 0 || node->limits_armed == 0 ||
		  node->limits_reported > 0);
	dropped = node->dropped;
	for (unsigned i = SRQ_QPS; i < QPS; i++)
		reset(node, i);
	for (; mt_srq_pop(node->srq, &wr); mt_srq_polled(node->srq)) {
		struct slot *s = &node->shared.slots[wr.wr_id % SLOTS];

		mb_assert(s->posted && s->wr_id == wr.wr_id && wr.n_sge == 2);
		mb_assert(wr.sge[0].addr == model_slot_addr(&node->shared, s));
		s->posted = false;
	}
	for (unsigned i = 0; i < SLOTS; i++)
		mb_assert(!node->shared.slots[i].posted || dropped);
}

void world_close_node(struct node *node)
{
	for (unsigned i = 0; i < QPS; i++)
		mt_qp_fini(node->ends[i].qp);
	mt_srq_fini(node->srq);
	engine_node_close(&node->base);
}

/* ---- packets ---- */

void world_let_out(struct fuzz *f, unsigned n, uint32_t ports)
{
	f->free_ports = ports;
	engine_node_send(&f->nodes[n].base, f->now, 4);
}

void world_give(struct fuzz *f, unsigned n, const struct mt_rx_meta *meta, const uint8_t *bytes,
		size_t len)
{
	engine_node_rx_bytes(&f->nodes[n].base, f->now, meta, bytes, len);
	f->rx_pair = QPS;
	engine_node_grow_if_wanted(&f->nodes[n].base);
}
