/* SPDX-License-Identifier: BSD-2-Clause */
/* lab_tables.h - a lab in tables and as JSON: totals, or what happened between two readings. */
#ifndef SOFTMRC_CLI_LAB_LAB_TABLES_H
#define SOFTMRC_CLI_LAB_LAB_TABLES_H

#include "lab/lab.h"
#include "ui/text.h"

#include <jansson.h>

/* What all ports had counted at some time. */
struct show_reading {
	uint64_t ns;
	struct ml_counters *port; /* n_links, owned */
};

/* show_read fills a reading (one of zeros, or an earlier one). 0, or -1. */
int show_read(struct show_reading *r, struct ml_lab *lab, struct ml_error *e);
void show_fini(struct show_reading *r);

/* Each appends a table. before: an earlier reading, for figures a second; NULL: totals. */
void show_planes(const struct ml_lab *lab, const struct show_reading *now,
		 const struct show_reading *before, struct ui_text *out);
void show_switches(const struct ml_lab *lab, const struct show_reading *now,
		   const struct show_reading *before, struct ui_text *out);
void show_links(const struct ml_lab *lab, const struct show_reading *now,
		const struct show_reading *before, struct ui_text *out);
void show_faults(const struct ml_lab *lab, struct ui_text *out);

/* show_json is everything, with totals. The caller owns it. */
json_t *show_json(const struct ml_lab *lab, const struct show_reading *now);

#endif
