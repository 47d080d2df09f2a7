/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When a part may be accused: by how much it must be ahead of others, at which share, and what of
 * it stays known. Hosts 0 and 1 of one T0 watch one of its uplinks by routes that are made up.
 */
#include "fabric_fixture.h"

#include "map/map_state.h"

#define MS_NS UINT64_C(1000000)
#define ROUTES 32u

static struct mf_topology t;
static struct mm_map *map;
static uint64_t now_ns;
static struct mm_sick sick[8];
static size_t n_sick;
static uint32_t out, in; /* the uplink's two directions */

static int begin(void **state)
{
	struct mm_cfg cfg;

	(void)state;
	t = fabric("lab");
	cfg = mm_cfg_default(&t, ROUTES, 10 * MS_NS);
	map = mm_map_init(malloc(mm_map_bytes(&cfg, &t)), &cfg, &t);
	now_ns = 100000 * MS_NS;
	out = mf_link_t0_t1(&t, 0, 0, 0, false);
	in = mf_link_t0_t1(&t, 0, 0, 0, true);
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(map);
	return 0;
}

#define CASE(function, name) TEST_WITH(begin, end, function, name)

/* Hosts count so much over a route of one link, or of two. */
static void count_from(uint32_t first, uint32_t end, enum mm_symptom symptom, uint32_t link,
		       uint32_t then, uint32_t known, uint32_t bad)
{
	for (uint32_t host = first; host < end; host++) {
		const struct mm_route_of of = {
			host, MM_NO_HOST, then == link ? 1 : 2, {link, then}};
		struct mm_counts c = {{0}, {0}};

		c.known[symptom] = known;
		c.bad[symptom] = bad;
		assert_true(mm_map_add(map, mm_map_route(map, &of, now_ns), host, &c, now_ns));
	}
}

static void count_by(uint32_t hosts, enum mm_symptom symptom, uint32_t link, uint32_t then,
		     uint32_t known, uint32_t bad)
{
	count_from(0, hosts, symptom, link, then, known, bad);
}

static void count(enum mm_symptom symptom, uint32_t link, uint32_t then, uint32_t known,
		  uint32_t bad)
{
	count_by(2, symptom, link, then, known, bad);
}

/* What is said when it has settled. */
static void judge(void)
{
	mm_map_judge(map, now_ns, sick, 8);
	now_ns += map->cfg.settle_ns;
	n_sick = mm_map_judge(map, now_ns, sick, 8);
}

static void pass(uint64_t ns)
{
	now_ns += ns;
	n_sick = mm_map_judge(map, now_ns, sick, 8);
}

/* The uplink alone is sick, in this direction. */
static void check_uplink(enum mm_kind kind, enum mf_direction direction)
{
	assert_u_eq(n_sick, 1);
	assert_u_eq(sick[0].part.kind, MM_CABLE);
	assert_u_eq(sick[0].part.id, out >> 1);
	assert_u_eq(sick[0].kind, kind);
	assert_u_eq(sick[0].part.direction, direction);
}

/* ---- odds ---- */

/*
 * The cable, its switches, a transceiver, the plane: the same packets crossed them all. The
 * likeliest beforehand is named, and does not have to be ahead of what it cannot be told from.
 */
CASE(mm_map_judge, names_the_likeliest_of_what_no_packet_tells_apart)
{
	count(MM_LOST, out, in, 40, 20);
	judge();
	check_uplink(MM_LOSSY, MF_DIRECTION_BOTH);
}

/* A burst shows more of what reorders than the pairs that come when no burst is left. */
CASE(mm_map_judge, goes_on_saying_what_pairs_show_less_of)
{
	count(MM_REORDERED, out, in, 400, 36);
	judge();
	check_uplink(MM_REORDERING, MF_DIRECTION_BOTH);
	now_ns += 2 * map->cfg.window_ns[0];
	count(MM_REORDERED, out, in, 300, 3);
	pass(0);
	check_uplink(MM_REORDERING, MF_DIRECTION_BOTH);
	now_ns += 2 * map->cfg.window_ns[0];
	count(MM_REORDERED, out, in, 3000, 0);
	pass(0);
	assert_u_eq(n_sick, 0);
}

