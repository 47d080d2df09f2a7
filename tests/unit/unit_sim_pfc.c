/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_pfc.c - PFC in small fabrics: nothing is dropped while headroom suffices, pauses reach the
 * senders, a packet whose way is free waits behind one whose way is not.
 */
#include "roce_fixture.h"

static struct mf_topology topology;
static struct ms_run_cfg cfg;
static struct ms_run_result result;

static void with_pfc(uint32_t xoff_bytes)
{
	ms_pfc_defaults(&topology, &cfg.pfc);
	cfg.pfc.on = true;
	if (xoff_bytes)
		cfg.pfc.xoff_bytes = xoff_bytes;
}

static uint64_t all_drops(void)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < MS_DROPS; i++)
		n += result.net.dropped[i];
	return n;
}

static void incast(uint32_t xoff_bytes)
{
	fixture_topology(&topology, 1, 4, 8, 4);
	fixture_run(&cfg, &topology, MS_INCAST, 1000000);
	cfg.workload[0].group_size = 32;
	with_pfc(xoff_bytes);
}

/* 31 to 1 without congestion control: PFC alone keeps it lossless, and the last hop full. */
TEST(ms_pfc_update, incast_is_lossless)
{
	uint64_t wire = 31 * (1000000 + 245 * UINT64_C(102) + 20) * 80;
	struct ms_run *run;

	incast(30000);
	run = fixture_start(&cfg);
	assert_i_eq(fixture_finish(run, &result), MS_RUN_DONE);
	assert_u_eq(all_drops(), 0);
	assert_u_eq(result.retransmits, 0);
	assert_true(result.net.pauses > 0 && result.net.paused_ports >= 8);
	assert_u_between(result.end_ps, wire, wire * 102 / 100);
	ms_run_destroy(run);
}

/* REQ(sim.pfc.thresholds): with no headroom what comes after a pause was sent is dropped. */
TEST(ms_pfc_has_room, without_headroom_it_drops)
{
	struct ms_run *run;

	incast(30000);
	cfg.pfc.headroom_bytes = 0;
	cfg.roce.timeout = 8;
	run = fixture_start(&cfg);
	fixture_finish(run, &result);
	assert_true(result.net.dropped[MS_DROP_HEADROOM] > 0);
	assert_u_eq(result.net.dropped[MS_DROP_DATA_FULL], 0);
	ms_run_destroy(run);
}

/* REQ(sim.pfc.thresholds): who goes on at xon, not when all is gone, leaves no gap at the last
 * hop. */
TEST(ms_pfc_update, goes_on_before_the_queue_is_empty)
{
	const struct ms_list_flow flows[2] = {{.src = 0, .dst = 2, .bytes = 4096000},
					      {.src = 1, .dst = 2, .bytes = 4096000}};
	const uint64_t wire = 2 * (4096000 + 1000 * UINT64_C(102) + 20) * 80;
	struct ms_run *run;

	fixture_topology(&topology, 1, 2, 4, 2);
	fixture_run(&cfg, &topology, MS_LIST, 0);
	cfg.workload[0].list = flows;
	cfg.workload[0].n_list = 2;
	with_pfc(60000);
	run = fixture_start(&cfg);
	assert_i_eq(fixture_finish(run, &result), MS_RUN_DONE);
	assert_true(result.net.pauses > 10);
	assert_u_between(result.end_ps, wire, wire * 101 / 100);
	ms_run_destroy(run);
}

/* REQ(sim.pfc.pause): data alone is held back, and what a port was paused adds up. */
TEST(ms_pfc_apply, answers_pass)
{
	struct ms_link_info info;
	struct ms_run *run;
	uint64_t paused = 0;
	uint32_t ports = 0;

	incast(30000);
	run = fixture_start(&cfg);
	assert_i_eq(fixture_finish(run, &result), MS_RUN_DONE);
	for (uint32_t link = 0; link < topology.n_links; link++) {
		assert_true(ms_net_link(run->net, link, &info));
		assert_false(info.paused);
		paused += info.paused_ps;
		ports += info.pauses > 0;
	}
	assert_u_eq(paused, result.net.paused_ps);
	assert_u_eq(ports, result.net.paused_ports);
	assert_u_eq(result.roce.timeouts, 0);
	ms_run_destroy(run);
}

/* Hosts 1 to 7 send to 8; host 0 sends to 9, of the same T0, over the same cables. */
static uint64_t victim_ns(bool pfc, bool incast_too)
{
	struct ms_list_flow flows[8] = {{.src = 0, .dst = 9, .bytes = 2000000}};
	struct ms_flow_result victim;
	struct ms_run *run;

	for (uint32_t i = 1; i < 8; i++)
		flows[i] = (struct ms_list_flow){.src = i, .dst = 8, .bytes = 1000000};
	fixture_topology(&topology, 1, 2, 8, 1);
	/* One cable up that is fast enough for all. */
	topology.cfg.links[MF_T0_T1].bit_s = 800 * GBIT;
	fixture_run(&cfg, &topology, MS_LIST, 0);
	cfg.workload[0].list = flows;
	cfg.workload[0].n_list = incast_too ? 8 : 1;
	with_pfc(30000);
	cfg.pfc.on = pfc;
	for (unsigned k = 0; k < MS_PORT_KINDS; k++)
		cfg.queue[k].data_limit_bytes = 0;
	run = fixture_start(&cfg);
	assert_i_eq(fixture_finish(run, &result), MS_RUN_DONE);
	ms_run_flow(run, 0, &victim);
	ms_run_destroy(run);
	return victim.end_ns - victim.start_ns;
}

/* REQ(sim.pfc.pause): head-of-line blocking. Without PFC the victim does not notice. */
TEST(ms_pfc_apply, blocks_who_has_nothing_to_do_with_it)
{
	uint64_t alone = victim_ns(true, false);

	assert_u_between(victim_ns(false, true), alone, alone * 102 / 100);
	assert_true(victim_ns(true, true) > 2 * alone);
}

TEST(ms_net_cfg_check, thresholds)
{
	struct ms_net_cfg net = {.threads = 1, .trim_to_bytes = 100};
	char why[MS_WHY_BYTES] = "";

	fixture_topology(&net.topology, 1, 2, 2, 2);
	ms_pfc_defaults(&net.topology, &net.pfc);
	net.pfc.on = true;
	assert_true(ms_net_cfg_check(&net, why));
	net.pfc.xon_bytes = net.pfc.xoff_bytes + 1;
	assert_false(ms_net_cfg_check(&net, why));
	assert_non_null(strstr(why, "xon at most xoff"));
}
