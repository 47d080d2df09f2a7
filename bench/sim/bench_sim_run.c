/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run.c - what a whole simulation costs: hops a second, memory of a host, a link and a connection.
 *
 * Each case is a permutation with everything on: the core, congestion control, probes, trimming,
 * ECN, the checker. It runs in a process of its own, so that its peak memory is its own. A hop is a
 * packet, data or control, over one link. CPU time beside the wall's tells what other work on the
 * machine has disturbed.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim/import/flow_files.h"
#include "sim/import/input.h"
#include "sim/run/sim_run.h"

/* About so many data packets are sent in each case, where messages may be as long or short. */
#define PACKETS_WANTED 1500000u
#define PACKET_BYTES 4096u
#define FLOW_BYTES_MIN (UINT64_C(64) << 10)
#define FLOW_BYTES_MAX (UINT64_C(64) << 20)
#define STEP_PS UINT64_C(1000000000000)
#define COMMAND_MAX 4096u

struct options {
	uint32_t hosts, planes, threads; /* 0: the table's */
	uint64_t bytes;
	bool all;
	const char *htsim, *topo, *cm;
};

/* What a case gave, as its process reports it. */
struct figures {
	struct ms_run_result result;
	double setup_s, wall_s, cpu_s;
	uint64_t rss_bytes, link_bytes, nic_bytes;
	bool good;
	char why[300];
};

static const struct shape {
	uint32_t hosts, hosts_per_t0, t0s;
} shapes[] = {
	{128, 16, 8}, {1024, 32, 32}, {8192, 64, 128}, {32768, 128, 256}, {131072, 256, 512},
};
#define SHAPES (sizeof(shapes) / sizeof(*shapes))
/* Those that a run of all benches has time for. */
#define SHAPES_SHORT 3u

static double read_seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct mf_topology_cfg init_fabric(const struct shape *s, uint32_t planes)
{
	return (struct mf_topology_cfg){
		.name = "bench",
		.planes = planes,
		.tiers = 2,
		.pods = 1,
		.hosts_per_t0 = s->hosts_per_t0,
		.t0s = s->t0s,
		.t1s = s->hosts_per_t0,
		.rails = 1,
		.links = {{100000000000, 500}, {100000000000, 500}, {100000000000, 500}},
		.switch_ns = 500,
		.mtu = 4300,
		.usid = {.block = 0xfcbbbb00, .planes = MF_PLANE_IN_USID},
		.address_block = 0xfd6d7263,
	};
}

/* Runs a simulation to its end. */
static void run_simulation(const struct ms_run_cfg *cfg, struct figures *f)
{
	char why[MS_WHY_BYTES];
	double wall = read_seconds(CLOCK_MONOTONIC), cpu;
	enum ms_run_state state = MS_RUN_RUNNING;
	struct ms_run *run = ms_run_create(cfg, why);
	struct ms_net_cfg net = {.topology = cfg->topology, .threads = cfg->threads};
	struct rusage usage;

	if (!run) {
		snprintf(f->why, sizeof(f->why), "%s", why);
		return;
	}
	f->setup_s = read_seconds(CLOCK_MONOTONIC) - wall;
	wall = read_seconds(CLOCK_MONOTONIC);
	cpu = read_seconds(CLOCK_PROCESS_CPUTIME_ID);
	while (state == MS_RUN_RUNNING)
		state = ms_run_step(run, STEP_PS);
	f->wall_s = read_seconds(CLOCK_MONOTONIC) - wall;
	f->cpu_s = read_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	f->good = ms_run_result(run, &f->result) && state == MS_RUN_DONE &&
		  f->result.flows_unfinished == 0 && f->result.violations == 0;
	if (!f->good)
		snprintf(f->why, sizeof(f->why), "%u flows unfinished; %s",
			 f->result.flows_unfinished,
			 f->result.violations ? ms_nics_violation(run->nics) : "no violation");
	getrusage(RUSAGE_SELF, &usage);
	f->rss_bytes = (uint64_t)usage.ru_maxrss << 10;
	f->link_bytes = ms_net_memory(&net, 0) / cfg->topology.n_links;
	f->nic_bytes = f->result.memory_bytes - ms_net_memory_used(run->net);
	ms_run_destroy(run);
}

