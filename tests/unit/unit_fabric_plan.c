/* SPDX-License-Identifier: BSD-2-Clause */
/* Pieces, cost, path and capacity: src/fabric/plan.h. */
#include "fabric/plan.h"

#include "fabric/topology_toml.h"
#include "support/test.h"

static struct mf_topology fabric(const char *name)
{
	struct mf_topology t;
	char why[MF_TOML_ERROR_BYTES];

	assert_true(mf_topology_open(name, &t, why));
	return t;
}

static bool near(double a, double b)
{
	return a - b < 1e-9 * b && b - a < 1e-9 * b;
}

/* REQ(topo.sizes) */
TEST(mf_plan_pieces, paper_counts_as_the_paper_does)
{
	struct mf_topology t = fabric("paper");
	struct mf_rates r = mf_rates_defaults();
	struct mf_plan_pieces p = mf_plan_pieces(&t, &r);

	assert_u_eq(p.nics, 131072);
	assert_u_eq(p.switches[0], 4096);
	assert_u_eq(p.switches[1], 2048);
	assert_u_eq(p.switches[2], 0);
	assert_u_eq(p.switches_all, 6144);
	assert_u_eq(p.cables[MF_HOST_T0], 1048576);
	assert_u_eq(p.cables[MF_T0_T1], 1048576);
	assert_u_eq(p.cables_all, 2097152);
	assert_u_eq(p.switch_ports_free, 0);
}

TEST(mf_plan_pieces, threetier_counts)
{
	struct mf_topology t = fabric("threetier");
	struct mf_rates r = mf_rates_defaults();
	struct mf_plan_pieces p = mf_plan_pieces(&t, &r);

	assert_u_eq(p.nics, 65536);
	assert_u_eq(p.switches[0], 2048);
	assert_u_eq(p.switches[1], 2048);
	assert_u_eq(p.switches[2], 1024);
	assert_u_eq(p.switches_all, 5120);
	assert_u_eq(p.cables_all, 3 * 65536);
	assert_u_eq(p.modules_all, 6 * 65536);
	assert_u_eq(p.switch_ports_free, 0);
}

TEST(mf_plan_pieces, paper4_counts)
{
	struct mf_topology t = fabric("paper4");
	struct mf_rates r = mf_rates_defaults();
	struct mf_plan_pieces p = mf_plan_pieces(&t, &r);

	assert_u_eq(p.nics, 32768);
	assert_u_eq(p.switches_all, 4 * (256 + 128));
	assert_u_eq(p.cables_all, 2 * 4 * 32768);
	assert_u_eq(p.modules_all, 4 * 32768);
	assert_true(near(p.module_equivalents, 4 * 32768));
}

/* 2/3 of the optics, 3/5 of the switches for each NIC. REQ(plan.optics) */
TEST(mf_plan_pieces, two_tiers_against_three)
{
	struct mf_topology paper = fabric("paper"), three = fabric("threetier");
	struct mf_rates r = mf_rates_defaults();
	struct mf_plan_pieces p = mf_plan_pieces(&paper, &r), q = mf_plan_pieces(&three, &r);

	assert_u_eq(3 * p.modules_all * q.nics, 2 * q.modules_all * p.nics);
	assert_true(near(3 * p.module_equivalents * (double)q.nics,
			 2 * q.module_equivalents * (double)p.nics));
	assert_u_eq(5 * p.switches_all * q.nics, 3 * q.switches_all * p.nics);
	/* What it costs in return: more than five times the cables. */
	assert_u_eq(p.cables_all / p.nics, 16);
	assert_u_eq(q.cables_all / q.nics, 3);
}

/* REQ(plan.optics) */
TEST(mf_plan_pieces, modules_by_place)
{
	struct mf_topology t = fabric("paper");
	struct mf_rates r = mf_rates_defaults();
	struct mf_plan_pieces p = mf_plan_pieces(&t, &r);

	assert_u_eq(mf_module_links(&t, &r, MF_HOST_T0), 8);
	assert_u_eq(p.modules[MF_MODULE_HOST], 131072);
	assert_u_eq(p.modules[MF_MODULE_T0_DOWN], 4096 * 32);
	assert_u_eq(p.modules[MF_MODULE_T0_UP], 4096 * 32);
	assert_u_eq(p.modules[MF_MODULE_T1_DOWN], 2048 * 64);
	assert_u_eq(p.modules[MF_MODULE_T1_UP], 0);
	assert_u_eq(p.modules[MF_MODULE_T2_DOWN], 0);
}

