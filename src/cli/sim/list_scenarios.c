/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc sim list and mrc sim keys: what is built in, and what a file may say. */
#include "study/study.h"
#include "study/study_verbs.h"

#include "sim/scenario/scenario.h"
#include "sim/scenario/scenario_keys.h"

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ---- scenarios ---- */

static void add_scenario(json_t *all, const char *name, const struct ms_scenario *s)
{
	json_array_append_new(all, json_pack("{s:s,s:s,s:i,s:i,s:i}", "name", name, "title",
					     s->head.title, "hosts", (int)s->fabric.n_hosts,
					     "planes", (int)s->fabric.cfg.planes, "expectations",
					     (int)s->n_expectations));
}

static int list_all(bool json)
{
	json_t *all = json_array();
	struct ms_file_error error;
	int code = SIM_EXIT_GOOD;

	for (const struct mb_named_text *p = ms_presets; p->name && !code; p++) {
		struct ms_scenario *s = sim_source_read(p->name, NULL, &error);

		if (!s) {
			fprintf(stderr, "mrc sim list: %s\n", error.text);
			code = SIM_EXIT_FAILED;
		} else if (json) {
			add_scenario(all, p->name, s);
		} else {
			printf("%-28s %s\n", p->name, s->head.title);
		}
		ms_scenario_destroy(s);
	}
	if (json && !code) {
		json_dumpf(all, stdout, JSON_INDENT(2));
		putchar('\n');
	}
	json_decref(all);
	return code;
}

static int print_scenario(const char *name)
{
	const struct mb_named_text *p = mb_named_text_find(ms_presets, name);
	const char *near = mb_named_text_near(ms_presets, name);

	if (p) {
		fputs(p->text, stdout);
		return SIM_EXIT_GOOD;
	}
	fprintf(stderr, "mrc sim list: %s: unknown scenario%s%s%s\n", name,
		near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
	return SIM_EXIT_USAGE;
}

struct options {
	bool json, markdown;
};

static const struct ui_flag list_flags[] = {
	UI_SWITCH("--json", options, json, "as a JSON array"),
};

static int sim_list_main(int argc, char **argv)
{
	struct options o = {0};
	const char *name;
	size_t n;
	int status;

	status = ui_verb_parse(&sim_list_verb, &o, argc, argv, &name, 1, &n);
	if (status != UI_FLAGS_OK)
		return status;
	if (n == 1)
		return print_scenario(name);
	return list_all(o.json);
}

const struct ui_verb sim_list_verb = {
	.name = "mrc sim list",
	.summary = "the scenarios that are built in",
	.usage = "[SCENARIO] [FLAG...]",
	.about = "Lists the scenarios that are built in, or prints the file of one of them.",
	.operands = "SCENARIO",
	.flags = list_flags,
	.n_flags = UI_COUNT(list_flags),
	.choices = (const struct ui_choices *const[]){&study_scenarios, NULL},
	.run = sim_list_main,
};

/* ---- keys ---- */

static void print_head(const struct ms_table *t, bool markdown)
{
	const char *quote = markdown && t->name[0] ? "`" : "";

	printf("%s%s", markdown ? "### " : "", quote);
	if (t->name[0])
		printf(t->max ? "[[%s]]" : "[%s]", t->name);
	else
		printf("Before the first table");
	printf("%s", quote);
	if (t->about[0])
		printf("%s%s", markdown ? "\n\n" : "  ", t->about);
	if (t->max > 0)
		printf(" (at most %u)", t->max);
	printf(markdown ? "\n\n| key | what it is | allowed | default |\n|---|---|---|---|\n"
			: "\n");
}

static void print_table(const struct ms_table *t, bool markdown)
{
	char allowed[MS_KEY_ALLOWED_BYTES];

	print_head(t, markdown);
	for (size_t i = 0; i < t->n_keys; i++) {
		const struct ms_key *k = &t->keys[i];

		ms_key_allowed(k, allowed);
		if (markdown)
			printf("| `%s` | %s | %s | %s |\n", k->name, k->help, allowed, k->fallback);
		else
			printf("  %-18s %s\n  %-18s %s; default: %s\n", k->name, k->help, "",
			       allowed, k->fallback);
	}
	printf("\n");
}

static const struct ui_flag keys_flags[] = {
	UI_SWITCH("--markdown", options, markdown, "as tables of docs/simulator.md"),
};

static int sim_keys_main(int argc, char **argv)
{
	struct options o = {0};
	const struct ms_table *table;
	size_t n;
	int status;

	status = ui_verb_parse(&sim_keys_verb, &o, argc, argv, NULL, 0, NULL);
	if (status != UI_FLAGS_OK)
		return status;
	table = ms_scenario_tables(&n);
	for (size_t i = 0; i < n; i++)
		print_table(&table[i], o.markdown);
	return SIM_EXIT_GOOD;
}

const struct ui_verb sim_keys_verb = {
	.name = "mrc sim keys",
	.summary = "every key that a scenario file may have",
	.usage = "[FLAG...]",
	.about = "Lists every key that a scenario file may have, what it may be and what holds "
		 "without it.",
	.flags = keys_flags,
	.n_flags = UI_COUNT(keys_flags),
	.run = sim_keys_main,
};
