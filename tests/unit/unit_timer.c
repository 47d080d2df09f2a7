/* SPDX-License-Identifier: BSD-2-Clause */
/* Timers: when, in which order, and what arming or disarming again does. */
#include "support/test.h"

#include "base/timer.h"

static struct mb_timers heap;
static struct mb_timer t[4];

static int fresh(void **state)
{
	(void)state;
	mb_timers_init(&heap);
	for (int i = 0; i < 4; i++)
		mb_timer_init(&t[i]);
	return 0;
}

TEST_WITH(fresh, NULL, mb_timers_deadline, none_is_never)
{
	assert_u_eq(mb_timers_deadline(&heap), MB_NEVER);
	assert_null(mb_timers_expire(&heap, MB_NEVER));
	assert_false(mb_timer_is_armed(&t[0]));
}

TEST_WITH(fresh, NULL, mb_timers_expire, earliest_first_and_only_when_due)
{
	mb_timer_arm(&heap, &t[0], 300);
	mb_timer_arm(&heap, &t[1], 100);
	mb_timer_arm(&heap, &t[2], 200);
	assert_u_eq(mb_timers_deadline(&heap), 100);
	assert_null(mb_timers_expire(&heap, 99));
	assert_ptr_equal(mb_timers_expire(&heap, 100), &t[1]);
	assert_false(mb_timer_is_armed(&t[1]));
	assert_null(mb_timers_expire(&heap, 100));
	assert_ptr_equal(mb_timers_expire(&heap, 1000), &t[2]);
	assert_ptr_equal(mb_timers_expire(&heap, 1000), &t[0]);
	assert_null(mb_timers_expire(&heap, 1000));
}

TEST_WITH(fresh, NULL, mb_timers_expire, ties_in_order_of_arming)
{
	mb_timer_arm(&heap, &t[2], 5);
	mb_timer_arm(&heap, &t[0], 5);
	mb_timer_arm(&heap, &t[3], 5);
	mb_timer_arm(&heap, &t[2], 5); /* armed again: now the last */
	assert_ptr_equal(mb_timers_expire(&heap, 5), &t[0]);
	assert_ptr_equal(mb_timers_expire(&heap, 5), &t[3]);
	assert_ptr_equal(mb_timers_expire(&heap, 5), &t[2]);
}

TEST_WITH(fresh, NULL, mb_timer_arm, moves_either_way)
{
	mb_timer_arm(&heap, &t[0], 10);
	mb_timer_arm(&heap, &t[1], 20);
	mb_timer_arm(&heap, &t[0], 30);
	assert_u_eq(mb_timers_deadline(&heap), 20);
	mb_timer_arm(&heap, &t[0], 5);
	assert_u_eq(mb_timers_deadline(&heap), 5);
	mb_timer_arm(&heap, &t[0], MB_NEVER);
	assert_false(mb_timer_is_armed(&t[0]));
	assert_u_eq(mb_timers_deadline(&heap), 20);
}

TEST_WITH(fresh, NULL, mb_timer_disarm, root_inner_and_unarmed)
{
	for (uint64_t i = 0; i < 3; i++)
		mb_timer_arm(&heap, &t[i], 10 + i);
	mb_timer_disarm(&heap, &t[3]);
	mb_timer_disarm(&heap, &t[1]);
	assert_false(mb_timer_is_armed(&t[1]));
	mb_timer_disarm(&heap, &t[0]);
	assert_u_eq(mb_timers_deadline(&heap), 12);
	mb_timer_disarm(&heap, &t[2]);
	assert_u_eq(mb_timers_deadline(&heap), MB_NEVER);
}
