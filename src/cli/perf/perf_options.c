/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `mrc perf`: see perf.h. */
#include "cli/perf/perf.h"

#include "cli/cli_verbs.h"

#include <stddef.h>
#include <stdio.h>

#define DURATION_NS UINT64_C(200000000)

static const struct ui_flag flags[] = {
	UI_SWITCH("--server", perf_options, server, "wait for clients"),
	UI_SWITCH("--once", perf_options, once, "server: end after one client"),
	{"--port", UI_FLAG_U32, "N", "TCP port of the server (18186)",
	 offsetof(struct perf_options, port), 1, 65535},
	{"--min", UI_FLAG_BYTES, "BYTES", "smallest message (1)",
	 offsetof(struct perf_options, plan.min), 1, PERF_BYTES_MAX},
	{"--max", UI_FLAG_BYTES, "BYTES", "largest message (64M)",
	 offsetof(struct perf_options, plan.max), 1, PERF_BYTES_MAX},
	{"--size", UI_FLAG_BYTES, "BYTES", "this size only", offsetof(struct perf_options, size), 1,
	 PERF_BYTES_MAX},
	{"--duration", UI_FLAG_TIME, "TIME", "of each measurement (200ms)",
	 offsetof(struct perf_options, plan.duration_ns), PERF_NS_MIN, PERF_NS_MAX},
	{"--qps", UI_FLAG_U32, "N", "queue pairs (1)", offsetof(struct perf_options, plan.qps), 1,
	 PERF_QPS_MAX},
	{"--depth", UI_FLAG_U32, "N", "messages in flight on each QP, 128 MiB of them at most (64)",
	 offsetof(struct perf_options, plan.depth), 1, PERF_DEPTH_MAX},
	UI_SWITCH("--imm", perf_options, plan.imm, "WRITE_WITH_IMM instead of WRITE"),
	UI_SWITCH("--both", perf_options, plan.bidirectional, "both ends send"),
	UI_SWITCH("--events", perf_options, events,
		  "this end sleeps on a completion channel instead of polling"),
	UI_SWITCH("--no-latency", perf_options, no_latency, "bandwidth only"),
	UI_SWITCH("--no-bandwidth", perf_options, no_bandwidth, "latency only"),
	UI_SWITCH("--plain", perf_options, plain, "no live line on a terminal"),
	UI_SWITCH("--json", perf_options, json, "the result as JSON"),
};

static enum ui_flags_result print_usage_error(const char *text)
{
	fprintf(stderr, "mrc perf: %s\n", text);
	return UI_FLAGS_ERROR;
}

static enum ui_flags_result check_options(struct perf_options *o, size_t hosts)
{
	if (o->server && hosts)
		return print_usage_error("--server has no HOST");
	if (!o->server && !hosts)
		return print_usage_error(
			"want a HOST to measure to, or --server (mrc perf --help tells more)");
	if (o->no_latency && o->no_bandwidth)
		return print_usage_error("--no-latency --no-bandwidth: nothing is left to measure");
	if (o->size)
		o->plan.min = o->plan.max = o->size;
	if (o->plan.min > o->plan.max)
		return print_usage_error("--min: want at most --max");
	o->plan.latency = !o->no_latency;
	o->plan.bandwidth = !o->no_bandwidth;
	return UI_FLAGS_OK;
}

enum ui_flags_result perf_options_parse(struct perf_options *o, int argc, char **argv)
{
	enum ui_flags_result rc;
	size_t hosts;

	*o = (struct perf_options){
		.plan = {.min = 1,
			 .max = 64u << 20,
			 .duration_ns = DURATION_NS,
			 .qps = 1,
			 .depth = 64},
		.port = PERF_LINK_PORT,
	};
	rc = ui_verb_parse(&cli_perf_verb, o, argc, argv, &o->host, 1, &hosts);
	return rc == UI_FLAGS_OK ? check_options(o, hosts) : rc;
}

const struct ui_verb cli_perf_verb = {
	.name = "mrc perf",
	.summary = "measure bandwidth and latency to another machine",
	.usage = "--server [--once] [--port N]\n"
		 "HOST [FLAG...]",
	.about = "Measures bandwidth, message rate and latency of RDMA WRITE to a server on "
		 "another machine (or this one), size by size, and shows what the network did "
		 "meanwhile: the share of each plane, the states of the EVs and what was lost, "
		 "retransmitted and trimmed. Latency is half a round trip of one WRITE with "
		 "immediate; without it, times are from post to completion.",
	.notes = "The ends meet over TCP; everything else goes over MRC.",
	.exits = "0 good, 1 the measurement failed, 2 wrong usage",
	.operands = "HOST",
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.run = perf_main,
};
