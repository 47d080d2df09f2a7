/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc lab reboot - switches a switch off, and on again with its routes. */
#include "cli/lab/lab_verbs.h"
#include "ui/terminal.h"
#include "ui/text.h"

#include <stddef.h>
#include <stdio.h>

/* What ends the waiting does not end the rebooting. */
static int reboot_switch(struct ml_lab *lab, const char *name, uint64_t for_ns)
{
	char gone[UI_UNITS_MAX];
	struct ml_error e;
	uint64_t begin;
	uint32_t node;

	if (ml_node_find(ml_lab_topology(lab), name, &node, &e))
		return lab_fail(&lab_reboot_verb, &e);
	begin = ui_clock_ns();
	if (!ml_lab_switch_is_off(lab, node) && ml_lab_set_switch(lab, node, false, &e))
		return lab_fail(&lab_reboot_verb, &e);
	lab_sleep(for_ns);
	if (ml_lab_set_switch(lab, node, true, &e))
		return lab_fail(&lab_reboot_verb, &e);
	printf("%s was down for %s\n", name, ui_units_time(gone, ui_clock_ns() - begin));
	return LAB_GOOD;
}

struct options {
	uint64_t for_ns;
};

static const struct ui_flag flags[] = {
	{"--for", UI_FLAG_TIME, "TIME", "stay off for this time (none: as short as can be)",
	 offsetof(struct options, for_ns), 1000000, UINT64_C(86400000000000)},
};

static int lab_reboot_main(int argc, char **argv)
{
	struct options o = {0};
	const char *word[2];
	struct ml_lab *lab;
	size_t words;
	int status;

	status = ui_verb_parse(&lab_reboot_verb, &o, argc, argv, word, 2, &words);
	if (status != UI_FLAGS_OK)
		return status;
	if (words < 2) {
		fprintf(stderr, "%s: want a LAB and a SWITCH (mrc lab reboot --help)\n",
			lab_reboot_verb.name);
		return LAB_USAGE;
	}
	lab = lab_open(&lab_reboot_verb, word[0]);
	if (!lab)
		return LAB_FAILED;
	ui_term_catch();
	status = reboot_switch(lab, word[1], o.for_ns);
	ml_lab_close(lab);
	return status;
}

const struct ui_verb lab_reboot_verb = {
	.name = "mrc lab reboot",
	.summary = "switch a switch off and on again",
	.usage = "LAB SWITCH [FLAG...]",
	.about = "Deletes a switch with all its state, so that its neighbours lose their carriers, "
		 "and creates it again.",
	.examples = "mrc lab reboot lab plane0.t1-0 --for 2s",
	.operands = "LAB SWITCH",
	.choices = (const struct ui_choices *const[]){&lab_choices, NULL},
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.run = lab_reboot_main,
};
