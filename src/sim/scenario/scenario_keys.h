/* SPDX-License-Identifier: BSD-2-Clause */
/* scenario_keys.h - the tables of a scenario file and their keys. */
#ifndef SOFTMRC_SIM_SCENARIO_SCENARIO_KEYS_H
#define SOFTMRC_SIM_SCENARIO_SCENARIO_KEYS_H

#include "sim/scenario/key_table.h"

#define MS_TABLE_KEYS_MAX 40u

struct ms_table {
	const char *name; /* "": before the first [table] */
	const char *about;
	const struct ms_key *keys;
	size_t n_keys;
	size_t offset; /* in struct ms_scenario */
	/* [[tables]] only: */
	size_t stride;	     /* bytes of an element */
	size_t count_offset; /* of the uint32_t that counts elements */
	size_t line_offset;  /* in an element, of the uint32_t for its line */
	uint32_t max;	     /* elements; 0: a [table] */
	/* Read first: other tables' defaults follow from it. */
	bool first;
};

/* ms_scenario_tables returns all tables, *n of them; constant. */
const struct ms_table *ms_scenario_tables(size_t *n);

/* The words of some keys; each ends with NULL. */
extern const char *const ms_load_names[];
extern const char *const ms_class_names[];
extern const char *const ms_rate_of_names[];
extern const char *const ms_rate_effect_names[];

#endif
