/* SPDX-License-Identifier: BSD-2-Clause */
/* perf_report.h - what `mrc perf` found, as lines for eyes and as JSON. */
#ifndef SOFTMRC_CLI_PERF_PERF_REPORT_H
#define SOFTMRC_CLI_PERF_PERF_REPORT_H

#include "cli/perf/latency_histogram.h"
#include "cli/perf/measure_bandwidth.h"
#include "cli/perf/net_health.h"
#include "ui/text_buffer.h"

/* All about one size. */
struct perf_row {
	uint64_t bytes;
	struct perf_figure out, in;
	uint64_t p50_ns, p99_ns, max_ns;
	uint64_t rounds; /* of the latency; 0: the times are from post to completion */
	struct perf_health health;
};

/* perf_row_times takes the percentiles of a histogram. */
void perf_row_times(struct perf_row *row, const struct perf_histogram *h);

/* perf_report_head writes what the columns are; perf_report_row one line. */
void perf_report_head(const struct perf_plan *plan, struct ui_text *out);
void perf_report_row(const struct perf_plan *plan, const struct perf_row *row, struct ui_text *out);
/* perf_report_tick writes a short line about a measurement that goes on. */
void perf_report_tick(uint64_t bytes, const struct perf_figure *out, uint64_t duration_ns,
		      struct ui_text *text);
/* perf_report_tail writes the share of each plane, the EVs and the losses of the whole run. */
void perf_report_tail(const struct perf_health *all, struct ui_text *out);

/* perf_report_json returns a new object. */
json_t *perf_report_json(const struct perf_plan *plan, const char *peer, const struct perf_row *row,
			 size_t rows, const struct perf_health *all);

#endif
