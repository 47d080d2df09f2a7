/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * latency_histogram.h - times in buckets that grow with them: 32 to each power of two, so that a
 * percentile is right within 3 %; no memory but its own.
 */
#ifndef SOFTMRC_CLI_PERF_LATENCY_HISTOGRAM_H
#define SOFTMRC_CLI_PERF_LATENCY_HISTOGRAM_H

#include <stdint.h>

#define PERF_HISTOGRAM_SUB 32u
#define PERF_HISTOGRAM_BUCKETS (60u * PERF_HISTOGRAM_SUB)

struct perf_histogram {
	uint64_t count, max;
	uint64_t bucket[PERF_HISTOGRAM_BUCKETS];
};

void perf_histogram_add(struct perf_histogram *h, uint64_t ns);
/* perf_histogram_percentile returns a bound that `percent` of the times are not above; 0: empty. */
uint64_t perf_histogram_percentile(const struct perf_histogram *h, double percent);

#endif
