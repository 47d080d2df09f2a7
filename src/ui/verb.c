/* SPDX-License-Identifier: BSD-2-Clause */
/* Finding and running verbs: see verb.h. */
#include "ui/verb.h"

#include "base/suggest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* More verbs than these are below none. */
#define VERBS_MAX 16u

const char *ui_verb_word(const struct ui_verb *verb)
{
	const char *blank = strrchr(verb->name, ' ');

	return blank ? blank + 1 : verb->name;
}

const struct ui_verb *ui_verb_find(const struct ui_verb *verb, const char *word)
{
	for (size_t i = 0; verb->verbs && verb->verbs[i]; i++)
		if (strcmp(ui_verb_word(verb->verbs[i]), word) == 0)
			return verb->verbs[i];
	return NULL;
}

static void print_help(const struct ui_verb *verb, FILE *to)
{
	struct ui_text text = {0};

	ui_help_write(verb, &text);
	ui_text_print(&text, to);
}

int ui_verb_refuse(const struct ui_verb *verb, const char *word)
{
	const char *name[VERBS_MAX], *near;
	size_t n = 0;

	for (; verb->verbs && n < VERBS_MAX && verb->verbs[n]; n++)
		name[n] = ui_verb_word(verb->verbs[n]);
	near = mb_suggest_find(word, name, n);
	if (near)
		fprintf(stderr, "%s: %s: no such verb; did you mean %s?\n", verb->name, word, near);
	else
		fprintf(stderr, "%s: %s: no such verb; %s --help lists them\n", verb->name, word,
			verb->name);
	return UI_FLAGS_ERROR;
}

int ui_verb_run(const struct ui_verb *verb, int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;
	const struct ui_verb *below = word ? ui_verb_find(verb, word) : NULL;

	if (below)
		return ui_verb_run(below, argc - 1, argv + 1);
	if (verb->run)
		return verb->run(argc, argv);
	if (word && strcmp(word, "--help") != 0 && strcmp(word, "-h") != 0)
		return ui_verb_refuse(verb, word);
	print_help(verb, word ? stdout : stderr);
	return word ? UI_FLAGS_HELP : UI_FLAGS_ERROR;
}

int ui_verb_end(const struct ui_verb *verb, int status)
{
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	/* What failed before may have left nothing to write now. */
	fprintf(stderr, "%s: standard output: %s\n", verb->name,
		errno ? strerror(errno) : "not all could be written");
	return status ? status : UI_FLAGS_ERROR;
}

enum ui_flags_result ui_verb_parse(const struct ui_verb *verb, void *out, int argc, char **argv,
				   const char **operand, size_t max, size_t *n)
{
	const struct ui_flag_table table = {verb->name, verb->flags, verb->n_flags};
	enum ui_flags_result rc = ui_flags_parse(&table, out, argc, argv, operand, max, n);

	if (rc == UI_FLAGS_HELP)
		print_help(verb, stdout);
	return rc;
}
