/* SPDX-License-Identifier: BSD-2-Clause */
/* The longest time that a peer took to answer lately, and how long it is kept. */
#include "support/test.h"

#include "core/ev/slowest.h"

/* Times are kept in units, this many of which are a millisecond or nearly. */
#define UNIT (UINT64_C(1) << MT_SLOWEST_LOG2)
#define MS (61 * UNIT)
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
	now += UNIT;
	mt_slowest_sample(&s, now, MS);
	assert_u_eq(mt_slowest_patience_ns(&s), PAUSE + PAUSE / 4);
	now += INTERVAL;
	mt_slowest_sample(&s, now, MS);
	assert_u_eq(mt_slowest_patience_ns(&s), PAUSE + PAUSE / 4);
	mt_slowest_sample(&s, now + UNIT, MS);
	assert_u_eq(mt_slowest_patience_ns(&s), MS + MS / 4);
}

/* Of two intervals the longer one counts, whichever it is. */
TEST(mt_slowest_sample, a_longer_one_later)
{
	struct mt_slowest s = {0};

	mt_slowest_sample(&s, START, PAUSE);
	mt_slowest_sample(&s, START + INTERVAL + UNIT, 2 * PAUSE);
	assert_u_eq(mt_slowest_patience_ns(&s), 2 * PAUSE + PAUSE / 2);
}

/* A second, which is no whole number of units: what is kept is not less. */
TEST(mt_slowest_sample, no_pause_is_longer_than_a_second)
{
	const uint64_t second = (UINT64_C(1000000000) / UNIT + 1) * UNIT;
	struct mt_slowest s = {0};

	mt_slowest_sample(&s, START, 1000000000);
	assert_u_eq(mt_slowest_patience_ns(&s), second + second / 4);
	mt_slowest_sample(&s, START, 3600000 * MS);
	assert_u_eq(mt_slowest_patience_ns(&s), second + second / 4);
}

TEST(mt_slowest_sample, not_less_than_it_took)
{
	struct mt_slowest s = {0};

	mt_slowest_sample(&s, START, 1);
	assert_u_eq(mt_slowest_patience_ns(&s), UNIT + UNIT / 4);
	mt_slowest_sample(&s, START, UNIT);
	assert_u_eq(mt_slowest_patience_ns(&s), UNIT + UNIT / 4);
	mt_slowest_sample(&s, START, UNIT + 1);
	assert_u_eq(mt_slowest_patience_ns(&s), 2 * UNIT + UNIT / 2);
}

/* The count of units comes round in 19 hours. */
TEST(mt_slowest_sample, over_the_end_of_the_count)
{
	const uint64_t end = (UINT64_C(1) << 32) * UNIT;
	struct mt_slowest s = {0};

	mt_slowest_sample(&s, end - INTERVAL / 2, PAUSE);
	mt_slowest_sample(&s, end + INTERVAL / 2, MS);
	assert_u_eq(mt_slowest_patience_ns(&s), PAUSE + PAUSE / 4);
	mt_slowest_sample(&s, end + INTERVAL / 2 + UNIT, MS);
	mt_slowest_sample(&s, end + 2 * INTERVAL, MS);
	assert_u_eq(mt_slowest_patience_ns(&s), MS + MS / 4);
}

/* The stamp of an arrival may be behind. */
TEST(mt_slowest_sample, a_clock_that_is_behind_ends_no_interval)
{
	struct mt_slowest s = {0};

	mt_slowest_sample(&s, START, PAUSE);
	mt_slowest_sample(&s, START - UNIT, MS);
	mt_slowest_sample(&s, START - 2 * UNIT, MS);
	assert_u_eq(mt_slowest_patience_ns(&s), PAUSE + PAUSE / 4);
}
