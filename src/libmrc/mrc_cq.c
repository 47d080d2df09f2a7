/* SPDX-License-Identifier: BSD-2-Clause */
/* cq.c - completion queues: create, poll, request notification, destroy. */
#include "libmrc/libmrc.h"

#include <stdlib.h>

/* Completions are translated in small batches, so that polling needs no memory of its own. */
#define POLL_BATCH 32u

/* The device has one completion vector. */
#define COMP_VECTOR 0

struct mrc_cq *mrc_create_cq(struct mrc_context *mrc_ctx, int cqe, void *cq_context,
			     struct mrc_comp_channel *channel, int comp_vector)
{
	struct mrc_cq *cq;
	int err;

	if (!mrc_ctx || cqe < 1 || comp_vector != COMP_VECTOR)
		return ma_null(EINVAL);
	if (channel && channel->ctx != mrc_ctx)
		return ma_null(EINVAL);
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return ma_null(ENOMEM);
	cq->ctx = mrc_ctx;
	cq->user = cq_context;
	err = mh_cq_create(mrc_ctx->dev, (uint32_t)cqe, channel ? channel->nic : NULL, cq,
			   &cq->nic);
	if (err) {
		free(cq);
		return ma_null(err);
	}
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
	struct mh_wc batch[POLL_BATCH];
	uint32_t want, done = 0;

	if (!cq || num_entries < 0 || (num_entries && !wc))
		return ma_minus_one(EINVAL);
	while (done < (uint32_t)num_entries) {
		int got;

		want = (uint32_t)num_entries - done;
		if (want > POLL_BATCH)
			want = POLL_BATCH;
		got = mh_cq_poll(cq->nic, want, batch);
		if (got < 0)
			return done ? (int)done : ma_minus_one(-got);
		for (int i = 0; i < got; i++)
			iv_wc_from_nic(&batch[i], &wc[done++]);
		if ((uint32_t)got < want)
			break;
	}
	return (int)done;
}

/* REQ(api.cq.notify) */
int mrc_req_notify_cq(struct mrc_cq *cq, int solicited_only)
{
	if (!cq)
		return ma_errno(EINVAL);
	mh_cq_req_notify(cq->nic, solicited_only != 0);
	return 0;
}
