/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scenario_run.c - plays a scenario: a lab of its own goes up, what the file says happens at its
 * times, the results are checked, and the lab goes down. See scenario.h.
 */
#include "lab/scenario.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEP_MS 5

enum what { START, BEGIN, END };

struct event {
	uint64_t at_ns;
	enum what what;
	uint32_t which; /* program or fault */
};

static void log_event(struct ml_scenario_run *r, const char *what, const char *more)
{
	char text[256];

	snprintf(text, sizeof(text), "%s%s%s", what, *more ? " " : "", more);
	r->log(r->context, (double)(ml_clock_ns() - r->begin_ns) / 1e9, text);
}

/* ---- the plan ---- */

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	/* What ends goes before what begins at the same time. */
	return (int)y->what - (int)x->what;
}

/* The events in order, for the caller to free; NULL: no memory. */
static struct event *plan_events(const struct ml_scenario *s, size_t *n)
{
	struct event *event;
	size_t max = s->programs + 1;

	for (uint32_t i = 0; i < s->faults; i++)
		max += 2 * (size_t)s->fault[i].times;
	event = calloc(max, sizeof(*event));
	*n = 0;
	for (uint32_t i = 0; event && i < s->programs; i++)
		event[(*n)++] = (struct event){s->program[i].at_ns, START, i};
	for (uint32_t i = 0; event && i < s->faults; i++) {
		const struct ml_scenario_fault *f = &s->fault[i];

		for (uint32_t k = 0; k < f->times; k++) {
			uint64_t at_ns = f->at_ns + k * f->every_ns;

			event[(*n)++] = (struct event){at_ns, BEGIN, i};
			if (f->for_ns)
				event[(*n)++] = (struct event){at_ns + f->for_ns, END, i};
		}
	}
	if (event)
		qsort(event, *n, sizeof(*event), by_time);
	return event;
}

/* ---- what happens ---- */

static int run_event(struct ml_scenario_run *r, const struct event *event, struct ml_error *e)
{
	const struct ml_scenario_program *program = &r->s.program[event->which];
	const struct ml_scenario_fault *f = &r->s.fault[event->which];
	bool reboots = f->fault.kind == MF_FAULT_REBOOT;

	switch (event->what) {
	case START:
		log_event(r, "start", program->name);
		return ml_processes_start(&r->processes, program, e);
	case BEGIN:
		log_event(r, f->target, reboots ? "off" : f->words);
		return ml_lab_add_fault(r->lab, &f->fault, e);
	case END:
		log_event(r, f->target, reboots ? "on" : "cleared");
		return ml_lab_clear_fault(r->lab, f->target, f->fault.kind, e) < 0 ? -1 : 0;
	}
	return -1;
}

/* Until all events are over and no program runs, or time is up, or the caller stops it. */
static int run_events(struct ml_scenario_run *r, const struct event *event, size_t n,
		      struct ml_error *e)
{
	size_t next = 0;

	r->begin_ns = ml_clock_ns();
	for (;;) {
		uint64_t passed = ml_clock_ns() - r->begin_ns;
		bool running;

		while (next < n && event[next].at_ns <= passed)
			if (run_event(r, &event[next++], e))
				return -1;
		running = ml_processes_poll(&r->processes);
		if (r->is_stopped())
			return ml_error_set(e, "interrupted");
		if ((next == n && !running) || passed > r->s.limit_ns)
			break;
		poll(NULL, 0, STEP_MS);
	}
	ml_processes_stop(&r->processes);
	log_event(r, "end", "");
	return 0;
}

/* ---- checks ---- */

static struct ml_scenario_result *next_result(struct ml_scenario_run *r)
{
	return &r->result[r->results++];
}

static void check_program(struct ml_scenario_result *result, const struct ml_process *m)
{
	snprintf(result->what, sizeof(result->what), "%s on host%u ends with status %u",
		 m->program->name, m->host, m->program->status);
	if (m->overdue)
		snprintf(result->actual, sizeof(result->actual), "still ran at the limit");
	else
		snprintf(result->actual, sizeof(result->actual), "%d after %.2f s", m->status,
			 (double)m->ran_ns / 1e9);
	result->pass = !m->overdue && m->status == (int)m->program->status;
}

/* Every host that runs the program must have printed the text. */
static void check_output(struct ml_scenario_result *result, const struct ml_scenario_check *check,
			 const struct ml_processes *c)
{
	uint32_t hosts = 0, printed = 0;

	for (uint32_t i = 0; i < c->members; i++) {
		char *text;

		if (strcmp(c->member[i].program->name, check->program) != 0)
			continue;
		text = ml_processes_output(c, i);
		hosts++;
		printed += text && strstr(text, check->says);
		free(text);
	}
	snprintf(result->what, sizeof(result->what), "%s says \"%.50s\"", check->program,
		 check->says);
	snprintf(result->actual, sizeof(result->actual), "%u of %u did", printed, hosts);
	result->pass = hosts && printed == hosts;
}

