/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_hold.c - the queue of frame copies keeps bytes, dues and order. */
#include "support/test.h"

#include "io/backlog.h"

static struct iovec hold_parts[2];
static uint8_t hold_bytes[64];

/* hold_frame returns a frame of 64 bytes in two parts that begins with `tag`. */
static struct mio_tx hold_frame(uint8_t tag)
{
	memset(hold_bytes, tag, sizeof(hold_bytes));
	hold_parts[0] = (struct iovec){hold_bytes, 40};
	hold_parts[1] = (struct iovec){hold_bytes + 40, 24};
	return (struct mio_tx){.iov = hold_parts, .n_iov = 2, .len = 64, .ev = tag, .tos = 7};
}

static void hold_put(struct mio_delayq *hold, uint8_t tag, uint64_t due_ns)
{
	struct mio_tx frame = hold_frame(tag);

	assert_true(mio_delayq_put(hold, &frame, due_ns));
}

static uint8_t hold_first_tag(struct mio_delayq *hold)
{
	return ((const uint8_t *)mio_delayq_first(hold)->iov[0].iov_base)[63];
}

TEST(mio_delayq_put, copies_bytes_and_all_else)
{
	struct mio_delayq *hold = mio_delayq_create(2);
	const struct mio_tx *frame;

	hold_put(hold, 9, 5);
	memset(hold_bytes, 0, sizeof(hold_bytes));
	frame = mio_delayq_first(hold);
	assert_u_eq(frame->n_iov, 1);
	assert_u_eq(frame->iov[0].iov_len, 64);
	assert_u_eq(frame->ev, 9);
	assert_u_eq(frame->tos, 7);
	for (int i = 0; i < 64; i++)
		assert_u_eq(((const uint8_t *)frame->iov[0].iov_base)[i], 9);
	mio_delayq_destroy(hold);
}

static size_t hold_readable; /* bytes of a program's memory that are still there */

static bool hold_copy(void *to, const void *from, size_t len)
{
	if (len > hold_readable)
		return false;
	hold_readable -= len;
	memcpy(to, from, len);
	return true;
}

TEST(mio_delayq_put, memory_that_is_gone_refuses_the_frame)
{
	struct mio_delayq *hold = mio_delayq_create(2);
	struct mio_tx frame = hold_frame(9);

	frame.copy = hold_copy;
	hold_readable = 63;
	assert_false(mio_delayq_put(hold, &frame, 5));
	assert_u_eq(mio_delayq_count(hold), 0);
	hold_readable = 64;
	assert_true(mio_delayq_put(hold, &frame, 5));
	assert_u_eq(hold_readable, 0);
	assert_u_eq(hold_first_tag(hold), 9);
	mio_delayq_destroy(hold);
}

TEST(mio_delayq_put, refuses_when_full_and_works_again)
{
	struct mio_delayq *hold = mio_delayq_create(2);
	struct mio_tx third;

	hold_put(hold, 1, 10);
	hold_put(hold, 2, 20);
	third = hold_frame(3);
	assert_false(mio_delayq_put(hold, &third, 0));
	assert_u_eq(mio_delayq_count(hold), 2);
	mio_delayq_pop(hold);
	assert_true(mio_delayq_put(hold, &third, 0));
	assert_u_eq(hold_first_tag(hold), 3);
	mio_delayq_destroy(hold);
}

TEST(mio_delayq_first, empty_queue_has_none)
{
	struct mio_delayq *hold = mio_delayq_create(1);

	assert_null(mio_delayq_first(hold));
	assert_u_eq(mio_delayq_deadline(hold), MIO_NEVER);
	mio_delayq_destroy(hold);
}

TEST(mio_delayq_pop, equal_dues_leave_in_order_of_arrival)
{
	struct mio_delayq *hold = mio_delayq_create(100);

	for (uint8_t i = 0; i < 100; i++)
		hold_put(hold, i, 77);
	for (uint8_t i = 0; i < 100; i++) {
		assert_u_eq(hold_first_tag(hold), i);
		mio_delayq_pop(hold);
	}
	mio_delayq_destroy(hold);
}

TEST(mio_delayq_pop, random_dues_leave_sorted)
{
	struct mio_delayq *hold = mio_delayq_create(300);
	uint64_t last = 0;

	for (size_t i = 0; i < test_rounds(3000); i++) {
		if (mio_delayq_count(hold) < 300 && test_rand_chance(2, 3))
			hold_put(hold, (uint8_t)i, last + test_rand_below(1000));
		if (mio_delayq_count(hold) > 0 && test_rand_chance(1, 2)) {
			assert_true(mio_delayq_deadline(hold) >= last);
			last = mio_delayq_deadline(hold);
			mio_delayq_pop(hold);
		}
	}
	mio_delayq_destroy(hold);
}
