/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc lab watch - planes, switches and queues, live. */
#include "cli/lab/lab_tables.h"
#include "cli/lab/lab_verbs.h"
#include "ui/terminal.h"

#include <stddef.h>
#include <stdio.h>

#define MS_NS UINT64_C(1000000)

struct watch {
	const char *lab;
	uint64_t interval_ns, count;
	bool links, plain, live;
	struct ui_term term;
};

static void draw_lab(const struct watch *w, const struct ml_lab *lab,
		     const struct show_reading *now, const struct show_reading *before)
{
	struct ui_text text = {0};

	ui_text_add(&text, "lab %s\n\n", ml_lab_name(lab));
	show_planes(lab, now, before, &text);
	ui_text_add(&text, "\n");
	(w->links ? show_links : show_switches)(lab, now, before, &text);
	ui_text_add(&text, "\n");
	show_faults(lab, &text);
	if (w->live) {
		ui_term_show(&text);
	} else {
		printf("%s\n", text.data);
		fflush(stdout);
	}
	ui_text_fini(&text);
}

/* The handle is opened anew each time: faults come from other processes. */
static int watch_once(const struct watch *w, const char *name, struct show_reading *now,
		      const struct show_reading *before, struct ml_error *e)
{
	struct ml_lab *lab = ml_lab_open(name, e);
	int failed = lab ? show_read(now, lab, e) : -1;

	if (!failed && before->port)
		draw_lab(w, lab, now, before);
	ml_lab_close(lab);
	return failed;
}

static int watch_lab(struct watch *w, const char *name)
{
	struct show_reading reading[2] = {{0}};
	struct ml_error e;
	int failed = 0;

	w->live = !w->plain && ui_term_fits();
	if (w->live)
		ui_term_enter(&w->term);
	for (uint64_t i = 0; !failed && (!w->count || i <= w->count); i++) {
		failed = watch_once(w, name, &reading[i % 2], &reading[(i + 1) % 2], &e);
		if (!failed && (!w->count || i < w->count))
			lab_sleep(w->interval_ns);
		if (ui_term_caught())
			break;
	}
	if (w->live)
		ui_term_leave(&w->term);
	show_fini(&reading[0]);
	show_fini(&reading[1]);
	if (failed)
		lab_fail(&lab_watch_verb, &e);
	return failed ? LAB_FAILED : LAB_GOOD;
}

static const struct ui_flag flags[] = {
	{"--interval", UI_FLAG_TIME, "TIME", "between readings (500ms)",
	 offsetof(struct watch, interval_ns), 20 * MS_NS, UINT64_C(3600000) * MS_NS},
	{"--count", UI_FLAG_U64, "N", "readings to show (no end)", offsetof(struct watch, count), 1,
	 UINT32_MAX},
	UI_SWITCH("--links", watch, links, "every link instead of every switch"),
	UI_SWITCH("--plain", watch, plain, "text below text instead of a live screen"),
};

static int lab_watch_main(int argc, char **argv)
{
	struct watch w = {.interval_ns = 500 * MS_NS};
	struct lab_names names;
	const char *name;
	struct ml_lab *lab;
	size_t words;
	int status;

	status = ui_verb_parse(&lab_watch_verb, &w, argc, argv, &w.lab, 1, &words);
	if (status != UI_FLAGS_OK)
		return status;
	name = lab_find_name(&lab_watch_verb, w.lab, &names);
	lab = name ? lab_open(&lab_watch_verb, name) : NULL;
	if (!lab)
		return LAB_FAILED;
	ml_lab_close(lab);
	ui_term_catch();
	return watch_lab(&w, name);
}

const struct ui_verb lab_watch_verb = {
	.name = "mrc lab watch",
	.summary = "planes, switches and queues, live",
	.usage = "[LAB] [FLAG...]",
	.about = "Planes, switches, queues, trims, marks, drops and faults, as they are now.",
	.operands = "LAB",
	.choices = (const struct ui_choices *const[]){&lab_choices, NULL},
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.run = lab_watch_main,
};
