/* SPDX-License-Identifier: BSD-2-Clause */
/* A plan for eyes and for programs: src/cli/plan/plan_verb.h. */
#include "cli/plan/plan_verb.h"

#include "fabric/topology_toml.h"
#include "support/test.h"

static struct mf_topology fabric(const char *name)
{
	struct mf_topology t;
	char why[MF_TOML_ERROR_BYTES];

	assert_true(mf_topology_open(name, &t, why));
	return t;
}

/* The cells of the line that begins with a label, blanks as one. */
static const char *line_of(const char *text, const char *label)
{
	static char line[200];
	const char *at = strstr(text, label);
	size_t n = 0;

	assert_non_null(at);
	for (at += strlen(label); *at && *at != '\n' && n + 1 < sizeof(line); at++)
		if (*at != ' ' || (n && line[n - 1] != ' '))
			line[n++] = *at;
	line[n] = '\0';
	return line;
}

TEST(plan_report_write, two_fabrics_side_by_side)
{
	struct mf_topology paper = fabric("paper"), three = fabric("threetier");
	struct mf_rates r = mf_rates_defaults();
	struct ui_text out = {0};

	plan_report_write(&out, &paper, &three, &r);
	assert_string_equal(line_of(out.data, "\n  NICs  "), "131,072 65,536");
	assert_string_equal(line_of(out.data, "\n  switches  "),
			    "6,144 5,120 0.04688 0.07812 0.600");
	assert_string_equal(line_of(out.data, "\n  the same by bandwidth  "),
			    "524,288 393,216 4 6 0.667");
	assert_string_equal(line_of(out.data, "\n  raw cables  "), "2,097,152 196,608 16 3 5.333");
	assert_string_equal(line_of(out.data, "\n  T0-T1 link  "),
			    "256 0.0488 % 0.391 % 32 3.12 % 3.12 %");
	assert_string_equal(line_of(out.data, "\n  plane  "),
			    "131,072 12.5 % 12.5 % 65,536 cut off cut off");
	assert_null(strstr(out.data, " \n"));
	ui_text_fini(&out);
}

TEST(plan_report_write, one_alone)
{
	struct mf_topology t = fabric("lab");
	struct mf_rates r = mf_rates_defaults();
	struct ui_text out = {0};

	plan_report_write(&out, &t, NULL, &r);
	assert_string_equal(line_of(out.data, "\n  switches  "), "16 2");
	assert_null(strstr(out.data, "T1-T2 links"));
	assert_null(strstr(out.data, "ratio"));
	ui_text_fini(&out);
}

TEST(plan_report_json, says_the_same)
{
	struct mf_topology paper = fabric("paper"), three = fabric("threetier");
	struct mf_rates r = mf_rates_defaults();
	json_t *all = plan_report_json(&paper, &three, &r);
	json_t *plan = json_object_get(all, "plan"), *per_nic = json_object_get(plan, "per_nic");
	json_t *against = json_object_get(all, "against");

	assert_i_eq(json_integer_value(json_object_get(plan, "switches")), 6144);
	assert_i_eq(json_integer_value(json_object_get(against, "switches")), 5120);
	assert_true(json_real_value(json_object_get(per_nic, "modules")) == 4);
	assert_string_equal(json_string_value(json_object_get(plan, "name")), "paper");
	assert_u_eq(json_array_size(json_object_get(plan, "losses")), 8);
	assert_u_eq(json_array_size(json_object_get(all, "rates")), mf_rates_count());
	json_decref(all);
	all = plan_report_json(&paper, NULL, &r);
	assert_null(json_object_get(all, "against"));
	json_decref(all);
}

/* What --show-rates prints is a file for --rates. REQ(plan.inputs) */
TEST(plan_report_rates, can_be_read)
{
	struct mf_rates r = mf_rates_defaults(), back = {0};
	struct ui_text out = {0};
	char error[256] = "";

	plan_report_rates(&out, &r);
	assert_true(mf_rates_read(&back, "shown", out.data, error, sizeof(error)));
	assert_memory_equal(&back, &r, sizeof(r));
	assert_non_null(strstr(out.data, "# source: "));
	assert_non_null(strstr(out.data, "# assumed: "));
	ui_text_fini(&out);
}
