/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan_run.c - the world that a plan stands for.
 *
 * Between any two nodes one path each way stays good from beginning to end; see plan_fault.c. Then
 * everything posted must complete.
 */
#include "plan_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Enough for every retry schedule below to find the one good path. */
#define RUN_MAX_NS (60 * SIM_S)
/* Nothing that goes well takes half of this. */
#define RUN_PACKETS_MAX 1000000u
#define QUIET_NS (5 * SIM_MS)
/* Of all messages of a world together; keeps a world to some milliseconds of real time. */
#define PACKETS_MAX 4000u

static void world_cfg(const struct sim_plan *p, struct sim_world_cfg *cfg)
{
	sim_world_cfg_default(cfg);
	cfg->net.seed = p->seed;
	cfg->net.n_nodes = (uint32_t)p->nodes;
	cfg->net.nodes_per_host = (uint32_t)p->host;
	cfg->net.n_planes = (uint32_t)p->planes;
	cfg->net.n_paths = (uint32_t)p->paths;
	cfg->net.path.latency_ns = p->latency_ns;
	cfg->net.path.jitter_ns = p->jitter_ns;
	cfg->net.log_room = 256;
	cfg->evs = (uint32_t)(p->paths * (1 + p->alias));
	cfg->group_ids = p->alias > 1;
	cfg->active = cfg->evs - (uint32_t)(p->backups < cfg->evs ? p->backups : 0);
	cfg->min_active = (uint32_t)(p->min_active < p->planes ? p->min_active : p->planes);
	cfg->revive_probes = (uint8_t)p->revive;
	cfg->link_bps = (p->egress_mbps ? p->egress_mbps : 100000) * 1000000 * p->planes;
	cfg->base_rtt_ns = 2 * p->latency_ns + 100;
	cfg->trimming = p->lasthop_trims;
	cfg->decoded = p->decoded;
	cfg->zero_based = p->zero_based == 1;
	cfg->all_addresses = p->zero_based == 2;
	if (p->mw_share)
		cfg->engine.max_mrs = SIM_MRS_MAX + SIM_MWS * SIM_QPS_MAX;
	if (p->refused)
		cfg->memory_least = 1; /* so that it is asked for often */
}

static void draw_qp(struct run *run, struct sim_qp_cfg *cfg, uint64_t mtu, bool extended)
{
	const struct sim_plan *p = &run->plan;
	struct rng *r = &run->rng;

	if (extended)
		sim_qp_cfg_extended(cfg);
	else
		sim_qp_cfg_default(cfg);
	cfg->cap.sq_depth = (uint32_t)p->sq_depth;
	cfg->cap.rq_depth = (uint32_t)rng_between(r, 1, 64);
	cfg->cap.signal_all = p->silent_share == 0;
	cfg->cap.pd = (uint32_t)rng_below(r, 2);
	cfg->attr.path_mtu = (uint32_t)(256u << mtu);
	cfg->attr.mpr = (uint8_t)(p->mpr ? p->mpr : rng_between(r, 1, 8));
	cfg->attr.max_wimm = (uint16_t)(p->wimm ? p->wimm : rng_between(r, 1, 32));
	cfg->attr.cc_profile = (uint32_t)(p->cc < 2 ? p->cc : rng_below(r, 2));
	cfg->attr.sq_psn = (uint32_t)rng_below(r, 1 << 24);
	if (p->wrap)
		cfg->attr.sq_psn = (1 << 24) - 1 - (uint32_t)rng_below(r, 300);
	cfg->attr.p_key = (uint16_t)rng_below(r, 2) ? 0xFFFF : 0x8123;
	cfg->attr.dynamic_mpr = p->dynamic_mpr == 1;
}

