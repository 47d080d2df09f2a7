/* SPDX-License-Identifier: BSD-2-Clause */
/* Ring bitmaps and integer logarithms, against loops that look at one bit at a time. */
#include "support/test.h"

#include "base/bits.h"

TEST(mb_is_pow2, zero_ones_and_neighbours)
{
	assert_false(mb_is_pow2(0));
	for (unsigned i = 0; i < 64; i++) {
		uint64_t v = UINT64_C(1) << i;

		assert_true(mb_is_pow2(v));
		assert_u_eq(mb_is_pow2(v + 1), i == 0); /* 2 is one, too */
		assert_u_eq(mb_is_pow2(v - 1), i == 1);
	}
}

TEST(mb_pow2_ceil, smallest_not_below)
{
	assert_u_eq(mb_pow2_ceil(1), 1);
	for (unsigned i = 1; i < 31; i++) {
		uint32_t v = 1u << i;

		assert_u_eq(mb_pow2_ceil(v), v);
		assert_u_eq(mb_pow2_ceil(v + 1), 2 * v);
		assert_u_eq(mb_pow2_ceil(v / 2 + 1), v);
	}
	assert_u_eq(mb_pow2_ceil(1u << 31), 1u << 31);
}

TEST(mb_log2, highest_bit)
{
	for (unsigned i = 0; i < 64; i++) {
		uint64_t top = UINT64_C(1) << i;

		assert_u_eq(mb_log2(top), i);
		assert_u_eq(mb_log2(top | (top - 1)), i);
	}
}

TEST(mb_ctz64, lowest_bit)
{
	for (unsigned i = 0; i < 64; i++)
		assert_u_eq(mb_ctz64(UINT64_MAX << i), i);
}

static unsigned count_bits(uint64_t v)
{
	unsigned n = 0;

	for (unsigned i = 0; i < 64; i++)
		n += (v >> i & 1) != 0;
	return n;
}

TEST(mb_popcount64, counts_each_bit)
{
	assert_u_eq(mb_popcount64(0), 0);
	assert_u_eq(mb_popcount64(UINT64_MAX), 64);
	for (unsigned i = 0; i < 64; i++)
		assert_u_eq(mb_popcount64(UINT64_C(1) << i), 1);
	for (size_t i = 0; i < test_rounds(1000); i++) {
		uint64_t v = test_rand();

		assert_u_eq(mb_popcount64(v), count_bits(v));
	}
}

TEST(mb_ring_set, one_bit_modulo_size)
{
	uint64_t words[4] = {0}, want[4] = {0};

	mb_ring_set(words, 256, 256 * 7 + 130);
	want[2] = 4;
	assert_bytes_eq(words, want, sizeof(words));
	assert_true(mb_ring_test(words, 256, 130));
	assert_false(mb_ring_test(words, 256, 129));
	assert_false(mb_ring_test(words, 256, 131));
	mb_ring_set(words, 256, UINT64_MAX);
	want[3] = UINT64_C(1) << 63;
	assert_bytes_eq(words, want, sizeof(words));
}

TEST(mb_ring_load64, every_position_wraps)
{
	static const uint32_t sizes[] = {64, 128, 1024};
	uint64_t words[16];

	for (size_t n = 0; n < 3; n++) {
		test_rand_bytes(words, sizeof(words));
		for (uint32_t seq = 0; seq < 2 * sizes[n]; seq++) {
			uint64_t want = 0;

			for (unsigned i = 0; i < 64; i++)
				want |= (uint64_t)mb_ring_test(words, sizes[n], seq + i) << i;
			assert_u_eq(mb_ring_load64(words, sizes[n], seq), want);
		}
	}
}
