/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic_channel.c - completion channels: an event queue with CQs as sources.
 *
 * A channel belongs to an opening and is used by CQs of the same one. What it counts is under
 * nic->lock; its events are under the queue's own lock, so that a thread that waits for one holds
 * nothing that the data path needs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "host/progress/progress.h"

int mh_channel_create(struct mh_device *dev, struct mh_channel **channel)
{
	struct mh_channel *c;
	int err;

	if (mh_nic_is_inherited(dev->nic))
		return ENODEV;
	c = calloc(1, sizeof(*c));
	if (!c)
		return ENOMEM;
	err = mh_event_open(&c->events);
	if (err) {
		free(c);
		return err;
	}
	c->dev = dev;
	mh_nic_lock(dev->nic);
	dev->objects++;
	mh_nic_unlock(dev->nic);
	*channel = c;
	return 0;
}

/* Without CQs nothing raises an event in it any more, so it is closed without the lock. */
int mh_channel_destroy(struct mh_channel *channel)
{
	struct mh_nic *nic = channel->dev->nic;
	bool busy;

	if (mh_nic_is_inherited(nic))
		return ENODEV;
	mh_nic_lock(nic);
	busy = channel->n_cqs > 0;
	if (!busy)
		channel->dev->objects--;
	mh_nic_unlock(nic);
	if (busy)
		return EBUSY;
	mh_progress_forget_channel(nic, channel);
	mh_event_close(&channel->events);
	free(channel);
	return 0;
}

int mh_channel_fd(const struct mh_channel *channel)
{
	return mh_nic_is_inherited(channel->dev->nic) ? -ENODEV : channel->events.fd;
}

/* One that does not block is asked once, and where there are events nobody need wait. */
static bool must_wait(struct mh_event_queue *q)
{
	return !mh_event_is_waiting(q) && !(fcntl(q->own, F_GETFL) & O_NONBLOCK);
}

/* Blocks in read(2), so it must not hold the lock; the event queue has its own. */
int mh_channel_get(struct mh_channel *channel, struct mh_cq **cq)
{
	struct mh_event_source *source;
	int err = 0;

	if (mh_nic_is_inherited(channel->dev->nic))
		return ENODEV;
	if (must_wait(&channel->events))
		err = mh_progress_serve(channel->dev->nic, &channel->events);
	if (!err)
		err = mh_event_get(&channel->events, &source);
	if (err)
		return err;
	*cq = source->object;
	return 0;
}
