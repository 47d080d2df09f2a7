/* SPDX-License-Identifier: BSD-2-Clause */
/* Graphs: what can be built, what is refused, and how they take place by arithmetic. */
#include "sim_graph_done.h"

#include "sim/workload/graph.h"

static char why[MS_WHY_BYTES];
static uint32_t bad;

static struct ms_ideal_cost slow_net(void *ctx, uint32_t src, uint32_t dst, uint64_t bytes)
{
	(void)ctx;
	(void)src;
	(void)dst;
	return (struct ms_ideal_cost){.busy_ns = bytes, .latency_ns = 10};
}

static struct ms_graph_exec *play(struct ms_graph *g)
{
	struct ms_graph_exec *p;

	assert_true(ms_graph_seal(g, why, &bad));
	p = ms_ideal_run(g, 0, slow_net, NULL);
	assert_non_null(p);
	assert_graph_done(p);
	return p;
}

TEST(ms_graph_compute, refuses_what_is_out_of_range)
{
	struct ms_graph *g = ms_graph_create(4);

	assert_u_eq(ms_graph_compute(g, 4, 0, 1), MS_NODE_NONE);
	assert_u_eq(ms_graph_compute(g, 0, MS_STREAMS, 1), MS_NODE_NONE);
	assert_u_eq(ms_graph_compute(g, 0, 0, MS_COMPUTE_MAX_NS + 1), MS_NODE_NONE);
	assert_u_eq(ms_graph_compute(g, 3, MS_STREAM_NONE, MS_COMPUTE_MAX_NS), 0);
	ms_graph_destroy(g);
}

TEST(ms_graph_transfer, refuses_what_is_out_of_range)
{
	struct ms_graph *g = ms_graph_create(4);

	assert_u_eq(ms_graph_transfer(g, 1, 1, 0, 1), MS_NODE_NONE);
	assert_u_eq(ms_graph_transfer(g, 1, 4, 0, 1), MS_NODE_NONE);
	assert_u_eq(ms_graph_transfer(g, 4, 1, 0, 1), MS_NODE_NONE);
	assert_u_eq(ms_graph_transfer(g, 0, 1, 0, UINT64_C(1) << 32), MS_NODE_NONE);
	assert_u_eq(ms_graph_transfer(g, 0, 1, 0, UINT32_MAX), 0);
	ms_graph_destroy(g);
}

TEST(ms_graph_add_dependency, none_is_no_need_and_attackers_are_refused)
{
	struct ms_graph *g = ms_graph_create(2);
	uint32_t a = ms_graph_compute(g, 0, 0, 5);

	assert_true(ms_graph_add_dependency(g, a, MS_NODE_NONE, MS_SENT));
	assert_u_eq(g->node[a].needs, 0);
	assert_false(ms_graph_add_dependency(g, a, 1, MS_SENT));
	assert_false(ms_graph_add_dependency(g, 1, a, MS_SENT));
	ms_graph_destroy(g);
}

TEST(ms_graph_seal, names_a_need_that_another_host_would_have_to_know)
{
	struct ms_graph *g = ms_graph_create(3);
	uint32_t send = ms_graph_transfer(g, 0, 1, 0, 9);
	uint32_t late = ms_graph_compute(g, 2, 0, 5);

	assert_true(ms_graph_add_dependency(g, late, send, MS_RECEIVED));
	assert_false(ms_graph_seal(g, why, &bad));
	assert_u_eq(bad, late);
	assert_string_equal(why, "node 1 begins at host 2 and waits for what host 1 learns of node "
				 "0 (0 -> 1): only what a host sees itself can be waited for");
	ms_graph_destroy(g);
}

TEST(ms_graph_seal, names_nodes_that_wait_for_each_other)
{
	struct ms_graph *g = ms_graph_create(2);
	uint32_t first = ms_graph_compute(g, 0, 0, 1);
	uint32_t a = ms_graph_compute(g, 0, 0, 1), there = ms_graph_transfer(g, 0, 1, 0, 1);
	uint32_t back = ms_graph_transfer(g, 1, 0, 0, 1), after = ms_graph_compute(g, 0, 0, 1);

	assert_true(ms_graph_add_dependency(g, a, first, MS_SENT) &&
		    ms_graph_add_dependency(g, there, a, MS_SENT) &&
		    ms_graph_add_dependency(g, back, there, MS_RECEIVED) &&
		    ms_graph_add_dependency(g, a, back, MS_RECEIVED) &&
		    ms_graph_add_dependency(g, after, a, MS_SENT));
	assert_false(ms_graph_seal(g, why, &bad));
	assert_true(bad == a || bad == there || bad == back);
	assert_non_null(strstr(why, "nodes wait for each other: node "));
	assert_non_null(strstr(why, "node 1 (a compute of host 0) waits for node 3"));
	ms_graph_destroy(g);
}