/* A tenth of a small share would be less than what is usual, and more than that look healthy. */
CASE(mm_map_judge, does_not_take_more_of_what_reorders_for_well)
{
	count(MM_REORDERED, out, in, 3000, 45);
	judge();
	check_uplink(MM_REORDERING, MF_DIRECTION_BOTH);
	count(MM_REORDERED, out, in, 400, 40);
	pass(0);
	check_uplink(MM_REORDERING, MF_DIRECTION_BOTH);
}

/* Nor are the packets of a host that is alone told from its word, which is looked at first. */
CASE(mm_map_judge, names_the_likeliest_by_the_word_of_one_host)
{
	count_by(1, MM_LOST, mf_link_host_t0(&t, 0, 0, false), mf_link_host_t0(&t, 0, 0, true), 40,
		 40);
	judge();
	assert_u_eq(n_sick, 1);
	assert_u_eq(sick[0].part.kind, MM_CABLE);
	assert_u_eq(sick[0].part.id, mf_link_host_t0(&t, 0, 0, false) >> 1);
	assert_u_eq(sick[0].watchers, 1);
}

/* A host's trains over one of its ports, to its T0 and back or to a neighbour. */
static void count_trains(uint32_t host, uint32_t plane, uint32_t peer, uint32_t known, uint32_t bad)
{
	const struct mm_route_of of = {
		host,
		peer,
		2,
		{mf_link_host_t0(&t, plane, host, false),
		 mf_link_host_t0(&t, plane, peer == MM_NO_HOST ? host : peer, true)}};
	struct mm_counts c = {{0}, {0}};

	/* Of others it is known that they came, or it is not heard of. */
	c.known[MM_LOST] = known;
	c.known[MM_SLOWED] = known;
	c.bad[MM_SLOWED] = bad;
	assert_true(mm_map_add(map, mm_map_route(map, &of, now_ns), host, &c, now_ns));
}

/*
 * The way out of a host is slow, which only its own trains tell, and they go where something is in
 * doubt: over this port alone. So next to none of the trains of late are fast, and yet it is the
 * cable, not the word of a host that stands alone.
 */
CASE(mm_map_judge, names_the_cable_of_a_host_that_looks_at_one_port)
{
	const uint32_t cable = mf_link_host_t0(&t, 0, 0, false) >> 1;

	for (uint32_t i = 0; i < 40; i++) {
		count_trains(0, 0, MM_NO_HOST, 1, 1);
		count_trains(0, 0, 1, 1, 1);
		count_trains(1, 0, 0, 1, 0);
		count_trains(1, 0, MM_NO_HOST, 1, 0);
		pass(10 * MS_NS);
		if (i < 6)
			continue;
		assert_u_eq(n_sick, 1);
		assert_true(sick[0].part.kind == MM_CABLE && sick[0].part.id == cable);
		assert_true(sick[0].kind == MM_SLOW && sick[0].part.direction == MF_DIRECTION_OUT);
	}
}

/* One that says so of all its ports is left out: others come to it and find it well. */
CASE(mm_map_judge, leaves_out_the_word_of_one_host_of_all_its_ports)
{
	for (uint32_t i = 0; i < 40; i++) {
		for (uint32_t plane = 0; plane < t.cfg.planes; plane++) {
			count_trains(0, plane, MM_NO_HOST, 1, 1);
			count_trains(1, plane, 0, 1, 0);
			count_trains(1, plane, MM_NO_HOST, 1, 0);
			count_trains(2, plane, 0, 1, 0);
			count_trains(2, plane, MM_NO_HOST, 1, 0);
		}
		pass(10 * MS_NS);
		assert_u_eq(n_sick, 0);
	}
}

