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
	assert_false(probe_book_settle(&b, 7 + PROBE_WAIT_STEPS - 2, &counts));
	assert_u_eq(probe_book_arrive(&b, 0, NONCE, true, 0), PROBE_ANSWERED);
	/* That it came is known at once, and counts for what is lost at its time only. */
	assert_true(probe_book_settle(&b, 7 + PROBE_WAIT_STEPS - 1, &counts));
	assert_u_eq(counts.known[MM_LOST], 0);
	assert_u_eq(counts.known[MM_CORRUPTED], 1);
	assert_true(probe_book_settle(&b, 7 + PROBE_WAIT_STEPS, &counts));
	assert_u_eq(counts.known[MM_LOST], 1);
	assert_u_eq(counts.bad[MM_LOST], 0);
	assert_u_eq(counts.known[MM_CORRUPTED], 0);
	assert_true(probe_book_settle(&b, 8 + PROBE_WAIT_STEPS, &counts));
	assert_u_eq(counts.bad[MM_LOST], 1);
	assert_u_eq(counts.known[MM_CORRUPTED], 0);
	assert_false(probe_book_settle(&b, 100, &counts));
}

/* All take one way: what is missing when one came that left a step later is not under way. */
TEST(probe_book_settle, counts_as_lost_what_a_later_step_overtook)
{
	struct probe_book b = {0};

	for (uint64_t step = 7; step < 10; step++) {
		probe_book_send(&b, NONCE, step);
		probe_book_send(&b, NONCE, step);
	}
	/* The other one of its step may still come, and so may what left with the last that did. */
	assert_u_eq(probe_book_arrive(&b, 1, NONCE, true, 0), PROBE_ANSWERED);
	assert_true(probe_book_settle(&b, 9, &counts));
	assert_u_eq(counts.known[MM_LOST], 0);
	assert_u_eq(probe_book_arrive(&b, 3, NONCE, true, 0), PROBE_ANSWERED);
	assert_true(probe_book_settle(&b, 9, &counts));
	assert_u_eq(counts.known[MM_LOST], 2);
	assert_u_eq(counts.bad[MM_LOST], 1);
	assert_u_eq(probe_book_arrive(&b, 0, NONCE, true, 0), PROBE_LATE);
	/* One that came before says nothing of what left after it. */
	assert_u_eq(probe_book_arrive(&b, 2, NONCE, true, 0), PROBE_ANSWERED);
	assert_true(probe_book_settle(&b, 10, &counts));
	assert_u_eq(counts.known[MM_LOST], 0);
	assert_true(probe_book_settle(&b, 8 + PROBE_WAIT_STEPS, &counts));
	assert_u_eq(counts.known[MM_LOST], 2);
	assert_u_eq(counts.bad[MM_LOST], 0);
}

/* Of one step, too, where so many that left after it are there; not yet in the step itself. */
TEST(probe_book_settle, counts_as_lost_what_some_of_its_step_overtook)
{
	struct probe_book b = {0};

	for (uint32_t i = 0; i < 3 + PROBE_OVERTAKES; i++)
		probe_book_send(&b, NONCE, 7);
	for (uint32_t i = 0; i < PROBE_OVERTAKES; i++)
		probe_book_arrive(&b, 2 + i, NONCE, true, 0);
	assert_false(probe_book_settle(&b, 7, &counts));
	/* The last one is missing, and may be on its way. */
	assert_true(probe_book_settle(&b, 8, &counts));
	assert_u_eq(counts.known[MM_LOST], 2);
	assert_u_eq(counts.bad[MM_LOST], 2);
	assert_true(probe_book_settle(&b, 7 + PROBE_WAIT_STEPS, &counts));
	assert_u_eq(counts.known[MM_LOST], 1 + PROBE_OVERTAKES);
	assert_u_eq(counts.bad[MM_LOST], 1);
}

/* What reorders may hold the last packet of a step until the next step's have passed. */
TEST(probe_book_settle, waits_where_packets_were_overtaken)
{
	struct probe_book b = {0};
	const uint64_t end = 1 + PROBE_REORDER_STEPS;

	for (uint32_t seq = 0; seq < 4; seq++)
		probe_book_send(&b, NONCE, seq / 2);
	probe_book_arrive(&b, 1, NONCE, true, 0);
	probe_book_arrive(&b, 0, NONCE, true, 0); /* overtaken */
	probe_book_arrive(&b, 2, NONCE, true, 0);
	probe_book_arrive(&b, probe_book_send(&b, NONCE, 2), NONCE, true, 0);
	probe_book_settle(&b, 3, &counts);
	assert_u_eq(counts.bad[MM_LOST], 0);
	assert_u_eq(probe_book_arrive(&b, 3, NONCE, true, 0), PROBE_ANSWERED);
	assert_true(probe_book_settle(&b, 2 + PROBE_WAIT_STEPS, &counts));
	assert_u_eq(counts.known[MM_LOST], 5);
	assert_u_eq(counts.bad[MM_LOST], 0);
	/* Again what was overtaken is lost, when none came late for a while; the last left in 1. */
	probe_book_send(&b, NONCE, end - 1);
	probe_book_arrive(&b, probe_book_send(&b, NONCE, end), NONCE, true, 0);
	probe_book_settle(&b, end, &counts);
	assert_u_eq(counts.bad[MM_LOST], 0);
	probe_book_settle(&b, end + 1, &counts);
	assert_u_eq(counts.bad[MM_LOST], 1);
}

