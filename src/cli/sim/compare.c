/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc sim compare - two results side by side, with ratios; scenarios are run first. */
#include "cli/sim/result.h"
#include "cli/sim/run.h"
#include "cli/sim/source.h"
#include "cli/sim/verbs.h"

#include "cli/flags.h"
#include "cli/table.h"
#include "cli/term.h"

#include <stdio.h>
#include <string.h>

#define WHO "mrc sim compare"

/* What is compared unless --all asks for everything. */
static const char *const figures[] = {
	"hosts",      "planes",		"flows",	"flows_unfinished",
	"packets",    "hops",		"trims",	"ecn_marks",
	"drops",      "retransmits",	"simulated_us", "fct_us.p50",
	"fct_us.p99", "fct_us.p100",	"ideal_us",	"wall_s",
	"hops_per_s", "peak_rss_bytes",
};

#define FIGURES (sizeof(figures) / sizeof(figures[0]))

static bool is_json(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && strcmp(dot, ".json") == 0;
}

/* load takes a result from a file, or runs a scenario. NULL: said why; *status is the exit status.
 */
static json_t *load(const char *name, bool quiet, int *status)
{
	const struct sim_run_how how = {.quiet = quiet};
	struct ms_file_error error;
	struct ms_scenario *s;
	json_t *result = NULL;
	json_error_t wrong;

	*status = SIM_EXIT_USAGE;
	if (is_json(name)) {
		result = json_load_file(name, 0, &wrong);
		if (!result)
			fprintf(stderr, WHO ": %s:%d: %s\n", name, wrong.line > 0 ? wrong.line : 0,
				wrong.text);
		else if (json_is_object(result))
			return result;
		else
			fprintf(stderr, WHO ": %s: is no result of mrc sim run\n", name);
		json_decref(result);
		return NULL;
	}
	s = sim_source_read(name, NULL, &error);
	if (!s) {
		fprintf(stderr, WHO ": %s\n", error.text);
		return NULL;
	}
	*status = sim_run_scenario(s, &how, &result);
	ms_scenario_destroy(s);
	return result;
}

/* add_figure adds a row; ratio is b over a. */
static void add_figure(struct cli_table *t, const char *path, const json_t *a, const json_t *b)
{
	double value[2];
	bool has[2] = {sim_result_figure(a, path, &value[0]),
		       sim_result_figure(b, path, &value[1])};
	size_t row = t->rows;

	if (!has[0] && !has[1])
		return;
	cli_table_cell(t, row, 0, "%s", path);
	for (size_t i = 0; i < 2; i++)
		cli_table_cell(t, row, i + 1, has[i] ? "%.10g" : "-", has[i] ? value[i] : 0.0);
	if (has[0] && has[1] && value[0] != 0)
		cli_table_cell(t, row, 3, "%.4g", value[1] / value[0]);
	else
		cli_table_cell(t, row, 3, "%s", has[0] && has[1] && value[1] == 0 ? "1" : "-");
}

/* add_core adds the engines' counters that differ from 0 on either side. */
static void add_core(struct cli_table *t, const json_t *a, const json_t *b)
{
	const char *name;
	json_t *unused;

	json_object_foreach(json_object_get((json_t *)(uintptr_t)a, "core"), name, unused)
	{
		char path[64];
		double x = 0, y = 0;

		snprintf(path, sizeof(path), "core.%s", name);
		sim_result_figure(a, path, &x);
		sim_result_figure(b, path, &y);
		if (x != 0 || y != 0)
			add_figure(t, path, a, b);
	}
}

static json_t *compare_json(const json_t *a, const json_t *b)
{
	json_t *all = json_object();

	for (size_t i = 0; i < FIGURES; i++) {
		double x, y;

		if (sim_result_figure(a, figures[i], &x) && sim_result_figure(b, figures[i], &y))
			json_object_set_new(all, figures[i],
					    json_pack("{s:f,s:f,s:o}", "a", x, "b", y, "ratio",
						      x != 0 ? json_real(y / x) : json_null()));
	}
	return all;
}

static void print_table(const char *name[2], const json_t *a, const json_t *b, bool core)
{
	struct cli_table t = {0};
	struct cli_text text = {0};

	cli_table_cell(&t, 0, 0, "figure");
	cli_table_cell(&t, 0, 1, "A: %.40s", name[0]);
	cli_table_cell(&t, 0, 2, "B: %.40s", name[1]);
	cli_table_cell(&t, 0, 3, "B / A");
	for (size_t i = 0; i < FIGURES; i++)
		add_figure(&t, figures[i], a, b);
	if (core)
		add_core(&t, a, b);
	cli_table_render(&t, &text);
	fputs(text.data, stdout);
	cli_text_fini(&text);
	cli_table_fini(&t);
}

static int compare(const char *name[2], bool json, bool core, bool quiet)
{
	int status[2] = {SIM_EXIT_GOOD, SIM_EXIT_GOOD};
	json_t *a = load(name[0], quiet, &status[0]), *both;
	json_t *b = a ? load(name[1], quiet, &status[1]) : NULL;

	if (a && b && json) {
		both = compare_json(a, b);
		json_dumpf(both, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
		putchar('\n');
		json_decref(both);
	} else if (a && b) {
		print_table(name, a, b, core);
	}
	if (a && is_json(name[0]))
		status[0] = SIM_EXIT_GOOD;
	if (b && is_json(name[1]))
		status[1] = SIM_EXIT_GOOD;
	json_decref(a);
	json_decref(b);
	return status[0] ? status[0] : status[1];
}

int sim_compare_main(int argc, char **argv)
{
	bool json = false, core = false, quiet = false;
	const struct cli_flag flags[] = {
		{"--core", CLI_FLAG_SWITCH, NULL, "the counters of the engines too", &core, 0, 0},
		{"--json", CLI_FLAG_SWITCH, NULL, "as a JSON object", &json, 0, 0},
		{"--quiet", CLI_FLAG_SWITCH, NULL, "no progress", &quiet, 0, 0},
	};
	const size_t n = sizeof(flags) / sizeof(flags[0]);
	const char *name[2];
	size_t words;

	switch (cli_flags_parse_operands(flags, n, WHO, argc, argv, name, 2, &words)) {
	case CLI_FLAGS_HELP:
		printf("usage: mrc sim compare A B [FLAG...]\n"
		       "Shows the figures of two runs and their ratios. A and B are results "
		       "(*.json, "
		       "from\nmrc sim run --json=FILE) or scenarios, which are run first.\n\n");
		cli_flags_help(flags, n);
		printf("\nexamples:\n  mrc sim compare before.json after.json\n"
		       "  mrc sim compare htsim-incast htsim-incast-mrc\n");
		return SIM_EXIT_GOOD;
	case CLI_FLAGS_ERROR:
		return SIM_EXIT_USAGE;
	case CLI_FLAGS_OK:
		break;
	}
	if (words != 2) {
		fprintf(stderr, WHO ": expected two results or scenarios\n");
		return SIM_EXIT_USAGE;
	}
	cli_term_catch();
	return compare(name, json, core, quiet);
}
