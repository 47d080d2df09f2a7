/* SPDX-License-Identifier: BSD-2-Clause */
/* Graphs packet by packet: against their arithmetic, and random ones against what must hold. */
#include "sim_graph_fixture.h"

#include "sim/workload/graph.h"

static struct ms_run_result result;

/* ---- a ring, as a graph and as the collective that workloads have ---- */

static struct ms_graph *ring(uint32_t n, uint64_t bytes)
{
	struct ms_graph *g = ms_graph_create(FIXTURE_HOSTS);
	uint32_t member[FIXTURE_HOSTS], node[FIXTURE_HOSTS];
	const struct ms_collective c = {
		.kind = MS_COLL_ALL_REDUCE, .member = member, .n = n, .bytes = bytes};

	for (uint32_t i = 0; i < n; i++) {
		member[i] = i;
		node[i] = ms_graph_compute(g, i, 0, 5000);
	}
	assert_true(ms_collective_add(g, &c, node, node));
	fixture_graph_seal(g);
	return g;
}

/* Only what leaves a T0 with others can meet them: one T0 here. REQ(sim.theory) */
TEST(ms_graph_run, a_ring_takes_its_compute_and_what_the_formula_says)
{
	struct ms_graph *g = ring(8, 8 << 20);
	struct ms_run_cfg cfg;

	fixture_graph_run(&cfg, g);
	ms_run_destroy(fixture_graph_all(&cfg, &result));
	assert_true(result.ideal_ns > 5000);
	assert_u_between(result.end_ps / 1000, result.ideal_ns, result.ideal_ns * 103 / 100);
	ms_graph_destroy(g);
}

TEST(ms_graph_run, a_ring_is_the_ring_of_workloads)
{
	struct ms_graph *g = ring(8, 8 << 20);
	struct ms_run_cfg cfg;
	uint64_t as_graph_ns;

	fixture_graph_run(&cfg, g);
	ms_run_destroy(fixture_graph_all(&cfg, &result));
	as_graph_ns = result.end_ps / 1000 - 5000;
	cfg.workload[0] = (struct ms_workload_cfg){
		.kind = MS_ALL_REDUCE_RING, .bytes = 8 << 20, .group_size = 8, .groups = 1};
	ms_run_destroy(fixture_graph_all(&cfg, &result));
	assert_u_between(as_graph_ns, result.end_ps / 1000 * 99 / 100,
			 result.end_ps / 1000 * 101 / 100);
	ms_graph_destroy(g);
}

/* ---- random graphs ---- */

#define NODES 600u

struct need {
	uint32_t node, on;
	enum ms_end end;
};

static struct need needs[3 * NODES];
static uint32_t n_needs;

static uint32_t random_node(struct ms_graph *g)
{
	uint32_t host = (uint32_t)test_rand_below(FIXTURE_HOSTS);
	uint32_t by = 1 + (uint32_t)test_rand_below(FIXTURE_HOSTS - 1);

	if (test_rand_below(2))
		return ms_graph_compute(
			g, host, test_rand_below(4) ? (uint16_t)test_rand_below(2) : MS_STREAM_NONE,
			test_rand_below(3) * test_rand_below(20000));
	return ms_graph_transfer(g, host, (host + by) % FIXTURE_HOSTS, (uint16_t)test_rand_below(2),
				 test_rand_below(4) * test_rand_below(30000));
}

/* A need of a node on an earlier one, if its host can know. */
static void random_need(struct ms_graph *g, uint32_t node)
{
	uint32_t on = (uint32_t)test_rand_below(node), host = g->node[node].host;
	enum ms_end end = test_rand_below(2) ? MS_SENT : MS_RECEIVED;
	const struct ms_node *n = &g->node[on];

	if ((end == MS_SENT ? n->host : n->peer) != host)
		return;
	assert_true(ms_graph_add_dependency(g, node, on, end));
	needs[n_needs++] = (struct need){node, on, end};
}

static struct ms_graph *random_graph(void)
{
	struct ms_graph *g = ms_graph_create(FIXTURE_HOSTS);