/* So it does where what was held came after it had been counted as lost. */
TEST(probe_book_settle, waits_where_what_counts_as_lost_was_overtaken)
{
	struct probe_book b = {0};

	probe_book_send(&b, NONCE, 0);
	probe_book_arrive(&b, probe_book_send(&b, NONCE, 1), NONCE, true, 0);
	assert_true(probe_book_settle(&b, 2, &counts));
	assert_u_eq(counts.bad[MM_LOST], 1);
	assert_u_eq(probe_book_arrive(&b, 0, NONCE, true, 0), PROBE_LATE);
	probe_book_send(&b, NONCE, 2);
	probe_book_arrive(&b, probe_book_send(&b, NONCE, 3), NONCE, true, 0);
	probe_book_settle(&b, 4, &counts);
	assert_u_eq(counts.bad[MM_LOST], 0);
	assert_u_eq(probe_book_arrive(&b, 2, NONCE, true, 0), PROBE_ANSWERED);
	probe_book_settle(&b, 5, &counts);
	assert_u_eq(counts.bad[MM_REORDERED], 1);
}

/* Of what was sent in this step nothing is told yet: a copy may be behind it. */
TEST(probe_book_settle, tells_once_and_not_in_the_same_step)
{
	struct probe_book b = {0};

	probe_book_send(&b, NONCE, 7);
	assert_u_eq(probe_book_arrive(&b, 0, NONCE, false, 0), PROBE_ANSWERED);
	assert_false(probe_book_settle(&b, 7, &counts));
	assert_true(probe_book_settle(&b, 8, &counts));
	assert_u_eq(counts.bad[MM_CORRUPTED], 1);
	assert_false(probe_book_settle(&b, 9, &counts));
}

/* Doubt begins where some came and some did not, of one step: of what is dead none come. */
TEST(probe_book_misses, sees_what_did_not_come_with_the_others)
{
	struct probe_book b = {0};

	probe_book_send(&b, NONCE, 6);
	probe_book_send(&b, NONCE, 7);
	probe_book_send(&b, NONCE, 7);
	assert_false(probe_book_misses(&b, 8));
	probe_book_arrive(&b, 2, NONCE, true, 0);
	assert_true(probe_book_misses(&b, 8));
	assert_false(probe_book_misses(&b, 9));
	probe_book_arrive(&b, 1, NONCE, true, 0);
	assert_false(probe_book_misses(&b, 8));
	assert_false(probe_book_misses(&(struct probe_book){0}, 0));
}

TEST(probe_book_settle, counts_what_was_wrong)
{
	struct probe_book b = {0};

	for (uint32_t i = 0; i < 4; i++)
		probe_book_send(&b, NONCE, 0);
	assert_u_eq(probe_book_arrive(&b, 1, NONCE, true, 0), PROBE_ANSWERED);
	assert_u_eq(probe_book_arrive(&b, 0, NONCE, true, 0), PROBE_ANSWERED); /* overtaken */
	assert_u_eq(probe_book_arrive(&b, 2, NONCE, false, 0), PROBE_ANSWERED);
	assert_u_eq(probe_book_arrive(&b, 1, NONCE, true, 0), PROBE_TWICE);
	assert_true(probe_book_settle(&b, PROBE_WAIT_STEPS, &counts));
	assert_u_eq(counts.known[MM_LOST], 4);
	assert_u_eq(counts.bad[MM_LOST], 1);
	assert_u_eq(counts.known[MM_CORRUPTED], 3);
	assert_u_eq(counts.bad[MM_CORRUPTED], 1);
	assert_u_eq(counts.bad[MM_DUPLICATED], 1);
	assert_u_eq(counts.bad[MM_REORDERED], 1);
}

