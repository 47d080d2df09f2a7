/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * node_data_path.c - what a state of the node costs a program that sends: CPU time a byte and
 * bandwidth of examples/write_bw where it goes by a store, in which nothing is denied, beside those
 * without one.
 *
 * Both run at the same time, which is begun with the one or the other in turn, and the median of
 * the rounds' ratios counts: what else the machine does hits both alike. One after the other they
 * differed by tens of percent where others computed.
 */
#include "node/bench_node.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 121u
/* Of the median's place among so many, in order: it lies so far to either side in 95 of 100. */
#define MEDIAN_WITHIN 11u
#define RUN_MS "300"
#define MESSAGE_BYTES "1048576"
/* Of CPU time a byte, and what bandwidth is left. */
#define AIM 1.01

struct cost {
	double cpu_ns_byte, gbit;
};

static void become_traffic(bool on)
{
	setenv("MRC_NODE_DIR", on ? bn_dir : "off", 1);
	setenv("MRC_PORTS", "127.0.0.1,127.0.1.1", 1);
	setenv("MRC_LOG", "error", 1);
	execl(BN_WRITE_BW, BN_WRITE_BW, "--self", "--min", MESSAGE_BYTES, "--max", MESSAGE_BYTES,
	      "--depth", "16", "--ms", RUN_MS, (char *)NULL);
	_exit(127);
}

struct traffic {
	pid_t pid;
	FILE *out;
};

static struct traffic start(bool on)
{
	struct traffic traffic;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		bn_die("a pipe");
	traffic.pid = fork();
	if (traffic.pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		become_traffic(on);
	}
	close(ends[1]);
	traffic.out = fdopen(ends[0], "r");
	if (traffic.pid < 0 || !traffic.out)
		bn_die("write_bw");
	return traffic;
}

static struct cost finish(const struct traffic *traffic)
{
	char line[200];
	unsigned long long bytes, messages, sent = 0;
	struct cost cost = {0};
	struct rusage usage;
	int status;

	while (fgets(line, sizeof(line), traffic->out))
		if (sscanf(line, " %llu %llu %lf", &bytes, &messages, &cost.gbit) == 3)
			sent = bytes * messages;
	fclose(traffic->out);
	/* With those that it has waited for: the other end. */
	if (wait4(traffic->pid, &status, 0, &usage) != traffic->pid || status || !sent)
		bn_die("write_bw");
	cost.cpu_ns_byte = ((double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e9 +
			    (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e3) /
			   (double)sent;
	return cost;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* What a busy machine hides is not called reached, and not missed. */
static const char *verdict(double least, double most, double aim, bool more_is_worse)
{
	if (more_is_worse ? most <= aim : least >= aim)
		return "reached";
	if (more_is_worse ? least > aim : most < aim)
		return "not reached";
	return "not told, the machine is too busy";
}

static void judge(const char *what, double *ratio, bool more_is_worse)
{
	double aim = more_is_worse ? AIM : 1 / AIM, least, most;

	qsort(ratio, ROUNDS, sizeof(*ratio), compare);
	least = ratio[ROUNDS / 2 - MEDIAN_WITHIN];
	most = ratio[ROUNDS / 2 + MEDIAN_WITHIN];
	printf("bar: %s with a node's state, to without: %.3f (%.3f to %.3f) of an aim of %.2f: "
	       "%s\n",
	       what, ratio[ROUNDS / 2], least, most, aim, verdict(least, most, aim, more_is_worse));
}

void bn_measure_data_path(void)
{
	double cpu[ROUNDS], gbit[ROUNDS];

	for (uint32_t i = 0; i < ROUNDS; i++) {
		bool first = i % 2;
		struct traffic traffic[2];
		struct cost cost[2];

		traffic[first] = start(first);
		traffic[!first] = start(!first);
		for (uint32_t on = 0; on < 2; on++)
			cost[on] = finish(&traffic[on]);
		cpu[i] = cost[1].cpu_ns_byte / cost[0].cpu_ns_byte;
		gbit[i] = cost[1].gbit / cost[0].gbit;
	}
	judge("CPU time a byte", cpu, true);
	judge("bandwidth", gbit, false);
}
