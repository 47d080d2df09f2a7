/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc sim run - a scenario, step by step: see study.h. */
#include "study/study.h"

#include "sim/kernel/ranks.h"
#include "study/study_verbs.h"
#include "ui/terminal.h"
#include "ui/text.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define WHO "mrc sim run"
/* A step is to take about this long, so that Ctrl-C is heard and progress shown in time. */
#define STEP_WALL_NS UINT64_C(50000000)
#define STEP_FIRST_PS 1000000u
/* Shorter ones are rounded up to what the fabric can do at least. */
#define STEP_MIN_PS 100000u
#define STEP_RANKS_PS UINT64_C(10000000)
#define STEP_MAX_PS UINT64_C(1000000000000)

static int print_error(const char *what)
{
	fprintf(stderr, WHO ": %s\n", what);
	return SIM_EXIT_USAGE;
}

/* fits refuses a run that needs more memory than there is, before any of it is taken. */
static bool fits_memory(const struct ms_scenario *s, uint64_t may_take)
{
	const uint64_t need = ms_run_memory(&s->run);
	const uint64_t room = may_take ? may_take : sim_memory_available();
	char needs[UI_UNITS_MAX], has[UI_UNITS_MAX];

	if (need <= room)
		return true;
	fprintf(stderr,
		WHO
		": %s: needs up to %s (%llu bytes), and %s are %s; expected fewer hosts, planes or "
		"flows, or --memory to try it all the same\n",
		s->name, ui_units_bytes(needs, need), (unsigned long long)need,
		ui_units_bytes(has, room), may_take ? "allowed" : "available");
	return false;
}

static uint64_t read_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* next_step makes steps as long as a run can do in the time that is meant for one. */
static uint64_t next_step(uint64_t step_ps, uint64_t took_ns)
{
	if (took_ns < STEP_WALL_NS / 2 && step_ps < STEP_MAX_PS)
		return step_ps * 2;
	if (took_ns > STEP_WALL_NS * 2 && step_ps > STEP_MIN_PS)
		return step_ps / 2;
	return step_ps;
}

/* over says whether all flows are finished, though faults are still to come. */
static bool is_run_over(const struct sim_outcome *o)
{
	struct ms_run_result r;

	return !o->scenario->run.ranks &&
	       ms_nics_arrived(o->run->nics) == ms_workload_flows(o->run->workload) &&
	       ms_run_result(o->run, &r) && r.flows_unfinished == 0;
}

/* go runs to the end, or until a signal comes. */
static bool run_to_end(struct sim_outcome *o, struct sim_outputs *outputs,
		       struct sim_progress *progress, struct ms_file_error *error)
{
	uint64_t step_ps = o->scenario->run.ranks ? STEP_RANKS_PS : STEP_FIRST_PS;

	o->state = MS_RUN_RUNNING;
	while (o->state == MS_RUN_RUNNING && !o->interrupted) {
		uint64_t began = read_clock(CLOCK_MONOTONIC);

		o->state = ms_run_step(o->run, step_ps);
		/* Ranks must take the same steps, however long these take on each. */
		if (!o->scenario->run.ranks)
			step_ps = next_step(step_ps, read_clock(CLOCK_MONOTONIC) - began);
		if (!sim_outputs_step(outputs, error))
			return false;
		sim_progress_show(progress, o->run);
		o->interrupted =
			o->state == MS_RUN_STOPPED ||
			(o->state == MS_RUN_RUNNING && !o->scenario->run.ranks && ui_term_caught());
	}
	if (o->state == MS_RUN_TIME && is_run_over(o))
		o->state = MS_RUN_DONE;
	return true;
}

static int status_of(const struct sim_outcome *o, const json_t *result)
{
	if (o->interrupted)
		return SIM_EXIT_INTERRUPTED;
	if (o->state == MS_RUN_MEMORY)
		fprintf(stderr, WHO ": memory ran out\n");
	if (o->state == MS_RUN_RANKS || !result)
		fprintf(stderr, WHO ": another rank failed\n");
	return result && sim_result_is_good(result) ? SIM_EXIT_GOOD : SIM_EXIT_FAILED;
}

