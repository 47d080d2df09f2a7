/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * event_queue.c - event queues behind eventfds.
 *
 * The eventfd counts units and the list holds sources; they are changed together under the queue's
 * lock, but a reader takes its unit first and the event after it, so that it can block without the
 * lock. In between the event may be discarded: then the reader finds the list empty and reads
 * again.
 */
#include "host/state/nic_context.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/assert.h"

#ifndef __GLIBC__
/* What musl lacks. */
#define RWF_NOWAIT 0x8
static ssize_t preadv2(int fd, const struct iovec *to, int n, off_t offset, int flags)
{
	return syscall(SYS_preadv2, fd, to, n, (long)offset, 0L, flags);
}
#endif

int mh_event_open(struct mh_event_queue *q)
{
	int err;

	q->fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
	if (q->fd < 0)
		return errno;
	q->own = fcntl(q->fd, F_DUPFD_CLOEXEC, 0);
	if (q->own < 0) {
		err = errno;
		close(q->fd);
		return err;
	}
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->acked, NULL);
	mb_link_init(&q->waiting);
	return 0;
}

/*
 * is_same_eventfd says whether fd still is the eventfd that own is. Flags are of what is open, so
 * that two descriptors of it show the same ones, before and after one is changed; by its inode an
 * eventfd cannot be told from others.
 */
static bool is_same_eventfd(int fd, int own)
{
	int flags = fcntl(own, F_GETFL);

	return fcntl(fd, F_GETFL) == flags && fcntl(own, F_SETFL, flags ^ O_NONBLOCK) == 0 &&
	       fcntl(fd, F_GETFL) == (flags ^ O_NONBLOCK);
}

void mh_event_close(struct mh_event_queue *q)
{
	int cancel_state = mh_cancel_disable();

	mb_assert(mb_link_is_empty(&q->waiting));
	if (is_same_eventfd(q->fd, q->own))
		close(q->fd);
	close(q->own);
	mh_cancel_restore(cancel_state);
	pthread_cond_destroy(&q->acked);
	pthread_mutex_destroy(&q->lock);
}

void mh_event_source_init(struct mh_event_source *s, uint32_t kind, void *object)
{
	*s = (struct mh_event_source){.kind = kind, .object = object};
	mb_link_init(&s->link);
}

/*
 * The lock is a leaf: it is taken under nic->lock and cq->lock, and nothing is called under it but
 * write(2) to a semaphore, which blocks only after 2^64 - 2 events.
 */
void mh_event_raise(struct mh_event_queue *q, struct mh_event_source *s, bool once)
{
	int cancel_state = mh_cancel_disable();
	uint64_t one = 1;

	pthread_mutex_lock(&q->lock);
	if (!once || s->pending == 0) {
		s->pending++;
		mb_list_push(&q->waiting, &s->link);
		/* Fails only when the program closed all descriptors; then no thread waits. */
		(void)!write(q->own, &one, sizeof(one));
	}
	pthread_mutex_unlock(&q->lock);
	mh_cancel_restore(cancel_state);
}

/* pop_event takes the oldest event off the queue; NULL when none is left. */
static struct mh_event_source *pop_event(struct mh_event_queue *q)
{
	struct mh_event_source *s = NULL;

	pthread_mutex_lock(&q->lock);
	if (!mb_link_is_empty(&q->waiting)) {
		s = mb_container_of(q->waiting.next, struct mh_event_source, link);
		mb_link_remove(&s->link);
		s->unacked++;
		/*
		 * It goes to the end of the list: one source with many events must not keep the
		 * others waiting.
		 */
		if (--s->pending > 0)
			mb_list_push(&q->waiting, &s->link);
	}
	pthread_mutex_unlock(&q->lock);
	return s;
}

bool mh_event_is_waiting(struct mh_event_queue *q)
{
	bool waiting;

	pthread_mutex_lock(&q->lock);
	waiting = !mb_link_is_empty(&q->waiting);
	pthread_mutex_unlock(&q->lock);
	return waiting;
}

int mh_event_get(struct mh_event_queue *q, struct mh_event_source **s)
{
	uint64_t one;

	/* An event whose source was destroyed meanwhile has left its unit behind: read on. */
	do {
		if (read(q->own, &one, sizeof(one)) < 0)
			return errno;
		*s = pop_event(q);
	} while (!*s);
	return 0;
}

void mh_event_ack(struct mh_event_queue *q, struct mh_event_source *s, uint32_t n)
{
	pthread_mutex_lock(&q->lock);
	mb_assert(n <= s->unacked);
	s->unacked -= n;
	pthread_cond_broadcast(&q->acked);
	pthread_mutex_unlock(&q->lock);
}

/*
 * withdraw_event_units takes back units of the eventfd, so that the descriptor does not poll
 * readable for nothing. RWF_NOWAIT because another thread may have read them by now; then that
 * thread finds no event and reads on.
 */
static void withdraw_event_units(struct mh_event_queue *q, uint32_t units)
{
	uint64_t one;
	struct iovec iov = {&one, sizeof(one)};

	while (units > 0 && preadv2(q->own, &iov, 1, -1, RWF_NOWAIT) == sizeof(one))
		units--;
}

/* REQ(api.async) */
void mh_event_discard(struct mh_event_queue *q, struct mh_event_source *s)
{
	int cancel_state = mh_cancel_disable();

	pthread_mutex_lock(&q->lock);
	withdraw_event_units(q, s->pending);
	s->pending = 0;
	mb_link_remove(&s->link);
	while (s->unacked > 0)
		pthread_cond_wait(&q->acked, &q->lock);
	pthread_mutex_unlock(&q->lock);
	mh_cancel_restore(cancel_state);
}
