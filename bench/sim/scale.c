/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scale.c - what a whole simulation costs: every host a NIC with the core, a permutation across
 *T0s, congestion control and the checker on. Each line is a process of its own, so that its memory
 *is its own.
 *
 *	bench_sim_scale [--hosts N] [--bytes N] [--htsim PATH MATRIX TOPOLOGY]
 *
 * --hosts: fabrics of up to so many (1024); --bytes: of each flow (262144); --htsim: the program
 * htsim_uec, and a matrix and a topology that both simulators run, one after the other.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fabric/preset.h"
#include "sim/run.h"
#include "sim/scenario.h"

/* Simulated time that one call of ms_run_step covers. */
#define STEP_PS UINT64_C(1000000000)
#define BYTES_DEFAULT 262144u
#define HOSTS_DEFAULT 1024u

struct size {
	uint32_t hosts_per_t0, t0s, t1s;
};

static const struct size sizes[] = {
	{16, 8, 16}, {32, 32, 32}, {64, 128, 64}, {128, 256, 128}, {256, 512, 256}};
static const uint32_t planes[] = {1, 4, 8};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct options {
	uint32_t hosts;
	uint64_t bytes;
	const char *htsim, *matrix, *topology;
};

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(const char *what)
{
	fprintf(stderr, "bench_sim_scale: %s\n", what);
	exit(1);
}

static uint64_t peak_rss(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return (uint64_t)use.ru_maxrss * 1024;
}

/* run_to_end runs and returns what came out, how long it took and what the fabric held. */
static struct ms_run_result run_to_end(const struct ms_run_cfg *cfg, double *took,
				       uint64_t *net_bytes)
{
	struct ms_run_result result;
	enum ms_run_state state = MS_RUN_GOES_ON;
	char why[MS_WHY_BYTES];
	struct ms_run *run = ms_run_create(cfg, why);
	double began = seconds();

	if (!run)
		die(why);
	while (state == MS_RUN_GOES_ON)
		state = ms_run_step(run, STEP_PS);
	*took = seconds() - began;
	if (!ms_run_result(run, &result) || result.flows_unfinished || result.complaints)
		die("a run did not end well");
	*net_bytes = ms_net_memory_used(ms_run_net(run));
	ms_run_destroy(run);
	return result;
}

/* ---- fabrics ---- */

static struct mf_topology fabric(const struct size *size, uint32_t n_planes)
{
	struct mf_topology_cfg cfg = mf_preset_find("paper")->cfg;
	struct mf_topology t;
	struct mf_error error;

	cfg.planes = n_planes;
	cfg.hosts_per_t0 = size->hosts_per_t0;
	cfg.t0s = size->t0s;
	cfg.t1s = size->t1s;
	memset(cfg.radix, 0, sizeof(cfg.radix));
	cfg.rails = 1;
	if (!mf_topology_init(&t, &cfg, &error))
		die(error.what);
	return t;
}

static void measure(const struct options *o, const struct size *size, uint32_t n_planes,
		    uint32_t threads)
{
	const struct mf_topology t = fabric(size, n_planes);
	struct ms_run_result r;
	struct ms_run_cfg cfg;
	double took;
	uint64_t rss, net;

	ms_run_defaults(&cfg, &t);
	cfg.workload[0].bytes = o->bytes;
	cfg.workload[0].across_t0 = true;
	cfg.threads = threads;
	r = run_to_end(&cfg, &took, &net);
	rss = peak_rss();
	printf("%6u hosts, %u planes, %u threads: %6.2f Mhops/s, peak %8.2f MiB; fabric %5.0f "
	       "bytes a "
	       "link, NICs %6.0f a host, %6.0f a connection\n",
	       t.n_hosts, n_planes, threads, (double)r.net.hops / took / 1e6, (double)rss / 1048576,
	       (double)net / t.n_links, (double)(r.memory_bytes - net) / t.n_hosts,
	       (double)(r.memory_bytes - net) / r.flows);
}

/* apart runs a point in a process of its own. */
static void apart(const struct options *o, const struct size *size, uint32_t n_planes,
		  uint32_t threads)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		measure(o, size, n_planes, threads);
		fflush(stdout);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
		die("a point failed");
}

/* ---- htsim ---- */

/* ours runs matrix and topology; returns seconds, without reading them. */
static double ours(const struct options *o, struct ms_run_result *r)
{
	char text[1024];
	struct ms_file_error error;
	struct ms_scenario *s;
	uint64_t net;
	double took;

	snprintf(text, sizeof(text),
		 "[topology]\nhtsim = \"%s\"\n[queues]\necn_last_hop = true\n[mrc]\nframe_bytes = "
		 "18\n"
		 "[[workload]]\nkind = \"matrix\"\nfile = \"%s\"\n",
		 o->topology, o->matrix);
	s = ms_scenario_read("htsim", text, NULL, &error);
	if (!s)
		die(error.text);
	*r = run_to_end(&s->run, &took, &net);
	ms_scenario_destroy(s);
	return took;
}

static double theirs(const struct options *o, uint32_t hosts)
{
	char nodes[16], null[] = "/dev/null";
	double began = seconds();
	pid_t pid;
	int status;

	snprintf(nodes, sizeof(nodes), "%u", hosts);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (!freopen(null, "w", stdout))
			_exit(126);
		execl(o->htsim, o->htsim, "-o", "/dev/null", "-nodes", nodes, "-topo", o->topology,
		      "-tm", o->matrix, "-sender_cc_only", "-paths", "128", "-end", "1000000",
		      (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
		die("htsim failed");
	return seconds() - began;
}

static void against_htsim(const struct options *o)
{
	struct ms_run_result r;
	double mine = ours(o, &r), other = theirs(o, r.hosts);

	printf("%s on %s: %.2f s, htsim %.2f s: %.1f times as fast; %.2f Mhops/s\n", o->matrix,
	       o->topology, mine, other, other / mine, (double)r.net.hops / mine / 1e6);
}

/* ---- the program ---- */

static uint64_t number(const char *text)
{
	char *end;
	unsigned long long n = text ? strtoull(text, &end, 10) : 0;

	if (!text || *end || n == 0)
		die("expected a number above 0");
	return n;
}

static void parse(struct options *o, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--hosts") == 0 && i + 1 < argc) {
			o->hosts = (uint32_t)number(argv[++i]);
		} else if (strcmp(argv[i], "--bytes") == 0 && i + 1 < argc) {
			o->bytes = number(argv[++i]);
		} else if (strcmp(argv[i], "--htsim") == 0 && i + 3 < argc) {
			o->htsim = argv[++i];
			o->matrix = argv[++i];
			o->topology = argv[++i];
		} else {
			die("expected --hosts N, --bytes N or --htsim PATH MATRIX TOPOLOGY");
		}
	}
}

int main(int argc, char **argv)
{
	struct options o = {.hosts = HOSTS_DEFAULT, .bytes = BYTES_DEFAULT};

	parse(&o, argc, argv);
	if (o.htsim) {
		against_htsim(&o);
		return 0;
	}
	for (size_t s = 0; s < COUNT(sizes); s++)
		for (size_t p = 0; p < COUNT(planes); p++)
			for (uint32_t threads = 1; threads <= 2; threads++)
				if (sizes[s].hosts_per_t0 * sizes[s].t0s <= o.hosts)
					apart(&o, &sizes[s], planes[p], threads);
	return 0;
}
