/* SPDX-License-Identifier: BSD-2-Clause */
/* map_main.c - mrc map: probes a lab, draws it with what is sick, and says what to touch. */
#include "cli/cli_verbs.h"
#include "cli/fabric_at_hand.h"
#include "cli/map/map_session.h"
#include "cli/map/map_verbs.h"
#include "cli/map/prom_evidence.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "cli/lab/lab_verbs.h"
#include "ui/terminal.h"

struct show {
	struct map_session s;
	const char *svg;
	const char *prometheus, *fabric;
	struct cli_fabric at_hand;
};

/* As long as the rules of packaging/prometheus look back. */
#define RANGE_USUAL_NS UINT64_C(30000000000)
#define RANGE_MIN_NS UINT64_C(1000000000)

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
	fprintf(stderr, "mrc map: --svg %s: %s\n", w->svg, ui_text_save_error(err));
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

static int refuse(const char *what, const char *why)
{
	fprintf(stderr, "mrc map: %s%s%s\n", what, why ? ": " : "", why ? why : "");
	return MAP_USAGE;
}

/* The series of all hosts, in the place of a lab that is probed. */
static int read_prometheus(struct show *w, const char *lab)
{
	uint64_t range_ns = w->s.for_ns ? w->s.for_ns : RANGE_USUAL_NS;
	char why[PROM_WHY_BYTES];

	if (lab || w->s.rate_bit_s)
		return refuse("--prometheus: reads what mrcds probed: no LAB, no --rate", NULL);
	if (range_ns < RANGE_MIN_NS)
		return refuse("--for: at least 1s of a Prometheus", NULL);
	if (cli_fabric_find(&cli_map_verb, w->fabric, &w->at_hand))
		return MAP_USAGE;
	if (!w->at_hand.known)
		return refuse("--prometheus: --fabric TOPOLOGY or MRC_FABRIC must say which fabric",
			      NULL);
	w->s.result.t = &w->at_hand.t;
	if (!prom_map(w->prometheus, range_ns, &w->s.result, why))
		return refuse("--prometheus", why);
	return MAP_HEALTHY;
}

static int probe_lab(struct show *w, const char *lab)
{
	int status;

	if (w->fabric)
		return refuse("--fabric: a lab knows its own; it is for --prometheus", NULL);
	status = map_session_open(&w->s, &cli_map_verb, lab);
	if (status == MAP_HEALTHY)
		status = map_session_run(&w->s, goes_on);
	if (status == MAP_HEALTHY)
		status = map_session_refuse_interrupted(&w->s);
	return status;
}

static const struct ui_flag flags[] = {
	MAP_SESSION_FLAGS(show, "how long (1s, or 40 rounds of probes)"),
	UI_TEXT("--svg", show, svg, "FILE", "a picture of the fabric, too, what is sick in red"),
	UI_SWITCH("--json", show, s.json, "what is sick as JSON, in place of the tables"),
	UI_TEXT("--prometheus", show, prometheus, "URL",
		"no lab is probed: the series of all hosts, of the last 30s or --for"),
	UI_TEXT("--fabric", show, fabric, "TOPOLOGY",
		"the fabric that it is about, a preset or a file ($MRC_FABRIC)"),
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
	status = w.prometheus ? read_prometheus(&w, words ? word : NULL)
			      : probe_lab(&w, words ? word : NULL);
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
		 "then a line for each: what it is, since when, and what to touch. With "
		 "--prometheus it draws what the mrcds of a cluster probed lately.",
	.examples = "mrc map lab\n"
		    "mrc map lab --svg fabric.svg\n"
		    "mrc map check lab\n"
		    "mrc map --prometheus http://monitor:9090 --fabric fabric.toml",
	.exits = "0 healthy, 1 sick, 2 wrong usage, no lab, it went down meanwhile, or interrupted",
	.operands = "LAB",
	.choices = (const struct ui_choices *const[]){&lab_choices, NULL},
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.verbs = verbs,
	.run = cli_map_main,
};
