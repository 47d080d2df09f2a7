/* SPDX-License-Identifier: BSD-2-Clause */
/* Capacity lost by failures: src/fabric/plan.h. */
#include "fabric/plan.h"

#include "fabric/topology_toml.h"
#include "support/test.h"

static struct mf_plan_loss loss(const char *name, enum mf_component component)
{
	struct mf_rates r = mf_rates_defaults();
	struct mf_topology t;
	char why[MF_TOML_ERROR_BYTES];

	assert_true(mf_topology_open(name, &t, why));
	return mf_plan_loss(&t, &r, component);
}

static bool near(double a, double b)
{
	return a - b < 1e-12 && b - a < 1e-12;
}

/* REQ(plan.loss) */
TEST(mf_plan_loss, port_costs_its_plane)
{
	struct mf_plan_loss l = loss("paper", MF_LOSE_NIC_PORT);

	assert_u_eq(l.nics, 1);
	assert_true(near(l.bare, 0.125));
	assert_true(near(l.held, 0.125));
	assert_false(l.cut_off);
	assert_true(near(loss("paper4", MF_LOSE_NIC_PORT).bare, 0.25));
	assert_true(loss("threetier", MF_LOSE_NIC_PORT).cut_off);
}

/* 0.4 % of a node's capacity, and 3 % in three tiers. REQ(plan.loss) */
TEST(mf_plan_loss, uplink_of_a_t0)
{
	struct mf_plan_loss l = loss("paper", MF_LOSE_T0_T1_LINK);

	assert_u_eq(l.count, 1048576);
	assert_u_eq(l.nics, 256);
	assert_true(near(l.bare, 1.0 / 2048));
	assert_true(near(l.held, 1.0 / 256));
	l = loss("threetier", MF_LOSE_T0_T1_LINK);
	assert_u_eq(l.nics, 32);
	assert_true(near(l.bare, 1.0 / 32));
	assert_true(near(l.held, 1.0 / 32));
}

TEST(mf_plan_loss, switches)
{
	struct mf_plan_loss l = loss("paper", MF_LOSE_T0);

	assert_u_eq(l.nics, 256);
	assert_true(near(l.held, 0.125));
	l = loss("paper", MF_LOSE_T1);
	assert_u_eq(l.nics, 131072);
	assert_true(near(l.held, 1.0 / 256));
	assert_false(loss("paper", MF_LOSE_T2).present);
	l = loss("threetier", MF_LOSE_T1);
	assert_u_eq(l.nics, 1024);
	assert_true(near(l.held, 1.0 / 32));
	l = loss("threetier", MF_LOSE_T2);
	assert_u_eq(l.nics, 65536);
	assert_true(near(l.held, 1.0 / 1024));
	assert_true(loss("threetier", MF_LOSE_T0).cut_off);
}

TEST(mf_plan_loss, transceivers)
{
	struct mf_plan_loss l = loss("paper", MF_LOSE_T0_DOWN_MODULE);

	assert_u_eq(l.count, 131072);
	assert_u_eq(l.nics, 8); /* a port of each */
	assert_true(near(l.bare, 0.125));
	l = loss("paper", MF_LOSE_T0_UP_MODULE);
	assert_u_eq(l.nics, 256);
	assert_true(near(l.held, 8.0 / 256));
	/* The one that all ports of a NIC share. */
	assert_true(loss("paper", MF_LOSE_NIC_MODULE).cut_off);
	/* Split into four, as in the fabric whose T0 flapped four links. */
	assert_u_eq(loss("paper4", MF_LOSE_T0_DOWN_MODULE).nics, 4);
}

TEST(mf_plan_loss, plane_and_what_is_not_there)
{
	struct mf_plan_loss l = loss("paper", MF_LOSE_PLANE);

	assert_u_eq(l.count, 8);
	assert_u_eq(l.nics, 131072);
	assert_true(near(l.held, 0.125));
	l = loss("paper", MF_LOSE_T1_T2_LINK);
	assert_false(l.present);
	assert_u_eq(l.nics, 0);
	assert_string_equal(mf_component_name(MF_LOSE_T1_T2_LINK), "T1-T2 link");
}
