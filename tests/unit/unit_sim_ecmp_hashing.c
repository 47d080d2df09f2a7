/* SPDX-License-Identifier: BSD-2-Clause */
/* Balls in bins: the exact form against counting by hand, and against draws. */
#include "support/test.h"

#include <math.h>

#include "sim/run/ecmp_hashing.h"

static struct ms_hashing exact, drawn;

static void assert_near(double got, double want, double by)
{
	if (fabs(got - want) > by)
		fail_msg("got %.9f, want %.9f within %.9f", got, want, by);
}

TEST(ms_hashing_exact, is_what_counting_says)
{
	const struct ms_hashing_cfg two = {.flows = 2, .links = 2, .groups = 1};
	const struct ms_hashing_cfg three = {.flows = 3, .links = 3, .groups = 1};
	const struct ms_hashing_cfg one = {.flows = 7, .links = 1, .groups = 5};

	assert_true(ms_hashing_exact(&two, &exact));
	assert_near(exact.mean_worst, 1.5, 1e-9);
	/* Of 27 ways 6 have no two together, 3 all three. */
	assert_true(ms_hashing_exact(&three, &exact));
	assert_near(exact.mean_worst, (6 * 1 + 18 * 2 + 3 * 3) / 27.0, 1e-9);
	assert_true(ms_hashing_exact(&one, &exact));
	assert_near(exact.mean_worst, 7, 1e-9);
	assert_u_eq(exact.p99, 7);
}

/* REQ(sim.hashing) */
TEST(ms_hashing_exact, is_what_draws_say)
{
	static const struct ms_hashing_cfg cases[] = {
		{32, 32, 1}, {32, 32, 32}, {256, 32, 4}, {100, 7, 3}, {8, 256, 2}};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(ms_hashing_exact(&cases[i], &exact));
		assert_true(ms_hashing_draw(&cases[i], 4000, 7 + i, &drawn));
		/* The worst link varies by a few flows: the mean of 4,000 is good to 0.1. */
		assert_near(exact.mean_worst, drawn.mean_worst, 0.1);
		assert_near(exact.p50, drawn.p50, 1);
		assert_near(exact.p99, drawn.p99, 1);
	}
}

TEST(ms_hashing_exact, refuses_what_is_out_of_range)
{
	const struct ms_hashing_cfg wrong[] = {
		{0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {MS_HASHING_FLOWS_MAX + 1, 1, 1}};

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_false(ms_hashing_exact(&wrong[i], &exact));
		assert_false(ms_hashing_draw(&wrong[i], 5, 1, &drawn));
	}
}
