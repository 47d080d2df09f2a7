/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ep_batch.c - endpoint requests under way together, for whose answers one thread sleeps.
 *
 * Every request that the engine has taken ends with an event, answered or timed out, so a batch
 * lives on the stack of its caller until the last of them has come.
 */
#include "host/state/nic_context.h"

#include <errno.h>
#include <stdlib.h>

/* Between two attempts to find a free id. */
#define RETRY_NS UINT64_C(2000000)

/* The waits are measured on the clock of mh_now_ns: the wall clock may be set meanwhile. */
int mh_ep_batch_init(struct mh_ep_batch *b)
{
	pthread_condattr_t attr;

	b->items = calloc(b->n, sizeof(*b->items));
	if (!b->items)
		return ENOMEM;
	for (uint32_t i = 0; i < b->n; i++)
		b->items[i] = (struct mh_ep_item){b, i};
	pthread_mutex_init(&b->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&b->changed, &attr);
	pthread_condattr_destroy(&attr);
	return 0;
}

void mh_ep_batch_fini(struct mh_ep_batch *b)
{
	pthread_cond_destroy(&b->changed);
	pthread_mutex_destroy(&b->lock);
	free(b->items);
}

/*
 * Runs in whichever thread runs the poll loop, under nic->lock; the batch's lock comes behind it
 * and is held for a few stores. The waiting thread holds neither while it sleeps.
 */
void mh_ep_batch_deliver(const struct mt_event *event)
{
	struct mh_ep_item *item = (struct mh_ep_item *)(uintptr_t)event->wr_id;
	struct mh_ep_batch *b = item->batch;

	pthread_mutex_lock(&b->lock);
	if (event->ep_status == MT_EP_ANSWERED)
		b->answers[b->answered++] = (struct mh_probe_answer){
			.index = item->index,
			.plane = event->ep_port,
			.rtt_ns = event->rtt_ns,
			.svc_time_subtracted = event->svc_time_subtracted,
		};
	b->ended++;
	pthread_cond_signal(&b->changed);
	pthread_mutex_unlock(&b->lock);
}

void mh_ep_batch_end_one(struct mh_ep_batch *b)
{
	pthread_mutex_lock(&b->lock);
	b->ended++;
	pthread_mutex_unlock(&b->lock);
}

/* Spurious wake-ups do no harm: callers look at the counts again. */
static void sleep_until(struct mh_ep_batch *b, uint64_t until)
{
	struct timespec t = {.tv_sec = (time_t)(until / 1000000000u),
			     .tv_nsec = (long)(until % 1000000000u)};

	pthread_cond_timedwait(&b->changed, &b->lock, &t);
}

void mh_ep_batch_wait(struct mh_ep_batch *b, bool more)
{
	uint64_t retry = mh_now_ns() + RETRY_NS;

	pthread_mutex_lock(&b->lock);
	while (b->ended < b->posted && (!more || mh_now_ns() < retry))
		sleep_until(b, more ? retry : mh_now_ns() + 50 * RETRY_NS);
	if (more && b->ended == b->posted && mh_now_ns() < retry)
		sleep_until(b, retry);
	pthread_mutex_unlock(&b->lock);
}
