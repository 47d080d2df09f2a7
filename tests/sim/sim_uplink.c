/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_uplink.c - a port of node 0 whose link is up and that leads nowhere, or not to all: what many
 * destinations lose is evidence about it.
 */
#include "case.h"

#define DESTS 64u
#define PLANES 4u
#define PATHS 8u
#define DEAD_PLANE 1u

/* The network between node 0 and `from` .. DESTS drops everything on a plane, from a time on. */
struct silent {
	uint64_t since_ns, until_ns;
	uint32_t plane, path; /* path NET_NO_NODE: all */
	uint32_t to;	      /* the last node concerned */
	uint64_t data_lost, probes_lost;
};

static struct sim_world *world;
static struct silent fault;
static struct sim_qp *qps[DESTS + 1]; /* by node */

static bool drop(void *ctx, struct net_packet *p)
{
	struct silent *f = ctx;
	uint64_t now = world->net.now_ns;
	uint32_t other = p->src ? p->src : p->dst;

	if (now < f->since_ns || now >= f->until_ns || p->meta.port != f->plane || other > f->to ||
	    (f->path != NET_NO_NODE && engine_net_path_of(&world->net, p->meta.ev) != f->path))
		return true;
	f->data_lost += p->data && p->src == 0;
	f->probes_lost += p->pkt.bth.opcode == MW_PROBE && p->src == 0;
	return false;
}

static void open_world(uint32_t planes)
{
	struct sim_world_cfg cfg = case_cfg(planes, PATHS);
	struct sim_qp_cfg def;

	cfg.net.n_nodes = DESTS + 1;
	world = case_open(&cfg);
	case_pace(world, 0, UINT64_C(33800000000));
	sim_qp_cfg_default(&def);
	for (uint32_t i = 1; i <= DESTS; i++)
		qps[i] = sim_connect(world, 0, i, &def, &def);
	fault = (struct silent){.since_ns = world->net.now_ns + 500 * SIM_US,
				.until_ns = UINT64_MAX,
				.plane = DEAD_PLANE,
				.path = NET_NO_NODE,
				.to = DESTS};
	world->net.filter = drop;
	world->net.filter_ctx = &fault;
}

/* Messages of 16 packets to nodes 1 .. n. */
static void post_to(uint32_t n, uint32_t messages)
{
	for (uint32_t m = 0; m < messages; m++)
		for (uint32_t i = 1; i <= n; i++)
			sim_post(qps[i], 16 * 4096, 0);
}

static uint32_t count_bad(void)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i <= DESTS; i++)
		n += case_info(qps[i]).evs_bad;
	return n;
}

/* REQ(req.ev.uplink) */
TEST(sim_uplink, a_silent_one_is_left_for_all_destinations_and_comes_back)
{
	uint64_t since;

	open_world(PLANES);
	post_to(DESTS, 12);
	sim_run_done(world, 20 * SIM_MS);
	CASE_EQ(world, case_stats(world, 0).uplinks_left, 1);
	/* What was under way; else 1,329, and all 512 EVs of the plane retire. */
	CASE_BETWEEN(world, fault.data_lost, 8, 300);
	CASE_BETWEEN(world, case_stats(world, 0).evs_retired, 1, 8);
	/* Probes of one port, where 512 EVs would have theirs. */
	CASE_BETWEEN(world, fault.probes_lost, 1, 100);
	fault.until_ns = world->net.now_ns;
	sim_run_for(world, 4 * SIM_MS);
	CASE_EQ(world, case_stats(world, 0).uplinks_restored, 1);
	CASE_EQ(world, count_bad(), 0);
	since = world->net.now_ns;
	post_to(DESTS, 1);
	sim_run_done(world, 10 * SIM_MS);
	CASE_BETWEEN(world, case_data_of_plane(world, 0, DEAD_PLANE, since), DESTS * 3, DESTS * 5);
	case_done(world);
}

/* The others can be reached: it is not the uplink, and they go on to use it. */
TEST(sim_uplink, a_fault_farther_on_is_refuted_by_another_destination)
{
	uint64_t since;

	open_world(PLANES);
	fault.to = 16;
	post_to(16, 40);
	sim_run_done(world, 20 * SIM_MS);
	/* Which destinations are probed is drawn. */
	for (uint32_t ms = 0; ms < 200 && case_stats(world, 0).uplinks_restored == 0; ms++)
		sim_run_for(world, SIM_MS);
	CASE_EQ(world, case_stats(world, 0).uplinks_left, 1);
	CASE_EQ(world, case_stats(world, 0).uplinks_restored, 1);
	since = world->net.now_ns;
	for (uint32_t i = 17; i <= DESTS; i++)
		sim_post(qps[i], 16 * 4096, 0);
	post_to(16, 20);
	sim_run_done(world, 20 * SIM_MS);
	CASE_EQ(world, case_stats(world, 0).uplinks_left, 1);
	CASE_TRUE(world, case_data_of_plane(world, 0, DEAD_PLANE, since) > (DESTS - 16) * 3);
	fault.until_ns = 0;
	case_close(world);
}

/* What the other paths of the port bring to their ends is evidence for it. */
TEST(sim_uplink, a_path_dead_for_all_destinations_is_no_fault_of_the_port)
{
	open_world(PLANES);
	fault.path = 3;
	post_to(DESTS, 12);
	sim_run_done(world, 20 * SIM_MS);
	CASE_EQ(world, case_stats(world, 0).uplinks_left, 0);
	CASE_BETWEEN(world, count_bad(), DESTS / 2, DESTS);
	fault.until_ns = 0;
	case_close(world);
}

/* REQ(ep.port.survive) */
TEST(sim_uplink, the_last_one_is_never_left)
{
	open_world(1);
	fault.plane = 0;
	fault.until_ns = fault.since_ns + 5 * SIM_MS;
	post_to(DESTS, 12);
	sim_run_done(world, 200 * SIM_MS);
	CASE_EQ(world, case_stats(world, 0).uplinks_left, 0);
	case_done(world);
}
