/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * event_queue.h - a queue of events with a file descriptor; completion channels and asynchronous
 * events are both made of it.
 *
 * Events are not allocated: whatever can raise one (a CQ, a QP, a device) contains a source, and
 * the queue holds sources that have events pending. The descriptor is an eventfd used as a
 * semaphore, one unit an event, so a blocking get is a read(2) and costs nothing while it waits.
 *
 * Whoever takes an event acknowledges it; a source can be taken out of its queue only when all
 * its taken events are acknowledged, so nobody is left with a pointer to something destroyed.
 */
#ifndef SOFTMRC_HOST_EVENT_QUEUE_H
#define SOFTMRC_HOST_EVENT_QUEUE_H

#include <pthread.h>
#include <stdint.h>

#include "base/list.h"

struct mh_event_queue {
	int fd;
	pthread_mutex_t lock;
	pthread_cond_t acked;
	struct mb_link waiting; /* sources with events pending, longest waiting first */
};

struct mh_event_source {
	struct mb_link link;
	uint32_t pending; /* raised, not taken */
	uint32_t unacked; /* taken, not acknowledged */
	uint32_t kind;	  /* the owner's: what the event says */
	void *object;	  /* the owner's: what contains the source */
};

/* mh_event_open makes an empty queue; EMFILE and the like from eventfd(2). */
int mh_event_open(struct mh_event_queue *q);
/* mh_event_close ends a queue without sources. */
void mh_event_close(struct mh_event_queue *q);
void mh_event_source_init(struct mh_event_source *s, uint32_t kind, void *object);
/* mh_event_raise adds an event; if `once`, only when none of this source is pending. */
void mh_event_raise(struct mh_event_queue *q, struct mh_event_source *s, bool once);
/* mh_event_get takes the oldest; blocks as the descriptor does. EAGAIN, EINTR. */
int mh_event_get(struct mh_event_queue *q, struct mh_event_source **s);
/* mh_event_ack acknowledges n events of s; n at most those taken (asserted). */
void mh_event_ack(struct mh_event_queue *q, struct mh_event_source *s, uint32_t n);
/* mh_event_discard drops what is pending and blocks until what was taken is acknowledged. */
void mh_event_discard(struct mh_event_queue *q, struct mh_event_source *s);

#endif
