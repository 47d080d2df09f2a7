/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `mrc sim run`: see study.h. */
#include "study/study.h"

#include "sim/kernel/sim_net.h"
#include "study/study_verbs.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define DAY_NS UINT64_C(86400000000000)

static const struct ui_flag flags[] = {
	UI_TEXTS("--set", sim_options, set, "KEY=VALUE",
		 "change a key of the scenario; repeatable"),
	{"--seed", UI_FLAG_U64, "N", "the scenario's seed", offsetof(struct sim_options, seed), 1,
	 UINT64_MAX >> 1},
	{"--threads", UI_FLAG_U32, "N", "threads; the result is the same with any number",
	 offsetof(struct sim_options, threads), 1, MS_THREADS_MAX},
	{"--end", UI_FLAG_TIME, "TIME", "break off at this simulated time",
	 offsetof(struct sim_options, end_ns), 1, DAY_NS},
	UI_MAYBE("--json", sim_options, json, "FILE", "the result as JSON, to stdout or a file"),
	UI_TEXT("--flows", sim_options, flows, "FILE", "CSV with a line for each flow"),
	UI_TEXT("--series", sim_options, series, "FILE", "CSV of links over time (output.every)"),
	UI_TEXT("--evs", sim_options, evs, "FILE", "CSV of EVs and NICs over time"),
	UI_TEXT("--capture", sim_options, capture, "FILE", "pcapng of output.capture_links"),
	{"--memory", UI_FLAG_BYTES, "BYTES", "what it may take (all that is available)",
	 offsetof(struct sim_options, memory), 1, UINT64_C(1) << 50},
	UI_SWITCH("--expect", sim_options, expect, "check what the scenario says must hold"),
	UI_SWITCH("--check", sim_options, check, "read it and say what it needs; run nothing"),
	UI_SWITCH("--quiet", sim_options, quiet, "no progress"),
};

enum ui_flags_result sim_options_parse(struct sim_options *o, int argc, char **argv)
{
	enum ui_flags_result rc;
	size_t words;

	*o = (struct sim_options){0};
	rc = ui_verb_parse(&sim_run_verb, o, argc, argv, &o->name, 1, &words);
	if (rc == UI_FLAGS_OK && words == 0) {
		fprintf(stderr, "mrc sim run: expected a scenario; `mrc sim list` shows those that "
				"are built in\n");
		return UI_FLAGS_ERROR;
	}
	return rc;
}

const struct ui_verb sim_run_verb = {
	.name = "mrc sim run",
	.summary = "run a scenario, from a file or built in",
	.usage = "SCENARIO [FLAG...]",
	.about = "Runs a scenario: a file (with a slash or a dot in its name) or one that `mrc sim "
		 "list` shows. Equal scenarios and seeds give equal runs with any number of "
		 "threads, and of processes under mpirun(1). Ctrl-C ends it early; what is written "
		 "then is valid and says so.",
	.examples = "mrc sim run permutation --json\n"
		    "mrc sim run ./my.toml --threads 2 --flows flows.csv\n"
		    "mrc sim run incast --set mrc.evs=4 --set workload.bytes=4M\n"
		    "mrc sim run lone-flow --expect",
	.exits = "0 good; 1 flows are unfinished, the checker found something or the result is not "
		 "as expected; 2 wrong usage, a bad file, or no room; 3 interrupted",
	.operands = "SCENARIO",
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.choices = (const struct ui_choices *const[]){&study_scenarios, &study_keys, NULL},
	.run = sim_run_main,
};
