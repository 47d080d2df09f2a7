/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc - the one command of softmrc: picks the verb. */
#include "base/near.h"
#include "cli/verbs.h"

#include <stdio.h>
#include <string.h>

static const struct verb {
	const char *name;
	const char *help;
	int (*run)(int argc, char **argv);
} verbs[] = {
	{"demo", "train a language model through path failures and compare the results",
	 cli_demo_main},
	{"doctor", "what will hurt on this machine, and the commands that mend it",
	 cli_doctor_main},
	{"lab", "build a multi-plane SRv6 fabric on this machine, and break it", cli_lab_main},
	{"perf", "measure bandwidth and latency to another machine", cli_perf_main},
	{"ping", "ask another machine over one path or all of them", cli_ping_main},
	{"plan", "what a fabric is made of, what it costs and carries, and how it fails",
	 cli_plan_main},
	{"run", "start an unmodified verbs program on the device mrc0", cli_run_main},
	{"sim", "simulate a fabric of any size, packet by packet, with the same core",
	 cli_sim_main},
	{"top", "show processes, planes, QPs and EVs of this machine, live", cli_top_main},
};

#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

static void print_usage(FILE *to)
{
	fprintf(to, "usage: mrc VERB [FLAG...]\n"
		    "softmrc: Multipath Reliable Connection in software.\n\n");
	for (size_t i = 0; i < VERBS; i++)
		fprintf(to, "  %-10s %s\n", verbs[i].name, verbs[i].help);
	fprintf(to, "\n  mrc VERB --help   the flags of a verb\n"
		    "  mrc --version     the version\n");
}

static int unknown_verb(const char *word)
{
	const char *name[VERBS];
	const char *near;

	for (size_t i = 0; i < VERBS; i++)
		name[i] = verbs[i].name;
	near = mb_near_find(word, name, VERBS);
	if (near)
		fprintf(stderr, "mrc: %s: no such verb; did you mean %s?\n", word, near);
	else
		fprintf(stderr, "mrc: %s: no such verb; mrc --help lists them\n", word);
	return 2;
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;

	if (!word) {
		print_usage(stderr);
		return 2;
	}
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
		print_usage(stdout);
		return 0;
	}
	if (strcmp(word, "--version") == 0) {
		printf("mrc %s\n", SOFTMRC_VERSION);
		return 0;
	}
	for (size_t i = 0; i < VERBS; i++)
		if (strcmp(word, verbs[i].name) == 0)
			return verbs[i].run(argc - 1, argv + 1);
	return unknown_verb(word);
}
