/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_shards.c - what more shards are worth: a process that writes from as many threads as there
 * are flows, each with a QP and a CQ, into one that sleeps, with 1, 2, 4 and 8 shards in turn. The
 * figure is the ratio to one shard in the same run. More cannot help where there are not the cores
 * for it.
 */
#include "common/connection.h"
#include "common/example_flags.h"
#include "common/tcp_exchange.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FLOWS_MAX 32u
#define ROUNDS_MAX 15u
#define MESSAGE (UINT64_C(1) << 20)
#define DEPTH 16u
#define ALARM_S 120u

static const char program[] = "shards";
static const uint32_t counts[] = {1, 2, 4, 8};
#define COUNTS (sizeof(counts) / sizeof(counts[0]))

static struct {
	uint64_t flows, ms, rounds;
} opt = {.flows = 8, .ms = 500, .rounds = 3};

struct flow {
	struct connection r;
	pthread_t thread;
	uint64_t bytes; /* acknowledged in time */
	int rc;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void *flow_main(void *arg)
{
	struct flow *f = arg;
	uint64_t end = now_ns() + opt.ms * UINT64_C(1000000), posted = 0, done = 0;
	bool more = true;

	while (more || done < posted) {
		int n;

		for (; more && posted - done < DEPTH; posted++)
			if (connection_post_write(&f->r, MESSAGE))
				return NULL;
		n = connection_poll(&f->r);
		if (n < 0)
			return NULL;
		done += (uint64_t)n;
		if (more && now_ns() >= end) {
			more = false;
			f->bytes = done * MESSAGE;
		}
	}
	f->rc = 0;
	return NULL;
}

static int write_all(struct flow *flow, double *gbit_s)
{
	uint64_t bytes = 0;
	uint32_t started = 0;
	int rc = 0;

	for (; started < opt.flows; started++)
		if (pthread_create(&flow[started].thread, NULL, flow_main, &flow[started]))
			break;
	for (uint32_t i = 0; i < started; i++) {
		pthread_join(flow[i].thread, NULL);
		bytes += flow[i].bytes;
		rc |= flow[i].rc;
	}
	*gbit_s = (double)bytes * 8 / ((double)opt.ms * 1e6);
	return started < opt.flows ? -1 : rc;
}

static int run_side(uint32_t shards, int side, int fd, double *gbit_s)
{
	static struct flow flow[FLOWS_MAX];
	char number[12];
	int rc = 0;

	alarm(ALARM_S);
	snprintf(number, sizeof(number), "%u", shards);
	setenv("MRC_SHARDS", number, 1);
	setenv("MRC_PORTS", side ? "127.0.0.2" : "127.0.0.1", 1);
	for (uint32_t i = 0; i < opt.flows && !rc; i++) {
		flow[i].rc = -1;
		rc = connection_open(&flow[i].r, program, MESSAGE, DEPTH, 1);
		if (!rc)
			rc = connection_connect(&flow[i].r, fd);
	}
	if (!rc)
		rc = meet_barrier(program, fd);
	if (!rc && side == 0)
		rc = write_all(flow, gbit_s);
	if (!rc)
		rc = meet_barrier(program, fd);
	for (uint32_t i = 0; i < opt.flows; i++)
		connection_close(&flow[i].r);
	return rc;
}

/* The figure lies in memory that the ends share with this process. 0 or -1. */
static int measure(uint32_t shards, double *gbit_s)
{
	pid_t pid[2];
	int fds[2], status, rc = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return -1;
	for (int side = 0; side < 2; side++) {
		pid[side] = fork();
		if (pid[side] == 0) {
			close(fds[!side]);
			_exit(run_side(shards, side, fds[side], gbit_s) ? 1 : 0);
		}
	}
	close(fds[0]);
	close(fds[1]);
	for (int side = 0; side < 2; side++)
		if (pid[side] < 0 || waitpid(pid[side], &status, 0) != pid[side] || status)
			rc = -1;
	return rc;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int measure_all(double of[COUNTS][ROUNDS_MAX])
{
	double *gbit_s = mmap(NULL, sizeof(*gbit_s), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (gbit_s == MAP_FAILED)
		return -1;
	for (uint32_t round = 0; round < opt.rounds; round++)
		for (uint32_t i = 0; i < COUNTS; i++) {
			if (measure(counts[i], gbit_s))
				return -1;
			of[i][round] = *gbit_s;
		}
	munmap(gbit_s, sizeof(*gbit_s));
	return 0;
}

int main(int argc, char **argv)
{
	static double of[COUNTS][ROUNDS_MAX];
	const struct flag table[] = {
		{"--flows", "N", "threads with a QP each", FLAG_NUMBER, &opt.flows, 1, FLOWS_MAX,
		 NULL},
		{"--ms", "N", "for each measurement", FLAG_NUMBER, &opt.ms, 10, 10000, NULL},
		{"--rounds", "N", "of which medians count", FLAG_NUMBER, &opt.rounds, 1, ROUNDS_MAX,
		 NULL},
	};
	const struct flags flags = {
		.program = program,
		.synopsis = "[FLAG...]",
		.about = "Writes of 1 MiB over loopback with 1, 2, 4 and 8 shards on both sides.",
		.table = table,
		.n = sizeof(table) / sizeof(table[0]),
	};

	if (flags_parse(&flags, argc, argv, NULL) < 0)
		return 2;
	if (measure_all(of)) {
		fprintf(stderr, "shards: failed\n");
		return 1;
	}
	printf("%ld cores, %llu flows\n", sysconf(_SC_NPROCESSORS_ONLN),
	       (unsigned long long)opt.flows);
	for (uint32_t i = 0; i < COUNTS; i++)
		qsort(of[i], opt.rounds, sizeof(of[i][0]), by_value);
	for (uint32_t i = 0; i < COUNTS; i++)
		printf("%u shards  %6.2f Gbit/s  %5.2f of one shard\n", counts[i],
		       of[i][opt.rounds / 2], of[i][opt.rounds / 2] / of[0][opt.rounds / 2]);
	return 0;
}
