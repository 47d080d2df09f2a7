/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic_cq.c - completion queues.
 *
 * The ring has a small lock of its own, so that polling a CQ that holds something never meets the
 * engine. Polling an empty one drives the NIC instead, if nobody else does so at the moment.
 */
#include "host/nic_cq.h"

#include <errno.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/bits.h"
#include "host/nic_channel.h"
#include "host/nic_qp.h"
#include "host/progress.h"

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

int mh_cq_destroy(struct mh_cq *cq)
{
	struct mh_nic *nic = cq->dev->nic;

	if (mh_nic_is_inherited(nic))
		return ENODEV;
	mh_nic_lock(nic);
	if (cq->n_qps > 0) {
		mh_nic_unlock(nic);
		return EBUSY;
	}
	mh_nic_unlock(nic);
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
	free(cq);
	return 0;
}

void *mh_cq_owner(const struct mh_cq *cq)
{
	return cq->owner;
}

uint32_t mh_cq_size(const struct mh_cq *cq)
{
	return cq->mask + 1;
}

/* cq_copy_to_ring puts what the CQ holds into another ring, which is freed if it does not take its
 * place. */
static int cq_copy_to_ring(struct mh_cq *cq, uint32_t cqe, struct mh_cqe *ring, uint32_t mask)
{
	struct mh_cqe *old = cq->ring;
	uint32_t held = cq->tail - cq->head;

	if (cq->overran || held > cqe) {
		free(ring);
		return cq->overran ? EOVERFLOW : EINVAL;
	}
	for (uint32_t i = 0; i < held; i++)
		ring[(cq->head + i) & mask] = old[(cq->head + i) & cq->mask];
	cq->ring = ring;
	cq->mask = mask;
	free(old);
	return 0;
}

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
	pthread_mutex_lock(&cq->lock);
	err = cq_copy_to_ring(cq, cqe, ring, mask);
	pthread_mutex_unlock(&cq->lock);
	return err;
}

/* cq_raise_if_armed raises the event that req_notify asked for, if this completion is one to tell
 * of. */
static void cq_raise_if_armed(struct mh_cq *cq, bool noteworthy)
{
	if (cq->armed == MH_CQ_IDLE || (cq->armed == MH_CQ_ARMED_SOLICITED && !noteworthy))
		return;
	cq->armed = MH_CQ_IDLE;
	mh_event_raise(&cq->channel->events, &cq->completion, false);
}

/* REQ(api.cq.overflow) */
bool mh_cq_add(struct mh_cq *cq, const struct mh_cqe *cqe)
{
	bool room;

	pthread_mutex_lock(&cq->lock);
	room = !cq->overran && cq->tail - cq->head <= cq->mask;
	if (room) {
		cq->ring[cq->tail & cq->mask] = *cqe;
		cq->ring[cq->tail & cq->mask].wc.done_ns = cq->dev->nic->engine_ns;
		cq->tail++;
		cq_raise_if_armed(cq, (cqe->wc.flags & RD_WC_SOLICITED) ||
					      cqe->wc.status != RD_WC_SUCCESS);
	} else if (!cq->overran) {
		cq->overran = true;
		cq_raise_if_armed(cq, true);
		mh_event_raise(&cq->dev->events, &cq->overrun, true);
	}
	pthread_mutex_unlock(&cq->lock);
	return room;
}

/* Completions that stay keep their order; the place of those that go is free at once. */
void mh_cq_purge(struct mh_cq *cq, uint32_t qpn)
{
	uint32_t keep;

	pthread_mutex_lock(&cq->lock);
	keep = cq->head;
	for (uint32_t i = cq->head; i != cq->tail; i++)
		if (cq->ring[i & cq->mask].wc.qpn != qpn)
			cq->ring[keep++ & cq->mask] = cq->ring[i & cq->mask];
	cq->tail = keep;
	pthread_mutex_unlock(&cq->lock);
}

static bool cq_is_recv(const struct mh_wc *wc)
{
	return wc->opcode == RD_WC_RECV_IMM || wc->opcode == RD_WC_RECV;
}

/* cq_pop takes what is there. The look at head and tail beforehand spares idle polls the lock. */
static uint32_t cq_pop(struct mh_cq *cq, uint32_t n, struct mh_wc *wc)
{
	uint32_t got = 0;

	if (cq->head == cq->tail)
		return 0;
	pthread_mutex_lock(&cq->lock);
	for (; got < n && cq->head != cq->tail; got++) {
		const struct mh_cqe *cqe = &cq->ring[cq->head++ & cq->mask];

		wc[got] = cqe->wc;
		if (cqe->qp)
			mh_qp_release_wrs(cqe->qp, cq_is_recv(&cqe->wc), cqe->wr);
	}
	pthread_mutex_unlock(&cq->lock);
	return got;
}

/* REQ(api.cq.poll) */
int mh_cq_poll(struct mh_cq *cq, uint32_t n, struct mh_wc *wc)
{
	uint32_t got;

	if (mh_nic_is_inherited(cq->dev->nic))
		return -ENODEV;
	if (n > INT32_MAX)
		n = INT32_MAX;
	got = cq_pop(cq, n, wc);
	if (got == 0 && n > 0) {
		mh_progress_poll(cq->dev->nic);
		got = cq_pop(cq, n, wc);
	}
	return got == 0 && cq->overran ? -EOVERFLOW : (int)got;
}

/* A request for any completion is not weakened by a later one for solicited ones. */
void mh_cq_req_notify(struct mh_cq *cq, bool solicited_only)
{
	if (mh_nic_is_inherited(cq->dev->nic))
		return;
	if (!cq->channel)
		return;
	pthread_mutex_lock(&cq->lock);
	if (!solicited_only || cq->armed == MH_CQ_IDLE)
		cq->armed = solicited_only ? MH_CQ_ARMED_SOLICITED : MH_CQ_ARMED;
	/* One that has overrun adds no completions; its waiter must hear of that. */
	if (cq->overran)
		cq_raise_if_armed(cq, true);
	pthread_mutex_unlock(&cq->lock);
	mh_progress_end_backoff(cq->dev->nic);
}

void mh_cq_ack_events(struct mh_cq *cq, uint32_t n)
{
	if (mh_nic_is_inherited(cq->dev->nic))
		return;
	mb_assert(cq->channel);
	mh_event_ack(&cq->channel->events, &cq->completion, n);
}
