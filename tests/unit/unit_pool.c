/* SPDX-License-Identifier: BSD-2-Clause */
/* Blocks out of chunks: sizes, reuse, what is left of a chunk, misuse. */
#include "support/test.h"

#include "base/pool.h"
#include "unit/panic.h"

static _Alignas(64) uint8_t chunk[4096];

static struct mb_pool fresh(size_t size)
{
	struct mb_pool p;

	mb_pool_init(&p);
	mb_pool_add(&p, chunk, size);
	return p;
}

TEST(mb_pool_block_size, powers_of_two_from_64)
{
	assert_u_eq(mb_pool_block_size(0), 64);
	assert_u_eq(mb_pool_block_size(1), 64);
	assert_u_eq(mb_pool_block_size(64), 64);
	assert_u_eq(mb_pool_block_size(65), 128);
	assert_u_eq(mb_pool_block_size(128), 128);
	assert_u_eq(mb_pool_block_size(129), 256);
	assert_u_eq(mb_pool_block_size((size_t)1 << 31), (size_t)1 << 31);
}

TEST(mb_pool_get, empty_pool_has_none)
{
	struct mb_pool p;

	mb_pool_init(&p);
	assert_null(mb_pool_get(&p, 1));
	assert_u_eq(p.in_use, 0);
}

TEST(mb_pool_get, cuts_the_chunk)
{
	struct mb_pool p = fresh(256);

	assert_ptr_equal(mb_pool_get(&p, 100), chunk);
	assert_ptr_equal(mb_pool_get(&p, 10), chunk + 128);
	assert_null(mb_pool_get(&p, 65));
	assert_ptr_equal(mb_pool_get(&p, 64), chunk + 192);
	assert_null(mb_pool_get(&p, 1));
	assert_u_eq(p.in_use, 256);
}

TEST(mb_pool_put, blocks_come_back_for_their_size)
{
	struct mb_pool p = fresh(192);
	void *small = mb_pool_get(&p, 64), *large = mb_pool_get(&p, 128);

	mb_pool_put(&p, small, 64);
	assert_u_eq(p.in_use, 128);
	assert_null(mb_pool_get(&p, 65)); /* a small block is never a large one */
	mb_pool_put(&p, large, 128);
	assert_u_eq(p.in_use, 0);
	assert_ptr_equal(mb_pool_get(&p, 65), large);
	assert_ptr_equal(mb_pool_get(&p, 1), small);
	assert_null(mb_pool_get(&p, 1));
}

TEST(mb_pool_put, null_is_ignored)
{
	struct mb_pool p = fresh(64);

	mb_pool_put(&p, NULL, 64);
	assert_u_eq(p.in_use, 0);
	assert_ptr_equal(mb_pool_get(&p, 64), chunk);
	assert_null(mb_pool_get(&p, 64));
}

TEST(mb_pool_add, rest_of_the_old_chunk_is_kept)
{
	struct mb_pool p = fresh(64 + 512 + 128 + 63);

	mb_pool_get(&p, 64);
	mb_pool_add(&p, chunk + 2048, 64);
	assert_ptr_equal(mb_pool_get(&p, 512), chunk + 64);
	assert_ptr_equal(mb_pool_get(&p, 128), chunk + 64 + 512);
	assert_ptr_equal(mb_pool_get(&p, 64), chunk + 2048);
	assert_null(mb_pool_get(&p, 64)); /* the last 63 bytes are no block */
}

TEST(mb_pool_add, unaligned_chunk_trips)
{
	struct mb_pool p;

	mb_pool_init(&p);
	expect_assert_failure(mb_pool_add(&p, chunk + 32, 64));
}

TEST(mb_pool_get, beyond_the_largest_class_trips)
{
	struct mb_pool p = fresh(64);

	assert_null(mb_pool_get(&p, (size_t)1 << 31));
	expect_assert_failure(mb_pool_get(&p, ((size_t)1 << 31) + 1));
}
