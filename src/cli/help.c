/* SPDX-License-Identifier: BSD-2-Clause */
/* The help of a verb: see help.h. */
#include "cli/help.h"

#include <string.h>

/* Lines end before this column. Lists have their second column here at the latest. */
#define WIDTH 80u
#define SECOND_MAX 24u

/* Appends words of a text, in lines that begin at column `indent`; the first is there already. */
static void fill(struct cli_text *out, const char *text, size_t indent)
{
	size_t column = indent;

	while (*text) {
		size_t len = strcspn(text, " ");

		if (column > indent && column + 1 + len > WIDTH) {
			cli_text_add(out, "\n");
			cli_text_repeat(out, " ", indent);
			column = indent;
		} else if (column > indent) {
			cli_text_add(out, " ");
			column++;
		}
		cli_text_add(out, "%.*s", (int)len, text);
		column += len;
		text += len + strspn(text + len, " ");
	}
	cli_text_add(out, "\n");
}

/* A line of a list of two columns; a long word has the text below it. */
static void list_line(struct cli_text *out, const char *word, const char *text, size_t second)
{
	cli_text_add(out, "  %s", word);
	if (!*text) {
		cli_text_add(out, "\n");
		return;
	}
	if (strlen(word) + 4 > second) {
		cli_text_add(out, "\n");
		cli_text_repeat(out, " ", second);
	} else {
		cli_text_repeat(out, " ", second - 2 - strlen(word));
	}
	fill(out, text, second);
}

static void lines(struct cli_text *out, const char *text, const char *before)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		cli_text_add(out, "%s%.*s\n", before, (int)len, text);
		text += len + (text[len] == '\n');
	}
}

void cli_help_flag(const struct cli_flag *flag, struct cli_text *out)
{
	if (flag->kind == CLI_FLAG_MAYBE)
		cli_text_add(out, "%s[=%s]", flag->name, flag->value);
	else
		cli_text_add(out, "%s%s%s", flag->name, flag->value ? " " : "",
			     flag->value ? flag->value : "");
}

static size_t second_column(size_t longest)
{
	return longest + 4 < SECOND_MAX ? longest + 4 : SECOND_MAX;
}

static void add_flags(struct cli_text *out, const struct cli_verb *verb)
{
	struct cli_text left = {0};
	size_t longest = strlen("--help");

	for (size_t i = 0; i < verb->n_flags; i++) {
		cli_text_clear(&left);
		cli_help_flag(&verb->flags[i], &left);
		if (left.len > longest)
			longest = left.len;
	}
	for (size_t i = 0; i < verb->n_flags; i++) {
		cli_text_clear(&left);
		cli_help_flag(&verb->flags[i], &left);
		list_line(out, left.data, verb->flags[i].help, second_column(longest));
	}
	list_line(out, "--help", "this text", second_column(longest));
	cli_text_fini(&left);
}

static void add_choices(struct cli_text *out, const struct cli_choices *choices)
{
	struct cli_text left = {0};
	struct cli_choice c = {0};
	size_t longest = 0;

	for (size_t i = 0; choices->at(i, &c); i++) {
		size_t len = strlen(c.word) + (c.value && *c.value ? 1 + strlen(c.value) : 0);

		longest = len > longest ? len : longest;
	}
	cli_text_add(out, "\n");
	fill(out, choices->head, 0);
	for (size_t i = 0; choices->at(i, &c); i++) {
		cli_text_clear(&left);
		cli_text_add(&left, "%s", c.word);
		if (c.value && *c.value)
			cli_text_add(&left, " %s", c.value);
		list_line(out, left.data, c.about ? c.about : "", second_column(longest));
	}
	cli_text_fini(&left);
}

static void add_verbs(struct cli_text *out, const struct cli_verb *verb)
{
	size_t longest = 0;

	for (size_t i = 0; verb->verbs[i]; i++)
		if (strlen(cli_verb_word(verb->verbs[i])) > longest)
			longest = strlen(cli_verb_word(verb->verbs[i]));
	for (size_t i = 0; verb->verbs[i]; i++)
		list_line(out, cli_verb_word(verb->verbs[i]), verb->verbs[i]->summary,
			  second_column(longest));
	cli_text_add(out, "\n  %s VERB --help   the flags of a verb\n", verb->name);
}

static void add_usage(struct cli_text *out, const struct cli_verb *verb)
{
	const char *form = verb->usage, *before = "usage: ";

	do {
		size_t len = strcspn(form, "\n");

		cli_text_add(out, "%s%s%s%.*s\n", before, verb->name, len ? " " : "", (int)len,
			     form);
		before = "       ";
		form += len + (form[len] == '\n');
	} while (*form);
}

void cli_help_write(const struct cli_verb *verb, struct cli_text *out)
{
	add_usage(out, verb);
	fill(out, verb->about, 0);
	cli_text_add(out, "\n");
	if (verb->verbs) {
		add_verbs(out, verb);
		if (verb->run)
			cli_text_add(out, "\n");
	}
	if (verb->run || verb->n_flags)
		add_flags(out, verb);
	for (size_t i = 0; verb->choices && verb->choices[i]; i++)
		if (verb->choices[i]->head)
			add_choices(out, verb->choices[i]);
	if (verb->notes) {
		cli_text_add(out, "\n");
		fill(out, verb->notes, 0);
	}
	if (verb->examples) {
		cli_text_add(out, "\nexamples:\n");
		lines(out, verb->examples, "  ");
	}
	if (verb->exits) {
		cli_text_add(out, "\nexit status: ");
		fill(out, verb->exits, strlen("exit status: "));
	}
}
