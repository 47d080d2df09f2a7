/* SPDX-License-Identifier: BSD-2-Clause */
/* help.h - what `mrc VERB --help` prints. */
#ifndef SOFTMRC_CLI_HELP_H
#define SOFTMRC_CLI_HELP_H

#include "cli/text.h"
#include "cli/verb.h"

/* cli_help_write appends usage, flags, choices, examples and exit statuses of a verb. */
void cli_help_write(const struct cli_verb *verb, struct cli_text *out);

/* cli_help_flag appends a flag and its value: "--seed N", "--json[=FILE]". */
void cli_help_flag(const struct cli_flag *flag, struct cli_text *out);

#endif
