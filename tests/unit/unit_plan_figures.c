/* SPDX-License-Identifier: BSD-2-Clause */
/* A plan as a list of numbers: src/cli/plan/plan_figures.h. */
#include "cli/plan/plan_figures.h"

#include "fabric/topology_preset.h"
#include "support/test.h"

static void make(struct plan_figures *out, const char *name)
{
	struct mf_rates r = mf_rates_defaults();
	struct mf_topology t;
	struct mf_error error;

	assert_true(mf_topology_init(&t, &mf_preset_find(name)->cfg, &error));
	plan_figures_make(out, &t, &r);
}

TEST(plan_figures_make, same_list_for_every_fabric)
{
	struct plan_figures a, b;

	make(&a, "paper");
	make(&b, "threetier");
	assert_u_eq(a.n, b.n);
	assert_true(a.n < PLAN_FIGURES_MAX);
	for (size_t i = 0; i < a.n; i++) {
		assert_string_equal(a.figure[i].key, b.figure[i].key);
		assert_ptr_equal(plan_figures_find(&a, a.figure[i].key), &a.figure[i]);
	}
}

TEST(plan_figures_make, totals)
{
	struct plan_figures f;

	make(&f, "paper");
	assert_true(plan_figures_find(&f, "nics")->value == 131072);
	assert_true(plan_figures_find(&f, "switches")->value == 6144);
	assert_true(plan_figures_find(&f, "modules")->value == 524288);
	assert_true(plan_figures_find(&f, "cables")->value == 2097152);
	assert_true(plan_figures_find(&f, "path_switches")->value == 3);
	assert_false(plan_figures_find(&f, "nics")->per_nic);
	assert_true(plan_figures_find(&f, "usd")->per_nic);
	assert_null(plan_figures_find(&f, "no-such"));
}
