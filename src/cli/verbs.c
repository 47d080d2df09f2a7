/* SPDX-License-Identifier: BSD-2-Clause */
/* The command's own table: all verbs, and `mrc help`. */
#include "cli/cli_verbs.h"

#include "demo/demo_options.h"
#include "ui/help.h"

#include <stdio.h>

/* The deepest verb has two words: "sim run". */
#define HELP_WORDS 2u

static int help_main(int argc, char **argv);

static const struct ui_verb help_verb = {
	.name = "mrc help",
	.summary = "the flags of a verb, as mrc VERB --help",
	.usage = "[VERB...]",
	.about = "Prints the help of a verb, or the list of verbs.",
	.operands = "VERB",
	.run = help_main,
};

static const struct ui_verb *const verbs[] = {
	&demo_verb,	&cli_doctor_verb, &cli_lab_verb, &cli_perf_verb,
	&cli_ping_verb, &cli_plan_verb,	  &cli_run_verb, &cli_sim_verb,
	&cli_top_verb,	&help_verb,	  NULL};

const struct ui_verb cli_root_verb = {
	.name = "mrc",
	.summary = "look at, measure and try Multipath Reliable Connection",
	.usage = "VERB [FLAG...]\n--version",
	.about = "softmrc: Multipath Reliable Connection in software.",
	.verbs = verbs,
};

static int help_main(int argc, char **argv)
{
	const struct ui_verb *verb = &cli_root_verb, *below;
	struct ui_text text = {0};
	const char *word[HELP_WORDS];
	size_t n;
	int status = ui_verb_parse(&help_verb, NULL, argc, argv, word, HELP_WORDS, &n);

	if (status != UI_FLAGS_OK)
		return status;
	for (size_t i = 0; i < n; i++) {
		below = ui_verb_find(verb, word[i]);
		if (!below)
			return ui_verb_refuse(verb, word[i]);
		verb = below;
	}
	ui_help_write(verb, &text);
	fputs(text.data, stdout);
	ui_text_fini(&text);
	return 0;
}
