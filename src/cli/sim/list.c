/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc sim list and mrc sim keys: what is built in, and what a file may say. */
#include "cli/sim/source.h"
#include "cli/sim/verbs.h"

#include "cli/flags.h"
#include "sim/presets.h"
#include "sim/scenario_keys.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* ---- scenarios ---- */

static int list_text(void)
{
	struct ms_file_error error;

	for (size_t i = 0; ms_preset_at(i); i++) {
		struct ms_scenario *s = sim_source_read(ms_preset_at(i)->name, NULL, &error);

		if (!s) {
			fprintf(stderr, "mrc sim list: %s\n", error.text);
			return SIM_EXIT_FAILED;
		}
		printf("%-28s %s\n", ms_preset_at(i)->name, s->head.title);
		ms_scenario_destroy(s);
	}
	return SIM_EXIT_GOOD;
}

static int list_json(void)
{
	json_t *all = json_array();
	struct ms_file_error error;

	for (size_t i = 0; ms_preset_at(i); i++) {
		struct ms_scenario *s = sim_source_read(ms_preset_at(i)->name, NULL, &error);

		if (!s) {
			fprintf(stderr, "mrc sim list: %s\n", error.text);
			json_decref(all);
			return SIM_EXIT_FAILED;
		}
		json_array_append_new(all, json_pack("{s:s,s:s,s:i,s:i,s:i}", "name",
						     ms_preset_at(i)->name, "title", s->head.title,
						     "hosts", (int)s->fabric.n_hosts, "planes",
						     (int)s->fabric.cfg.planes, "expectations",
						     (int)s->n_expectations));
		ms_scenario_destroy(s);
	}
	json_dumpf(all, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(all);
	return SIM_EXIT_GOOD;
}

static int show(const char *name)
{
	const struct ms_preset *p = ms_preset_find(name);
	const char *near = ms_preset_near(name);

	if (p) {
		fputs(p->text, stdout);
		return SIM_EXIT_GOOD;
	}
	fprintf(stderr, "mrc sim list: %s: there is no such scenario%s%s%s\n", name,
		near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
	return SIM_EXIT_USAGE;
}

int sim_list_main(int argc, char **argv)
{
	bool json = false;
	const struct cli_flag flags[] = {
		{"--json", CLI_FLAG_SWITCH, NULL, "as a JSON array", &json, 0, 0},
	};
	const char *name;
	size_t n;

	switch (cli_flags_parse_operands(flags, 1, "mrc sim list", argc, argv, &name, 1, &n)) {
	case CLI_FLAGS_HELP:
		printf("usage: mrc sim list [--json] [NAME]\n"
		       "Lists the scenarios that are built in, or writes the file of one of "
		       "them.\n\n");
		cli_flags_help(flags, 1);
		return SIM_EXIT_GOOD;
	case CLI_FLAGS_ERROR:
		return SIM_EXIT_USAGE;
	case CLI_FLAGS_OK:
		break;
	}
	if (n == 1)
		return show(name);
	return json ? list_json() : list_text();
}

/* ---- keys ---- */

static void print_table(const struct ms_table *t)
{
	char allowed[MS_KEY_ALLOWED_BYTES];

	if (t->max > 0)
		printf("[[%s]]  %s (at most %u)\n", t->name, t->about, t->max);
	else
		printf("%s%s%s  %s\n", t->name[0] ? "[" : "", t->name, t->name[0] ? "]" : "",
		       t->about);
	for (size_t i = 0; i < t->n_keys; i++)
		printf("  %-18s %s\n  %-18s %s; default: %s\n", t->keys[i].name, t->keys[i].help,
		       "", ms_key_allowed(&t->keys[i], allowed), t->keys[i].fallback);
	printf("\n");
}

int sim_keys_main(int argc, char **argv)
{
	const struct ms_table *table;
	size_t n;

	switch (cli_flags_parse(NULL, 0, "mrc sim keys", argc, argv)) {
	case CLI_FLAGS_HELP:
		printf("usage: mrc sim keys\n"
		       "Lists every key that a scenario file may have, what it may be and what "
		       "holds "
		       "without it.\n");
		return SIM_EXIT_GOOD;
	case CLI_FLAGS_ERROR:
		return SIM_EXIT_USAGE;
	case CLI_FLAGS_OK:
		break;
	}
	table = ms_scenario_tables(&n);
	for (size_t i = 0; i < n; i++)
		print_table(&table[i]);
	return SIM_EXIT_GOOD;
}
