/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc sim run - the command: flags, expectations, several processes. */
#include "study/study.h"

#include "sim/kernel/ranks.h"
#include "study/study_verbs.h"
#include "ui/terminal.h"
#include "ui/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WHO "mrc sim run"
#define DAY_NS UINT64_C(86400000000000)

struct run_options {
	const char *name;
	struct ui_flag_texts set;
	const char *json; /* NULL: no; "": to stdout */
	const char *flows, *series, *evs, *capture;
	uint64_t seed, end_ns, memory; /* 0: not given */
	uint32_t threads;
	bool expect, quiet, check;
};

static const struct ui_flag flags[] = {
	UI_TEXTS("--set", run_options, set, "KEY=VALUE",
		 "change a key of the scenario; repeatable"),
	{"--seed", UI_FLAG_U64, "N", "the scenario's seed", offsetof(struct run_options, seed), 1,
	 UINT64_MAX >> 1},
	{"--threads", UI_FLAG_U32, "N", "threads; the result is the same with any number",
	 offsetof(struct run_options, threads), 1, MS_THREADS_MAX},
	{"--end", UI_FLAG_TIME, "TIME", "break off at this simulated time",
	 offsetof(struct run_options, end_ns), 1, DAY_NS},
	UI_MAYBE("--json", run_options, json, "FILE", "the result as JSON, to stdout or a file"),
	UI_TEXT("--flows", run_options, flows, "FILE", "CSV with a line for each flow"),
	UI_TEXT("--series", run_options, series, "FILE", "CSV of links over time (output.every)"),
	UI_TEXT("--evs", run_options, evs, "FILE", "CSV of EVs and NICs over time"),
	UI_TEXT("--capture", run_options, capture, "FILE", "pcapng of output.capture_links"),
	{"--memory", UI_FLAG_BYTES, "BYTES", "what it may take (all that is available)",
	 offsetof(struct run_options, memory), 1, UINT64_C(1) << 50},
	UI_SWITCH("--expect", run_options, expect, "check what the scenario says must hold"),
	UI_SWITCH("--check", run_options, check, "read it and say what it needs; run nothing"),
	UI_SWITCH("--quiet", run_options, quiet, "no progress"),
};

static enum ui_flags_result parse_options(struct run_options *o, int argc, char **argv)
{
	enum ui_flags_result rc;
	size_t words;

	*o = (struct run_options){0};
	rc = ui_verb_parse(&sim_run_verb, o, argc, argv, &o->name, 1, &words);
	if (rc == UI_FLAGS_OK && words == 0) {
		fprintf(stderr, "mrc sim run: expected a scenario; `mrc sim list` shows those that "
				"are built in\n");
		return UI_FLAGS_ERROR;
	}
	return rc;
}

static int print_error(const char *what)
{
	fprintf(stderr, WHO ": %s\n", what);
	return SIM_EXIT_USAGE;
}

/* ---- is the result what it must be? ---- */

/* other_figure runs the scenario that an expectation compares with. */
static json_t *other_figure(const struct ms_expectation *e)
{
	const struct sim_run_how how = {.quiet = true};
	struct ms_file_error error;
	struct ms_scenario *s = sim_source_read(e->than, NULL, &error);
	json_t *result = NULL;

	if (!s) {
		fprintf(stderr, "mrc sim run: expect.than: %s\n", error.text);
		return NULL;
	}
	sim_run_scenario(s, &how, &result);
	ms_scenario_destroy(s);
	return result;
}

static void print_band(const struct ms_expectation *e)
{
	if (e->min == e->max)
		printf(" (must be %g)", e->min);
	else if (isinf(e->min))
		printf(" (at most %g)", e->max);
	else if (isinf(e->max))
		printf(" (at least %g)", e->min);
	else
		printf(" (%g to %g)", e->min, e->max);
}

/* is_expectation_met says whether an expectation holds. */
static bool is_expectation_met(const struct ms_expectation *e, const json_t *result,
			       const json_t *than)
{
	double value, divisor = 1;
	bool good;

	if (!sim_result_figure(result, e->figure, &value) ||
	    (than && !sim_result_figure(than, e->figure, &divisor))) {
		printf("missing  %s: unknown figure\n", e->figure);
		return false;
	}
	if (than)
		value = divisor != 0 ? value / divisor : HUGE_VAL;
	good = value >= e->min && value <= e->max;
	printf("%s %s%s%s = %.6g", good ? "holds   " : "VIOLATED", e->figure,
	       than ? " / that of " : "", than ? e->than : "", value);
	print_band(e);
	printf("%s%s\n", e->source[0] ? ": " : "", e->source);
	return good;
}

/* Holds a result against the scenario's expectations and prints a line for each; runs the scenarios
 * that they compare with. */
static int check_expectations(const struct ms_scenario *s, const json_t *result)
{
	const char *name = "";
	json_t *than = NULL;
	bool good = true;

	for (uint32_t i = 0; i < s->n_expectations; i++) {
		const struct ms_expectation *e = &s->expectation[i];

		if (e->than[0] && (!than || strcmp(name, e->than) != 0)) {
			json_decref(than);
			than = other_figure(e);
			name = e->than;
		}
		if (e->than[0] && !than) {
			printf("missing  %s: %s did not run\n", e->figure, e->than);
			good = false;
			continue;
		}
		good = is_expectation_met(e, result, e->than[0] ? than : NULL) && good;
	}
	json_decref(than);
	return good ? SIM_EXIT_GOOD : SIM_EXIT_FAILED;
}

