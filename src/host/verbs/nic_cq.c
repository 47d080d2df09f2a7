/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic_cq.c - completion queues: making, polling and destroying them. Polling an empty one drives
 * the NIC, unless another thread does so at the moment. The ring is cq_ring.c's.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/bits.h"
#include "host/node/node.h"
#include "host/progress/progress.h"
#include "host/state/shards.h"

int mh_cq_create(struct mh_device *dev, uint32_t cqe, struct mh_channel *channel, void *owner,
		 struct mh_cq **cq)
{
	struct mh_cq *c;

	if (mh_nic_is_inherited(dev->nic))
		return ENODEV;
	if (cqe < 1 || cqe > MH_CQE_MAX || (channel && channel->dev != dev))
		return EINVAL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return ENOMEM;
	c->mask = mb_pow2_ceil(cqe) - 1;
	c->ring = calloc(c->mask + 1, sizeof(*c->ring));
	if (!c->ring) {
		free(c);
		return ENOMEM;
	}
	c->dev = dev;
	c->owner = owner;
	c->channel = channel;
	mb_link_init(&c->ev_link);
	pthread_mutex_init(&c->lock, NULL);
	mh_event_source_init(&c->completion, 0, c);
	mh_event_source_init(&c->overrun, MH_ASYNC_CQ_ERR, c);
	mh_nic_lock(dev->nic);
	dev->objects++;
	if (channel)
		channel->n_cqs++;
	mh_nic_unlock(dev->nic);
	*cq = c;
	return 0;
}

/*
 * CQs are destroyed while other threads poll other CQs and the thread runs: nothing reaches this
 * one any more once no QP has it, and none can be made with it, for the caller is giving up its
 * handle.
 */
int mh_cq_destroy(struct mh_cq *cq)
{
	struct mh_nic *nic = cq->dev->nic;

	if (mh_nic_is_inherited(nic))
		return ENODEV;
	mh_shards_lock(nic);
	if (cq->n_qps > 0) {
		mh_shards_unlock(nic);
		return EBUSY;
	}
	mb_link_remove(&cq->ev_link);
	mh_shards_unlock(nic);
	mh_ev_listener_stop(cq->listener);
	/* Without QPs nothing raises events any more; the counts go last, when no event is out. */
	if (cq->channel)
		mh_event_discard(&cq->channel->events, &cq->completion);
	mh_event_discard(&cq->dev->events, &cq->overrun);
	mh_nic_lock(nic);
	cq->dev->objects--;
	if (cq->channel)
		cq->channel->n_cqs--;
	mh_nic_unlock(nic);
	pthread_mutex_destroy(&cq->lock);
	free(cq->ring);
	free(cq->evs);
	free(cq);
	return 0;
}

/* has_qps_of says whether a shard has QPs that use the CQ; a glance, without lock. */
static bool has_qps_of(const struct mh_cq *cq, uint32_t shard)
{
	return atomic_load_explicit(&cq->shards, memory_order_relaxed) >> shard & 1;
}

/* is_empty says whether a poll of the CQ would find nothing; a glance, as above. */
static bool is_empty(const struct mh_cq *cq)
{
	return atomic_load_explicit(&cq->head, memory_order_relaxed) ==
	       atomic_load_explicit(&cq->tail, memory_order_relaxed);
}

/*
 * poll_several runs the shards that have QPs of the CQ, each once, until there is something in it.
 * Polls begin with one after the other, so that none waits behind a busy one. A CQ without QPs
 * runs all: something else is waited for.
 */
static void poll_several(struct mh_cq *cq)
{
	struct mh_nic *first = cq->dev->nic;
	uint32_t mask = atomic_load_explicit(&cq->shards, memory_order_relaxed);
	uint32_t from = atomic_fetch_add_explicit(&cq->next_shard, 1, memory_order_relaxed);
	bool alone = mask != 0 && (mask & (mask - 1)) == 0;

	for (uint32_t i = 0; i < first->n_shards && is_empty(cq); i++) {
		uint32_t shard = (from + i) % first->n_shards;

		if (mask == 0 || mask >> shard & 1)
			mh_progress_poll(first->shard[shard], alone);
	}
}