/* run_with runs a scenario whose files are open. */
static int run_with(struct ms_scenario *s, struct sim_outputs *outputs,
		    const struct sim_run_how *how, json_t **result)
{
	struct sim_outcome o = {
		.scenario = s, .account = how->account, .history = outputs->history};
	struct sim_progress progress;
	struct ms_file_error error;
	char why[MS_WHY_BYTES];
	uint64_t cpu_ns;
	int status;
	bool ok;

	o.run = ms_run_create(&s->run, why);
	if (!o.run)
		return print_error(why);
	sim_outputs_start(outputs, o.run);
	cpu_ns = read_clock(CLOCK_PROCESS_CPUTIME_ID);
	sim_progress_begin(&progress, o.run, how->quiet);
	ok = run_to_end(&o, outputs, &progress, &error);
	o.wall_s = sim_progress_end(&progress);
	o.cpu_s = (double)(read_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns) / 1e9;
	if (outputs->history)
		sim_history_end(outputs->history, o.run);
	*result = sim_result_json(&o);
	status = status_of(&o, *result);
	if (!sim_outputs_close(outputs, o.run, &error) || !ok) {
		fprintf(stderr, WHO ": %s\n", error.text);
		status = SIM_EXIT_FAILED;
	}
	ms_run_destroy(o.run);
	return status;
}

int sim_run_scenario(struct ms_scenario *s, const struct sim_run_how *how, json_t **result)
{
	struct sim_outputs outputs;
	struct ms_file_error error, unused;
	int status;

	*result = NULL;
	if (!fits_memory(s, how->memory))
		return SIM_EXIT_USAGE;
	if (!sim_outputs_open(&outputs, s, how->account, &error)) {
		sim_outputs_close(&outputs, NULL, &unused);
		return print_error(error.text);
	}
	status = run_with(s, &outputs, how, result);
	if (outputs.scenario)
		sim_outputs_close(&outputs, NULL, &unused);
	return status;
}

/* ---- the command ---- */

/* apply puts flags over what the scenario says. */
static void apply_options(const struct sim_options *o, struct ms_scenario *s)
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

/* changes_of makes changes of the flags that stand for keys; text holds what they point to. */
static void changes_of(struct sim_options *o, char text[3][48])
{
	const uint64_t value[3] = {o->seed, o->threads, o->end_ns};
	static const char *const form[3] = {"seed=%llu", "threads=%llu", "end=%lluns"};

	for (int i = 0; i < 3; i++)
		if (value[i] && o->set.n < UI_FLAG_TEXTS_MAX) {
			snprintf(text[i], sizeof(text[i]), form[i], (unsigned long long)value[i]);
			o->set.text[o->set.n++] = text[i];
		}
}

static int write_result(const struct sim_options *o, const json_t *result)
{
	struct ui_text text = {0};
	bool ok = true;

	if (!o->json || o->json[0]) {
		sim_result_text(result, &text);
		ui_text_print(&text, stdout);
	}
	if (o->json && o->json[0])
		ok = json_dump_file(result, o->json, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) == 0;
	else if (o->json)
		ok = json_dumpf(result, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) == 0 &&
		     putchar('\n') == '\n';
	if (fflush(stdout) == 0 && ok)
		return SIM_EXIT_GOOD;
	fprintf(stderr, WHO ": %s: cannot be written\n",
		o->json && o->json[0] ? o->json : "the result");
	return SIM_EXIT_FAILED;
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

static int run_and_tell(const struct sim_options *o, struct ms_scenario *s)
{
	const bool first = !s->run.ranks || s->run.ranks->rank == 0;
	/* What is for programs and pages goes into files; on a screen it would bury the figures. */
	const struct sim_run_how how = {o->quiet || !first, o->memory, o->json && o->json[0]};
	json_t *result;
	int status, told;

	if (o->check)
		return first ? check_only(s) : SIM_EXIT_GOOD;
	status = sim_run_scenario(s, &how, &result);
	if (!result || !first) {
		json_decref(result);
		return status;
	}
	told = write_result(o, result);
	if (status == SIM_EXIT_GOOD && told)
		status = told;
	if (status == SIM_EXIT_GOOD && o->expect)
		status = sim_expect(s, result);
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
static int run_joined(const struct sim_options *o, struct ms_scenario *s)
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

int sim_run_main(int argc, char **argv)
{
	struct ms_file_error error;
	struct sim_options o;
	struct ms_scenario *s;
	char text[3][48];
	int status;

	status = sim_options_parse(&o, argc, argv);
	if (status != UI_FLAGS_OK)
		return status;
	changes_of(&o, text);
	s = sim_source_read(o.name, &(struct ms_changes){o.set.text, o.set.n}, &error);
	if (!s)
		return print_error(error.text);
	ui_term_catch();
	status = run_joined(&o, s);
	ms_scenario_destroy(s);
	return status;
}
