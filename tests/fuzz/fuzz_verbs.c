/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: the input is a program on verbs, a byte an operation: two devices of one process
 * with two pairs of QPs and a UD QP each between them, whose packets get lost, doubled and late;
 * objects are destroyed and made again, states change in any order, memory is deregistered, CQs and
 * SRQs are resized, windows bound, limits armed, keys changed. The first byte says whose receives
 * are those of an SRQ, and whether QPs and CQs are extended ones.
 *
 * A model beside it knows what must come of it: each WR completes at most once, in order, and none
 * of before a reset; what has users is not destroyed; messages come once, in order, and what is
 * reported as received, read or written is what was sent; an atomic happens once; receives of an
 * SRQ are used in the order of their posting and none gets lost; a datagram may get lost, but comes
 * only to whom it was sent. At the end all can be taken down.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/assert.h"
#include "fuzz_verbs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte. */
#define WORLD_SRQ 1u	/* both pairs */
#define WORLD_UD_SRQ 2u /* datagrams */
#define WORLD_DROPS 4u	/* resets drop completions of receives of the SRQ */
#define WORLD_EXTENDED 8u

/* ---- set-up ---- */

static void open_side(struct verbs *v, uint32_t side, uint8_t how)
{
	const struct side *s = &v->w.side[side];
	struct verbs_side *vs = &v->of[side];

	vs->mw = ibv_alloc_mw(s->pd, IBV_MW_TYPE_2);
	mb_assert(vs->mw);
	for (uint32_t i = 0; i < ENDS; i++) {
		vs->end[i].cq = verbs_create_cq(v, s->context);
		mb_assert(vs->end[i].cq);
		vs->end[i].wants_srq = how & (i == UD ? WORLD_UD_SRQ : WORLD_SRQ);
		model_open(&vs->end[i].model, s, &v->w.side[1 - side]);
	}
	verbs_ud_open(v, side);
}

/* The SRQ goes after its users, which leave it what they had taken and not used. */
static void close_side(struct verbs *v, uint32_t side)
{
	struct verbs_side *vs = &v->of[side];

	for (uint32_t i = 0; i < ENDS; i++) {
		if (vs->end[i].shared)
			verbs_srq_destroy(v, side);
		if (vs->end[i].qp)
			verbs_destroy_qp(v, side, i);
	}
	if (vs->srq.srq) {
		verbs_srq_check_end(v, side);
		verbs_srq_destroy(v, side);
	}
	for (uint32_t i = 0; i < ENDS; i++)
		mb_assert(ibv_destroy_cq(vs->end[i].cq) == 0);
	mb_assert(!vs->srq.srq && ibv_dealloc_mw(vs->mw) == 0);
	mb_assert(!vs->ah || ibv_destroy_ah(vs->ah) == 0);
}

/* ---- steps ---- */

static const struct op {
	enum ibv_wr_opcode opcode;
	enum model_kind kind;
} ops[] = {{IBV_WR_SEND_WITH_IMM, MODEL_SEND_IMM},	  {IBV_WR_RDMA_WRITE, MODEL_WRITE},
	   {IBV_WR_RDMA_WRITE_WITH_IMM, MODEL_WRITE_IMM}, {IBV_WR_RDMA_READ, MODEL_READ},
	   {IBV_WR_ATOMIC_FETCH_AND_ADD, MODEL_ADD},	  {IBV_WR_SEND_WITH_IMM, MODEL_SEND_IMM},
	   {IBV_WR_RDMA_WRITE_WITH_IMM, MODEL_WRITE_IMM}, {IBV_WR_RDMA_WRITE, MODEL_WRITE}};
/* How they are posted, above the number of the operation. */
#define HOW_OP 7u
#define HOW_UNSIGNALED 8u
#define HOW_FENCE 16u
#define HOW_INLINE 32u
#define HOW_INLINE_MAX 64u
#define HOW_WINDOW 128u

/* Where an operation has its bytes, here and at the peer. What an atomic finds goes to the end. */
static void aim(const struct verbs *v, uint32_t side, uint8_t how, const struct model_wr *model,
		struct ibv_send_wr *wr)
{
	const struct side *s = &v->w.side[side], *far = &v->w.side[1 - side];
	bool reads = model->kind == MODEL_READ;
	enum memory local = reads ? TARGET : SOURCE, remote = reads ? SOURCE : TARGET;
	uint32_t at = model->place * PLACE_BYTES;

