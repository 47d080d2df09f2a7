/* SPDX-License-Identifier: BSD-2-Clause */
/* The stage on loopback: src/demo/stage.h. What a rank gets is in unit_demo_job.c. */
#include "demo/stage.h"

#include "support/test.h"

#include <stdio.h>

static struct demo_loopback loopback;
static struct demo_rundir dir;

static const struct demo_shape shape = {
	.ranks = 4, .planes = 2, .paths = 4, .pace_bps = 50000000, .vector_bytes = 4096};

static int begin(void **state)
{
	(void)state;
	demo_loopback_init(&loopback, &shape);
	assert_int_equal(demo_rundir_create(&dir), 0);
	assert_int_equal(loopback.stage.ops->begin(&loopback.stage, &dir, "run", 7), 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	loopback.stage.ops->end(&loopback.stage);
	demo_rundir_remove(&dir);
	return 0;
}

#define LOOPBACK_TEST(function, name) TEST_WITH(begin, end, function, name)

TEST(demo_loopback_gid, is_the_mapped_address_on_plane_0)
{
	static const uint8_t want[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 6};
	uint8_t gid[16];

	demo_loopback_gid(gid, 5);
	assert_memory_equal(gid, want, 16);
}

LOOPBACK_TEST(demo_loopback, strikes_and_lifts_by_the_table)
{
	const struct demo_fault fault = {.target = {"plane1"}, .targets = 1, .fault = "stall"};
	struct mrc_fault_rule *rule = &loopback.table->rule[3];
	const struct demo_stage_ops *ops = loopback.stage.ops;

	ops->set_fault(&loopback.stage, 3, &fault, true);
	assert_u_eq(rule->kind, MRC_FAULT_DROP);
	assert_u_eq(rule->port_mask, 2);
	rule->hit_data = 5;
	ops->set_fault(&loopback.stage, 3, &fault, false);
	assert_u_eq(rule->kind, MRC_FAULT_OFF);
	assert_u_eq(ops->hits(&loopback.stage, 3).data, 5);
}

/* A kernel that refuses filters leaves TCP nothing but certain loss. */
LOOPBACK_TEST(demo_loopback, what_tcp_can_feel)
{
	struct demo_fault fault = {
		.target = {"plane0.t1-2", "plane0.t1-3"}, .targets = 2, .fault = "loss 1%"};
	struct demo_job tcp = {.state = DEMO_JOB_NONE};
	bool can_feel = true;

	assert_u_eq(loopback.stage.ops->tcp_hits(&loopback.stage, &fault, &tcp, &can_feel), 0);
	assert_false(can_feel);
	fault.certain = true;
	assert_u_eq(loopback.stage.ops->tcp_hits(&loopback.stage, &fault, &tcp, &can_feel), 0);
	assert_true(can_feel);
}

TEST(demo_loopback_rule, refuses_what_it_does_not_know)
{
	const struct demo_fault fault = {.target = {"plane7"}, .targets = 1, .fault = "stall"};
	struct mrc_fault_rule rule;

	assert_false(demo_loopback_rule(&shape, &fault, &rule));
}
