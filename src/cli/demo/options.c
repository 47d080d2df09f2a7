/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `mrc demo`: see options.h. */
#include "cli/demo/options.h"

#include "cli/demo/script.h"

#include <stdio.h>
#include <string.h>

static void print_help(const struct cli_flag *flags, size_t n)
{
	printf("usage: mrc demo [FLAG...]\n"
	       "Trains a small language model on text with several processes, twice: without and\n"
	       "with faults in the network between them. Shows it live, and at the end what each\n"
	       "fault cost and whether both runs ended with the same weights, bit for bit.\n"
	       "The same job over kernel TCP runs beside the second run.\n\n");
	cli_flags_help(flags, n);
	printf("\nfaults of --script in the lab (all of them by default, in this order):\n");
	demo_script_print_kinds(&demo_lab_kinds, stdout);
	printf("\nand on loopback:\n");
	demo_script_print_kinds(&demo_loopback_kinds, stdout);
	printf("\nexit status: 0 the demo passed, 1 it failed or was interrupted, 2 wrong usage\n");
}

static enum cli_flags_result read_on(struct demo_options *o, const char *on)
{
	if (on && strcmp(on, "lab") == 0)
		o->on = DEMO_ON_LAB;
	else if (on && strcmp(on, "rootless") == 0)
		o->on = DEMO_ON_ROOTLESS;
	else if (on && strcmp(on, "loopback") == 0)
		o->on = DEMO_ON_LOOPBACK;
	else if (on) {
		fprintf(stderr, "mrc demo: --on %s: want lab, rootless or loopback\n", on);
		return CLI_FLAGS_ERROR;
	}
	return CLI_FLAGS_OK;
}

enum cli_flags_result demo_options_parse(struct demo_options *o, int argc, char **argv)
{
	const char *on = NULL;
	const struct cli_flag flags[] = {
		{"--ranks", CLI_FLAG_U32, "N", "processes, each a host (8; 4 on a slow machine)",
		 &o->ranks, 2, 32},
		{"--planes", CLI_FLAG_U32, "N", "NIC ports of a host = network planes (4)",
		 &o->planes, 1, 8},
		{"--paths", CLI_FLAG_U32, "N",
		 "paths through a plane (in the lab T1s: 4; on loopback 8)", &o->paths, 1, 16},
		{"--on", CLI_FLAG_TEXT, "PLACE",
		 "lab (network namespaces), rootless (the same without rights), loopback: the "
		 "first "
		 "of these that is possible",
		 &on, 0, 0},
		{"--steps", CLI_FLAG_U32, "N", "training steps (as many as the script needs)",
		 &o->steps, 1, 100000},
		{"--pace", CLI_FLAG_RATE, "RATE",
		 "of a port, such as 50M (what the machine carries)", &o->pace_bps, 1000000,
		 100000000000},
		{"--seed", CLI_FLAG_U64, "N", "of the training and of random faults (1)", &o->seed,
		 0, UINT64_MAX},
		{"--data", CLI_FLAG_TEXT, "PATH", "text file or directory to learn (licence texts)",
		 &o->data, 0, 0},
		{"--out", CLI_FLAG_TEXT, "FILE", "where the result goes as JSON (result.json)",
		 &o->out, 0, 0},
		{"--script", CLI_FLAG_TEXT, "LIST", "faults to run, with commas between",
		 &o->script, 0, 0},
		{"--no-tcp", CLI_FLAG_SWITCH, NULL, "leave out the comparison with TCP", &o->no_tcp,
		 0, 0},
		{"--plain", CLI_FLAG_SWITCH, NULL, "lines instead of the live view", &o->plain, 0,
		 0},
		{"--json", CLI_FLAG_SWITCH, NULL,
		 "print the result as JSON on stdout, all else on stderr", &o->json, 0, 0},
	};
	const size_t n = sizeof(flags) / sizeof(flags[0]);
	enum cli_flags_result rc;

	*o = (struct demo_options){
		.planes = 4,
		.seed = 1,
		.out = "result.json",
	};
	rc = cli_flags_parse(flags, n, "mrc demo", argc, argv);
	if (rc == CLI_FLAGS_HELP)
		print_help(flags, n);
	return rc == CLI_FLAGS_OK ? read_on(o, on) : rc;
}
