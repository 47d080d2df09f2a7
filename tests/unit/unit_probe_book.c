/* SPDX-License-Identifier: BSD-2-Clause */
/* What became of probes: src/prober/probe_book.h. */
#include "prober/probe_book.h"
#include "support/test.h"

#define NONCE UINT64_C(0x0123456789abcdef)

static struct mm_counts counts;

TEST(probe_book_settle, counts_after_its_time_only)
{
	struct probe_book b = {0};

	assert_u_eq(probe_book_send(&b, NONCE, 7), 0);
	assert_u_eq(probe_book_send(&b, NONCE + 1, 8), 1);
	assert_false(probe_book_settle(&b, 7 + PROBE_WAIT_STEPS - 1, &counts));
	assert_u_eq(probe_book_arrive(&b, 0, NONCE, true), PROBE_ANSWERED);
	assert_true(probe_book_settle(&b, 7 + PROBE_WAIT_STEPS, &counts));
	assert_u_eq(counts.known[MM_LOST], 1);
	assert_u_eq(counts.bad[MM_LOST], 0);
	assert_u_eq(counts.known[MM_CORRUPTED], 1);
	assert_true(probe_book_settle(&b, 8 + PROBE_WAIT_STEPS, &counts));
	assert_u_eq(counts.bad[MM_LOST], 1);
	assert_u_eq(counts.known[MM_CORRUPTED], 0);
	assert_false(probe_book_settle(&b, 100, &counts));
}

TEST(probe_book_settle, counts_what_was_wrong)
{
	struct probe_book b = {0};

	for (uint32_t i = 0; i < 4; i++)
		probe_book_send(&b, NONCE, 0);
	assert_u_eq(probe_book_arrive(&b, 1, NONCE, true), PROBE_ANSWERED);
	assert_u_eq(probe_book_arrive(&b, 0, NONCE, true), PROBE_ANSWERED); /* overtaken */
	assert_u_eq(probe_book_arrive(&b, 2, NONCE, false), PROBE_ANSWERED);
	assert_u_eq(probe_book_arrive(&b, 1, NONCE, true), PROBE_TWICE);
	assert_true(probe_book_settle(&b, PROBE_WAIT_STEPS, &counts));
	assert_u_eq(counts.known[MM_LOST], 4);
	assert_u_eq(counts.bad[MM_LOST], 1);
	assert_u_eq(counts.known[MM_CORRUPTED], 3);
	assert_u_eq(counts.bad[MM_CORRUPTED], 1);
	assert_u_eq(counts.bad[MM_DUPLICATED], 1);
	assert_u_eq(counts.bad[MM_REORDERED], 1);
}

TEST(probe_book_arrive, takes_no_forged_answers)
{
	struct probe_book b = {0};

	assert_u_eq(probe_book_arrive(&b, 0, 0, true), PROBE_FORGED); /* nothing was sent */
	probe_book_send(&b, NONCE, 0);
	assert_u_eq(probe_book_arrive(&b, 0, NONCE ^ 1, true), PROBE_FORGED);
	assert_u_eq(probe_book_arrive(&b, 1, NONCE, true), PROBE_FORGED);
	assert_u_eq(probe_book_arrive(&b, UINT32_MAX, NONCE, true), PROBE_FORGED);
	assert_u_eq(probe_book_arrive(&b, PROBE_SLOTS, NONCE, true), PROBE_FORGED);
	assert_true(probe_book_settle(&b, PROBE_WAIT_STEPS, &counts));
	assert_u_eq(counts.bad[MM_LOST], 1);
}

TEST(probe_book_arrive, takes_replayed_answers_once)
{
	struct probe_book b = {0};

	probe_book_send(&b, NONCE, 0);
	probe_book_send(&b, NONCE + 1, 0);
	assert_u_eq(probe_book_arrive(&b, 0, NONCE, true), PROBE_ANSWERED);
	assert_u_eq(probe_book_arrive(&b, 0, NONCE, true), PROBE_TWICE);
	assert_u_eq(probe_book_arrive(&b, 0, NONCE, true), PROBE_REPLAYED);
	assert_true(probe_book_settle(&b, PROBE_WAIT_STEPS, &counts));
	assert_u_eq(probe_book_arrive(&b, 0, NONCE, true), PROBE_REPLAYED);
	assert_u_eq(probe_book_arrive(&b, 1, NONCE + 1, true), PROBE_LATE);
	assert_u_eq(probe_book_arrive(&b, 1, NONCE + 1, true), PROBE_REPLAYED);
}

TEST(probe_book_arrive, goes_on_when_numbers_wrap)
{
	struct probe_book b = {.next = UINT32_MAX, .settled = UINT32_MAX, .newest = UINT32_MAX};

	assert_u_eq(probe_book_send(&b, NONCE, 0), UINT32_MAX);
	assert_u_eq(probe_book_send(&b, NONCE, 0), 0);
	assert_u_eq(probe_book_arrive(&b, UINT32_MAX, NONCE, true), PROBE_ANSWERED);
	assert_u_eq(probe_book_arrive(&b, 0, NONCE, true), PROBE_ANSWERED);
	assert_true(probe_book_settle(&b, PROBE_WAIT_STEPS, &counts));
	assert_u_eq(counts.known[MM_LOST], 2);
	assert_u_eq(counts.bad[MM_LOST] + counts.bad[MM_REORDERED], 0);
}

TEST(probe_book_unsend, forgets_it)
{
	struct probe_book b = {0};

	probe_book_send(&b, NONCE, 0);
	assert_true(probe_book_has(&b, 0, NONCE));
	probe_book_unsend(&b);
	assert_false(probe_book_has(&b, 0, NONCE));
	assert_false(probe_book_settle(&b, 100, &counts));
	assert_u_eq(probe_book_send(&b, NONCE + 1, 100), 0);
}

/* A packet of zeros is none of the probes that have the slot of one that was not sent. */
TEST(probe_book_unsend, leaves_nothing_to_guess)
{
	struct probe_book b = {0};

	for (uint32_t i = 0; i < PROBE_SLOTS; i++) {
		probe_book_send(&b, NONCE, 0);
		assert_true(probe_book_settle(&b, 100, &counts));
	}
	probe_book_send(&b, NONCE, 0);
	probe_book_unsend(&b);
	assert_u_eq(probe_book_arrive(&b, 0, 0, true), PROBE_FORGED);
}
