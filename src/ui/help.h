/* SPDX-License-Identifier: BSD-2-Clause */
/* help.h - what `mrc VERB --help` prints. */
#ifndef SOFTMRC_UI_HELP_H
#define SOFTMRC_UI_HELP_H

#include "ui/text_buffer.h"
#include "ui/verb.h"

/* ui_help_write appends usage, flags, choices, examples and exit statuses of a verb. */
void ui_help_write(const struct ui_verb *verb, struct ui_text *out);

/* ui_help_flag appends a flag and its value: "--seed N", "--json[=FILE]". */
void ui_help_flag(const struct ui_flag *flag, struct ui_text *out);

#endif