	n_needs = 0;
	for (uint32_t i = 0; i < NODES; i++) {
		assert_u_eq(random_node(g), i);
		for (int k = 0; i > 0 && k < 40 && n_needs < 3 * i; k++)
			random_need(g, i);
	}
	fixture_graph_seal(g);
	return g;
}

static void check_times(const struct ms_graph *g, const struct ms_node_times *t)
{
	for (uint32_t i = 0; i < NODES; i++) {
		assert_true(t[i].begin_ns != UINT64_MAX && t[i].end_ns != UINT64_MAX);
		if (g->node[i].kind == MS_COMPUTE)
			assert_u_eq(t[i].end_ns, t[i].begin_ns + g->node[i].amount);
		else
			assert_true(t[i].end_ns > t[i].begin_ns);
	}
	for (uint32_t i = 0; i < n_needs; i++)
		assert_true(t[needs[i].node].begin_ns >= t[needs[i].on].end_ns);
	for (uint32_t i = 0; i < NODES; i++)
		for (uint32_t k = 0; k < i; k++) {
			const struct ms_node *a = &g->node[i], *b = &g->node[k];

			if (a->kind == MS_COMPUTE && b->kind == MS_COMPUTE && a->host == b->host &&
			    a->worker == b->worker && a->worker != MS_STREAM_NONE)
				assert_true(t[i].begin_ns >= t[k].end_ns ||
					    t[k].begin_ns >= t[i].end_ns);
		}
}

/* REQ(sim.graph.needs) REQ(sim.same-bits) */
TEST(ms_graph_run, random_graphs_keep_their_needs_and_are_the_same_with_any_threads)
{
	for (unsigned round = 0; round < test_rounds(4); round++) {
		struct ms_graph *g = random_graph();
		struct ms_node_times one[NODES];
		struct ms_run_cfg cfg;
		struct ms_run *run;
		uint64_t hash;

		fixture_graph_run(&cfg, g);
		cfg.seed = 1 + test_rand_below(1000);
		run = fixture_graph_all(&cfg, &result);
		hash = result.net.hash;
		memcpy(one, (ms_nics_graph_exec(run->nics, 0))->times, sizeof(one));
		check_times(g, one);
		ms_run_destroy(run);
		cfg.threads = 3;
		run = fixture_graph_all(&cfg, &result);
		assert_u_eq(result.net.hash, hash);
		assert_memory_equal(one, (ms_nics_graph_exec(run->nics, 0))->times, sizeof(one));
		ms_run_destroy(run);
		ms_graph_destroy(g);
	}
}

TEST(ms_graph_run, loss_delays_nothing_for_ever)
{
	struct ms_fault fault = {.link = 3, .kind = MS_FAULT_LOSS, .value = 200000};
	struct ms_graph *g = random_graph();
	struct ms_run_cfg cfg;
	struct ms_run *run;

	fixture_graph_run(&cfg, g);
	cfg.faults = &fault;
	cfg.n_faults = 1;
	run = fixture_graph_all(&cfg, &result);
	check_times(g, (ms_nics_graph_exec(run->nics, 0))->times);
	ms_run_destroy(run);
	ms_graph_destroy(g);
}

TEST(ms_graph_run, goes_beside_another_workload_and_begins_when_it_is_told)
{
	struct ms_graph *g = ring(8, 1 << 20);
	struct ms_run_cfg cfg;
	struct ms_run *run;

	fixture_graph_run(&cfg, g);
	cfg.workload[1] = cfg.workload[0];
	cfg.workload[1].start_ns = 77000;
	cfg.workload[0] =
		(struct ms_workload_cfg){.kind = MS_PERMUTATION, .bytes = 100000, .seed = 3};
	cfg.n_workloads = 2;
	run = fixture_graph_all(&cfg, &result);
	assert_null(ms_nics_graph_exec(run->nics, 0));
	assert_u_eq((ms_nics_graph_exec(run->nics, 1))->times[0].begin_ns, 77000);
	ms_run_destroy(run);
	ms_graph_destroy(g);
}
