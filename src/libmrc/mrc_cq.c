/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc_cq.c - completion queues: create, poll, request notification, destroy. */
#include "libmrc/libmrc.h"

#include <stdlib.h>

struct mrc_cq *mrc_create_cq(struct mrc_context *mrc_ctx, int cqe, void *cq_context,
			     struct mrc_comp_channel *channel, int comp_vector)
{
	struct mrc_cq *cq;
	int err;

	if (!mrc_ctx || cqe < 1 || comp_vector != MA_COMP_VECTOR)
		return iv_null(EINVAL);
	if (channel && channel->ctx != mrc_ctx)
		return iv_null(EINVAL);
	cq = calloc(1, sizeof(*cq));
	err = cq ? mh_cq_create(mrc_ctx->dev, (uint32_t)cqe, channel ? channel->nic : NULL, cq,
				&cq->nic)
		 : ENOMEM;
	if (err)
		return iv_drop(cq, err);
	cq->ctx = mrc_ctx;
	cq->user = cq_context;
	return cq;
}

int mrc_destroy_cq(struct mrc_cq *cq)
{
	int err;

	if (!cq)
		return ma_errno(EINVAL);
	err = mh_cq_destroy(cq->nic);
	if (err)
		return ma_errno(err);
	free(cq);
	return 0;
}

/* REQ(api.cq.poll) */
int mrc_poll_cq(struct mrc_cq *cq, int num_entries, struct ibv_wc *wc)
{
	int got;

	if (!cq || num_entries < 0 || (num_entries && !wc))
		return iv_minus_one(EINVAL);
	got = iv_poll_cq(cq->nic, num_entries, wc);
	return got < 0 ? iv_minus_one(-got) : got;
}

/* REQ(api.cq.notify) */
int mrc_req_notify_cq(struct mrc_cq *cq, int solicited_only)
{
	if (!cq)
		return ma_errno(EINVAL);
	return ma_errno(mh_cq_req_notify(cq->nic, solicited_only != 0));
}
