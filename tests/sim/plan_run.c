/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan_run.c - the world that a plan stands for.
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
#define STAND_MAX_NS (10 * SIM_MS)
/* After which a program tries again that was refused memory. */
#define MEMORY_WAIT_NS (10 * SIM_US)

/* ---- the load ---- */

/* What a QP has still to post. */
struct load {
	struct sim_qp *qp;
	uint64_t left;
	uint64_t not_before_ns;
	uint64_t silent;      /* unsignalled in a row */
	uint64_t recvs_at_ns; /* no receives are posted before */
	bool waits;	      /* for a receive at the peer */
};

struct run;

/* Something that fails during the run: a path or a whole plane between two nodes one way, or a
 * node that stops. */
struct fault {
	struct run *run;
	uint32_t src, dst, plane, path;
	enum { PATH_DIES, PLANE_DIES, NODE_STOPS, PORT_DROPS, CLOCK_JUMPS, CLOCK_STANDS } kind;
	/* PORT_DROPS: the node knows that its port is down; CLOCK_STANDS: it catches up. */
	bool told;
	uint64_t lasts_ns;
};

#define FAULTS_MAX 32u

struct run {
	const struct sim_plan *plan;
	struct sim_world world;
	struct rng rng;
	struct load loads[2 * SIM_QPS_MAX];
	uint64_t packets_left;
	bool paths_set[NET_NODES_MAX][NET_NODES_MAX];
	struct fault faults[FAULTS_MAX];
	uint32_t n_faults;
};

static uint32_t message_len(struct run *run, uint32_t mtu)
{
	struct rng *r = &run->rng;

	if (rng_below(r, 1000) < run->plan->big_share)
		return 1 << 20;
	switch (rng_below(r, run->plan->small ? 4 : 6)) {
	case 0:
		return 0;
	case 1:
		return (uint32_t)rng_between(r, 1, 64);
	case 2:
		return mtu * (uint32_t)rng_between(r, 1, 3);
	case 3:
		return mtu + (uint32_t)rng_below(r, 3) - 1;
	default:
		return (uint32_t)rng_between(r, 1, 65536);
	}
}

static uint32_t message_flags(struct run *run, struct load *load)
{
	const struct sim_plan *p = run->plan;
	uint32_t flags = 0;

	if (rng_below(&run->rng, 100) < p->imm_share)
		flags |= RD_SEND_IMM;
	if (rng_below(&run->rng, 4) == 0)
		flags |= RD_SEND_SOLICITED;
	/* Slots of silent requests come back with the next signalled one. */
	if (rng_below(&run->rng, 100) >= p->silent_share || load->left == 1 ||
	    load->silent + 1 >= (p->sq_depth + 1) / 2)
		flags |= RD_SEND_SIGNALED;
	return flags;
}

static void come_back(void *ctx, uint64_t arg)
{
	(void)arg;
	sim_node_run(ctx);
}

static void pause_load(struct run *run, struct load *load)
{
	struct engine_net *net = &run->world.net;

	if (!run->plan->pause_ns || rng_below(&run->rng, 4))
		return;
	load->not_before_ns = net->now_ns + rng_between(&run->rng, 1, run->plan->pause_ns);
	engine_net_at(net, load->not_before_ns, come_back, load->qp->node, 0);
}

/* Makes a READ or an atomic of it. */
static void make_request(struct run *run, struct sim_wr *wr)
{
	struct rng *r = &run->rng;

	wr->opcode = (enum rd_wr_opcode)rng_between(r, RD_WR_READ, RD_WR_FETCH_ADD);
	wr->flags &= ~(uint32_t)(RD_SEND_IMM | RD_SEND_SOLICITED);
	wr->misses = wr->opcode == RD_WR_COMPARE_SWAP && rng_below(r, 2);
	wr->shared = wr->opcode == RD_WR_FETCH_ADD && rng_below(r, 2);
}

static void wait_for_memory(struct run *run, struct load *load)
{
	struct engine_net *net = &run->world.net;

	load->not_before_ns = net->now_ns + MEMORY_WAIT_NS;
	engine_net_at(net, load->not_before_ns, come_back, load->qp->node, 0);
}

