/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc_qp.c - queue pairs: create, destroy, query, modify, number. */
#include "libmrc/libmrc.h"

#include <stdlib.h>
#include <string.h>

#define OPS_ALL ((uint64_t)(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM))

static bool init_valid(const struct mrc_context *ctx, const struct mrc_qp_init_attr *init)
{
	if (!init->send_cq || !init->recv_cq || !init->pd)
		return false;
	if (init->send_cq->ctx != ctx || init->recv_cq->ctx != ctx)
		return false;
	if (init->send_ops_flags & ~OPS_ALL)
		return false;
	/* REQ(api.protocol-version) Compared as a number: a program may pass any bits. */
	return (uint32_t)init->protocol_version <= MRC_PROTOCOL_VERSION_1;
}

/*
 * What an MRC QP has otherwise than the NIC's in RESET: without
 * MRC_QP_CAP_SVC_TIME_DEST_UNSUPPORTED the peer may tell service times. Nothing refuses that there.
 * REQ(rsp.svc-time)
 */
static void set_defaults(const struct mrc_qp *qp)
{
	const struct rd_qp_attr attr = {.svc_time_dest = true};

	(void)mh_qp_modify(qp->nic, &attr, RD_QP_SVC_TIME_DEST);
}

/* REQ(api.qp.create) The NIC checks the capabilities. */
static int nic_create(struct mrc_qp *qp)
{
	struct mh_qp_init nic = {
		.pd = mh_pd_find(qp->init.pd),
		.send_cq = qp->init.send_cq->nic,
		.recv_cq = qp->init.recv_cq->nic,
		.cap = iv_cap_to_nic(&qp->init.cap),
		.signal_all = qp->init.sq_sig_all != 0,
		.owner = qp,
	};

	if (!nic.pd || qp->init.pd->context != qp->ctx->verbs)
		return EINVAL;
	return mh_qp_create(&nic, &qp->nic);
}

struct mrc_qp *mrc_create_qp(struct mrc_context *mrc_ctx, struct mrc_qp_init_attr *mrc_qp_attr)
{
	struct mrc_qp *qp;
	int err;

	if (!mrc_ctx || !mrc_qp_attr || !init_valid(mrc_ctx, mrc_qp_attr))
		return iv_null(EINVAL);
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return iv_null(ENOMEM);
	qp->ctx = mrc_ctx;
	qp->init = *mrc_qp_attr;
	if (!qp->init.send_ops_flags)
		qp->init.send_ops_flags = OPS_ALL;
	if (qp->init.protocol_version == MRC_PROTOCOL_VERSION_0)
		qp->init.protocol_version = MRC_PROTOCOL_VERSION_1;
	err = nic_create(qp);
	if (err)
		return iv_drop(qp, err);
	set_defaults(qp);
	mrc_qp_attr->cap = qp->init.cap = iv_cap_granted(qp->nic);
	return qp;
}

/* Under ctx->lock. A hint counts the QPs that name it. */
static void hint_replace(struct mrc_qp *qp, struct mrc_qp_hint *hint)
{
	if (qp->hint)
		qp->hint->users--;
	qp->hint = hint;
	if (hint)
		hint->users++;
}

int mrc_destroy_qp(struct mrc_qp *qp)
{
	int err;

	if (!qp)
		return ma_errno(EINVAL);
	err = mh_qp_destroy(qp->nic);
	if (!err)
		err = ma_context_lock(qp->ctx);
	if (err)
		return ma_errno(err);
	hint_replace(qp, NULL);
	ma_context_unlock(qp->ctx);
	free(qp);
	return 0;
}

int mrc_get_qpn(struct mrc_qp *qp, uint32_t *qpn)
{
	if (!qp || !qpn)
		return iv_minus_one(EINVAL);
	*qpn = mh_qp_number(qp->nic);
	return 0;
}

/* What the NIC knows is there, and nothing of these, which stays so in a child of fork. */
static void query_api_attr(struct mrc_qp *qp, struct mrc_qp_attr *mrc_attr)
{
	if (ma_context_lock(qp->ctx))
		return;
	mrc_attr->qp_hint = qp->hint;
	memcpy(mrc_attr->vendor_cfg, qp->vendor_cfg, sizeof(qp->vendor_cfg));
	ma_context_unlock(qp->ctx);
}

