/* SPDX-License-Identifier: BSD-2-Clause */
/* stat.h - what `mrc stat` prints: text and JSON. What it gives to Prometheus: src/exporter. */
#ifndef SOFTMRC_CLI_STAT_STAT_H
#define SOFTMRC_CLI_STAT_STAT_H

#include "stats/metrics.h"
#include "stats/stats_reader.h"
#include "ui/text.h"

#include <jansson.h>
#include <stdbool.h>

/* ---- for eyes: stat_text.c ---- */

struct stat_view {
	bool zeros;  /* counters that are 0, too */
	bool growth; /* of counters: since the reading before */
};

/* stat_text_render appends processes, planes, QPs and counters with unit and meaning. */
void stat_text_render(const struct stat_view *view, const struct stats_reader *stats,
		      struct ui_text *out);

/* stat_catalogue_render appends the catalogue of metrics as Markdown: docs/metrics.md. */
void stat_catalogue_render(struct ui_text *out);

/* ---- for programs: stat_json.c ---- */

/* stat_json_make returns a new object with all processes of a reading. */
json_t *stat_json_make(const struct stats_reader *stats);

#endif
