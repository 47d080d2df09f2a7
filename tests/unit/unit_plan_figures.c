/* SPDX-License-Identifier: BSD-2-Clause */
/* A plan as a list of numbers: src/cli/plan/plan_verb.h. */
#include "cli/plan/plan_verb.h"

#include "fabric/topology_toml.h"
#include "support/test.h"

static void make(struct plan_figures *out, const char *name)
{
	struct mf_rates r = mf_rates_defaults();
	struct mf_topology t;
	char why[MF_TOML_ERROR_BYTES];

	assert_true(mf_topology_open(name, &t, why));
	plan_figures_make(out, &t, &r);
}

static const struct plan_figure *find_figure(const struct plan_figures *all, const char *key)
{
	for (size_t i = 0; i < all->n; i++)
		if (strcmp(all->figure[i].key, key) == 0)
			return &all->figure[i];
	fail_msg("no figure %s", key);
	return NULL;
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
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(a.figure[i].key, a.figure[k].key);
	}
}

TEST(plan_figures_make, totals)
{
	struct plan_figures f;

	make(&f, "paper");
	assert_true(find_figure(&f, "nics")->value == 131072);
	assert_true(find_figure(&f, "switches")->value == 6144);
	assert_true(find_figure(&f, "modules")->value == 524288);
	assert_true(find_figure(&f, "cables")->value == 2097152);
	assert_true(find_figure(&f, "path_switches")->value == 3);
	assert_false(find_figure(&f, "nics")->per_nic);
	assert_true(find_figure(&f, "usd")->per_nic);
}