/* REQ(api.qp.query) */
int mrc_query_qp(struct mrc_qp *qp, struct ibv_qp_attr *vattr, int vattr_mask,
		 struct mrc_qp_attr *mrc_attr, int mrc_attr_mask,
		 struct mrc_qp_init_attr *init_attr)
{
	struct rd_qp_attr nic;

	if (!qp || (vattr_mask && !vattr) || (mrc_attr_mask && !mrc_attr))
		return ma_errno(EINVAL);
	if ((vattr_mask & ~(ma_vattr_known | IBV_QP_CAP)) || (mrc_attr_mask & ~ma_mrc_attr_known))
		return ma_errno(EINVAL);
	(void)mh_qp_query(qp->nic, &nic); /* a child of fork is told ERR */
	if (vattr) {
		ma_vattr_from_nic(&nic, vattr);
		vattr->cap = qp->init.cap;
	}
	if (mrc_attr) {
		ma_mrc_attr_from_nic(&nic, mrc_attr);
		query_api_attr(qp, mrc_attr);
	}
	if (init_attr)
		*init_attr = qp->init;
	return 0;
}

/* Under ctx->lock: what only the API keeps, once the NIC has agreed. */
static void modify_api_attr(struct mrc_qp *qp, const struct mrc_qp_attr *mrc_attr, int mask)
{
	if (mask & MRC_QP_HINT)
		hint_replace(qp, mrc_attr->qp_hint);
	if (mask & MRC_QP_VENDOR_CFG)
		memcpy(qp->vendor_cfg, mrc_attr->vendor_cfg, sizeof(qp->vendor_cfg));
}

/* Under ctx->lock: RESET takes all attributes back. */
static void reset_api_attr(struct mrc_qp *qp)
{
	hint_replace(qp, NULL);
	set_defaults(qp);
	memset(qp->vendor_cfg, 0, sizeof(qp->vendor_cfg));
}

/* Under ctx->lock, so that attributes of API and NIC change together. */
static int modify_locked(struct mrc_qp *qp, const struct ibv_qp_attr *vattr, int vattr_mask,
			 const struct mrc_qp_attr *mrc_attr, int mrc_attr_mask)
{
	struct rd_qp_attr now, nic = {0};
	uint32_t mask = 0;
	int err;

	if (ma_vattr_to_nic(vattr, vattr_mask, &nic, &mask) ||
	    ma_mrc_attr_to_nic(mrc_attr, mrc_attr_mask, &nic, &mask))
		return EINVAL;
	if ((mrc_attr_mask & MRC_QP_HINT) && mrc_attr->qp_hint && mrc_attr->qp_hint->ctx != qp->ctx)
		return EINVAL;
	err = mh_qp_query(qp->nic, &now);
	if (err)
		return err;
	if ((vattr_mask & IBV_QP_CUR_STATE) && vattr->cur_qp_state != iv_state_from_nic(now.state))
		return EINVAL;
	err = mh_qp_modify(qp->nic, &nic, mask);
	if (err)
		return err;
	if ((mask & RD_QP_STATE) && nic.state == RD_QPS_RESET)
		reset_api_attr(qp);
	else
		modify_api_attr(qp, mrc_attr, mrc_attr_mask);
	return 0;
}

/* REQ(api.qp.modify.order) */
int mrc_modify_qp(struct mrc_qp *qp, struct ibv_qp_attr *vattr, int vattr_mask,
		  struct mrc_qp_attr *mrc_attr, int mrc_attr_mask)
{
	int err;

	if (!qp || (vattr_mask && !vattr) || (mrc_attr_mask && !mrc_attr))
		return ma_errno(EINVAL);
	err = ma_context_lock(qp->ctx);
	if (err)
		return ma_errno(err);
	err = modify_locked(qp, vattr, vattr_mask, mrc_attr, mrc_attr_mask);
	ma_context_unlock(qp->ctx);
	return ma_errno(err);
}
