/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc sim - picks what is asked of the simulator. */
#include "cli/sim/verbs.h"

#include "base/near.h"
#include "cli/verbs.h"

#include <stdio.h>
#include <string.h>

static const struct sim_verb {
	const char *name;
	const char *help;
	int (*run)(int argc, char **argv);
} verbs[] = {
	{"run", "run a scenario, from a file or built in", sim_run_main},
	{"list", "the scenarios that are built in", sim_list_main},
	{"keys", "every key that a scenario file may have", sim_keys_main},
	{"compare", "two results or two scenarios, figure by figure", sim_compare_main},
	{"figure", "a figure of the MRC paper: does what must hold hold?", sim_figure_main},
	{"sweep", "a scenario with every combination of some values", sim_sweep_main},
	{"goodput", "a job over days, with faults at given rates", sim_goodput_main},
	{"hashing", "flows hashed onto links: the worst link against the mean", sim_hashing_main},
};

#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

static void print_usage(FILE *to)
{
	fprintf(to,
		"usage: mrc sim VERB [FLAG...]\n"
		"Simulates fabrics of any size packet by packet, with the same core that runs on "
		"real\n"
		"networks: every host is a whole MRC endpoint.\n\n");
	for (size_t i = 0; i < VERBS; i++)
		fprintf(to, "  %-10s %s\n", verbs[i].name, verbs[i].help);
	fprintf(to, "\n  mrc sim VERB --help   its flags\n\n"
		    "examples:\n"
		    "  mrc sim run permutation\n"
		    "  mrc sim run incast --set mrc.evs=4 --json=incast.json\n"
		    "  mrc sim run my.toml --expect\n"
		    "  mrc sim compare incast.json other.json\n"
		    "  mrc sim figure 9a --html fig9a.html\n"
		    "  mrc sim sweep permutation --vary mrc.evs=1,4,16 --dir sweep\n");
}

int cli_sim_main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;
	const char *name[VERBS], *near;

	if (!word) {
		print_usage(stderr);
		return SIM_EXIT_USAGE;
	}
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
		print_usage(stdout);
		return SIM_EXIT_GOOD;
	}
	for (size_t i = 0; i < VERBS; i++) {
		if (strcmp(word, verbs[i].name) == 0)
			return verbs[i].run(argc - 1, argv + 1);
		name[i] = verbs[i].name;
	}
	near = mb_near_find(word, name, VERBS);
	fprintf(stderr, "mrc sim: %s: no such verb; %s%s\n", word,
		near ? "did you mean " : "mrc sim --help lists them", near ? near : "");
	return SIM_EXIT_USAGE;
}
