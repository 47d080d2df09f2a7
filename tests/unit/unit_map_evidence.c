/* SPDX-License-Identifier: BSD-2-Clause */
/* What a map takes as evidence, and what it refuses. */
#include "fabric_fixture.h"

#include "map/map.h"

#define MS_NS UINT64_C(1000000)

static const struct mm_counts ten = {{10, 10, 10, 10}, {0}};

static struct mm_map *map_of(const struct mf_topology *t, uint32_t routes)
{
	struct mm_cfg cfg = mm_cfg_default(t, routes, 5 * MS_NS);

	return mm_map_init(malloc(mm_map_bytes(&cfg, t)), &cfg, t);
}

static struct mm_route_of t0_loop(const struct mf_topology *t, uint32_t host, uint32_t plane)
{
	return (struct mm_route_of){
		host,
		MM_NO_HOST,
		2,
		{mf_link_host_t0(t, plane, host, false), mf_link_host_t0(t, plane, host, true)}};
}

TEST(mm_map_route, refuses_what_is_not_of_the_fabric)
{
	struct mf_topology t = fabric("lab");
	struct mm_map *map = map_of(&t, 8);
	struct mm_route_of good = t0_loop(&t, 0, 0), bad;

	assert_u_eq(mm_map_route(map, &good, 0), 0);
	assert_u_eq(mm_map_route(map, &good, 0), 0);
	bad = good;
	bad.witness = t.n_hosts;
	assert_u_eq(mm_map_route(map, &bad, 0), MM_NO_ROUTE);
	bad = good;
	bad.peer = t.n_hosts;
	assert_u_eq(mm_map_route(map, &bad, 0), MM_NO_ROUTE);
	bad = good;
	bad.link[1] = t.n_links;
	assert_u_eq(mm_map_route(map, &bad, 0), MM_NO_ROUTE);
	bad = good;
	bad.link[1] = bad.link[0];
	assert_u_eq(mm_map_route(map, &bad, 0), MM_NO_ROUTE);
	bad = good;
	bad.links = 0;
	assert_u_eq(mm_map_route(map, &bad, 0), MM_NO_ROUTE);
	bad.links = MM_ROUTE_LINKS + 1;
	assert_u_eq(mm_map_route(map, &bad, 0), MM_NO_ROUTE);
	free(map);
}

TEST(mm_map_route, takes_the_place_of_one_that_is_silent_and_of_no_other)
{
	struct mf_topology t = fabric("lab");
	struct mm_map *map = map_of(&t, 2);
	struct mm_route_of a = t0_loop(&t, 0, 0), b = t0_loop(&t, 1, 0), c = t0_loop(&t, 2, 0);
	uint64_t later = 61000 * MS_NS;

	assert_u_eq(mm_map_route(map, &a, 0), 0);
	assert_u_eq(mm_map_route(map, &b, 0), 1);
	assert_u_eq(mm_map_route(map, &c, 0), MM_NO_ROUTE);
	assert_true(mm_map_is_route(map, 1, &b) && !mm_map_is_route(map, 1, &c));
	assert_false(mm_map_is_route(map, MM_NO_ROUTE, &b));
	assert_true(mm_map_add(map, 0, 0, &ten, later));
	assert_u_eq(mm_map_route(map, &c, later), 1);
	assert_true(mm_map_is_route(map, 1, &c) && !mm_map_is_route(map, 1, &b));
	assert_u_eq(mm_map_route(map, &a, later), 0);
	assert_false(mm_map_add(map, 1, 1, &ten, later));
	assert_true(mm_map_add(map, 1, 2, &ten, later));
	free(map);
}

TEST(mm_map_add, refuses_what_is_not_the_witnesses_and_what_cannot_be)
{
	struct mf_topology t = fabric("lab");
	struct mm_map *map = map_of(&t, 8);
	struct mm_route_of a = t0_loop(&t, 0, 0);
	struct mm_counts more = ten;

	assert_u_eq(mm_map_route(map, &a, 0), 0);
	assert_false(mm_map_add(map, 0, 1, &ten, 0));
	assert_false(mm_map_add(map, 1, 0, &ten, 0));
	more.bad[MM_CORRUPTED] = more.known[MM_CORRUPTED] + 1;
	assert_false(mm_map_add(map, 0, 0, &more, 0));
	assert_u_eq(mm_map_silent(map, 0), t.n_hosts);
	assert_true(mm_map_add(map, 0, 0, &ten, 0));
	assert_u_eq(mm_map_silent(map, 0), t.n_hosts - 1);
	assert_u_eq(mm_map_silent(map, 10000 * MS_NS), t.n_hosts);
	free(map);
}

TEST(mm_map_plain, refuses_what_cannot_be)
{
	struct mf_topology t = fabric("lab");
	struct mm_map *map = map_of(&t, 8);

	assert_true(mm_map_plain(map, 0, 0, 10, 10, 0));
	assert_false(mm_map_plain(map, 0, 0, 10, 11, 0));
	assert_false(mm_map_plain(map, t.n_hosts, 0, 10, 0, 0));
	assert_false(mm_map_plain(map, 0, t.cfg.planes, 10, 0, 0));
	assert_false(mm_map_plain(map, 0, 0, UINT32_MAX, 0, 0));
	assert_true(mm_map_stray(map, 0, 0, 1, 0));
	assert_false(mm_map_stray(map, 0, 0, 0, 0));
	assert_false(mm_map_stray(map, t.n_hosts, 0, 0, 0));
	assert_false(mm_map_stray(map, 0, t.cfg.planes, 1, 0));
	assert_true(mm_map_loop(map, 0, 0, t.n_hosts - 1, 0));
	assert_false(mm_map_loop(map, 0, 0, 1, 0)); /* on the same T0 nothing goes up */
	assert_false(mm_map_loop(map, t.n_hosts, 0, 0, 0));
	assert_false(mm_map_loop(map, 0, 0, t.n_hosts, 0));
	assert_false(mm_map_loop(map, 0, t.cfg.planes, t.n_hosts - 1, 0));
	free(map);
}
