/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrc_qp_attr.c - QP attributes between the two attribute structures of the API and the one of the
 * NIC. Ranges that the NIC checks as well are not checked twice, except where a value would not
 * fit.
 */
#include "libmrc/libmrc.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* Classic attributes that MRC replaces or has not: accepted, no effect.
 * REQ(api.qp.modify.refused) */
#define VATTR_IGNORED                                                                 \
	(IBV_QP_PORT | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |         \
	 IBV_QP_MIN_RNR_TIMER | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC | \
	 IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE)
#define VATTR_USED                                                                               \
	(IBV_QP_STATE | IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_AV | \
	 IBV_QP_PATH_MTU | IBV_QP_RQ_PSN | IBV_QP_SQ_PSN | IBV_QP_DEST_QPN |                     \
	 IBV_QP_EN_SQD_ASYNC_NOTIFY)

const int ma_vattr_known = VATTR_USED | VATTR_IGNORED;
const int ma_mrc_attr_known = MRC_QP_MAX_WIMM | MRC_QP_MAX_WIMM_DEST | MRC_QP_MPR |
			      MRC_QP_MPR_DEST | MRC_QP_TIMEOUT | MRC_QP_EV_PROFILE_ID |
			      MRC_QP_CC_PROFILE_ID | MRC_QP_HINT | MRC_QP_RETRY_CNT | MRC_QP_CAP |
			      MRC_QP_VENDOR_CFG;

/* What a QP may let its peer do; READ and atomics never happen, so allowing them means nothing. */
#define ACCESS_KNOWN                                                                 \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
	 IBV_ACCESS_REMOTE_ATOMIC)
#define ACCESS_USED ((uint32_t)RD_ACCESS_LOCAL_WRITE | RD_ACCESS_REMOTE_WRITE)

static int access_to_nic(unsigned int access, uint32_t *out)
{
	if (access & ~(unsigned int)ACCESS_KNOWN)
		return EINVAL;
	*out = access & ACCESS_USED;
	return 0;
}

static int path_to_nic(const struct ibv_qp_attr *vattr, int mask, struct rd_qp_attr *attr,
		       uint32_t *out)
{
	if (mask & (IBV_QP_AV | IBV_QP_DEST_QPN)) {
		if (!(mask & IBV_QP_AV) || !(mask & IBV_QP_DEST_QPN) ||
		    iv_dest_to_nic(&vattr->ah_attr, vattr->dest_qp_num, attr))
			return EINVAL;
		*out |= RD_QP_DEST;
	}
	if (mask & IBV_QP_PATH_MTU) {
		if (iv_mtu_to_nic(vattr->path_mtu, &attr->path_mtu))
			return EINVAL;
		*out |= RD_QP_PATH_MTU;
	}
	return 0;
}

static int psns_to_nic(const struct ibv_qp_attr *vattr, int mask, struct rd_qp_attr *attr,
		       uint32_t *out)
{
	if (mask & IBV_QP_RQ_PSN) {
		if (vattr->rq_psn > RD_BITS_24)
			return EINVAL;
		attr->rq_psn = vattr->rq_psn;
		*out |= RD_QP_RQ_PSN;
	}
	if (mask & IBV_QP_SQ_PSN) {
		if (vattr->sq_psn > RD_BITS_24)
			return EINVAL;
		attr->sq_psn = vattr->sq_psn;
		*out |= RD_QP_SQ_PSN;
	}
	return 0;
}

