/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc lab status - what is up, and what ports have counted so far. */
#include "base/quantity.h"
#include "cli/lab/lab_tables.h"
#include "cli/lab/lab_verbs.h"

#include <stddef.h>
#include <stdio.h>

struct ask {
	const char *lab;
	bool links, json, names;
};

static void print_status(struct ml_lab *lab, const struct show_reading *r, bool links)
{
	const struct mf_topology *t = ml_lab_topology(lab);
	char rate[MB_QUANTITY_MAX];
	struct ui_text text = {0};
	const char *why;

	ui_text_add(&text, "lab %s (%s): %u hosts, %u switches, ", ml_lab_name(lab),
		    ml_lab_topology_name(lab), t->n_hosts, t->n_switches);
	if (ml_lab_rate_scale(lab))
		ui_text_add(&text, "hosts send %s on each plane, ",
			    mb_quantity_write_rate(rate, ml_lab_rate_scale(lab)));
	if (ml_lab_programs(lab, &why))
		ui_text_add(&text, "switches trim and mark\n\n");
	else
		ui_text_add(&text, "no switch programs: %s\n\n", why);
	(links ? show_links : show_switches)(lab, r, NULL, &text);
	ui_text_add(&text, "\n");
	show_faults(lab, &text);
	fputs(text.data, stdout);
	ui_text_fini(&text);
}

static int show_lab_status(const struct ask *a, const char *name)
{
	struct ml_lab *lab = lab_open(&lab_status_verb, name);
	struct show_reading r = {0};
	struct ml_error e;
	int failed;

	if (!lab)
		return LAB_FAILED;
	failed = show_read(&r, lab, &e);
	if (failed) {
		lab_fail(&lab_status_verb, &e);
	} else if (a->json) {
		json_t *json = show_json(lab, &r);

		json_dumpf(json, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(json);
	} else {
		print_status(lab, &r, a->links);
	}
	show_fini(&r);
	ml_lab_close(lab);
	return failed ? LAB_FAILED : LAB_GOOD;
}

static const struct ui_flag flags[] = {
	UI_SWITCH("--links", ask, links, "every link instead of every switch"),
	UI_SWITCH("--json", ask, json, "everything as JSON"),
	UI_SWITCH("--names", ask, names, "the names of all labs, nothing else"),
};

static int lab_status_main(int argc, char **argv)
{
	struct ask a = {0};
	struct lab_names names;
	const char *name;
	size_t words;
	int rc;

	rc = ui_verb_parse(&lab_status_verb, &a, argc, argv, &a.lab, 1, &words);
	if (rc != UI_FLAGS_OK)
		return rc;
	if (a.names) {
		lab_find_all(&names);
		for (size_t i = 0; i < names.n; i++)
			printf("%s\n", names.name[i]);
		return LAB_GOOD;
	}
	name = lab_find_name(&lab_status_verb, a.lab, &names);
	return name ? show_lab_status(&a, name) : LAB_FAILED;
}

const struct ui_verb lab_status_verb = {
	.name = "mrc lab status",
	.summary = "what is up: switches, links, faults, counters",
	.usage = "[LAB] [FLAG...]",
	.about = "Shows switches or links with what they counted since they were created, and the "
		 "faults in force. TRIMS: packets cut for want of room. DROPS: for want of room, "
		 "but not trimmed. FAULTS: lost by a fault.",
	.operands = "LAB",
	.choices = (const struct ui_choices *const[]){&lab_choices, NULL},
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.run = lab_status_main,
};
