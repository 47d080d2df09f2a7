/* SPDX-License-Identifier: BSD-2-Clause */
/* The worker's memory: aligned, apart, and used again by size. */
#include "support/test.h"

#include "sim/kernel/memory.h"

TEST(ms_arena_alloc, aligned_and_apart)
{
	struct ms_arena a;
	uint8_t *blocks[200];

	ms_arena_init(&a);
	for (unsigned i = 0; i < 200; i++) {
		size_t size = 1 + test_rand_below(40000);

		blocks[i] = ms_arena_alloc(&a, size);
		assert_non_null(blocks[i]);
		assert_u_eq((uintptr_t)blocks[i] % 64, 0);
		memset(blocks[i], (int)i, size);
	}
	for (unsigned i = 0; i < 200; i++)
		assert_u_eq(blocks[i][0], i);
	assert_true(a.bytes >= 200 * 64);
	ms_arena_fini(&a);
	assert_u_eq(a.bytes, 0);
}

TEST(ms_arena_free, comes_back_for_the_same_size)
{
	struct ms_arena a;
	void *small, *other;
	size_t bytes;

	ms_arena_init(&a);
	small = ms_arena_alloc(&a, 100);
	other = ms_arena_alloc(&a, 4000);
	bytes = a.bytes;
	ms_arena_free(&a, small, 100);
	ms_arena_free(&a, other, 4000);
	assert_ptr_equal(ms_arena_alloc(&a, 3990), other);
	assert_ptr_equal(ms_arena_alloc(&a, 128), small);
	ms_arena_free(&a, NULL, 64);
	assert_u_eq(a.bytes, bytes);
	ms_arena_fini(&a);
}

TEST(ms_arena_alloc, large_blocks_have_pages_of_their_own)
{
	struct ms_arena a;
	uint8_t *large;

	ms_arena_init(&a);
	large = ms_arena_alloc(&a, 5000000);
	assert_non_null(large);
	memset(large, 1, 5000000);
	ms_arena_free(&a, large, 5000000);
	assert_true(a.bytes >= 5000000);
	ms_arena_fini(&a);
}
