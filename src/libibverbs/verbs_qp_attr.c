/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_qp_attr.c - attributes of a QP: see libibverbs.h.
 *
 * Times and counts mean to MRC what is nearest to what they mean to verbs. A timeout of 4.096 us x
 * 2^t is MRC's 1.024 us x 2^(t + 2); retry_cnt is MRC's number of timeouts of equal length, and
 * none of growing length follow, so that a dead peer is found as soon as the program asked for.
 * Without a timeout (t = 0) MRC retries for ever.
 */
#include "libibverbs/libibverbs.h"

#include <string.h>

#define TIMEOUT_MAX 31u
#define RETRY_MAX 7u
/* How long the first wait is when there is no timeout, 1.024 us x 2^14: 17 ms. */
#define MRC_TIMEOUT_USUAL 14u
/* What a QP may let its peer do. It binds windows, whether a program says so or not. */
#define ACCESS_KNOWN                                                       \
	((unsigned int)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
			IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND))

/* ---- moves ---- */

struct transition {
	enum ibv_qp_state from, to;
	int required, optional;
};

static const struct transition rc_transitions[] = {
	{IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0},
	{IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS},
	{IBV_QPS_INIT, IBV_QPS_RTR,
	 IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
		 IBV_QP_MIN_RNR_TIMER,
	 IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
	{IBV_QPS_RTR, IBV_QPS_RTS,
	 IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
		 IBV_QP_MAX_QP_RD_ATOMIC,
	 IBV_QP_CUR_STATE | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER |
		 IBV_QP_PATH_MIG_STATE},
	{IBV_QPS_RTS, IBV_QPS_RTS, 0,
	 IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE |
		 IBV_QP_MIN_RNR_TIMER},
	{IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
	{IBV_QPS_SQD, IBV_QPS_RTS, 0,
	 IBV_QP_CUR_STATE | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER |
		 IBV_QP_PATH_MIG_STATE},
	/* IBTA has timeout and retry_cnt here as well; those of an MRC QP stay once it sends. */
	{IBV_QPS_SQD, IBV_QPS_SQD, 0,
	 IBV_QP_PORT | IBV_QP_AV | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC |
		 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS |
		 IBV_QP_PKEY_INDEX | IBV_QP_MIN_RNR_TIMER | IBV_QP_PATH_MIG_STATE},
};

/* REQ(ud.states) */
static const struct transition ud_transitions[] = {
	{IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY, 0},
	{IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY},
	{IBV_QPS_INIT, IBV_QPS_RTR, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY},
	{IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, IBV_QP_CUR_STATE | IBV_QP_QKEY},
	{IBV_QPS_RTS, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY},
	{IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
	{IBV_QPS_SQD, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY},
	{IBV_QPS_SQD, IBV_QPS_SQD, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY},
};

#define TRANSITIONS(table) table, sizeof(table) / sizeof((table)[0])

static int find_transition(const struct transition *moves, size_t n, enum ibv_qp_state from,
			   enum ibv_qp_state to, int attrs)
{
	for (size_t i = 0; i < n; i++) {
		const struct transition *m = &moves[i];

		if (m->from == from && m->to == to)
			return (attrs & m->required) == m->required &&
					       !(attrs & ~(m->required | m->optional))
				       ? 0
				       : EINVAL;
	}
	return EINVAL;
}

int mv_qp_check_transition(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to,
			   int attr_mask)
{
	int rest = attr_mask & ~IBV_QP_STATE;

	/* From anywhere, and with nothing said. */
	if (to == IBV_QPS_RESET || to == IBV_QPS_ERR)
		return rest & ~IBV_QP_CUR_STATE ? EINVAL : 0;
	return type == IBV_QPT_UD ? find_transition(TRANSITIONS(ud_transitions), from, to, rest)
				  : find_transition(TRANSITIONS(rc_transitions), from, to, rest);
}

/* ---- values ---- */

static int access_to_nic(unsigned int access, uint32_t *out)
{
	if (access & ~ACCESS_KNOWN)
		return EINVAL;
	*out = access & RD_QP_ACCESS_ALL;
	/* A peer's WRITE needs no right of ours but this; the NIC's flag wants both. */
	if (access & IBV_ACCESS_REMOTE_WRITE)
		*out |= RD_ACCESS_LOCAL_WRITE;
	return 0;
}

/* A QP uses all planes, so of the address only the GIDs count. REQ(svc.all-planes) */
static int address_to_nic(const struct ibv_qp_attr *attr, struct rd_qp_attr *nic)
{
	const struct ibv_ah_attr *ah = &attr->ah_attr;

	if (!ah->is_global || ah->grh.sgid_index != 0 || attr->dest_qp_num > RD_BITS_24)
		return EINVAL;
	if (ah->port_num != MV_PORT)
		return EINVAL;
	memcpy(nic->dest.b, ah->grh.dgid.raw, sizeof(nic->dest.b));
	nic->dest_qpn = attr->dest_qp_num;
	return 0;
}

static int path_to_nic(const struct ibv_qp_attr *attr, int mask, struct rd_qp_attr *nic,
		       uint32_t *out)
{
	/* In SQD the address alone is no news: the peer stays who it is. */
	if (mask & IBV_QP_DEST_QPN) {
		if (address_to_nic(attr, nic))
			return EINVAL;
		*out |= RD_QP_DEST;
	}
	if (mask & IBV_QP_PATH_MTU) {
		if (attr->path_mtu < IBV_MTU_256 || attr->path_mtu > IBV_MTU_4096)
			return EINVAL;
		nic->path_mtu = 128u << attr->path_mtu;
		*out |= RD_QP_PATH_MTU;
	}
	if (mask & IBV_QP_RQ_PSN) {
		nic->rq_psn = attr->rq_psn & RD_BITS_24;
		*out |= RD_QP_RQ_PSN;
	}
	if (mask & IBV_QP_SQ_PSN) {
		nic->sq_psn = attr->sq_psn & RD_BITS_24;
		*out |= RD_QP_SQ_PSN;
	}
	return 0;
}

static int timeout_retry_to_nic(const struct ibv_qp_attr *attr, int mask, struct rd_qp_attr *nic,
				uint32_t *out)
{
	bool for_ever = (mask & IBV_QP_TIMEOUT) && attr->timeout == 0;

	if ((mask & IBV_QP_TIMEOUT) && attr->timeout > TIMEOUT_MAX)
		return EINVAL;
	if ((mask & IBV_QP_RETRY_CNT) && attr->retry_cnt > RETRY_MAX)
		return EINVAL;
	if ((mask & IBV_QP_RNR_RETRY) && attr->rnr_retry > RETRY_MAX)
		return EINVAL;
	if ((mask & IBV_QP_MIN_RNR_TIMER) && attr->min_rnr_timer > RD_RNR_TIMER_MAX)
		return EINVAL;
	if (mask & IBV_QP_TIMEOUT) {
		nic->timeout = for_ever				     ? MRC_TIMEOUT_USUAL
			       : attr->timeout + 2u < RD_TIMEOUT_MAX ? (uint8_t)(attr->timeout + 2u)
								     : RD_TIMEOUT_MAX;
		*out |= RD_QP_TIMEOUT;
	}
	if (mask & IBV_QP_RNR_RETRY) {
		nic->rnr_retry = attr->rnr_retry;
		*out |= RD_QP_RNR_RETRY;
	}
	if (mask & IBV_QP_MIN_RNR_TIMER) {
		nic->min_rnr_timer = attr->min_rnr_timer;
		*out |= RD_QP_MIN_RNR_TIMER;
	}
	if (mask & IBV_QP_RETRY_CNT) {
		nic->retry_linear = attr->retry_cnt;
		nic->retry_exp = for_ever ? RD_RETRY_EXP_FOREVER : 0;
		*out |= RD_QP_RETRY;
	}
	return 0;
}

int mv_qp_attr_to_nic(const struct ibv_qp_attr *attr, int attr_mask, struct rd_qp_attr *nic,
		      uint32_t *mask)
{
	if ((attr_mask & IBV_QP_PKEY_INDEX) && attr->pkey_index != 0)
		return EINVAL;
	if ((attr_mask & IBV_QP_PORT) && attr->port_num != MV_PORT)
		return EINVAL;
	if (attr_mask & IBV_QP_STATE) {
		if (iv_state_to_nic(attr->qp_state, &nic->state))
			return EINVAL;
		*mask |= RD_QP_STATE;
	}
	if (attr_mask & IBV_QP_ACCESS_FLAGS) {
		if (access_to_nic(attr->qp_access_flags, &nic->access))
			return EINVAL;
		*mask |= RD_QP_ACCESS;
	}
	if (attr_mask & IBV_QP_QKEY) {
		nic->q_key = attr->qkey;
		*mask |= RD_QP_Q_KEY;
	}
	if (attr_mask & IBV_QP_EN_SQD_ASYNC_NOTIFY) {
		nic->sqd_notify = attr->en_sqd_async_notify;
		*mask |= RD_QP_SQD_NOTIFY;
	}
	if (attr_mask & IBV_QP_MAX_QP_RD_ATOMIC) {
		nic->max_rd_atomic = attr->max_rd_atomic;
		*mask |= RD_QP_MAX_RD_ATOMIC;
	}
	if (attr_mask & IBV_QP_MAX_DEST_RD_ATOMIC) {
		nic->max_dest_rd_atomic = attr->max_dest_rd_atomic;
		*mask |= RD_QP_MAX_DEST_RD_ATOMIC;
	}
	if (path_to_nic(attr, attr_mask, nic, mask))
		return EINVAL;
	return timeout_retry_to_nic(attr, attr_mask, nic, mask);
}

void mv_qp_attr_keep(struct ibv_qp_attr *kept, const struct ibv_qp_attr *attr, int attr_mask)
{
	if (attr_mask & IBV_QP_ACCESS_FLAGS)
		kept->qp_access_flags = attr->qp_access_flags;
	if (attr_mask & IBV_QP_AV)
		kept->ah_attr = attr->ah_attr;
	if (attr_mask & IBV_QP_PATH_MTU)
		kept->path_mtu = attr->path_mtu;
	if (attr_mask & IBV_QP_PORT)
		kept->port_num = attr->port_num;
	if (attr_mask & IBV_QP_TIMEOUT)
		kept->timeout = attr->timeout;
	if (attr_mask & IBV_QP_RETRY_CNT)
		kept->retry_cnt = attr->retry_cnt;
	if (attr_mask & IBV_QP_RNR_RETRY)
		kept->rnr_retry = attr->rnr_retry;
	if (attr_mask & IBV_QP_MIN_RNR_TIMER)
		kept->min_rnr_timer = attr->min_rnr_timer;
	if (attr_mask & IBV_QP_MAX_QP_RD_ATOMIC)
		kept->max_rd_atomic = attr->max_rd_atomic;
	if (attr_mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		kept->max_dest_rd_atomic = attr->max_dest_rd_atomic;
}
