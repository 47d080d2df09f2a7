/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * net_harness.c - drives a network plugin of NCCL through its own function table, without NCCL
 * and without a GPU: two ranks, several connections each way, groups of receives, every byte
 * compared.
 *
 * net_harness PLUGIN RANK FOLDER VERSION [comms=N] [device=N|merged] [flush=1] [groups=0|1]
 *             [soak=SECONDS] [speed=1]
 *
 * The ranks share FOLDER, where they leave the handles of their connections. Each prints a line
 * of JSON for what it did. Exit status 1 with a line on stderr: something was wrong, 2: wrong
 * usage.
 */
#include "net_traffic.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define COMMS_MAX 8
#define PATIENCE_S 60
#define STREAM_BYTES ((size_t)1 << 20)

/* Plugins ask for it without being linked to it: here no device is of that kind. */
int mlx5dv_is_supported(const void *device);
int mlx5dv_is_supported(const void *device)
{
	(void)device;
	return 0;
}

/*
 * Where flush=1 asks for it a kernel module for memory of GPUs seems to be there: then plugins
 * flush what they received, by a READ on a QP to itself. All else is asked of the system.
 */
static int flush_wanted;

int access(const char *path, int mode)
{
	if (flush_wanted && (strstr(path, "nvidia_peermem") || strstr(path, "nvidia-peermem")))
		return 0;
	return faccessat(-100, path, mode, 0); /* -100: AT_FDCWD */
}

struct harness {
	struct net net;
	int rank, comms, device, version;
	const char *folder;
	double soak_s;
	int speed, merged, barriers;
	int groups; /* of several receives; -1: as the version has it */
	void *listening[COMMS_MAX];
	struct traffic out[COMMS_MAX], in[COMMS_MAX];
};

/* ---- meeting ---- */

