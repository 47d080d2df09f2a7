/* SPDX-License-Identifier: BSD-2-Clause */
/* Expected failures: src/fabric/plan.h. */
#include "fabric/plan.h"

#include "fabric/topology_toml.h"
#include "support/test.h"

#define YEAR_NS UINT64_C(31536000000000000)

static struct mf_topology fabric(const char *name)
{
	struct mf_topology t;
	char why[MF_TOML_ERROR_BYTES];

	assert_true(mf_topology_open(name, &t, why));
	return t;
}

static bool near(double a, double b)
{
	return a - b <= 1e-9 * b && b - a <= 1e-9 * b;
}

/* Rates that make sums easy: 1 / 365 a day of each. */
static struct mf_rates once_a_year(void)
{
	struct mf_rates r = mf_rates_defaults();

	r.switch_failures = r.module_failures = r.nic_failures = 1;
	r.link_flaps = 2;
	r.switch_repair_ns = r.module_repair_ns = YEAR_NS / 1000;
	return r;
}

/* REQ(plan.failures) */
TEST(mf_plan_failures, counts_every_component)
{
	struct mf_topology t = fabric("paper");
	struct mf_rates r = once_a_year();
	struct mf_plan_failures f = mf_plan_failures(&t, &r);

	assert_true(near(f.switches[0] * 365, 4096));
	assert_true(near(f.switches[1] * 365, 2048));
	assert_true(near(f.switches[2] * 365, 0));
	assert_true(near(f.nic_modules * 365, 131072));
	assert_true(near(f.modules * 365, 3 * 131072));
	assert_true(near(f.nics * 365, 131072));
	assert_true(near(f.all * 365, 6144 + 5 * 131072));
	assert_true(near(f.flaps * 365, 2 * 2097152));
}

/* With one plane whatever is below the T1s is seen; REQ(plan.failures) */
TEST(mf_plan_failures, one_plane_sees_its_t0s_and_modules)
{
	struct mf_topology t = fabric("threetier");
	struct mf_rates r = once_a_year();
	struct mf_plan_failures f = mf_plan_failures(&t, &r);

	assert_true(near(f.job_visible * 365, 2048 + 3 * 65536));
	assert_true(near(f.job_visible_days * f.job_visible, 1));
	/* A NIC: its T0, that T0's module, its own module, itself. */
	assert_true(near(f.nic_years, 0.25));
}

/* With eight, what all ports share, and hardly anything else. REQ(plan.failures) */
TEST(mf_plan_failures, eight_planes_see_what_ports_share)
{
	struct mf_topology t = fabric("paper");
	struct mf_rates r = once_a_year();
	struct mf_plan_failures f = mf_plan_failures(&t, &r);

	assert_true(near(f.job_visible * 365, 2 * 131072));
	assert_true(near(f.nic_years, 0.5));
}

TEST(mf_plan_failures, overlaps_of_two_planes)
{
	struct mf_topology_cfg cfg = mf_preset_cfg("tiny");
	struct mf_topology t = fabric("tiny");
	struct mf_rates r = once_a_year();
	struct mf_plan_failures f;

	assert_u_eq(cfg.planes, 2);
	r.nic_failures = 0;
	r.host_cable = MF_HOST_COPPER; /* only the T0s are left: 2 of them, 2 NICs each */
	f = mf_plan_failures(&t, &r);
	assert_true(near(f.job_visible * 365, 2 * (2 * 1 * 0.001)));
	assert_true(near(f.nic_years, 4 / (4 * 0.002)));
}

TEST(mf_plan_failures, nothing_fails_nothing_is_seen)
{
	struct mf_topology t = fabric("lab");
	struct mf_rates r = once_a_year();
	struct mf_plan_failures f;

	r.switch_failures = r.module_failures = r.nic_failures = 0;
	f = mf_plan_failures(&t, &r);
	assert_true(f.job_visible == 0);
	assert_true(f.job_visible_days == 0);
	assert_true(f.nic_years == 0);
}
