/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `mrc perf`: see options.h. */
#include "cli/perf/options.h"

#include "cli/perf/link.h"

#include <stdio.h>

#define DURATION_NS UINT64_C(200000000)

static void print_help(const struct cli_flag *flags, size_t n)
{
	printf("usage: mrc perf --server [--once] [--port N]\n"
	       "       mrc perf HOST [FLAG...]\n"
	       "Measures bandwidth, message rate and latency of RDMA WRITE to a server on another\n"
	       "machine (or this one), size by size, and shows what the network did "
	       "meanwhile.\n\n");
	cli_flags_help(flags, n);
	printf("\nThe ends meet over TCP; everything else goes over MRC.\n"
	       "exit status: 0 good, 1 the measurement failed, 2 wrong usage\n");
}

static enum cli_flags_result wrong(const char *text)
{
	fprintf(stderr, "mrc perf: %s\n", text);
	return CLI_FLAGS_ERROR;
}

static enum cli_flags_result check(struct perf_options *o, bool server, size_t hosts, uint64_t size,
				   bool no_latency, bool no_bandwidth)
{
	if (server && hosts)
		return wrong("--server has no HOST");
	if (!server && !hosts)
		return wrong("a HOST to measure to, or --server (mrc perf --help tells more)");
	if (no_latency && no_bandwidth)
		return wrong("--no-latency --no-bandwidth: nothing is left to measure");
	if (size)
		o->plan.min = o->plan.max = size;
	if (o->plan.min > o->plan.max)
		return wrong("--min: want at most --max");
	o->plan.latency = !no_latency;
	o->plan.bandwidth = !no_bandwidth;
	return CLI_FLAGS_OK;
}

enum cli_flags_result perf_options_parse(struct perf_options *o, int argc, char **argv)
{
	bool server = false, no_latency = false, no_bandwidth = false;
	struct perf_plan *p = &o->plan;
	uint64_t size = 0;
	const struct cli_flag flags[] = {
		{"--server", CLI_FLAG_SWITCH, NULL, "wait for clients", &server, 0, 0},
		{"--once", CLI_FLAG_SWITCH, NULL, "server: end after one client", &o->once, 0, 0},
		{"--port", CLI_FLAG_U32, "N", "TCP port of the server (18186)", &o->port, 1, 65535},
		{"--min", CLI_FLAG_BYTES, "BYTES", "smallest message (1)", &p->min, 1,
		 PERF_BYTES_MAX},
		{"--max", CLI_FLAG_BYTES, "BYTES", "largest message (64M)", &p->max, 1,
		 PERF_BYTES_MAX},
		{"--size", CLI_FLAG_BYTES, "BYTES", "this size only", &size, 1, PERF_BYTES_MAX},
		{"--duration", CLI_FLAG_TIME, "TIME", "of each measurement (200ms)",
		 &p->duration_ns, PERF_NS_MIN, PERF_NS_MAX},
		{"--qps", CLI_FLAG_U32, "N", "queue pairs (1)", &p->qps, 1, PERF_QPS_MAX},
		{"--depth", CLI_FLAG_U32, "N",
		 "messages in flight on each QP, 128 MiB of them at most (64)", &p->depth, 1,
		 PERF_DEPTH_MAX},
		{"--imm", CLI_FLAG_SWITCH, NULL, "WRITE_WITH_IMM instead of WRITE", &p->imm, 0, 0},
		{"--both", CLI_FLAG_SWITCH, NULL, "both ends send", &p->bidirectional, 0, 0},
		{"--no-latency", CLI_FLAG_SWITCH, NULL, "bandwidth only", &no_latency, 0, 0},
		{"--no-bandwidth", CLI_FLAG_SWITCH, NULL, "latency only", &no_bandwidth, 0, 0},
		{"--plain", CLI_FLAG_SWITCH, NULL, "no live line on a terminal", &o->plain, 0, 0},
		{"--json", CLI_FLAG_SWITCH, NULL, "the result as JSON", &o->json, 0, 0},
	};
	const size_t n = sizeof(flags) / sizeof(flags[0]);
	enum cli_flags_result rc;
	size_t hosts;

	*o = (struct perf_options){
		.plan = {.min = 1,
			 .max = 64u << 20,
			 .duration_ns = DURATION_NS,
			 .qps = 1,
			 .depth = 64},
		.port = PERF_LINK_PORT,
	};
	rc = cli_flags_parse_operands(flags, n, "mrc perf", argc, argv, &o->host, 1, &hosts);
	if (rc == CLI_FLAGS_HELP)
		print_help(flags, n);
	return rc == CLI_FLAGS_OK ? check(o, server, hosts, size, no_latency, no_bandwidth) : rc;
}
