/* SPDX-License-Identifier: BSD-2-Clause */
/* completion.h - scripts with which shells complete the command's verbs, flags and values. */
#ifndef SOFTMRC_UI_COMPLETION_H
#define SOFTMRC_UI_COMPLETION_H

#include "ui/text_buffer.h"
#include "ui/verb.h"

/* Each appends the script for one shell; `root` is the command. */
void ui_completion_bash(const struct ui_verb *root, struct ui_text *out);
void ui_completion_zsh(const struct ui_verb *root, struct ui_text *out);

/* What a shell knows itself about values of a name. */
struct ui_completion_known {
	const char *of;	     /* "FILE" */
	const char *compgen; /* bash: flags of compgen */
	const char *zsh;     /* the function that completes it */
};

/* ui_completion_known returns what a shell knows about values of a name, NULL: nothing. */
const struct ui_completion_known *ui_completion_known(const char *of, size_t len);

/* ui_completion_words appends the words that a verb's values of a name may be, with blanks
 * between. */
void ui_completion_words(const struct ui_verb *verb, const char *of, size_t len,
			 struct ui_text *out);

#endif
