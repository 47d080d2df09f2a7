/* SPDX-License-Identifier: BSD-2-Clause */
/* The static routes of switches and hosts. */
#include "fabric_fixture.h"

#include <arpa/inet.h>
#include <stdio.h>

#include "fabric/routes.h"

/* One line for each route: prefix, kind, and the port where there is one. */
static void write_routes(const struct mf_topology *t, uint32_t node, unsigned sets, char *out)
{
	static const char *const kinds[] = {"uN", "port", "local", "blackhole"};
	struct mf_route_iter it;
	struct mf_route r;
	char prefix[INET6_ADDRSTRLEN];

	*out = 0;
	mf_routes_begin(&it, t, node, sets);
	while (mf_routes_next(&it, &r)) {
		inet_ntop(AF_INET6, r.prefix, prefix, sizeof(prefix));
		out += sprintf(out, "%s/%u %s", prefix, r.length, kinds[r.kind]);
		if (r.kind == MF_ROUTE_LINK)
			out += sprintf(out, " %u", r.port);
		out += sprintf(out, "\n");
	}
}

static void assert_routes(const struct mf_topology *t, uint32_t node, unsigned sets,
			  const char *want)
{
	char got[4096];

	write_routes(t, node, sets, got);
	assert_string_equal(got, want);
}

/* REQ(topo.routes.static) */
TEST(mf_routes_next, srv6_set_of_a_t0)
{
	struct mf_topology t = fabric("tiny");

	assert_routes(&t, mf_node_switch(&t, MF_T0, 1, 1), MF_ROUTES_SRV6,
		      "fcbb:bb01:a001::/48 uN\n"
		      "fcbb:bb01:3::/48 port 0\n"
		      "fcbb:bb01:4::/48 port 1\n"
		      "fcbb:bb01:b000::/48 port 2\n"
		      "fcbb:bb01:b001::/48 port 3\n"
		      "::/0 blackhole\n");
}

/* REQ(topo.routes.static) */
TEST(mf_routes_next, srv6_set_of_a_t1)
{
	struct mf_topology t = fabric("tiny");

	assert_routes(&t, mf_node_switch(&t, MF_T1, 0, 1), MF_ROUTES_SRV6,
		      "fcbb:bb00:b001::/48 uN\n"
		      "fcbb:bb00:a000::/48 port 0\n"
		      "fcbb:bb00:a001::/48 port 1\n"
		      "::/0 blackhole\n");
}

TEST(mf_routes_next, plain_set_of_a_t0)
{
	struct mf_topology t = fabric("tiny");

	assert_routes(&t, mf_node_switch(&t, MF_T0, 1, 1), MF_ROUTES_PLAIN,
		      "fd6d:7263:0:1::3/128 port 0\n"
		      "fd6d:7263:0:1::4/128 port 1\n"
		      "fd6d:7263:0:1::/64 blackhole\n"
		      "fd6d:7263::/32 port 2\n"
		      "fd6d:7263::/32 port 3\n"
		      "::/0 blackhole\n");
}

TEST(mf_routes_next, plain_set_of_upper_tiers)
{
	struct mf_topology t = fabric("small3");

	assert_routes(&t, mf_node_switch(&t, MF_T1, 0, 4), MF_ROUTES_PLAIN,
		      "fd6d:7263:1::/64 port 0\n"
		      "fd6d:7263:1:1::/64 port 1\n"
		      "fd6d:7263:1::/48 blackhole\n"
		      "fd6d:7263::/32 port 2\n"
		      "fd6d:7263::/32 port 3\n"
		      "fd6d:7263::/32 port 4\n"
		      "fd6d:7263::/32 port 5\n"
		      "fd6d:7263::/32 port 6\n"
		      "fd6d:7263::/32 port 7\n"
		      "::/0 blackhole\n");
	assert_routes(&t, mf_node_switch(&t, MF_T2, 0, 7), MF_ROUTES_PLAIN,
		      "fd6d:7263::/48 port 0\n"
		      "fd6d:7263:1::/48 port 1\n"
		      "fd6d:7263:2::/48 port 2\n"
		      "::/0 blackhole\n");
}

TEST(mf_routes_next, host_with_a_block_for_each_plane)
{
	struct mf_topology t = fabric("tiny");

	assert_routes(&t, 3, MF_ROUTES_ALL,
		      "fd6d:7263:0:1::4/128 local\n"
		      "fcbb:bb00:4::/48 local\n"
		      "fcbb:bb01:4::/48 local\n"
		      "fcbb:bb00::/32 port 0\n"
		      "fcbb:bb01::/32 port 1\n"
		      "fd6d:7263::/32 port 0\n"
		      "fd6d:7263::/32 port 1\n");
}

TEST(mf_routes_next, host_with_planes_in_usids)
{
	struct mf_topology t = fabric("small3");

	assert_routes(&t, 8, MF_ROUTES_SRV6,
		      "fd6d:7263:0:1::1003/128 local\n"
		      "fcbb:bb00:1003::/48 local\n"
		      "fcbb:bb00:1803::/48 local\n"
		      "fcbb:bb00:a001::/48 port 0\n"
		      "fcbb:bb00:a801::/48 port 1\n");
}

static void assert_well_formed(const struct mf_topology *t, uint32_t node, unsigned sets)
{
	struct mf_route_iter it;
	struct mf_route r;

	mf_routes_begin(&it, t, node, sets);
	while (mf_routes_next(&it, &r)) {
		for (uint32_t bit = r.length; bit < 128; bit++)
			assert_false(r.prefix[bit / 8] >> (7 - bit % 8) & 1);
		assert_true(r.set & sets);
		assert_u_eq(r.link == MF_LINK_NONE, r.kind != MF_ROUTE_LINK);
		if (r.kind == MF_ROUTE_LINK) {
			assert_u_eq(mf_link_from(t, r.link).node, node);
			assert_u_eq(mf_link_from(t, r.link).port, r.port);
			assert_u_eq(mf_link_plane(t, r.link), r.plane);
		}
	}
}

TEST(mf_routes_next, gives_well_formed_routes)
{
	const char *const names[] = {"tiny", "lab", "lab8", "small3"};

	for (size_t i = 0; i < 4; i++) {
		struct mf_topology t = fabric(names[i]);

		for (uint32_t node = 0; node < t.n_nodes; node++)
			for (unsigned sets = 1; sets <= MF_ROUTES_ALL; sets++)
				assert_well_formed(&t, node, sets);
	}
}

/* The published count: a T0 of the paper needs a route for each of its 512 ports. */
TEST(mf_routes_next, paper)
{
	struct mf_topology t = fabric("paper");

	assert_u_eq(count_routes(&t, mf_node_switch(&t, MF_T0, 0, 0), MF_ROUTES_SRV6), 1 + 512 + 1);
	assert_u_eq(count_routes(&t, mf_node_switch(&t, MF_T1, 7, 255), MF_ROUTES_SRV6),
		    1 + 512 + 1);
}
