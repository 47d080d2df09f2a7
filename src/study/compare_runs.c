/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc sim compare - results side by side, with ratios, and as a page; scenarios are run first. */
#include "study/study.h"
#include "study/study_verbs.h"

#include "base/printable.h"
#include "ui/terminal.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define WHO "mrc sim compare"

struct compare_options {
	bool json, core, quiet;
	const char *html, *title;
};

static const char *cut_name(const char *name, char out[64])
{
	const char *slash = strrchr(name, '/');
	size_t len;

	name = slash ? slash + 1 : name;
	len = strlen(name);
	if (len > 5 &&
	    (strcmp(name + len - 5, ".json") == 0 || strcmp(name + len - 5, ".toml") == 0))
		len -= 5;
	snprintf(out, 64, "%.*s", (int)len, name);
	return out;
}

const char *sim_short_name(const char *const *path, size_t n, size_t at, char out[64])
{
	char own[64], other[64];
	bool alone = true;

	cut_name(path[at], own);
	for (size_t i = 0; i < n; i++)
		alone &= i == at || strcmp(cut_name(path[i], other), own) != 0;
	if (alone)
		snprintf(out, 64, "%s", own);
	else
		snprintf(out, 64, "%.40s (%zu)", own, at + 1);
	return out;
}

static json_t *page_data(const struct sim_compared *c, const struct compare_options *o)
{
	json_t *runs = json_array();
	char command[1024] = WHO;

	for (size_t i = 0; i < c->n; i++) {
		size_t len = strlen(command);

		json_array_append_new(runs,
				      json_pack("{s:o,s:O}", "name", sim_text_json(c->name[i]),
						"result", c->result[i]));
		snprintf(command + len, sizeof(command) - len, " %s", c->name[i]);
	}
	return json_pack("{s:o,s:o,s:o}", "title",
			 sim_text_json(o->title ? o->title : "Simulations compared"), "command",
			 sim_text_json(command), "runs", runs);
}

/* print_comparison prints what was compared and writes the page. */
static int print_comparison(const struct sim_compared *c, const struct compare_options *o)
{
	struct ms_file_error error;
	struct ui_text text = {0};
	json_t *json;
	bool ok = true;

	if (o->json) {
		json = sim_compare_json(c);
		json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
		putchar('\n');
	} else {
		sim_compare_text(c, o->core, &text);
		fputs(text.data ? text.data : "", stdout);
		ui_text_fini(&text);
		json = NULL;
	}
	json_decref(json);
	if (o->html) {
		json = page_data(c, o);
		ok = sim_page_write(json, o->html, &error);
		json_decref(json);
	}
	if (!ok)
		fprintf(stderr, WHO ": %s\n", error.text);
	return ok ? SIM_EXIT_GOOD : SIM_EXIT_FAILED;
}

static json_t *from_file(const char *name)
{
	json_error_t wrong;
	json_t *result = json_load_file(name, 0, &wrong);

	if (!result) {
		fprintf(stderr, WHO ": %s:%d: %s\n", name, wrong.line > 0 ? wrong.line : 0,
			mb_printable(wrong.text, sizeof(wrong.text)));
		return NULL;
	}
	if (json_is_object(result) && json_is_string(json_object_get(result, "scenario")))
		return result;
	fprintf(stderr, WHO ": %s: is no result of mrc sim run\n", name);
	json_decref(result);
	return NULL;
}

/* Takes a result from a file whose name ends in .json, else runs the scenario of that name. NULL:
 * said on stderr why. *status is the exit status: what a run ended with, or a usage error. */
static json_t *load_result(const char *name, bool quiet, int *status)
{
	const struct sim_run_how how = {.quiet = quiet, .account = true};
	const char *dot = strrchr(name, '.');
	struct ms_file_error error;
	struct ms_scenario *s;
	json_t *result = NULL;

	*status = SIM_EXIT_USAGE;
	if (dot && strcmp(dot, ".json") == 0) {
		result = from_file(name);
		if (result)
			*status = SIM_EXIT_GOOD;
		return result;
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

static int compare_runs(const char *const *name, size_t n, const struct compare_options *o)
{
	struct sim_compared c = {.n = n};
	char shorter[SIM_COMPARE_MAX][64];
	int worst = SIM_EXIT_GOOD, status = SIM_EXIT_GOOD;
	size_t i;

	for (i = 0; i < n; i++) {
		c.name[i] = sim_short_name(name, n, i, shorter[i]);
		c.result[i] = load_result(name[i], o->quiet, &status);
		worst = worst ? worst : status;
		if (!c.result[i])
			break;
	}
	if (i == n) {
		status = print_comparison(&c, o);
		worst = worst ? worst : status;
	}
	for (i = 0; i < n; i++)
		json_decref(c.result[i]);
	return worst;
}

static const struct ui_flag flags[] = {
	UI_TEXT("--html", compare_options, html, "FILE",
		"one page with curves, that needs no other file"),
	UI_TEXT("--title", compare_options, title, "TEXT", "of the page"),
	UI_SWITCH("--core", compare_options, core, "the counters of the engines too"),
	UI_SWITCH("--json", compare_options, json, "as a JSON object"),
	UI_SWITCH("--quiet", compare_options, quiet, "no progress"),
};

static int sim_compare_main(int argc, char **argv)
{
	struct compare_options o = {0};
	const char *name[SIM_COMPARE_MAX];
	size_t words;
	int status;

	status = ui_verb_parse(&sim_compare_verb, &o, argc, argv, name, SIM_COMPARE_MAX, &words);
	if (status != UI_FLAGS_OK)
		return status;
	if (words < 2) {
		fprintf(stderr, WHO ": expected two or more results or scenarios\n");
		return SIM_EXIT_USAGE;
	}
	ui_term_catch();
	return compare_runs(name, words, &o);
}

_Static_assert(SIM_COMPARE_MAX == 6, "the help says six");

const struct ui_verb sim_compare_verb = {
	.name = "mrc sim compare",
	.summary = "two results or two scenarios, figure by figure",
	.usage = "SCENARIO|RESULT... [FLAG...]",
	.about = "Shows two to six runs side by side, each with its ratio to the first: what "
		 "differs in their parameters, times, packets. They are results (*.json, from mrc "
		 "sim run --json=FILE) or scenarios, which are run first.",
	.examples = "mrc sim compare before.json after.json\n"
		    "mrc sim compare fault-none fault-flap fault-t0-down --html faults.html",
	.operands = "SCENARIO",
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.choices = (const struct ui_choices *const[]){&study_scenarios, NULL},
	.run = sim_compare_main,
};
