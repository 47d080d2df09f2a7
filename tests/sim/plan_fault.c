/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan_fault.c - the network of a random world, and what goes wrong in it.
 *
 * The faults obey one rule: between any two nodes one path each way stays good from beginning to
 * end (slow and jittery, but nothing worse).
 */
#include "plan_run.h"

#define STAND_MAX_NS (10 * SIM_MS)

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
	uint64_t n = run->plan.planes * run->plan.paths;
	struct rng r;

	to_hosts(run, &src, &dst);
	rng_init(&r, run->plan.seed ^ (src * 8u + dst + 1));
	return rng_below(&r, n) == plane * run->plan.paths + path;
}

static void spoil_path(struct run *run, struct net_path *path, uint64_t dead_share)
{
	const struct sim_plan *p = &run->plan;

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

void plan_set_paths(struct run *run, uint32_t src, uint32_t dst)
{
	const struct sim_plan *p = &run->plan;

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

void plan_set_queues(struct run *run)
{
	const struct sim_plan *p = &run->plan;
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
	for (uint32_t k = 0; k < f->run->plan.paths; k++)
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
		for (uint32_t k = 0; k < f->run->plan.paths && peer != f->src; k++) {
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
		sim_node_stop(node, f->lasts_ns, f->run->plan.deaf);
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
	const struct sim_plan *p = &run->plan;
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
	uint64_t ns = run->plan.clock_ns;

	if (rng_below(&run->rng, 2))
		plan_fault(run, CLOCK_JUMPS, ns);
	else
		plan_fault(run, CLOCK_STANDS, ns < STAND_MAX_NS ? ns : STAND_MAX_NS);
}

void plan_faults(struct run *run)
{
	const struct sim_plan *p = &run->plan;

	for (uint64_t i = 0; i < p->faults; i++)
		plan_fault(run, rng_below(&run->rng, 3) ? PATH_DIES : PLANE_DIES, p->fault_ns);
	for (uint64_t i = 0; i < p->stops; i++)
		plan_fault(run, NODE_STOPS, p->fault_ns);
	for (uint64_t i = 0; i < p->ports; i++)
		plan_fault(run, PORT_DROPS, p->fault_ns);
	for (uint64_t i = 0; i < p->clocks; i++)
		plan_clock(run);
}
