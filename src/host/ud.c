/* SPDX-License-Identifier: BSD-2-Clause */
/* ud.c - life, attributes and queues of UD queue pairs. */
#include "host/ud.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/engine_events.h"
#include "host/entropy.h"
#include "wire/datagram.h"

#define UD_FLAGS_ALL ((uint32_t)RD_SEND_IMM | RD_SEND_SIGNALED | RD_SEND_SOLICITED | RD_SEND_INLINE)
#define PSN_MASK 0xFFFFFFu

/* ---- life ---- */

void mh_ud_free(struct mh_ud *ud)
{
	if (!ud)
		return;
	free(ud->send);
	free(ud->send_sge);
	free(ud->recv);
	free(ud->recv_sge);
	free(ud);
}

static void *alloc_ring(uint32_t n, uint32_t each, size_t size)
{
	size_t all = (size_t)n * each;

	return calloc(all ? all : 1, size);
}

bool mh_ud_create(struct mh_qp *qp)
{
	const struct mh_qp_cap *cap = &qp->init.cap;
	struct mh_ud *ud = calloc(1, sizeof(*ud));

	if (!ud)
		return false;
	ud->send = alloc_ring(cap->max_send_wr, 1, sizeof(*ud->send));
	ud->send_sge = alloc_ring(cap->max_send_wr, cap->max_send_sge, sizeof(*ud->send_sge));
	ud->recv = alloc_ring(cap->max_recv_wr, 1, sizeof(*ud->recv));
	ud->recv_sge = alloc_ring(cap->max_recv_wr, cap->max_recv_sge, sizeof(*ud->recv_sge));
	if (!ud->send || !ud->send_sge || !ud->recv || !ud->recv_sge) {
		mh_ud_free(ud);
		return false;
	}
	ud->qp = qp;
	ud->p_key = MW_P_KEY_DEFAULT;
	ud->path.next = (uint32_t)mh_entropy();
	mb_link_init(&ud->sender);
	qp->ud = ud;
	return true;
}

void mh_ud_unlink(struct mh_ud *ud)
{
	mb_link_remove(&ud->sender);
}

/* ---- states ---- */

/* Bit s of an entry: the move to state s exists. Every state goes to RESET and ERR. */
#define TO(state) (1u << (state))
#define TO_ANYWAY (TO(RD_QPS_RESET) | TO(RD_QPS_ERR))

/* REQ(ud.states) */
static const uint8_t moves[] = {
	[RD_QPS_RESET] = TO_ANYWAY | TO(RD_QPS_INIT),
	[RD_QPS_INIT] = TO_ANYWAY | TO(RD_QPS_INIT) | TO(RD_QPS_RTR),
	[RD_QPS_RTR] = TO_ANYWAY | TO(RD_QPS_RTS),
	[RD_QPS_RTS] = TO_ANYWAY | TO(RD_QPS_RTS) | TO(RD_QPS_SQD),
	[RD_QPS_SQD] = TO_ANYWAY | TO(RD_QPS_SQD) | TO(RD_QPS_RTS),
	[RD_QPS_ERR] = TO_ANYWAY,
};

/* ud_flush completes all that is posted as flushed. */
static void ud_flush(struct mh_ud *ud)
{
	struct mh_qp *qp = ud->qp;

	while (ud->sent < qp->send.posted)
		mh_ud_complete_send(ud, RD_WC_WR_FLUSH_ERR);
	while (qp->recv.reported < qp->recv.posted) {
		uint64_t at = qp->recv.reported % qp->init.cap.max_recv_wr;
		struct mh_cqe cqe = {.qp = qp, .wr = ++qp->recv.reported};

		cqe.wc = (struct mh_wc){
			.wr_id = ud->recv[at].wr_id,
			.status = RD_WC_WR_FLUSH_ERR,
			.opcode = RD_WC_RECV,
			.qpn = qp->number,
			.qp_owner = qp->init.owner,
		};
		mh_completion_push(qp->dev->nic, qp->init.recv_cq, &cqe);
	}
}

static void ud_change_state(struct mh_ud *ud, enum rd_qp_state to)
{
	struct mh_nic *nic = ud->qp->dev->nic;

	ud->state = to;
	mb_link_remove(&ud->sender);
	if (to == RD_QPS_ERR) {
		ud_flush(ud);
		if (ud->qp->init.srq)
			mh_qp_raise_last_wqe(ud->qp);
	} else if (to == RD_QPS_RESET) {
		ud->q_key = ud->sq_psn = 0;
		ud->p_key = MW_P_KEY_DEFAULT;
		ud->sent = ud->qp->send.posted;
	} else if (to == RD_QPS_RTS && ud->sent < ud->qp->send.posted) {
		mb_list_push(&nic->ud_senders, &ud->sender);
	}
}

void mh_ud_to_err(struct mh_ud *ud)
{
	if (ud->state != RD_QPS_RESET && ud->state != RD_QPS_ERR)
		ud_change_state(ud, RD_QPS_ERR);
}

int mh_ud_modify(struct mh_ud *ud, const struct rd_qp_attr *attr, uint32_t mask)
{
	if (mask & ~MH_QP_UD_ALL)
		return EINVAL;
	if ((mask & RD_QP_STATE) && !(moves[ud->state] & TO(attr->state)))
		return EINVAL;
	if ((mask & RD_QP_SQ_PSN) && attr->sq_psn > PSN_MASK)
		return EINVAL;
	if (mask & RD_QP_Q_KEY)
		ud->q_key = attr->q_key;
	if (mask & RD_QP_P_KEY)
		ud->p_key = attr->p_key;
	if (mask & RD_QP_SQ_PSN)
		ud->sq_psn = attr->sq_psn;
	if ((mask & RD_QP_STATE) && attr->state != ud->state)
		ud_change_state(ud, attr->state);
	return 0;
}

