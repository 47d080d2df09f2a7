/* SPDX-License-Identifier: BSD-2-Clause */
/* Times in buckets: src/cli/perf/perf.h. */
#include "cli/perf/perf.h"

#include "support/test.h"

static struct perf_histogram h;

TEST(perf_histogram_percentile, empty_is_zero)
{
	memset(&h, 0, sizeof(h));
	assert_u_eq(perf_histogram_percentile(&h, 50), 0);
}

TEST(perf_histogram_percentile, small_numbers_are_exact)
{
	memset(&h, 0, sizeof(h));
	for (uint64_t ns = 1; ns <= 60; ns++)
		perf_histogram_add(&h, ns);
	assert_u_eq(perf_histogram_percentile(&h, 50), 30);
	assert_u_eq(perf_histogram_percentile(&h, 100), 60);
	assert_u_eq(h.max, 60);
}

TEST(perf_histogram_percentile, never_beyond_the_largest)
{
	memset(&h, 0, sizeof(h));
	perf_histogram_add(&h, 1000001);
	assert_u_eq(perf_histogram_percentile(&h, 99), 1000001);
	perf_histogram_add(&h, UINT64_MAX);
	assert_u_eq(perf_histogram_percentile(&h, 100), UINT64_MAX);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Against sorting: within a 32nd above the true value. */
TEST(perf_histogram_percentile, near_to_the_truth)
{
	static uint64_t all[1000];

	memset(&h, 0, sizeof(h));
	for (size_t i = 0; i < 1000; i++) {
		all[i] = test_rand() >> (20 + test_rand_below(40));
		perf_histogram_add(&h, all[i]);
	}
	qsort(all, 1000, sizeof(all[0]), by_value);
	for (uint32_t percent = 1; percent <= 99; percent += 7) {
		uint64_t truth = all[percent * 10 - 1];

		assert_u_between(perf_histogram_percentile(&h, percent), truth,
				 truth + truth / 32 + 1);
	}
}