/* Each end takes as many requests as the other may have under way, and sometimes more. */
static void may_ask(struct run *run, struct sim_qp_cfg *a, struct sim_qp_cfg *b)
{
	struct rng *r = &run->rng;
	struct sim_qp_cfg *ends[] = {a, b};

	for (unsigned i = 0; i < 2; i++) {
		uint64_t most = rng_between(r, 1, run->plan.rd_atomic);

		ends[i]->cap.extensions |= MW_EXT_READ | MW_EXT_ATOMIC;
		if (run->plan.atomic_write)
			ends[i]->cap.extensions |= MW_EXT_ATOMIC_WRITE;
		ends[i]->attr.access |= RD_ACCESS_REMOTE_READ | RD_ACCESS_REMOTE_ATOMIC;
		ends[i]->attr.max_rd_atomic = (uint8_t)most;
		ends[1 - i]->attr.max_dest_rd_atomic = (uint8_t)rng_between(r, most, RD_ATOMIC_MAX);
	}
}

/* Whether an end takes receives from its node's, and may have its windows taken by SENDs. */
static void share(struct run *run, struct sim_qp_cfg *cfg)
{
	const struct sim_plan *p = &run->plan;

	if (p->extended != 1)
		return;
	if (p->mw_share)
		cfg->cap.extensions |= MW_EXT_INV;
	if (p->srq_share && rng_below(&run->apart, 100) < p->srq_share) {
		cfg->srq_depth = (uint32_t)p->srq_depth;
		cfg->recv_room = (uint32_t)p->srq_room;
	}
}

static void open_windows(struct run *run)
{
	for (uint32_t i = 0; run->plan.mw_share && i < run->world.n_qps; i++) {
		sim_mw_open(run->world.qps[i], 0, RD_MW_TYPE_1);
		sim_mw_open(run->world.qps[i], 1, RD_MW_TYPE_2);
	}
}

/* REQ(ext.srq.share): of whom the first message does not come must leave receives to others. */
static bool lets_pass(void *ctx, struct net_packet *p)
{
	const struct run *run = ctx;

	for (uint32_t i = 0; !run->released && i < run->world.n_qps; i++)
		if (run->loads[i].withheld && p->flow == &run->loads[i].qp->out &&
		    p->pkt.data.meth.msn == 0)
			return false;
	return true;
}

static void withhold(struct run *run)
{
	uint64_t left = run->plan.withheld;

	for (uint32_t i = 0; left > 0 && i < run->world.n_qps; i++) {
		struct load *load = &run->loads[i];

		if (!load->qp->peer->srq || load->left < 2)
			continue;
		load->withheld = true;
		left--;
	}
	if (left == run->plan.withheld)
		return;
	run->world.net.filter = lets_pass;
	run->world.net.filter_ctx = run;
}

static void connect_one(struct run *run)
{
	struct sim_qp_cfg a, b;
	struct rng *r = &run->rng;
	uint64_t mtu = run->plan.mtu < 5 ? run->plan.mtu : rng_below(r, 5);
	uint32_t i = (uint32_t)rng_below(r, run->plan.nodes);
	uint32_t j = (uint32_t)((i + rng_between(r, 1, run->plan.nodes - 1)) % run->plan.nodes);

	draw_qp(run, &a, mtu, run->plan.extended);
	draw_qp(run, &b, mtu, run->plan.extended == 1);
	b.attr.p_key = a.attr.p_key;
	if (run->plan.ask_share)
		may_ask(run, &a, &b);
	if (run->plan.dynamic_mpr == 2)
		a.attr.dynamic_mpr = b.attr.dynamic_mpr = rng_below(r, 2);
	share(run, &a);
	share(run, &b);
	/* Windows as responder cover what the other end may send, and sometimes more. */
	a.attr.mpr_dest = (uint8_t)rng_between(r, b.attr.mpr, 16);
	b.attr.mpr_dest = (uint8_t)rng_between(r, a.attr.mpr, 16);
	a.attr.max_wimm_dest = (uint16_t)rng_between(r, b.attr.max_wimm, 64);
	b.attr.max_wimm_dest = (uint16_t)rng_between(r, a.attr.max_wimm, 64);
	plan_set_paths(run, i, j);
	plan_set_paths(run, j, i);
	sim_connect(&run->world, i, j, &a, &b);
}

