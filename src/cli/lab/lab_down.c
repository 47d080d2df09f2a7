/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc lab down - removes labs, whole ones and what crashes left. */
#include "cli/lab/lab_verbs.h"
#include "lab/lab.h"

#include <stddef.h>
#include <stdio.h>

static int take_lab_down(const char *name)
{
	struct ml_down found = {0};
	struct ml_error e;
	int kept = ml_ns_holder_stop(name, &found, &e);

	if (kept == 0 && ml_needs_ns_holder())
		kept = ml_error_set(&e, "lab %s is not up, or is another user's", name);
	if (kept < 0 || (kept == 0 && ml_lab_down(name, &found, &e)))
		return lab_fail(&lab_down_verb, &e);
	if (!found.namespaces)
		printf("lab %s: nothing was there\n", name);
	else if (found.processes)
		printf("lab %s is down: %zu namespaces removed, %zu processes ended\n", name,
		       found.namespaces, found.processes);
	else
		printf("lab %s is down: %zu namespaces removed\n", name, found.namespaces);
	return LAB_GOOD;
}

struct ask {
	const char *lab;
	bool all;
};

static const struct ui_flag flags[] = {
	UI_SWITCH("--all", ask, all, "every lab that this user may remove"),
};

static int lab_down_main(int argc, char **argv)
{
	struct ask a = {0};
	const char *name;
	struct lab_names names;
	int status;
	size_t words;

	status = ui_verb_parse(&lab_down_verb, &a, argc, argv, &a.lab, 1, &words);
	if (status != UI_FLAGS_OK)
		return status;
	if (!a.all) {
		name = lab_find_name(&lab_down_verb, a.lab, &names);
		return name ? take_lab_down(name) : LAB_FAILED;
	}
	status = LAB_GOOD;
	lab_find_all(&names);
	for (size_t i = 0; i < names.n; i++)
		if (take_lab_down(names.name[i]) != LAB_GOOD)
			status = LAB_FAILED;
	return status;
}

const struct ui_verb lab_down_verb = {
	.name = "mrc lab down",
	.summary = "remove it, and whatever runs in it",
	.usage = "[LAB] [FLAG...]",
	.about = "Removes a lab: its namespaces, what runs in them, its file. It need not be "
		 "whole. LAB may be left out when there is only one.",
	.operands = "LAB",
	.choices = (const struct ui_choices *const[]){&lab_choices, NULL},
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.run = lab_down_main,
};
