/* SPDX-License-Identifier: BSD-2-Clause */
/* What a peer says of its planes, and what probes say. */
#include "support/test.h"

#include "core/planes.h"

#define PLANES 4u
#define ANSWER 100u
#define INTERVAL 1000u
#define ALL 0xFu

static struct mt_plane array[PLANES];
static struct mt_planes planes;
static const struct mt_planes_wait waits = {ANSWER, INTERVAL, 4 * INTERVAL};

static int fresh(void **state)
{
	(void)state;
	mt_planes_init(&planes, array, PLANES);
	return 0;
}

#define CASE(function, name) TEST_WITH(fresh, NULL, function, name)

static void told(uint32_t up, uint64_t now)
{
	mt_planes_told(&planes, up, &waits, now);
}

/* Takes the probe that must be due next, and says whether the plane may be left. */
static bool probe(uint32_t plane, uint64_t now)
{
	bool leave = false;

	assert_u_eq(mt_planes_deadline(&planes), now);
	assert_u_eq(mt_planes_next_probe(&planes, &waits, now - 1, &leave), MT_PLANE_NONE);
	assert_u_eq(mt_planes_next_probe(&planes, &waits, now, &leave), plane);
	return leave;
}

/* Plane 1 reported down at 10, and left. */
static void leave_plane_1(void)
{
	told(ALL & ~2u, 10);
	for (unsigned i = 0; i < 3; i++)
		assert_false(probe(1, 10 + i * ANSWER));
	assert_true(probe(1, 10 + 3 * ANSWER));
	mt_planes_leave(&planes, 1, 10 + 3 * ANSWER);
}

CASE(mt_planes_init, all_are_open_and_nothing_is_due)
{
	assert_u_eq(planes.suspect | planes.left, 0);
	assert_u_eq(mt_planes_deadline(&planes), UINT64_MAX);
	told(ALL, 5);
	assert_u_eq(mt_planes_deadline(&planes), UINT64_MAX);
}

/* REQ(ep.port.suspicion) */
CASE(mt_planes_told, a_word_is_a_reason_to_look_and_no_more)
{
	told(ALL & ~2u, 10);
	assert_u_eq(planes.suspect, 2);
	assert_u_eq(planes.left, 0);
	assert_false(probe(1, 10));
	assert_false(mt_planes_alive(&planes, 1, 9, 20)); /* sent before the word */
	assert_u_eq(planes.suspect, 2);
	assert_false(mt_planes_alive(&planes, 1, 10, 20));
	assert_u_eq(planes.suspect, 0);
	assert_u_eq(mt_planes_deadline(&planes), UINT64_MAX);
}

/* REQ(ep.port.word-limit) */
CASE(mt_planes_told, no_more_than_once_an_interval)
{
	told(0, 10);
	assert_u_eq(planes.suspect, ALL);
	for (uint32_t i = 0; i < PLANES; i++)
		mt_planes_alive(&planes, i, 10, 20);
	told(0, 10 + INTERVAL - 1);
	assert_u_eq(planes.suspect, 0);
	told(0, 10 + INTERVAL);
	assert_u_eq(planes.suspect, ALL);
}

CASE(mt_planes_told, the_opposite_ends_a_suspicion)
{
	told(ALL & ~2u, 10);
	told(ALL, 11);
	assert_u_eq(planes.suspect, 0);
	assert_u_eq(mt_planes_deadline(&planes), UINT64_MAX);
}

CASE(mt_planes_told, planes_that_are_not_there_do_not_matter)
{
	told(ALL | 0xFFFF0000u, 10);
	assert_u_eq(planes.suspect, 0);
	told(ALL & ~8u, 10);
	assert_u_eq(planes.suspect, 8);
}

/* REQ(ep.port.peer-down) */
CASE(mt_planes_next_probe, three_unanswered_ones_and_it_may_be_left)
{
	leave_plane_1();
	assert_u_eq(planes.left, 2);
	assert_u_eq(planes.suspect, 0);
}

CASE(mt_planes_next_probe, more_and_more_rarely_while_it_is_left)
{
	uint64_t at = 10 + 3 * ANSWER + INTERVAL;

	leave_plane_1();
	assert_false(probe(1, at));
	assert_false(probe(1, at += 2 * INTERVAL));
	assert_false(probe(1, at += 4 * INTERVAL));
	assert_false(probe(1, at += 4 * INTERVAL));
}

/* REQ(ep.port.return) */
CASE(mt_planes_told, that_it_is_up_makes_the_next_probe_leave_at_once)
{
	leave_plane_1();
	told(ALL & ~2u, 5000); /* nothing new */
	assert_u_eq(mt_planes_deadline(&planes), 10 + 3 * ANSWER + INTERVAL);
	told(ALL, 5001);
	assert_u_eq(planes.left, 2); /* that alone does not bring it back */
	assert_false(probe(1, 5001));
	told(ALL, 5002); /* the interval is not over */
	assert_u_eq(mt_planes_deadline(&planes), 5001 + ANSWER);
	assert_true(mt_planes_alive(&planes, 1, 5001, 5050));
	assert_u_eq(planes.left, 0);
}

CASE(mt_planes_postpone, a_probe_that_was_not_sent_was_not_unanswered)
{
	told(ALL & ~2u, 10);
	for (uint64_t at = 10; at < 1010; at += 100) {
		assert_false(probe(1, at));
		mt_planes_postpone(&planes, 1, at + 100);
	}
	assert_u_eq(planes.suspect, 2);
}

/* REQ(ep.port.no-blame) */
CASE(mt_planes_blameless, while_in_doubt_or_left_and_for_what_was_sent_before_it_came_back)
{
	assert_false(mt_planes_blameless(&planes, 1, 5));
	told(ALL & ~2u, 10);
	assert_true(mt_planes_blameless(&planes, 1, 5));
	assert_false(mt_planes_blameless(&planes, 0, 5));
	mt_planes_alive(&planes, 1, 10, 20);
	assert_false(mt_planes_blameless(&planes, 1, 5)); /* it was up all the time */
	told(ALL & ~2u, 5000);
	for (unsigned i = 0; i < 3; i++)
		probe(1, 5000 + i * ANSWER);
	mt_planes_leave(&planes, 1, 5300);
	assert_true(mt_planes_blameless(&planes, 1, 5));
	mt_planes_alive(&planes, 1, 5400, 5500);
	assert_true(mt_planes_blameless(&planes, 1, 5499));
	assert_false(mt_planes_blameless(&planes, 1, 5500));
}
