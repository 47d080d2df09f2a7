/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completion in zsh, see verb.h: a function for each verb, named _mrc_sim_run. It hands over
 * to that of a verb below it, or gives _arguments its flags; values and operands are states, which
 * the `case` behind it completes.
 */
#include "ui/verb.h"

#include <string.h>

/* Text between single quotes, in brackets or before a colon. */
static void add_quoted(struct ui_text *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			ui_text_add(out, "'\\''");
		else if (strchr("[]:\\", *text))
			ui_text_add(out, "\\%c", *text);
		else
			ui_text_add(out, "%c", *text);
	}
}

static void add_function_name(struct ui_text *out, const struct ui_verb *verb)
{
	ui_text_add(out, "_");
	for (const char *c = verb->name; *c; c++)
		ui_text_add(out, "%c", *c == ' ' ? '_' : *c);
}

/* Whether there is anything to offer for values of a name. */
static bool is_offered(const struct ui_verb *verb, const char *of)
{
	struct ui_text words = {0};
	bool is;

	ui_completion_words(verb, of, strlen(of), &words);
	is = words.len || ui_completion_known(of, strlen(of));
	ui_text_fini(&words);
	return is;
}

/* Whether an earlier flag of the verb takes values of the same name. */
static bool is_repeated(const struct ui_verb *verb, size_t flag)
{
	for (size_t i = 0; i < flag; i++)
		if (verb->flags[i].value &&
		    strcmp(verb->flags[i].value, verb->flags[flag].value) == 0)
			return true;
	return false;
}

static void add_flags(const struct ui_verb *verb, struct ui_text *out)
{
	for (size_t i = 0; i < verb->n_flags; i++) {
		const struct ui_flag *f = &verb->flags[i];
		bool maybe = f->kind == UI_FLAG_MAYBE;

		ui_text_add(out, " \\\n\t\t'%s%s%s[", f->kind == UI_FLAG_TEXTS ? "*" : "", f->name,
			    !f->value ? ""
			    : maybe   ? "=-"
				      : "=");
		add_quoted(out, f->help);
		ui_text_add(out, "]");
		if (f->value) {
			ui_text_add(out, "%s%s:%s%s", maybe ? "::" : ":", f->value,
				    is_offered(verb, f->value) ? "->" : " ",
				    is_offered(verb, f->value) ? f->value : "");
		}
		ui_text_add(out, "'");
	}
	ui_text_add(out, " \\\n\t\t'--help[this text]'");
}

/* Completes values of a name inside a function. */
static void add_values(const struct ui_verb *verb, const char *of, size_t len, struct ui_text *out)
{
	const struct ui_completion_known *known = ui_completion_known(of, len);
	struct ui_text words = {0};

	ui_completion_words(verb, of, len, &words);
	if (words.len)
		ui_text_add(out, "\t\tcompadd -- %s\n", words.data);
	if (known)
		ui_text_add(out, "\t\t%s\n", known->zsh);
	ui_text_fini(&words);
}

/* The states: values that add_action left open, and verbs and operands, offered at any place. */
static void add_states(const struct ui_verb *verb, struct ui_text *out)
{
	for (size_t i = 0; i < verb->n_flags; i++) {
		const char *of = verb->flags[i].value;

		if (!of || !is_offered(verb, of) || is_repeated(verb, i))
			continue;
		ui_text_add(out, "\t%s)\n", of);
		add_values(verb, of, strlen(of), out);
		ui_text_add(out, "\t\t;;\n");
	}
	ui_text_add(out, "\toperand)\n");
	if (verb->verbs)
		ui_text_add(out, "\t\t_describe verb verbs\n");
	for (const char *of = verb->operands; of && *of;) {
		size_t len = strcspn(of, " ");

		add_values(verb, of, len, out);
		of += len + strspn(of + len, " ");
	}
	ui_text_add(out, "\t\t;;\n");
}

/* The list of the verbs below, and the way to their functions. */
static void add_verbs(const struct ui_verb *verb, struct ui_text *out)
{
	ui_text_add(out, "\tlocal -a verbs=(");
	for (size_t i = 0; verb->verbs[i]; i++) {
		ui_text_add(out, "\n\t\t'%s:", ui_verb_word(verb->verbs[i]));
		add_quoted(out, verb->verbs[i]->summary);
		ui_text_add(out, "'");
	}
	ui_text_add(out, "\n\t)\n\tif ((CURRENT > 2)); then\n\t\tcase $words[2] in\n");
	for (size_t i = 0; verb->verbs[i]; i++) {
		ui_text_add(out, "\t\t%s) shift words; ((CURRENT--)); ",
			    ui_verb_word(verb->verbs[i]));
		add_function_name(out, verb->verbs[i]);
		ui_text_add(out, "; return ;;\n");
	}
	ui_text_add(out, "\t\tesac\n\tfi\n");
}

static void add_function(const struct ui_verb *verb, struct ui_text *out)
{
	for (size_t i = 0; verb->verbs && verb->verbs[i]; i++)
		add_function(verb->verbs[i], out);
	ui_text_add(out, "\n");
	add_function_name(out, verb);
	ui_text_add(out, "() {\n\tlocal context state state_descr line\n"
			 "\tlocal -A opt_args\n");
	if (verb->verbs)
		add_verbs(verb, out);
	ui_text_add(out, "\t_arguments -C");
	add_flags(verb, out);
	ui_text_add(out, " \\\n\t\t'*: :->operand' && return\n\tcase $state in\n");
	add_states(verb, out);
	ui_text_add(out, "\tesac\n}\n");
}

void ui_completion_zsh(const struct ui_verb *root, struct ui_text *out)
{
	ui_text_add(out, "#compdef mrc\n"
			 "# Completion of mrc in zsh: made by `mrc completion zsh`.\n");
	add_function(root, out);
	ui_text_add(out, "\n_mrc \"$@\"\n");
}
