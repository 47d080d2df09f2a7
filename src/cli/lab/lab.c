/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc lab - a fabric of network namespaces: picks the second word. */
#include "base/near.h"
#include "cli/lab/lab_verbs.h"
#include "cli/verbs.h"

#include <stdio.h>
#include <string.h>

static const struct word {
	const char *name;
	const char *form, *help;
	int (*run)(int argc, char **argv);
} words[] = {
	{"up", "[TOPOLOGY]", "build a fabric: hosts, switches, cables, routes", lab_up_main},
	{"down", "[LAB]", "remove it, and whatever runs in it", lab_down_main},
	{"status", "[LAB]", "what is up: switches, links, faults, counters", lab_status_main},
	{"fault", "LAB [TARGET FAULT]", "break a link, switch, NIC port or plane; lift faults",
	 lab_fault_main},
	{"reboot", "LAB SWITCH", "switch a switch off and on again", lab_reboot_main},
	{"shell", "LAB NODE", "a shell, or a command, on a host or switch", lab_shell_main},
	{"watch", "[LAB]", "planes, switches and queues, live", lab_watch_main},
	{"run", "SCENARIO", "programs, faults by the clock, and what must hold", lab_run_main},
};

#define WORDS (sizeof(words) / sizeof(words[0]))

static void print_usage(FILE *to)
{
	fprintf(to, "usage: mrc lab WORD [...]\n"
		    "A multi-plane fabric on this machine, out of network namespaces and the "
		    "kernel's SRv6.\n\n");
	for (size_t i = 0; i < WORDS; i++)
		fprintf(to, "  %-7s %-20s %s\n", words[i].name, words[i].form, words[i].help);
	fprintf(to, "\n  mrc lab WORD --help   the flags of a word, with examples\n"
		    "\nexamples:\n"
		    "  mrc lab up lab                              8 hosts on 4 planes\n"
		    "  mrc lab shell lab host0 -- mrc doctor       a command on a host\n"
		    "  mrc lab fault lab plane0.t1-0 stall         a switch that swallows all\n"
		    "  mrc lab fault lab lift\n"
		    "  mrc lab down lab\n");
}

int cli_lab_main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL, *name[WORDS], *near;

	if (!word || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
		print_usage(word ? stdout : stderr);
		return word ? LAB_GOOD : LAB_USAGE;
	}
	for (size_t i = 0; i < WORDS; i++) {
		name[i] = words[i].name;
		if (strcmp(word, name[i]) == 0)
			return words[i].run(argc - 1, argv + 1);
	}
	near = mb_near_find(word, name, WORDS);
	if (near)
		fprintf(stderr, "mrc lab: %s: no such word; did you mean %s?\n", word, near);
	else
		fprintf(stderr, "mrc lab: %s: no such word; mrc lab --help lists them\n", word);
	return LAB_USAGE;
}
