/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The timer heap against an array that is searched: whatever is armed, moved and disarmed, the same
 * timers fire in the same order.
 */
#include "support/test.h"

#include "base/timer.h"

#define TIMERS 48u

/* What the array knows of a timer; order grows with each arming. */
struct naive {
	uint64_t deadline;
	uint64_t order;
};

static struct mb_timers heap;
static struct mb_timer timers[TIMERS];
static struct naive model[TIMERS];
static uint64_t armed;

static int fresh(void **state)
{
	(void)state;
	mb_timers_init(&heap);
	armed = 0;
	for (size_t i = 0; i < TIMERS; i++) {
		mb_timer_init(&timers[i]);
		model[i].deadline = MB_NEVER;
	}
	return 0;
}

/* The timer that must fire next, TIMERS when none is armed. */
static size_t first(void)
{
	size_t best = TIMERS;

	for (size_t i = 0; i < TIMERS; i++) {
		if (model[i].deadline == MB_NEVER)
			continue;
		if (best == TIMERS || model[i].deadline < model[best].deadline ||
		    (model[i].deadline == model[best].deadline &&
		     model[i].order < model[best].order))
			best = i;
	}
	return best;
}

static void expire(uint64_t now)
{
	size_t want = first();
	struct mb_timer *got = mb_timers_expire(&heap, now);

	if (want == TIMERS || model[want].deadline > now) {
		assert_null(got);
		return;
	}
	assert_ptr_equal(got, &timers[want]);
	model[want].deadline = MB_NEVER;
}

/* One random operation on timer i; few distinct deadlines, so that ties are common. */
static void operate(size_t i, uint64_t span)
{
	uint64_t when = test_rand_below(span);

	switch (test_rand_below(8)) {
	case 0:
		mb_timer_disarm(&heap, &timers[i]);
		model[i].deadline = MB_NEVER;
		break;
	case 1:
	case 2:
		expire(when);
		break;
	case 3:
		when = test_rand_chance(1, 4) ? MB_NEVER : when;
		/* fall through */
	default:
		mb_timer_arm(&heap, &timers[i], when);
		model[i] = (struct naive){.deadline = when, .order = armed++};
	}
}

static void check_state(void)
{
	size_t next = first();

	for (size_t i = 0; i < TIMERS; i++)
		assert_u_eq(mb_timer_is_armed(&timers[i]), model[i].deadline != MB_NEVER);
	assert_u_eq(mb_timers_deadline(&heap), next == TIMERS ? MB_NEVER : model[next].deadline);
}

TEST_WITH(fresh, NULL, mb_timers, as_an_array_that_is_searched)
{
	for (size_t i = 0; i < test_rounds(30000); i++) {
		operate(test_rand_below(TIMERS), i % 2000 < 1000 ? 16 : 100000);
		check_state();
	}
	while (first() != TIMERS)
		expire(MB_NEVER - 1);
	assert_null(mb_timers_expire(&heap, MB_NEVER));
}