	if (model->kind == MODEL_ADD) {
		*wr->sg_list = (struct ibv_sge){(uintptr_t)s->memory[COUNTER] + COUNTER_BYTES - 8,
						8, world_key(s, COUNTER)};
		wr->wr.atomic.remote_addr = (uintptr_t)far->memory[COUNTER];
		wr->wr.atomic.compare_add = 1;
		wr->wr.atomic.rkey = world_key(far, COUNTER);
		return;
	}
	*wr->sg_list =
		(struct ibv_sge){(uintptr_t)s->memory[local] + at, model->len, world_key(s, local)};
	wr->num_sge = model->len ? 1 : 0;
	wr->wr.rdma.remote_addr = (uintptr_t)far->memory[remote] + at;
	wr->wr.rdma.rkey = how & HOW_WINDOW ? v->of[1 - side].mw->rkey : world_key(far, remote);
}

static void step_send(struct verbs *v, uint32_t side, uint32_t p)
{
	struct end *e = &v->of[side].end[p];
	uint8_t how = fuzz_u8(&v->w.in);
	uint32_t place = fuzz_u8(&v->w.in), len = fuzz_u8(&v->w.in) * 4u;
	struct model_wr model = {.kind = ops[how & HOW_OP].kind,
				 .signaled = !(how & HOW_UNSIGNALED),
				 .place = place,
				 .len = len};
	struct ibv_sge sge;
	struct ibv_send_wr wr = {.wr_id = model_send_id(&e->model),
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = ops[how & HOW_OP].opcode,
				 .send_flags = (model.signaled ? IBV_SEND_SIGNALED : 0) |
					       (how & HOW_FENCE ? IBV_SEND_FENCE : 0),
				 .imm_data = model_imm(&e->model, &model)};

	if (!e->qp)
		return;
	aim(v, side, how, &model, &wr);
	if (model.kind == MODEL_WRITE && how & HOW_INLINE && len <= HOW_INLINE_MAX)
		wr.send_flags |= IBV_SEND_INLINE;
	if (verbs_post_send(v, e->qp, &wr))
		return;
	model_sent(&e->model, &model);
	v->adds_posted += model.kind == MODEL_ADD;
}