/*
 * Half of what goes out is lost. Each packet that came in is a bit against the cable as a whole:
 * some leave it open, by 2^10 : 1 and what was likelier beforehand, and many decide.
 */
CASE(mm_map_judge, waits_until_the_best_is_ahead_of_the_next)
{
	count(MM_LOST, out, out, 20, 10);
	count(MM_LOST, in, in, 4, 0);
	judge();
	assert_u_eq(n_sick, 0);
	count(MM_LOST, in, in, 20, 0);
	judge();
	check_uplink(MM_LOSSY, MF_DIRECTION_OUT);
}

/*
 * What explained most for as long as it takes to settle, too little to be accused, is told at once
 * when it is; what something else explained better before has to settle.
 */
CASE(mm_map_judge, tells_at_once_what_led_long_enough)
{
	count(MM_LOST, out, in, 40, 1);
	pass(0);
	assert_u_eq(n_sick, 0);
	pass(map->cfg.settle_ns);
	count(MM_LOST, out, in, 40, 20);
	pass(0);
	check_uplink(MM_LOSSY, MF_DIRECTION_BOTH);
	assert_u_eq(sick[0].since_ns, now_ns - map->cfg.settle_ns);
}

CASE(mm_map_judge, has_what_did_not_lead_settle)
{
	count(MM_LOST, mf_link_t0_t1(&t, 0, 1, 1, false), mf_link_t0_t1(&t, 0, 1, 1, true), 40, 1);
	pass(0);
	pass(map->cfg.settle_ns);
	count(MM_LOST, out, in, 40, 20);
	pass(0);
	assert_u_eq(n_sick, 0);
	pass(map->cfg.settle_ns);
	check_uplink(MM_LOSSY, MF_DIRECTION_BOTH);
}

/*
 * For the shortest window the cable is far ahead of its T1; for the next, in which another cable of
 * the T1 lost one, too, it is not, and explains most all the same.
 */
CASE(mm_map_judge, does_not_take_back_what_leads)
{
	const uint32_t other_out = mf_link_t0_t1(&t, 0, 1, 0, false), other_in = other_out ^ 1;

	count_by(1, MM_LOST, other_out, other_in, 200, 1);
	now_ns += 4 * map->cfg.window_ns[0];
	count(MM_LOST, out, in, 100, 3);
	count_by(1, MM_LOST, other_out, other_in, 300, 0);
	judge();
	check_uplink(MM_LOSSY, MF_DIRECTION_BOTH);
	for (uint32_t i = 0; i < 20; i++) {
		count(MM_LOST, out, in, 1, 0);
		pass(10 * MS_NS);
		check_uplink(MM_LOSSY, MF_DIRECTION_BOTH);
	}
}

/* One direction is less likely beforehand than both, and needs so much more. */
CASE(mm_part_bits, count_against_what_is_less_likely)
{
	const struct mm_part cable = {.kind = MM_CABLE},
			     one_way = {MM_CABLE, 0, 0, MF_DIRECTION_IN},
			     node = {.kind = MM_SWITCH}, module = {.kind = MM_TRANSCEIVER},
			     plane = {.kind = MM_PLANE};

	assert_u_eq(mm_part_bits(&cable), 0);
	assert_u_eq(mm_part_bits(&one_way), 2);
	assert_true(mm_part_bits(&one_way) < mm_part_bits(&node));
	assert_true(mm_part_bits(&node) < mm_part_bits(&module));
	assert_true(mm_part_bits(&module) < mm_part_bits(&plane));
}

/*
 * What begins is seen by some routes first: the cable explains them, but the switch by now all of
 * them. The cable was never sick, and is not named for the time that it would take to take it back.
 * One that is dead is: were it so by itself, and the switch found wrongly, it would be missed.
 */
