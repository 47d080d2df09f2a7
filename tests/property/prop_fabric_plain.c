/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plain packets walk through fabrics by the plain set of routes, at each ECMP group over a member
 * that chance picks: every host is reached from every other by the fewest hops, and what is for a
 * host that is not there ends in a blackhole. REQ(topo.routes.plain)
 */
#include "../unit/fabric_fixture.h"

#include "fabric/fabric_path.h"
#include "fabric/routes.h"

#define NOBODY UINT32_MAX

static bool covers(const struct mf_route *r, const uint8_t *address)
{
	uint32_t whole = r->length / 8, rest = r->length % 8;

	return memcmp(r->prefix, address, whole) == 0 &&
	       (rest == 0 || (r->prefix[whole] ^ address[whole]) >> (8 - rest) == 0);
}

/* Any of the routes with the longest prefix, each as likely. */
static struct mf_route lookup(const struct mf_topology *t, uint32_t node, const uint8_t *address)
{
	struct mf_route r, best = {.kind = MF_ROUTE_BLACKHOLE};
	struct mf_route_iter it;
	uint32_t equals = 0;

	mf_routes_begin(&it, t, node, MF_ROUTES_PLAIN);
	while (mf_routes_next(&it, &r)) {
		if (!covers(&r, address) || (equals > 0 && r.length < best.length))
			continue;
		if (equals > 0 && r.length > best.length)
			equals = 0;
		if (test_rand_below(++equals) == 0)
			best = r;
	}
	return best;
}

/* Where a packet ends: a host, or NOBODY when it was dropped; hops counts links. */
static uint32_t walk(const struct mf_topology *t, uint32_t at, const uint8_t *address,
		     uint32_t *hops)
{
	for (*hops = 0; *hops <= MF_PATH_LINKS_MAX; ++*hops) {
		struct mf_route r = lookup(t, at, address);

		if (r.kind == MF_ROUTE_BLACKHOLE)
			return NOBODY;
		if (r.kind == MF_ROUTE_LOCAL)
			return at;
		assert_u_eq(r.kind, MF_ROUTE_LINK);
		at = mf_link_to(t, r.link).node;
	}
	fail_msg("a packet goes in circles");
	return NOBODY;
}

static void walk_pair(const struct mf_topology *t, uint32_t src, uint32_t dst)
{
	struct mf_pair p = mf_pair_of(t, src, dst);
	uint8_t address[MF_ADDRESS_BYTES];
	uint32_t hops;

	mf_address_of_host(t, dst, address);
	assert_u_eq(walk(t, src, address, &hops), dst);
	assert_u_eq(hops, src == dst ? 0 : mf_pair_links(&p));
}

/* REQ(topo.routes.plain) */
TEST(mf_routes_next, plain_routes_reach_every_host)
{
	const char *const names[] = {"tiny", "lab", "lab8", "small3"};

	for (size_t i = 0; i < 4; i++) {
		struct mf_topology t = fabric(names[i]);

		for (uint32_t src = 0; src < t.n_hosts; src++)
			for (uint32_t dst = 0; dst < t.n_hosts; dst++)
				walk_pair(&t, src, dst);
	}
}

TEST(mf_routes_next, plain_routes_of_large_fabrics)
{
	const char *const names[] = {"pod", "paper", "threetier"};

	for (size_t i = 0; i < 3; i++) {
		struct mf_topology t = fabric(names[i]);

		for (size_t n = 0; n < test_rounds(500); n++)
			walk_pair(&t, (uint32_t)test_rand_below(t.n_hosts),
				  (uint32_t)test_rand_below(t.n_hosts));
	}
}

/* One bit of a host's address, behind the block, is turned over. */
TEST(mf_routes_next, plain_routes_drop_what_is_nobodys)
{
	struct mf_topology t = fabric("small3");

	for (size_t n = 0; n < test_rounds(5000); n++) {
		uint8_t address[MF_ADDRESS_BYTES];
		uint32_t bit = 32 + (uint32_t)test_rand_below(96), host, hops;

		mf_address_of_host(&t, (uint32_t)test_rand_below(t.n_hosts), address);
		address[bit / 8] ^= (uint8_t)(1u << bit % 8);
		if (!mf_address_host(&t, address, &host))
			host = NOBODY;
		assert_u_eq(walk(&t, (uint32_t)test_rand_below(t.n_hosts), address, &hops), host);
	}
}
