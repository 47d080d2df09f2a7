/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc_channel.c - completion channels: where a CQ wakes a sleeping program. */
#include "libmrc/libmrc.h"

#include <stdlib.h>

int mrc_create_comp_channel(struct mrc_context *mrc_ctx, struct mrc_comp_channel **channel)
{
	struct mrc_comp_channel *ch;
	int err;

	if (!mrc_ctx || !channel)
		return ma_errno(EINVAL);
	ch = calloc(1, sizeof(*ch));
	err = ch ? mh_channel_create(mrc_ctx->dev, &ch->nic) : ENOMEM;
	if (err) {
		free(ch);
		return ma_errno(err);
	}
	ch->ctx = mrc_ctx;
	*channel = ch;
	return 0;
}

int mrc_get_comp_channel_fd(struct mrc_comp_channel *channel, int *fd)
{
	int of_channel;

	if (!channel || !fd)
		return iv_minus_one(EINVAL);
	of_channel = mh_channel_fd(channel->nic);
	if (of_channel < 0)
		return iv_minus_one(-of_channel);
	*fd = of_channel;
	return 0;
}

int mrc_destroy_comp_channel(struct mrc_comp_channel *channel)
{
	int err;

	if (!channel)
		return ma_errno(EINVAL);
	err = mh_channel_destroy(channel->nic);
	if (err)
		return ma_errno(err);
	free(channel);
	return 0;
}

int mrc_get_cq_event(struct mrc_comp_channel *channel, struct mrc_cq **cq, void **cq_context)
{
	struct mh_cq *nic;
	int err;

	if (!channel || !cq || !cq_context)
		return iv_minus_one(EINVAL);
	err = mh_channel_get(channel->nic, &nic);
	if (err)
		return iv_minus_one(err);
	*cq = mh_cq_owner(nic);
	atomic_fetch_add(&(*cq)->unacked, 1);
	*cq_context = (*cq)->user;
	return 0;
}

void mrc_ack_cq_events(struct mrc_cq *cq, unsigned int nevents)
{
	if (cq)
		iv_ack_cq_events(cq->nic, &cq->unacked, nevents);
}
