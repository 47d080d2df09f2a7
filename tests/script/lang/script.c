/* SPDX-License-Identifier: BSD-2-Clause */
/* script.c - takes a script apart into lines and hands each to its statement. */
#include "script.h"

#include <stdio.h>
#include <string.h>

static void parse_when(struct script *s, struct when *when, bool *given)
{
	const char *word = words_peek(&s->words);
	char text[WORDS_LINE_MAX];
	char *dots;

	*given = word && *word == '+';
	if (!*given)
		return;
	strcpy(text, words_next(&s->words, "a time") + 1);
	dots = strstr(text, "..");
	if (dots)
		*dots = 0;
	when->low = word_time(&s->report, "time", text);
	when->high = dots ? word_time(&s->report, "time", dots + 2) : when->low;
	if (when->high < when->low)
		report_fail(&s->report, "the time ends before it begins");
}

static void start(struct script *s)
{
	if (s->started)
		return;
	s->started = true;
	capture_begin(&s->world.capture, s->config.engine.n_ports, s->text);
	world_init(&s->world, &s->report, &s->config);
}

static void exactly(struct script *s, struct when when)
{
	if (when.low != when.high)
		report_fail(&s->report, "a span of time goes with > and expect only");
	script_advance(s, when.low);
}

static void run_line(struct script *s, const char *line)
{
	struct when when = {0, 0};
	const char *verb;
	bool timed;

	words_split(&s->words, &s->report, line);
	if (!words_peek(&s->words))
		return;
	if (words_accept(&s->words, "config")) {
		if (s->started)
			report_fail(&s->report, "config stands before everything else");
		config_parse(&s->words, &s->config);
		return;
	}
	start(s);
	parse_when(s, &when, &timed);
	verb = words_next(&s->words, "a statement");
	if (strcmp(verb, ">") == 0) {
		statement_from_engine(s, when);
	} else if (strcmp(verb, "<") == 0) {
		statement_to_engine(s, when);
	} else if (strcmp(verb, "expect") == 0) {
		statement_expect(s, when);
	} else {
		exactly(s, when);
		if (!statement_act(s, verb))
			report_fail(&s->report,
				    "statement '%s' is unknown, allowed is config, >, <, expect, "
				    "post, state, deny, allow, room, ignore, overflow, capacity, "
				    "memory, stop, hold, go, port, request",
				    verb);
	}
}

static void run_text(struct script *s)
{
	const char *text = s->text;
	char line[WORDS_LINE_MAX];

	while (*text) {
		size_t len = strcspn(text, "\n");

		s->report.line++;
		if (len >= sizeof(line))
			report_fail(&s->report, "line longer than %zu characters",
				    sizeof(line) - 1);
		memcpy(line, text, len);
		line[len] = 0;
		s->report.source = line;
		run_line(s, line);
		text += len + (text[len] == '\n');
	}
	if (!s->checked)
		report_fail(&s->report, "the script ends without having expected anything");
	script_quiet(s, "the script ends");
}

bool script_run(struct script *s, const char *name, const char *text, bool trace, FILE *capture)
{
	memset(s, 0, sizeof(*s));
	s->report.file = name;
	s->text = text;
	s->world.trace = trace;
	s->world.capture.to = capture;
	config_default(&s->config);
	if (setjmp(s->report.failed) == 0)
		run_text(s);
	world_fini(&s->world);
	return s->report.text[0] == 0;
}
