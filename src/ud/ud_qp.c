/* SPDX-License-Identifier: BSD-2-Clause */
/* ud_qp.c - life, attributes and queues of UD and UC QPs, and of the engine that they belong to. */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "ud/ud_private.h"

#define FLAGS_ALL ((uint32_t)RD_SEND_IMM | RD_SEND_SIGNALED | RD_SEND_SOLICITED | RD_SEND_INLINE)

/* ---- the engine ---- */

static void note_allowed_ports(struct mu_engine *e)
{
	e->allowed_ports = 0;
	for (uint32_t path = 0; path < e->cfg.n_evs; path++)
		if (!mu_is_path_denied(e, path))
			e->allowed_ports |= 1u << e->evs[path].port;
}

/* REQ(ctl.ev-denied) */
bool mu_path_deny(struct mu_engine *e, uint16_t i, bool deny)
{
	mb_assert(i < e->cfg.n_evs);
	if (mu_is_path_denied(e, i) == deny)
		return true;
	if (deny && e->n_denied + 1u == e->cfg.n_evs)
		return false;
	e->denied[i / 64] ^= UINT64_C(1) << i % 64;
	e->n_denied = (uint16_t)(deny ? e->n_denied + 1 : e->n_denied - 1);
	note_allowed_ports(e);
	return true;
}

struct mu_engine *mu_create(const struct mu_cfg *cfg, const struct mu_env *env)
{
	struct mu_engine *e = calloc(1, sizeof(*e) + cfg->n_evs * sizeof(e->evs[0]));

	if (!e)
		return NULL;
	e->env = *env;
	e->cfg = *cfg;
	memcpy(e->evs, cfg->evs, cfg->n_evs * sizeof(e->evs[0]));
	e->cfg.evs = e->evs;
	mb_prng_init(&e->prng, cfg->seed);
	mb_link_init(&e->senders);
	note_allowed_ports(e);
	return e;
}

void mu_destroy(struct mu_engine *e)
{
	for (uint32_t i = 0; e && i < MU_PEER_SETS * MU_PEER_WAYS; i++)
		free(e->peer[i]);
	free(e);
}

const struct mu_counts *mu_counts(const struct mu_engine *e)
{
	return &e->counts;
}

bool mu_find_mr(const struct mu_engine *e, uint32_t pd, uint32_t access, const struct rd_sge *sge,
		struct mt_mr_part *part)
{
	return mt_mr_find(e->cfg.engine, sge->lkey, sge->addr, sge->length, part) &&
	       part->mr_user && part->pd == pd && (part->access & access) == access;
}

/* ---- life of a QP ---- */

void mu_qp_destroy(struct mu_qp *qp)
{
	if (!qp)
		return;
	mb_link_remove(&qp->sender);
	free(qp->send);
	free(qp->sge);
	free(qp->own_recvs);
	free(qp);
}

struct mu_qp *mu_qp_create(struct mu_engine *e, const struct mt_qp_cap *cap, uint32_t recv_pd,
			   uint32_t number, enum mu_qp_type type, void *user)
{
	const struct mt_srq_cap own = {cap->rq_depth ? cap->rq_depth : 1, cap->max_recv_sge,
				       recv_pd};
	struct mu_qp *qp = calloc(1, sizeof(*qp));

	if (!qp)
		return NULL;
	*qp = (struct mu_qp){
		.e = e,
		.user = user,
		.number = number,
		.is_uc = type == MU_QPT_UC,
		.pd = cap->pd,
		.recv_pd = recv_pd,
		.depth = cap->sq_depth,
		.max_sge = cap->max_sge,
		.recvs = cap->srq,
		.path = {.next = (uint32_t)mb_prng_u64(&e->prng)},
	};
	mb_link_init(&qp->sender);
	mt_qp_attr_default(&qp->attr);
	qp->send = calloc(qp->depth, sizeof(*qp->send));
	qp->sge = calloc((size_t)qp->depth * qp->max_sge, sizeof(*qp->sge));
	if (!cap->srq)
		qp->own_recvs = malloc(mt_srq_size(&own));
	if (qp->own_recvs)
		mt_srq_init(e->cfg.engine, qp->own_recvs, &own, NULL, &qp->recvs);
	if (qp->send && qp->sge && qp->recvs)
		return qp;
	mu_qp_destroy(qp);
	return NULL;
}

/* ---- states ---- */

/* flush_recvs completes receives of the QP's own; those of an SRQ stay there. */
static void flush_recvs(struct mu_qp *qp)
{
	struct mu_completion c = {.status = RD_WC_WR_FLUSH_ERR, .is_recv = true};
	struct rd_recv_wr wr;

	while (qp->own_recvs && mt_srq_peek(qp->recvs, &wr)) {
		c.wr_id = wr.wr_id;
		mu_complete_recv(qp, &c);
	}
}

/* drop_wrs forgets what is posted. */
static void drop_wrs(struct mu_qp *qp)
{
	struct rd_recv_wr wr;

	qp->done = qp->posted;
	for (; qp->own_recvs && mt_srq_pop(qp->recvs, &wr); qp->recvs_done++)
		mt_srq_polled(qp->recvs);
}

static void change_state(struct mu_qp *qp, enum rd_qp_state to)
{
	qp->attr.state = to;
	mb_link_remove(&qp->sender);
	if (to == RD_QPS_ERR) {
		while (qp->done < qp->posted)
			mu_complete_send(qp, RD_WC_WR_FLUSH_ERR);
		flush_recvs(qp);
		if (!qp->own_recvs)
			qp->e->env.last_wqe(qp->user);
	} else if (to == RD_QPS_RESET) {
		mt_qp_attr_default(&qp->attr);
		drop_wrs(qp);
	} else if (to == RD_QPS_RTS && qp->done < qp->posted) {
		mb_list_push(&qp->e->senders, &qp->sender);
	}
}

