/* SPDX-License-Identifier: BSD-2-Clause */
/* plan_options.h - what `mrc plan` was asked for. */
#ifndef SOFTMRC_CLI_PLAN_PLAN_OPTIONS_H
#define SOFTMRC_CLI_PLAN_PLAN_OPTIONS_H

#include "cli/plan/plan_emit.h"
#include "ui/verb.h"

#include <stdbool.h>

struct plan_options {
	const char *topology; /* a preset or a file; NULL with show_rates alone */
	const char *against;  /* likewise, or "none" */
	const char *rates;    /* file, or NULL */
	const char *format;   /* of --emit, or NULL */
	const char *trim;     /* symmetric, asymmetric, or NULL */
	bool json, show_rates, plain_routes;
	struct plan_emit emit; /* its format is NULL: no files are wanted */
};

extern const struct ui_verb plan_diff_verb;

/* plan_main is what runs `mrc plan`. */
int plan_main(int argc, char **argv);

/* plan_options_parse reads a command line; help and errors are printed. */
enum ui_flags_result plan_options_parse(struct plan_options *o, int argc, char **argv);

#endif