/* The same in a process of its own. */
static void simulate_apart(const struct ms_run_cfg *cfg, struct figures *f)
{
	int ends[2], status = 0;
	pid_t child;

	memset(f, 0, sizeof(*f));
	fflush(stdout);
	child = pipe(ends) == 0 ? fork() : -1;
	if (child < 0) {
		snprintf(f->why, sizeof(f->why), "fork: %s", strerror(errno));
		return;
	}
	if (child == 0) {
		run_simulation(cfg, f);
		_exit(write(ends[1], f, sizeof(*f)) != (ssize_t)sizeof(*f));
	}
	close(ends[1]);
	if (read(ends[0], f, sizeof(*f)) != (ssize_t)sizeof(*f))
		snprintf(f->why, sizeof(f->why), "its process ended early");
	close(ends[0]);
	waitpid(child, &status, 0);
}

static bool print_report(const struct ms_run_cfg *cfg, const struct figures *f)
{
	const struct ms_run_result *r = &f->result;
	double hops = (double)r->net.hops;

	printf("sim: %6u hosts x %u planes, %u threads: ", cfg->topology.n_hosts,
	       cfg->topology.cfg.planes, cfg->threads);
	if (!f->good) {
		printf("failed: %s\n", f->why);
		return false;
	}
	printf("%.2f Mhops/s (%.0f ns of CPU a hop), %.1f M hops in %.2f s, set up in %.2f s, "
	       "%llu MiB: %llu B a host, %llu a link, %llu a connection with its engines; "
	       "hash %016llx\n",
	       hops / f->wall_s * 1e-6, f->cpu_s / hops * 1e9, hops * 1e-6, f->wall_s, f->setup_s,
	       (unsigned long long)f->rss_bytes >> 20,
	       (unsigned long long)(f->rss_bytes / r->hosts), (unsigned long long)f->link_bytes,
	       (unsigned long long)(f->nic_bytes / r->flows), (unsigned long long)r->net.hash);
	return true;
}

