/* SPDX-License-Identifier: BSD-2-Clause */
/* When trains may leave: src/prober/probe_trains.h. */
#include "fabric_fixture.h"

#include "prober/probe_trains.h"

#define PACE_BIT_S 100000000u

static struct mf_topology t;
static struct probe_common common;

static struct probe_host_cfg at_pace(uint64_t bit_s)
{
	t = fabric("tiny");
	common = (struct probe_common){0};
	return (struct probe_host_cfg){.t = &t, .link_bit_s = bit_s};
}

static struct mm_route_of up(uint32_t host)
{
	const struct mm_route_top top = {.tier = 1};
	struct mm_route_of of = {.witness = host, .peer = MM_NO_HOST};

	of.links = mm_route_up(&t, host, 0, &top, of.link);
	return of;
}

TEST(probe_trains, has_none_where_machines_are_as_slow)
{
	const struct {
		uint64_t pace_bit_s, slow_ns;
	} cases[] = {{0, 0},
		     {PACE_BIT_S, 1408000},
		     {500000000, 281600},
		     {600000000, 0},
		     {100000000000, 0}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct probe_host_cfg cfg = at_pace(cases[i].pace_bit_s);

		assert_u_eq(probe_trains_slow_ns(&cfg), cases[i].slow_ns);
	}
}

TEST(probe_trains, keeps_two_off_a_link_in_a_step)
{
	const struct probe_host_cfg cfg = at_pace(PACE_BIT_S);
	const struct mm_route_of one = up(0), beside = up(1), far = up(2);

	assert_true(probe_trains_has_way(&common, &one, 7));
	probe_trains_take_way(&common, &cfg, &one, 7);
	assert_false(probe_trains_has_way(&common, &one, 7));
	assert_false(probe_trains_has_way(&common, &beside, 7)); /* by the same uplink */
	assert_true(probe_trains_has_way(&common, &far, 7));
	assert_true(probe_trains_has_way(&common, &beside, 8));
}

/* One of 14 ms, and its last packets behind others. */
TEST(probe_trains, keeps_a_link_for_as_long_as_a_train_takes)
{
	const struct probe_host_cfg cfg = at_pace(PACE_BIT_S / 10);
	const struct mm_route_of one = up(0);

	probe_trains_take_way(&common, &cfg, &one, 7);
	assert_false(probe_trains_has_way(&common, &one, 9));
	assert_true(probe_trains_has_way(&common, &one, 10));
}

/* Which sends it back a step later. */
TEST(probe_trains, keeps_the_way_back_from_a_neighbour)
{
	const struct probe_host_cfg cfg = at_pace(PACE_BIT_S);
	struct mm_route_of of = {.witness = 0, .peer = 1};

	of.links = mm_route_peer(&t, 0, 0, 1, of.link);
	probe_trains_take_way(&common, &cfg, &of, 7);
	assert_false(probe_trains_has_way(&common, &of, 8));
	assert_true(probe_trains_has_way(&common, &of, 9));
}

TEST(probe_trains, has_turns_of_a_route_last_until_one_left)
{
	struct probe_host_cfg cfg = at_pace(PACE_BIT_S);
	struct probe_stream stream[12] = {{.kind = PROBE_NOTHING}};
	const struct probe_streams streams = {.stream = stream, .routes = 12};
	struct probe_stream *s = &stream[3];

	assert_false(probe_trains_has_turn(s, &cfg, &streams));
	*s = (struct probe_stream){.kind = PROBE_ROUTE};
	s->book.slow_ns = probe_trains_slow_ns(&cfg);
	for (s->turns = 0; s->turns < 3; s->turns++)
		assert_false(probe_trains_has_turn(s, &cfg, &streams));
	for (; s->turns < 6; s->turns++)
		assert_true(probe_trains_has_turn(s, &cfg, &streams));
	s->had_train = true;
	s->wants_train = false;
	s->turns = PROBE_TRAIN_EVERY + 3 * PROBE_TRAIN_EVERY / 12 - 1;
	assert_false(probe_trains_has_turn(s, &cfg, &streams));
	s->turns++;
	assert_true(probe_trains_has_turn(s, &cfg, &streams));
	s->turns++;
	assert_true(probe_trains_has_turn(s, &cfg, &streams));
}
