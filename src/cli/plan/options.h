/* SPDX-License-Identifier: BSD-2-Clause */
/* options.h - what `mrc plan` was asked for. */
#ifndef SOFTMRC_CLI_PLAN_OPTIONS_H
#define SOFTMRC_CLI_PLAN_OPTIONS_H

#include "cli/flags.h"
#include "cli/plan/emit.h"

#include <stdbool.h>

struct plan_options {
	const char *topology; /* a preset or a file; NULL with show_rates alone */
	const char *against;  /* likewise, or "none" */
	const char *rates;    /* file, or NULL */
	bool json, show_rates;
	struct plan_emit emit; /* its format is NULL: no files are wanted */
};

/* plan_options_parse reads a command line; help and errors are printed. */
enum cli_flags_result plan_options_parse(struct plan_options *o, int argc, char **argv);

#endif
