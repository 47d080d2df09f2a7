/* SPDX-License-Identifier: BSD-2-Clause */
/* load_result.h - results by name: read from a file, or made by running a scenario. */
#ifndef SOFTMRC_STUDY_LOAD_RESULT_H
#define SOFTMRC_STUDY_LOAD_RESULT_H

#include <jansson.h>
#include <stdbool.h>

/*
 * sim_load takes a result from a file whose name ends in .json, else runs the scenario of that
 * name. NULL: said on stderr why, in `who`'s name. *status is the exit status: what a run that was
 * made ended with, or a usage error.
 */
json_t *sim_load(const char *who, const char *name, bool quiet, int *status);

#endif
