/* SPDX-License-Identifier: BSD-2-Clause */
/* The plan on the network: see perf.h. */
#include "cli/perf/perf.h"

#include <stdio.h>

json_t *perf_plan_json(const struct perf_plan *p)
{
	return json_pack("{s:I,s:I,s:I,s:I,s:I,s:b,s:b,s:b,s:b}", "min", (json_int_t)p->min, "max",
			 (json_int_t)p->max, "duration_ns", (json_int_t)p->duration_ns, "qps",
			 (json_int_t)p->qps, "depth", (json_int_t)p->depth, "imm", p->imm,
			 "bidirectional", p->bidirectional, "bandwidth", p->bandwidth, "latency",
			 p->latency);
}

static int check_range(const char *name, json_int_t value, uint64_t min, uint64_t max, char *error,
		       size_t size)
{
	if (value >= 0 && (uint64_t)value >= min && (uint64_t)value <= max)
		return 0;
	snprintf(error, size, "the client's %s is %lld, want %llu to %llu", name, (long long)value,
		 (unsigned long long)min, (unsigned long long)max);
	return -1;
}

int perf_plan_read(json_t *json, struct perf_plan *plan, char *error, size_t size)
{
	json_int_t min, max, ns, qps, depth;
	int imm, both, bandwidth, latency;
	json_error_t why;

	if (json_unpack_ex(json, &why, 0, "{s:I,s:I,s:I,s:I,s:I,s:b,s:b,s:b,s:b}", "min", &min,
			   "max", &max, "duration_ns", &ns, "qps", &qps, "depth", &depth, "imm",
			   &imm, "bidirectional", &both, "bandwidth", &bandwidth, "latency",
			   &latency)) {
		snprintf(error, size, "the client's plan: %s", why.text);
		return -1;
	}
	if (check_range("min", min, 1, PERF_BYTES_MAX, error, size) ||
	    check_range("max", max, (uint64_t)min, PERF_BYTES_MAX, error, size) ||
	    check_range("duration_ns", ns, PERF_NS_MIN, PERF_NS_MAX, error, size) ||
	    check_range("qps", qps, 1, PERF_QPS_MAX, error, size) ||
	    check_range("depth", depth, 1, PERF_DEPTH_MAX, error, size))
		return -1;
	*plan = (struct perf_plan){.min = (uint64_t)min,
				   .max = (uint64_t)max,
				   .duration_ns = (uint64_t)ns,
				   .qps = (uint32_t)qps,
				   .depth = (uint32_t)depth,
				   .imm = imm,
				   .bidirectional = both,
				   .bandwidth = bandwidth,
				   .latency = latency};
	return 0;
}