/* Posts one message; false when it has to wait. */
static bool post_one(struct run *run, struct load *load)
{
	struct sim_flow *f = &load->qp->out;
	uint32_t packets_mtu = f->mtu;
	struct sim_wr wr = {.flags = message_flags(run, load),
			    .imm = (uint32_t)rng_rand(&run->rng)};
	int result;

	if (f->extended && rng_below(&run->rng, 100) < run->plan->send_share)
		wr.opcode = RD_WR_SEND;
	if (run->plan->ask_share && rng_below(&run->rng, 100) < run->plan->ask_share)
		make_request(run, &wr);
	if (run->plan->ask_share && rng_below(&run->rng, 4) == 0)
		wr.flags |= RD_SEND_FENCE;
	/* Without extension an immediate needs a receive that is posted already. */
	load->waits = wr.flags & RD_SEND_IMM && !f->extended && f->recvs_posted <= f->takes;
	if (load->waits)
		return false;
	wr.len = message_len(run, packets_mtu);
	if (wr.opcode == RD_WR_SEND && wr.len > load->qp->peer->cfg.recv_room)
		wr.len = load->qp->peer->cfg.recv_room;
	if (wr.len / packets_mtu + 1 > run->packets_left)
		wr.len = 0;
	wr.n_sge = wr.len ? (uint32_t)rng_between(&run->rng, 1, SIM_SGE_MAX) : 0;
	if (!sim_post_wr(load->qp, &wr, &result)) {
		if (result == MT_ERR_MEMORY && run->plan->refused)
			wait_for_memory(run, load);
		else if (result != MT_ERR_FULL)
			sim_fail(&run->world.check, "%s: mt_qp_post_send: error %d", f->name,
				 result);
		return false;
	}
	load->left--;
	load->silent = wr.flags & RD_SEND_SIGNALED ? 0 : load->silent + 1;
	run->packets_left -= wr.len / packets_mtu < run->packets_left ? wr.len / packets_mtu : 0;
	pause_load(run, load);
	return true;
}

/* Nothing else may be under way that would wake who waits for the receives of this QP. */
static void wake_sender(struct run *run, const struct sim_qp *qp)
{
	struct engine_net *net = &run->world.net;

	for (uint32_t i = 0; i < run->world.n_qps; i++)
		if (run->loads[i].qp == qp->peer && run->loads[i].waits) {
			run->loads[i].waits = false;
			engine_net_at(net, net->now_ns, come_back, qp->peer->node, 0);
		}
}

/* Keeps the receive queue full, or fills it now and then. */
static void post_recvs(struct run *run, struct load *load)
{
	struct sim_qp *qp = load->qp;
	const struct sim_flow *in = &qp->peer->out;
	struct engine_net *net = &run->world.net;

	if (in->recvs_posted - in->recvs_done == qp->cfg.cap.rq_depth ||
	    net->now_ns < load->recvs_at_ns)
		return;
	if (run->plan->recv_pause_ns) {
		load->recvs_at_ns =
			net->now_ns + rng_between(&run->rng, 1, run->plan->recv_pause_ns);
		engine_net_at(net, load->recvs_at_ns, come_back, qp->node, 0);
	}
	while (in->recvs_posted - in->recvs_done < qp->cfg.cap.rq_depth)
		if (sim_post_recv(qp) != MT_OK) {
			sim_fail(&run->world.check, "%s: mt_qp_post_recv failed", in->name);
			return;
		}
	wake_sender(run, qp);
}

