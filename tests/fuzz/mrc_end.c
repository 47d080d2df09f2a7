/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrc_end.c - QPs of fuzz_mrc: how they are made, which states they may go to, and that a change
 * of attributes sets all that it names and nothing else, or nothing at all.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/assert.h"
#include "fuzz_mrc.h"

#define MRC_ATTRS 10u /* bits of the mask, without vendor bytes */
#define MRC_ALL ((1 << MRC_ATTRS) - 1)
#define WRITE_OPS ((uint64_t)(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM))

/* ---- life ---- */

void mrc_end_open(struct mrc *m, uint32_t side, uint32_t p)
{
	struct mrc_end *e = &m->of[side].end[p];
	struct mrc_qp_init_attr got, init = {.qp_context = e,
					     .send_cq = e->cq,
					     .recv_cq = e->cq,
					     .cap = {DEPTH, DEPTH, 2, 2, 64},
					     .pd = m->w.side[side].pd};

	e->qp = mrc_create_qp(m->of[side].context, &init);
	mb_assert(e->qp || errno == ENOMEM);
	if (!e->qp)
		return;
	mb_assert(init.cap.max_send_wr >= DEPTH && init.cap.max_inline_data >= 64);
	mb_assert(mrc_query_qp(e->qp, NULL, 0, NULL, 0, &got) == 0);
	mb_assert(got.qp_context == e && got.send_cq == e->cq && got.recv_cq == e->cq);
	mb_assert(got.pd == init.pd && got.send_ops_flags == WRITE_OPS);
	mb_assert(got.protocol_version == MRC_PROTOCOL_VERSION_1);
}

static void forget(struct mrc_end *e)
{
	model_forget(&e->model);
	e->hint = NULL;
}

void mrc_end_destroy(struct mrc_end *e)
{
	mb_assert(mrc_destroy_qp(e->qp) == 0);
	e->qp = NULL;
	forget(e);
}

/* ---- states ---- */

enum ibv_qp_state mrc_end_state(const struct mrc_end *e)
{
	struct ibv_qp_attr attr;

	mb_assert(mrc_query_qp(e->qp, &attr, IBV_QP_STATE, NULL, 0, NULL) == 0);
	mb_assert(attr.qp_state == attr.cur_qp_state);
	return attr.qp_state;
}

/* RTR wants a peer, which a move of this kind does not name. */
static bool can_move(enum ibv_qp_state from, enum ibv_qp_state to)
{
	return to == IBV_QPS_RESET || to == IBV_QPS_ERR ||
	       (from == IBV_QPS_RESET && to == IBV_QPS_INIT) ||
	       (from == IBV_QPS_RTR && to == IBV_QPS_RTS) ||
	       (from == IBV_QPS_RTS && to == IBV_QPS_SQD) ||
	       (from == IBV_QPS_SQD && to == IBV_QPS_RTS);
}

void mrc_end_move(struct mrc_end *e, enum ibv_qp_state to)
{
	struct ibv_qp_attr attr = {.qp_state = to};
	enum ibv_qp_state from = mrc_end_state(e), now;
	int err = mrc_modify_qp(e->qp, &attr, IBV_QP_STATE, NULL, 0);

	mb_assert(err == 0 || err == EINVAL);
	mb_assert(from == to || (err == 0) == can_move(from, to));
	now = mrc_end_state(e);
	/* The NIC works in the call, so that a QP may fail meanwhile. */
	mb_assert(now == (err ? from : to) || (now == IBV_QPS_ERR && to != IBV_QPS_RESET));
	if (!err && to == IBV_QPS_RESET)
		forget(e);
}

static void to_rts(struct mrc *m, uint32_t side, uint32_t p, uint32_t psn, uint8_t how)
{
	struct mrc_end *e = &m->of[side].end[p];
	struct ibv_qp_attr v = {.qp_state = IBV_QPS_INIT,
				.path_mtu = how & 0x80 ? IBV_MTU_1024 : IBV_MTU_256,
				.rq_psn = psn,
				.sq_psn = psn,
				.ah_attr = {.grh.dgid = m->w.side[1 - side].gid, .is_global = 1}};
	uint8_t mpr = (uint8_t)(1 + (how & 3)), wimm = (uint8_t)(1 + (how >> 2 & 7));
	struct mrc_qp_attr a = {.mpr = {mpr, mpr},
				.wimm = {wimm, wimm},
				.timeout = 12,
				.retry = {.linear_cnt = how >> 5 & 3, .exp_cnt = 1}};

	mb_assert(mrc_modify_qp(e->qp, &v, IBV_QP_STATE, NULL, 0) == 0);
	v.qp_state = IBV_QPS_RTR;
	mb_assert(mrc_get_qpn(m->of[1 - side].end[p].qp, &v.dest_qp_num) == 0);
	mb_assert(mrc_modify_qp(e->qp, &v,
				IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					IBV_QP_RQ_PSN,
				&a, MRC_QP_MPR_DEST | MRC_QP_MAX_WIMM_DEST) == 0);
	v.qp_state = IBV_QPS_RTS;
	mb_assert(mrc_modify_qp(e->qp, &v, IBV_QP_STATE | IBV_QP_SQ_PSN, &a,
				MRC_QP_MPR | MRC_QP_MAX_WIMM | MRC_QP_TIMEOUT | MRC_QP_RETRY_CNT) ==
		  0);
	mb_assert(mrc_end_state(e) == IBV_QPS_RTS);
}

