/* SPDX-License-Identifier: BSD-2-Clause */
/* What peers are told when received packets had to be thrown away. */
#include "support/test.h"

#include "core/state/engine_state.h"

#define PERIOD 1000u

static struct mt_backpressure p;

static int calm(void **state)
{
	(void)state;
	p = (struct mt_backpressure){0};
	return 0;
}

#define CASE(function, name) TEST_WITH(calm, NULL, function, name)

static uint8_t mpr(uint64_t now_ns, uint8_t window, uint32_t receivers)
{
	return mt_backpressure_mpr(&p, now_ns, PERIOD, window, receivers);
}

static void overflow(uint64_t now_ns)
{
	mt_backpressure_overflow(&p, now_ns, PERIOD);
}

CASE(mt_backpressure_penalty, none_and_nothing_to_restore_while_calm)
{
	assert_u_eq(mt_backpressure_penalty(&p, 0), 0);
	assert_u_eq(mt_backpressure_penalty(&p, 1u << 30), 0);
	assert_false(mt_backpressure_restore(&p, 1u << 30, PERIOD));
	assert_u_eq(mpr(0, 255, 100000), 255);
}

/* REQ(rsp.pressure.penalty) */
CASE(mt_backpressure_penalty, for_one_period)
{
	overflow(5000);
	assert_u_eq(mt_backpressure_penalty(&p, 5000), 64);
	assert_false(mt_backpressure_restore(&p, 5999, PERIOD));
	assert_u_eq(mt_backpressure_penalty(&p, 5999), 64);
	assert_u_eq(mt_backpressure_penalty(&p, 6000), 0);
	assert_true(mt_backpressure_restore(&p, 6000, PERIOD));
	assert_true(
		mt_backpressure_restore(&p, 1u << 30, PERIOD)); /* a state, told until the next */
}

/* REQ(rsp.pressure.penalty) */
CASE(mt_backpressure_restore, not_after_an_episode_that_went_on)
{
	overflow(5000);
	overflow(5900);
	assert_u_eq(mt_backpressure_penalty(&p, 6899), 64);
	assert_true(mt_backpressure_restore(&p, 6900, PERIOD));
	overflow(6000); /* two periods are still a burst */
	assert_true(mt_backpressure_restore(&p, 7000, PERIOD));
	overflow(6001);
	assert_false(mt_backpressure_restore(&p, 7001, PERIOD));
}

CASE(mt_backpressure_restore, not_when_it_comes_back_soon)
{
	overflow(5000);
	overflow(6000 + 16 * PERIOD);
	assert_false(mt_backpressure_restore(&p, 7000 + 16 * PERIOD, PERIOD));
	overflow(7001 + 32 * PERIOD);
	assert_true(mt_backpressure_restore(&p, 8001 + 32 * PERIOD, PERIOD));
}

/* REQ(rsp.mpr.dynamic) */
CASE(mt_backpressure_mpr, equal_parts_of_what_the_buffers_hold)
{
	p.capacity = 128 * 12;
	assert_u_eq(mpr(0, 8, 0), 8);
	assert_u_eq(mpr(0, 8, 1), 8);
	assert_u_eq(mpr(0, 8, 2), 6);
	assert_u_eq(mpr(0, 8, 5), 2);
	assert_u_eq(mpr(0, 8, 1000), 1); /* never none */
	p.capacity = 1;
	assert_u_eq(mpr(0, 8, 1), 1);
}

CASE(mt_backpressure_mpr, half_at_each_period_with_overflow)
{
	overflow(5000);
	assert_u_eq(mpr(5000, 8, 1), 4);
	overflow(5999); /* the same period */
	assert_u_eq(mpr(5999, 8, 1), 4);
	overflow(6000);
	assert_u_eq(mpr(6000, 8, 1), 2);
	for (uint64_t t = 7; t < 40; t++)
		overflow(t * 1000);
	assert_u_eq(mpr(39000, 255, 1), 7); /* as much as comes back in a period remains */
	assert_u_eq(mpr(39000, 1, 1), 1);
}

CASE(mt_backpressure_mpr, comes_back_in_small_steps)
{
	overflow(5000);
	assert_u_eq(mpr(5000 + 7 * PERIOD, 8, 1), 5);
	assert_u_eq(mpr(5000 + 15 * PERIOD, 8, 1), 7);
	assert_u_eq(mpr(5000 + 16 * PERIOD, 8, 1), 8);
	assert_u_eq(mpr(UINT64_MAX, 8, 1), 8);
}