CASE(mm_map_judge, does_not_tell_what_was_another_part_when_it_had_settled)
{
	count(MM_LOST, out, in, 40, 20);
	assert_u_eq(mm_map_judge(map, now_ns, sick, 8), 0);
	for (uint32_t t0 = 1; t0 < t.cfg.t0s; t0++)
		count(MM_LOST, mf_link_t0_t1(&t, 0, t0, 0, false),
		      mf_link_t0_t1(&t, 0, t0, 0, true), 40, 20);
	pass(map->cfg.settle_ns);
	assert_u_eq(n_sick, 0);
	pass(map->cfg.settle_ns);
	assert_u_eq(n_sick, 1);
	assert_u_eq(sick[0].part.kind, MM_SWITCH);
	assert_u_eq(sick[0].part.id, mf_node_switch(&t, MF_T1, 0, 0));
}

/*
 * All cables of a T1 are dead, and later, for a moment, it is known of one of them alone: what is
 * sick already explains that as well as the cable, and is likelier.
 */
CASE(mm_map_judge, names_what_is_sick_already_of_what_no_packet_tells_apart)
{
	for (uint32_t t0 = 0; t0 < t.cfg.t0s; t0++)
		count(MM_LOST, mf_link_t0_t1(&t, 0, t0, 0, false),
		      mf_link_t0_t1(&t, 0, t0, 0, true), 40, 40);
	judge();
	for (uint32_t i = 0; i < 3; i++) {
		assert_u_eq(n_sick, 1);
		assert_u_eq(sick[0].part.kind, MM_SWITCH);
		assert_u_eq(sick[0].part.id, mf_node_switch(&t, MF_T1, 0, 0));
		now_ns += i ? 0 : 2 * map->cfg.window_ns[0];
		count(MM_LOST, out, in, 40, 40);
		pass(map->cfg.settle_ns);
	}
}

/* ---- directions over time ---- */

/* Routes that tell it may be silent for a while: the other ones do not take it back. */
CASE(mm_map_judge, keeps_a_direction_that_was_told)
{
	count(MM_LOST, out, out, 40, 40);
	count(MM_LOST, in, in, 40, 0);
	judge();
	check_uplink(MM_DEAD, MF_DIRECTION_OUT);
	assert_true(sick[0].direction_known);
	for (uint32_t i = 0; i < 10; i++) {
		count(MM_LOST, out, in, 40, 40);
		pass(20 * MS_NS);
		check_uplink(MM_DEAD, MF_DIRECTION_OUT);
		assert_true(sick[0].direction_known);
	}
	/* The other direction dies as well: that is told, and believed. */
	for (uint32_t i = 0; i < 10; i++) {
		count(MM_LOST, out, out, 40, 40);
		count(MM_LOST, in, in, 40, 40);
		pass(20 * MS_NS);
	}
	check_uplink(MM_DEAD, MF_DIRECTION_BOTH);
}

/*
 * Both directions lose some, and for the shortest window one of them loses nothing by chance. It is
 * well when more than that says so.
 */
CASE(mm_map_judge, keeps_both_directions_until_one_is_well)
{
	count(MM_LOST, out, out, 100, 3);
	count(MM_LOST, in, in, 100, 2);
	judge();
	check_uplink(MM_LOSSY, MF_DIRECTION_BOTH);
	now_ns += map->cfg.window_ns[0];
	count(MM_LOST, out, out, 100, 4);
	count(MM_LOST, in, in, 300, 0);
	pass(0);
	check_uplink(MM_LOSSY, MF_DIRECTION_BOTH);
	now_ns += 2 * map->cfg.window_ns[MM_WINDOWS - 1];
	count(MM_LOST, out, out, 200, 10);
	count(MM_LOST, in, in, 300, 0);
	pass(0);
	check_uplink(MM_LOSSY, MF_DIRECTION_OUT);
}