void mrc_end_connect(struct mrc *m, uint32_t p, uint8_t how)
{
	struct mrc_end *e[SIDES] = {&m->of[0].end[p], &m->of[1].end[p]};
	uint32_t psn = world_next_psn(&m->w);

	for (uint32_t s = 0; s < SIDES; s++) {
		if (!e[s]->qp)
			mrc_end_open(m, s, p);
		if (!e[s]->qp)
			return;
		mrc_end_move(e[s], IBV_QPS_RESET);
	}
	for (uint32_t s = 0; s < SIDES; s++)
		to_rts(m, s, p, psn, how);
	model_connect(&e[0]->model, &e[1]->model);
}

/* ---- attributes ---- */

static bool same_bytes(const uint8_t *a, const uint8_t *b)
{
	return memcmp(a, b, MRC_MAX_VENDOR_CFG_SIZE) == 0;
}

/* differing returns the bits of the attributes that are not the same. */
static int differing(const struct mrc_qp_attr *a, const struct mrc_qp_attr *b)
{
	int mask = same_bytes(a->vendor_cfg, b->vendor_cfg) ? 0 : (int)MRC_QP_VENDOR_CFG;

#define DIFFERS(bit, field) mask |= a->field == b->field ? 0 : (int)(bit);
	DIFFERS(MRC_QP_MAX_WIMM, wimm.max_wimm)
	DIFFERS(MRC_QP_MAX_WIMM_DEST, wimm.max_wimm_dest)
	DIFFERS(MRC_QP_MPR, mpr.mpr)
	DIFFERS(MRC_QP_MPR_DEST, mpr.mpr_dest)
	DIFFERS(MRC_QP_TIMEOUT, timeout)
	DIFFERS(MRC_QP_EV_PROFILE_ID, profile.ev_profile_id)
	DIFFERS(MRC_QP_CC_PROFILE_ID, profile.cc_profile_id)
	DIFFERS(MRC_QP_HINT, qp_hint)
	DIFFERS(MRC_QP_RETRY_CNT, retry.linear_cnt)
	DIFFERS(MRC_QP_RETRY_CNT, retry.exp_cnt)
	DIFFERS(MRC_QP_CAP, cap)
#undef DIFFERS
	return mask;
}

/* Values within the ranges and just beyond, and a hint of the other context, which is refused. */
static struct mrc_qp_attr choose(struct mrc *m, uint32_t side)
{
	uint8_t b = fuzz_u8(&m->w.in);
	struct mrc_side *of_hint = &m->of[b >> 7 ? 1 - side : side];
	struct mrc_qp_attr a = {.mpr = {b, b},
				.wimm = {b, b},
				.timeout = b % 26,
				.profile = {b >> 6, b >> 6},
				.retry = {.linear_cnt = b % 9, .exp_cnt = b % 27},
				.qp_hint = b & 1 ? of_hint->hint[b >> 1 & 1] : NULL,
				.cap = b & 15};

	memset(a.vendor_cfg, b, sizeof(a.vendor_cfg));
	return a;
}

/* Once the QP sends, what it agreed upon with its peer stays. */
static bool may_change(const struct mrc_end *e, int mask)
{
	enum ibv_qp_state state = mrc_end_state(e);
	bool agreed = state == IBV_QPS_RTS || state == IBV_QPS_SQD;

	return !agreed || !(mask & ~(int)(MRC_QP_HINT | MRC_QP_VENDOR_CFG));
}

void mrc_end_modify(struct mrc *m, uint32_t side, uint32_t p)
{
	struct mrc_end *e = &m->of[side].end[p];
	uint16_t bits = fuzz_u16(&m->w.in);
	int mask = (bits & MRC_ALL) | (bits >> 15 ? (int)MRC_QP_VENDOR_CFG : 0);
	struct mrc_qp_attr wanted = choose(m, side), before, after;
	bool foreign = wanted.qp_hint && wanted.qp_hint != m->of[side].hint[0] &&
		       wanted.qp_hint != m->of[side].hint[1];
	int err;

	if (!e->qp)
		return;
	mb_assert(mrc_query_qp(e->qp, NULL, 0, &before, MRC_QP_CAP, NULL) == 0);
	mb_assert(before.qp_hint == e->hint);
	err = mrc_modify_qp(e->qp, NULL, 0, &wanted, mask);
	mb_assert(mrc_query_qp(e->qp, NULL, 0, &after, MRC_QP_CAP, NULL) == 0);
	mb_assert(err == 0 || err == EINVAL);
	mb_assert(!(differing(&before, &after) & ~(err ? 0 : mask)));
	if (err)
		return;
	mb_assert(!(differing(&wanted, &after) & mask) && may_change(e, mask));
	mb_assert(!(mask & MRC_QP_HINT) || !foreign);
	e->hint = after.qp_hint;
}