void mh_ud_query(const struct mh_ud *ud, struct rd_qp_attr *attr)
{
	mt_qp_attr_default(attr);
	attr->state = ud->state;
	attr->q_key = ud->q_key;
	attr->p_key = ud->p_key;
	attr->sq_psn = ud->sq_psn;
}

/* ---- posting ---- */

static bool ud_is_queue_full(const struct mh_wr_count *count, uint32_t depth)
{
	return count->posted - atomic_load_explicit(&count->polled, memory_order_relaxed) >= depth;
}

static bool ud_is_send_valid(const struct mh_ud *ud, const struct rd_send_wr *wr)
{
	const struct mh_addr_map *map = &ud->qp->dev->nic->ports.map;

	if (ud->state != RD_QPS_RTS && ud->state != RD_QPS_SQD && ud->state != RD_QPS_ERR)
		return false;
	if (wr->opcode != RD_WR_SEND || (wr->flags & ~UD_FLAGS_ALL) ||
	    wr->n_sge > ud->qp->init.cap.max_send_sge)
		return false;
	return wr->ud.ah && wr->ud.qpn <= MW_QPN_MAX &&
	       mh_addr_is_reachable(map, wr->ud.ah->dest.b);
}

/* ud_gather copies the SGEs that are not empty and returns how many; *bytes: how much they name. */
static uint32_t ud_gather(const struct rd_sge *from, uint32_t n, struct rd_sge *to, uint64_t *bytes)
{
	uint32_t all = 0;

	*bytes = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (from[i].length == 0)
			continue;
		to[all++] = (struct rd_sge){from[i].addr, from[i].length, from[i].lkey};
		*bytes += from[i].length;
	}
	return all;
}

/* ud_inline copies the bytes of an inline WR and returns the one SGE that names the copy in
 * *sge. */
static int ud_inline(const struct mh_qp *qp, uint64_t at, const struct rd_send_wr *wr,
		     struct rd_sge *sge, uint64_t *bytes)
{
	uint8_t *to = qp->inline_bytes + at * qp->init.cap.max_inline;

	*bytes = 0;
	for (uint32_t i = 0; i < wr->n_sge; i++)
		*bytes += wr->sge[i].length;
	if (*bytes > qp->init.cap.max_inline)
		return EINVAL;
	*sge = (struct rd_sge){(uintptr_t)to, (uint32_t)*bytes, MT_LKEY_ADAPTER};
	for (uint32_t i = 0; i < wr->n_sge; i++) {
		if (wr->sge[i].length > 0)
			memcpy(to, (const void *)(uintptr_t)wr->sge[i].addr, wr->sge[i].length);
		to += wr->sge[i].length;
	}
	return 0;
}

int mh_ud_post_send(struct mh_ud *ud, const struct rd_send_wr *wr)
{
	struct mh_qp *qp = ud->qp;
	uint64_t at = qp->send.posted % qp->init.cap.max_send_wr;
	struct rd_sge *sge = ud->send_sge + at * qp->init.cap.max_send_sge;
	struct mh_ud_send *send = &ud->send[at];
	uint64_t bytes;
	uint32_t n_sge;

	if (!ud_is_send_valid(ud, wr))
		return EINVAL;
	if (ud_is_queue_full(&qp->send, qp->init.cap.max_send_wr))
		return ENOMEM;
	if (!(wr->flags & RD_SEND_INLINE))
		n_sge = ud_gather(wr->sge, wr->n_sge, sge, &bytes);
	else if (ud_inline(qp, at, wr, sge, &bytes))
		return EINVAL;
	else
		n_sge = bytes > 0;
	*send = (struct mh_ud_send){
		.wr_id = wr->wr_id,
		.dest = wr->ud.ah->dest,
		.qpn = wr->ud.qpn,
		.q_key = wr->ud.q_key & MW_Q_KEY_CONTROLLED ? ud->q_key : wr->ud.q_key,
		.imm = wr->imm,
		.bytes = bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes,
		.flags = wr->flags,
		.n_sge = n_sge,
		.traffic_class = wr->ud.ah->traffic_class,
	};
	qp->send.posted++;
	if (ud->state == RD_QPS_ERR)
		mh_ud_complete_send(ud, RD_WC_WR_FLUSH_ERR);
	else if (ud->state == RD_QPS_RTS)
		mb_list_push(&qp->dev->nic->ud_senders, &ud->sender);
	return 0;
}

int mh_ud_post_recv(struct mh_ud *ud, const struct rd_recv_wr *wr)
{
	struct mh_qp *qp = ud->qp;
	const struct mh_qp_cap *cap = &qp->init.cap;
	uint64_t at, bytes;

	if (ud->qp->init.srq || ud->state == RD_QPS_RESET || wr->n_sge > cap->max_recv_sge)
		return EINVAL;
	if (ud_is_queue_full(&qp->recv, cap->max_recv_wr))
		return ENOMEM;
	at = qp->recv.posted % cap->max_recv_wr;
	ud->recv[at] = (struct mh_ud_recv){
		.wr_id = wr->wr_id,
		.n_sge = ud_gather(wr->sge, wr->n_sge, ud->recv_sge + at * cap->max_recv_sge,
				   &bytes),
	};
	qp->recv.posted++;
	if (ud->state == RD_QPS_ERR)
		ud_flush(ud);
	return 0;
}
