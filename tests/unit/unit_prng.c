/* SPDX-License-Identifier: BSD-2-Clause */
/* The generator against published values of splitmix64, and the ranges of what is derived. */
#include "support/test.h"

#include "base/prng.h"

TEST(mb_prng_u64, published_sequence)
{
	static const uint64_t want[] = {
		UINT64_C(6457827717110365317),	UINT64_C(3203168211198807973),
		UINT64_C(9817491932198370423),	UINT64_C(4593380528125082431),
		UINT64_C(16408922859458223821),
	};
	struct mb_prng r;

	mb_prng_init(&r, 1234567);
	for (size_t i = 0; i < 5; i++)
		assert_u_eq(mb_prng_u64(&r), want[i]);
	mb_prng_init(&r, 1234567);
	assert_u_eq(mb_prng_u64(&r), want[0]);
}

TEST(mb_prng_below, stays_below_and_reaches_all)
{
	struct mb_prng r;
	uint32_t seen = 0;

	mb_prng_init(&r, test_rand());
	for (int i = 0; i < 500; i++) {
		uint32_t n = mb_prng_below(&r, 7);

		assert_in_range(n, 0, 6);
		seen |= 1u << n;
		assert_u_eq(mb_prng_below(&r, 1), 0);
	}
	assert_u_eq(seen, 0x7F);
}

TEST(mb_prng_below, whole_range)
{
	struct mb_prng r;
	uint32_t low = UINT32_MAX, high = 0;

	mb_prng_init(&r, 1);
	for (int i = 0; i < 1000; i++) {
		uint32_t n = mb_prng_below(&r, UINT32_MAX);

		low = n < low ? n : low;
		high = n > high ? n : high;
	}
	assert_true(low < UINT32_MAX / 100);
	assert_true(high > UINT32_MAX / 100 * 99);
}

TEST(mb_prng_chance, never_always_and_between)
{
	struct mb_prng r;
	uint32_t hits = 0;

	mb_prng_init(&r, 2);
	for (int i = 0; i < 4000; i++) {
		assert_false(mb_prng_chance(&r, 0));
		assert_true(mb_prng_chance(&r, 1000000));
		hits += mb_prng_chance(&r, 250000) != 0;
	}
	assert_u_between(hits, 900, 1100);
}
