/* SPDX-License-Identifier: BSD-2-Clause */
/* sim_run.c - puts fabric, NICs and workload together, and lets time pass. */
#include <stdio.h>
#include <stdlib.h>

#include "sim/run/sim_run.h"

/* 128 bytes of packet, and what frames it on the wire. */
#define TRIM_TO_BYTES 152u
/* Scratch of a thread, of which large runs do not notice anything. */
#define WORKER_BYTES (UINT64_C(1) << 20)
/* What is known of networks of this kind: a second until all of them know. */
#define RECONVERGE_NS UINT64_C(1000000000)
#define QUEUE_BDPS 5u
#define DEFAULT_BYTES (UINT64_C(1) << 20)

void ms_run_defaults(struct ms_run_cfg *cfg, const struct mf_topology *topology)
{
	*cfg = (struct ms_run_cfg){
		.topology = *topology,
		.trim_to_bytes = TRIM_TO_BYTES,
		.n_workloads = 1,
		.seed = 1,
		.threads = 1,
		.end_ps = MS_NEVER,
	};
	ms_queue_defaults(topology, true, cfg->queue);
	ms_mrc_defaults(&cfg->mrc, topology);
	ms_roce_defaults(&cfg->roce, topology);
	ms_pfc_defaults(topology, &cfg->pfc);
	cfg->reconverge_ns = RECONVERGE_NS;
	cfg->workload[0] = (struct ms_workload_cfg){
		.kind = MS_PERMUTATION,
		.bytes = DEFAULT_BYTES,
		.seed = 1,
		.chunks = 1,
	};
}

/* ---- what the parts are made of ---- */

/* What the parts have in common is said once in a configuration; here each part has it. */
static struct ms_run_cfg complete_cfg(const struct ms_run_cfg *cfg)
{
	struct ms_run_cfg c = *cfg;

	c.mrc.topology = c.roce.topology = cfg->topology;
	c.mrc.threads = c.roce.threads = cfg->threads;
	c.mrc.seed = c.roce.seed = cfg->seed;
	for (uint32_t i = 0; i < cfg->n_workloads && i < MS_PARTS_MAX; i++) {
		c.workload[i].hosts = cfg->topology.n_hosts;
		c.workload[i].hosts_per_t0 = cfg->topology.cfg.hosts_per_t0;
	}
	return c;
}

static bool uses(const struct ms_run_cfg *cfg, enum ms_transport transport)
{
	for (uint32_t i = 0; i < cfg->n_workloads && i < MS_PARTS_MAX; i++)
		if (cfg->workload[i].transport == transport)
			return true;
	return false;
}

static void fill_net(const struct ms_run_cfg *cfg, struct ms_net_cfg *net)
{
	*net = (struct ms_net_cfg){
		.topology = cfg->topology,
		.trim_to_bytes = cfg->trim_to_bytes,
		.threads = cfg->threads,
		.ranks = cfg->ranks,
		.edge_ps = cfg->edge_ps,
		.seed = cfg->seed,
		.ecmp = uses(cfg, MS_ROCE),
		.pfc = cfg->pfc,
		.reconverge_ps = cfg->reconverge_ns * MS_PS_PER_NS,
	};
	for (unsigned i = 0; i < MS_PORT_KINDS; i++)
		net->queue[i] = cfg->queue[i];
}

/* ---- edges and taps ---- */

static bool on_edge(void *ctx, uint64_t now_ps)
{
	struct ms_run *run = ms_nics_owner(ctx);

	return run->cfg.edge(run->cfg.ctx, run, now_ps);
}

static void on_tap(void *ctx, struct ms_worker *worker, uint32_t link, uint64_t now_ps,
		   const struct ms_packet *p)
{
	struct ms_run *run = ms_nics_owner(ctx);

	(void)worker;
	run->cfg.tap(run->cfg.ctx, run, link, now_ps, p);
}

/* ---- life ---- */

bool ms_run_check(const struct ms_run_cfg *cfg, char *why)
{
	const struct ms_run_cfg c = complete_cfg(cfg);
	struct ms_net_cfg net;

	why[0] = '\0';
	fill_net(cfg, &net);
	if (c.n_workloads == 0 || c.n_workloads > MS_PARTS_MAX)
		return ms_refuse(why, "%u workloads: 1 to %u", c.n_workloads, MS_PARTS_MAX);
	for (uint32_t i = 0; i < c.n_workloads; i++)
		if (!ms_workload_check(&c.workload[i], why))
			return false;
	return ms_mrc_check(&c.mrc, why) && ms_roce_check(&c.roce, why) &&
	       ms_net_cfg_check(&net, why);
}

static bool add_faults(struct ms_run *run, char *why)
{
	for (uint32_t i = 0; i < run->cfg.n_faults; i++)
		if (!ms_net_add_fault(run->net, &run->cfg.faults[i]))
			return ms_refuse(
				why,
				"fault %u: link %u, value %u, at %llu ps: no such link, or a "
				"value or time out of range",
				i, run->cfg.faults[i].link, run->cfg.faults[i].value,
				(unsigned long long)run->cfg.faults[i].at_ps);
	run->cfg.faults = NULL;
	return true;
}

static bool open_nics(struct ms_run *run, char *why)
{
	const struct ms_run_cfg *cfg = &run->cfg;

	run->nics = ms_nics_create(&cfg->topology, cfg->threads, run->workload, run, why);
	if (!run->nics)
		return false;
	if (uses(cfg, MS_MRC) && !(run->mrc = ms_mrc_create(&cfg->mrc, run->nics, why)))
		return false;
	return !uses(cfg, MS_ROCE) || (run->roce = ms_roce_create(&cfg->roce, run->nics, why));
}

