/* SPDX-License-Identifier: BSD-2-Clause */
/* compare_table.h - results side by side, as tables for eyes and as JSON for programs. */
#ifndef SOFTMRC_STUDY_COMPARE_TABLE_H
#define SOFTMRC_STUDY_COMPARE_TABLE_H

#include "ui/text_buffer.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define SIM_COMPARE_MAX 6u

struct sim_compared {
	const char *name[SIM_COMPARE_MAX];
	json_t *result[SIM_COMPARE_MAX];
	size_t n; /* at least 2 */
};

/*
 * sim_compare_text appends what differs in what was run, then times, packets, and each part of the
 * workload, with each result's ratio to the first; with `core` the engines' counters too.
 */
void sim_compare_text(const struct sim_compared *c, bool core, struct ui_text *out);
/* sim_compare_json returns of each figure its values and, of two results, a, b and ratio. */
json_t *sim_compare_json(const struct sim_compared *c);

#endif