/* REQ(api.qp.modify.refused) A program that counts on one of them should hear of it, once. */
static void warn_ignored_attrs(int mask)
{
	static const struct {
		int bit;
		const char *name, *instead;
	} ignored[] = {
		{IBV_QP_PORT, "IBV_QP_PORT", "it uses every port"},
		{IBV_QP_TIMEOUT, "IBV_QP_TIMEOUT", "see MRC_QP_TIMEOUT"},
		{IBV_QP_RETRY_CNT, "IBV_QP_RETRY_CNT", "see MRC_QP_RETRY_CNT"},
		{IBV_QP_RNR_RETRY, "IBV_QP_RNR_RETRY", "it has no RNR"},
		{IBV_QP_MIN_RNR_TIMER, "IBV_QP_MIN_RNR_TIMER", "it has no RNR"},
		{IBV_QP_MAX_QP_RD_ATOMIC, "IBV_QP_MAX_QP_RD_ATOMIC", "it does not read"},
		{IBV_QP_MAX_DEST_RD_ATOMIC, "IBV_QP_MAX_DEST_RD_ATOMIC", "it does not read"},
		{IBV_QP_ALT_PATH, "IBV_QP_ALT_PATH", "it uses many paths at once"},
		{IBV_QP_PATH_MIG_STATE, "IBV_QP_PATH_MIG_STATE", "it uses many paths at once"},
	};
	static atomic_int named;
	int news = mask & VATTR_IGNORED & ~atomic_fetch_or(&named, mask & VATTR_IGNORED);

	for (size_t i = 0; news && i < sizeof(ignored) / sizeof(ignored[0]); i++)
		if (news & ignored[i].bit)
			mh_log(MRC_LOG_WARNING, "%s has no effect on an MRC QP: %s",
			       ignored[i].name, ignored[i].instead);
}

int ma_vattr_to_nic(const struct ibv_qp_attr *vattr, int vattr_mask, struct rd_qp_attr *attr,
		    uint32_t *mask)
{
	if (vattr_mask & ~ma_vattr_known)
		return EINVAL;
	warn_ignored_attrs(vattr_mask);
	if ((vattr_mask & IBV_QP_PKEY_INDEX) && vattr->pkey_index != 0)
		return EINVAL;
	if (vattr_mask & IBV_QP_STATE) {
		if (iv_state_to_nic(vattr->qp_state, &attr->state))
			return EINVAL;
		*mask |= RD_QP_STATE;
	}
	if (vattr_mask & IBV_QP_ACCESS_FLAGS) {
		if (access_to_nic(vattr->qp_access_flags, &attr->access))
			return EINVAL;
		*mask |= RD_QP_ACCESS;
	}
	if (vattr_mask & IBV_QP_EN_SQD_ASYNC_NOTIFY) {
		attr->sqd_notify = vattr->en_sqd_async_notify;
		*mask |= RD_QP_SQD_NOTIFY;
	}
	if (path_to_nic(vattr, vattr_mask, attr, mask))
		return EINVAL;
	return psns_to_nic(vattr, vattr_mask, attr, mask);
}

/* REQ(api.qp.modify.rtr) REQ(api.qp.modify.rts) */
static void limits_to_nic(const struct mrc_qp_attr *mrc, int mask, struct rd_qp_attr *attr,
			  uint32_t *out)
{
#define LIMIT(bit, group, field)                \
	if (mask & MRC_QP_##bit) {              \
		attr->field = mrc->group.field; \
		*out |= RD_QP_##bit;            \
	}
	LIMIT(MPR, mpr, mpr)
	LIMIT(MPR_DEST, mpr, mpr_dest)
	LIMIT(MAX_WIMM, wimm, max_wimm)
	LIMIT(MAX_WIMM_DEST, wimm, max_wimm_dest)
#undef LIMIT
}

/* REQ(api.qp.ranges) */
static int timers_to_nic(const struct mrc_qp_attr *mrc, int mask, struct rd_qp_attr *attr,
			 uint32_t *out)
{
	if (mask & MRC_QP_TIMEOUT) {
		if (mrc->timeout > RD_TIMEOUT_MAX)
			return EINVAL;
		attr->timeout = mrc->timeout;
		*out |= RD_QP_TIMEOUT;
	}
	if (mask & MRC_QP_RETRY_CNT) {
		if (mrc->retry.linear_cnt > RD_RETRY_LINEAR_MAX ||
		    mrc->retry.exp_cnt > RD_RETRY_EXP_FOREVER)
			return EINVAL;
		attr->retry_linear = mrc->retry.linear_cnt;
		attr->retry_exp = mrc->retry.exp_cnt;
		*out |= RD_QP_RETRY;
	}
	return 0;
}

/*
 * Profile ids are 64 bits in the API and 32 in the NIC.
 * REQ(api.qp.modify.init) REQ(api.profile-ids)
 */