static bool enough_memory(const struct ms_run_cfg *cfg)
{
	uint64_t there = (uint64_t)sysconf(_SC_AVPHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

	if (ms_run_memory(cfg) <= there)
		return true;
	printf("sim: %6u hosts x %u planes: left out: it may take %llu MiB, %llu MiB are free\n",
	       cfg->topology.n_hosts, cfg->topology.cfg.planes,
	       (unsigned long long)ms_run_memory(cfg) >> 20, (unsigned long long)there >> 20);
	return false;
}

static uint64_t flow_bytes(const struct options *o, uint32_t hosts)
{
	uint64_t bytes = (uint64_t)PACKETS_WANTED / hosts * PACKET_BYTES;

	if (o->bytes)
		return o->bytes;
	return bytes < FLOW_BYTES_MIN	? FLOW_BYTES_MIN
	       : bytes > FLOW_BYTES_MAX ? FLOW_BYTES_MAX
					: bytes;
}

static bool run_case(const struct options *o, const struct shape *s, uint32_t planes,
		     uint32_t threads)
{
	struct mf_topology_cfg shape = init_fabric(s, planes);
	struct mf_topology t;
	struct mf_error error;
	struct ms_run_cfg cfg;
	struct figures f;

	if (!mf_topology_init(&t, &shape, &error)) {
		fprintf(stderr, "sim: %s = %s: %s\n", error.field, error.value, error.what);
		return false;
	}
	ms_run_defaults(&cfg, &t);
	cfg.threads = threads;
	cfg.workload[0].bytes = flow_bytes(o, s->hosts);
	cfg.workload[0].across_t0 = true;
	if (!enough_memory(&cfg))
		return true;
	simulate_apart(&cfg, &f);
	return print_report(&cfg, &f);
}

static bool run_table(const struct options *o)
{
	static const uint32_t planes[] = {1, 4, 8};
	bool good = true;

	for (size_t i = 0; i < SHAPES; i++) {
		if (o->hosts ? shapes[i].hosts != o->hosts : !o->all && i >= SHAPES_SHORT)
			continue;
		for (size_t p = 0; p < 3; p++) {
			if (o->planes ? planes[p] != o->planes : !o->all && planes[p] == 4)
				continue;
			for (uint32_t threads = 1; threads <= 2; threads++)
				if (!o->threads || threads == o->threads)
					good &= run_case(o, &shapes[i], planes[p], threads);
		}
	}
	return good;
}

/* ---- beside htsim ---- */

/* The CPU seconds that htsim takes for the same files; negative: it failed. */
static double run_htsim(const struct options *o, uint32_t nodes)
{
	char command[COMMAND_MAX];
	struct rusage before, after;

	getrusage(RUSAGE_CHILDREN, &before);
	snprintf(command, sizeof(command),
		 "'%s' -nodes %u -topo '%s' -tm '%s' -sender_cc_only -paths 128 -end 100000 "
		 ">/dev/null 2>&1",
		 o->htsim, nodes, o->topo, o->cm);
	if (system(command) != 0)
		return -1;
	getrusage(RUSAGE_CHILDREN, &after);
	return (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
	       (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec) * 1e-6;
}

static bool read_inputs(const struct options *o, struct mf_topology *t, struct ms_cm *cm)
{
	struct mf_topology_cfg shape = init_fabric(&shapes[0], 1);
	struct ms_file_error error;
	struct mf_error wrong;
	char *topo = ms_file_load(o->topo, &error), *text = NULL;
	bool ok = topo && ms_topo_read(&shape, o->topo, topo, &error);

	if (ok && !mf_topology_init(t, &shape, &wrong))
		ok = ms_file_set_error(&error, o->topo, 0, "%s = %s: %s", wrong.field, wrong.value,
				       wrong.what);
	if (ok) {
		text = ms_file_load(o->cm, &error);
		ok = text && ms_cm_read(cm, o->cm, text, &error);
	}
	if (!ok)
		fprintf(stderr, "sim: %s\n", error.text);
	free(topo);
	free(text);
	return ok;
}

static bool run_beside_htsim(const struct options *o)
{
	struct mf_topology t;
	struct ms_cm cm = {0};
	struct ms_run_cfg cfg;
	struct figures f;
	double theirs;
	bool good;

	if (!read_inputs(o, &t, &cm))
		return false;
	ms_run_defaults(&cfg, &t);
	cfg.workload[0].kind = MS_LIST;
	cfg.workload[0].list = cm.flows.flow;
	cfg.workload[0].n_list = cm.flows.n;
	cfg.workload[0].list_needs = cm.flows.need.at;
	cfg.workload[0].n_list_needs = (uint32_t)cm.flows.need.n;
	simulate_apart(&cfg, &f);
	good = print_report(&cfg, &f);
	theirs = good ? run_htsim(o, cm.nodes) : -1;
	ms_cm_fini(&cm);
	if (good && theirs < 0)
		fprintf(stderr, "sim: %s failed on %s and %s\n", o->htsim, o->topo, o->cm);
	if (theirs < 0)
		return false;
	printf("sim: the same files: %.2f s of CPU here, %.2f s in htsim: %.1f times as fast\n",
	       f.setup_s + f.cpu_s, theirs, theirs / (f.setup_s + f.cpu_s));
	return true;
}

static int usage(void)
{
	fputs("usage: sim_run [--hosts N] [--planes N] [--threads N] [--bytes N] [--all]\n"
	      "       sim_run --htsim BINARY --topo FILE --cm FILE\n"
	      "hosts: 128, 1024, 8192, 32768 or 131072; planes: 1, 4 or 8; threads: 1 or 2\n",
	      stderr);
	return 2;
}

/* Whether what was asked for is in the table. */
static bool check_options(const struct options *o)
{
	bool hosts = o->hosts == 0;

	for (size_t i = 0; i < SHAPES; i++)
		hosts |= shapes[i].hosts == o->hosts;
	return hosts && (o->planes == 0 || o->planes == 1 || o->planes == 4 || o->planes == 8) &&
	       o->threads <= 2 && !o->htsim == !o->topo && !o->topo == !o->cm;
}

int main(int argc, char **argv)
{
	static const struct option flags[] = {
		{"hosts", required_argument, NULL, 'n'},
		{"planes", required_argument, NULL, 'p'},
		{"threads", required_argument, NULL, 't'},
		{"bytes", required_argument, NULL, 'b'},
		{"all", no_argument, NULL, 'a'},
		{"htsim", required_argument, NULL, 'h'},
		{"topo", required_argument, NULL, 'o'},
		{"cm", required_argument, NULL, 'c'},
		{NULL, 0, NULL, 0},
	};
	struct options o = {0};
	int flag;

	while ((flag = getopt_long(argc, argv, "", flags, NULL)) != -1) {
		if (flag == 'n')
			o.hosts = (uint32_t)strtoul(optarg, NULL, 10);
		else if (flag == 'p')
			o.planes = (uint32_t)strtoul(optarg, NULL, 10);
		else if (flag == 't')
			o.threads = (uint32_t)strtoul(optarg, NULL, 10);
		else if (flag == 'b')
			o.bytes = strtoull(optarg, NULL, 10);
		else if (flag == 'a')
			o.all = true;
		else if (flag == 'h')
			o.htsim = optarg;
		else if (flag == 'o')
			o.topo = optarg;
		else if (flag == 'c')
			o.cm = optarg;
		else
			return usage();
	}
	if (optind != argc || !check_options(&o))
		return usage();
	return !(o.htsim ? run_beside_htsim(&o) : run_table(&o));
}
