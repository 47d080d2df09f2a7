/* SPDX-License-Identifier: BSD-2-Clause */
/* Collectives of graphs: their steps and bytes, and what their members wait for. */
#include "sim_graph_done.h"

#include "sim/workload/graph.h"

#define N 6u
#define WAY_NS 100u

static char why[MS_WHY_BYTES];
static uint32_t leave[N];

static struct ms_ideal_cost net(void *ctx, uint32_t src, uint32_t dst, uint64_t bytes)
{
	(void)ctx;
	(void)src;
	(void)dst;
	return (struct ms_ideal_cost){.busy_ns = bytes, .latency_ns = WAY_NS};
}

/* Plays a collective of the first n hosts; member i enters at i * late_ns. */
static struct ms_graph_exec *collective(struct ms_graph **g, enum ms_collective_kind kind,
					uint32_t n, uint64_t bytes, uint64_t late_ns)
{
	static const uint32_t member[N] = {3, 0, 5, 1, 4, 2};
	const struct ms_collective c = {.kind = kind, .member = member, .n = n, .bytes = bytes};
	struct ms_graph_exec *p;

	*g = ms_graph_create(N);
	for (uint32_t i = 0; i < n; i++)
		leave[i] = ms_graph_compute(*g, member[i], 0, i * late_ns);
	assert_true(ms_collective_add(*g, &c, leave, leave));
	assert_true(ms_graph_seal(*g, why, NULL));
	p = ms_ideal_run(*g, 0, net, NULL);
	assert_non_null(p);
	assert_graph_done(p);
	return p;
}

static void done(struct ms_graph *g, struct ms_graph_exec *p)
{
	ms_graph_exec_destroy(p);
	ms_graph_destroy(g);
}

static uint64_t bytes_of(const struct ms_graph *g)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < g->n_channels; i++)
		sum += g->channel[i].bytes;
	return sum;
}

/* 2(N-1) steps of S/N each. REQ(sim.theory) */
TEST(ms_collective_add, a_ring_takes_what_the_formula_says)
{
	static const struct {
		enum ms_collective_kind kind;
		uint32_t rounds;
	} rings[] = {{MS_COLL_ALL_REDUCE, 2}, {MS_COLL_REDUCE_SCATTER, 1}, {MS_COLL_ALL_GATHER, 1}};

	for (unsigned i = 0; i < 3; i++) {
		struct ms_graph *g;
		struct ms_graph_exec *p = collective(&g, rings[i].kind, N, 6000, 0);
		uint32_t steps = rings[i].rounds * (N - 1);

		assert_u_eq(ms_ideal_end_ns(p), steps * (6000 / N + WAY_NS));
		assert_u_eq(bytes_of(g), steps * 6000);
		done(g, p);
	}
}

TEST(ms_collective_add, all_to_all_sends_to_each_other_member)
{
	struct ms_graph *g;
	struct ms_graph_exec *p = collective(&g, MS_COLL_ALL_TO_ALL, N, 1000, 0);

	assert_u_eq(ms_ideal_end_ns(p), (N - 1) * 1000 + WAY_NS);
	assert_u_eq(bytes_of(g), N * (N - 1) * 1000);
	done(g, p);
}

TEST(ms_collective_add, a_broadcast_goes_down_a_tree)
{
	struct ms_graph *g;
	struct ms_graph_exec *p = collective(&g, MS_COLL_BROADCAST, N, 1000, 0);

	/* 0 to 1 and then 2; 1 to 3 and 4; 2 to 5. */
	assert_u_eq(ms_ideal_end_ns(p), 3 * 1000 + 2 * WAY_NS);
	assert_u_eq(bytes_of(g), (N - 1) * 1000);
	done(g, p);
}

/* Nobody leaves before the last one has entered: its part is missing. */
TEST(ms_collective_add, all_wait_for_the_last_to_enter)
{
	for (int kind = MS_COLL_ALL_REDUCE; kind <= MS_COLL_ALL_TO_ALL; kind++) {
		struct ms_graph *g;
		struct ms_graph_exec *p =
			collective(&g, (enum ms_collective_kind)kind, N, 600, 1000000);

		for (uint32_t i = 0; i < N; i++)
			assert_true(p->times[leave[i]].end_ns >= (N - 1) * 1000000);
		done(g, p);
	}
}

TEST(ms_collective_add, one_member_alone_has_nothing_to_send)
{
	for (int kind = 0; kind < MS_COLLECTIVES; kind++) {
		struct ms_graph *g;
		struct ms_graph_exec *p = collective(&g, (enum ms_collective_kind)kind, 1, 600, 0);

		assert_u_eq(g->n_channels, 0);
		assert_u_eq(ms_ideal_end_ns(p), 0);
		done(g, p);
	}
}
