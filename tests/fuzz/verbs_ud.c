/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_ud.c - datagrams of fuzz_verbs. One may get lost; what arrives is what was sent, at the QP
 * that it was sent to, under its Q_Key, behind a GRH that says from whom.
 */
#include <arpa/inet.h>
#include <errno.h>

#include "base/assert.h"
#include "fuzz_verbs.h"
#include "wire/datagram.h"

#define GRH_BYTES 40u
#define GRH_VERSION_SHIFT 28
#define GRH_IPV6 6u
/* An immediate is the number of the datagram above its place in SOURCE. */
#define PLACE_BITS 8
/* How a datagram is sent. */
#define HOW_UNSIGNALED 1u
#define HOW_INLINE 2u
#define HOW_INLINE_MAX 64u
#define HOW_SOLICITED 4u
#define HOW_OTHER_KEY 8u
#define HOW_OWN_KEY 16u /* that of the sending QP */
#define HOW_TO_RC 32u	/* to a QP that has no datagrams */
#define HOW_TO_NOBODY 64u

static const uint32_t keys[KEYS] = {0x11111111, 0x22222222};

static void open_ah(struct verbs *v, uint32_t side)
{
	struct ibv_ah_attr attr = {
		.grh = {.dgid = v->w.side[1 - side].gid}, .is_global = 1, .port_num = 1};

	v->of[side].ah = ibv_create_ah(v->w.side[side].pd, &attr);
	mb_assert(v->of[side].ah);
}

void verbs_ud_open(struct verbs *v, uint32_t side)
{
	open_ah(v, side);
	verbs_open_qp(v, side, UD);
	verbs_ud_connect(v, side);
}

void verbs_ud_connect(struct verbs *v, uint32_t side)
{
	struct end *e = &v->of[side].end[UD];
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = keys[v->of[side].key]};

	if (!e->qp)
		verbs_open_qp(v, side, UD);
	if (!e->qp)
		return;
	mb_assert(verbs_to_state(v, side, UD, IBV_QPS_RESET) == 0);
	a.sq_psn = world_next_psn(&v->w);
	mb_assert(ibv_modify_qp(e->qp, &a,
				IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY) == 0);
	a.qp_state = IBV_QPS_RTR;
	mb_assert(ibv_modify_qp(e->qp, &a, IBV_QP_STATE) == 0);
	a.qp_state = IBV_QPS_RTS;
	/* A datagram may have come by now for a receive of the SRQ whose memory is gone. */
	if (ibv_modify_qp(e->qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN))
		mb_assert(verbs_state(e) == IBV_QPS_ERR);
}

/* ---- sending ---- */

static uint32_t dest_qpn(const struct verbs_side *far, uint8_t how)
{
	const struct end *e = &far->end[how & HOW_TO_RC ? 0 : UD];

	return how & HOW_TO_NOBODY || !e->qp ? 1 : e->qp->qp_num;
}

void verbs_ud_send(struct verbs *v, uint32_t side)
{
	uint8_t how = fuzz_u8(&v->w.in);
	uint32_t place = fuzz_u8(&v->w.in), len = fuzz_u8(&v->w.in) * 4u;
	struct side *s = &v->w.side[side];
	struct verbs_side *vs = &v->of[side];
	struct end *e = &vs->end[UD];
	struct datagram *d = &vs->sent[vs->n_sent];
	struct model_wr model = {
		.kind = MODEL_DATAGRAM, .signaled = !(how & HOW_UNSIGNALED), .len = len};
	struct ibv_sge sge = {(uintptr_t)s->memory[SOURCE] + place * PLACE_BYTES, len,
			      world_key(s, SOURCE)};
	struct ibv_send_wr wr = {.wr_id = model_send_id(&e->model),
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND_WITH_IMM,
				 .send_flags = (model.signaled ? IBV_SEND_SIGNALED : 0) |
					       (how & HOW_SOLICITED ? IBV_SEND_SOLICITED : 0),
				 .imm_data = htonl(vs->n_sent << PLACE_BITS | place)};

	if (!e->qp || !vs->ah)
		return;
	*d = (struct datagram){.place = place,
			       .len = len,
			       .qpn = dest_qpn(&v->of[1 - side], how),
			       .src_qpn = e->qp->qp_num,
			       .q_key = keys[!!(how & HOW_OTHER_KEY)]};
	wr.wr.ud.ah = vs->ah;
	wr.wr.ud.remote_qpn = d->qpn;
	wr.wr.ud.remote_qkey = d->q_key;
	if (how & HOW_OWN_KEY) {
		wr.wr.ud.remote_qkey |= MW_Q_KEY_CONTROLLED;
		d->q_key = keys[vs->key];
	}
	if (how & HOW_INLINE && len <= HOW_INLINE_MAX)
		wr.send_flags |= IBV_SEND_INLINE;
	if (verbs_post_send(v, e->qp, &wr))
		return;
	model_sent(&e->model, &model);
	vs->n_sent++;
}

