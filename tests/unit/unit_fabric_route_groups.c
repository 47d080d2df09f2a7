/* SPDX-License-Identifier: BSD-2-Clause */
/* Routes by prefix: src/fabric/routes.h. */
#include "fabric/routes.h"

#include "emit_fixture.h"

/* All records, once each, in groups of one prefix. */
static void covers(const char *preset, const char *node_name, unsigned sets)
{
	struct emit_fixture b;
	struct mf_route_groups groups;
	struct mf_route_group g;
	struct mf_route_iter it;
	struct mf_route r;
	uint32_t node;

	fixture_begin(&b, preset);
	node = fixture_node(&b, node_name);
	mf_routes_begin(&it, &b.t, node, sets);
	mf_route_groups_begin(&groups, &b.t, node, sets);
	while (mf_route_groups_next(&groups, &g))
		for (uint32_t i = 0; i < g.n; i++) {
			assert_true(mf_routes_next(&it, &r));
			assert_int_equal(r.kind, g.route.kind);
			assert_u_eq(r.port, g.port[i]);
			assert_memory_equal(r.prefix, g.route.prefix, sizeof(r.prefix));
		}
	assert_false(mf_routes_next(&it, &r));
	fixture_end(&b);
}

TEST(mf_route_groups_next, gives_every_record)
{
	covers("lab", "host5", MF_ROUTES_ALL);
	covers("lab", "plane1.t0-1", MF_ROUTES_ALL);
	covers("lab", "plane1.t1-1", MF_ROUTES_SRV6);
	covers("paper", "plane7.t0-3", MF_ROUTES_ALL);
	covers("threetier", "plane0.t2-9", MF_ROUTES_ALL);
}

TEST(mf_route_groups_next, uplinks_of_a_t0_are_one_group)
{
	struct emit_fixture b;
	struct mf_route_groups groups;
	struct mf_route_group g;
	uint32_t largest = 0;

	fixture_begin(&b, "paper");
	mf_route_groups_begin(&groups, &b.t, fixture_node(&b, "plane0.t0-0"), MF_ROUTES_PLAIN);
	while (mf_route_groups_next(&groups, &g))
		largest = g.n > largest ? g.n : largest;
	assert_u_eq(largest, 256);
	fixture_end(&b);
}
