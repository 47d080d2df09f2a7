/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan.c - drawing plans, running them, making them simpler.
 *
 * The faults obey one rule: between any two nodes one path each way stays good from beginning to
 * end (slow and jittery, but nothing worse). Then everything posted must complete.
 */
#include "plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

/* Enough for every retry schedule below to find the one good path. */
#define RUN_MAX_NS (60 * SIM_S)
/* Nothing that goes well takes half of this. */
#define RUN_PACKETS_MAX 1000000u
#define QUIET_NS (5 * SIM_MS)
/* Of all messages of a world together; keeps a world to some milliseconds of real time. */
#define PACKETS_MAX 4000u

/* ---- drawing ---- */

static uint64_t one_of(struct sim_rng *r, const uint64_t *values, size_t n)
{
	return values[sim_below(r, n)];
}

#define ONE_OF(r, ...)                             \
	one_of(r, (const uint64_t[]){__VA_ARGS__}, \
	       sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* A number in [0, max], small ones as likely as large ones; zero half of the time. */
static uint64_t maybe(struct sim_rng *r, uint64_t max)
{
	unsigned bits = 0;

	if (sim_below(r, 2))
		return 0;
	while (max >> bits > 1)
		bits++;
	return sim_below(r, (max >> sim_below(r, bits + 1)) + 1);
}

static void draw_shape(struct sim_plan *p, struct sim_rng *r)
{
	p->nodes = sim_below(r, 2) ? 2 : sim_between(r, 2, 8);
	p->planes = ONE_OF(r, 1, 2, 4, 8, sim_between(r, 1, 8));
	p->paths = ONE_OF(r, 1, 4, 8, 32, sim_between(r, 1, 32));
	p->alias = sim_below(r, 4) ? 0 : sim_between(r, 1, 2);
	p->backups = ONE_OF(r, 0, 0, p->paths / 8, p->paths - 1);
	p->min_active = ONE_OF(r, 1, 1, 1, p->planes);
	p->revive = ONE_OF(r, 1, 2, 3, 16);
	p->conns = sim_between(r, 1, 8);
	p->latency_ns = ONE_OF(r, 200, 1000, 5000, 50000);
	p->spread_ns = maybe(r, 2 * p->latency_ns);
	p->jitter_ns = maybe(r, 2 * p->latency_ns);
	p->egress_mbps = ONE_OF(r, 0, 0, 1000, 100000);
	p->lasthop_mbps = ONE_OF(r, 0, 0, 0, 1000, 100000);
	p->lasthop_trims = sim_below(r, 2);
}

static void draw_load(struct sim_plan *p, struct sim_rng *r)
{
	p->messages = sim_between(r, 1, ONE_OF(r, 4, 40, 200));
	p->one_way = sim_below(r, 2);
	p->imm_share = ONE_OF(r, 0, 10, 50, 100);
	p->big_share = ONE_OF(r, 0, 0, 20);
	p->small = sim_below(r, 3) == 0;
	p->silent_share = ONE_OF(r, 0, 50, 95);
	p->pause_ns = ONE_OF(r, 0, 0, 0, 20000, 500000);
	p->mtu = sim_below(r, 6);
	p->mpr = ONE_OF(r, 0, 1, 8);
	p->wimm = ONE_OF(r, 0, 1, 32);
	p->sq_depth = ONE_OF(r, 1, 4, 64, 512);
	p->wrap = sim_below(r, 2);
	p->cc = sim_below(r, 3);
	/* Whoever may send at any rate into a queue that trims sees NACKs and little else. */
	if (p->cc != 1)
		p->lasthop_trims = 0;
	p->decoded = sim_below(r, 5) == 0;
	p->tx_batch = ONE_OF(r, 1, 16, 64);
	p->late_ns = ONE_OF(r, 0, 0, 1000, 100000);
}

/*
 * Most ways there may be dead, because what comes back tells which paths work. What comes back
 * gets no such answer: when most ways back are dead too, hardly anything is ever heard.
 */
static void draw_dead(struct sim_plan *p, struct sim_rng *r)
{
	switch (sim_below(r, 5)) {
	case 0:
		p->dead_up = ONE_OF(r, 100, 500, 700);
		break;
	case 1:
		p->dead_down = ONE_OF(r, 100, 500);
		break;
	case 2:
		p->dead_up = p->dead_down = ONE_OF(r, 100, 300, 500);
		break;
	default:
		break;
	}
}

static void draw_faults(struct sim_plan *p, struct sim_rng *r)
{
	if (sim_below(r, 8) == 0)
		return;
	p->bad_share = ONE_OF(r, 30, 250, 500, 1000);
	draw_dead(p, r);
	p->loss_ppm = maybe(r, 300000);
	p->corrupt_ppm = maybe(r, 100000);
	p->dup_ppm = maybe(r, 100000);
	p->reorder_ppm = maybe(r, 200000);
	p->reorder_ns = ONE_OF(r, 1000, 20000, 2000000);
	p->ecn_ppm = maybe(r, 500000);
	p->trim_ppm = maybe(r, 200000);
	p->trim_last_ppm = maybe(r, 200000);
	p->faults = maybe(r, 16);
	p->fault_ns = ONE_OF(r, 50000, 2000000, 50000000);
	p->stops = maybe(r, 4);
}

void sim_plan_draw(struct sim_plan *plan, uint64_t seed)
{
	struct sim_rng r;

	sim_rng_init(&r, seed);
	memset(plan, 0, sizeof(*plan));
	plan->seed = seed;
	draw_shape(plan, &r);
	draw_load(plan, &r);
	draw_faults(plan, &r);
}

/* ---- the load ---- */

/* What a QP has still to post. */
struct load {
	struct sim_qp *qp;
	uint64_t left;
	uint64_t not_before_ns;
	uint64_t silent; /* unsignalled in a row */
};

struct run;

/* Something that fails during the run: a path or a whole plane between two nodes one way, or a
 * node that stops. */
struct fault {
	struct run *run;
	uint32_t src, dst, plane, path;
	bool whole_plane, stops_node;
	uint64_t lasts_ns;
};

#define FAULTS_MAX 32u

struct run {
	const struct sim_plan *plan;
	struct sim_world world;
	struct sim_rng rng;
	struct load loads[2 * SIM_QPS_MAX];
	uint64_t packets_left;
	bool paths_set[SIM_NODES_MAX][SIM_NODES_MAX];
	struct fault faults[FAULTS_MAX];
	uint32_t n_faults;
};

static uint32_t message_len(struct run *run, uint32_t mtu)
{
	struct sim_rng *r = &run->rng;

	if (sim_below(r, 1000) < run->plan->big_share)
		return 1 << 20;
	switch (sim_below(r, run->plan->small ? 4 : 6)) {
	case 0:
		return 0;
	case 1:
		return (uint32_t)sim_between(r, 1, 64);
	case 2:
		return mtu * (uint32_t)sim_between(r, 1, 3);
	case 3:
		return mtu + (uint32_t)sim_below(r, 3) - 1;
	default:
		return (uint32_t)sim_between(r, 1, 65536);
	}
}

static uint32_t message_flags(struct run *run, struct load *load)
{
	const struct sim_plan *p = run->plan;
	uint32_t flags = 0;

	if (sim_below(&run->rng, 100) < p->imm_share)
		flags |= MT_WR_IMM;
	if (sim_below(&run->rng, 4) == 0)
		flags |= MT_WR_SOLICITED;
	/* Slots of silent requests come back with the next signalled one. */
	if (sim_below(&run->rng, 100) >= p->silent_share || load->left == 1 ||
	    load->silent + 1 >= (p->sq_depth + 1) / 2)
		flags |= MT_WR_SIGNALED;
	return flags;
}

static void come_back(void *ctx, uint64_t arg)
{
	(void)arg;
	sim_node_run(ctx);
}

static void pause_load(struct run *run, struct load *load)
{
	struct sim_net *net = &run->world.net;

	if (!run->plan->pause_ns || sim_below(&run->rng, 4))
		return;
	load->not_before_ns = net->now_ns + sim_between(&run->rng, 1, run->plan->pause_ns);
	sim_net_at(net, load->not_before_ns, come_back, load->qp->node, 0);
}

/* Posts one message; false when it has to wait. */
static bool post_one(struct run *run, struct load *load)
{
	struct sim_flow *f = &load->qp->out;
	uint32_t packets_mtu = f->mtu;
	struct sim_wr wr = {.flags = message_flags(run, load),
			    .imm = (uint32_t)sim_rand(&run->rng)};
	int result;

	/* There is no receiver-not-ready: an immediate needs a receive that is posted already. */
	if (wr.flags & MT_WR_IMM && f->recvs_posted <= f->imms)
		return false;
	wr.len = message_len(run, packets_mtu);
	if (wr.len / packets_mtu + 1 > run->packets_left)
		wr.len = 0;
	wr.n_sge = wr.len ? (uint32_t)sim_between(&run->rng, 1, SIM_SGE_MAX) : 0;
	if (!sim_post_wr(load->qp, &wr, &result)) {
		if (result != MT_ERR_FULL)
			sim_fail(&run->world.check, "%s: mt_qp_post_send: error %d", f->name,
				 result);
		return false;
	}
	load->left--;
	load->silent = wr.flags & MT_WR_SIGNALED ? 0 : load->silent + 1;
	run->packets_left -= wr.len / packets_mtu < run->packets_left ? wr.len / packets_mtu : 0;
	pause_load(run, load);
	return true;
}

/* Keeps the receive queue full. */
static void post_recvs(struct run *run, struct sim_qp *qp)
{
	const struct sim_flow *in = &qp->peer->out;

	while (in->recvs_posted - in->recvs_done < qp->cfg.cap.rq_depth)
		if (sim_post_recv(qp) != MT_OK) {
			sim_fail(&run->world.check, "%s: mt_qp_post_recv failed", in->name);
			return;
		}
}

static void app(void *ctx, struct sim_node *node)
{
	struct run *run = ctx;

	for (uint32_t i = 0; i < run->world.n_qps; i++) {
		struct load *load = &run->loads[i];

		if (load->qp->node != node)
			continue;
		post_recvs(run, load->qp);
		while (load->left && run->world.net.now_ns >= load->not_before_ns)
			if (!post_one(run, load))
				break;
	}
}

static bool all_posted(const struct run *run)
{
	for (uint32_t i = 0; i < run->world.n_qps; i++)
		if (run->loads[i].left)
			return false;
	return true;
}

/* ---- faults ---- */

/* The path that stays good between two nodes, each way its own. */
static bool is_good_path(const struct run *run, uint32_t src, uint32_t dst, uint32_t plane,
			 uint32_t path)
{
	uint64_t n = run->plan->planes * run->plan->paths;
	struct sim_rng r;

	sim_rng_init(&r, run->plan->seed ^ (src * SIM_NODES_MAX + dst + 1));
	return sim_below(&r, n) == plane * run->plan->paths + path;
}

static void spoil_path(struct run *run, struct sim_path *path, uint64_t dead_share)
{
	const struct sim_plan *p = run->plan;

	path->dead = sim_below(&run->rng, 1000) < dead_share;
	if (sim_below(&run->rng, 1000) >= p->bad_share)
		return;
	path->loss_ppm = (uint32_t)p->loss_ppm;
	path->corrupt_ppm = (uint32_t)p->corrupt_ppm;
	path->dup_ppm = (uint32_t)p->dup_ppm;
	path->reorder_ppm = (uint32_t)p->reorder_ppm;
	path->reorder_ns = p->reorder_ns;
	path->ecn_ppm = (uint32_t)p->ecn_ppm;
	path->trim_ppm = (uint32_t)p->trim_ppm;
	path->trim_lasthop_ppm = (uint32_t)p->trim_last_ppm;
}

static void set_paths(struct run *run, uint32_t src, uint32_t dst)
{
	const struct sim_plan *p = run->plan;

	if (run->paths_set[src][dst])
		return;
	run->paths_set[src][dst] = true;
	for (uint32_t plane = 0; plane < p->planes; plane++)
		for (uint32_t k = 0; k < p->paths; k++) {
			struct sim_path *path = sim_net_path(&run->world.net, src, dst, plane, k);

			path->latency_ns += sim_below(&run->rng, p->spread_ns + 1);
			if (!is_good_path(run, src, dst, plane, k))
				spoil_path(run, path, src < dst ? p->dead_up : p->dead_down);
		}
}

static void set_queues(struct run *run)
{
	const struct sim_plan *p = run->plan;
	struct sim_net *net = &run->world.net;

	for (uint32_t node = 0; node < p->nodes; node++)
		for (uint32_t port = 0; port < p->planes; port++) {
			net->egress[node][port].bps = p->egress_mbps * 1000000;
			net->lasthop[node][port] = (struct sim_queue){
				.bps = p->lasthop_mbps * 1000000,
				.ecn_ns = 4 * p->latency_ns,
				/* A queue that drops would break the promise of a good path. */
				.full_ns = p->lasthop_trims ? 8 * p->latency_ns + 100000 : 0,
				.trims = true,
			};
		}
}

static void set_dead(const struct fault *f, bool dead)
{
	for (uint32_t k = 0; k < f->run->plan->paths; k++)
		if ((f->whole_plane || k == f->path) &&
		    !is_good_path(f->run, f->src, f->dst, f->plane, k))
			sim_net_path(&f->run->world.net, f->src, f->dst, f->plane, k)->dead = dead;
}

static void fault_ends(void *ctx, uint64_t arg)
{
	(void)arg;
	set_dead(ctx, false);
}

static void fault_begins(void *ctx, uint64_t arg)
{
	struct fault *f = ctx;

	(void)arg;
	if (f->stops_node) {
		sim_node_stop(&f->run->world.nodes[f->src], f->lasts_ns, false);
		return;
	}
	set_dead(f, true);
	sim_net_at(&f->run->world.net, f->run->world.net.now_ns + f->lasts_ns, fault_ends, f, 0);
}

static void plan_fault(struct run *run, bool stops_node)
{
	struct sim_rng *r = &run->rng;
	const struct sim_plan *p = run->plan;
	struct fault *f = &run->faults[run->n_faults++];
	const struct sim_qp *qp = run->world.qps[sim_below(r, run->world.n_qps)];

	*f = (struct fault){.run = run,
			    .src = qp->node->id,
			    .dst = qp->peer->node->id,
			    .plane = (uint32_t)sim_below(r, p->planes),
			    .path = (uint32_t)sim_below(r, p->paths),
			    .whole_plane = sim_below(r, 3) == 0,
			    .stops_node = stops_node,
			    .lasts_ns = sim_between(r, 1, p->fault_ns + 1)};
	sim_net_at(&run->world.net, run->world.net.now_ns + sim_below(r, 200 * p->latency_ns),
		   fault_begins, f, 0);
}

/* ---- the world ---- */

static void world_cfg(const struct sim_plan *p, struct sim_world_cfg *cfg)
{
	sim_world_cfg_default(cfg);
	cfg->net.seed = p->seed;
	cfg->net.n_nodes = (uint32_t)p->nodes;
	cfg->net.n_planes = (uint32_t)p->planes;
	cfg->net.n_paths = (uint32_t)p->paths;
	cfg->net.path.latency_ns = p->latency_ns;
	cfg->net.path.jitter_ns = p->jitter_ns;
	cfg->net.log_room = 256;
	cfg->evs = (uint32_t)(p->paths * (1 + p->alias));
	cfg->active = cfg->evs - (uint32_t)(p->backups < cfg->evs ? p->backups : 0);
	cfg->min_active = (uint32_t)(p->min_active < p->planes ? p->min_active : p->planes);
	cfg->revive_probes = (uint8_t)p->revive;
	cfg->link_bps = (p->egress_mbps ? p->egress_mbps : 100000) * 1000000 * p->planes;
	cfg->base_rtt_ns = 2 * p->latency_ns + 100;
	cfg->trimming = p->lasthop_trims;
	cfg->decoded = p->decoded;
}

static void draw_qp(struct run *run, struct sim_qp_cfg *cfg, uint64_t mtu)
{
	const struct sim_plan *p = run->plan;
	struct sim_rng *r = &run->rng;

	sim_qp_cfg_default(cfg);
	cfg->cap.sq_depth = (uint32_t)p->sq_depth;
	cfg->cap.rq_depth = (uint32_t)sim_between(r, 1, 64);
	cfg->cap.signal_all = p->silent_share == 0;
	cfg->cap.pd = (uint32_t)sim_below(r, 2);
	cfg->attr.path_mtu = (uint32_t)(256u << mtu);
	cfg->attr.mpr = (uint8_t)(p->mpr ? p->mpr : sim_between(r, 1, 8));
	cfg->attr.max_wimm = (uint16_t)(p->wimm ? p->wimm : sim_between(r, 1, 32));
	cfg->attr.cc_profile = (uint32_t)(p->cc < 2 ? p->cc : sim_below(r, 2));
	cfg->attr.sq_psn = (uint32_t)sim_below(r, 1 << 24);
	if (p->wrap)
		cfg->attr.sq_psn = (1 << 24) - 1 - (uint32_t)sim_below(r, 300);
	cfg->attr.p_key = (uint16_t)sim_below(r, 2) ? 0xFFFF : 0x8123;
}

static void connect_one(struct run *run)
{
	struct sim_qp_cfg a, b;
	struct sim_rng *r = &run->rng;
	uint64_t mtu = run->plan->mtu < 5 ? run->plan->mtu : sim_below(r, 5);
	uint32_t i = (uint32_t)sim_below(r, run->plan->nodes);
	uint32_t j = (uint32_t)((i + sim_between(r, 1, run->plan->nodes - 1)) % run->plan->nodes);

	draw_qp(run, &a, mtu);
	draw_qp(run, &b, mtu);
	b.attr.p_key = a.attr.p_key;
	/* Windows as responder cover what the other end may send, and sometimes more. */
	a.attr.mpr_dest = (uint8_t)sim_between(r, b.attr.mpr, 16);
	b.attr.mpr_dest = (uint8_t)sim_between(r, a.attr.mpr, 16);
	a.attr.max_wimm_dest = (uint16_t)sim_between(r, b.attr.max_wimm, 64);
	b.attr.max_wimm_dest = (uint16_t)sim_between(r, a.attr.max_wimm, 64);
	set_paths(run, i, j);
	set_paths(run, j, i);
	sim_connect(&run->world, i, j, &a, &b);
}

static void build(struct run *run)
{
	const struct sim_plan *p = run->plan;
	struct sim_world_cfg cfg;

	world_cfg(p, &cfg);
	sim_world_open(&run->world, &cfg);
	sim_rng_init(&run->rng, p->seed + 1);
	run->packets_left = PACKETS_MAX;
	set_queues(run);
	for (uint64_t i = 0; i < p->conns && !run->world.check.failed; i++)
		connect_one(run);
	for (uint32_t i = 0; i < run->world.n_qps; i++) {
		bool sends = i % 2 == 0 || !p->one_way;

		run->loads[i].qp = run->world.qps[i];
		run->loads[i].left = sends ? p->messages : 0;
		post_recvs(run, run->world.qps[i]);
	}
	for (uint32_t i = 0; i < p->nodes; i++) {
		run->world.nodes[i].tx_batch = (uint32_t)p->tx_batch;
		run->world.nodes[i].late_ns = sim_below(&run->rng, p->late_ns + 1);
	}
	for (uint64_t i = 0; i < p->faults; i++)
		plan_fault(run, false);
	for (uint64_t i = 0; i < p->stops; i++)
		plan_fault(run, true);
	run->world.app = app;
	run->world.app_ctx = run;
}

/* Runs until all is posted and done, or until it is clear that it never will be. */
static void run_all(struct run *run)
{
	struct sim_world *w = &run->world;
	uint64_t limit = w->net.now_ns + RUN_MAX_NS;

	while (!all_posted(run) || !sim_done(w)) {
		if (w->net.counts.sent > RUN_PACKETS_MAX)
			sim_fail(&w->check, "%" PRIu64 " packets and not done", w->net.counts.sent);
		if (sim_step(w, limit))
			continue;
		sim_fail(&w->check, "not done after %.3f s", (double)RUN_MAX_NS / 1e9);
		return;
	}
}

static void run_to_the_end(struct run *run)
{
	struct sim_world *w = &run->world;

	for (uint32_t i = 0; i < w->cfg.net.n_nodes; i++)
		sim_node_run(&w->nodes[i]);
	run_all(run);
	sim_check_quiet(w, QUIET_NS);
	if (!w->check.failed)
		sim_check_stats(w);
}

void sim_plan_run(const struct sim_plan *plan, struct sim_outcome *outcome, bool explain)
{
	struct run *run = calloc(1, sizeof(*run));

	if (!run)
		abort();
	run->plan = plan;
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

/* ---- printing and shrinking ---- */

void sim_plan_print(const struct sim_plan *plan)
{
	printf("# plan of seed 0x%016" PRIx64 ":\n", plan->seed);
#define PRINT(name, simplest, text)   \
	if (plan->name != (simplest)) \
		printf("#   %-13s %10" PRIu64 "  %s\n", #name, plan->name, text);
	SIM_PLAN(PRINT)
#undef PRINT
}

static bool still_fails(const struct sim_plan *plan, unsigned *tries)
{
	struct sim_outcome outcome;

	if (*tries == 0)
		return false;
	--*tries;
	sim_plan_run(plan, &outcome, false);
	return outcome.failed;
}

/* Tries the simplest value, then half way to it; true when something became simpler. */
static bool shrink_one(struct sim_plan *plan, uint64_t *field, uint64_t simplest, unsigned *tries)
{
	uint64_t was = *field;
	uint64_t half = was > simplest ? simplest + (was - simplest) / 2 : simplest;

	if (was == simplest)
		return false;
	*field = simplest;
	if (still_fails(plan, tries))
		return true;
	*field = half;
	if (half != simplest && still_fails(plan, tries))
		return true;
	*field = was;
	return false;
}

void sim_plan_shrink(struct sim_plan *plan, unsigned tries)
{
	bool simpler = true;

	while (simpler && tries > 0) {
		simpler = false;
#define SHRINK(name, simplest, text) \
	simpler = shrink_one(plan, &plan->name, simplest, &tries) || simpler;
		SIM_PLAN(SHRINK)
#undef SHRINK
	}
}
