/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_mr_keys.c - keys of MRs and windows: none is given twice, and none says which is next. */
#include "support/test.h"

#include "host/state/nic_context.h"
#include "unit/predictable.h"

#define GIVEN 8192u

static struct mh_numbers indices;
static uint32_t given[MH_MRS_MAX];

static uint32_t alloc(void)
{
	return mh_mr_keys_alloc(&indices, test_rand());
}

TEST(mh_mr_keys_alloc, full_table)
{
	static bool seen[MH_MRS_MAX + 1];
	uint32_t again;

	mh_numbers_init(&indices, 1, MH_MRS_MAX + 1);
	for (uint32_t i = 0; i < MH_MRS_MAX; i++) {
		uint32_t index = mh_mr_key_index(given[i] = alloc());

		assert_u_between(index, 1, MH_MRS_MAX);
		assert_false(seen[index]);
		seen[index] = true;
	}
	assert_u_eq(alloc(), 0);
	mh_mr_keys_free(&indices, given[77]);
	again = alloc();
	assert_u_eq(mh_mr_key_index(again), mh_mr_key_index(given[77]));
	assert_true(again != given[77]); /* but for one of 2^18 */
}

/* A window's key is another after binds; its index is the same. */
TEST(mh_mr_keys_free, with_the_key_of_a_bind)
{
	mh_numbers_init(&indices, 1, 2);
	for (uint32_t i = 0; i < 4096; i++) {
		uint32_t key = alloc();

		assert_u_eq(mh_mr_key_index(key), 1);
		assert_u_eq(alloc(), 0);
		mh_mr_keys_free(&indices, (key & ~0xFFu) | (uint8_t)test_rand());
	}
}

/* Who knows all keys, of MRs that are gone and of those that are there, knows no more. */
TEST(mh_mr_keys_alloc, keys_are_not_predictable)
{
	mh_numbers_init(&indices, 1, MH_MRS_MAX + 1);
	for (uint32_t i = 0; i < GIVEN; i++) {
		given[i] = alloc();
		if (i % 2)
			mh_mr_keys_free(&indices, given[i]);
	}
	assert_false(predictable(given, GIVEN, 32));
}

/* Each of the 32 bits is set in about half of the keys. */
TEST(mh_mr_keys_alloc, all_bits_are_drawn)
{
	mh_numbers_init(&indices, 1, MH_MRS_MAX + 1);
	for (uint32_t bit = 0; bit < 32; bit++) {
		uint32_t set = 0;

		for (uint32_t i = 0; i < 1024; i++) {
			uint32_t key = alloc();

			set += key >> bit & 1;
			mh_mr_keys_free(&indices, key);
		}
		assert_u_between(set, 512 - 9 * 16, 512 + 9 * 16);
	}
}
