/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc lab down - removes labs, whole ones and what crashes left. */
#include "cli/flags.h"
#include "cli/lab/lab_verbs.h"
#include "cli/lab/reach.h"
#include "lab/keeper.h"

#include <stdio.h>

#define WHO "mrc lab down"

static int down(const char *name)
{
	struct ml_down found = {0};
	struct ml_error e;
	int kept = ml_keeper_down(name, &found, &e);

	if (kept == 0 && ml_keeper_needed()) {
		fprintf(stderr, WHO ": lab %s is not up, or is another user's\n", name);
		return LAB_FAILED;
	}
	if (kept < 0 || (kept == 0 && ml_lab_down(name, &found, &e))) {
		fprintf(stderr, WHO ": %s\n", e.text);
		return LAB_FAILED;
	}
	if (!found.namespaces)
		printf("lab %s: nothing was there\n", name);
	else if (found.processes)
		printf("lab %s is down: %zu namespaces removed, %zu processes ended\n", name,
		       found.namespaces, found.processes);
	else
		printf("lab %s is down: %zu namespaces removed\n", name, found.namespaces);
	return LAB_GOOD;
}

int lab_down_main(int argc, char **argv)
{
	bool all = false;
	const char *given = NULL, *name;
	const struct cli_flag flags[] = {
		{"--all", CLI_FLAG_SWITCH, NULL, "every lab that this user may remove", &all, 1, 0},
	};
	struct reach_names names;
	int status = LAB_GOOD;
	size_t words;

	switch (cli_flags_parse_operands(flags, 1, WHO, argc, argv, &given, 1, &words)) {
	case CLI_FLAGS_HELP:
		printf("usage: mrc lab down [LAB] [FLAG...]\n"
		       "Removes a lab: its namespaces, what runs in them, its file. It need not be "
		       "whole. LAB may be left out\nwhen there is only one.\n\n");
		cli_flags_help(flags, 1);
		return LAB_GOOD;
	case CLI_FLAGS_ERROR:
		return LAB_USAGE;
	case CLI_FLAGS_OK:
		break;
	}
	if (!all) {
		name = reach_name(given, &names, WHO);
		return name ? down(name) : LAB_FAILED;
	}
	reach_list(&names);
	for (size_t i = 0; i < names.n; i++)
		if (down(names.name[i]) != LAB_GOOD)
			status = LAB_FAILED;
	return status;
}
