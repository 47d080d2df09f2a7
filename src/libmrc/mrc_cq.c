/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc_cq.c - completion queues: create, poll, request notification, destroy. */
#include "libmrc/libmrc.h"

#include <stdlib.h>

struct mrc_cq *ma_cq_create(struct mrc_context *ctx, int cqe, void *user,
			    struct mrc_comp_channel *channel, int comp_vector,
			    __typeof__(mh_cq_create) *create)
{
	struct mrc_cq *cq;
	int err;

	if (!ctx || cqe < 1 || comp_vector != MA_COMP_VECTOR || (channel && channel->ctx != ctx))
		return iv_null(EINVAL);
	cq = calloc(1, sizeof(*cq));
	err = cq ? create(ctx->dev, (uint32_t)cqe, channel ? channel->nic : NULL, cq, &cq->nic)
		 : ENOMEM;
	if (err)
		return iv_drop(cq, err);
	cq->ctx = ctx;
	cq->user = user;
	return cq;
}

struct mrc_cq *mrc_create_cq(struct mrc_context *mrc_ctx, int cqe, void *cq_context,
			     struct mrc_comp_channel *channel, int comp_vector)
{
	return ma_cq_create(mrc_ctx, cqe, cq_context, channel, comp_vector, mh_cq_create);
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
