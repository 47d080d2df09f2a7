/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: the input is a script for two connected engines. Each step is a byte that says what
 * to do and the bytes it needs: post, let packets out, deliver, lose, double, cut, mark or change
 * one, feed raw bytes, move time, change a QP, take a memory region away, bind and invalidate
 * windows, take ports down, ask the other endpoint, post to a shared receive queue, arm its limit,
 * resize it. When the input ends every missing byte reads as zero.
 *
 * Nothing that comes in may crash an engine, trip an assertion or make it write outside a region;
 * completions come at most once and in order; calls say no more than they were asked; timers rest.
 * As long as the network is honest, whatever it loses, a model beside the engines judges what they
 * place: each byte of a message once, where it belongs, and all of it before it completes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "fuzz_engine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STEPS_MAX 400u

/* ---- packets ---- */

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
	f->rx_pair = copy.pair;
	if (fate != LOSE)
		world_give(f, copy.to, &copy.meta, copy.bytes, copy.len);
}

/* A change that the ICRC does not reveal: the peer lies. */
static void change(struct fuzz *f)
{
	uint8_t which = next(f), at = next(f), value = next(f);
	struct packet *p;

	if (f->n_flying == 0)
		return;
	f->lies = true;
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
	f->lies = true;
	world_give(f, how & 1 ? 0 : 1, &meta, f->data, len);
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

/* source_of returns where the bytes of a message lie, which no other has. */
static uint64_t source_of(const struct node *node, const struct end *end, uint64_t wr_id)
{
	return SOURCE_START | (uint64_t)(node->id * QPS + end->pair) << 32 | wr_id << 12;
}

/* A READ is of a source, but where the script wants a window, a wrong key or a wrong place. */
static void make_request(struct rd_send_wr *wr, struct rd_sge *sges)
{
	static const enum rd_wr_opcode opcodes[] = {RD_WR_READ, RD_WR_COMPARE_SWAP, RD_WR_FETCH_ADD,
						    RD_WR_ATOMIC_WRITE};

	wr->opcode = opcodes[wr->flags & 3];
	wr->flags = wr->flags & 4 ? RD_SEND_FENCE : 0;
	wr->compare_add = 7;
	wr->swap = wr->wr_id;
	if (wr->opcode == RD_WR_READ && wr->rkey == KEY && wr->remote_addr == REGION_START) {
		wr->rkey = SOURCE_KEY;
		wr->remote_addr = sges[0].addr;
	}
	if (wr->opcode != RD_WR_ATOMIC_WRITE) {
		sges[0] = (struct rd_sge){REGION_START, sges[0].length, KEY};
		sges[1] = (struct rd_sge){REGION_START + 4096, 5, KEY};
	}
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
	uint64_t source = source_of(&f->nodes[n], end, end->send_next);
	struct rd_sge sges[2] = {{source, len * 8u, SOURCE_KEY},
				 {source + len * 8u, 5, SOURCE_KEY}};
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
	if (r != MT_OK)
		return;
	model_post(end, &wr);
	end->send_next++;
}

static int hand_in(struct fuzz *f, unsigned n, unsigned i, const struct rd_recv_wr *wr)
{
	struct node *node = &f->nodes[n];

	return i < SRQ_QPS ? mt_qp_post_recv_sges(node->ends[i].qp, wr)
			   : mt_srq_post(node->srq, wr);
}

static void post_recv(struct fuzz *f, unsigned n, unsigned i)
{
	struct receives *r = f->nodes[n].ends[i].receives;
	struct slot *slot = model_slot_free(r);
	uint64_t addr = slot ? model_slot_addr(r, slot) : 0;
	struct rd_sge sges[2] = {{addr, 304, KEY}, {addr + 304, 696, KEY}};
	struct rd_recv_wr wr = {.sge = sges, .n_sge = i ? 2 : 0};

	if (!slot)
		return;
	wr.wr_id = model_next_id(r, slot);
	if (hand_in(f, n, i, &wr) == MT_OK)
		model_posted(r, slot);
}

/* Arms the limit of the SRQ, or resizes it. */
static void change_srq(struct fuzz *f, unsigned n)
{
	struct node *node = &f->nodes[n];
	uint8_t how = next(f);
	struct mt_srq_cap cap = {.depth = 1 + how % 16, .max_sge = 2};

	if (how & 0x80)
		mt_srq_resize(node->srq, engine_node_block(&node->base, mt_srq_size(&cap)),
			      cap.depth);
	else if (mt_srq_arm(node->srq, how % 12) == MT_OK && how % 12 > 0)
		node->limits_armed++;
}

static void receive(struct fuzz *f, unsigned n, unsigned i, unsigned what)
{
	switch (what) {
	case 0:
		post_recv(f, n, i);
		break;
	case 1:
		post_recv(f, n, SRQ_QPS);
		break;
	case 2:
		change_srq(f, n);
		break;
	default:
		f->shared = !f->shared;
		break;
	}
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

	if (world_modify(f, n, i, &attr, mask) == MT_OK && mask & ~(uint32_t)RD_QP_STATE) {
		f->judged[i] = false;
		f->nodes[n].ends[i].fresh_mtu = 0;
	}
	if (!(mask & RD_QP_STATE) || attr.state != RD_QPS_RESET || !(v & 8))
		return;
	f->mtu[i] = 256u << (v >> 4) % 5;
	world_connect(f, n, i);
}

static void change_region(struct fuzz *f, unsigned n)
{
	struct node *node = &f->nodes[n];

	(void)f;
	if (!node->region.live) {
		world_add_region(node);
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
			world_let_out(f, n, 3);
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
	unsigned n = op >> 7, i = (op >> 6 & 1) + (f->shared ? SRQ_QPS : 0);

	switch (op & 0x0F) {
	case 0:
		post(f, n, i);
		break;
	case 1:
		receive(f, n, i, op >> 4 & 3);
		break;
	case 2:
		world_let_out(f, n, op >> 4 & 3);
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
	f->rx_pair = QPS;
	for (unsigned n = 0; n < NODES; n++)
		f->nodes[n].f = f, f->nodes[n].id = n;
	for (unsigned n = 0; n < NODES; n++)
		world_open_node(f, n);
	for (unsigned k = 0; f->left > 0 && k < STEPS_MAX; k++)
		step(f);
	be_honest(f);
	for (unsigned n = 0; n < NODES; n++)
		world_check_srq(&f->nodes[n]);
	for (unsigned n = 0; n < NODES; n++)
		world_close_node(&f->nodes[n]);
	free(f);
	return 0;
}
