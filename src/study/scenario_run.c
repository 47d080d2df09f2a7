/* SPDX-License-Identifier: BSD-2-Clause */
/* scenario_run.c - a scenario, step by step, within the memory that there is. */
#include "study/study.h"

#include "sim/kernel/ranks.h"
#include "study/study_verbs.h"
#include "ui/terminal.h"
#include "ui/text.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
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

/* ---- memory ---- */

/* available_bytes reads MemAvailable of /proc/meminfo. */
static uint64_t available_bytes(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	uint64_t bytes = UINT64_MAX;
	char line[128];
	unsigned long kib;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %lu kB", &kib) == 1)
			bytes = (uint64_t)kib * 1024;
	if (f)
		fclose(f);
	return bytes;
}

/* number_in reads a file that holds one number; "max" and a file that is not there: no limit. */
static uint64_t number_in(const char *path)
{
	FILE *f = fopen(path, "re");
	unsigned long long n;
	uint64_t number = UINT64_MAX;

	if (f && fscanf(f, "%llu", &n) == 1)
		number = n;
	if (f)
		fclose(f);
	return number;
}

uint64_t sim_memory_available(void)
{
	const uint64_t limit = number_in("/sys/fs/cgroup/memory.max");
	const uint64_t used = number_in("/sys/fs/cgroup/memory.current");
	uint64_t room = available_bytes();
	struct rlimit space;

	if (limit != UINT64_MAX && used != UINT64_MAX)
		room = ms_min(room, limit > used ? limit - used : 0);
	if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
		room = ms_min(room, space.rlim_cur);
	return room;
}

/* fits_memory refuses a run that needs more memory than there is, before any of it is taken. */
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

/* ---- the run ---- */

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

/* is_run_over says whether all flows are finished, though faults are still to come. */
static bool is_run_over(const struct sim_outcome *o)
{
	struct ms_run_result r;

	return !o->scenario->run.ranks &&
	       ms_nics_arrived(o->run->nics) == ms_workload_flows(o->run->workload) &&
	       ms_run_result(o->run, &r) && r.flows_unfinished == 0;
}

/* run_to_end runs to the end, or until a signal comes. */
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
