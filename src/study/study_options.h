/* SPDX-License-Identifier: BSD-2-Clause */
/* study_options.h - the command line of `mrc sim run`. */
#ifndef SOFTMRC_STUDY_STUDY_OPTIONS_H
#define SOFTMRC_STUDY_STUDY_OPTIONS_H

#include "ui/verb.h"

#include <stdbool.h>

struct sim_options {
	const char *name;
	struct ui_flag_texts set;
	const char *json; /* NULL: no; "": to stdout */
	const char *flows, *series, *evs, *capture;
	uint64_t seed, end_ns, memory; /* 0: not given */
	uint32_t threads;
	bool expect, quiet, check;
};

/* sim_run_main is what runs the verb. */
int sim_run_main(int argc, char **argv);

/* sim_options_parse reads a command line; help and errors are printed. */
enum ui_flags_result sim_options_parse(struct sim_options *o, int argc, char **argv);

#endif
