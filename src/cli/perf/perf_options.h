/* SPDX-License-Identifier: BSD-2-Clause */
/* perf_options.h - the command line of `mrc perf`. */
#ifndef SOFTMRC_CLI_PERF_PERF_OPTIONS_H
#define SOFTMRC_CLI_PERF_PERF_OPTIONS_H

#include "cli/perf/perf_plan.h"
#include "ui/verb.h"

struct perf_options {
	struct perf_plan plan;
	const char *host; /* NULL: the server */
	uint64_t size;	  /* of all messages; 0: those of the plan */
	uint32_t port;
	bool server, once, no_latency, no_bandwidth, json, plain;
};

/* perf_main is what runs `mrc perf`. */
int perf_main(int argc, char **argv);

/* perf_options_parse reads a command line; help and errors are printed. */
enum ui_flags_result perf_options_parse(struct perf_options *o, int argc, char **argv);

#endif