TEST(mf_plan_pieces, copper_to_the_hosts_has_no_optics_there)
{
	struct mf_topology t = fabric("paper");
	struct mf_rates r = mf_rates_defaults();
	struct mf_plan_pieces p;

	r.host_cable = MF_HOST_COPPER;
	p = mf_plan_pieces(&t, &r);
	assert_u_eq(p.modules[MF_MODULE_HOST], 0);
	assert_u_eq(p.modules[MF_MODULE_T0_DOWN], 0);
	assert_u_eq(p.modules_all, 2 * 131072);
	assert_true(near(p.module_equivalents, 2 * 131072));
}

TEST(mf_module_count, rounds_up_at_each_node)
{
	struct mf_topology t = fabric("paper");
	struct mf_rates r = mf_rates_defaults();

	assert_u_eq(mf_module_count(&t, &r, MF_HOST_T0, 8), 1);
	assert_u_eq(mf_module_count(&t, &r, MF_HOST_T0, 9), 2);
	r.module_bit_s = 50000000000; /* a port takes two */
	assert_u_eq(mf_module_count(&t, &r, MF_HOST_T0, 8), 16);
	r.module_bit_s = 100000000000000;
	r.module_lanes = 4; /* no more than lanes */
	assert_u_eq(mf_module_count(&t, &r, MF_HOST_T0, 8), 2);
}

TEST(mf_plan_cost, adds_up)
{
	struct mf_topology t = fabric("paper");
	struct mf_rates r = mf_rates_defaults();
	struct mf_plan_cost c;

	r.switch_usd = 1000;
	r.module_usd = 10;
	r.fibre_usd = 1;
	r.trunk_usd = 1e6; /* no link is as fast as a module */
	r.switch_w = 100;
	r.module_w = 2;
	c = mf_plan_cost(&t, &r);
	assert_true(near(c.switch_usd, 6144000));
	assert_true(near(c.module_usd, 5242880));
	assert_true(near(c.cable_usd, 2097152));
	assert_true(near(c.all_usd, 6144000 + 5242880 + 2097152));
	assert_true(near(c.all_w, 614400 + 1048576));
}

TEST(mf_plan_path, three_switches_instead_of_five)
{
	struct mf_topology paper = fabric("paper"), three = fabric("threetier");
	struct mf_plan_path p = mf_plan_path(&paper), q = mf_plan_path(&three);

	assert_u_eq(p.switches, 3);
	assert_u_eq(p.links, 4);
	assert_u_eq(p.paths, 8 * 256);
	assert_u_eq(p.nics_one_switch, 256);
	assert_u_eq(p.latency_ns,
		    4 * paper.cfg.links[MF_HOST_T0].latency_ns + 3 * paper.cfg.switch_ns);
	assert_u_eq(q.switches, 5);
	assert_u_eq(q.links, 6);
	assert_u_eq(q.paths, 32 * 32);
	assert_u_eq(q.nics_one_switch, 32);
}

/* REQ(plan.bisection) */
TEST(mf_plan_capacity, full_bisection)
{
	struct mf_topology t = fabric("paper");
	struct mf_plan_capacity c = mf_plan_capacity(&t);

	assert_u_eq(c.nic_bit_s, 800000000000);
	assert_true(near(c.bisection_share, 1));
	assert_true(near(c.bisection_bit_s, 65536 * 800e9));
	t = fabric("threetier");
	c = mf_plan_capacity(&t);
	assert_true(near(c.bisection_share, 1));
	assert_true(near(c.bisection_bit_s, 32768 * 800e9));
}

/* REQ(plan.bisection) */
TEST(mf_plan_capacity, oversubscribed_by_the_narrowest_tier)
{
	struct mf_topology_cfg cfg = mf_preset_cfg("threetier");
	struct mf_topology t;
	struct mf_error error;

	cfg.t1_uplinks = 8; /* a quarter of what the T1s have below */
	assert_true(mf_topology_init(&t, &cfg, &error));
	assert_true(near(mf_plan_capacity(&t).bisection_share, 0.25));
	cfg.links[MF_T0_T1].bit_s /= 8;
	assert_true(mf_topology_init(&t, &cfg, &error));
	assert_true(near(mf_plan_capacity(&t).bisection_share, 0.125));
}
