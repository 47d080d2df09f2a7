/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths and their figures: src/cli/ping/ping.h. */
#include "support/test.h"

#include "unit/ping_fixture.h"

TEST_WITH(fixture_setup, fixture_teardown, ping_paths_make, all_of_all_hosts)
{
	assert_u_eq(fixture_paths.n, 8);
	assert_u_eq(fixture_paths.path[5].host, 1);
	assert_u_eq(fixture_paths.path[5].ev.port, 2);
	assert_u_eq(ping_path_value(&fixture_paths.path[7]), 101);
}

TEST(ping_paths_make, one_plane_or_ev)
{
	struct ping_paths p;

	fixture_list_evs();
	assert_i_eq(ping_paths_make(&p, 1, fixture_evs, FIXTURE_EVS, 1, -1), 0);
	assert_u_eq(p.n, 2);
	ping_paths_fini(&p);
	assert_i_eq(ping_paths_make(&p, 2, fixture_evs, FIXTURE_EVS, 0, 101), 0);
	assert_u_eq(p.n, 2);
	ping_paths_fini(&p);
	assert_i_eq(ping_paths_make(&p, 1, fixture_evs, FIXTURE_EVS, 9, -1), -1);
	ping_paths_fini(&p);
}

TEST(ping_figure_add, least_most_and_sum)
{
	struct ping_figure f = {0}, other = {.sent = 3};

	ping_figure_add(&f, 30);
	ping_figure_add(&f, 10);
	ping_figure_add(&f, 20);
	f.sent = 3;
	assert_u_eq(f.min_ns, 10);
	assert_u_eq(f.max_ns, 30);
	assert_u_eq(f.sum_ns, 60);
	ping_figure_join(&other, &f);
	assert_u_eq(other.sent, 6);
	assert_u_eq(other.min_ns, 10);
	assert_u_eq(other.answered, 3);
	f = (struct ping_figure){.sent = 1};
	ping_figure_join(&other, &f);
	assert_u_eq(other.min_ns, 10);
}

TEST_WITH(fixture_setup, fixture_teardown, ping_figure_host, sums_one_host)
{
	fixture_paths.path[0].figure = (struct ping_figure){.sent = 2, .answered = 1, .min_ns = 7};
	fixture_paths.path[3].figure = (struct ping_figure){.sent = 2, .answered = 1, .min_ns = 5};
	fixture_paths.path[4].figure = (struct ping_figure){.sent = 9};
	assert_u_eq(ping_figure_host(&fixture_paths, 0).sent, 4);
	assert_u_eq(ping_figure_host(&fixture_paths, 0).min_ns, 5);
	assert_u_eq(ping_figure_host(&fixture_paths, 1).sent, 9);
}
