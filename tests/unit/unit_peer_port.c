/* SPDX-License-Identifier: BSD-2-Clause */
/* What a peer says of its planes, and what probes say. */
#include "support/test.h"

#include "core/ev/ev_set.h"

#define PLANES 4u
#define ANSWER 100u
#define INTERVAL 1000u
#define ALL 0xFu

static struct mt_peer_port array[PLANES];
static struct mt_peer_ports peer_ports;
static const struct mt_peer_port_timing waits = {ANSWER, INTERVAL, 4 * INTERVAL};

static int fresh(void **state)
{
	(void)state;
	mt_peer_ports_init(&peer_ports, array, PLANES);
	return 0;
}

#define CASE(function, name) TEST_WITH(fresh, NULL, function, name)

static void told(uint32_t up, uint64_t now)
{
	mt_peer_ports_status(&peer_ports, up, &waits, now);
}

/* Takes the probe that must be due next, and says whether the plane may be left. */
static bool probe(uint32_t plane, uint64_t now)
{
	bool leave = false;

	assert_u_eq(mt_peer_ports_deadline(&peer_ports), now);
	assert_u_eq(mt_peer_ports_next_probe(&peer_ports, &waits, now - 1, &leave), MT_PLANE_NONE);
	assert_u_eq(mt_peer_ports_next_probe(&peer_ports, &waits, now, &leave), plane);
	return leave;
}

/* Plane 1 reported down at 10, and left. */
static void leave_plane_1(void)
{
	told(ALL & ~2u, 10);
	for (unsigned i = 0; i < 3; i++)
		assert_false(probe(1, 10 + i * ANSWER));
	assert_true(probe(1, 10 + 3 * ANSWER));
	mt_peer_ports_abandon(&peer_ports, 1, 10 + 3 * ANSWER);
}

CASE(mt_peer_ports_init, all_are_open_and_nothing_is_due)
{
	assert_u_eq(peer_ports.suspect | peer_ports.abandoned, 0);
	assert_u_eq(mt_peer_ports_deadline(&peer_ports), UINT64_MAX);
	told(ALL, 5);
	assert_u_eq(mt_peer_ports_deadline(&peer_ports), UINT64_MAX);
}

/* REQ(ep.port.suspicion) */
CASE(mt_peer_ports_status, a_word_is_a_reason_to_look_and_no_more)
{
	told(ALL & ~2u, 10);
	assert_u_eq(peer_ports.suspect, 2);
	assert_u_eq(peer_ports.abandoned, 0);
	assert_false(probe(1, 10));
	assert_false(mt_peer_ports_answered(&peer_ports, 1, 9, 20)); /* sent before the word */
	assert_u_eq(peer_ports.suspect, 2);
	assert_false(mt_peer_ports_answered(&peer_ports, 1, 10, 20));
	assert_u_eq(peer_ports.suspect, 0);
	assert_u_eq(mt_peer_ports_deadline(&peer_ports), UINT64_MAX);
}

/* REQ(ep.port.word-limit) */
CASE(mt_peer_ports_status, no_more_than_once_an_interval)
{
	told(0, 10);
	assert_u_eq(peer_ports.suspect, ALL);
	for (uint32_t i = 0; i < PLANES; i++)
		mt_peer_ports_answered(&peer_ports, i, 10, 20);
	told(0, 10 + INTERVAL - 1);
	assert_u_eq(peer_ports.suspect, 0);
	told(0, 10 + INTERVAL);
	assert_u_eq(peer_ports.suspect, ALL);
}

CASE(mt_peer_ports_status, the_opposite_ends_a_suspicion)
{
	told(ALL & ~2u, 10);
	told(ALL, 11);
	assert_u_eq(peer_ports.suspect, 0);
	assert_u_eq(mt_peer_ports_deadline(&peer_ports), UINT64_MAX);
}

CASE(mt_peer_ports_status, planes_that_are_not_there_do_not_matter)
{
	told(ALL | 0xFFFF0000u, 10);
	assert_u_eq(peer_ports.suspect, 0);
	told(ALL & ~8u, 10);
	assert_u_eq(peer_ports.suspect, 8);
}

/* REQ(ep.port.peer-down) */
CASE(mt_peer_ports_next_probe, three_unanswered_ones_and_it_may_be_left)
{
	leave_plane_1();
	assert_u_eq(peer_ports.abandoned, 2);
	assert_u_eq(peer_ports.suspect, 0);
}

