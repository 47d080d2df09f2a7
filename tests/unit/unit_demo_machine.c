/* SPDX-License-Identifier: BSD-2-Clause */
/* The size of a demo, and the load of this machine: src/demo/machine.c. */
#include "demo/demo.h"

#include "demo/measure.h"
#include "support/test.h"

TEST(demo_calibrate, measures_something_plausible)
{
	/* From a board under valgrind to a large server. */
	assert_u_between(demo_calibrate(), 100, 1000000000);
}

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

TEST(demo_cpu_parse, adds_up_the_first_line)
{
	struct demo_cpu cpu;

	assert_true(demo_cpu_parse(&cpu, "cpu  10 20 30 400 5 6 7 8 0 0\n"));
	assert_u_eq(cpu.idle, 405);
	assert_u_eq(cpu.all, 486);
}

TEST(demo_cpu_parse, refuses_other_lines)
{
	struct demo_cpu cpu = {.idle = 1, .all = 2};

	assert_false(demo_cpu_parse(&cpu, "cpu0 1 2 3"));
	assert_false(demo_cpu_parse(&cpu, ""));
	assert_u_eq(cpu.idle, 1);
}

TEST(demo_cpu_idle, is_a_share)
{
	const struct demo_cpu a = {.idle = 100, .all = 200}, b = {.idle = 175, .all = 300};

	assert_true(demo_cpu_idle(&a, &b) > 0.749 && demo_cpu_idle(&a, &b) < 0.751);
	assert_true(demo_cpu_idle(&b, &b) < 0);
}

TEST(demo_cpu_read, sees_this_machine)
{
	struct demo_cpu cpu = demo_cpu_read();

	assert_true(cpu.all > 0);
	assert_true(cpu.idle <= cpu.all);
}
