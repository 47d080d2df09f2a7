/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_event.c - event queues: order, counting, blocking, withdrawal. */
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "host/state/nic_context.h"

struct event_fixture {
	struct mh_event_queue queue;
	struct mh_event_source a, b;
};

static int event_setup(void **state)
{
	struct event_fixture *fixture = malloc(sizeof(*fixture));

	if (!fixture)
		return -1;
	/* Whatever is in the memory of a queue. */
	memset(fixture, 0xA5, sizeof(*fixture));
	if (mh_event_open(&fixture->queue))
		return -1;
	fcntl(fixture->queue.fd, F_SETFL, O_NONBLOCK);
	mh_event_source_init(&fixture->a, 1, fixture);
	mh_event_source_init(&fixture->b, 2, fixture);
	*state = fixture;
	return 0;
}

static int event_teardown(void **state)
{
	struct event_fixture *fixture = *state;

	mh_event_discard(&fixture->queue, &fixture->a);
	mh_event_discard(&fixture->queue, &fixture->b);
	mh_event_close(&fixture->queue);
	free(fixture);
	return 0;
}

#define EVENT_TEST(name) TEST_WITH(event_setup, event_teardown, mh_event, name)

static bool event_readable(struct event_fixture *fixture)
{
	struct pollfd pfd = {fixture->queue.fd, POLLIN, 0};

	return poll(&pfd, 1, 0) == 1;
}

EVENT_TEST(none_is_EAGAIN_and_not_readable)
{
	struct event_fixture *fixture = *state;
	struct mh_event_source *s;

	assert_false(event_readable(fixture));
	assert_i_eq(mh_event_get(&fixture->queue, &s), EAGAIN);
}

EVENT_TEST(every_raise_is_one_event)
{
	struct event_fixture *fixture = *state;
	struct mh_event_source *s;

	for (int i = 0; i < 3; i++)
		mh_event_raise(&fixture->queue, &fixture->a, false);
	for (int i = 0; i < 3; i++) {
		assert_true(event_readable(fixture));
		assert_i_eq(mh_event_get(&fixture->queue, &s), 0);
		assert_ptr_equal(s, &fixture->a);
	}
	assert_i_eq(mh_event_get(&fixture->queue, &s), EAGAIN);
	mh_event_ack(&fixture->queue, &fixture->a, 3);
}

EVENT_TEST(once_merges_what_is_pending)
{
	struct event_fixture *fixture = *state;
	struct mh_event_source *s;

	mh_event_raise(&fixture->queue, &fixture->a, true);
	mh_event_raise(&fixture->queue, &fixture->a, true);
	assert_i_eq(mh_event_get(&fixture->queue, &s), 0);
	assert_i_eq(mh_event_get(&fixture->queue, &s), EAGAIN);
	mh_event_raise(&fixture->queue, &fixture->a, true);
	assert_i_eq(mh_event_get(&fixture->queue, &s), 0);
	mh_event_ack(&fixture->queue, &fixture->a, 2);
}

EVENT_TEST(sources_take_turns)
{
	struct event_fixture *fixture = *state;
	struct mh_event_source *s;

	for (int i = 0; i < 2; i++)
		mh_event_raise(&fixture->queue, &fixture->a, false);
	mh_event_raise(&fixture->queue, &fixture->b, false);
	assert_i_eq(mh_event_get(&fixture->queue, &s), 0);
	assert_u_eq(s->kind, 1);
	assert_i_eq(mh_event_get(&fixture->queue, &s), 0);
	assert_u_eq(s->kind, 2);
	assert_i_eq(mh_event_get(&fixture->queue, &s), 0);
	assert_u_eq(s->kind, 1);
	mh_event_ack(&fixture->queue, &fixture->a, 2);
	mh_event_ack(&fixture->queue, &fixture->b, 1);
}

EVENT_TEST(forget_withdraws_what_is_pending)
{
	struct event_fixture *fixture = *state;
	struct mh_event_source *s;

	for (int i = 0; i < 5; i++)
		mh_event_raise(&fixture->queue, &fixture->a, false);
	mh_event_raise(&fixture->queue, &fixture->b, false);
	mh_event_discard(&fixture->queue, &fixture->a);
	assert_i_eq(mh_event_get(&fixture->queue, &s), 0);
	assert_ptr_equal(s, &fixture->b);
	assert_false(event_readable(fixture));
	mh_event_ack(&fixture->queue, &fixture->b, 1);
}

