/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_numbers.c - numbers that are drawn: each of them once, and none that says which is next. */
#include "support/test.h"

#include "host/state/nic_context.h"
#include "unit/predictable.h"

#define GIVEN 8192u

static struct mh_numbers numbers;
static uint32_t given[GIVEN];

TEST(mh_numbers_take, each_of_them_once)
{
	static bool seen[MH_NUMBERS_END];

	mh_numbers_init(&numbers, 16, MH_NUMBERS_END);
	for (uint32_t i = 16; i < MH_NUMBERS_END; i++) {
		uint32_t number = mh_numbers_take(&numbers, (uint32_t)test_rand());

		assert_u_between(number, 16, MH_NUMBERS_END - 1);
		assert_false(seen[number]);
		seen[number] = true;
	}
	assert_u_eq(mh_numbers_take(&numbers, (uint32_t)test_rand()), 0);
	mh_numbers_return(&numbers, 77);
	assert_u_eq(mh_numbers_take(&numbers, UINT32_MAX), 77);
}

TEST(mh_numbers_take, the_first_and_the_last)
{
	mh_numbers_init(&numbers, 3, 5);
	assert_u_eq(mh_numbers_take(&numbers, UINT32_MAX), 4);
	assert_u_eq(mh_numbers_take(&numbers, 0), 3);
	assert_u_eq(mh_numbers_take(&numbers, 0), 0);
}

TEST(mh_numbers_take, nothing_follows_from_those_in_use)
{
	mh_numbers_init(&numbers, 16, MH_NUMBERS_END);
	for (uint32_t i = 0; i < GIVEN; i++)
		given[i] = mh_numbers_take(&numbers, (uint32_t)test_rand());
	assert_false(predictable(given, GIVEN, 14));
}

TEST(mh_rests_end, in_the_order_of_their_times)
{
	static struct mh_rests rests;

	mh_numbers_init(&numbers, 1, 4);
	for (int i = 0; i < 3; i++)
		mh_numbers_take(&numbers, 0);
	mh_rests_begin(&rests, 2, 100);
	mh_rests_begin(&rests, 1, 200);
	mh_rests_end(&rests, 99, &numbers);
	assert_u_eq(mh_numbers_take(&numbers, 0), 0);
	mh_rests_end(&rests, 100, &numbers);
	assert_u_eq(mh_numbers_take(&numbers, 0), 2);
	assert_u_eq(mh_numbers_take(&numbers, 0), 0);
	mh_rests_end(&rests, 500, &numbers);
	assert_u_eq(mh_numbers_take(&numbers, 0), 1);
	mh_rests_end(&rests, 1000, &numbers);
	assert_u_eq(mh_numbers_take(&numbers, 0), 0);
}

/* More often than the ring is long, and all at once. */
TEST(mh_rests_end, round_the_ring)
{
	static struct mh_rests rests;

	mh_numbers_init(&numbers, 1, MH_NUMBERS_END);
	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t i = 1; i < MH_NUMBERS_END; i++) {
			uint32_t number = mh_numbers_take(&numbers, (uint32_t)test_rand());

			assert_true(number != 0);
			mh_rests_begin(&rests, number, round);
		}
		mh_rests_end(&rests, round, &numbers);
		assert_u_eq(numbers.n_free, MH_NUMBERS_END - 1);
	}
}

/* ---- what the measure must find ---- */

#define HALF_BITS 12u
#define HALF_MASK ((1u << HALF_BITS) - 1)

static uint32_t feistel(uint32_t v, uint32_t rounds, uint16_t f[][HALF_MASK + 1])
{
	uint32_t left = v >> HALF_BITS, right = v & HALF_MASK;

	for (uint32_t i = 0; i < rounds; i++) {
		uint32_t next = left ^ (f[i][right] & HALF_MASK);

		left = right;
		right = next;
	}
	return left << HALF_BITS | right;
}

TEST(predictable, feistel_networks_of_too_few_rounds)
{
	static uint16_t f[8][HALF_MASK + 1];

	for (uint32_t i = 0; i < 8; i++)
		for (uint32_t j = 0; j <= HALF_MASK; j++)
			f[i][j] = (uint16_t)test_rand();
	for (uint32_t rounds = 1; rounds <= 8; rounds *= 2) {
		for (uint32_t i = 0; i < GIVEN; i++)
			given[i] = feistel(i, rounds, f);
		assert_true(predictable(given, GIVEN, 24) == (rounds <= 2));
	}
}

TEST(predictable, random_steps_and_counters_between_random_bits)
{
	uint32_t index = (uint32_t)test_rand();

	for (uint32_t i = 0; i < GIVEN; i++) {
		index += 1 + (uint32_t)test_rand_below(16);
		given[i] = (index & 0x3FFF) << 8 | (uint8_t)test_rand();
	}
	assert_true(predictable(given, GIVEN, 22));
	for (uint32_t i = 0; i < GIVEN; i++)
		given[i] = ((uint32_t)test_rand() & 0xFFC000FF) | (i & 0x3FFF) << 8;
	assert_true(predictable(given, GIVEN, 32));
	for (uint32_t i = 0; i < GIVEN; i++)
		given[i] = (uint32_t)test_rand();
	assert_false(predictable(given, GIVEN, 32));
}
