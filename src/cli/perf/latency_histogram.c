/* SPDX-License-Identifier: BSD-2-Clause */
/* Times in buckets: see perf.h. */
#include "cli/perf/perf.h"

#define SUB_BITS 5u

/* Values below 64 have buckets of their own; above, the 5 bits behind the leading one count. */
static uint32_t bucket_of(uint64_t ns)
{
	uint32_t shift;

	if (ns < UINT64_C(2) * PERF_HISTOGRAM_SUB)
		return (uint32_t)ns;
	shift = 63u - (uint32_t)__builtin_clzll(ns) - SUB_BITS;
	return shift * PERF_HISTOGRAM_SUB + (uint32_t)(ns >> shift);
}

/* The largest value that falls into the bucket. */
static uint64_t top_of(uint32_t bucket)
{
	uint32_t shift;

	if (bucket < 2 * PERF_HISTOGRAM_SUB)
		return bucket;
	shift = bucket / PERF_HISTOGRAM_SUB - 1;
	return ((uint64_t)(bucket - shift * PERF_HISTOGRAM_SUB + 1) << shift) - 1;
}

void perf_histogram_add(struct perf_histogram *h, uint64_t ns)
{
	uint32_t b = bucket_of(ns);

	h->bucket[b < PERF_HISTOGRAM_BUCKETS ? b : PERF_HISTOGRAM_BUCKETS - 1]++;
	h->count++;
	if (ns > h->max)
		h->max = ns;
}

uint64_t perf_histogram_percentile(const struct perf_histogram *h, double percent)
{
	double want = (double)h->count * percent / 100;
	uint64_t seen = 0;

	for (uint32_t b = 0; b < PERF_HISTOGRAM_BUCKETS; b++) {
		seen += h->bucket[b];
		if (seen && (double)seen >= want)
			return top_of(b) < h->max ? top_of(b) : h->max;
	}
	return h->max;
}
