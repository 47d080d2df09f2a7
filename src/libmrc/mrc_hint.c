/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrc_hint.c - QP hints. A software NIC has no resources to divide by fan-out, so hints are kept,
 * returned and counted, and change nothing else. REQ(api.hint)
 */
#include "libmrc/libmrc.h"

#include <stdlib.h>
#include <string.h>

#define HINT_KNOWN                                                   \
	(MRC_QP_HINT_NUM_QPS_PER_PEER | MRC_QP_HINT_NUM_SEND_PEERS | \
	 MRC_QP_HINT_NUM_REMOTE_RECV_PEERS | MRC_QP_HINT_VENDOR_CFG)

/* Are the numbers that the mask names in range? */
static bool hint_valid(const struct mrc_qp_hint_attr *attr, int mask)
{
	if ((mask & MRC_QP_HINT_NUM_QPS_PER_PEER) && attr->num_qps_per_peer < 0)
		return false;
	if ((mask & MRC_QP_HINT_NUM_SEND_PEERS) && attr->num_send_peers < 0)
		return false;
	if ((mask & MRC_QP_HINT_NUM_REMOTE_RECV_PEERS) && attr->num_remote_recv_peers < 0)
		return false;
	return true;
}

static void hint_copy(struct mrc_qp_hint_attr *to, const struct mrc_qp_hint_attr *from, int mask)
{
	if (mask & MRC_QP_HINT_NUM_QPS_PER_PEER)
		to->num_qps_per_peer = from->num_qps_per_peer;
	if (mask & MRC_QP_HINT_NUM_SEND_PEERS)
		to->num_send_peers = from->num_send_peers;
	if (mask & MRC_QP_HINT_NUM_REMOTE_RECV_PEERS)
		to->num_remote_recv_peers = from->num_remote_recv_peers;
	if (mask & MRC_QP_HINT_VENDOR_CFG)
		memcpy(to->vendor_cfg, from->vendor_cfg, sizeof(to->vendor_cfg));
}

/* Counts a hint in; ENOSPC when there are too many. */
static int hint_count_in(struct mrc_context *ctx)
{
	int err = ma_context_lock(ctx);

	if (err)
		return err;
	if (ctx->n_hints < MA_HINTS_MAX)
		ctx->n_hints++;
	else
		err = ENOSPC;
	ma_context_unlock(ctx);
	return err;
}

struct mrc_qp_hint *mrc_create_qp_hint(struct mrc_context *mrc_ctx,
				       struct mrc_qp_hint_init_attr *init_attr)
{
	struct mrc_qp_hint *hint;
	int err;

	if (!mrc_ctx || !init_attr || !hint_valid(&init_attr->attr, HINT_KNOWN))
		return iv_null(EINVAL);
	hint = calloc(1, sizeof(*hint));
	err = hint ? hint_count_in(mrc_ctx) : ENOMEM;
	if (err)
		return iv_drop(hint, err);
	hint->ctx = mrc_ctx;
	hint->attr = init_attr->attr;
	return hint;
}

int mrc_destroy_qp_hint(struct mrc_qp_hint *qp_hint)
{
	struct mrc_context *ctx;
	bool used;
	int err;

	if (!qp_hint)
		return iv_minus_one(EINVAL);
	ctx = qp_hint->ctx;
	err = ma_context_lock(ctx);
	if (err)
		return iv_minus_one(err);
	used = qp_hint->users != 0;
	if (!used)
		ctx->n_hints--;
	ma_context_unlock(ctx);
	if (used)
		return iv_minus_one(EBUSY);
	free(qp_hint);
	return 0;
}

int mrc_query_qp_hint(struct mrc_qp_hint *qp_hint, struct mrc_qp_hint_attr *qp_hint_attr,
		      int qp_hint_attr_mask)
{
	int err;

	if (!qp_hint || !qp_hint_attr || (qp_hint_attr_mask & ~HINT_KNOWN))
		return iv_minus_one(EINVAL);
	err = ma_context_lock(qp_hint->ctx);
	if (err)
		return iv_minus_one(err);
	hint_copy(qp_hint_attr, &qp_hint->attr, qp_hint_attr_mask);
	ma_context_unlock(qp_hint->ctx);
	return 0;
}

int mrc_modify_qp_hint(struct mrc_qp_hint *qp_hint, struct mrc_qp_hint_attr *qp_hint_attr,
		       int qp_hint_attr_mask)
{
	int err;

	if (!qp_hint || !qp_hint_attr || (qp_hint_attr_mask & ~HINT_KNOWN) ||
	    !hint_valid(qp_hint_attr, qp_hint_attr_mask))
		return iv_minus_one(EINVAL);
	err = ma_context_lock(qp_hint->ctx);
	if (err)
		return iv_minus_one(err);
	hint_copy(&qp_hint->attr, qp_hint_attr, qp_hint_attr_mask);
	ma_context_unlock(qp_hint->ctx);
	return 0;
}
