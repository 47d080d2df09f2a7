/* SPDX-License-Identifier: BSD-2-Clause */
/* options.h - the command line of `mrc perf`. */
#ifndef SOFTMRC_CLI_PERF_OPTIONS_H
#define SOFTMRC_CLI_PERF_OPTIONS_H

#include "cli/flags.h"
#include "cli/perf/plan.h"

struct perf_options {
	struct perf_plan plan;
	const char *host; /* NULL: the server */
	uint32_t port;
	bool once, json, plain;
};

enum cli_flags_result perf_options_parse(struct perf_options *o, int argc, char **argv);

#endif
