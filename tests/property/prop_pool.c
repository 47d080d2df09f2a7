/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pool under random use: blocks are aligned, lie inside a chunk, overlap nothing that is in
 * use, keep what was written to them; a request fails only when neither a returned block of its
 * size nor the rest of the newest chunk could serve it.
 */
#include "support/test.h"

#include "base/pool.h"

#define BLOCKS 64u
#define CHUNKS 6u
#define CHUNK_MAX 16384u
#define CLASSES 9u /* 64 to 16384 bytes */

struct held {
	uint8_t *at;
	size_t size;
	uint8_t fill;
};

static _Alignas(64) uint8_t chunks[CHUNKS][CHUNK_MAX];
static size_t chunk_size[CHUNKS];
static struct held held[BLOCKS];
static size_t n_chunks, chunk_left;
static size_t returned[CLASSES]; /* free blocks of each size */
static struct mb_pool pool;

static size_t class_of(size_t size)
{
	size_t cls = 0;

	while ((size_t)64 << cls < size)
		cls++;
	return cls;
}

/* A new chunk; what is left of the old one becomes free blocks, the largest first. */
static void add_chunk(void)
{
	size_t size = test_rand_below(CHUNK_MAX) + 1;

	for (; chunk_left >= 64; chunk_left -= (size_t)64 << (class_of(chunk_left + 1) - 1))
		returned[class_of(chunk_left + 1) - 1]++;
	mb_pool_add(&pool, chunks[n_chunks], size);
	chunk_size[n_chunks++] = size;
	chunk_left = size;
}

static bool inside_a_chunk(const uint8_t *at, size_t size)
{
	for (size_t i = 0; i < n_chunks; i++)
		if (at >= chunks[i] && at + size <= chunks[i] + chunk_size[i])
			return true;
	return false;
}

static void check_new(const struct held *new)
{
	size_t whole = (size_t)64 << class_of(new->size);

	assert_u_eq((uintptr_t) new->at & 63, 0);
	assert_true(inside_a_chunk(new->at, whole));
	for (size_t i = 0; i < BLOCKS; i++) {
		const struct held *h = &held[i];

		if (h->at && h != new)
			assert_true(h->at + ((size_t)64 << class_of(h->size)) <= new->at ||
				    new->at + whole <= h->at);
	}
}

static void get(struct held *h)
{
	size_t size = test_rand_below((size_t)64 << test_rand_below(CLASSES)) + 1;
	size_t cls = class_of(size);

	h->at = mb_pool_get(&pool, size);
	h->size = size;
	if (returned[cls] > 0) {
		assert_non_null(h->at);
		returned[cls]--;
	} else if (chunk_left >= (size_t)64 << cls) {
		assert_non_null(h->at);
		chunk_left -= (size_t)64 << cls;
	} else {
		assert_null(h->at);
		return;
	}
	check_new(h);
	h->fill = (uint8_t)test_rand();
	memset(h->at, h->fill, size);
}

static void put(struct held *h)
{
	for (size_t i = 0; i < h->size; i++)
		if (h->at[i] != h->fill)
			fail_msg("byte %zu of a block of %zu changed", i, h->size);
	mb_pool_put(&pool, h->at, h->size);
	returned[class_of(h->size)]++;
	h->at = NULL;
}

static size_t in_use(void)
{
	size_t sum = 0;

	for (size_t i = 0; i < BLOCKS; i++)
		sum += held[i].at ? (size_t)64 << class_of(held[i].size) : 0;
	return sum;
}

static void one_life(void)
{
	mb_pool_init(&pool);
	n_chunks = chunk_left = 0;
	memset(held, 0, sizeof(held));
	memset(returned, 0, sizeof(returned));
	for (int i = 0; i < 400; i++) {
		struct held *h = &held[test_rand_below(BLOCKS)];

		if (n_chunks < CHUNKS && test_rand_chance(1, 40))
			add_chunk();
		else if (h->at)
			put(h);
		else
			get(h);
		assert_u_eq(pool.in_use, in_use());
	}
}

TEST(mb_pool, blocks_are_apart_and_none_is_lost)
{
	for (size_t i = 0; i < test_rounds(100); i++)
		one_life();
}
