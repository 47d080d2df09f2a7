/* SPDX-License-Identifier: BSD-2-Clause */
/* perf_plan.h - what a run of `mrc perf` measures: the client's wish, sent to the server. */
#ifndef SOFTMRC_CLI_PERF_PERF_PLAN_H
#define SOFTMRC_CLI_PERF_PERF_PLAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERF_QPS_MAX 64u
#define PERF_DEPTH_MAX 4096u
#define PERF_BYTES_MAX (UINT64_C(1) << 30)
#define PERF_NS_MIN UINT64_C(1000000)
#define PERF_NS_MAX UINT64_C(3600000000000)

struct perf_plan {
	uint64_t min, max; /* message sizes: min, 2 min, 4 min, ... up to max */
	uint64_t duration_ns;
	uint32_t qps, depth;
	bool imm;	    /* WRITE_WITH_IMM instead of WRITE */
	bool bidirectional; /* the server sends as well */
	bool bandwidth, latency;
};

/* perf_plan_json returns a new object; perf_plan_read takes one from the network: 0, or -1. */
json_t *perf_plan_json(const struct perf_plan *plan);
int perf_plan_read(json_t *json, struct perf_plan *plan, char *error, size_t size);

#endif
