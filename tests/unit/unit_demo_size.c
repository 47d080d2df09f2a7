/* SPDX-License-Identifier: BSD-2-Clause */
/* How large a demo a machine carries: src/demo/demo_size.h. */
#include "demo/demo_size.h"

#include "support/test.h"

static const struct demo_options free_choice = {.planes = 4, .paths = 8};
static struct demo_shape shape;

TEST(demo_size_choose, takes_eight_hosts_on_an_ordinary_machine)
{
	demo_size_choose(&shape, &free_choice, &demo_place_loopback, 400000);
	assert_u_eq(shape.ranks, 8);
	assert_u_eq(shape.pace_bps, 50000000);
	assert_u_eq(shape.planes, 4);
	assert_u_eq(shape.vector_bytes, 4194304);
}

TEST(demo_size_choose, slows_down_before_it_takes_fewer_hosts)
{
	demo_size_choose(&shape, &free_choice, &demo_place_loopback, 200000);
	assert_u_eq(shape.ranks, 8);
	assert_u_eq(shape.pace_bps, 25000000);
	demo_size_choose(&shape, &free_choice, &demo_place_loopback, 90000);
	assert_u_eq(shape.ranks, 4);
	assert_u_eq(shape.pace_bps, 25000000);
	demo_size_choose(&shape, &free_choice, &demo_place_loopback, 1);
	assert_u_eq(shape.ranks, 4);
}

TEST(demo_size_choose, does_what_it_is_told)
{
	struct demo_options o = free_choice;

	o.ranks = 16;
	demo_size_choose(&shape, &o, &demo_place_loopback, 1);
	assert_u_eq(shape.ranks, 16);
	o.pace_bps = 1000000000;
	demo_size_choose(&shape, &o, &demo_place_loopback, 1);
	assert_u_eq(shape.ranks, 16);
	assert_u_eq(shape.pace_bps, 1000000000);
}

TEST(demo_size_choose, takes_the_usual_when_nothing_is_known)
{
	demo_size_choose(&shape, &free_choice, &demo_place_loopback, 0);
	assert_u_eq(shape.ranks, 8);
	assert_u_eq(shape.pace_bps, 50000000);
}

TEST(demo_size_load, grows_with_hosts_planes_and_pace)
{
	struct demo_shape more;
	uint64_t load;

	demo_size_choose(&shape, &free_choice, &demo_place_loopback, 0);
	load = demo_size_load(&shape, &demo_place_loopback, 100000);
	more = shape;
	more.ranks *= 2;
	assert_u_between(demo_size_load(&more, &demo_place_loopback, 100000), 2 * load - 2,
			 2 * load + 2);
	assert_u_between(demo_size_load(&shape, &demo_place_loopback, 200000), load / 2 - 1,
			 load / 2 + 1);
}

/* A packet that crosses three switches costs more than one that stays in a process. */
TEST(demo_size_choose, knows_that_the_lab_costs_more)
{
	const struct demo_options open = {.planes = 4};

	demo_size_choose(&shape, &open, &demo_place_lab, 400000);
	assert_u_eq(shape.ranks, 8);
	assert_u_eq(shape.paths, 4);
	assert_u_eq(shape.pace_bps, 25000000);
}
