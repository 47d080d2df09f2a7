/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrc lab run - plays a scenario: a lab of its own goes up, what the file says happens at its
 * times, the lab goes down, and a table says what held. Whatever ends the run, the lab goes, and
 * with it what runs there.
 */
#include "cli/lab/check_results.h"
#include "cli/lab/lab_verbs.h"
#include "lab/lab.h"
#include "lab/scenario.h"
#include "ui/terminal.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WHO "mrc lab run"
#define TEXT_MAX (1u << 18)
#define EVENTS_MAX 4096u
#define STEP_MS 5
#define LAST_LINES 15

enum what { START, BEGIN, END };

struct event {
	uint64_t at_ns;
	enum what what;
	uint32_t which; /* program or fault */
};

struct run {
	const char *file;
	bool json, verbose;
	struct ml_scenario s;
	struct ml_lab *lab;
	struct ml_processes processes;
	struct event event[EVENTS_MAX];
	uint32_t events;
	uint64_t begin_ns;
	json_t *log;
	struct verdict verdict;
};

__attribute__((format(printf, 1, 2))) static int print_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, WHO ": ");
	vfprintf(stderr, format, args);
	fprintf(stderr, "\n");
	va_end(args);
	return -1;
}

static void log_event(struct run *r, const char *what, const char *more)
{
	double at = (double)(ui_clock_ns() - r->begin_ns) / 1e9;
	char text[256];

	snprintf(text, sizeof(text), "%s%s%s", what, *more ? " " : "", more);
	json_array_append_new(r->log, json_pack("{sf ss}", "at_s", at, "what", text));
	if (!r->json)
		printf("%8.3f s  %s\n", at, text);
	fflush(stdout);
}

/* ---- the plan ---- */

static int add_event(struct run *r, uint64_t at_ns, enum what what, uint32_t which)
{
	if (r->events == EVENTS_MAX)
		return print_error("%s: more than %u events", r->file, EVENTS_MAX);
	r->event[r->events++] = (struct event){at_ns, what, which};
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	/* What ends goes before what begins at the same time. */
	return (int)y->what - (int)x->what;
}

static int schedule_events(struct run *r)
{
	for (uint32_t i = 0; i < r->s.programs; i++)
		if (add_event(r, r->s.program[i].at_ns, START, i))
			return -1;
	for (uint32_t i = 0; i < r->s.faults; i++) {
		const struct ml_scenario_fault *f = &r->s.fault[i];

		for (uint32_t k = 0; k < f->times; k++) {
			uint64_t at_ns = f->at_ns + k * f->every_ns;

			if (add_event(r, at_ns, BEGIN, i) ||
			    (f->for_ns && add_event(r, at_ns + f->for_ns, END, i)))
				return -1;
		}
	}
	qsort(r->event, r->events, sizeof(r->event[0]), by_time);
	return 0;
}

/* ---- what happens ---- */

static int begin_fault(struct run *r, const struct ml_scenario_fault *f, struct ml_error *e)
{
	log_event(r, f->target, f->fault.kind == MF_FAULT_REBOOT ? "off" : f->words);
	return ml_lab_add_fault(r->lab, &f->fault, e);
}

static int end_fault(struct run *r, const struct ml_scenario_fault *f, struct ml_error *e)
{
	log_event(r, f->target, f->fault.kind == MF_FAULT_REBOOT ? "on" : "healed");
	return ml_lab_clear_fault(r->lab, f->target, f->fault.kind, e) < 0 ? -1 : 0;
}

static int run_event(struct run *r, const struct event *event)
{
	struct ml_error e;
	int failed = 0;

	switch (event->what) {
	case START:
		log_event(r, "start", r->s.program[event->which].name);
		failed = ml_processes_start(&r->processes, &r->s.program[event->which],
					    ui_clock_ns(), &e);
		break;
	case BEGIN:
		failed = begin_fault(r, &r->s.fault[event->which], &e);
		break;
	case END:
		failed = end_fault(r, &r->s.fault[event->which], &e);
		break;
	}
	return failed ? print_error("%s", e.text) : 0;
}

/* Until all events are over and nobody runs, or time is up, or the user wants to go. */
static int run_events(struct run *r)
{
	uint32_t next = 0;

	r->begin_ns = ui_clock_ns();
	for (;;) {
		uint64_t passed = ui_clock_ns() - r->begin_ns;
		bool running;

		while (next < r->events && r->event[next].at_ns <= passed)
			if (run_event(r, &r->event[next++]))
				return -1;
		running = ml_processes_poll(&r->processes, ui_clock_ns());
		if (ui_term_caught())
			return print_error("interrupted");
		if ((next == r->events && !running) || passed > r->s.limit_ns)
			break;
		poll(NULL, 0, STEP_MS);
	}
	ml_processes_stop(&r->processes);
	log_event(r, "end", "");
	return 0;
}

static int check_run(struct run *r)
{
	const struct mf_topology *t = ml_lab_topology(r->lab);
	struct ml_counters *c = calloc(t->n_links, sizeof(*c));
	struct ml_error e;
	int failed = c ? ml_lab_counters(r->lab, c, &e) : ml_error_set(&e, "no memory");

	if (failed)
		print_error("%s", e.text);
	else
		check_results_find(&r->verdict, &r->s, &r->processes, t, c);
	free(c);
	return failed;
}