TEST(ms_graph_channel, transfers_of_one_pair_and_number_share_a_connection)
{
	struct ms_graph *g = ms_graph_create(3);
	uint32_t n, channel;

	ms_graph_transfer(g, 1, 0, 7, 30);
	ms_graph_transfer(g, 0, 1, 7, 10);
	ms_graph_transfer(g, 0, 1, 8, 20);
	ms_graph_transfer(g, 0, 1, 7, 40);
	ms_graph_transfer(g, 2, 1, 7, 50);
	assert_true(ms_graph_seal(g, why, &bad));
	assert_u_eq(g->n_channels, 4);
	assert_u_eq(g->channel[0].n, 2);
	assert_u_eq(g->channel[0].bytes, 50);
	assert_u_eq(g->channel[0].longest_bytes, 40);
	assert_u_eq(ms_graph_message(g, 0, 1), 3);
	assert_u_eq(ms_graph_sizes(g, 0)[1], 40);
	assert_u_eq(ms_graph_place(g, 3, &channel), 1);
	assert_u_eq(channel, 0);
	assert_u_eq(ms_graph_out(g, 0, &n), 0);
	assert_u_eq(n, 2);
	assert_u_eq(ms_graph_in(g, 1, &n)[2], 3);
	assert_u_eq(n, 3);
	assert_u_eq(g->in_slot[3], 2);
	ms_graph_destroy(g);
}

/* ---- taking place ---- */

TEST(ms_graph_exec_advance, computes_of_a_stream_go_one_after_the_other_and_others_beside_them)
{
	struct ms_graph *g = ms_graph_create(1);
	const struct ms_node_times *t;
	struct ms_graph_exec *p;

	ms_graph_compute(g, 0, 0, 10);
	ms_graph_compute(g, 0, 0, 20);
	ms_graph_compute(g, 0, 1, 7);
	ms_graph_compute(g, 0, MS_STREAM_NONE, 5);
	p = play(g);
	t = p->times;
	assert_u_eq(t[0].end_ns, 10);
	assert_u_eq(t[1].begin_ns, 10);
	assert_u_eq(t[1].end_ns, 30);
	assert_u_eq(t[2].end_ns, 7);
	assert_u_eq(t[3].end_ns, 5);
	ms_graph_exec_destroy(p);
	ms_graph_destroy(g);
}

/* A long row of computes of no time must not need a stack as long. */
TEST(ms_graph_exec_advance, a_million_computes_of_no_time_are_over_at_once)
{
	struct ms_graph *g = ms_graph_create(1);
	uint32_t last = MS_NODE_NONE;
	struct ms_graph_exec *p;

	for (uint32_t i = 0; i < 1000000; i++) {
		uint32_t node = ms_graph_compute(g, 0, i % 3 ? MS_STREAM_NONE : 0, 0);

		assert_true(ms_graph_add_dependency(g, node, last, MS_SENT));
		last = i % 2 ? node : MS_NODE_NONE;
	}
	p = play(g);
	assert_u_eq(ms_ideal_end_ns(p), 0);
	ms_graph_exec_destroy(p);
	ms_graph_destroy(g);
}

TEST(ms_graph_exec_sent, an_answer_frees_the_source_and_an_arrival_the_destination)
{
	struct ms_graph *g = ms_graph_create(2);
	uint32_t send = ms_graph_transfer(g, 0, 1, 0, 100);
	uint32_t there = ms_graph_compute(g, 1, 0, 1), here = ms_graph_compute(g, 0, 0, 1);
	struct ms_graph_exec *p;

	assert_true(ms_graph_add_dependency(g, there, send, MS_RECEIVED) &&
		    ms_graph_add_dependency(g, here, send, MS_SENT));
	p = play(g);
	assert_u_eq(p->times[send].end_ns, 110);
	assert_u_eq(p->times[there].begin_ns, 110);
	assert_u_eq(p->times[here].begin_ns, 120);
	ms_graph_exec_destroy(p);
	ms_graph_destroy(g);
}

TEST(ms_ideal_run, a_source_sends_one_transfer_after_the_other)
{
	struct ms_graph *g = ms_graph_create(3);
	struct ms_graph_exec *p;

	ms_graph_transfer(g, 0, 1, 0, 100);
	ms_graph_transfer(g, 0, 2, 0, 50);
	p = play(g);
	assert_u_eq(p->times[0].end_ns, 110);
	assert_u_eq(p->times[1].end_ns, 160);
	ms_graph_exec_destroy(p);
	ms_graph_destroy(g);
}
