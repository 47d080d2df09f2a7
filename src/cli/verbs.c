/* SPDX-License-Identifier: BSD-2-Clause */
/* The command's own table: all verbs, and those that are about the command itself. */
#include "cli/cli_verbs.h"

#include "conform/conform.h"
#include "demo/demo.h"
#include "study/study_verbs.h"
#include "ui/verb.h"

#include <stdio.h>
#include <string.h>

/* The deepest verb has two words: "sim run". */
#define HELP_WORDS 2u

static int help_main(int argc, char **argv);
static int completion_main(int argc, char **argv);
static int man_main(int argc, char **argv);
static bool verb_at(size_t i, struct ui_choice *out);
static bool shell_at(size_t i, struct ui_choice *out);

static const struct ui_choices help_verbs = {"VERB", NULL, verb_at, NULL};
static const struct ui_choices shells = {"SHELL", NULL, shell_at, NULL};

static const struct ui_verb help_verb = {
	.name = "mrc help",
	.summary = "the flags of a verb, as mrc VERB --help",
	.usage = "[VERB...]",
	.about = "Prints the help of a verb, or the list of verbs.",
	.operands = "VERB",
	.choices = (const struct ui_choices *const[]){&help_verbs, NULL},
	.run = help_main,
};

static const struct ui_verb completion_verb = {
	.name = "mrc completion",
	.summary = "a script with which bash or zsh completes the command",
	.usage = "SHELL",
	.about = "Prints the script with which a shell, bash or zsh, completes verbs, flags and "
		 "values. It is "
		 "installed where bash-completion and zsh look for it.",
	.examples = "source <(mrc completion bash)       in ~/.bashrc\n"
		    "mrc completion zsh > ~/.zfunc/_mrc  with ~/.zfunc in fpath",
	.operands = "SHELL",
	.choices = (const struct ui_choices *const[]){&shells, NULL},
	.run = completion_main,
};

static const struct ui_verb man_verb = {
	.name = "mrc man",
	.summary = "the manual page mrc(1), in roff",
	.usage = "",
	.about = "Prints the manual page as it is installed.",
	.examples = "mrc man | man -l -",
	.run = man_main,
};

static const struct ui_verb *const verbs[] = {
	&conform_verb,	    &cli_ctl_verb, &demo_verb,	     &cli_doctor_verb, &cli_dump_verb,
	&cli_lab_verb,	    &cli_map_verb, &cli_perf_verb,   &cli_ping_verb,   &cli_plan_verb,
	&study_report_verb, &cli_run_verb, &cli_sim_verb,    &cli_stat_verb,   &cli_top_verb,
	&cli_trace_verb,    &help_verb,	   &completion_verb, &man_verb,	       NULL};

static const struct ui_flag flags[] = {
	{"--version", UI_FLAG_SWITCH, NULL, "the version", 0, 0, 0},
};

const struct ui_verb cli_root_verb = {
	.name = "mrc",
	.summary = "look at, measure and try Multipath Reliable Connection",
	.usage = "VERB [FLAG...]\n--version",
	.about = "softmrc: Multipath Reliable Connection in software.",
	.exits = "those of the verb; 2 also if what it prints cannot be written",
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.verbs = verbs,
};

static bool verb_at(size_t i, struct ui_choice *out)
{
	if (verbs[i])
		*out = (struct ui_choice){ui_verb_word(verbs[i]), NULL, verbs[i]->summary};
	return verbs[i];
}

static const struct shell {
	const char *name;
	void (*write)(const struct ui_verb *root, struct ui_text *out);
} shell[] = {{"bash", ui_completion_bash}, {"zsh", ui_completion_zsh}};

static bool shell_at(size_t i, struct ui_choice *out)
{
	if (i < UI_COUNT(shell))
		*out = (struct ui_choice){shell[i].name, NULL, NULL};
	return i < UI_COUNT(shell);
}

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
	ui_text_print(&text, stdout);
	return 0;
}

static int completion_main(int argc, char **argv)
{
	struct ui_text text = {0};
	const char *name = "";
	int status = ui_verb_parse(&completion_verb, NULL, argc, argv, &name, 1, &(size_t){0});

	if (status != UI_FLAGS_OK)
		return status;
	for (size_t i = 0; i < UI_COUNT(shell); i++)
		if (strcmp(shell[i].name, name) == 0) {
			shell[i].write(&cli_root_verb, &text);
			ui_text_print(&text, stdout);
			return 0;
		}
	fprintf(stderr, "mrc completion: %s: want bash or zsh\n", *name ? name : "(no shell)");
	return UI_FLAGS_ERROR;
}

static int man_main(int argc, char **argv)
{
	struct ui_text text = {0};
	int status = ui_verb_parse(&man_verb, NULL, argc, argv, NULL, 0, NULL);

	if (status != UI_FLAGS_OK)
		return status;
	ui_manual_write(&cli_root_verb, &text);
	ui_text_print(&text, stdout);
	return 0;
}