static int profiles_to_nic(const struct mrc_qp_attr *mrc, int mask, struct rd_qp_attr *attr,
			   uint32_t *out)
{
	if (mask & MRC_QP_EV_PROFILE_ID) {
		if (mrc->profile.ev_profile_id > UINT32_MAX)
			return EINVAL;
		attr->ev_profile = (uint32_t)mrc->profile.ev_profile_id;
		*out |= RD_QP_EV_PROFILE;
	}
	if (mask & MRC_QP_CC_PROFILE_ID) {
		if (mrc->profile.cc_profile_id > UINT32_MAX)
			return EINVAL;
		attr->cc_profile = (uint32_t)mrc->profile.cc_profile_id;
		*out |= RD_QP_CC_PROFILE;
	}
	return 0;
}

#define CAP_KNOWN                                                         \
	(MRC_QP_CAP_TRIM_NACK_DEST_UNSUPPORTED | MRC_QP_CAP_DYNAMIC_MPR | \
	 MRC_QP_CAP_SVC_TIME_DEST_UNSUPPORTED)

int ma_mrc_attr_to_nic(const struct mrc_qp_attr *mrc_attr, int mrc_attr_mask,
		       struct rd_qp_attr *attr, uint32_t *mask)
{
	if (mrc_attr_mask & ~ma_mrc_attr_known)
		return EINVAL;
	limits_to_nic(mrc_attr, mrc_attr_mask, attr, mask);
	if (timers_to_nic(mrc_attr, mrc_attr_mask, attr, mask))
		return EINVAL;
	if (mrc_attr_mask & MRC_QP_CAP) {
		if (mrc_attr->cap & ~(uint32_t)CAP_KNOWN)
			return EINVAL;
		attr->trim_nack_dest = !(mrc_attr->cap & MRC_QP_CAP_TRIM_NACK_DEST_UNSUPPORTED);
		attr->dynamic_mpr = mrc_attr->cap & MRC_QP_CAP_DYNAMIC_MPR;
		attr->svc_time_dest = !(mrc_attr->cap & MRC_QP_CAP_SVC_TIME_DEST_UNSUPPORTED);
		*mask |= RD_QP_TRIM_NACK_DEST | RD_QP_DYNAMIC_MPR | RD_QP_SVC_TIME_DEST;
	}
	return profiles_to_nic(mrc_attr, mrc_attr_mask, attr, mask);
}

static uint32_t cap_from_nic(const struct rd_qp_attr *attr)
{
	uint32_t cap = 0;

	if (!attr->trim_nack_dest)
		cap |= MRC_QP_CAP_TRIM_NACK_DEST_UNSUPPORTED;
	if (attr->dynamic_mpr)
		cap |= MRC_QP_CAP_DYNAMIC_MPR;
	if (!attr->svc_time_dest)
		cap |= MRC_QP_CAP_SVC_TIME_DEST_UNSUPPORTED;
	return cap;
}

/* REQ(api.qp.query) */
void ma_vattr_from_nic(const struct rd_qp_attr *attr, struct ibv_qp_attr *vattr)
{
	*vattr = (struct ibv_qp_attr){
		.qp_state = iv_state_from_nic(attr->state),
		.cur_qp_state = iv_state_from_nic(attr->state),
		.path_mtu = iv_mtu_from_nic(attr->path_mtu),
		.rq_psn = attr->rq_psn,
		.sq_psn = attr->sq_psn,
		.dest_qp_num = attr->dest_qpn,
		.qp_access_flags = attr->access & ACCESS_USED,
		.sq_draining = attr->draining,
		.ah_attr = {.is_global = 1, .port_num = 1},
		.port_num = 1,
	};
	memcpy(vattr->ah_attr.grh.dgid.raw, attr->dest.b, sizeof(attr->dest.b));
}

void ma_mrc_attr_from_nic(const struct rd_qp_attr *attr, struct mrc_qp_attr *mrc_attr)
{
	*mrc_attr = (struct mrc_qp_attr){
		.mpr = {.mpr = attr->mpr, .mpr_dest = attr->mpr_dest},
		.wimm = {.max_wimm = attr->max_wimm, .max_wimm_dest = attr->max_wimm_dest},
		.timeout = attr->timeout,
		.profile = {.ev_profile_id = attr->ev_profile, .cc_profile_id = attr->cc_profile},
		.retry = {.linear_cnt = attr->retry_linear, .exp_cnt = attr->retry_exp},
		.cap = cap_from_nic(attr),
	};
}
