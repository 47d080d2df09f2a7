/* SPDX-License-Identifier: BSD-2-Clause */
/* What follows from a cfg. */
#include "fabric_fixture.h"

TEST(mf_topology_init, two_tiers)
{
	struct mf_topology t = fabric("lab8");

	assert_u_eq(t.n_hosts, 32);
	assert_u_eq(t.n_t0s, 4);
	assert_u_eq(t.n_t1s, 4);
	assert_u_eq(t.n_t2s, 0);
	assert_u_eq(t.plane_switches, 8);
	assert_u_eq(t.n_switches, 64);
	assert_u_eq(t.n_nodes, 96);
	assert_u_eq(t.plane_cables, 32 + 16);
	assert_u_eq(t.n_links, 2 * 8 * 48);
}

TEST(mf_topology_init, three_tiers)
{
	struct mf_topology t = fabric("small3");

	assert_u_eq(t.n_hosts, 30);
	assert_u_eq(t.hosts_per_pod, 10);
	assert_u_eq(t.n_t0s, 6);
	assert_u_eq(t.n_t1s, 9);
	assert_u_eq(t.n_t2s, 18);
	assert_u_eq(t.plane_switches, 33);
	assert_u_eq(t.plane_cables, 30 + 18 + 54);
	assert_u_eq(t.n_links, 2 * 2 * 102);
}

TEST(mf_topology_init, fills_a_radix_that_is_not_given)
{
	struct mf_topology t = fabric("small3");

	assert_u_eq(t.cfg.radix[0], 8);
	assert_u_eq(t.cfg.radix[1], 8);
	assert_u_eq(t.cfg.radix[2], 4);
}

TEST(mf_topology_init, widths_of_usid_fields)
{
	struct mf_topology paper = fabric("paper"), three = fabric("threetier");

	assert_u_eq(paper.plane_bits, 3);
	assert_u_eq(paper.t0_bits, 9);
	assert_u_eq(paper.t1_bits, 8);
	assert_u_eq(three.plane_bits, 0);
	assert_u_eq(three.t2_bits, 5);
	assert_u_eq(fabric("lab").plane_bits, 0);
}

TEST(mf_topology_init, refusal_changes_nothing)
{
	struct mf_topology_cfg cfg = mf_preset_cfg("lab");
	struct mf_topology t, before;
	struct mf_error e;

	memset(&t, 0x5a, sizeof(t));
	before = t;
	cfg.t0s = 0;
	assert_false(mf_topology_init(&t, &cfg, &e));
	assert_memory_equal(&t, &before, sizeof(t));
}

TEST(mf_presets, full_bisection)
{
	const char *const full[] = {"pod", "paper", "paper4", "threetier"};

	for (size_t i = 0; i < 4; i++) {
		struct mf_topology_cfg cfg = mf_preset_cfg(full[i]);

		assert_u_eq(cfg.hosts_per_t0 * cfg.links[MF_HOST_T0].bit_s,
			    cfg.t1s * cfg.links[MF_T0_T1].bit_s);
	}
}

TEST(mf_topology_count, sums_to_the_totals)
{
	struct mf_topology t = fabric("small3");
	uint32_t nodes = 0, cables = 0;

	for (int tier = 0; tier < MF_TIERS; tier++)
		nodes += mf_topology_count(&t, (enum mf_tier)tier);
	for (int kind = 0; kind < MF_LINK_KINDS; kind++)
		cables += mf_topology_cables(&t, (enum mf_link_kind)kind);
	assert_u_eq(nodes, t.n_nodes);
	assert_u_eq(2 * cables, t.n_links);
	assert_u_eq(mf_topology_count(&t, MF_T2), 36);
	assert_u_eq(mf_topology_cables(&t, MF_T1_T2), 108);
}
