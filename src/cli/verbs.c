/* SPDX-License-Identifier: BSD-2-Clause */
/* The command's own table: all verbs, and `mrc help`. */
#include "cli/verbs.h"

#include "cli/help.h"

#include <stdio.h>

/* The deepest verb has two words: "sim run". */
#define HELP_WORDS 2u

static int help_main(int argc, char **argv);

static const struct cli_verb help_verb = {
	.name = "mrc help",
	.summary = "the flags of a verb, as mrc VERB --help",
	.usage = "[VERB...]",
	.about = "Prints the help of a verb, or the list of verbs.",
	.operands = "VERB",
	.run = help_main,
};

static const struct cli_verb *const verbs[] = {
	&cli_demo_verb, &cli_doctor_verb, &cli_lab_verb, &cli_perf_verb,
	&cli_ping_verb, &cli_plan_verb,	  &cli_run_verb, &cli_sim_verb,
	&cli_top_verb,	&help_verb,	  NULL};

const struct cli_verb cli_root_verb = {
	.name = "mrc",
	.summary = "look at, measure and try Multipath Reliable Connection",
	.usage = "VERB [FLAG...]\n--version",
	.about = "softmrc: Multipath Reliable Connection in software.",
	.verbs = verbs,
};

static int help_main(int argc, char **argv)
{
	const struct cli_verb *verb = &cli_root_verb, *below;
	struct cli_text text = {0};
	const char *word[HELP_WORDS];
	size_t n;
	int status = cli_verb_parse(&help_verb, NULL, argc, argv, word, HELP_WORDS, &n);

	if (status != CLI_FLAGS_OK)
		return status;
	for (size_t i = 0; i < n; i++) {
		below = cli_verb_find(verb, word[i]);
		if (!below)
			return cli_verb_refuse(verb, word[i]);
		verb = below;
	}
	cli_help_write(verb, &text);
	fputs(text.data, stdout);
	cli_text_fini(&text);
	return 0;
}
