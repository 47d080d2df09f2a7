/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/topology_toml.h"
#include "lab/lab.h"
#include "support/test.h"

#include <stdio.h>

static struct mf_topology t;
static struct ml_port_state *port;

static int open_lab(void **state)
{
	char why[MF_TOML_ERROR_BYTES];

	(void)state;
	if (!mf_topology_open("lab", &t, why))
		return -1;
	port = calloc(t.n_links, sizeof(*port));
	return port ? 0 : -1;
}

static int shut(void **state)
{
	(void)state;
	free(port);
	return 0;
}

#define FAULT_TEST(function, name) TEST_WITH(open_lab, shut, function, name)

FAULT_TEST(ml_node_find, takes_no_cables)
{
	struct ml_error e;
	uint32_t node;

	assert_i_eq(ml_node_find(&t, "host7", &node, &e), 0);
	assert_u_eq(node, 7);
	assert_i_eq(ml_node_find(&t, "plane0.t0-0.t1-0", &node, &e), -1);
	assert_i_eq(ml_node_find(&t, "plane0", &node, &e), -1);
}

static void apply(const char *const *words, size_t n)
{
	struct mf_fault *f = calloc(n, sizeof(*f)); /* not one more is there to be looked at */
	struct ml_error e;

	assert_non_null(f);
	for (size_t i = 0; i < n; i++) {
		char target[64];
		const char *blank = strchr(words[i], ' ');

		snprintf(target, sizeof(target), "%.*s", (int)(blank - words[i]), words[i]);
		if (ml_fault_read(&t, target, blank + 1, &f[i], &e))
			fail_msg("%s", e.text);
	}
	ml_faults_apply(&t, f, n, port);
	free(f);
}

FAULT_TEST(ml_faults_apply, goes_the_ways_it_says)
{
	const char *words[] = {"plane0.t0-0.t1-1 loss 1% out", "host3.plane2 blackhole in"};
	uint32_t up = mf_link_t0_t1(&t, 0, 0, 1, false), nic = mf_link_host_t0(&t, 2, 3, false);

	apply(words, 2);
	assert_u_eq(port[up].faults.loss_ppm, 10000);
	assert_u_eq(port[up ^ 1].faults.loss_ppm, 0);
	assert_false(port[nic].faults.blackhole);
	assert_true(port[nic ^ 1].faults.blackhole);
}

FAULT_TEST(ml_faults_apply, adds_up_what_overlaps)
{
	const char *words[] = {"plane0.t0-0.t1-1 loss 50%", "plane0.t0-0 loss 50%",
			       "plane0.t0-0.t1-1 slow 20M", "plane0 slow 30M"};
	uint32_t up = mf_link_t0_t1(&t, 0, 0, 1, false);

	apply(words, 4);
	assert_u_eq(port[up].faults.loss_ppm, 750000);
	assert_u_eq(port[up].faults.slow_bits, 20000000);
	assert_u_eq(port[mf_link_t0_t1(&t, 0, 0, 0, false)].faults.slow_bits, 30000000);
	assert_u_eq(port[mf_link_t0_t1(&t, 1, 0, 0, false)].faults.slow_bits, 0);
}

FAULT_TEST(ml_faults_apply, swaps_far_ends_and_swaps_them_back)
{
	const char *words[] = {"plane0.t0-0.t1-0 swap plane0.t0-1.t1-1",
			       "plane0.t0-1.t1-1 swap plane0.t0-0.t1-0"};
	uint32_t a = mf_link_t0_t1(&t, 0, 0, 0, false), b = mf_link_t0_t1(&t, 0, 1, 1, false);

	apply(words, 1);
	assert_u_eq(port[a].peer, b ^ 1);
	assert_u_eq(port[b ^ 1].peer, a);
	assert_u_eq(port[b].peer, a ^ 1);
	assert_u_eq(port[a ^ 1].peer, b);
	apply(words, 2);
	assert_u_eq(port[a].peer, a ^ 1);
	assert_u_eq(port[b].peer, b ^ 1);
}

FAULT_TEST(ml_faults_apply, what_only_the_switch_program_can_do)
{
	const char *words[] = {"plane0.t0-0.t1-1 corrupt 1%", "plane0.t0-0.t1-1 duplicate 2%",
			       "plane0.t0-0.t1-1 reorder 3%"};
	uint32_t up = mf_link_t0_t1(&t, 0, 0, 1, false);

	apply(words, 3);
	assert_u_eq(port[up].faults.corrupt_ppm, 10000);
	assert_u_eq(port[up].faults.duplicate_ppm, 20000);
	assert_u_eq(port[up].faults.reorder_ppm, 30000);
}

TEST(ml_fault_needs_bpf, of_these_three_alone)
{
	for (int kind = 0; kind < MF_FAULT_KINDS; kind++) {
		bool needs = kind == MF_FAULT_CORRUPT || kind == MF_FAULT_DUPLICATE ||
			     kind == MF_FAULT_REORDER;

		assert_int_equal(ml_fault_needs_bpf((enum mf_fault_kind)kind), needs);
	}
}

FAULT_TEST(ml_fault_same_target, of_one_kind_and_direction)
{
	static const char *const other[][2] = {
		{"plane0", "slow 20M out"}, {"plane0", "loss 1% in"}, {"plane1", "loss 1% out"}};
	struct mf_fault a, b;
	struct ml_error e;

	assert_i_eq(ml_fault_read(&t, "plane0", "loss 1% out", &a, &e), 0);
	assert_i_eq(ml_fault_read(&t, "plane0", "loss 2% out", &b, &e), 0);
	assert_true(ml_fault_same_target(&a, &b));
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		assert_i_eq(ml_fault_read(&t, other[i][0], other[i][1], &b, &e), 0);
		assert_false(ml_fault_same_target(&a, &b));
	}
}
