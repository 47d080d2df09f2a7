/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_sim_grid.c - the points of a sweep. */
#include "support/test.h"

#include "study/study.h"

TEST(sim_grid_add, every_combination)
{
	struct sim_grid g = {0};
	char why[SIM_GRID_WHY], name[SIM_GRID_NAME];

	assert_true(sim_grid_add(&g, "mrc.evs=1,4,16", why));
	assert_true(sim_grid_add(&g, "seed=7,8", why));
	assert_u_eq(g.points, 6);
	assert_string_equal(sim_grid_name(&g, 0, name), "mrc.evs=1,seed=7");
	assert_string_equal(sim_grid_name(&g, 1, name), "mrc.evs=1,seed=8");
	assert_string_equal(sim_grid_name(&g, 5, name), "mrc.evs=16,seed=8");
	assert_string_equal(sim_grid_value(&g, 3, 0), "4");
}

TEST(sim_grid_name, is_fit_for_a_file)
{
	struct sim_grid g = {0};
	char why[SIM_GRID_WHY], name[SIM_GRID_NAME];

	assert_true(sim_grid_add(&g, "topology.file=a/b c.toml", why));
	assert_string_equal(sim_grid_name(&g, 0, name), "topology.file=a_b_c.toml");
}

TEST(sim_grid_add, wrong_ones)
{
	static const char *const bad[] = {"",	      "mrc.evs",      "=1",
					  "mrc.evs=", "mrc.evs=1,,2", "mrc.evs=1,1"};
	struct sim_grid g = {0};
	char why[SIM_GRID_WHY];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(sim_grid_add(&g, bad[i], why));
	assert_u_eq(g.n_axes, 0);
	assert_true(sim_grid_add(&g, "a=1", why));
	assert_false(sim_grid_add(&g, "a=2", why));
	assert_non_null(strstr(why, "--vary a=2: the key was given before"));
}
