/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrc lab run - plays a scenario (lab/scenario.h) and prints which of its checks passed. Whatever
 * ends the run, the lab goes, and with it what runs there.
 */
#include "cli/lab/lab_verbs.h"
#include "lab/lab_json.h"
#include "lab/scenario.h"
#include "ui/terminal.h"
#include "ui/text.h"

#include <errno.h>
#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX (1u << 18)
#define LAST_LINES 15

struct run {
	const char *file;
	bool json, verbose;
	struct ml_scenario_run run;
	json_t *log;
};

static bool is_stopped(void)
{
	return ui_term_caught();
}

static void log_event(void *context, double at_s, const char *what)
{
	struct run *r = context;

	json_array_append_new(r->log, json_pack("{sf ss}", "at_s", at_s, "what", what));
	if (!r->json)
		printf("%8.3f s  %s\n", at_s, what);
	fflush(stdout);
}

/* The end of the output of programs that failed. */
static void print_failed(const struct run *r)
{
	const struct ml_processes *processes = &r->run.processes;

	for (uint32_t i = 0; i < processes->members; i++) {
		const struct ml_process *m = &processes->member[i];
		bool failed = m->overdue || m->status != (int)m->program->status;
		char *text, *from;
		int lines = 0;

		if (!r->verbose && (!failed || m->program->background))
			continue;
		text = ml_processes_output(processes, i);
		from = text ? text + strlen(text) : NULL;
		while (from && from > text && (r->verbose || lines <= LAST_LINES))
			lines += *--from == '\n';
		if (text)
			fprintf(stderr, "--- %s on host%u:\n%s\n", m->program->name, m->host, from);
		free(text);
	}
}

static void print_table(const struct ml_scenario_run *run)
{
	struct ui_text text = {0};
	struct ui_table t = {.left = 6};

	ui_table_head(&t, "PASS|CHECK|ACTUAL");
	for (size_t i = 0; i < run->results; i++) {
		ui_table_cell(&t, i + 1, 0, run->result[i].pass ? "yes" : "NO");
		ui_table_cell(&t, i + 1, 1, "%s", run->result[i].what);
		ui_table_cell(&t, i + 1, 2, "%s", run->result[i].actual);
	}
	ui_table_render(&t, &text);
	printf("\n%s", text.data);
	ui_text_fini(&text);
}

static void print_json(const struct run *r)
{
	const struct ml_scenario_run *run = &r->run;
	json_t *checks = json_array(), *json;

	for (size_t i = 0; i < run->results; i++)
		json_array_append_new(checks, json_pack("{ss ss sb}", "what", run->result[i].what,
							"actual", run->result[i].actual, "pass",
							run->result[i].pass));
	json = json_pack("{ss ss ss sb so sO so}", "scenario", r->file, "version", SOFTMRC_VERSION,
			 "title", run->s.title, "pass", run->pass, "fabric",
			 ml_topology_json(ml_lab_topology(run->lab)), "events", r->log, "checks",
			 checks);
	json_dumpf(json, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(json);
}

static int read_file(const char *path, char *text)
{
	FILE *f = fopen(path, "re");

	if (!f) {
		fprintf(stderr, "%s: %s: %s\n", lab_run_verb.name, path, strerror(errno));
		return -1;
	}
	text[fread(text, 1, TEXT_MAX - 1, f)] = '\0';
	fclose(f);
	return 0;
}

/* A name alone is that of a scenario that was installed. */
static const char *find_file(const char *name, char *path, size_t size)
{
	char self[ML_OWN_FOLDER_MAX];

	if (strchr(name, '/') || strchr(name, '.') || !ml_own_folder(self))
		return name;
	snprintf(path, size, "%s/../" SOFTMRC_DATADIR "/softmrc/scenarios/%s.toml", self, name);
	return path;
}

static int play_scenario(struct run *r)
{
	struct ml_error e;

	if (ml_scenario_open(&r->run, r->file, &e))
		return lab_fail(&lab_run_verb, &e);
	if (!r->json)
		printf("%s\n", r->run.s.title);
	if (ml_scenario_play(&r->run, &e))
		return lab_fail(&lab_run_verb, &e);
	print_failed(r);
	if (r->json)
		print_json(r);
	else
		print_table(&r->run);
	return r->run.pass ? LAB_GOOD : LAB_FAILED;
}

static int run_file(struct run *r, char *text)
{
	char path[ML_OWN_FOLDER_MAX + 256], error[ML_SCENARIO_ERROR_MAX];
	int status;

	r->file = find_file(r->file, path, sizeof(path));
	if (read_file(r->file, text))
		return LAB_USAGE;
	if (ml_scenario_read(r->file, text, &r->run.s, error)) {
		fprintf(stderr, "%s: %s\n", lab_run_verb.name, error);
		return LAB_USAGE;
	}
	r->run.is_stopped = is_stopped;
	r->run.log = log_event;
	r->run.context = r;
	r->log = json_array();
	status = play_scenario(r);
	ml_scenario_close(&r->run);
	json_decref(r->log);
	return status;
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
	"SCENARIO", "SCENARIO is a TOML file (docs/lab.md) or one of:", scenario_at, NULL};

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
		fprintf(stderr, "%s: no memory\n", lab_run_verb.name);
		free(r);
		free(text);
		return LAB_FAILED;
	}
	status = ui_verb_parse(&lab_run_verb, r, argc, argv, &r->file, 1, &words);
	if (status == UI_FLAGS_OK && !words) {
		fprintf(stderr, "%s: which SCENARIO? (mrc lab run --help)\n", lab_run_verb.name);
		status = LAB_USAGE;
	} else if (status == UI_FLAGS_OK) {
		ui_term_catch();
		status = run_file(r, text);
	}
	free(text);
	free(r);
	return status;
}

const struct ui_verb lab_run_verb = {
	.name = "mrc lab run",
	.summary = "programs, faults by the clock, and checks at the end",
	.usage = "SCENARIO [FLAG...]",
	.about = "Plays a scenario in a lab of its own: programs on hosts, faults by the clock, "
		 "and checks at the end.",
	.exits = "0 all checks passed, 1 one failed, or there is no lab, 2 the file is wrong",
	.operands = "SCENARIO",
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.choices = (const struct ui_choices *const[]){&scenarios, NULL},
	.run = lab_run_main,
};