static uint64_t counter_value(const struct ml_counters *c, enum ml_scenario_counter counter)
{
	const uint64_t values[ML_SCENARIO_COUNTERS] = {c->packets, c->trimmed, c->marked,
						       c->dropped, c->lost};

	return values[counter];
}

static void check_counter(struct ml_scenario_result *result, const struct ml_scenario_check *check,
			  const struct mf_topology *t, const struct ml_counters *counters)
{
	const char *name = ml_scenario_counter_name(check->counter);
	const char *of = check->of[0] ? check->of : "all ports";
	struct mf_target target = {0};
	struct mf_error e;
	uint64_t sum = 0;

	if (!check->of[0])
		for (uint32_t link = 0; link < t->n_links; link++)
			sum += counter_value(&counters[link], check->counter);
	else if (mf_target_find(t, check->of, &target, &e))
		for (uint32_t i = 0; i < target.links; i++)
			sum += counter_value(&counters[mf_target_link(t, &target, i)],
					     check->counter);
	if (check->most == INT64_MAX)
		snprintf(result->what, sizeof(result->what), "%s at %s: at least %" PRIu64, name,
			 of, check->least);
	else
		snprintf(result->what, sizeof(result->what), "%s at %s: %" PRIu64 " to %" PRIu64,
			 name, of, check->least, check->most);
	snprintf(result->actual, sizeof(result->actual), "%" PRIu64, sum);
	result->pass = sum >= check->least && sum <= check->most;
}

static int check_run(struct ml_scenario_run *r, struct ml_error *e)
{
	const struct mf_topology *t = ml_lab_topology(r->lab);
	struct ml_counters *counters = calloc(t->n_links, sizeof(*counters));
	int failed = counters ? ml_lab_counters(r->lab, counters, e) : ml_error_set(e, "no memory");

	for (uint32_t i = 0; !failed && i < r->processes.members; i++)
		if (!r->processes.member[i].program->background)
			check_program(next_result(r), &r->processes.member[i]);
	for (uint32_t i = 0; !failed && i < r->s.checks; i++) {
		/* A copy: with sanitizers, gcc 12 takes the texts in *r to overlap the result. */
		const struct ml_scenario_check check = r->s.check[i];

		if (check.program[0])
			check_output(next_result(r), &check, &r->processes);
		else
			check_counter(next_result(r), &check, t, counters);
	}
	r->pass = !failed;
	for (size_t i = 0; i < r->results; i++)
		r->pass = r->pass && r->result[i].pass;
	free(counters);
	return failed;
}

/* ---- from the file to the results ---- */

static int report_progress(void *context, const char *what, size_t done, size_t of)
{
	const struct ml_scenario_run *r = context;

	(void)what;
	(void)done;
	(void)of;
	return r->is_stopped();
}

int ml_scenario_open(struct ml_scenario_run *r, const char *file, struct ml_error *e)
{
	char name[ML_LAB_NAME_MAX], error[ML_SCENARIO_ERROR_MAX];
	struct ml_options options = {.name = name,
				     .topology = r->s.topology,
				     .pace_bps = r->s.pace_bps,
				     .goes_with_process = true,
				     .progress = report_progress,
				     .context = r};
	const char *why;

	snprintf(name, sizeof(name), "run%d", (int)getpid());
	if (ml_needs_ns_holder() && ml_rootless_enter(e))
		return -1;
	r->lab = ml_lab_up(&options, e);
	if (!r->lab)
		return -1;
	ml_processes_open(&r->processes, r->lab, NULL);
	if (r->s.needs_programs && !ml_lab_programs(r->lab, &why))
		return ml_error_set(e, "%s needs switches that trim and mark: %s", file, why);
	if (ml_scenario_check_topology(file, &r->s, ml_lab_topology(r->lab), error))
		return ml_error_set(e, "%s", error);
	return 0;
}

int ml_scenario_play(struct ml_scenario_run *r, struct ml_error *e)
{
	size_t n;
	struct event *event = plan_events(&r->s, &n);
	int failed = event ? run_events(r, event, n, e) : ml_error_set(e, "no memory");

	free(event);
	return failed ? failed : check_run(r, e);
}

void ml_scenario_close(struct ml_scenario_run *r)
{
	ml_processes_stop(&r->processes);
	ml_lab_close(r->lab);
	r->lab = NULL;
}