/* ---- receiving ---- */

/* Whether the QP had this key at any time since the peer sent the datagram of this number. */
static bool had_key(const struct verbs_side *vs, uint32_t q_key, uint32_t number)
{
	return q_key == keys[vs->key] || number < vs->key_until[q_key == keys[1]];
}

/* The address of an answer is that of the sender. */
static void check_grh(const struct verbs *v, uint32_t side, struct ibv_wc *wc, const uint8_t *slot)
{
	const struct side *s = &v->w.side[side], *far = &v->w.side[1 - side];
	struct ibv_ah_attr attr;
	struct ibv_grh grh;

	memcpy(&grh, slot, sizeof(grh));
	mb_assert(ntohl(grh.version_tclass_flow) >> GRH_VERSION_SHIFT == GRH_IPV6);
	mb_assert(memcmp(&grh.sgid, &far->gid, sizeof(grh.sgid)) == 0);
	mb_assert(memcmp(&grh.dgid, &s->gid, sizeof(grh.dgid)) == 0);
	mb_assert(ibv_init_ah_from_wc(s->context, 1, wc, &grh, &attr) == 0);
	mb_assert(memcmp(&attr.grh.dgid, &far->gid, sizeof(far->gid)) == 0);
}

void verbs_ud_received(struct verbs *v, uint32_t side, const struct ibv_wc *wc, const uint8_t *slot)
{
	const struct verbs_side *vs = &v->of[side];
	struct verbs_side *far = &v->of[1 - side];
	uint32_t imm = ntohl(wc->imm_data), number = imm >> PLACE_BITS;
	struct datagram *d = &far->sent[number];
	struct ibv_wc copy = *wc;

	mb_assert(wc->opcode == IBV_WC_RECV && wc->wc_flags == (IBV_WC_WITH_IMM | IBV_WC_GRH));
	mb_assert(number < far->n_sent && wc->byte_len == GRH_BYTES + d->len);
	mb_assert(d->qpn == vs->end[UD].qp->qp_num && d->src_qpn == wc->src_qp);
	mb_assert(had_key(vs, d->q_key, number));
	if (d->n_received++ > 0)
		mb_assert(++far->n_surplus <= v->w.doubled[1 - side]);
	check_grh(v, side, &copy, slot);
	world_check_bytes(slot + GRH_BYTES, d->place * PLACE_BYTES, d->len);
}

/* ---- changes ---- */

/* What the peer sent until now may have come under the key that the QP had. */
static void change_key(struct verbs *v, uint32_t side)
{
	struct verbs_side *vs = &v->of[side];
	struct ibv_qp_attr attr = {.qkey = keys[1 - vs->key]};

	if (!vs->end[UD].qp || ibv_modify_qp(vs->end[UD].qp, &attr, IBV_QP_QKEY))
		return;
	vs->key_until[vs->key] = v->of[1 - side].n_sent;
	vs->key = 1 - vs->key;
}

/* There are no multicast groups. */
static void join_group(const struct verbs *v, uint32_t side)
{
	struct ibv_qp *qp = v->of[side].end[UD].qp;
	union ibv_gid group = {.raw = {0xFF}};

	mb_assert(!qp || ibv_attach_mcast(qp, &group, 0) == EOPNOTSUPP);
}

void verbs_ud_change(struct verbs *v, uint32_t side, uint8_t how)
{
	static const enum ibv_qp_state states[] = {IBV_QPS_RESET, IBV_QPS_ERR, IBV_QPS_SQD,
						   IBV_QPS_RTS};
	struct verbs_side *vs = &v->of[side];
	bool there = vs->end[UD].qp;

	switch (how & 7) {
	case 0:
		verbs_ud_connect(v, side);
		return;
	case 1:
		vs->end[UD].wants_srq = how >> 3 & 1;
		if (there)
			verbs_destroy_qp(v, side, UD);
		else
			verbs_open_qp(v, side, UD);
		return;
	case 2:
		change_key(v, side);
		return;
	case 3:
		if (vs->ah)
			mb_assert(ibv_destroy_ah(vs->ah) == 0);
		vs->ah = NULL;
		return;
	case 4:
		if (!vs->ah)
			open_ah(v, side);
		return;
	case 5:
		join_group(v, side);
		return;
	default:
		if (there)
			verbs_to_state(v, side, UD, states[how >> 3 & 3]);
	}
}
