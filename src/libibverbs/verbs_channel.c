/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs_channel.c - completion channels: where a CQ wakes a program that sleeps. */
#include "libibverbs/real_library.h"

#include <stdlib.h>

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct mv_channel *channel;
	int err;

	MV_TO_REAL(mv_real_of_context(context), ibv_create_comp_channel, (context));
	if (!context)
		return iv_null(EINVAL);
	channel = calloc(1, sizeof(*channel));
	err = channel ? mh_channel_create(mv_context(context)->nic, &channel->nic) : ENOMEM;
	if (err)
		return iv_drop(channel, err);
	channel->ibv.context = context;
	channel->ibv.fd = mh_channel_fd(channel->nic);
	return &channel->ibv;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	int err;

	MV_TO_REAL(mv_real_of(channel), ibv_destroy_comp_channel, (channel));
	if (!channel)
		return EINVAL;
	err = mh_channel_destroy(mv_channel(channel)->nic);
	if (!err)
		free(mv_channel(channel));
	return err;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
	struct mh_cq *nic;
	int err;

	MV_TO_REAL(mv_real_of(channel), ibv_get_cq_event, (channel, cq, cq_context));
	if (!channel || !cq || !cq_context)
		return iv_minus_one(EINVAL);
	err = mh_channel_get(mv_channel(channel)->nic, &nic);
	if (err)
		return iv_minus_one(err);
	*cq = mh_cq_owner(nic);
	atomic_fetch_add(&mv_cq(*cq)->unacked, 1);
	*cq_context = (*cq)->cq_context;
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents)
{
	MV_TO_REAL_VOID(mv_real_of(cq), ibv_ack_cq_events, (cq, nevents));
	if (cq)
		iv_ack_cq_events(mv_cq(cq)->nic, &mv_cq(cq)->unacked, nevents);
}