static void pause_ms(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void path_of(const struct harness *h, char *path, size_t size, const char *what, int rank,
		    int number)
{
	snprintf(path, size, "%s/%s.%d.%d", h->folder, what, rank, number);
}

/* A file is there whole or not at all. */
static void leave(const struct harness *h, const char *what, int number, const void *data,
		  size_t bytes)
{
	char path[512], new[600];
	FILE *f;

	path_of(h, path, sizeof(path), what, h->rank, number);
	snprintf(new, sizeof(new), "%s.new", path);
	f = fopen(new, "w");
	if (!f || fwrite(data, 1, bytes, f) != bytes || fclose(f) || rename(new, path))
		fail("%s: %s", path, strerror(errno));
}

static void fetch(const struct harness *h, const char *what, int number, void *data, size_t bytes)
{
	double until = now_s() + PATIENCE_S;
	char path[512];
	FILE *f;

	path_of(h, path, sizeof(path), what, 1 - h->rank, number);
	while (!(f = fopen(path, "r"))) {
		if (now_s() > until)
			fail("%s: not there after %d s", path, PATIENCE_S);
		pause_ms();
	}
	if (fread(data, 1, bytes, f) != bytes)
		fail("%s: too short", path);
	fclose(f);
}

static void barrier(struct harness *h)
{
	char byte = 0;

	leave(h, "barrier", h->barriers, &byte, 1);
	fetch(h, "barrier", h->barriers++, &byte, 1);
}

/* ---- connections ---- */

static void *area(void)
{
	void *at = mmap(NULL, TRAFFIC_AREA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);

	if (at == MAP_FAILED)
		fail("no memory");
	return at;
}

static void connect_one(struct harness *h, int c)
{
	char mine[NET_HANDLE_BYTES] = {0}, theirs[NET_HANDLE_BYTES];
	double until = now_s() + PATIENCE_S;

	if (net_listen(&h->net, h->device, mine, &h->listening[c]))
		fail("listen failed");
	leave(h, "handle", c, mine, sizeof(mine));
	fetch(h, "handle", c, theirs, sizeof(theirs));
	while (!h->out[c].comm || !h->in[c].comm) {
		if (!h->out[c].comm && net_connect(&h->net, h->device, theirs, &h->out[c].comm))
			fail("connect failed");
		if (!h->in[c].comm && net_accept(&h->net, h->listening[c], &h->in[c].comm))
			fail("accept failed");
		if (now_s() > until)
			fail("connection %d: not there after %d s", c, PATIENCE_S);
	}
	h->out[c].net = h->in[c].net = &h->net;
	h->out[c].area = area();
	h->in[c].area = area();
	if (net_reg(&h->net, h->out[c].comm, h->out[c].area, TRAFFIC_AREA, &h->out[c].mr) ||
	    net_reg(&h->net, h->in[c].comm, h->in[c].area, TRAFFIC_AREA, &h->in[c].mr))
		fail("regMr failed");
}

static void close_one(struct harness *h, int c)
{
	if (net_dereg(&h->net, h->out[c].comm, h->out[c].mr) ||
	    net_dereg(&h->net, h->in[c].comm, h->in[c].mr))
		fail("deregMr failed");
	if (net_close_send(&h->net, h->out[c].comm) || net_close_recv(&h->net, h->in[c].comm) ||
	    net_close_listen(&h->net, h->listening[c]))
		fail("close failed");
	munmap(h->out[c].area, TRAFFIC_AREA);
	munmap(h->in[c].area, TRAFFIC_AREA);
}

static void open_device(struct harness *h)
{
	struct net_properties p;
	int count = 0;

	if (net_init(&h->net) || net_devices(&h->net, &count))
		fail("init failed");
	if (h->merged && net_merge(&h->net, &h->device))
		fail("makeVDevice failed");
	if (net_devices(&h->net, &count) || h->device >= count)
		fail("device %d: there are %d", h->device, count);
	if (net_properties(&h->net, h->device, &p))
		fail("getProperties failed");
	printf("{\"phase\": \"device\", \"name\": \"%s\", \"devices\": %d, \"of\": %d, "
	       "\"speed_mbps\": %d, \"port\": %d, "
	       "\"pointers\": %d, \"group_max\": %d}\n",
	       p.name, count, p.devices, p.speed_mbps, p.port, p.pointers, p.group_max);
	if (!p.guid || !p.pci_path || p.speed_mbps <= 0 || p.port < 1 || p.comms_max < 1 ||
	    p.group_max != NET_GROUP_MAX || !(p.pointers & NET_HOST_MEMORY))
		fail("these are no properties of a device");
}

/* ---- phases ---- */

static bool ended(const struct harness *h, int directions)
{
	for (int c = 0; c < h->comms; c++) {
		const struct traffic *out = &h->out[c], *in = &h->in[c];
		bool sent = out->done == out->posted &&
			    (out->over || out->done == plan_groups(out->plan));
		bool received = in->over || in->done == plan_groups(in->plan);

		if (((directions & 1) && !sent) || ((directions & 2) && !received))
			return false;
	}
	return true;
}

/* directions: 1 sends, 2 receives, 3 both. */
static void run(struct harness *h, const struct plan *plan, int directions)
{
	double began = now_s(), moved = began;

	for (int c = 0; c < h->comms; c++) {
		traffic_begin(&h->out[c], plan);
		traffic_begin(&h->in[c], plan);
	}
	while (!ended(h, directions)) {
		bool any = false;

		for (int c = 0; c < h->comms; c++) {
			h->out[c].stop = plan->seconds > 0 && now_s() - began > plan->seconds;
			if (directions & 1)
				any |= traffic_send(&h->out[c]);
			if (directions & 2)
				any |= traffic_receive(&h->in[c]);
		}
		if (any) {
			moved = now_s();
		} else {
			sched_yield();
			if (now_s() - moved > PATIENCE_S)
				fail("nothing happened for %d s", PATIENCE_S);
		}
	}
}

static void report(const struct harness *h, const char *phase, double seconds)
{
	uint64_t groups = 0, bytes = 0, flushes = 0;
	double gap = 0;

	for (int c = 0; c < h->comms; c++) {
		groups += h->in[c].done;
		bytes += h->in[c].bytes;
		flushes += h->in[c].flushes;
		gap = h->in[c].gap_s > gap ? h->in[c].gap_s : gap;
	}
	printf("{\"phase\": \"%s\", \"groups\": %llu, \"bytes\": %llu, \"flushes\": %llu, "
	       "\"seconds\": %.3f, "
	       "\"longest_gap_ms\": %.1f}\n",
	       phase, (unsigned long long)groups, (unsigned long long)bytes,
	       (unsigned long long)flushes, seconds, 1e3 * gap);
	fflush(stdout);
}

static void phase(struct harness *h, const char *name, const struct plan *plan)
{
	double began;

	barrier(h);
	began = now_s();
	run(h, plan, 3);
	report(h, name, now_s() - began);
}

static void verify(struct harness *h)
{
	bool one = h->groups < 0 ? h->version < NET_VERSION_GROUPS : h->groups == 0;
	struct plan sweep = {.kind = PLAN_SWEEP,
			     .depth = 8,
			     .seed = 1,
			     .groups_of_one = one,
			     .flush = flush_wanted};
	struct plan large = {.kind = PLAN_LARGE,
			     .depth = 1,
			     .seed = 2,
			     .groups_of_one = one,
			     .flush = flush_wanted};
	struct plan random = {.kind = PLAN_RANDOM,
			      .depth = 8,
			      .seed = 3,
			      .groups = 3000,
			      .groups_of_one = one,
			      .flush = flush_wanted};

	phase(h, "sweep", &sweep);
	phase(h, "large", &large);
	phase(h, "random", &random);
}

static void soak(struct harness *h)
{
	struct plan plan = {.kind = PLAN_STREAM,
			    .depth = 4,
			    .seed = 4,
			    .bytes = STREAM_BYTES,
			    .seconds = h->soak_s};

	phase(h, "soak", &plan);
}

/* ---- speed ---- */

/* One way, from rank 0; its receiver measures, without the first quarter. */
static void measure(struct harness *h, size_t bytes)
{
	uint64_t total = (uint64_t)256 << 20, groups = total / (bytes < 65536 ? 65536 : bytes);
	struct plan warm = {.kind = PLAN_STREAM,
			    .depth = 8,
			    .bytes = bytes,
			    .groups = groups / 4 + 1,
			    .unchecked = true};
	struct plan plan = {.kind = PLAN_STREAM,
			    .depth = 8,
			    .bytes = bytes,
			    .groups = groups,
			    .unchecked = true};
	double began;

	barrier(h);
	run(h, &warm, h->rank == 0 ? 1 : 2);
	began = now_s();
	run(h, &plan, h->rank == 0 ? 1 : 2);
	if (h->rank == 1) {
		double seconds = now_s() - began;

		printf("{\"phase\": \"speed\", \"bytes\": %zu, \"gbps\": %.3f, "
		       "\"messages_a_second\": %.0f}\n",
		       bytes, 8e-9 * (double)(bytes * groups) / seconds, (double)groups / seconds);
		fflush(stdout);
	}
}

/* Half a round trip: each answers when it has received. */
static void measure_latency(struct harness *h, size_t bytes)
{
	struct plan plan = {
		.kind = PLAN_STREAM, .depth = 1, .bytes = bytes, .groups = 1, .unchecked = true};
	uint64_t rounds = 500;
	double began = now_s();

	barrier(h);
	for (uint64_t i = 0; i < rounds + 50; i++) {
		if (i == 50)
			began = now_s();
		run(h, &plan, h->rank == 0 ? 1 : 2);
		run(h, &plan, h->rank == 0 ? 2 : 1);
	}
	if (h->rank == 1)
		printf("{\"phase\": \"latency\", \"bytes\": %zu, \"half_round_trip_us\": %.1f}\n",
		       bytes, 5e5 * (now_s() - began) / (double)rounds);
}

static void speed(struct harness *h)
{
	static const size_t sizes[] = {8, 65536, 1u << 20, 8u << 20};

	h->comms = 1;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		measure(h, sizes[i]);
	measure_latency(h, 8);
}

/* ---- main ---- */

static void usage(const char *word)
{
	fprintf(stderr,
		"net_harness: %s\nusage: net_harness PLUGIN RANK FOLDER VERSION [comms=1..%d] "
		"[device=N|merged] [flush=1] [groups=0|1] "
		"[soak=SECONDS] [speed=1]\n",
		word, COMMS_MAX);
	exit(2);
}

static void read_options(struct harness *h, char **argv)
{
	for (; *argv; argv++) {
		if (sscanf(*argv, "comms=%d", &h->comms) == 1 ||
		    sscanf(*argv, "device=%d", &h->device) == 1 ||
		    sscanf(*argv, "flush=%d", &flush_wanted) == 1 ||
		    sscanf(*argv, "groups=%d", &h->groups) == 1 ||
		    sscanf(*argv, "soak=%lf", &h->soak_s) == 1 ||
		    sscanf(*argv, "speed=%d", &h->speed) == 1)
			continue;
		if (strcmp(*argv, "device=merged") != 0)
			usage(*argv);
		h->merged = 1;
	}
	if (h->comms < 1 || h->comms > COMMS_MAX || h->rank < 0 || h->rank > 1 ||
	    h->version < NET_VERSION_MIN || h->version > NET_VERSION_MAX)
		usage("a number is out of range");
}

int main(int argc, char **argv)
{
	struct harness h = {.comms = 2, .groups = -1};
	int connections;

	if (argc < 5)
		usage("words are missing");
	h.rank = atoi(argv[2]);
	h.folder = argv[3];
	h.version = atoi(argv[4]);
	read_options(&h, argv + 5);
	connections = h.comms;
	if (net_load(&h.net, argv[1], h.version))
		return 1;
	open_device(&h);
	for (int c = 0; c < connections; c++)
		connect_one(&h, c);
	if (h.speed)
		speed(&h);
	else if (h.soak_s > 0)
		soak(&h);
	else
		verify(&h);
	barrier(&h);
	for (int c = 0; c < connections; c++)
		close_one(&h, c);
	if (net_finalize(&h.net))
		fail("finalize failed");
	return 0;
}
