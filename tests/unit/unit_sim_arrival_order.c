/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/kernel/worker.h"

#include "support/test.h"

/* n keys below span, many of them at the same time. */
static void sorts(uint32_t n, uint64_t span)
{
	struct ms_key *keys = calloc(n + 1, sizeof(*keys)), *other = calloc(n + 1, sizeof(*other));
	uint32_t counts[MS_ORDER_BUCKETS + 1];
	const struct ms_key *sorted;
	uint64_t sum = 0;

	assert_true(keys && other);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t when = test_rand_chance(1, 3) ? span - 1 : test_rand_below(span);

		keys[i] = (struct ms_key){when << 32 | i, NULL};
		sum += keys[i].key;
	}
	sorted = ms_order(keys, other, n, span, counts);
	for (uint32_t i = 0; i < n; i++)
		sum -= sorted[i].key;
	assert_u_eq(sum, 0);
	for (uint32_t i = 1; i < n; i++)
		assert_true(sorted[i - 1].key < sorted[i].key);
	free(keys);
	free(other);
}

TEST(ms_order, sorts)
{
	for (size_t round = 0; round < test_rounds(300); round++)
		sorts((uint32_t)test_rand_below(400), 1 + test_rand_below(UINT64_C(1) << 32));
	sorts(20000, UINT64_C(1) << 32);
	sorts(20000, 1000000);
}

TEST(ms_order, one_instant)
{
	sorts(500, 1);
}
