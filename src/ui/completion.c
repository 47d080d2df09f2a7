/* SPDX-License-Identifier: BSD-2-Clause */
/* What completion for all shells needs: see verb.h. */
#include "ui/verb.h"

#include <string.h>

/* What a shell knows itself about values of a name. */
struct known {
	const char *of;	     /* "FILE" */
	const char *compgen; /* bash: flags of compgen */
	const char *zsh;     /* the function that completes it */
};

static const struct known *find_known(const char *of, size_t len)
{
	static const struct known known[] = {
		{"FILE", "-f", "_files"},
		{"PATH", "-f", "_files"},
		{"DIR", "-d", "_files -/"},
		{"HOST", "-A hostname", "_hosts"},
		{"TOPOLOGY", "-f", "_files"},
		{"SCENARIO", "-f", "_files"},
		{"FIGURE", "-f", "_files"},
		{"COMMAND", "-c", "_command_names"},
		{"PROGRAM", "-c", "_command_names"},
	};

	for (size_t i = 0; i < UI_COUNT(known); i++)
		if (strlen(known[i].of) == len && memcmp(known[i].of, of, len) == 0)
			return &known[i];
	return NULL;
}

/* Whether a word is among words with blanks between. */
static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	while (words && *words) {
		size_t n = strcspn(words, " ");

		if (n == len && memcmp(words, word, len) == 0)
			return true;
		words += n + strspn(words + n, " ");
	}
	return false;
}

/* Appends the words that a verb's values of a name may be, with blanks between. */
static void add_words(const struct ui_verb *verb, const char *of, size_t len, struct ui_text *out)
{
	for (size_t i = 0; verb->choices && verb->choices[i]; i++) {
		const struct ui_choices *choices = verb->choices[i];
		struct ui_choice c;

		if (strlen(choices->of) != len || memcmp(choices->of, of, len) != 0)
			continue;
		for (size_t k = 0; choices->at && choices->at(k, &c); k++)
			if (!has_word(out->data, c.word))
				ui_text_add(out, "%s%s", out->len ? " " : "", c.word);
	}
}

/* The command that prints words for values of a name, NULL: none. */
static const char *find_command(const struct ui_verb *verb, const char *of, size_t len)
{
	for (size_t i = 0; verb->choices && verb->choices[i]; i++)
		if (strlen(verb->choices[i]->of) == len &&
		    memcmp(verb->choices[i]->of, of, len) == 0 && verb->choices[i]->command)
			return verb->choices[i]->command;
	return NULL;
}

/*
 * bash: the script finds the verb among the words before the cursor; a case for each verb says what
 * may be there: flags, words, and what bash knows itself.
 */

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
	"\tif [[ ${COMPREPLY[0]} == *= ]]; then\n"
	"\t\tcompopt -o nospace 2>/dev/null\n"
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
static void add_bash_values(const struct ui_verb *verb, const char *of, size_t len,
			    struct ui_text *out)
{
	const struct known *known = find_known(of, len);
	const char *command = find_command(verb, of, len);
	struct ui_text words = {0};

	add_words(verb, of, len, &words);
	if (words.len)
		ui_text_add(out, " words+=\" %s\"", words.data);
	if (command)
		ui_text_add(out, " words+=\" $(%s 2>/dev/null)\"", command);
	if (known)
		ui_text_add(out, " known=\"%s\"", known->compgen);
	ui_text_fini(&words);
}

/* What may follow a flag that takes a value. */
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
		add_bash_values(verb, f->value, strlen(f->value), out);
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

		add_bash_values(verb, of, len, out);
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

/*
 * zsh: a function for each verb, named _mrc_sim_run. It hands over to that of a verb below it, or
 * gives _arguments its flags; values and operands are states, which the `case` behind it completes.
 */

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

	add_words(verb, of, strlen(of), &words);
	is = words.len || find_known(of, strlen(of)) || find_command(verb, of, strlen(of));
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
static void add_zsh_values(const struct ui_verb *verb, const char *of, size_t len,
			   struct ui_text *out)
{
	const struct known *known = find_known(of, len);
	const char *command = find_command(verb, of, len);
	struct ui_text words = {0};

	add_words(verb, of, len, &words);
	if (words.len)
		ui_text_add(out, "\t\tcompadd %s-- %s\n",
			    words.data[words.len - 1] == '=' ? "-S '' " : "", words.data);
	if (command)
		ui_text_add(out, "\t\tcompadd -- ${(f)\"$(%s 2>/dev/null)\"}\n", command);
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
		add_zsh_values(verb, of, strlen(of), out);
		ui_text_add(out, "\t\t;;\n");
	}
	ui_text_add(out, "\toperand)\n");
	if (verb->verbs)
		ui_text_add(out, "\t\t_describe verb verbs\n");
	for (const char *of = verb->operands; of && *of;) {
		size_t len = strcspn(of, " ");

		add_zsh_values(verb, of, len, out);
		of += len + strspn(of + len, " ");
	}
	ui_text_add(out, "\t\t;;\n");
}

/* The list of the verbs below, and the calls of their functions. */
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
