/* SPDX-License-Identifier: BSD-2-Clause */
/* The help of a verb: see verb.h. */
#include "ui/verb.h"

#include <string.h>

/* Lines end before this column. Lists have their second column here at the latest. */
#define WIDTH 80u
#define SECOND_MAX 24u

/* Appends words of a text, in lines that begin at column `indent`; the first is there already. */
static void fill(struct ui_text *out, const char *text, size_t indent)
{
	size_t column = indent;

	while (*text) {
		size_t len = strcspn(text, " ");

		if (column > indent && column + 1 + len > WIDTH) {
			ui_text_add(out, "\n");
			ui_text_repeat(out, " ", indent);
			column = indent;
		} else if (column > indent) {
			ui_text_add(out, " ");
			column++;
		}
		ui_text_add(out, "%.*s", (int)len, text);
		column += len;
		text += len + strspn(text + len, " ");
	}
	ui_text_add(out, "\n");
}

/* A line of a list of two columns; a long word has the text below it. */
static void list_line(struct ui_text *out, const char *word, const char *text, size_t second)
{
	ui_text_add(out, "  %s", word);
	if (!*text) {
		ui_text_add(out, "\n");
		return;
	}
	if (strlen(word) + 4 > second) {
		ui_text_add(out, "\n");
		ui_text_repeat(out, " ", second);
	} else {
		ui_text_repeat(out, " ", second - 2 - strlen(word));
	}
	fill(out, text, second);
}

static void lines(struct ui_text *out, const char *text, const char *before)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		ui_text_add(out, "%s%.*s\n", before, (int)len, text);
		text += len + (text[len] == '\n');
	}
}

/* Appends a flag and its value: "--seed N", "--json[=FILE]". */
static void add_flag(const struct ui_flag *flag, struct ui_text *out)
{
	if (flag->kind == UI_FLAG_MAYBE)
		ui_text_add(out, "%s[=%s]", flag->name, flag->value);
	else
		ui_text_add(out, "%s%s%s", flag->name, flag->value ? " " : "",
			    flag->value ? flag->value : "");
}

static size_t second_column(size_t longest)
{
	return longest + 4 < SECOND_MAX ? longest + 4 : SECOND_MAX;
}

static void add_flags(struct ui_text *out, const struct ui_verb *verb)
{
	struct ui_text left = {0};
	size_t longest = strlen("--help");

	for (size_t i = 0; i < verb->n_flags; i++) {
		ui_text_clear(&left);
		add_flag(&verb->flags[i], &left);
		if (left.len > longest)
			longest = left.len;
	}
	for (size_t i = 0; i < verb->n_flags; i++) {
		ui_text_clear(&left);
		add_flag(&verb->flags[i], &left);
		list_line(out, left.data, verb->flags[i].help, second_column(longest));
	}
	list_line(out, "--help", "this text", second_column(longest));
	ui_text_fini(&left);
}

static void add_choices(struct ui_text *out, const struct ui_choices *choices)
{
	struct ui_text left = {0};
	struct ui_choice c = {0};
	size_t longest = 0;

	for (size_t i = 0; choices->at(i, &c); i++) {
		size_t len = strlen(c.word) + (c.value && *c.value ? 1 + strlen(c.value) : 0);

		longest = len > longest ? len : longest;
	}
	ui_text_add(out, "\n");
	fill(out, choices->head, 0);
	for (size_t i = 0; choices->at(i, &c); i++) {
		ui_text_clear(&left);
		ui_text_add(&left, "%s", c.word);
		if (c.value && *c.value)
			ui_text_add(&left, " %s", c.value);
		list_line(out, left.data, c.about ? c.about : "", second_column(longest));
	}
	ui_text_fini(&left);
}

static void add_verbs(struct ui_text *out, const struct ui_verb *verb)
{
	size_t longest = 0;

	for (size_t i = 0; verb->verbs[i]; i++)
		if (strlen(ui_verb_word(verb->verbs[i])) > longest)
			longest = strlen(ui_verb_word(verb->verbs[i]));
	for (size_t i = 0; verb->verbs[i]; i++)
		list_line(out, ui_verb_word(verb->verbs[i]), verb->verbs[i]->summary,
			  second_column(longest));
	ui_text_add(out, "\n  %s VERB --help   the flags of a verb\n", verb->name);
}

static void add_usage(struct ui_text *out, const struct ui_verb *verb)
{
	const char *form = verb->usage, *before = "usage: ";

	do {
		size_t len = strcspn(form, "\n");

		ui_text_add(out, "%s%s%s%.*s\n", before, verb->name, len ? " " : "", (int)len,
			    form);
		before = "       ";
		form += len + (form[len] == '\n');
	} while (*form);
}

void ui_help_write(const struct ui_verb *verb, struct ui_text *out)
{
	add_usage(out, verb);
	fill(out, verb->about, 0);
	ui_text_add(out, "\n");
	if (verb->verbs) {
		add_verbs(out, verb);
		if (verb->run)
			ui_text_add(out, "\n");
	}
	if (verb->run || verb->n_flags)
		add_flags(out, verb);
	for (size_t i = 0; verb->choices && verb->choices[i]; i++)
		if (verb->choices[i]->head)
			add_choices(out, verb->choices[i]);
	if (verb->notes) {
		ui_text_add(out, "\n");
		fill(out, verb->notes, 0);
	}
	if (verb->examples) {
		ui_text_add(out, "\nexamples:\n");
		lines(out, verb->examples, "  ");
	}
	if (verb->exits) {
		ui_text_add(out, "\nexit status: ");
		fill(out, verb->exits, strlen("exit status: "));
	}
}