void mu_qp_to_err(struct mu_qp *qp)
{
	if (qp->attr.state != RD_QPS_RESET && qp->attr.state != RD_QPS_ERR)
		change_state(qp, RD_QPS_ERR);
}

/* What a UC QP has of its peer is there before it receives, and stays. */
#define PEER_ATTRS ((uint32_t)RD_QP_DEST | RD_QP_PATH_MTU | RD_QP_RQ_PSN)

static bool is_peer_valid(const struct mu_qp *qp, const struct rd_qp_attr *attr, uint32_t mask)
{
	bool to_rtr = (mask & RD_QP_STATE) && attr->state == RD_QPS_RTR;

	if ((mask & PEER_ATTRS) && qp->attr.state >= RD_QPS_RTR)
		return false;
	if ((mask & RD_QP_DEST) && (attr->dest_qpn == 0 || attr->dest_qpn > RD_BITS_24))
		return false;
	if ((mask & RD_QP_PATH_MTU) && attr->path_mtu > qp->e->cfg.mtu)
		return false;
	return !to_rtr || (mask & RD_QP_DEST) || qp->attr.dest_qpn != 0;
}

static void set_peer(struct mu_qp *qp, const struct rd_qp_attr *attr, uint32_t mask)
{
	if (mask & RD_QP_DEST) {
		qp->attr.dest = attr->dest;
		qp->attr.dest_qpn = attr->dest_qpn;
	}
	if (mask & RD_QP_PATH_MTU)
		qp->attr.path_mtu = attr->path_mtu;
	if (mask & RD_QP_RQ_PSN)
		qp->attr.rq_psn = attr->rq_psn;
	if (mask & RD_QP_ACCESS)
		qp->attr.access = attr->access;
}

/* REQ(ud.states) REQ(uc.states) */
bool mu_qp_modify(struct mu_qp *qp, const struct rd_qp_attr *attr, uint32_t mask)
{
	if ((mask & RD_QP_STATE) && !mt_qp_can_move(qp->attr.state, attr->state))
		return false;
	if ((mask & RD_QP_SQ_PSN) && attr->sq_psn > RD_BITS_24)
		return false;
	if (qp->is_uc && !is_peer_valid(qp, attr, mask))
		return false;
	if (qp->is_uc)
		set_peer(qp, attr, mask);
	if (mask & RD_QP_Q_KEY)
		qp->attr.q_key = attr->q_key;
	if (mask & RD_QP_P_KEY)
		qp->attr.p_key = attr->p_key;
	if (mask & RD_QP_SQ_PSN)
		qp->attr.sq_psn = attr->sq_psn;
	if ((mask & RD_QP_STATE) && attr->state != qp->attr.state)
		change_state(qp, attr->state);
	return true;
}

void mu_qp_query(const struct mu_qp *qp, struct rd_qp_attr *attr)
{
	*attr = qp->attr;
}

/* ---- posting ---- */

static uint32_t send_bytes(const struct rd_send_wr *wr)
{
	uint32_t bytes = 0;

	for (uint32_t i = 0; i < wr->n_sge; i++)
		bytes += wr->sge[i].length;
	return bytes;
}

/* REQ(uc.one-packet) */
static bool is_send_valid(const struct mu_qp *qp, const struct rd_send_wr *wr)
{
	if (wr->opcode != RD_WR_SEND || (wr->flags & ~FLAGS_ALL))
		return false;
	return qp->is_uc ? send_bytes(wr) <= qp->attr.path_mtu : wr->ud.qpn <= MW_QPN_MAX;
}

/* address_send says where a WR goes: a UC QP's to the peer, which the WR does not name. */
static void address_send(const struct mu_qp *qp, const struct rd_send_wr *wr, struct mu_send *send)
{
	if (qp->is_uc) {
		send->dest = qp->attr.dest;
		send->qpn = qp->attr.dest_qpn;
		send->q_key = MW_Q_KEY_UC;
		return;
	}
	send->dest = wr->ud.ah->dest;
	send->qpn = wr->ud.qpn;
	send->q_key = wr->ud.q_key & MW_Q_KEY_CONTROLLED ? qp->attr.q_key : wr->ud.q_key;
	send->traffic_class = wr->ud.ah->traffic_class;
}

bool mu_qp_post_send(struct mu_qp *qp, const struct rd_send_wr *wr)
{
	enum rd_qp_state state = qp->attr.state;
	struct mu_send *send = &qp->send[qp->posted % qp->depth];

	if (state != RD_QPS_RTS && state != RD_QPS_SQD && state != RD_QPS_ERR)
		return false;
	if (!is_send_valid(qp, wr))
		return false;
	*send = (struct mu_send){
		.wr_id = wr->wr_id,
		.imm = wr->imm,
		.bytes = send_bytes(wr),
		.flags = wr->flags,
		.n_sge = wr->n_sge,
	};
	address_send(qp, wr, send);
	memcpy(qp->sge + qp->posted % qp->depth * qp->max_sge, wr->sge,
	       wr->n_sge * sizeof(*wr->sge));
	qp->posted++;
	if (state == RD_QPS_ERR)
		mu_complete_send(qp, RD_WC_WR_FLUSH_ERR);
	else if (state == RD_QPS_RTS)
		mb_list_push(&qp->e->senders, &qp->sender);
	return true;
}

bool mu_qp_post_recv(struct mu_qp *qp, const struct rd_recv_wr *wr)
{
	if (qp->attr.state == RD_QPS_RESET || mt_srq_post(qp->recvs, wr) != MT_OK)
		return false;
	if (qp->attr.state == RD_QPS_ERR)
		flush_recvs(qp);
	return true;
}
