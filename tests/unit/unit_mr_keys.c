/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_mr_keys.c - keys of MRs and windows: none comes again soon, none is lost. */
#include "support/test.h"

#include "host/state/nic_context.h"

static struct mh_mr_keys *no_keys(void)
{
	struct mh_mr_keys *keys = calloc(1, sizeof(*keys));

	assert_non_null(keys);
	return keys;
}

TEST(mh_mr_keys_alloc, keys_are_not_reused_soon)
{
	struct mh_mr_keys *keys = no_keys();
	uint32_t a = mh_mr_keys_alloc(keys, test_rand()), b;

	assert_true(a != 0);
	mh_mr_keys_free(keys, a);
	b = mh_mr_keys_alloc(keys, test_rand());
	assert_true(b != 0);
	assert_true(mh_mr_key_index(a) != mh_mr_key_index(b));
	mh_mr_keys_free(keys, b);
	for (uint32_t i = 0; i < MH_MRS_MAX / 16 - 2; i++) {
		uint32_t c = mh_mr_keys_alloc(keys, test_rand());

		assert_true(c != 0);
		mh_mr_keys_free(keys, c);
		assert_true(c != a);
	}
	free(keys);
}

TEST(mh_mr_keys_alloc, full_table)
{
	uint32_t *key = calloc(MH_MRS_MAX, sizeof(*key)), again;
	struct mh_mr_keys *keys = no_keys();

	for (uint32_t i = 0; i < MH_MRS_MAX; i++) {
		key[i] = mh_mr_keys_alloc(keys, test_rand());
		assert_true(key[i] != 0);
	}
	assert_u_eq(mh_mr_keys_alloc(keys, test_rand()), 0);
	mh_mr_keys_free(keys, key[77]);
	again = mh_mr_keys_alloc(keys, test_rand());
	assert_u_eq(mh_mr_key_index(again), mh_mr_key_index(key[77]));
	assert_true(again != key[77]);
	free(key);
	free(keys);
}

/* A window's key is another after a bind; that one must not come again at once. */
TEST(mh_mr_keys_free, with_the_key_of_a_bind)
{
	struct mh_mr_keys *keys = no_keys();
	uint32_t key = 0, bound;

	while (keys->count < MH_MRS_MAX)
		key = mh_mr_keys_alloc(keys, test_rand());
	for (uint32_t i = 0; i < 4096; i++) {
		bound = (key & ~0xFFu) | (uint8_t)test_rand();
		mh_mr_keys_free(keys, bound);
		key = mh_mr_keys_alloc(keys, test_rand());
		assert_u_eq(mh_mr_key_index(key), mh_mr_key_index(bound));
		assert_true(key != bound);
	}
	free(keys);
}

/* Who knows a key knows neither the next one's tag nor its index. */
TEST(mh_mr_keys_alloc, keys_are_not_predictable)
{
	uint32_t tags[256] = {0}, steps[32] = {0};
	struct mh_mr_keys *keys = no_keys();
	uint32_t last = 0;

	for (uint32_t i = 0; i < 4096; i++) {
		uint32_t key = mh_mr_keys_alloc(keys, test_rand());

		assert_true(key != 0);
		mh_mr_keys_free(keys, key);
		assert_u_between(mh_mr_key_index(key), 1, MH_MRS_MAX);
		tags[key & 0xFF]++;
		steps[(mh_mr_key_index(key) - last) & 31]++;
		last = mh_mr_key_index(key);
	}
	for (uint32_t i = 0; i < 256; i++)
		assert_u_between(tags[i], 0, 64);
	for (uint32_t i = 0; i < 32; i++)
		assert_u_between(steps[i], 0, 512);
	free(keys);
}
