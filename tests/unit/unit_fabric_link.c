/* SPDX-License-Identifier: BSD-2-Clause */
/* Directed links by number, by place and by their ends. */
#include "fabric_fixture.h"

#include "fabric/fabric_node.h"

static const char *const names[] = {"tiny", "lab", "lab8", "pod", "small3"};
#define NAMES (sizeof(names) / sizeof(names[0]))

/* The number of the link at a place. */
static uint32_t number_of(const struct mf_topology *t, const struct mf_link *l)
{
	if (l->kind == MF_HOST_T0)
		return mf_link_host_t0(t, l->plane, l->lower, l->down);
	if (l->kind == MF_T0_T1)
		return mf_link_t0_t1(t, l->plane, l->lower, l->uplink, l->down);
	return mf_link_t1_t2(t, l->plane, l->lower, l->uplink, l->down);
}

static void assert_link(const struct mf_topology *t, uint32_t number)
{
	struct mf_link l = mf_link_at(t, number);
	struct mf_end from = mf_link_from(t, number), to = mf_link_to(t, number);
	struct mf_node low = mf_node_at(t, l.down ? to.node : from.node);
	struct mf_node high = mf_node_at(t, l.down ? from.node : to.node);

	assert_u_eq(number_of(t, &l), number);
	assert_u_eq(mf_link_kind(t, number), l.kind);
	assert_u_eq(mf_link_plane(t, number), l.plane);
	assert_u_eq(mf_link_down(number), l.down);
	assert_u_eq(high.plane, l.plane);
	assert_u_eq(high.tier, low.tier + 1);
	assert_u_eq(low.tier, l.kind);
	assert_u_eq(low.index, l.lower);
	/* The return path is the other link of the cable, and a port knows its link. */
	assert_u_eq(mf_link_from(t, mf_link_reverse(number)).node, to.node);
	assert_u_eq(mf_link_from(t, mf_link_reverse(number)).port, to.port);
	assert_u_eq(mf_link_out(t, from.node, from.port), number);
	assert_u_eq(mf_link_out(t, to.node, to.port), mf_link_reverse(number));
}

TEST(mf_link_at, every_link_both_ways)
{
	for (size_t i = 0; i < NAMES; i++) {
		struct mf_topology t = fabric(names[i]);

		for (uint32_t link = 0; link < t.n_links; link++)
			assert_link(&t, link);
	}
}

TEST(mf_link_at, links_of_large_fabrics)
{
	struct mf_topology paper = fabric("paper"), three = fabric("threetier");

	for (size_t i = 0; i < test_rounds(100000); i++) {
		assert_link(&paper, (uint32_t)test_rand_below(paper.n_links));
		assert_link(&three, (uint32_t)test_rand_below(three.n_links));
	}
	assert_link(&paper, paper.n_links - 1);
	assert_link(&three, three.n_links - 1);
}

TEST(mf_link_out, every_port_once)
{
	struct mf_topology t = fabric("small3");
	bool seen[2 * 2 * 102] = {false};
	uint32_t ports = 0;

	for (uint32_t node = 0; node < t.n_nodes; node++) {
		uint32_t n = mf_node_ports(&t, mf_node_at(&t, node).tier);

		for (uint32_t port = 0; port < n; port++, ports++) {
			uint32_t link = mf_link_out(&t, node, port);

			assert_true(link < t.n_links && !seen[link]);
			seen[link] = true;
		}
		assert_u_eq(mf_link_out(&t, node, n), MF_LINK_NONE);
	}
	assert_u_eq(ports, t.n_links);
	assert_u_eq(mf_link_out(&t, t.n_nodes, 0), MF_LINK_NONE);
}

/* REQ(topo.planes) */
TEST(mf_link_at, planes_share_no_switch)
{
	struct mf_topology t = fabric("small3");

	for (uint32_t link = 0; link < t.n_links; link++) {
		struct mf_node from = mf_node_at(&t, mf_link_from(&t, link).node);
		struct mf_node to = mf_node_at(&t, mf_link_to(&t, link).node);

		if (from.tier != MF_HOST && to.tier != MF_HOST)
			assert_u_eq(from.plane, to.plane);
	}
	for (uint32_t plane = 0; plane < 2; plane++)
		assert_u_eq(mf_link_plane(&t, mf_link_out(&t, 3, plane)), plane);
}

TEST(mf_link_bit_s, by_kind)
{
	struct mf_topology_cfg cfg = fabric_small3_cfg();
	struct mf_topology t;

	for (uint32_t kind = 0; kind < MF_LINK_KINDS; kind++)
		cfg.links[kind] = (struct mf_link_cfg){1000 * (kind + 1), 10 * kind};
	t = fabric_of(&cfg);
	assert_u_eq(mf_link_bit_s(&t, mf_link_host_t0(&t, 1, 29, true)), 1000);
	assert_u_eq(mf_link_bit_s(&t, mf_link_t0_t1(&t, 1, 5, 2, false)), 2000);
	assert_u_eq(mf_link_bit_s(&t, mf_link_t1_t2(&t, 1, 8, 5, true)), 3000);
	assert_u_eq(mf_link_latency_ns(&t, mf_link_t1_t2(&t, 0, 0, 0, false)), 20);
}
