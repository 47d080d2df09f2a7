/* SPDX-License-Identifier: BSD-2-Clause */
/* stat.h - what `mrc stat` prints: text and JSON. What it gives to Prometheus: src/exporter. */
#ifndef SOFTMRC_CLI_STAT_STAT_H
#define SOFTMRC_CLI_STAT_STAT_H

#include "cli/fabric_at_hand.h"
#include "stats/metrics.h"
#include "stats/stats_reader.h"
#include "ui/text.h"

#include <jansson.h>
#include <stdbool.h>

/* ---- for eyes: stat_text.c ---- */

struct stat_view {
	bool zeros;			 /* counters that are 0, too */
	bool growth;			 /* of counters: since the reading before */
	const struct cli_fabric *fabric; /* by which EVs that are out of use get names, or NULL */
};

/* stat_text_render appends processes, planes, QPs and counters with unit and meaning. */
void stat_text_render(const struct stat_view *view, const struct stats_reader *stats,
		      struct ui_text *out);

/* stat_catalogue_render appends the catalogue of metrics as Markdown: docs/metrics.md. */
void stat_catalogue_render(struct ui_text *out);

/* ---- for programs: stat_json.c ---- */

/* stat_json_make returns a new object with all processes of a reading. */
json_t *stat_json_make(const struct stats_reader *stats, const struct cli_fabric *fabric);

/* ---- EVs out of use: stat_evs.c ---- */

/* An EV that is bad or denied, and for how many of the QPs that a process shows. */
struct stat_ev {
	struct mrc_stats_ev ev;
	uint32_t qps;
	char cable[CLI_EV_NAME_BYTES]; /* for packets to other T0s; empty: not known */
};

#define STAT_EVS_MAX 64u

/* stat_evs_find lists them, without copies; how many, of which the first STAT_EVS_MAX are kept. */
size_t stat_evs_find(const struct mrc_stats_segment *s, const struct cli_fabric *fabric,
		     struct stat_ev out[STAT_EVS_MAX]);

#endif
