/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completion in bash, see verb.h. The script finds the verb among the words before the
 * cursor; a case for each verb says what may stand there: flags, words, and what bash knows itself.
 */
#include "ui/verb.h"

#include <string.h>

static const char head[] =
	"# Completion of mrc in bash: made by `mrc completion bash`.\n"
	"_mrc()\n"
	"{\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	"\tlocal verb=mrc flags= words= known= i\n"
	"\n"
	"\tCOMPREPLY=()\n"
	"\t# bash makes three words of --flag=value.\n"
	"\tif [[ $cur == = ]]; then\n"
	"\t\tcur= prev+==\n"
	"\telif [[ $prev == = ]]; then\n"
	"\t\tprev=${COMP_WORDS[COMP_CWORD-2]}=\n"
	"\tfi\n"
	"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	"\t\tif [[ ${COMP_WORDS[i]} == -- ]]; then\n"
	"\t\t\t# A command follows: its name, then its own arguments.\n"
	"\t\t\tif ((i + 1 == COMP_CWORD)); then known=-c; else known=-f; fi\n"
	"\t\t\tverb=\n"
	"\t\t\tbreak\n"
	"\t\tfi\n"
	"\t\tcase \"$verb ${COMP_WORDS[i]}\" in\n"
	"\t\t";

static const char tail[] =
	"\tesac\n"
	"\tif [[ $cur == -* ]]; then\n"
	"\t\twords=$flags known=\n"
	"\tfi\n"
	"\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
	"\tif [[ $known ]]; then\n"
	"\t\tmapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen $known -- \"$cur\")\n"
	"\tfi\n"
	"\tif [[ $known == -[fd] ]]; then\n"
	"\t\tcompopt -o filenames 2>/dev/null\n"
	"\tfi\n"
	"\treturn 0\n"
	"}\n"
	"complete -F _mrc mrc\n";

/* The names of all verbs below this one, as patterns of a case. */
static void add_names(const struct ui_verb *verb, struct ui_text *out)
{
	for (size_t i = 0; verb->verbs && verb->verbs[i]; i++) {
		ui_text_add(out, "%s\"%s\"", out->data[out->len - 1] == '"' ? " | " : "",
			    verb->verbs[i]->name);
		add_names(verb->verbs[i], out);
	}
}

/* Assignments to `words` and `known`, of values of one name. */
static void add_values(const struct ui_verb *verb, const char *of, size_t len, struct ui_text *out)
{
	const struct ui_completion_known *known = ui_completion_known(of, len);
	struct ui_text words = {0};

	ui_completion_words(verb, of, len, &words);
	if (words.len)
		ui_text_add(out, " words+=\" %s\"", words.data);
	if (known)
		ui_text_add(out, " known=\"%s\"", known->compgen);
	ui_text_fini(&words);
}

/* What may stand behind a flag that takes a value. */
static void add_flag_values(const struct ui_verb *verb, struct ui_text *out)
{
	bool is_first = true;

	for (size_t i = 0; i < verb->n_flags; i++) {
		const struct ui_flag *f = &verb->flags[i];

		if (f->kind == UI_FLAG_SWITCH)
			continue;
		if (is_first)
			ui_text_add(out, "\t\tcase $prev in\n");
		is_first = false;
		if (f->kind == UI_FLAG_MAYBE)
			ui_text_add(out, "\t\t%s=) flags= words= known=", f->name);
		else
			ui_text_add(out, "\t\t%s | %s=) flags= words= known=", f->name, f->name);
		add_values(verb, f->value, strlen(f->value), out);
		ui_text_add(out, " ;;\n");
	}
	if (!is_first)
		ui_text_add(out, "\t\tesac\n");
}

static void add_operands(const struct ui_verb *verb, struct ui_text *out)
{
	const char *of = verb->operands;

	while (of && *of) {
		size_t len = strcspn(of, " ");

		add_values(verb, of, len, out);
		of += len + strspn(of + len, " ");
	}
}

static void add_cases(const struct ui_verb *verb, struct ui_text *out)
{
	ui_text_add(out, "\t\"%s\")\n\t\tflags=\"", verb->name);
	for (size_t i = 0; i < verb->n_flags; i++)
		ui_text_add(out, "%s ", verb->flags[i].name);
	ui_text_add(out, "--help\" words=\"");
	for (size_t i = 0; verb->verbs && verb->verbs[i]; i++)
		ui_text_add(out, "%s%s", i ? " " : "", ui_verb_word(verb->verbs[i]));
	ui_text_add(out, "\"");
	add_operands(verb, out);
	ui_text_add(out, "\n");
	add_flag_values(verb, out);
	ui_text_add(out, "\t\t;;\n");
	for (size_t i = 0; verb->verbs && verb->verbs[i]; i++)
		add_cases(verb->verbs[i], out);
}

void ui_completion_bash(const struct ui_verb *root, struct ui_text *out)
{
	ui_text_add(out, "%s", head);
	add_names(root, out);
	ui_text_add(out, ") verb+=\" ${COMP_WORDS[i]}\" ;;\n\t\tesac\n\tdone\n\tcase $verb in\n");
	add_cases(root, out);
	ui_text_add(out, "%s", tail);
}