static void app(void *ctx, struct sim_node *node)
{
	struct run *run = ctx;

	for (uint32_t i = 0; i < run->world.n_qps; i++) {
		struct load *load = &run->loads[i];

		if (load->qp->node != node)
			continue;
		post_recvs(run, load);
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

/* Nodes of two hosts have the paths of their hosts. */
static void to_hosts(const struct run *run, uint32_t *src, uint32_t *dst)
{
	const struct engine_net *net = &run->world.net;

	if (engine_net_host(net, *src) == engine_net_host(net, *dst))
		return;
	*src = engine_net_host(net, *src);
	*dst = engine_net_host(net, *dst);
}

/* The path that stays good between two nodes, each way its own. */
static bool is_good_path(const struct run *run, uint32_t src, uint32_t dst, uint32_t plane,
			 uint32_t path)
{
	uint64_t n = run->plan->planes * run->plan->paths;
	struct rng r;

	to_hosts(run, &src, &dst);
	rng_init(&r, run->plan->seed ^ (src * 8u + dst + 1));
	return rng_below(&r, n) == plane * run->plan->paths + path;
}

static void spoil_path(struct run *run, struct net_path *path, uint64_t dead_share)
{
	const struct sim_plan *p = run->plan;

	path->dead = rng_below(&run->rng, 1000) < dead_share;
	if (rng_below(&run->rng, 1000) >= p->bad_share)
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

	to_hosts(run, &src, &dst);
	if (run->paths_set[src][dst])
		return;
	run->paths_set[src][dst] = true;
	for (uint32_t plane = 0; plane < p->planes; plane++)
		for (uint32_t k = 0; k < p->paths; k++) {
			struct net_path *path =
				engine_net_path(&run->world.net, src, dst, plane, k);

			path->latency_ns += rng_below(&run->rng, p->spread_ns + 1);
			if (!is_good_path(run, src, dst, plane, k))
				spoil_path(run, path, src < dst ? p->dead_up : p->dead_down);
		}
}

static void set_queues(struct run *run)
{
	const struct sim_plan *p = run->plan;
	struct engine_net *net = &run->world.net;

	for (uint32_t node = 0; node < p->nodes; node++)
		for (uint32_t port = 0; port < p->planes; port++) {
			net->egress[node][port].bps = p->egress_mbps * 1000000;
			net->lasthop[node][port] = (struct net_queue){
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
		if ((f->kind == PLANE_DIES || k == f->path) &&
		    !is_good_path(f->run, f->src, f->dst, f->plane, k))
			engine_net_path(&f->run->world.net, f->src, f->dst, f->plane, k)->dead =
				dead;
}

/* A port that is down takes the good path with it, but it comes back. */
static void set_port(const struct fault *f, bool up)
{
	struct sim_world *w = &f->run->world;

	for (uint32_t peer = 0; peer < w->cfg.net.n_nodes; peer++)
		for (uint32_t k = 0; k < f->run->plan->paths && peer != f->src; k++) {
			engine_net_path(&w->net, f->src, peer, f->plane, k)->dead = !up;
			engine_net_path(&w->net, peer, f->src, f->plane, k)->dead = !up;
		}
	if (f->told) {
		mt_engine_port_set(w->nodes[f->src].engine, sim_node_now(&w->nodes[f->src]),
				   f->plane, up);
		sim_node_run(&w->nodes[f->src]);
	}
}

static void fault_ends(void *ctx, uint64_t arg)
{
	struct fault *f = ctx;

	(void)arg;
	if (f->kind == PORT_DROPS)
		set_port(f, true);
	else
		set_dead(f, false);
}

/* A fault of a node that ends by itself. */
static bool node_fault(const struct fault *f)
{
	struct sim_node *node = &f->run->world.nodes[f->src];

	if (f->kind == NODE_STOPS)
		sim_node_stop(node, f->lasts_ns, f->run->plan->deaf);
	else if (f->kind == CLOCK_JUMPS)
		sim_clock_jump(node, f->lasts_ns);
	else if (f->kind == CLOCK_STANDS)
		sim_clock_stand(node, f->lasts_ns, f->told);
	else
		return false;
	return true;
}

static void fault_begins(void *ctx, uint64_t arg)
{
	struct fault *f = ctx;

	(void)arg;
	if (node_fault(f))
		return;
	if (f->kind == PORT_DROPS)
		set_port(f, false);
	else
		set_dead(f, true);
	engine_net_at(&f->run->world.net, f->run->world.net.now_ns + f->lasts_ns, fault_ends, f, 0);
}

static void plan_fault(struct run *run, unsigned kind, uint64_t lasts_ns)
{
	struct rng *r = &run->rng;
	const struct sim_plan *p = run->plan;
	struct fault *f = &run->faults[run->n_faults++];
	const struct sim_qp *qp = run->world.qps[rng_below(r, run->world.n_qps)];

	*f = (struct fault){.run = run,
			    .src = qp->node->id,
			    .dst = qp->peer->node->id,
			    .plane = (uint32_t)rng_below(r, p->planes),
			    .path = (uint32_t)rng_below(r, p->paths),
			    .kind = kind,
			    .told = rng_below(r, 2),
			    .lasts_ns = rng_between(r, 1, lasts_ns + 1)};
	engine_net_at(&run->world.net, run->world.net.now_ns + rng_below(r, 200 * p->latency_ns),
		      fault_begins, f, 0);
}

/* A clock that stands for longer makes for ever of a timeout. */
static void plan_clock(struct run *run)
{
	uint64_t ns = run->plan->clock_ns;

	if (rng_below(&run->rng, 2))
		plan_fault(run, CLOCK_JUMPS, ns);
	else
		plan_fault(run, CLOCK_STANDS, ns < STAND_MAX_NS ? ns : STAND_MAX_NS);
}

/* ---- the world ---- */

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
	if (p->refused)
		cfg->memory_least = 1; /* so that it is asked for often */
}

static void draw_qp(struct run *run, struct sim_qp_cfg *cfg, uint64_t mtu, bool extended)
{
	const struct sim_plan *p = run->plan;
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
		uint64_t most = rng_between(r, 1, run->plan->rd_atomic);

		ends[i]->cap.extensions |= MW_EXT_READ | MW_EXT_ATOMIC;
		ends[i]->attr.access |= RD_ACCESS_REMOTE_READ | RD_ACCESS_REMOTE_ATOMIC;
		ends[i]->attr.max_rd_atomic = (uint8_t)most;
		ends[1 - i]->attr.max_dest_rd_atomic = (uint8_t)rng_between(r, most, RD_ATOMIC_MAX);
	}
}

static void connect_one(struct run *run)
{
	struct sim_qp_cfg a, b;
	struct rng *r = &run->rng;
	uint64_t mtu = run->plan->mtu < 5 ? run->plan->mtu : rng_below(r, 5);
	uint32_t i = (uint32_t)rng_below(r, run->plan->nodes);
	uint32_t j = (uint32_t)((i + rng_between(r, 1, run->plan->nodes - 1)) % run->plan->nodes);

	draw_qp(run, &a, mtu, run->plan->extended);
	draw_qp(run, &b, mtu, run->plan->extended == 1);
	b.attr.p_key = a.attr.p_key;
	if (run->plan->ask_share)
		may_ask(run, &a, &b);
	if (run->plan->dynamic_mpr == 2)
		a.attr.dynamic_mpr = b.attr.dynamic_mpr = rng_below(r, 2);
	/* Windows as responder cover what the other end may send, and sometimes more. */
	a.attr.mpr_dest = (uint8_t)rng_between(r, b.attr.mpr, 16);
	b.attr.mpr_dest = (uint8_t)rng_between(r, a.attr.mpr, 16);
	a.attr.max_wimm_dest = (uint16_t)rng_between(r, b.attr.max_wimm, 64);
	b.attr.max_wimm_dest = (uint16_t)rng_between(r, a.attr.max_wimm, 64);
	set_paths(run, i, j);
	set_paths(run, j, i);
	sim_connect(&run->world, i, j, &a, &b);
}

static void set_node(struct run *run, struct sim_node *node)
{
	const struct sim_plan *p = run->plan;

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
	const struct sim_plan *p = run->plan;
	struct sim_world_cfg cfg;

	world_cfg(p, &cfg);
	sim_world_open(&run->world, &cfg);
	rng_init(&run->rng, p->seed + 1);
	run->packets_left = PACKETS_MAX;
	set_queues(run);
	for (uint64_t i = 0; i < p->conns && !run->world.check.failed; i++)
		connect_one(run);
	for (uint32_t i = 0; i < run->world.n_qps; i++) {
		bool sends = i % 2 == 0 || !p->one_way;

		run->loads[i].qp = run->world.qps[i];
		run->loads[i].left = sends ? p->messages : 0;
		post_recvs(run, &run->loads[i]);
	}
	for (uint32_t i = 0; i < p->nodes; i++)
		set_node(run, &run->world.nodes[i]);
	for (uint64_t i = 0; i < p->faults; i++)
		plan_fault(run, rng_below(&run->rng, 3) ? PATH_DIES : PLANE_DIES, p->fault_ns);
	for (uint64_t i = 0; i < p->stops; i++)
		plan_fault(run, NODE_STOPS, p->fault_ns);
	for (uint64_t i = 0; i < p->ports; i++)
		plan_fault(run, PORT_DROPS, p->fault_ns);
	for (uint64_t i = 0; i < p->clocks; i++)
		plan_clock(run);
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