/* Of a fault that is over nothing is taken over to the next one. */
CASE(mm_map_judge, forgets_the_direction_of_what_is_over)
{
	count(MM_LOST, out, out, 40, 40);
	count(MM_LOST, in, in, 40, 0);
	judge();
	check_uplink(MM_DEAD, MF_DIRECTION_OUT);
	for (uint32_t i = 0; i < 10; i++) {
		count(MM_LOST, out, out, 40, 0);
		pass(20 * MS_NS);
	}
	assert_u_eq(n_sick, 0);
	now_ns += map->cfg.window_ns[0];
	count(MM_LOST, out, in, 40, 40);
	assert_u_eq(mm_map_judge(map, now_ns, sick, 8), 0); /* it has to settle as the first did */
	judge();
	check_uplink(MM_DEAD, MF_DIRECTION_BOTH);
	assert_false(sick[0].direction_known);
}

/* A packet of a host to a neighbour and back, or to its T0, in each plane. */
static void count_of_hosts(uint32_t witness, uint32_t peer, bool lost)
{
	const struct mm_counts c = {{20}, {lost ? 20 : 0}};

	for (uint32_t plane = 0; plane < t.cfg.planes; plane++) {
		const struct mm_route_of of = {
			witness,
			peer,
			2,
			{mf_link_host_t0(&t, plane, witness, false),
			 mf_link_host_t0(&t, plane, peer == MM_NO_HOST ? witness : peer, true)}};

		assert_true(mm_map_add(map, mm_map_route(map, &of, now_ns), witness, &c, now_ns));
	}
}

/*
 * Host 0 is dead, and hosts 1 and 2 ask it. Of one that asks nobody nothing would be heard, were
 * it alive, so that its direction is not known.
 */
CASE(mm_map_asked, tells_no_direction_of_a_host_that_asks_nobody)
{
	count_of_hosts(0, MM_NO_HOST, true);
	for (uint32_t host = 1; host <= 2; host++) {
		count_of_hosts(host, MM_NO_HOST, false);
		count_of_hosts(host, 0, true);
	}
	judge();
	assert_u_eq(n_sick, 1);
	assert_u_eq(sick[0].part.kind, MM_HOST);
	assert_u_eq(sick[0].kind, MM_DEAD);
	assert_false(sick[0].direction_known);
	count_of_hosts(0, 1, true);
	pass(MS_NS);
	/* Nobody was told of any question: whoever feeds the map may not look. */
	assert_false(sick[0].direction_known);
	assert_true(mm_map_asked(map, 1, 2, now_ns));
	pass(MS_NS);
	assert_true(sick[0].direction_known);
	assert_u_eq(sick[0].part.direction, MF_DIRECTION_BOTH);
	assert_true(mm_map_asked(map, 1, 0, now_ns));
	pass(MS_NS);
	assert_u_eq(n_sick, 1);
	assert_true(sick[0].direction_known);
	assert_u_eq(sick[0].part.direction, MF_DIRECTION_IN);
}

/* ---- what is well again ---- */

/* What doubles nothing any more is absolved of that, and may lose packets all the same. */
CASE(mm_map_judge, absolves_of_nothing_else)
{
	count(MM_DUPLICATED, out, in, 40, 20);
	count(MM_LOST, out, in, 40, 20);
	judge();
	assert_u_eq(n_sick, 2);
	now_ns += 2 * map->cfg.window_ns[0];
	count(MM_DUPLICATED, out, in, 400, 0);
	pass(0);
	assert_u_eq(mm_route_sum(map, &map->route[0], 1, MM_DUPLICATED, now_ns).bad, 0);
	assert_u_eq(mm_route_sum(map, &map->route[0], 1, MM_LOST, now_ns).bad, 20);
	check_uplink(MM_LOSSY, MF_DIRECTION_BOTH);
}

/* A share that a few packets showed too large is not what health is measured by. */
CASE(mm_map_judge, is_not_well_by_a_share_that_it_showed_once)
{
	count(MM_LOST, out, in, 1000, 20);
	judge();
	check_uplink(MM_LOSSY, MF_DIRECTION_BOTH);
	now_ns += map->cfg.window_ns[0];
	count(MM_LOST, out, in, 40, 8);
	pass(0);
	check_uplink(MM_LOSSY, MF_DIRECTION_BOTH);
	now_ns += map->cfg.window_ns[0];
	count(MM_LOST, out, in, 100, 0);
	pass(0);
	check_uplink(MM_LOSSY, MF_DIRECTION_BOTH);
}