/* A train that arrives over more time than any good link takes was slowed. */
static bool train(struct probe_book *b, uint64_t step, uint64_t apart_ns, uint32_t missing)
{
	probe_book_train(b);
	for (uint32_t i = 0; i < PROBE_TRAIN; i++) {
		uint32_t seq = probe_book_send(b, NONCE, step);

		if (i != missing)
			probe_book_arrive(b, seq, NONCE, true, 5000 + i * apart_ns);
	}
	assert_true(probe_book_settle(b, step + PROBE_WAIT_STEPS, &counts));
	return counts.known[MM_SLOWED] == 1;
}

TEST(probe_book_train, tells_what_was_slowed)
{
	struct probe_book b = {.slow_ns = 3000}, untold = {0};
	uint32_t first;

	assert_true(train(&b, 0, 1000, PROBE_TRAIN));
	assert_u_eq(counts.bad[MM_SLOWED], 0);
	assert_true(train(&b, 10, 1001, PROBE_TRAIN));
	assert_u_eq(counts.bad[MM_SLOWED], 1);
	/* One that is not whole says nothing, nor where no rate is known, nor a clock set back. */
	assert_false(train(&b, 20, 1001, 1));
	assert_false(train(&untold, 0, 1001, PROBE_TRAIN));
	assert_false(train(&b, 30, (uint64_t)-1, PROBE_TRAIN));
	/* Pairs behind it are none, nor is one that did not all leave. */
	first = probe_book_send(&b, NONCE, 40);
	probe_book_train(&b);
	probe_book_send(&b, NONCE, 40);
	probe_book_unsend(&b);
	for (uint32_t i = 0; i < PROBE_TRAIN; i++)
		probe_book_send(&b, NONCE, 40);
	for (uint32_t i = 0; i <= PROBE_TRAIN; i++)
		probe_book_arrive(&b, first + i, NONCE, true, 1 + i * 5000);
	assert_true(probe_book_settle(&b, 50, &counts));
	assert_u_eq(counts.known[MM_LOST], 1 + PROBE_TRAIN);
	assert_u_eq(counts.bad[MM_LOST], 0);
	assert_u_eq(counts.known[MM_SLOWED], 0);
}

TEST(probe_book_arrive, takes_no_forged_answers)
{
	struct probe_book b = {0};

	assert_u_eq(probe_book_arrive(&b, 0, 0, true, 0), PROBE_FORGED); /* nothing was sent */
	probe_book_send(&b, NONCE, 0);
	assert_u_eq(probe_book_arrive(&b, 0, NONCE ^ 1, true, 0), PROBE_FORGED);
	assert_u_eq(probe_book_arrive(&b, 1, NONCE, true, 0), PROBE_FORGED);
	assert_u_eq(probe_book_arrive(&b, UINT32_MAX, NONCE, true, 0), PROBE_FORGED);
	assert_u_eq(probe_book_arrive(&b, PROBE_SLOTS, NONCE, true, 0), PROBE_FORGED);
	assert_true(probe_book_settle(&b, PROBE_WAIT_STEPS, &counts));
	assert_u_eq(counts.bad[MM_LOST], 1);
}

TEST(probe_book_arrive, takes_replayed_answers_once)
{
	struct probe_book b = {0};

	probe_book_send(&b, NONCE, 0);
	probe_book_send(&b, NONCE + 1, 0);
	assert_u_eq(probe_book_arrive(&b, 0, NONCE, true, 0), PROBE_ANSWERED);
	assert_u_eq(probe_book_arrive(&b, 0, NONCE, true, 0), PROBE_TWICE);
	assert_u_eq(probe_book_arrive(&b, 0, NONCE, true, 0), PROBE_REPLAYED);
	assert_true(probe_book_settle(&b, PROBE_WAIT_STEPS, &counts));
	assert_u_eq(probe_book_arrive(&b, 0, NONCE, true, 0), PROBE_REPLAYED);
	assert_u_eq(probe_book_arrive(&b, 1, NONCE + 1, true, 0), PROBE_LATE);
	assert_u_eq(probe_book_arrive(&b, 1, NONCE + 1, true, 0), PROBE_REPLAYED);
}

TEST(probe_book_arrive, goes_on_when_numbers_wrap)
{
	struct probe_book b = {.next = UINT32_MAX, .settled = UINT32_MAX, .newest = UINT32_MAX};

	assert_u_eq(probe_book_send(&b, NONCE, 0), UINT32_MAX);
	assert_u_eq(probe_book_send(&b, NONCE, 0), 0);
	assert_u_eq(probe_book_arrive(&b, UINT32_MAX, NONCE, true, 0), PROBE_ANSWERED);
	assert_u_eq(probe_book_arrive(&b, 0, NONCE, true, 0), PROBE_ANSWERED);
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
	assert_u_eq(probe_book_arrive(&b, 0, 0, true, 0), PROBE_FORGED);
}
