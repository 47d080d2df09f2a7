/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `mrc plan`: src/cli/plan/plan_verb.h. */
#include "cli/plan/plan_verb.h"

#include "support/test.h"

static enum ui_flags_result parse(struct plan_options *o, int n, const char *const words[])
{
	char *argv[10] = {(char[]){"plan"}};

	for (int i = 0; i < n; i++)
		argv[i + 1] = (char *)(uintptr_t)words[i];
	return plan_options_parse(o, n + 1, argv);
}

TEST(plan_options_parse, takes_a_topology_and_flags)
{
	struct plan_options o;

	assert_int_equal(
		parse(&o, 5,
		      (const char *[]){"paper", "--json", "--rates", "r.toml", "--against=paper4"}),
		UI_FLAGS_OK);
	assert_string_equal(o.topology, "paper");
	assert_string_equal(o.rates, "r.toml");
	assert_string_equal(o.against, "paper4");
	assert_true(o.json);
	assert_int_equal(parse(&o, 1, (const char *[]){"--show-rates"}), UI_FLAGS_OK);
	assert_true(o.show_rates);
}

TEST(plan_options_parse, refuses_what_it_cannot_do)
{
	struct plan_options o;

	assert_int_equal(parse(&o, 0, NULL), UI_FLAGS_ERROR);
	assert_int_equal(parse(&o, 2, (const char *[]){"paper", "lab"}), UI_FLAGS_ERROR);
	assert_int_equal(parse(&o, 2, (const char *[]){"paper", "--jason"}), UI_FLAGS_ERROR);
	assert_int_equal(parse(&o, 1, (const char *[]){"--help"}), UI_FLAGS_HELP);
}

TEST(plan_options_parse, takes_what_is_to_be_written)
{
	struct plan_options o;

	assert_int_equal(parse(&o, 8,
			       (const char *[]){"lab", "--emit", "sonic", "--node", "plane0.t0-0",
						"--trim=symmetric", "--plain-routes", "--out=d"}),
			 UI_FLAGS_OK);
	assert_string_equal(o.emit.format->name, "sonic");
	assert_string_equal(o.emit.node, "plane0.t0-0");
	assert_string_equal(o.emit.out, "d");
	assert_int_equal(o.emit.how.emit.trim, MF_TRIM_SYMMETRIC);
	assert_u_eq(o.emit.how.emit.sets, MF_ROUTES_ALL);
	assert_int_equal(parse(&o, 1, (const char *[]){"lab"}), UI_FLAGS_OK);
	assert_null(o.emit.format);
	assert_string_equal(o.emit.node, "all");
	assert_u_eq(o.emit.how.emit.sets, MF_ROUTES_SRV6);
	assert_int_equal(o.emit.how.emit.trim, MF_TRIM_ASYMMETRIC);
}

TEST(plan_options_parse, refuses_flags_that_do_not_go_together)
{
	struct plan_options o;

	assert_int_equal(parse(&o, 2, (const char *[]){"lab", "--out=d"}), UI_FLAGS_ERROR);
	assert_int_equal(parse(&o, 2, (const char *[]){"lab", "--emit=nothing"}), UI_FLAGS_ERROR);
	assert_int_equal(parse(&o, 3, (const char *[]){"lab", "--emit=frr", "--yang=d"}),
			 UI_FLAGS_ERROR);
	assert_int_equal(parse(&o, 3, (const char *[]){"lab", "--emit=frr", "--trim=both"}),
			 UI_FLAGS_ERROR);
}