/*
 * The middle window has too few packets to say that a small share is over, and the longest has what
 * was lost before; it is over when enough came without a loss all the same.
 */
CASE(mm_map_judge, is_well_by_what_came_since_the_last_loss)
{
	count(MM_LOST, out, in, 1000, 10);
	judge();
	check_uplink(MM_LOSSY, MF_DIRECTION_BOTH);
	for (uint32_t i = 0; i < 8 && n_sick; i++) {
		count(MM_LOST, out, in, 150, 0);
		pass(map->cfg.window_ns[1]);
	}
	assert_u_eq(n_sick, 0);
}

/* Nor do the good packets of some routes end what others see. */
CASE(mm_map_judge, is_not_well_between_two_losses)
{
	count(MM_LOST, out, in, 800, 30);
	judge();
	for (uint32_t i = 0; i < 50; i++) {
		count(MM_LOST, out, in, 200, i % 4 == 3 ? 30 : 0);
		pass(10 * MS_NS);
		check_uplink(MM_LOSSY, MF_DIRECTION_BOTH);
	}
}

/* Of ten packets each step one of two hosts goes on saying that so many are bad. */
static void check_end_beside_a_liar(uint32_t bad_before, uint32_t lies)
{
	const uint32_t steps_most = 200, steps = 9000;

	count(MM_LOST, out, in, 400, bad_before);
	judge();
	assert_u_eq(n_sick, 1);
	for (uint32_t i = 0; i < steps; i++) {
		count_by(1, MM_LOST, out, in, 10, lies);
		count_from(1, 2, MM_LOST, out, in, 10, 0);
		pass(10 * MS_NS);
		assert_true(n_sick == 0 || i < steps_most);
	}
}

/* The longest window has what was bad for 80 s. */
CASE(mm_map_judge, has_what_is_over_end_though_one_of_two_hosts_lies)
{
	check_end_beside_a_liar(400, 10);
}

CASE(mm_map_judge, has_a_loss_end_though_one_of_two_hosts_lies)
{
	check_end_beside_a_liar(40, 5);
}

CASE(mm_map_judge, has_a_loss_end_though_one_of_two_hosts_goes_on_with_it)
{
	check_end_beside_a_liar(40, 1);
}

/* ---- shares that are too small ---- */

/* By so many packets that chance is out of question. */
static void count_many(enum mm_symptom symptom, uint32_t known, uint32_t bad)
{
	for (uint32_t i = 0; i < 4; i++)
		count(symptom, out, mf_link_t0_t1(&t, 0, 1 + i, 0, true), known, bad);
	judge();
}

CASE(mm_map_judge, accuses_nobody_below_the_least_share)
{
	const struct mm_sum sum = {8 * 60000, 8 * 30};

	/* 500 of a million, of which 200 are usual: evidence enough, were it not for that. */
	assert_true(mm_likelihood(&sum, 500, map->cfg.usual_ppm[MM_LOST]) > (int64_t)map->cfg.bits
										    << 16);
	count_many(MM_LOST, 60000, 30);
	assert_u_eq(n_sick, 0);
	now_ns += 2 * map->cfg.window_ns[MM_WINDOWS - 1];
	count_many(MM_LOST, 60000, 48);
	check_uplink(MM_LOSSY, MF_DIRECTION_BOTH);
}

/* A link is slow if nine of ten trains say so. */
CASE(mm_map_judge, calls_nothing_slow_of_which_some_trains_are_fast)
{
	count_many(MM_SLOWED, 100, 85);
	assert_u_eq(n_sick, 0);
	now_ns += 2 * map->cfg.window_ns[MM_WINDOWS - 1];
	count_many(MM_SLOWED, 100, 95);
	check_uplink(MM_SLOW, MF_DIRECTION_BOTH);
}