/* poll_shards lets the NIC make progress once. */
static void poll_shards(struct mh_cq *cq)
{
	struct mh_nic *first = cq->dev->nic;

	if (first->n_shards == 1)
		mh_progress_poll(first, true);
	else
		poll_several(cq);
}

int mh_ev_cq_create(struct mh_device *dev, uint32_t cqe, struct mh_channel *channel, void *owner,
		    struct mh_cq **cq)
{
	struct mh_ev_ring *ring;
	uint32_t room;
	int err;

	if (cqe < 1 || cqe > MH_CQE_MAX)
		return EINVAL;
	room = mb_pow2_ceil(cqe);
	ring = calloc(1, sizeof(*ring) + room * sizeof(ring->event[0]));
	if (!ring)
		return ENOMEM;
	ring->mask = room - 1;
	err = mh_cq_create(dev, 1, channel, owner, cq);
	if (err) {
		free(ring);
		return err;
	}
	(*cq)->evs = ring;
	err = mh_ev_listener_start(dev->nic, *cq, &(*cq)->listener);
	if (err) {
		mh_cq_destroy(*cq);
		return err;
	}
	mh_shards_lock(dev->nic);
	mb_list_push(&dev->nic->ev_cqs, &(*cq)->ev_link);
	mh_shards_unlock(dev->nic);
	return 0;
}

/* REQ(ctl.event-queue) */
int mh_ev_cq_poll(struct mh_cq *cq, uint32_t n, struct mh_ev_event *events)
{
	uint32_t got;

	if (mh_nic_is_inherited(cq->dev->nic))
		return -ENODEV;
	if (!cq->evs)
		return -EINVAL;
	if (n > INT32_MAX)
		n = INT32_MAX;
	got = mh_cq_pop_ev_events(cq, n, events);
	if (got == 0 && n > 0) {
		poll_shards(cq);
		got = mh_cq_pop_ev_events(cq, n, events);
	}
	return (int)got;
}

void *mh_cq_owner(const struct mh_cq *cq)
{
	return cq->owner;
}

uint32_t mh_cq_size(const struct mh_cq *cq)
{
	return cq->mask + 1;
}

/* The ring is allocated before cq->lock, which producers take under nic->lock. */
int mh_cq_resize(struct mh_cq *cq, uint32_t cqe)
{
	struct mh_cqe *ring;
	uint32_t mask;
	int err;

	if (mh_nic_is_inherited(cq->dev->nic))
		return ENODEV;
	if (cqe < 1 || cqe > MH_CQE_MAX)
		return EINVAL;
	mask = mb_pow2_ceil(cqe) - 1;
	ring = calloc(mask + 1, sizeof(*ring));
	if (!ring)
		return ENOMEM;
	err = mh_cq_replace_ring(cq, cqe, ring, mask);
	return err;
}

/* REQ(api.cq.poll) */
int mh_cq_poll(struct mh_cq *cq, uint32_t n, struct mh_wc *wc)
{
	uint32_t got;

	if (mh_nic_is_inherited(cq->dev->nic))
		return -ENODEV;
	if (n > INT32_MAX)
		n = INT32_MAX;
	got = mh_cq_pop(cq, n, wc);
	if (got == 0 && n > 0) {
		poll_shards(cq);
		got = mh_cq_pop(cq, n, wc);
	}
	return got == 0 && cq->overran ? -EOVERFLOW : (int)got;
}

int mh_cq_req_notify(struct mh_cq *cq, bool solicited_only)
{
	if (mh_nic_is_inherited(cq->dev->nic))
		return ENODEV;
	if (!cq->channel)
		return 0;
	mh_cq_arm(cq, solicited_only);
	for (uint32_t i = 0; i < cq->dev->nic->n_shards; i++)
		if (i == 0 || has_qps_of(cq, i))
			mh_progress_end_backoff(cq->dev->nic->shard[i], cq->channel);
	return 0;
}

void mh_cq_ack_events(struct mh_cq *cq, uint32_t n)
{
	if (mh_nic_is_inherited(cq->dev->nic))
		return;
	mb_assert(cq->channel);
	mh_event_ack(&cq->channel->events, &cq->completion, n);
}
