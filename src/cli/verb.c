/* SPDX-License-Identifier: BSD-2-Clause */
/* Finding and running verbs: see verb.h. */
#include "cli/verb.h"

#include "base/near.h"
#include "cli/help.h"

#include <stdio.h>
#include <string.h>

/* More verbs than these are below none. */
#define VERBS_MAX 16u

const char *cli_verb_word(const struct cli_verb *verb)
{
	const char *blank = strrchr(verb->name, ' ');

	return blank ? blank + 1 : verb->name;
}

const struct cli_verb *cli_verb_find(const struct cli_verb *verb, const char *word)
{
	for (size_t i = 0; verb->verbs && verb->verbs[i]; i++)
		if (strcmp(cli_verb_word(verb->verbs[i]), word) == 0)
			return verb->verbs[i];
	return NULL;
}

static void print_help(const struct cli_verb *verb, FILE *to)
{
	struct cli_text text = {0};

	cli_help_write(verb, &text);
	fputs(text.data, to);
	cli_text_fini(&text);
}

int cli_verb_refuse(const struct cli_verb *verb, const char *word)
{
	const char *name[VERBS_MAX], *near;
	size_t n = 0;

	for (; verb->verbs && n < VERBS_MAX && verb->verbs[n]; n++)
		name[n] = cli_verb_word(verb->verbs[n]);
	near = mb_near_find(word, name, n);
	if (near)
		fprintf(stderr, "%s: %s: no such verb; did you mean %s?\n", verb->name, word, near);
	else
		fprintf(stderr, "%s: %s: no such verb; %s --help lists them\n", verb->name, word,
			verb->name);
	return CLI_FLAGS_ERROR;
}

int cli_verb_run(const struct cli_verb *verb, int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;
	const struct cli_verb *below = word ? cli_verb_find(verb, word) : NULL;

	if (below)
		return cli_verb_run(below, argc - 1, argv + 1);
	if (verb->run)
		return verb->run(argc, argv);
	if (word && strcmp(word, "--help") != 0 && strcmp(word, "-h") != 0)
		return cli_verb_refuse(verb, word);
	print_help(verb, word ? stdout : stderr);
	return word ? CLI_FLAGS_HELP : CLI_FLAGS_ERROR;
}

enum cli_flags_result cli_verb_parse(const struct cli_verb *verb, void *out, int argc, char **argv,
				     const char **operand, size_t max, size_t *n)
{
	const struct cli_flag_table table = {verb->name, verb->flags, verb->n_flags};
	enum cli_flags_result rc = cli_flags_parse(&table, out, argc, argv, operand, max, n);

	if (rc == CLI_FLAGS_HELP)
		print_help(verb, stdout);
	return rc;
}
