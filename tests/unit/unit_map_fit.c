/* SPDX-License-Identifier: BSD-2-Clause */
/* Likelihoods, and what a few watchers may say about a part. */
#include "fabric_fixture.h"

#include "map/map_state.h"

/* 2^(1/2) and others, times 2^40: log2 is what was put in. */
TEST(mm_log2, is_right_to_a_part_in_65536)
{
	static const struct {
		uint64_t x;
		int64_t log;
	} rows[] = {{1, 0},
		    {2, 1 << 16},
		    {UINT64_C(1) << 63, INT64_C(63) << 16},
		    {3, 103872},	/* 1.5849625 */
		    {1000000, 1306235}, /* 19.9315686 */
		    {UINT64_MAX, (INT64_C(64) << 16) - 1},
		    {UINT64_C(1554944255988), 2654208}}; /* 40.5 */

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t off = mm_log2(rows[i].x) - rows[i].log;

		if (off < -1 || off > 1)
			fail_msg("%" PRIu64 ": %" PRId64 " off", rows[i].x, off);
	}
	for (uint64_t x = 1; x < 5000; x++)
		assert_true(mm_log2(x) <= mm_log2(x + 1));
}

TEST(mm_likelihood, speaks_for_a_part_that_loses_and_against_one_that_does_not)
{
	const struct mm_sum lost = {100, 50}, none = {100, 0};

	assert_true(mm_likelihood(&lost, 500000, 200) > 0);
	assert_true(mm_likelihood(&none, 500000, 200) < -(INT64_C(99) << 16));
	assert_true(mm_likelihood(&none, 500000, 200) > -(INT64_C(101) << 16));
}