static bool open_run(struct ms_run *run, char *why)
{
	struct ms_net_cfg net;

	fill_net(&run->cfg, &net);
	run->workload = ms_workload_create(run->cfg.workload, run->cfg.n_workloads, why, NULL);
	if (!run->workload || !open_nics(run, why))
		return false;
	ms_nics_hosts(run->nics, &net.hosts);
	if (run->cfg.edge)
		net.hosts.edge = on_edge;
	if (run->cfg.tap)
		net.hosts.tap = on_tap;
	run->net = ms_net_create(&net, why);
	if (!run->net || !add_faults(run, why))
		return false;
	ms_nics_start(run->nics, run->net);
	return true;
}

struct ms_run *ms_run_create(const struct ms_run_cfg *cfg, char *why)
{
	struct ms_run *run;

	if (!ms_run_check(cfg, why))
		return NULL;
	run = calloc(1, sizeof(*run));
	if (!run) {
		ms_refuse(why, "no memory for a run");
		return NULL;
	}
	run->cfg = complete_cfg(cfg);
	if (open_run(run, why))
		return run;
	ms_run_destroy(run);
	return NULL;
}

void ms_run_destroy(struct ms_run *run)
{
	if (!run)
		return;
	if (run->net)
		ms_net_destroy(run->net);
	ms_nics_destroy(run->nics);
	ms_workload_destroy(run->workload);
	free(run->merged);
	free(run);
}

/* ---- time ---- */

/* Adds up numbers over all ranks. */
static bool sum_ranks(const struct ms_run *run, uint64_t *numbers, uint32_t n)
{
	const struct ms_ranks *r = run->cfg.ranks;

	return !r || r->sum(r->ctx, numbers, n);
}

/* Nothing moves any more: is everything done? */
static enum ms_run_state at_rest(struct ms_run *run)
{
	struct ms_nic_sums sums;
	uint64_t n[2];

	ms_nics_check_end(run->nics);
	ms_nics_sums(run->nics, &sums);
	n[0] = sums.arrived;
	n[1] = sums.acked;
	if (!sum_ranks(run, n, 2))
		return MS_RUN_RANKS;
	return n[0] == ms_workload_flows(run->workload) && n[1] == n[0] ? MS_RUN_DONE
									: MS_RUN_STUCK;
}

enum ms_run_state ms_run_step(struct ms_run *run, uint64_t step_ps)
{
	uint64_t now = ms_net_now_ps(run->net), end = run->cfg.end_ps, until;

	until = step_ps > end - now ? end : now + step_ps;
	switch (ms_net_run(run->net, until)) {
	case MS_END_TIME:
		if (ms_nics_out_of_memory(run->nics))
			return MS_RUN_MEMORY;
		return until == end ? MS_RUN_TIME : MS_RUN_RUNNING;
	case MS_END_IDLE:
		return at_rest(run);
	case MS_END_STOPPED:
		return MS_RUN_STOPPED;
	case MS_END_MEMORY:
		return MS_RUN_MEMORY;
	case MS_END_RANKS:
		break;
	}
	return MS_RUN_RANKS;
}

bool ms_run_uses(const struct ms_run *run, enum ms_transport transport)
{
	return uses(&run->cfg, transport);
}

void ms_run_stats(const struct ms_run *run, struct mt_stats *core, struct ms_roce_stats *roce)
{
	*core = (struct mt_stats){0};
	*roce = (struct ms_roce_stats){0};
	if (run->mrc)
		ms_mrc_stats(run->mrc, core);
	if (run->roce)
		ms_roce_stats(run->roce, roce);
}

/* ---- memory ---- */

/*
 * Packets under way in the whole fabric: of each host a window, or its longest flow where that is
 * shorter, and half as many answers.
 */
static uint64_t in_flight(const struct ms_run_cfg *cfg)
{
	const struct ms_mrc_cfg *n = &cfg->mrc;
	uint64_t window = n->cc.link_bps / 8 * n->cc.base_rtt_ns / 1000000000 * 3 / 2, longest = 0;

	for (uint32_t i = 0; i < cfg->n_workloads; i++) {
		struct ms_flow f;
		uint64_t bytes;

		ms_workload_shape(&cfg->workload[i], &f);
		bytes = f.message_bytes * (f.messages < n->depth ? f.messages : n->depth);
		longest = bytes > longest ? bytes : longest;
	}
	/* RoCE has no window; what waits is bounded by the queues. */
	window *= uses(cfg, MS_ROCE) ? QUEUE_BDPS : 1;
	window = longest < window ? longest : window;
	return (window / n->path_mtu + 1) * 3 / 2 * cfg->topology.n_hosts;
}

uint64_t ms_run_memory(const struct ms_run_cfg *cfg)
{
	const struct ms_run_cfg c = complete_cfg(cfg);
	uint64_t bytes = WORKER_BYTES * c.threads, hosts = c.topology.n_hosts;
	struct ms_net_cfg net;

	fill_net(cfg, &net);
	for (uint32_t i = 0; i < c.n_workloads; i++)
		bytes += ms_workload_bytes(&c.workload[i]);
	if (c.ranks)
		hosts = (hosts + c.ranks->ranks - 1) / c.ranks->ranks;
	return bytes + ms_nics_memory(&c.topology, c.workload, c.n_workloads) +
	       ms_mrc_memory(&c.mrc, c.workload, c.n_workloads, hosts) +
	       ms_roce_memory(&c.roce, c.workload, c.n_workloads, hosts) +
	       ms_net_memory(&net, in_flight(&c));
}
