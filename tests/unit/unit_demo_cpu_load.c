/* SPDX-License-Identifier: BSD-2-Clause */
/* How busy the machine is: src/demo/cpu_load.h. */
#include "demo/cpu_load.h"

#include "support/test.h"

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
