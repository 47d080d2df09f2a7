/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel.c - hops a second of the simulated fabric alone: no protocol, hosts that answer each data
 * packet with a short one and send the next when an answer comes, on random paths to one other host
 * each (a permutation). What it prints is an upper bound for a simulation with a protocol.
 *
 *	bench_sim_kernel [HOSTS_PER_T0 T0S PLANES [THREADS [MICROSECONDS]]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/prng.h"
#include "fabric/fabric_path.h"
#include "sim/kernel/sim_net.h"

#define DATA_BYTES 4262u
#define ANSWER_BYTES 178u
/* Packets on the way on each plane of each host: a bandwidth-delay product of 100 Gb/s and 8 us. */
#define WINDOW 24u

struct host {
	struct mb_prng random;
	uint32_t peer;
	uint32_t started;
};

struct bench {
	struct mf_topology t;
	struct host *host;
	uint32_t data_bytes;
};

static void send_packet(const struct bench *b, struct ms_worker *worker, uint32_t from, uint32_t to,
			uint32_t plane, bool data)
{
	struct host *h = &b->host[from];
	struct ms_packet p = {.bytes = (uint16_t)(data ? DATA_BYTES : ANSWER_BYTES)};

	p.src = from & (MS_HOSTS_MAX - 1);
	p.dst = to & (MS_HOSTS_MAX - 1);
	p.plane = plane & MS_PLANE_MASK;
	p.cls = data ? MW_DSCP_TRIMMABLE : MW_DSCP_CONTROL;
	p.ev = mf_ev_of(plane, mb_prng_below(&h->random, b->t.cfg.t1s), 0);
	ms_send(worker, &p);
}

static void on_receive(void *ctx, struct ms_worker *worker, uint32_t host, uint64_t now_ps,
		       const struct ms_packet *p)
{
	const struct bench *b = ctx;

	(void)now_ps;
	if (p->cls == MW_DSCP_CONTROL)
		send_packet(b, worker, host, b->host[host].peer, p->plane, true);
	else
		send_packet(b, worker, host, p->src, p->plane, false);
}

/* The window of each plane is opened bit by bit, so that hosts do not march in step. */
static void on_wake(void *ctx, struct ms_worker *worker, uint32_t host, uint64_t now_ps)
{
	const struct bench *b = ctx;
	struct host *h = &b->host[host];

	for (uint32_t plane = 0; plane < b->t.cfg.planes; plane++)
		send_packet(b, worker, host, h->peer, plane, true);
	if (++h->started < WINDOW)
		ms_wake_at(worker, now_ps + 341000);
}

static void make_permutation(struct bench *b, uint64_t seed)
{
	struct mb_prng random;

	mb_prng_init(&random, seed);
	for (uint32_t i = 0; i < b->t.n_hosts; i++)
		b->host[i].peer = i;
	for (uint32_t i = b->t.n_hosts - 1; i > 0; i--) {
		uint32_t k = mb_prng_below(&random, i), other = b->host[k].peer;

		b->host[k].peer = b->host[i].peer;
		b->host[i].peer = other;
	}
	for (uint32_t i = 0; i < b->t.n_hosts; i++)
		mb_prng_init(&b->host[i].random, seed + i + 1);
}

/* Of all threads' CPU time: what others do on the machine counts little. */
static double read_seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void print_report(const struct bench *b, const struct ms_net *net, uint32_t threads,
			 double wall, double cpu, const struct ms_counters *before)
{
	struct ms_counters c;
	struct rusage usage;

	ms_net_counters(net, false, &c);
	getrusage(RUSAGE_SELF, &usage);
	printf("kernel %6u hosts %u planes %u threads: %6.2f Mhops/s, %5.1f ns of CPU a hop, "
	       "%llu hops in %.2f s, %.0f us, "
	       "net %llu MB, rss %ld MB, trims %llu marks %llu hash %016llx%s\n",
	       b->t.n_hosts, b->t.cfg.planes, threads,
	       (double)(c.hops - before->hops) / wall * 1e-6,
	       cpu / (double)(c.hops - before->hops) * 1e9,
	       (unsigned long long)(c.hops - before->hops), wall, (double)ms_net_now_ps(net) * 1e-6,
	       (unsigned long long)ms_net_memory_used(net) >> 20, usage.ru_maxrss >> 10,
	       (unsigned long long)c.trims, (unsigned long long)c.ecn_marks,
	       (unsigned long long)c.hash,
	       ms_counters_are_conserved(&c) ? "" : " PACKETS ARE MISSING");
	if (!ms_counters_are_conserved(&c))
		exit(1);
}

static int run_bench(struct bench *b, uint32_t threads, uint64_t us)
{
	struct ms_net_cfg cfg = {.topology = b->t,
				 .trim_to_bytes = 166,
				 .threads = threads,
				 .seed = 1,
				 .hosts = {.ctx = b, .receive = on_receive, .wake = on_wake}};
	struct ms_counters before;
	char why[MS_WHY_BYTES] = "";
	struct ms_net *net;
	double start, cpu;

	b->host = calloc(b->t.n_hosts, sizeof(*b->host));
	ms_queue_defaults(&b->t, true, cfg.queue);
	net = ms_net_create(&cfg, why);
	if (!net || !b->host) {
		fprintf(stderr, "bench_sim_kernel: %s\n", why);
		return 1;
	}
	make_permutation(b, 1);
	for (uint32_t i = 0; i < b->t.n_hosts; i++)
		ms_net_wake(net, i, b->host[i].peer % 341);
	/* What is measured is the net in full swing. */
	ms_net_run(net, 12000000);
	ms_net_counters(net, false, &before);
	start = read_seconds(CLOCK_MONOTONIC);
	cpu = read_seconds(CLOCK_PROCESS_CPUTIME_ID);
	if (ms_net_run(net, 12000000 + us * 1000000) == MS_END_MEMORY) {
		fprintf(stderr, "bench_sim_kernel: memory ran out\n");
		return 1;
	}
	print_report(b, net, threads, read_seconds(CLOCK_MONOTONIC) - start,
		     read_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu, &before);
	ms_net_destroy(net);
	free(b->host);
	return 0;
}

static int measure_kernel(uint32_t hosts_per_t0, uint32_t t0s, uint32_t planes, uint32_t threads,
			  uint64_t us)
{
	struct mf_topology_cfg cfg = {
		.dscp = mw_dscp_map_default(),
		.name = "bench",
		.planes = planes,
		.tiers = 2,
		.pods = 1,
		.hosts_per_t0 = hosts_per_t0,
		.t0s = t0s,
		.t1s = hosts_per_t0,
		.rails = 1,
		.links = {{100000000000, 500}, {100000000000, 500}, {100000000000, 500}},
		.switch_ns = 500,
		.mtu = 4262,
		.usid = {.block = 0xfcbbbb00, .planes = MF_PLANE_IN_USID},
		.address_block = 0xfd6d7263,
	};
	struct bench b = {0};
	struct mf_error error;

	if (!mf_topology_init(&b.t, &cfg, &error)) {
		fprintf(stderr, "bench_sim_kernel: %s = %s: %s\n", error.field, error.value,
			error.what);
		return 1;
	}
	return run_bench(&b, threads, us);
}

static uint32_t number_argument(char **argv, int argc, int i, uint32_t otherwise)
{
	return i < argc ? (uint32_t)strtoul(argv[i], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
	static const struct {
		uint32_t hosts_per_t0, t0s, us;
	} sizes[] = {{16, 8, 2000}, {32, 32, 400}, {64, 128, 50}};

	if (argc > 1)
		return measure_kernel(
			number_argument(argv, argc, 1, 16), number_argument(argv, argc, 2, 8),
			number_argument(argv, argc, 3, 1), number_argument(argv, argc, 4, 1),
			number_argument(argv, argc, 5, 100));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		for (uint32_t threads = 1; threads <= 2; threads++)
			if (measure_kernel(sizes[i].hosts_per_t0, sizes[i].t0s, 1, threads,
					   sizes[i].us))
				return 1;
	return 0;
}
