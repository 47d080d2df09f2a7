/* SPDX-License-Identifier: BSD-2-Clause */
/* scenario_source.h - scenarios by name: a file, or one of those that are built in. */
#ifndef SOFTMRC_STUDY_SCENARIO_SOURCE_H
#define SOFTMRC_STUDY_SCENARIO_SOURCE_H

#include "sim/scenario/scenario.h"

/*
 * sim_source_read reads the scenario of a name; with a slash or a dot in it the name is a file.
 * NULL: *error says what is wrong. ms_scenario_destroy frees it.
 */
struct ms_scenario *sim_source_read(const char *name, const struct ms_changes *changes,
				    struct ms_file_error *error);

/* sim_source_read_more is the same of the scenario's text with some more behind it. */
struct ms_scenario *sim_source_read_more(const char *name, const char *more,
					 const struct ms_changes *changes,
					 struct ms_file_error *error);

#endif
