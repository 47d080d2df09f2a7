/* SPDX-License-Identifier: BSD-2-Clause */
/* Local ports: up, down, since when. */
#include "support/test.h"

#include "core/ev/ev_set.h"

static struct mt_local_ports ports;

TEST(mt_local_ports_init, all_are_up)
{
	mt_local_ports_init(&ports, 3, 5);
	assert_u_eq(ports.up, 7);
	mt_local_ports_init(&ports, MT_PORTS_MAX, 5);
	assert_u_eq(ports.up, UINT32_MAX);
	assert_true(mt_local_port_is_up(&ports, 31));
}

TEST(mt_local_ports_set, says_what_changed)
{
	mt_local_ports_init(&ports, 3, 0);
	assert_false(mt_local_ports_set(&ports, 1, true, 10));
	assert_true(mt_local_ports_set(&ports, 1, false, 10));
	assert_false(mt_local_ports_set(&ports, 1, false, 11));
	assert_u_eq(ports.up, 5);
	assert_true(mt_local_ports_set(&ports, 1, true, 20));
	assert_u_eq(ports.up, 7);
}

/* REQ(ep.port.not-attributed) */
TEST(mt_local_ports_may_have_lost, while_it_is_down_and_for_what_was_sent_before_it_came_back)
{
	mt_local_ports_init(&ports, 2, 0);
	assert_false(mt_local_ports_may_have_lost(&ports, 1, 0));
	assert_false(mt_local_ports_may_have_lost(&ports, 1, 90));
	mt_local_ports_set(&ports, 1, false, 100);
	assert_true(mt_local_ports_may_have_lost(&ports, 1, 90));
	assert_false(mt_local_ports_may_have_lost(&ports, 0, 90));
	mt_local_ports_set(&ports, 1, true, 200);
	assert_true(mt_local_ports_may_have_lost(&ports, 1, 90));
	assert_true(mt_local_ports_may_have_lost(&ports, 1, 199));
	assert_false(mt_local_ports_may_have_lost(&ports, 1, 200));
}

TEST(mt_local_ports_set_suspect, like_one_that_is_down_while_there_are_others)
{
	mt_local_ports_init(&ports, 2, 0);
	mt_local_ports_set_suspect(&ports, 1, true, 100);
	assert_u_eq(ports.up, 3);
	assert_u_eq(mt_local_ports_open(&ports), 1);
	assert_u_eq(mt_local_ports_nearest(&ports, 1), 0);
	assert_true(mt_local_ports_may_have_lost(&ports, 1, 150));
	mt_local_ports_set(&ports, 0, false, 110);
	assert_u_eq(mt_local_ports_open(&ports), 2); /* better than none */
	mt_local_ports_set_suspect(&ports, 1, false, 200);
	assert_true(mt_local_ports_may_have_lost(&ports, 1, 199));
	assert_false(mt_local_ports_may_have_lost(&ports, 1, 200));
}

TEST(mt_local_ports_set, a_port_that_comes_back_is_above_suspicion)
{
	mt_local_ports_init(&ports, 2, 0);
	mt_local_ports_set_suspect(&ports, 1, true, 100);
	mt_local_ports_set(&ports, 1, false, 110);
	mt_local_ports_set(&ports, 1, true, 120);
	assert_u_eq(mt_local_ports_open(&ports), 3);
}

/* Since the last of them went down, whichever that was; what is behind the last says nothing. */
TEST(mt_local_ports_down_ns, since_none_is_up)
{
	for (uint32_t last = 0; last < 2; last++) {
		mt_local_ports_init(&ports, 2, 0);
		ports.since_ns[2] = 99;
		mt_local_ports_set(&ports, !last, false, 0);
		mt_local_ports_set(&ports, last, false, 0);
		assert_u_eq(mt_local_ports_down_ns(&ports, 5), 5);
		mt_local_ports_set(&ports, last, true, 10);
		mt_local_ports_set(&ports, last, false, 30);
		assert_u_eq(mt_local_ports_down_ns(&ports, 100), 70);
		assert_u_eq(mt_local_ports_down_ns(&ports, 30), 0);
	}
}

/* From the first that comes back when all were down, for so long and no longer. */
TEST(mt_local_ports_settle, from_the_first_that_is_back)
{
	mt_local_ports_init(&ports, 2, 0);
	assert_false(mt_local_ports_settle(&ports, 100, 0));
	mt_local_ports_set(&ports, 0, false, 10);
	mt_local_ports_set(&ports, 0, true, 20);
	assert_false(mt_local_ports_settle(&ports, 100, 20));
	mt_local_ports_set(&ports, 0, false, 30);
	mt_local_ports_set(&ports, 1, false, 30);
	assert_false(mt_local_ports_settle(&ports, 100, 30));
	mt_local_ports_set(&ports, 1, true, 40);
	mt_local_ports_set(&ports, 0, true, 90);
	assert_true(mt_local_ports_settle(&ports, 100, 139));
	assert_false(mt_local_ports_settle(&ports, 100, 140));
}

TEST(mt_local_ports_nearest, itself_or_the_next_that_is_up)
{
	mt_local_ports_init(&ports, 4, 0);
	assert_u_eq(mt_local_ports_nearest(&ports, 2), 2);
	mt_local_ports_set(&ports, 2, false, 1);
	mt_local_ports_set(&ports, 3, false, 1);
	assert_u_eq(mt_local_ports_nearest(&ports, 2), 0);
	assert_u_eq(mt_local_ports_nearest(&ports, 1), 1);
}

/* What left before the engine began may have been lost on any of its ports, and only on those. */
TEST(mt_local_ports_init, each_port_has_its_beginning)
{
	mt_local_ports_init(&ports, 3, 1000);
	for (uint32_t i = 0; i < 3; i++) {
		assert_true(mt_local_ports_may_have_lost(&ports, i, 999));
		assert_false(mt_local_ports_may_have_lost(&ports, i, 1000));
	}
	assert_u_eq(ports.since_ns[3], 0);
}
