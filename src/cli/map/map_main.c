/* SPDX-License-Identifier: BSD-2-Clause */
/* map_main.c - mrc map: probes a lab, draws it with what is sick, and says what to touch. */
#include "cli/cli_verbs.h"
#include "cli/map/map_session.h"
#include "cli/map/map_verbs.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "cli/lab/lab_verbs.h"
#include "ui/terminal.h"

struct show {
	struct map_session s;
	const char *svg;
};

static bool goes_on(struct map_session *s)
{
	(void)s;
	return false;
}

static int save_svg(const struct show *w)
{
	struct ui_text picture = {0};
	int err = map_draw_svg(&w->s.result, &picture);

	if (!err)
		err = ui_text_save(&picture, w->svg);
	ui_text_fini(&picture);
	if (!err)
		return MAP_HEALTHY;
	fprintf(stderr, "mrc map: --svg %s: %s\n", w->svg, strerror(err));
	return MAP_USAGE;
}

static int print_all(const struct show *w)
{
	struct ui_text text = {0};

	if (w->s.json) {
		ui_json_print(map_result_json(&w->s.result), JSON_INDENT(2));
	} else {
		map_draw_text(&w->s.result, &text);
		map_result_show(&w->s.result, &text);
		ui_text_print(&text, stdout);
	}
	if (w->svg && save_svg(w))
		return MAP_USAGE;
	return map_result_healthy(&w->s.result) ? MAP_HEALTHY : MAP_SICK;
}

static const struct ui_verb *const verbs[] = {&map_check_verb, &map_watch_verb, NULL};

/* A word that is nearly a verb and no lab is a verb that was mistyped. */
static bool is_mistyped(const char *word)
{
	static const char *const words[] = {"check", "watch"};
	struct lab_names names;

	lab_find_all(&names);
	for (size_t i = 0; i < names.n; i++)
		if (strcmp(names.name[i], word) == 0)
			return false;
	return mb_suggest_find(word, words, UI_COUNT(words));
}

static const struct ui_flag flags[] = {
	MAP_SESSION_FLAGS(show, "how long (1s, or 40 rounds of probes)"),
	UI_TEXT("--svg", show, svg, "FILE", "a picture of the fabric, too, what is sick in red"),
	UI_SWITCH("--json", show, s.json, "what is sick as JSON, in place of the tables"),
};

static int cli_map_main(int argc, char **argv)
{
	static struct show w;
	const char *word = NULL;
	size_t words;
	int status;

	w = (struct show){0};
	status = ui_verb_parse(&cli_map_verb, &w, argc, argv, &word, 1, &words);
	if (status != UI_FLAGS_OK)
		return status;
	if (words && is_mistyped(word))
		return ui_verb_refuse(&cli_map_verb, word);
	status = map_session_open(&w.s, &cli_map_verb, words ? word : NULL);
	if (status == MAP_HEALTHY)
		status = map_session_run(&w.s, goes_on);
	if (status == MAP_HEALTHY)
		status = map_session_refuse_interrupted(&w.s);
	if (status == MAP_HEALTHY)
		status = print_all(&w);
	map_session_close(&w.s);
	return status;
}

const struct ui_verb cli_map_verb = {
	.name = "mrc map",
	.summary = "which part of a fabric is sick",
	.usage = "[LAB] [FLAG...]\nVERB [LAB] [FLAG...]",
	.about = "Hosts probe the links around them and one map says what to repair; switches are "
		 "not asked. Without a verb it probes a lab for a second and draws it: a table of "
		 "T0s and T1s for each plane, with a letter where a cable or a switch is sick, "
		 "then a line for each: what it is, since when, and what to touch.",
	.examples = "mrc map lab\n"
		    "mrc map lab --svg fabric.svg\n"
		    "mrc map check lab",
	.exits = "0 healthy, 1 sick, 2 wrong usage, no lab, it went down meanwhile, or interrupted",
	.operands = "LAB",
	.choices = (const struct ui_choices *const[]){&lab_choices, NULL},
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.verbs = verbs,
	.run = cli_map_main,
};