CASE(mt_peer_ports_next_probe, more_and_more_rarely_while_it_is_left)
{
	uint64_t at = 10 + 3 * ANSWER + INTERVAL;

	leave_plane_1();
	assert_false(probe(1, at));
	assert_false(probe(1, at += 2 * INTERVAL));
	assert_false(probe(1, at += 4 * INTERVAL));
	assert_false(probe(1, at += 4 * INTERVAL));
}

/* REQ(ep.port.return) */
CASE(mt_peer_ports_status, that_it_is_up_makes_the_next_probe_leave_at_once)
{
	leave_plane_1();
	told(ALL & ~2u, 5000); /* nothing new */
	assert_u_eq(mt_peer_ports_deadline(&peer_ports), 10 + 3 * ANSWER + INTERVAL);
	told(ALL, 5001);
	assert_u_eq(peer_ports.abandoned, 2); /* that alone does not bring it back */
	assert_false(probe(1, 5001));
	told(ALL, 5002); /* the interval is not over */
	assert_u_eq(mt_peer_ports_deadline(&peer_ports), 5001 + ANSWER);
	assert_true(mt_peer_ports_answered(&peer_ports, 1, 5001, 5050));
	assert_u_eq(peer_ports.abandoned, 0);
}

CASE(mt_peer_ports_postpone, a_probe_that_was_not_sent_was_not_unanswered)
{
	told(ALL & ~2u, 10);
	for (uint64_t at = 10; at < 1010; at += 100) {
		assert_false(probe(1, at));
		mt_peer_ports_postpone(&peer_ports, 1, at + 100);
	}
	assert_u_eq(peer_ports.suspect, 2);
}

/* REQ(ep.port.not-attributed) */
CASE(mt_peer_ports_may_have_lost, while_in_doubt_or_left_and_for_what_was_sent_before_it_came_back)
{
	assert_false(mt_peer_ports_may_have_lost(&peer_ports, 1, 5));
	told(ALL & ~2u, 10);
	assert_true(mt_peer_ports_may_have_lost(&peer_ports, 1, 5));
	assert_false(mt_peer_ports_may_have_lost(&peer_ports, 0, 5));
	mt_peer_ports_answered(&peer_ports, 1, 10, 20);
	assert_false(mt_peer_ports_may_have_lost(&peer_ports, 1, 5)); /* it was up all the time */
	told(ALL & ~2u, 5000);
	for (unsigned i = 0; i < 3; i++)
		probe(1, 5000 + i * ANSWER);
	mt_peer_ports_abandon(&peer_ports, 1, 5300);
	assert_true(mt_peer_ports_may_have_lost(&peer_ports, 1, 5));
	mt_peer_ports_answered(&peer_ports, 1, 5400, 5500);
	assert_true(mt_peer_ports_may_have_lost(&peer_ports, 1, 5499));
	assert_false(mt_peer_ports_may_have_lost(&peer_ports, 1, 5500));
}

CASE(mt_peer_ports_deadline, of_the_first_plane_alone)
{
	told(ALL & ~1u, 10);
	assert_false(probe(0, 10));
	assert_u_eq(mt_peer_ports_deadline(&peer_ports), 10 + ANSWER);
}

CASE(mt_peer_ports_next_probe, at_its_slowest_for_ever)
{
	uint64_t now;
	bool leave;

	leave_plane_1();
	for (int i = 0; i < 300; i++) {
		now = mt_peer_ports_deadline(&peer_ports);
		assert_u_eq(mt_peer_ports_next_probe(&peer_ports, &waits, now, &leave), 1);
		if (i > 10)
			assert_u_eq(mt_peer_ports_deadline(&peer_ports), now + 4 * INTERVAL);
	}
}

CASE(mt_peer_ports_postpone, takes_back_one_probe_if_there_was_one)
{
	told(ALL & ~2u, 10);
	mt_peer_ports_postpone(&peer_ports, 1, 20);
	assert_u_eq(array[1].probes, 0);
	assert_false(probe(1, 20));
	assert_u_eq(array[1].probes, 1);
	mt_peer_ports_postpone(&peer_ports, 1, 30);
	assert_u_eq(array[1].probes, 0);
}