/* ---- one run ---- */

/* apply_options puts flags over what the scenario says. */
static void apply_options(const struct run_options *o, struct ms_scenario *s)
{
	const struct {
		const char *from;
		char *to;
	} files[] = {{o->flows, s->output.flows},
		     {o->series, s->output.series},
		     {o->evs, s->output.evs},
		     {o->capture, s->output.capture}};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (files[i].from)
			snprintf(files[i].to, MS_PATH_BYTES, "%s", files[i].from);
}

static int check_only(const struct ms_scenario *s)
{
	char need[UI_UNITS_MAX], has[UI_UNITS_MAX];

	printf("%s: good; %u hosts on %u planes, at most %s of memory, %s are available\n", s->name,
	       s->fabric.n_hosts, s->fabric.cfg.planes,
	       ui_units_bytes(need, ms_run_memory(&s->run)),
	       ui_units_bytes(has, sim_memory_available()));
	return SIM_EXIT_GOOD;
}

static int run_and_tell(const struct run_options *o, struct ms_scenario *s)
{
	const bool first = !s->run.ranks || s->run.ranks->rank == 0;
	/* What is for programs and pages goes into files; on a screen it would bury the figures. */
	const struct sim_run_how how = {o->quiet || !first, o->memory, o->json && o->json[0]};
	json_t *result;
	int status, written;

	if (o->check)
		return first ? check_only(s) : SIM_EXIT_GOOD;
	status = sim_run_scenario(s, &how, &result);
	if (!result || !first) {
		json_decref(result);
		return status;
	}
	written = sim_write_result(WHO, result, o->json, sim_result_text);
	if (status == SIM_EXIT_GOOD && written)
		status = written;
	if (status == SIM_EXIT_GOOD && o->expect)
		status = check_expectations(s, result);
	json_decref(result);
	return status;
}

/* ---- several processes ---- */

/* keep_apart gives the files of a rank names of their own; flows are written by the first alone. */
static void keep_apart(struct ms_scenario *s, uint32_t rank)
{
	char *const path[] = {s->output.series, s->output.evs, s->output.capture};

	if (rank > 0)
		s->output.flows[0] = '\0';
	for (size_t i = 0; i < sizeof(path) / sizeof(path[0]); i++) {
		size_t len = strlen(path[i]);

		if (len > 0)
			snprintf(path[i] + len, MS_PATH_BYTES - len, ".rank%u", rank);
	}
}

/* run_joined runs with the other ranks, when mpirun has started this process with others. */
static int run_joined(const struct run_options *o, struct ms_scenario *s)
{
	struct ms_mpi *mpi;
	char why[200];
	int status;

	apply_options(o, s);
	if (!ms_mpi_expected())
		return run_and_tell(o, s);
	mpi = ms_mpi_open(why, sizeof(why));
	if (!mpi)
		return print_error(why);
	s->run.ranks = ms_mpi_ranks(mpi);
	keep_apart(s, s->run.ranks->rank);
	status = run_and_tell(o, s);
	ms_mpi_close(mpi);
	return status;
}

static int sim_run_main(int argc, char **argv)
{
	struct ms_file_error error;
	struct run_options o;
	struct ms_scenario *s;
	struct sim_changes changes;
	int status;

	status = parse_options(&o, argc, argv);
	if (status != UI_FLAGS_OK)
		return status;
	sim_changes_of(&changes, &o.set);
	sim_changes_add(&changes, "seed", o.seed, "");
	sim_changes_add(&changes, "threads", o.threads, "");
	sim_changes_add(&changes, "end", o.end_ns, "ns");
	s = sim_source_read(o.name, &(struct ms_changes){changes.text, changes.n}, &error);
	if (!s)
		return print_error(error.text);
	ui_term_catch();
	status = run_joined(&o, s);
	ms_scenario_destroy(s);
	return status;
}

const struct ui_verb sim_run_verb = {
	.name = "mrc sim run",
	.summary = "run a scenario, from a file or built in",
	.usage = "SCENARIO [FLAG...]",
	.about = "Runs a scenario: a file (with a slash or a dot in its name) or one that `mrc sim "
		 "list` shows. Equal scenarios and seeds give equal runs with any number of "
		 "threads, and of processes under mpirun(1). Ctrl-C ends it early; what is written "
		 "then is valid and says so.",
	.examples = "mrc sim run permutation --json\n"
		    "mrc sim run ./my.toml --threads 2 --flows flows.csv\n"
		    "mrc sim run incast --set mrc.evs=4 --set workload.bytes=4M\n"
		    "mrc sim run check-lone-flow --expect",
	.exits = "0 good; 1 flows are unfinished, the checker found something or the result is not "
		 "as expected; 2 wrong usage, a bad file, or no room; 3 interrupted",
	.operands = "SCENARIO",
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.choices = (const struct ui_choices *const[]){&study_scenarios, &study_keys, NULL},
	.run = sim_run_main,
};
