/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs_cq.c - completion queues: create, poll, request notification, destroy. */
#include "libibverbs/real_library.h"

#include <stdlib.h>

/* The device has one completion vector. */
#define COMP_VECTOR 0

/* Under the context's mutex: programs read how many CQs use a channel. */
static void channel_count(struct ibv_comp_channel *channel, int by)
{
	if (!channel)
		return;
	pthread_mutex_lock(&channel->context->mutex);
	channel->refcnt += by;
	pthread_mutex_unlock(&channel->context->mutex);
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
			     struct ibv_comp_channel *channel, int comp_vector)
{
	struct mv_cq *cq;
	int err;

	MV_TO_REAL(mv_real_of_context(context), ibv_create_cq,
		   (context, cqe, cq_context, channel, comp_vector));
	if (!context || cqe < 1 || comp_vector != COMP_VECTOR ||
	    (channel && channel->context != context))
		return iv_null(EINVAL);
	cq = calloc(1, sizeof(*cq));
	err = cq ? mh_cq_create(mv_context(context)->nic, (uint32_t)cqe,
				channel ? mv_channel(channel)->nic : NULL, &cq->ibv, &cq->nic)
		 : ENOMEM;
	if (err)
		return iv_drop(cq, err);
	cq->ibv.context = context;
	cq->ibv.channel = channel;
	cq->ibv.cq_context = cq_context;
	cq->ibv.cqe = (int)mh_cq_size(cq->nic);
	pthread_mutex_init(&cq->ibv.mutex, NULL);
	pthread_mutex_init(&cq->polling, NULL);
	pthread_cond_init(&cq->ibv.cond, NULL);
	channel_count(channel, 1);
	return &cq->ibv;
}

int ibv_resize_cq(struct ibv_cq *cq, int cqe)
{
	int err;

	MV_TO_REAL(mv_real_of(cq), ibv_resize_cq, (cq, cqe));
	if (!cq || cqe < 1)
		return EINVAL;
	err = mh_cq_resize(mv_cq(cq)->nic, (uint32_t)cqe);
	if (!err)
		cq->cqe = (int)mh_cq_size(mv_cq(cq)->nic);
	return err;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	int err;

	MV_TO_REAL(mv_real_of(cq), ibv_destroy_cq, (cq));
	if (!cq)
		return EINVAL;
	err = mh_cq_destroy(mv_cq(cq)->nic);
	if (err)
		return err;
	channel_count(cq->channel, -1);
	pthread_cond_destroy(&cq->cond);
	pthread_mutex_destroy(&mv_cq(cq)->polling);
	pthread_mutex_destroy(&cq->mutex);
	free(mv_cq(cq));
	return 0;
}

int mv_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	return iv_poll_cq(mv_cq(cq)->nic, num_entries, wc);
}

int mv_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	return mh_cq_req_notify(mv_cq(cq)->nic, solicited_only != 0);
}
