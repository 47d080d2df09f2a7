/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `mrc sim run`: see options.h. */
#include "cli/sim/options.h"

#include "sim/net.h"

#include <stdio.h>
#include <string.h>

#define DAY_NS UINT64_C(86400000000000)

static void print_help(const struct cli_flag *flags, size_t n)
{
	printf("usage: mrc sim run SCENARIO [FLAG...]\n"
	       "Runs a scenario: a file (with a slash or a dot in its name) or one that `mrc sim "
	       "list` shows.\n"
	       "Ctrl-C breaks it off; what is written then is valid and says so.\n\n");
	cli_flags_help(flags, n);
	printf("\nexamples:\n"
	       "  mrc sim run permutation --json\n"
	       "  mrc sim run ./my.toml --threads 2 --flows flows.csv\n"
	       "  mrc sim run incast --set mrc.evs=4 --set workload.bytes=4M\n"
	       "  mrc sim run lone-flow --expect\n"
	       "\nexit status: 0 good; 1 flows are unfinished, the checker found something or the "
	       "result is\nnot as expected; 2 wrong usage, a bad file, or no room; 3 broken off\n");
}

enum cli_flags_result sim_options_parse(struct sim_options *o, int argc, char **argv)
{
	const struct cli_flag flags[] = {
		{"--set", CLI_FLAG_TEXTS, "KEY=VALUE", "change a key of the scenario; repeatable",
		 &o->set, 0, 0},
		{"--seed", CLI_FLAG_U64, "N", "the scenario's seed", &o->seed, 1, UINT64_MAX >> 1},
		{"--threads", CLI_FLAG_U32, "N", "threads; the result is the same with any number",
		 &o->threads, 1, MS_THREADS_MAX},
		{"--end", CLI_FLAG_TIME, "TIME", "break off at this simulated time", &o->end_ns, 1,
		 DAY_NS},
		{"--json", CLI_FLAG_MAYBE, "FILE", "the result as JSON, to stdout or a file",
		 &o->json, 0, 0},
		{"--flows", CLI_FLAG_TEXT, "FILE", "CSV with a line for each flow", &o->flows, 0,
		 0},
		{"--series", CLI_FLAG_TEXT, "FILE", "CSV of links over time (output.every)",
		 &o->series, 0, 0},
		{"--evs", CLI_FLAG_TEXT, "FILE", "CSV of EVs and NICs over time", &o->evs, 0, 0},
		{"--capture", CLI_FLAG_TEXT, "FILE", "pcapng of output.capture_links", &o->capture,
		 0, 0},
		{"--memory", CLI_FLAG_BYTES, "BYTES", "what it may take (all that is available)",
		 &o->memory, 1, UINT64_C(1) << 50},
		{"--expect", CLI_FLAG_SWITCH, NULL, "check what the scenario says must hold",
		 &o->expect, 0, 0},
		{"--check", CLI_FLAG_SWITCH, NULL, "read it and say what it needs; run nothing",
		 &o->check, 0, 0},
		{"--quiet", CLI_FLAG_SWITCH, NULL, "no progress", &o->quiet, 0, 0},
	};
	const size_t n = sizeof(flags) / sizeof(flags[0]);
	enum cli_flags_result rc;
	size_t words;

	*o = (struct sim_options){0};
	rc = cli_flags_parse_operands(flags, n, "mrc sim run", argc, argv, &o->name, 1, &words);
	if (rc == CLI_FLAGS_HELP)
		print_help(flags, n);
	if (rc == CLI_FLAGS_OK && words == 0) {
		fprintf(stderr, "mrc sim run: expected a scenario; `mrc sim list` shows those that "
				"are built in\n");
		return CLI_FLAGS_ERROR;
	}
	return rc;
}