static void *event_forgetter(void *arg)
{
	struct event_fixture *fixture = arg;

	mh_event_discard(&fixture->queue, &fixture->a);
	__atomic_store_n(&fixture->b.kind, 99, __ATOMIC_RELEASE);
	return NULL;
}

/* REQ(api.async) */
EVENT_TEST(forget_waits_for_acknowledgement)
{
	struct timespec pause = {0, 30000000};
	struct event_fixture *fixture = *state;
	struct mh_event_source *s;
	pthread_t thread;

	mh_event_raise(&fixture->queue, &fixture->a, false);
	assert_i_eq(mh_event_get(&fixture->queue, &s), 0);
	pthread_create(&thread, NULL, event_forgetter, fixture);
	nanosleep(&pause, NULL);
	assert_u_eq(__atomic_load_n(&fixture->b.kind, __ATOMIC_ACQUIRE), 2);
	mh_event_ack(&fixture->queue, &fixture->a, 1);
	pthread_join(thread, NULL);
	assert_u_eq(fixture->b.kind, 99);
}

static void *event_raiser(void *arg)
{
	struct timespec pause = {0, 20000000};
	struct event_fixture *fixture = arg;

	nanosleep(&pause, NULL);
	mh_event_raise(&fixture->queue, &fixture->a, false);
	return NULL;
}

EVENT_TEST(get_blocks_until_one_is_raised)
{
	struct event_fixture *fixture = *state;
	struct mh_event_source *s;
	pthread_t thread;

	fcntl(fixture->queue.fd, F_SETFL, 0);
	pthread_create(&thread, NULL, event_raiser, fixture);
	assert_i_eq(mh_event_get(&fixture->queue, &s), 0);
	assert_ptr_equal(s, &fixture->a);
	mh_event_ack(&fixture->queue, s, 1);
	pthread_join(thread, NULL);
}

/*
 * A program that closed the descriptor has its number again for something else: nothing is written
 * there, and closing the queue leaves it open.
 */
EVENT_TEST(descriptor_that_became_a_file)
{
	struct event_fixture *fixture = *state;
	struct mh_event_source *s;
	FILE *file = tmpfile();
	struct stat now;

	assert_non_null(file);
	assert_i_eq(dup2(fileno(file), fixture->queue.fd), fixture->queue.fd);
	mh_event_raise(&fixture->queue, &fixture->a, false);
	assert_i_eq(mh_event_get(&fixture->queue, &s), 0);
	mh_event_ack(&fixture->queue, s, 1);
	assert_i_eq(fstat(fileno(file), &now), 0);
	assert_i_eq(now.st_size, 0);
	mh_event_discard(&fixture->queue, &fixture->a);
	mh_event_close(&fixture->queue);
	assert_i_eq(fstat(fixture->queue.fd, &now), 0);
	close(fixture->queue.fd);
	fclose(file);
	assert_i_eq(mh_event_open(&fixture->queue), 0); /* which the fixture closes */
}

/* Nobody is told, and nothing fails, when a program has closed everything. */
EVENT_TEST(descriptor_that_became_a_pipe_without_reader)
{
	struct event_fixture *fixture = *state;
	int ends[2];

	assert_i_eq(pipe2(ends, O_CLOEXEC), 0);
	close(ends[0]);
	assert_i_eq(dup2(ends[1], fixture->queue.fd), fixture->queue.fd);
	mh_event_raise(&fixture->queue, &fixture->a, false);
	mh_event_discard(&fixture->queue, &fixture->a);
	mh_event_close(&fixture->queue);
	assert_i_eq(fcntl(fixture->queue.fd, F_GETFD), 0);
	close(fixture->queue.fd);
	close(ends[1]);
	assert_i_eq(mh_event_open(&fixture->queue), 0);
}

static bool can_be_cancelled(void)
{
	int state = mh_cancel_disable();

	mh_cancel_restore(state);
	return state == PTHREAD_CANCEL_ENABLE;
}

/* What may sleep with a lock or something half done cannot be cancelled; later a thread can. */
EVENT_TEST(cancellation_is_as_it_was)
{
	struct event_fixture *fixture = *state;
	struct mh_event_queue other;

	mh_event_raise(&fixture->queue, &fixture->a, false);
	assert_true(can_be_cancelled());
	mh_event_discard(&fixture->queue, &fixture->a);
	assert_true(can_be_cancelled());
	assert_i_eq(mh_event_open(&other), 0);
	mh_event_close(&other);
	assert_true(can_be_cancelled());
}