/* A QP with an SRQ has no receives of its own. */
static void step_recv(struct verbs *v, uint32_t side, uint32_t i)
{
	struct end *e = &v->of[side].end[i];
	struct ibv_sge sge = {(uintptr_t)verbs_slot(v, side, i, e->model.recv.posted), SLOT_BYTES,
			      world_key(&v->w.side[side], RECEIVED)};
	struct ibv_recv_wr wr = {.wr_id = model_recv_id(&e->model), .sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr *bad;
	int err;

	if (!e->qp)
		return;
	err = ibv_post_recv(e->qp, &wr, &bad);
	mb_assert(!e->shared || err == EINVAL);
	if (!err)
		model_recv_posted(&e->model);
}

static void step_bind(struct verbs *v, uint32_t side, uint32_t p)
{
	const struct side *s = &v->w.side[side];
	struct ibv_mw *mw = v->of[side].mw;
	struct end *e = &v->of[side].end[p];
	struct model_wr model = {.kind = MODEL_BIND, .signaled = true};
	struct ibv_send_wr wr = {
		.wr_id = model_send_id(&e->model),
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {.mw = mw,
			    .rkey = ibv_inc_rkey(mw->rkey),
			    .bind_info = {.mr = s->mr[TARGET],
					  .addr = (uintptr_t)s->memory[TARGET],
					  .length = PATTERN_BYTES,
					  .mw_access_flags = IBV_ACCESS_REMOTE_WRITE}}};

	if (!e->qp || !s->mr[TARGET] || verbs_post_send(v, e->qp, &wr))
		return;
	mw->rkey = wr.bind_mw.rkey;
	model_sent(&e->model, &model);
}

/* step_object destroys an object, or makes it again. What has users says EBUSY. */
static void step_object(struct verbs *v, uint32_t side, uint32_t p, uint8_t which)
{
	struct side *s = &v->w.side[side];
	struct end *e = &v->of[side].end[p];
	enum memory m = which & 1 ? TARGET : RECEIVED;

	switch (which >> 1 & 3) {
	case 0:
		e->wants_srq = which & 1;
		if (e->qp)
			verbs_destroy_qp(v, side, p);
		else
			verbs_open_qp(v, side, p);
		return;
	case 1:
		if (!s->mr[m])
			world_register(s, m);
		else if (world_deregister(s, m))
			mb_assert(m == TARGET);
		return;
	case 2:
		mb_assert(ibv_dealloc_pd(s->pd) == EBUSY);
		mb_assert(!e->qp || ibv_destroy_cq(e->cq) == EBUSY);
		return;
	default:
		mb_assert(ibv_resize_cq(e->cq, CQE + which) == 0);
	}
}

static void step_srq(struct verbs *v, uint32_t side)
{
	if (v->of[side].srq.srq)
		verbs_srq_destroy(v, side);
	else
		verbs_srq_open(v, side);
}

static void poll_everything(struct verbs *v)
{
	for (uint32_t s = 0; s < SIDES; s++) {
		verbs_poll_all(v, s);
		verbs_take_events(v, s);
	}
}

/* A short way of a fuzzer to a world that went on. */
static void step_go(struct verbs *v)
{
	for (uint32_t i = 0; i < 3; i++) {
		world_run(&v->w, 4, UINT64_C(1) << 20);
		poll_everything(v);
	}
}

/* Operations 0 to 7 are of pairs of QPs. */
static void step_of_pair(struct verbs *v, uint8_t op, uint32_t side, uint32_t p)
{
	static const enum ibv_qp_state states[] = {IBV_QPS_RESET, IBV_QPS_ERR, IBV_QPS_SQD,
						   IBV_QPS_RTS};

	switch (op & 7) {
	case 0:
	case 1:
		step_send(v, side, p);
		return;
	case 2:
		step_recv(v, side, p);
		return;
	case 3:
		verbs_poll(v, side, p, 1 << (op >> 4 & 3));
		verbs_take_events(v, side);
		return;
	case 4:
		if (v->of[side].end[p].qp)
			verbs_to_state(v, side, p, states[op >> 4 & 3]);
		return;
	case 5:
		verbs_connect(v, p);
		return;
	case 6:
		step_object(v, side, p, fuzz_u8(&v->w.in));
		return;
	default:
		step_bind(v, side, p);
	}
}

static void step(struct verbs *v)
{
	uint8_t op = fuzz_u8(&v->w.in), how;
	uint32_t side = op >> 7;

	switch (op & 15) {
	case 8:
		how = fuzz_u8(&v->w.in);
		world_run(&v->w, 1 + (how >> 5), UINT64_C(1) << (how & 31) % 28);
		return;
	case 9:
		v->w.loss = fuzz_u8(&v->w.in);
		return;
	case 10:
		verbs_srq_post(v, side);
		return;
	case 11:
		verbs_srq_modify(v, side, fuzz_u8(&v->w.in));
		return;
	case 12:
		step_srq(v, side);
		return;
	case 13:
		verbs_ud_send(v, side);
		return;
	case 14:
		if (op & 0x40)
			verbs_ud_change(v, side, fuzz_u8(&v->w.in));
		else
			step_recv(v, side, UD);
		return;
	case 15:
		step_go(v);
		return;
	default:
		step_of_pair(v, op, side, op >> 6 & 1);
	}
}

/* ---- the end ---- */

/* Both counters together: not less than what was reported, not more than what was asked for. */
static void check_counters(const struct verbs *v)
{
	uint64_t sum = 0, one;

	for (uint32_t s = 0; s < SIDES; s++) {
		memcpy(&one, v->w.side[s].memory[COUNTER], sizeof(one));
		sum += one;
	}
	mb_assert(sum >= v->adds_done && sum <= v->adds_posted);
}

/* A QP of an SRQ that went to ERR says when it uses no more of its receives. */
static void check_end(const struct end *e)
{
	model_check_end(&e->model);
	if (e->shared && verbs_state(e) == IBV_QPS_ERR)
		mb_assert(e->last_wqe);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct verbs *v = calloc(1, sizeof(*v));
	uint8_t how;

	mb_assert(v);
	world_open(&v->w, data, size);
	how = fuzz_u8(&v->w.in);
	v->drops = how & WORLD_DROPS;
	v->extended = how & WORLD_EXTENDED;
	for (uint32_t s = 0; s < SIDES; s++)
		open_side(v, s, how);
	for (uint32_t p = 0; p < PAIRS; p++)
		verbs_connect(v, p);
	for (uint32_t k = 0; v->w.in.left > 0 && k < STEPS_MAX; k++)
		step(v);
	world_settle(&v->w);
	poll_everything(v);
	check_counters(v);
	for (uint32_t s = 0; s < SIDES; s++)
		for (uint32_t i = 0; i < ENDS; i++)
			check_end(&v->of[s].end[i]);
	for (uint32_t s = 0; s < SIDES; s++)
		close_side(v, s);
	world_close(&v->w);
	free(v);
	return 0;
}
