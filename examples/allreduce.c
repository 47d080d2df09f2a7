/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * allreduce - ring all-reduce between processes on this machine, every sum verified.
 *
 * Forks --ranks processes. Each round every rank fills its vector, all-reduces it with the others
 * and compares each element with the sum that it must be; the numbers are small integers, so
 * floating-point sums are exact. Rank 0 prints time and bus bandwidth by vector size: the bytes
 * that a rank must send at least, 2 (N-1)/N of the vector, by the time it took.
 */
#include "common/example_flags.h"
#include "ring.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000ull

static const char program[] = "allreduce";

struct options {
	uint64_t ranks, min, max, rounds, transport;
	bool json;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* What rank `rank` brings for element i: a small integer that all three arguments change. */
static float expected_element(uint64_t rank, uint64_t round, size_t i)
{
	return (float)((i * 7 + rank * 3 + round) % 101);
}

static void fill_vector(float *v, size_t floats, uint64_t rank, uint64_t round)
{
	for (size_t i = 0; i < floats; i++)
		v[i] = expected_element(rank, round, i);
}

static int compare_result(const float *v, size_t floats, const struct options *o, uint32_t rank,
			  uint64_t round)
{
	for (size_t i = 0; i < floats; i++) {
		float sum = 0;

		for (uint64_t r = 0; r < o->ranks; r++)
			sum += expected_element(r, round, i);
		if (v[i] >= sum && v[i] <= sum)
			continue;
		fprintf(stderr, "%s: rank %u, round %" PRIu64 ": element %zu is %g, not %g\n",
			program, rank, round, i, (double)v[i], (double)sum);
		return -1;
	}
	return 0;
}

static void print_size(const struct options *o, size_t bytes, uint64_t ns)
{
	double us = (double)ns / 1e3 / (double)o->rounds;
	double bus =
		2.0 * (double)(o->ranks - 1) / (double)o->ranks * (double)bytes * 8 / (us * 1e3);

	if (o->json)
		printf("%s\n  {\"bytes\": %zu, \"us\": %.3f, \"bus_gbit_s\": %.6f}",
		       bytes == o->min ? "" : ",", bytes, us, bus);
	else
		printf("%12zu %12.1f %14.3f\n", bytes, us, bus);
	fflush(stdout);
}

static int run_size(struct ring *ring, const struct options *o, uint32_t rank, size_t bytes)
{
	size_t floats = bytes / sizeof(float);
	float *v = ring_vector(ring);
	uint64_t ns = 0;

	for (uint64_t round = 0; round < o->rounds; round++) {
		uint64_t begin;

		fill_vector(v, floats, rank, round);
		begin = now_ns();
		if (ring_all_reduce(ring, floats))
			return -1;
		ns += now_ns() - begin;
		if (compare_result(v, floats, o, rank, round))
			return -1;
	}
	if (rank == 0)
		print_size(o, bytes, ns);
	return 0;
}

static void print_head(const struct options *o, const struct ring *ring)
{
	if (o->json)
		printf("{\"program\": \"%s\", \"ranks\": %" PRIu64 ", \"sizes\": [", program,
		       o->ranks);
	else
		printf("%" PRIu64 " ranks, %s\n%12s %12s %14s\n", o->ranks,
		       ring_transport_text(ring), "bytes", "us", "bus Gbit/s");
}

static int run_rank(const struct options *o, uint32_t rank, const char *folder)
{
	struct ring_cfg cfg = {
		.rank = rank,
		.ranks = (uint32_t)o->ranks,
		.kind = o->transport ? RING_TCP : RING_MRC,
		.rendezvous = folder,
		.floats = o->max / sizeof(float),
	};
	struct ring *ring = ring_open(&cfg);

	if (!ring)
		return -1;
	if (rank == 0)
		print_head(o, ring);
	for (uint64_t bytes = o->min; bytes <= o->max; bytes *= 2) {
		if (run_size(ring, o, rank, bytes)) {
			ring_abandon(ring);
			return -1;
		}
	}
	if (rank == 0 && o->json)
		printf("\n]}\n");
	return ring_close(ring);
}

/* Every rank is a child, so that each opens the device for itself. */
static int start_ranks(const struct options *o, const char *folder)
{
	for (uint32_t rank = 0; rank < o->ranks; rank++) {
		pid_t child = fork();

		if (child < 0) {
			perror(program);
			return -1;
		}
		if (child == 0)
			exit(run_rank(o, rank, folder) ? 1 : 0);
	}
	return 0;
}

static int wait_for_all(void)
{
	int rc = 0, status;

	while (wait(&status) > 0)
		if (status)
			rc = -1;
	return rc;
}

static int run_rounds(const struct options *o)
{
	char folder[] = "/tmp/allreduce-XXXXXX";
	int rc, rc_wait;

	if (!mkdtemp(folder)) {
		perror(folder);
		return -1;
	}
	rc = start_ranks(o, folder);
	rc_wait = wait_for_all();
	for (uint32_t rank = 0; rank < o->ranks; rank++) {
		char path[64];

		snprintf(path, sizeof(path), "%s/rank-%u.sock", folder, rank);
		unlink(path);
	}
	rmdir(folder);
	return rc ? rc : rc_wait;
}

static int parse_options(struct options *o, int argc, char **argv)
{
	static const char *const transports[] = {"mrc", "tcp", NULL};
	const uint64_t least = RING_RANKS_MAX * sizeof(float), most = 256u << 20;
	const struct flag table[] = {
		{"--ranks", "N", "processes", FLAG_NUMBER, &o->ranks, 2, RING_RANKS_MAX, NULL},
		{"--min", "BYTES", "smallest vector", FLAG_BYTES, &o->min, least, most, NULL},
		{"--max", "BYTES", "largest vector", FLAG_BYTES, &o->max, least, most, NULL},
		{"--rounds", "N", "all-reduces of each size", FLAG_NUMBER, &o->rounds, 1, 100000,
		 NULL},
		{"--transport", "NAME", "mrc or tcp", FLAG_CHOICE, &o->transport, 0, 0, transports},
		{"--json", NULL, "figures as JSON", FLAG_SWITCH, &o->json, 0, 0, NULL},
	};
	const struct flags flags = {
		.program = program,
		.synopsis = "[FLAG...]",
		.about = "Ring all-reduce between processes on this machine, every sum verified.",
		.table = table,
		.n = sizeof(table) / sizeof(table[0]),
	};

	if (flags_parse(&flags, argc, argv, NULL) < 0)
		return -1;
	if (o->min <= o->max)
		return 0;
	fprintf(stderr, "%s: --min %" PRIu64 ": want at most --max, which is %" PRIu64 "\n",
		program, o->min, o->max);
	return -1;
}

int main(int argc, char **argv)
{
	struct options o = {.ranks = 4, .min = 1u << 10, .max = 4u << 20, .rounds = 10};

	if (parse_options(&o, argc, argv))
		return 2;
	return run_rounds(&o) ? 1 : 0;
}
