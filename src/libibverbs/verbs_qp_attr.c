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

/* REQ(uc.states) */
static const struct transition uc_transitions[] = {
	{IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0},
	{IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS},
	{IBV_QPS_INIT, IBV_QPS_RTR, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
	 IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
	{IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN,
	 IBV_QP_CUR_STATE | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PATH_MIG_STATE},
	{IBV_QPS_RTS, IBV_QPS_RTS, 0,
	 IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE},
	{IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
	{IBV_QPS_SQD, IBV_QPS_RTS, 0,
	 IBV_QP_CUR_STATE | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PATH_MIG_STATE},
	{IBV_QPS_SQD, IBV_QPS_SQD, 0,
	 IBV_QP_AV | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX |
		 IBV_QP_PATH_MIG_STATE},
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
	if (type == IBV_QPT_UD)
		return find_transition(TRANSITIONS(ud_transitions), from, to, rest);
	if (type == IBV_QPT_UC)
		return find_transition(TRANSITIONS(uc_transitions), from, to, rest);
	return find_transition(TRANSITIONS(rc_transitions), from, to, rest);
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

static int path_to_nic(const struct ibv_qp_attr *attr, int mask, struct rd_qp_attr *nic,
		       uint32_t *out)
{
	/* In SQD the address alone is no news: the peer stays who it is. */
	if (mask & IBV_QP_DEST_QPN) {
		if (attr->ah_attr.port_num != MV_PORT ||
		    iv_dest_to_nic(&attr->ah_attr, attr->dest_qp_num, nic))
			return EINVAL;
		*out |= RD_QP_DEST;
	}
	if (mask & IBV_QP_PATH_MTU) {
		if (iv_mtu_to_nic(attr->path_mtu, &nic->path_mtu))
			return EINVAL;
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
	if (mask & IBV_QP_RETRY_CNT) {
		nic->retry_linear = attr->retry_cnt;
		nic->retry_exp = for_ever ? RD_RETRY_EXP_FOREVER : 0;
		*out |= RD_QP_RETRY;
	}
	return 0;
}

/* Those that mean the same to both: bit and field of verbs, bit and field of the NIC. */
#define COPIED(X)                                                                        \
	X(IBV_QP_QKEY, qkey, RD_QP_Q_KEY, q_key)                                         \
	X(IBV_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify, RD_QP_SQD_NOTIFY, sqd_notify) \
	X(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic, RD_QP_MAX_RD_ATOMIC, max_rd_atomic)    \
	X(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic, RD_QP_MAX_DEST_RD_ATOMIC,       \
	  max_dest_rd_atomic)                                                            \
	X(IBV_QP_RNR_RETRY, rnr_retry, RD_QP_RNR_RETRY, rnr_retry)                       \
	X(IBV_QP_MIN_RNR_TIMER, min_rnr_timer, RD_QP_MIN_RNR_TIMER, min_rnr_timer)
#define COPY(bit, field, nic_bit, nic_field)  \
	if (attr_mask & (bit)) {              \
		nic->nic_field = attr->field; \
		*mask |= (nic_bit);           \
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
	COPIED(COPY)
	if (path_to_nic(attr, attr_mask, nic, mask))
		return EINVAL;
	return timeout_retry_to_nic(attr, attr_mask, nic, mask);
}

#define KEPT(X)                                   \
	X(IBV_QP_ACCESS_FLAGS, qp_access_flags)   \
	X(IBV_QP_AV, ah_attr)                     \
	X(IBV_QP_PATH_MTU, path_mtu)              \
	X(IBV_QP_PORT, port_num)                  \
	X(IBV_QP_TIMEOUT, timeout)                \
	X(IBV_QP_RETRY_CNT, retry_cnt)            \
	X(IBV_QP_RNR_RETRY, rnr_retry)            \
	X(IBV_QP_MIN_RNR_TIMER, min_rnr_timer)    \
	X(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic) \
	X(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic)
#define KEEP(bit, field)       \
	if (attr_mask & (bit)) \
		kept->field = attr->field;

void mv_qp_attr_keep(struct ibv_qp_attr *kept, const struct ibv_qp_attr *attr, int attr_mask)
{
	KEPT(KEEP)
}
