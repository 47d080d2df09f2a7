/* SPDX-License-Identifier: BSD-2-Clause */
/* measure_bandwidth.h - the loops that measure: bandwidth in one or both directions, and
 * latency. */
#ifndef SOFTMRC_CLI_PERF_MEASURE_BANDWIDTH_H
#define SOFTMRC_CLI_PERF_MEASURE_BANDWIDTH_H

#include "cli/perf/latency_histogram.h"
#include "cli/perf/peer_link.h"
#include "cli/perf/perf_connection.h"

/* One direction of one size. */
struct perf_figure {
	uint64_t messages, ns;
};

struct perf_measure {
	struct perf_connection *conn;
	struct perf_link *link;
	bool client;
	uint64_t size;
	struct perf_figure out, in; /* what this end sent, and what it received */
	struct perf_histogram
		times; /* bandwidth: from post to completion; latency: half round trips */
	void (*tick)(void *context, const struct perf_measure *m,
		     uint64_t ns); /* now and then; or NULL */
	void *context;
	char error[260];
};

/*
 * perf_measure_bandwidth writes for the plan's duration: the client, and with a bidirectional plan
 * the server as well. Returns when both have all their messages acknowledged. 0, or -1.
 */
int perf_measure_bandwidth(struct perf_measure *m);
/* perf_measure_latency sends one immediate to and fro. 0, or -1. */
int perf_measure_latency(struct perf_measure *m);

#endif
