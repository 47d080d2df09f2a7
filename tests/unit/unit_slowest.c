/* SPDX-License-Identifier: BSD-2-Clause */
/* The longest time that a peer took to answer lately, and how long it is kept. */
#include "support/test.h"

#include "core/ev/slowest.h"

#define MS UINT64_C(1000000)
#define START (1000 * MS)
#define PAUSE (40 * MS)
#define INTERVAL (64 * PAUSE)

TEST(mt_slowest_patience_ns, nothing_is_known_at_first)
{
	struct mt_slowest s = {0};

	assert_u_eq(mt_slowest_patience_ns(&s), 0);
}

/* REQ(req.retry.slow-peer) */
TEST(mt_slowest_sample, the_longest_and_a_quarter)
{
	struct mt_slowest s = {0};

	mt_slowest_sample(&s, START, MS);
	mt_slowest_sample(&s, START + 1, PAUSE);
	mt_slowest_sample(&s, START + 2, 2 * MS);
	assert_u_eq(mt_slowest_patience_ns(&s), PAUSE + PAUSE / 4);
}

/* It is there for the rest of its interval and all of the next one. */
TEST(mt_slowest_sample, kept_for_many_times_its_length)
{
	struct mt_slowest s = {0};
	uint64_t now = START;

	mt_slowest_sample(&s, now, PAUSE);
	now += INTERVAL;
	mt_slowest_sample(&s, now, MS);
	assert_u_eq(mt_slowest_patience_ns(&s), PAUSE + PAUSE / 4);
	now++;
	mt_slowest_sample(&s, now, MS);
	assert_u_eq(mt_slowest_patience_ns(&s), PAUSE + PAUSE / 4);
	now += INTERVAL;
	mt_slowest_sample(&s, now, MS);
	assert_u_eq(mt_slowest_patience_ns(&s), PAUSE + PAUSE / 4);
	mt_slowest_sample(&s, now + 1, MS);
	assert_u_eq(mt_slowest_patience_ns(&s), MS + MS / 4);
}

/* Of two intervals the longer one counts, whichever it is. */
TEST(mt_slowest_sample, a_longer_one_later)
{
	struct mt_slowest s = {0};

	mt_slowest_sample(&s, START, PAUSE);
	mt_slowest_sample(&s, START + INTERVAL + 1, 2 * PAUSE);
	assert_u_eq(mt_slowest_patience_ns(&s), 2 * PAUSE + PAUSE / 2);
}

TEST(mt_slowest_sample, no_pause_is_longer_than_a_second)
{
	struct mt_slowest s = {0};

	mt_slowest_sample(&s, START, 1000 * MS);
	assert_u_eq(mt_slowest_patience_ns(&s), 1250 * MS);
	mt_slowest_sample(&s, START, 3600000 * MS);
	assert_u_eq(mt_slowest_patience_ns(&s), 1250 * MS);
}

/* The stamp of an arrival may be behind. */
TEST(mt_slowest_sample, a_clock_that_is_behind_ends_no_interval)
{
	struct mt_slowest s = {0};

	mt_slowest_sample(&s, START, PAUSE);
	mt_slowest_sample(&s, START - 1, MS);
	mt_slowest_sample(&s, START - 2, MS);
	assert_u_eq(mt_slowest_patience_ns(&s), PAUSE + PAUSE / 4);
}