/* The end of what those said that did not do what they had to. */
static void show_losers(const struct run *r)
{
	for (uint32_t i = 0; i < r->processes.members; i++) {
		const struct ml_process *m = &r->processes.member[i];
		bool lost = m->overdue || m->status != (int)m->program->status;
		char *text, *from;
		int lines = 0;

		if (!r->verbose && (!lost || m->program->background))
			continue;
		text = ml_processes_output(&r->processes, i);
		from = text ? text + strlen(text) : NULL;
		while (from && from > text && (r->verbose || lines <= LAST_LINES))
			lines += *--from == '\n';
		if (text)
			fprintf(stderr, "--- %s on host%u:\n%s\n", m->program->name, m->host, from);
		free(text);
	}
}

static void print_result(const struct run *r)
{
	struct ui_text text = {0};
	json_t *json;

	show_losers(r);
	if (!r->json) {
		ui_text_add(&text, "\n");
		check_results_show(&r->verdict, &text);
		fputs(text.data, stdout);
		ui_text_fini(&text);
		return;
	}
	json = json_pack("{ss ss sb sO so}", "scenario", r->file, "title", r->s.title, "held",
			 r->verdict.pass, "events", r->log, "checks",
			 check_results_json(&r->verdict));
	json_dumpf(json, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(json);
}

/* ---- from the file to the verdict ---- */

static int read_file(const char *path, char *text)
{
	FILE *f = fopen(path, "re");
	size_t n;

	if (!f)
		return print_error("%s: %s", path, strerror(errno));
	n = fread(text, 1, TEXT_MAX - 1, f);
	text[n] = '\0';
	fclose(f);
	return 0;
}

/* A name alone is that of a scenario that was installed. */
static const char *find_file(const char *name, char *path, size_t size)
{
	char self[256];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (strchr(name, '/') || strchr(name, '.') || n <= 0)
		return name;
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	snprintf(path, size, "%s/../" SOFTMRC_DATADIR "/softmrc/scenarios/%s.toml", self, name);
	return path;
}

static int on_progress(void *context, const char *what, size_t done, size_t of)
{
	(void)context;
	(void)what;
	(void)done;
	(void)of;
	return ui_term_caught();
}

static int go_up(struct run *r)
{
	char name[ML_LAB_NAME_MAX], error[ML_SCENARIO_ERROR_MAX];
	struct ml_options options = {.name = name,
				     .topology = r->s.topology,
				     .pace_bps = r->s.pace_bps,
				     .goes_with_process = true,
				     .progress = on_progress};
	struct ml_error e;
	const char *why;

	snprintf(name, sizeof(name), "run%d", (int)getpid());
	if (ml_needs_ns_holder() && ml_rootless_enter(&e))
		return print_error("%s", e.text);
	r->lab = ml_lab_up(&options, &e);
	if (!r->lab)
		return print_error("%s", e.text);
	if (r->s.needs_programs && !ml_lab_programs(r->lab, &why))
		return print_error("%s needs switches that trim and mark: %s", r->file, why);
	if (ml_scenario_check_topology(r->file, &r->s, ml_lab_topology(r->lab), error))
		return print_error("%s", error);
	ml_processes_open(&r->processes, r->lab, NULL);
	return 0;
}

static int run_scenario(struct run *r, char *text)
{
	char path[512], error[ML_SCENARIO_ERROR_MAX];
	int failed;

	r->file = find_file(r->file, path, sizeof(path));
	if (read_file(r->file, text))
		return LAB_USAGE;
	if (ml_scenario_read(r->file, text, &r->s, error)) {
		print_error("%s", error);
		return LAB_USAGE;
	}
	r->log = json_array();
	failed = schedule_events(r) || go_up(r);
	if (!failed) {
		if (!r->json)
			printf("%s\n", r->s.title);
		failed = run_events(r) || check_run(r);
		if (!failed)
			print_result(r);
		ml_processes_stop(&r->processes);
	}
	ml_lab_close(r->lab);
	json_decref(r->log);
	return failed || !r->verdict.pass ? LAB_FAILED : LAB_GOOD;
}

static bool scenario_at(size_t i, struct ui_choice *out)
{
	static const char *const installed[] = {"steady",      "t1-stall", "t1-reboot", "nic-port",
						"transceiver", "incast",   "loss"};

	if (i < UI_COUNT(installed))
		*out = (struct ui_choice){installed[i], NULL, NULL};
	return i < UI_COUNT(installed);
}

static const struct ui_choices scenarios = {
	"SCENARIO", "SCENARIO is a TOML file (docs/lab.md) or one of:", scenario_at};

static const struct ui_flag flags[] = {
	UI_SWITCH("--json", run, json, "events and checks as JSON"),
	UI_SWITCH("--verbose", run, verbose, "what all programs printed"),
};

static int lab_run_main(int argc, char **argv)
{
	struct run *r = calloc(1, sizeof(*r));
	char *text = calloc(1, TEXT_MAX);
	int status;
	size_t words;

	if (!r || !text) {
		print_error("no memory");
		free(r);
		free(text);
		return LAB_FAILED;
	}
	status = ui_verb_parse(&lab_run_verb, r, argc, argv, &r->file, 1, &words);
	if (status == UI_FLAGS_OK && !words) {
		print_error("which SCENARIO? (mrc lab run --help)");
		status = LAB_USAGE;
	} else if (status == UI_FLAGS_OK) {
		ui_term_catch();
		status = run_scenario(r, text);
	}
	free(text);
	free(r);
	return status;
}

const struct ui_verb lab_run_verb = {
	.name = "mrc lab run",
	.summary = "programs, faults by the clock, and what must hold",
	.usage = "SCENARIO [FLAG...]",
	.about = "Plays a scenario in a lab of its own: programs on hosts, faults by the clock, "
		 "and what must hold in the end.",
	.exits = "0 all held, 1 something did not, or the lab could not be, 2 the file is wrong",
	.operands = "SCENARIO",
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.choices = (const struct ui_choices *const[]){&scenarios, NULL},
	.run = lab_run_main,
};
