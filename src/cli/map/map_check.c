/* SPDX-License-Identifier: BSD-2-Clause */
/* map_check.c - mrc map check: probes a lab for some time and says what is sick by its status. */
#include "cli/map/map_session.h"
#include "cli/map/map_verbs.h"

#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/lab/lab_verbs.h"
#include "ui/terminal.h"

struct check {
	struct map_session s;
	uint64_t told_ns;
	bool tells; /* how far it is */
};

static bool show_progress(struct map_session *s)
{
	struct check *c = (struct check *)s;
	const struct map_result *r = &s->result;

	if (!c->tells || r->now_ns - c->told_ns < 10 * PROBE_STEP_NS)
		return false;
	c->told_ns = r->now_ns;
	fprintf(stderr, "\r\033[Kprobing %u routes of %u hosts, %.1f of %.1f s, %zu sick",
		r->figures.routes, r->figures.hosts, (double)(r->now_ns - r->start_ns) / 1e9,
		(double)s->for_ns / 1e9, r->n);
	return false;
}

static int print_result(const struct map_session *s)
{
	struct ui_text text = {0};

	if (s->json) {
		ui_json_print(map_result_json(&s->result), JSON_INDENT(2));
	} else {
		map_result_show(&s->result, &text);
		ui_text_print(&text, stdout);
	}
	return map_result_healthy(&s->result) ? MAP_HEALTHY : MAP_SICK;
}

static const struct ui_flag flags[] = {
	MAP_SESSION_FLAGS(check, "how long (1s, or 40 rounds of probes)"),
	UI_SWITCH("--json", check, s.json, "the result as JSON"),
};

static int map_check_main(int argc, char **argv)
{
	static struct check c;
	const char *word = NULL;
	size_t words;
	int status;

	c = (struct check){.tells = isatty(STDERR_FILENO)};
	status = ui_verb_parse(&map_check_verb, &c, argc, argv, &word, 1, &words);
	if (status != UI_FLAGS_OK)
		return status;
	status = map_session_open(&c.s, &map_check_verb, words ? word : NULL);
	if (status == MAP_HEALTHY)
		status = map_session_run(&c.s, show_progress);
	if (c.tells)
		fprintf(stderr, "\r\033[K");
	if (status == MAP_HEALTHY)
		status = map_session_refuse_interrupted(&c.s);
	if (status == MAP_HEALTHY)
		status = print_result(&c.s);
	map_session_close(&c.s);
	return status;
}

const struct ui_verb map_check_verb = {
	.name = "mrc map check",
	.summary = "is a lab fit for a job? Names what is sick",
	.usage = "[LAB] [FLAG...]",
	.about = "Every host of a lab sends probes through the switches around it and back to "
		 "itself; what is missing, damaged, doubled or out of order tells which cable, "
		 "switch, transceiver, host or plane is sick. A line for each: its name, what is "
		 "wrong, in which direction, since when, how many hosts saw it, what to touch.",
	.examples = "mrc map check lab\n"
		    "mrc map check lab --for 10s --json   small losses take longer",
	.exits = "0 healthy, 1 sick, 2 wrong usage, no lab, it went down meanwhile, or interrupted",
	.operands = "LAB",
	.choices = (const struct ui_choices *const[]){&lab_choices, NULL},
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.run = map_check_main,
};
