/* SPDX-License-Identifier: BSD-2-Clause */
/* FRR and Arista EOS: src/fabric/emit_frr.c, src/fabric/emit_eos.c. */
#include "fabric/routes.h"

#include "emit_fixture.h"

/* The lines that routes must have: one for each next hop and each blackhole. */
static size_t count_lines(struct emit_fixture *b, uint32_t node)
{
	struct mf_route_iter it;
	struct mf_route r;
	size_t n = 0;

	mf_routes_begin(&it, &b->t, node, b->o.sets);
	while (mf_routes_next(&it, &r))
		n += r.kind == MF_ROUTE_LINK || r.kind == MF_ROUTE_BLACKHOLE;
	return n;
}

static void check_frr(const char *preset, const char *node_name, const char *sid)
{
	struct emit_fixture b;
	uint32_t node;
	char line[128];

	fixture_begin(&b, preset);
	b.o.sets = MF_ROUTES_ALL;
	node = fixture_node(&b, node_name);
	mf_emit_frr(b.to, &b.t, node, &b.o);
	fixture_text(&b);
	assert_u_eq(fixture_count(b.text, "\nipv6 route "), count_lines(&b, node));
	assert_u_eq(fixture_count(b.text, "\nipv6 route ::/0 blackhole\n"), 1);
	assert_u_eq(fixture_count(b.text, "\ninterface "),
		    mf_node_ports(&b.t, mf_node_at(&b.t, node).tier));
	snprintf(line, sizeof(line), "\n   sid %s locator mrc behavior uN\n", sid);
	assert_u_eq(fixture_count(b.text, line), 1);
	snprintf(line, sizeof(line), "\n    prefix %s block-len 32 node-len 16 func-bits 16\n",
		 sid);
	assert_u_eq(fixture_count(b.text, line), 1);
	fixture_end(&b);
}

TEST(mf_emit_frr, has_sid_routes_and_interfaces)
{
	check_frr("lab", "plane1.t0-1", "fcbb:bb01:a001::/48");
	check_frr("lab", "plane3.t1-0", "fcbb:bb03:b000::/48");
	check_frr("paper", "plane2.t0-0", "fcbb:bb00:a400::/48");
}

TEST(mf_emit_frr, next_hops_are_the_other_ends)
{
	struct emit_fixture b;

	fixture_begin(&b, "tiny");
	mf_emit_frr(b.to, &b.t, fixture_node(&b, "plane0.t0-0"), &b.o);
	fixture_text(&b);
	assert_non_null(strstr(b.text, "\nipv6 route fcbb:bb00:1::/48 fe80::1 d0\n"));
	assert_non_null(strstr(b.text, "\nipv6 route fcbb:bb00:b001::/48 fe80::2 u1\n"));
	assert_non_null(strstr(b.text, "\ninterface u1\n ipv6 address fe80::1/64\n"));
	fixture_end(&b);
}

TEST(mf_emit_eos, has_domain_locator_and_routes)
{
	struct emit_fixture b;
	uint32_t node;

	fixture_begin(&b, "lab");
	node = fixture_node(&b, "plane1.t0-1");
	mf_emit_eos(b.to, &b.t, node, &b.o);
	fixture_text(&b);
	assert_non_null(strstr(b.text, "         block fcbb:bb01::/32\n"));
	assert_non_null(strstr(b.text, " domain mrc end usid 0xa001\n"));
	assert_u_eq(fixture_count(b.text, "\nipv6 route "), count_lines(&b, node));
	assert_non_null(strstr(b.text, "\nipv6 route fcbb:bb01:b001::/48 Ethernet1/6 fe80::2\n"));
	assert_non_null(strstr(b.text, "\nipv6 route ::/0 Null0\n"));
	/* ECN on two queues of the two uplinks only. REQ(plan.emit.thresholds) */
	assert_u_eq(fixture_count(b.text, "random-detect ecn "), 4);
	/* REQ(plan.emit.classes) */
	assert_non_null(strstr(b.text, "qos map dscp 46 to traffic-class 6\n"));
	fixture_end(&b);
}

TEST(mf_emit_eos, names_cages_and_lanes)
{
	struct emit_fixture b;

	fixture_begin(&b, "paper");
	mf_emit_eos(b.to, &b.t, fixture_node(&b, "plane0.t0-0"), &b.o);
	fixture_text(&b);
	assert_u_eq(fixture_count(b.text, "\ninterface Ethernet"), 512);
	assert_non_null(strstr(b.text, "\ninterface Ethernet64/8\n   description plane0-t1-255\n"));
	fixture_end(&b);
}
