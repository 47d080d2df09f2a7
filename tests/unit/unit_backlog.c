/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_backlog.c - frames wait in order, are tried again after a while, and overflow is counted. */
#include "support/test.h"

#include <errno.h>

#include "io/backlog.h"

struct backlog_fixture {
	struct mio_status status;
	struct mio_backlog b;
	uint32_t room; /* frames that the system takes */
	uint8_t seen[300];
	uint32_t n_seen;
};

static int backlog_setup(void **state)
{
	struct backlog_fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	return mio_backlog_init(&fixture->b, &fixture->status) ? 0 : -1;
}

static int backlog_teardown(void **state)
{
	struct backlog_fixture *fixture = *state;

	mio_backlog_fini(&fixture->b);
	free(fixture);
	return 0;
}

#define BACKLOG_TEST(function, name) TEST_WITH(backlog_setup, backlog_teardown, function, name)

static void backlog_put(struct backlog_fixture *fixture, uint64_t now_ns, uint32_t number)
{
	uint8_t byte = (uint8_t)number;
	struct iovec iov = {&byte, 1};
	struct mio_tx frame = {.iov = &iov, .n_iov = 1, .len = 1};

	mio_backlog_put(&fixture->b, now_ns, &frame);
}

static bool backlog_send(void *ctx, uint64_t now_ns, const struct mio_tx *frame)
{
	struct backlog_fixture *fixture = ctx;

	(void)now_ns;
	if (fixture->room == 0)
		return false;
	fixture->room--;
	fixture->seen[fixture->n_seen++] = *(const uint8_t *)frame->iov[0].iov_base;
	return true;
}

static void backlog_tick(struct backlog_fixture *fixture, uint64_t now_ns, uint32_t room)
{
	fixture->room = room;
	mio_backlog_tick(&fixture->b, now_ns, backlog_send, fixture);
}

BACKLOG_TEST(mio_backlog_tick, sends_in_order_when_it_is_time)
{
	struct backlog_fixture *fixture = *state;

	assert_u_eq(mio_backlog_deadline(&fixture->b), MIO_NEVER);
	for (uint32_t i = 0; i < 5; i++)
		backlog_put(fixture, 100 + i, i);
	assert_true(fixture->status.blocked);
	assert_u_eq(mio_backlog_deadline(&fixture->b), 100 + MIO_BACKLOG_RETRY_NS);
	backlog_tick(fixture, 99 + MIO_BACKLOG_RETRY_NS, 9);
	assert_u_eq(fixture->n_seen, 0);
	backlog_tick(fixture, 100 + MIO_BACKLOG_RETRY_NS, 9);
	assert_u_eq(fixture->n_seen, 5);
	for (uint32_t i = 0; i < 5; i++)
		assert_u_eq(fixture->seen[i], i);
	assert_false(fixture->status.blocked);
	assert_u_eq(fixture->status.tx_backlogged, 5);
}

BACKLOG_TEST(mio_backlog_tick, waits_once_more_without_room)
{
	struct backlog_fixture *fixture = *state;
	uint64_t later = 3 * MIO_BACKLOG_RETRY_NS;

	backlog_put(fixture, 0, 1);
	backlog_put(fixture, 0, 2);
	backlog_tick(fixture, later, 1);
	assert_u_eq(fixture->n_seen, 1);
	assert_true(fixture->status.blocked);
	assert_u_eq(mio_backlog_deadline(&fixture->b), later + MIO_BACKLOG_RETRY_NS);
	backlog_tick(fixture, later + MIO_BACKLOG_RETRY_NS, 1);
	assert_u_eq(fixture->seen[1], 2);
	assert_false(fixture->status.blocked);
}

BACKLOG_TEST(mio_backlog_put, what_does_not_fit_is_lost_and_counted)
{
	struct backlog_fixture *fixture = *state;
	uint32_t held = 0;

	for (uint32_t i = 0; i < 1000; i++)
		backlog_put(fixture, 0, i);
	held = (uint32_t)fixture->status.tx_backlogged;
	assert_u_between(held, 64, 999);
	assert_u_eq(fixture->status.tx_refused, 1000 - held);
	assert_i_eq(fixture->status.last_refusal, ENOBUFS);
	assert_i_eq(fixture->status.error, 0);
}

/* A queue that never empties must not hold a QP's last attempt, and with it the QP, for ever. */
BACKLOG_TEST(mio_backlog_tick, what_finds_no_room_for_long_is_lost_and_counted)
{
	struct backlog_fixture *fixture = *state;
	uint64_t now = 1000, begin = now;

	backlog_put(fixture, now, 1);
	backlog_put(fixture, now, 2);
	for (; now < begin + MIO_BACKLOG_PATIENCE_NS; now += MIO_BACKLOG_RETRY_NS)
		backlog_tick(fixture, now, 0);
	assert_true(fixture->status.blocked);
	/* One that leaves shows that the queue moves. */
	backlog_tick(fixture, now, 1);
	begin = now;
	for (; now < begin + MIO_BACKLOG_PATIENCE_NS; now += MIO_BACKLOG_RETRY_NS)
		backlog_tick(fixture, now, 0);
	assert_true(fixture->status.blocked);
	assert_u_eq(fixture->status.tx_refused, 0);
	backlog_tick(fixture, begin + MIO_BACKLOG_PATIENCE_NS, 0);
	assert_true(fixture->status.blocked);
	backlog_tick(fixture, now + MIO_BACKLOG_RETRY_NS, 0);
	assert_false(fixture->status.blocked);
	assert_u_eq(fixture->n_seen, 1);
	assert_u_eq(fixture->status.tx_refused, 1);
	assert_i_eq(fixture->status.last_refusal, ENOBUFS);
	assert_i_eq(fixture->status.error, 0);
	assert_u_eq(mio_backlog_deadline(&fixture->b), MIO_NEVER);
}

TEST(mio_count_refused, what_ends_a_port)
{
	struct mio_status status = {.error = 0};

	mio_count_refused(&status, EMSGSIZE);
	assert_i_eq(status.error, 0);
	mio_count_refused(&status, ENODEV);
	assert_i_eq(status.error, ENODEV);
	assert_u_eq(status.tx_refused, 2);
}
