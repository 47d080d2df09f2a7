/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * map_watch.c - mrc map watch: probes a lab until the user has seen enough. On a terminal the
 * picture is live; elsewhere there is a line for each change.
 */
#include "cli/map/map_session.h"
#include "cli/map/map_verbs.h"

#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/lab/lab_verbs.h"
#include "ui/terminal.h"

#define SHOW_NS UINT64_C(200000000)
#define FOR_EVER (UINT64_MAX / 2)

struct watch {
	struct map_session s;
	struct ui_term term;
	uint64_t shown_ns;
	bool live;
};

static bool wants_to_go(void)
{
	struct pollfd keys = {.fd = STDIN_FILENO, .events = POLLIN};
	char key = 0;

	return poll(&keys, 1, 0) > 0 && read(STDIN_FILENO, &key, 1) == 1 &&
	       (key == 'q' || key == 'Q');
}

static bool show_live(struct map_session *s)
{
	struct watch *w = (struct watch *)s;
	struct ui_text picture = {0};

	if (s->result.now_ns - w->shown_ns < SHOW_NS)
		return false;
	w->shown_ns = s->result.now_ns;
	prober_figures(s->prober, &s->result.figures);
	map_draw_text(&s->result, &picture);
	map_result_show(&s->result, &picture);
	ui_text_add(&picture, "q ends\n");
	ui_term_show(&picture);
	ui_text_fini(&picture);
	return wants_to_go();
}

static void tell(const struct map_session *s, const char *change, const struct map_finding *f)
{
	const struct map_result *r = &s->result;
	double at_s = (double)(r->now_ns - r->start_ns) / 1e9;
	char line[MM_SICK_TEXT_BYTES], name[MM_PART_NAME_BYTES];
	json_t *json;

	if (s->json) {
		json = map_result_finding_json(r, f);
		json_object_set_new(json, "change", json_string(change));
		json_object_set_new(json, "at_s", json_real(at_s));
		ui_json_print(json, JSON_COMPACT);
	} else if (change[0] == 'e') {
		printf("%.3f %s: no longer %s\n", at_s, mm_part_name(r->t, &f->sick.part, name),
		       mm_kind_name(f->sick.kind));
	} else {
		printf("%.3f %s\n", at_s, mm_sick_text(r->t, &f->sick, r->now_ns, line));
	}
	fflush(stdout);
}

static bool tell_changes(struct map_session *s)
{
	for (size_t i = 0; i < s->result.n_ended; i++)
		tell(s, "ended", &s->result.ended[i]);
	for (size_t i = 0; i < s->result.n_begun; i++)
		tell(s, "begun", &s->result.begun[i]);
	return ferror(stdout);
}

static const struct ui_flag flags[] = {
	MAP_SESSION_FLAGS(watch, "how long (until it is ended)"),
	UI_SWITCH("--json", watch, s.json, "a JSON object for each change"),
};

static int map_watch_main(int argc, char **argv)
{
	static struct watch w;
	const char *word = NULL;
	size_t words;
	int status;

	w = (struct watch){.s = {.for_ns = FOR_EVER, .by_clock = true}};
	status = ui_verb_parse(&map_watch_verb, &w, argc, argv, &word, 1, &words);
	if (status != UI_FLAGS_OK)
		return status;
	w.live = !w.s.json && ui_term_fits();
	status = map_session_open(&w.s, &map_watch_verb, words ? word : NULL);
	if (status == MAP_HEALTHY && w.live)
		ui_term_enter(&w.term);
	if (status == MAP_HEALTHY)
		status = map_session_run(&w.s, w.live ? show_live : tell_changes);
	ui_term_leave(&w.term);
	map_session_close(&w.s);
	return status;
}

const struct ui_verb map_watch_verb = {
	.name = "mrc map watch",
	.summary = "what is sick in a lab, as it changes",
	.usage = "[LAB] [FLAG...]",
	.about = "Probes a lab as mrc map check does, until it is ended. On a terminal the picture "
		 "is live, and q ends it; elsewhere a line is printed for each part that becomes "
		 "sick or well again, with the seconds since the beginning.",
	.examples =
		"mrc map watch lab\n"
		"mrc map watch lab --json --for 10m   nothing is printed where nothing is wrong",
	.exits = "0 good, 2 wrong usage, no lab, or it went down meanwhile",
	.operands = "LAB",
	.choices = (const struct ui_choices *const[]){&lab_choices, NULL},
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.run = map_watch_main,
};