static void set_node(struct run *run, struct sim_node *node)
{
	const struct sim_plan *p = &run->plan;

	node->tx_batch = (uint32_t)p->tx_batch;
	node->late_ns = rng_below(&run->rng, p->late_ns + 1);
	node->rx_packet_ns = p->rx_packet_ns;
	node->rx_room = p->rx_room;
	node->service_ns = p->service_ns;
	node->refused_share = (uint32_t)p->refused;
	if (p->rx_told)
		mt_engine_rx_capacity(node->engine, (uint32_t)p->rx_room);
}

static void build(struct run *run)
{
	const struct sim_plan *p = &run->plan;
	struct sim_world_cfg cfg;

	world_cfg(p, &cfg);
	sim_world_open(&run->world, &cfg);
	rng_init(&run->rng, p->seed + 1);
	rng_init(&run->apart, p->seed + 2);
	run->packets_left = PACKETS_MAX;
	plan_set_queues(run);
	for (uint64_t i = 0; i < p->conns && !run->world.check.failed; i++)
		connect_one(run);
	for (uint32_t i = 0; i < run->world.n_qps; i++) {
		bool sends = i % 2 == 0 || !p->one_way;

		run->loads[i].qp = run->world.qps[i];
		run->loads[i].left = sends ? p->messages : 0;
		plan_load_begin(run, &run->loads[i]);
	}
	for (uint32_t i = 0; i < p->nodes; i++)
		set_node(run, &run->world.nodes[i]);
	plan_faults(run);
	open_windows(run);
	withhold(run);
	run->world.app = plan_load_app;
	run->world.app_ctx = run;
}

/* Whether all has happened, but for what is withheld and what waits behind it. */
static bool all_done(const struct run *run)
{
	const struct sim_world *w = &run->world;

	if (!plan_all_posted(run, run->released))
		return false;
	if (run->released)
		return sim_done(&run->world);
	for (uint32_t i = 0; i < w->n_qps; i++)
		if (!run->loads[i].withheld && !sim_qp_done(w->qps[i]))
			return false;
	return true;
}

/* Runs until all is posted and done, or until it is clear that it never will be. */
static void run_all(struct run *run)
{
	struct sim_world *w = &run->world;
	uint64_t limit = w->net.now_ns + RUN_MAX_NS;

	while (!all_done(run)) {
		if (w->net.counts.sent > RUN_PACKETS_MAX)
			sim_fail(&w->check, "%" PRIu64 " packets and not done", w->net.counts.sent);
		if (sim_step(w, limit))
			continue;
		sim_fail(&w->check, "not done after %.3f s%s", (double)RUN_MAX_NS / 1e9,
			 run->released ? "" : ", without what is withheld");
		return;
	}
}

static void run_to_the_end(struct run *run)
{
	struct sim_world *w = &run->world;

	for (uint32_t i = 0; i < w->cfg.net.n_nodes; i++)
		sim_node_run(&w->nodes[i]);
	if (w->net.filter)
		run_all(run);
	run->released = true;
	run_all(run);
	sim_check_quiet(w, QUIET_NS);
	if (!w->check.failed)
		sim_check_stats(w);
	if (!w->check.failed)
		plan_end(run);
}

/* What QPs without extensions cannot do is nothing, or a plan made simpler would fail by that. */
static struct sim_plan possible(const struct sim_plan *plan)
{
	struct sim_plan p = *plan;

	if (p.extended != 1)
		p.ask_share = p.mw_share = p.srq_share = 0;
	/* With fewer the oldest message of each of these may hold all. */
	if (p.srq_depth < SIM_LEFT_TO_OTHERS * p.withheld)
		p.srq_depth = SIM_LEFT_TO_OTHERS * p.withheld;
	return p;
}

void sim_plan_run(const struct sim_plan *plan, struct sim_outcome *outcome, bool explain)
{
	struct run *run = calloc(1, sizeof(*run));

	if (!run)
		abort();
	run->plan = possible(plan);
	build(run);
	if (!run->world.check.failed)
		run_to_the_end(run);
	outcome->failed = run->world.check.failed;
	memcpy(outcome->why, run->world.check.why, sizeof(outcome->why));
	outcome->packets = run->world.net.counts.sent;
	outcome->ended_ns = run->world.net.now_ns;
	if (explain && outcome->failed)
		sim_explain(&run->world);
	sim_world_close(&run->world);
	free(run);
}
