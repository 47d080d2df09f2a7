/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_routing.c - ECMP: hashes spread flows as balls thrown into bins, dead links are left when
 * routing has reconverged and not before.
 */
#include "roce_fixture.h"

#include <math.h>

static struct mf_topology topology;
static struct ms_run_cfg cfg;
static struct ms_run_result result;

static uint64_t sent_on(struct ms_run *run, uint32_t link)
{
	struct ms_link_info info;

	assert_true(ms_net_link(run->net, link, &info));
	return info.sent_bytes;
}

/*
 * The fullest of n bins when n balls are thrown, by chance: the mean of many throws. A simple
 * model of its own, to hold the fabric's hashes against.
 */
static double fullest_of(uint32_t balls, uint32_t bins)
{
	const uint32_t throws = 2000;
	double sum = 0;

	for (uint32_t i = 0; i < throws; i++) {
		uint32_t in[64] = {0}, most = 0;

		for (uint32_t b = 0; b < balls; b++) {
			uint32_t bin = (uint32_t)test_rand_below(bins);

			most = ++in[bin] > most ? in[bin] : most;
		}
		sum += most;
	}
	return sum / throws;
}

/* REQ(sim.ecmp.hash) */
TEST(ms_ecmp_uplink, worst_link_is_that_of_balls_in_bins)
{
	const uint32_t fans = 16, t0s = 64;
	const uint64_t bytes = 4096, wire = bytes + 12 + 16 + 4 + 90;
	double worst = 0, expected;
	struct ms_run *run;

	fixture_topology(&topology, 1, t0s, fans, fans);
	fixture_run(&cfg, &topology, MS_PERMUTATION, bytes);
	cfg.workload[0].across_t0 = true;
	run = fixture_start(&cfg);
	assert_i_eq(fixture_finish(run, &result), MS_RUN_DONE);
	for (uint32_t t0 = 0; t0 < t0s; t0++) {
		uint64_t most = 0, all = 0;

		for (uint32_t k = 0; k < fans; k++) {
			uint64_t sent = sent_on(run, mf_link_t0_t1(&topology, 0, t0, k, false));

			all += sent;
			most = sent > most ? sent : most;
		}
		assert_true(all >= fans * wire);
		worst += (double)(most / wire) / t0s;
	}
	expected = fullest_of(fans, fans);
	/* 64 T0s: a deviation of one throw is about 0.75, of their mean 0.1. */
	assert_true(fabs(worst - expected) < 0.5);
	ms_run_destroy(run);
}

/* All hosts send for some hundred us; T0 1 is without its cable to T1 0 from 100 us to 2 ms. */
static void fail_at_100us(uint64_t reconverge_ns, struct ms_fault faults[4])
{
	fixture_topology(&topology, 1, 4, 4, 4);
	fixture_run(&cfg, &topology, MS_PERMUTATION, 4000000);
	cfg.workload[0].across_t0 = true;
	cfg.roce.timeout = 5; /* 131 us */
	for (unsigned k = 0; k < MS_PORT_KINDS; k++)
		cfg.queue[k].data_limit_bytes = 0;
	cfg.reconverge_ns = reconverge_ns;
	for (unsigned i = 0; i < 4; i++)
		faults[i] = (struct ms_fault){
			.at_ps = (i < 2 ? 100 : 2000) * US_PS,
			.link = mf_link_t0_t1(&topology, 0, 1, 0, i % 2),
			.kind = i < 2 ? MS_FAULT_DOWN : MS_FAULT_UP,
		};
	cfg.faults = faults;
}

static uint64_t drops_with(uint64_t reconverge_ns)
{
	struct ms_fault faults[4];
	struct ms_run *run;

	fail_at_100us(reconverge_ns, faults);
	cfg.n_faults = 4;
	run = fixture_start(&cfg);
	assert_i_eq(fixture_finish(run, &result), MS_RUN_DONE);
	assert_u_eq(result.flows_failed, 0);
	ms_run_destroy(run);
	return result.net.dropped[MS_DROP_LINK_DOWN];
}

/* REQ(sim.ecmp.reconverge) */
TEST(ms_routing_apply_changes, dead_member_stays_until_routing_knows)
{
	uint64_t at_once = drops_with(0), later = drops_with(300000);

	/* At once: only what was on the wire or waited there. */
	assert_true(at_once > 0 && at_once < later);
}

/* A cable of T1 0 to T0 3 that is down is left by T0 0, which does not touch it. */
TEST(ms_ecmp_uplink, far_links_are_left_too)
{
	struct ms_fault down = {.kind = MS_FAULT_DOWN};
	struct ms_list_flow flows[16];
	struct ms_run *run;

	fixture_topology(&topology, 1, 4, 16, 4);
	fixture_run(&cfg, &topology, MS_LIST, 0);
	for (uint32_t i = 0; i < 16; i++)
		flows[i] = (struct ms_list_flow){
			.src = i, .dst = 48 + i, .bytes = 100000, .start_ns = 10000};
	cfg.workload[0].list = flows;
	cfg.workload[0].n_list = 16;
	cfg.reconverge_ns = 5000;
	down.link = mf_link_t0_t1(&topology, 0, 3, 0, true);
	cfg.faults = &down;
	cfg.n_faults = 1;
	run = fixture_start(&cfg);
	assert_i_eq(fixture_finish(run, &result), MS_RUN_DONE);
	assert_u_eq(result.net.dropped[MS_DROP_LINK_DOWN], 0);
	assert_u_eq(sent_on(run, mf_link_t0_t1(&topology, 0, 0, 0, false)), 0);
	for (uint32_t k = 1; k < 4; k++)
		assert_true(sent_on(run, mf_link_t0_t1(&topology, 0, 0, k, false)) > 0);
	ms_run_destroy(run);
}
