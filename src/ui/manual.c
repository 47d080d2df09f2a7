/* SPDX-License-Identifier: BSD-2-Clause */
/* The manual page, made from the tables of the verbs: see verb.h. */
#include "ui/verb.h"

#include <string.h>

static const char description[] =
	"One command with a verb for each task.\n"
	".B mrc\n"
	".I VERB\n"
	".B \\-\\-help\n"
	"prints what stands here of a verb. A value follows its flag after a blank or an equals\n"
	"sign. Sizes may end with k, M or G (powers of 1024), times with ns, us, ms, s or m, "
	"rates\n"
	"with k, M or G (powers of 1000). Defaults are in parentheses.\n";

static const char end[] =
	".SH EXIT STATUS\n"
	"Where a verb says nothing else: 0 good, 1 its work failed, 2 wrong usage.\n"
	".SH ENVIRONMENT\n"
	"The device is configured as for any program, see\n"
	".BR softmrc (7).\n"
	".B NO_COLOR\n"
	"keeps colours off the screen.\n"
	".SH SEE ALSO\n"
	".BR softmrc (7)\n";

/* Appends text so that roff shows it as it is; what is between backquotes is bold. */
static void add_text(struct ui_text *out, const char *text, size_t len)
{
	bool is_bold = false;

	if (len && (*text == '.' || *text == '\''))
		ui_text_add(out, "\\&");
	for (size_t i = 0; i < len; i++) {
		switch (text[i]) {
		case '\\':
			ui_text_add(out, "\\e");
			break;
		case '-':
			ui_text_add(out, "\\-");
			break;
		case '\'':
			ui_text_add(out, "\\(aq");
			break;
		case '^':
			ui_text_add(out, "\\(ha");
			break;
		case '~':
			ui_text_add(out, "\\(ti");
			break;
		case '`':
			is_bold = !is_bold;
			ui_text_add(out, is_bold ? "\\fB" : "\\fP");
			break;
		default:
			ui_text_add(out, "%c", text[i]);
		}
	}
}

static void add_line(struct ui_text *out, const char *before, const char *text, const char *after)
{
	ui_text_add(out, "%s", before);
	add_text(out, text, strlen(text));
	ui_text_add(out, "%s\n", after);
}

/* Lines that stay as they are. */
static void add_lines(struct ui_text *out, const char *text)
{
	ui_text_add(out, ".PP\n.RS 4\n.nf\n");
	while (*text) {
		size_t len = strcspn(text, "\n");

		add_text(out, text, len);
		ui_text_add(out, "\n");
		text += len + (text[len] == '\n');
	}
	ui_text_add(out, ".fi\n.RE\n");
}

static void add_usage(struct ui_text *out, const struct ui_verb *verb)
{
	const char *form = verb->usage;

	if (verb->run || !verb->verbs)
		do {
			size_t len = strcspn(form, "\n");

			ui_text_add(out, "\\fB%s\\fP%s", verb->name, len ? " " : "");
			add_text(out, form, len);
			ui_text_add(out, "\n");
			form += len + (form[len] == '\n');
		} while (*form);
	for (size_t i = 0; verb->verbs && verb->verbs[i]; i++)
		add_usage(out, verb->verbs[i]);
}

static void add_flags(struct ui_text *out, const struct ui_verb *verb)
{
	for (size_t i = 0; i < verb->n_flags; i++) {
		const struct ui_flag *f = &verb->flags[i];

		add_line(out, ".TP\n\\fB", f->name, "\\fP");
		if (f->value) {
			bool maybe = f->kind == UI_FLAG_MAYBE;

			out->len--; /* the value is on the same line */
			out->data[out->len] = '\0';
			ui_text_add(out, "%s\\fI", maybe ? "[=" : " ");
			add_line(out, "", f->value, maybe ? "\\fP]" : "\\fP");
		}
		add_line(out, "", f->help, "");
	}
}

static void add_choices(struct ui_text *out, const struct ui_choices *choices)
{
	struct ui_choice c;

	if (!choices->head)
		return;
	add_line(out, ".PP\n", choices->head, "");
	for (size_t i = 0; choices->at(i, &c); i++) {
		ui_text_add(out, ".TP\n.B %s", c.word);
		if (c.value && *c.value)
			ui_text_add(out, " \\fI%s\\fP", c.value);
		ui_text_add(out, "\n");
		if (c.about)
			add_line(out, "", c.about, "");
		else
			ui_text_add(out, "\\&\n");
	}
}

static void add_verb(struct ui_text *out, const struct ui_verb *verb)
{
	ui_text_add(out, ".SS %s\n", verb->name);
	add_line(out, "", verb->about, "");
	add_flags(out, verb);
	for (size_t i = 0; verb->choices && verb->choices[i]; i++)
		add_choices(out, verb->choices[i]);
	if (verb->notes)
		add_line(out, ".PP\n", verb->notes, "");
	if (verb->examples)
		add_lines(out, verb->examples);
	if (verb->exits)
		add_line(out, ".PP\nExit status: ", verb->exits, ".");
	for (size_t i = 0; verb->verbs && verb->verbs[i]; i++)
		add_verb(out, verb->verbs[i]);
}

void ui_manual_write(const struct ui_verb *root, struct ui_text *out)
{
	ui_text_add(out, ".\\\" Made by `mrc man`.\n.TH mrc 1 \"" SOFTMRC_RELEASE_DATE
			 "\" \"softmrc " SOFTMRC_VERSION "\"\n");
	add_line(out, ".SH NAME\nmrc \\- ", root->summary, "");
	ui_text_add(out, ".SH SYNOPSIS\n.nf\n");
	add_usage(out, root);
	ui_text_add(out, "\\fBmrc \\-\\-version\\fP\n.fi\n.SH DESCRIPTION\n%s.SH VERBS\n",
		    description);
	for (size_t i = 0; root->verbs[i]; i++)
		add_verb(out, root->verbs[i]);
	ui_text_add(out, "%s", end);
}
