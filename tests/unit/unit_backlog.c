/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_backlog.c - frames wait in order, are tried again after a while, and overflow is counted. */
#include "support/test.h"

#include <errno.h>

#include "io/backlog.h"

struct backlog_bed {
	struct mio_status status;
	struct mio_backlog b;
	uint32_t room; /* frames that the system takes */
	uint8_t seen[300];
	uint32_t n_seen;
};

static int backlog_setup(void **state)
{
	struct backlog_bed *bed = calloc(1, sizeof(*bed));

	*state = bed;
	return mio_backlog_init(&bed->b, &bed->status) ? 0 : -1;
}

static int backlog_teardown(void **state)
{
	struct backlog_bed *bed = *state;

	mio_backlog_fini(&bed->b);
	free(bed);
	return 0;
}

#define BACKLOG_TEST(function, name) TEST_WITH(backlog_setup, backlog_teardown, function, name)

static void backlog_put(struct backlog_bed *bed, uint64_t now_ns, uint32_t number)
{
	uint8_t byte = (uint8_t)number;
	struct iovec iov = {&byte, 1};
	struct mio_tx frame = {.iov = &iov, .n_iov = 1, .len = 1};

	mio_backlog_put(&bed->b, now_ns, &frame);
}

static bool backlog_send(void *ctx, uint64_t now_ns, const struct mio_tx *frame)
{
	struct backlog_bed *bed = ctx;

	(void)now_ns;
	if (bed->room == 0)
		return false;
	bed->room--;
	bed->seen[bed->n_seen++] = *(const uint8_t *)frame->iov[0].iov_base;
	return true;
}

static void backlog_tick(struct backlog_bed *bed, uint64_t now_ns, uint32_t room)
{
	bed->room = room;
	mio_backlog_tick(&bed->b, now_ns, backlog_send, bed);
}

BACKLOG_TEST(mio_backlog_tick, sends_in_order_when_it_is_time)
{
	struct backlog_bed *bed = *state;

	assert_u_eq(mio_backlog_deadline(&bed->b), MIO_NEVER);
	for (uint32_t i = 0; i < 5; i++)
		backlog_put(bed, 100 + i, i);
	assert_true(bed->status.blocked);
	assert_u_eq(mio_backlog_deadline(&bed->b), 100 + MIO_BACKLOG_RETRY_NS);
	backlog_tick(bed, 99 + MIO_BACKLOG_RETRY_NS, 9);
	assert_u_eq(bed->n_seen, 0);
	backlog_tick(bed, 100 + MIO_BACKLOG_RETRY_NS, 9);
	assert_u_eq(bed->n_seen, 5);
	for (uint32_t i = 0; i < 5; i++)
		assert_u_eq(bed->seen[i], i);
	assert_false(bed->status.blocked);
	assert_u_eq(bed->status.tx_held, 5);
}

BACKLOG_TEST(mio_backlog_tick, waits_once_more_without_room)
{
	struct backlog_bed *bed = *state;
	uint64_t later = 3 * MIO_BACKLOG_RETRY_NS;

	backlog_put(bed, 0, 1);
	backlog_put(bed, 0, 2);
	backlog_tick(bed, later, 1);
	assert_u_eq(bed->n_seen, 1);
	assert_true(bed->status.blocked);
	assert_u_eq(mio_backlog_deadline(&bed->b), later + MIO_BACKLOG_RETRY_NS);
	backlog_tick(bed, later + MIO_BACKLOG_RETRY_NS, 1);
	assert_u_eq(bed->seen[1], 2);
	assert_false(bed->status.blocked);
}

BACKLOG_TEST(mio_backlog_put, what_does_not_fit_is_lost_and_counted)
{
	struct backlog_bed *bed = *state;
	uint32_t held = 0;

	for (uint32_t i = 0; i < 1000; i++)
		backlog_put(bed, 0, i);
	held = (uint32_t)bed->status.tx_held;
	assert_u_between(held, 64, 999);
	assert_u_eq(bed->status.tx_refused, 1000 - held);
	assert_i_eq(bed->status.last_refusal, ENOBUFS);
	assert_i_eq(bed->status.error, 0);
}

TEST(mio_refused, what_ends_a_port)
{
	struct mio_status status = {.error = 0};

	mio_refused(&status, EMSGSIZE);
	assert_i_eq(status.error, 0);
	mio_refused(&status, ENODEV);
	assert_i_eq(status.error, ENODEV);
	assert_u_eq(status.tx_refused, 2);
}
