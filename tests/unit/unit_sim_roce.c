/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_roce.c - RoCE's NICs in small fabrics: what they take, what loss does to them, how they
 * die. */
#include "roce_fixture.h"

#include "sim/roce/roce_state.h"

static struct mf_topology topology;
static struct ms_run_cfg cfg;
static struct ms_run_result result;

static void one_flow(uint64_t bytes)
{
	static struct ms_list_flow flow;

	flow = (struct ms_list_flow){.src = 0, .dst = 4, .bytes = bytes};
	fixture_topology(&topology, 1, 2, 4, 2);
	fixture_run(&cfg, &topology, MS_LIST, bytes);
	cfg.workload[0].list = &flow;
	cfg.workload[0].n_list = 1;
}

static uint64_t wire_ps(uint64_t bytes)
{
	return bytes * 80; /* at 100G */
}

/* 256 packets, the first with a RETH, the last with an immediate; and the way of the last. */
TEST(ms_roce_create, lone_flow_takes_what_arithmetic_says)
{
	uint64_t data = 4096 + 12 + 90, way = 4 * 500 * 1000 + 3 * 500 * 1000;
	struct ms_run *run;

	one_flow(256 * 4096);
	run = fixture_start(&cfg);
	assert_i_eq(fixture_finish(run, &result), MS_RUN_DONE);
	/* Each hop but the first sends one packet more: the first, which is the longest. */
	assert_u_eq(result.end_ps / 1000,
		    (wire_ps(256 * data + 16 + 4) + 3 * wire_ps(data + 16) + way) / 1000);
	assert_u_eq(result.roce.tx_data_packets, 256);
	assert_u_eq(result.roce.rx_data_packets, 256);
	assert_u_eq(result.roce.tx_acks, 16);
	assert_u_eq(result.net.dropped[MS_DROP_DATA_FULL], 0);
	ms_run_destroy(run);
}

/* REQ(sim.roce.ack) */
TEST(ms_rrx_receive_data, one_ack_for_so_many_packets)
{
	for (uint32_t every = 1; every <= 64; every *= 4) {
		struct ms_run *run;

		one_flow(100 * 4096);
		cfg.roce.ack_every = every;
		run = fixture_start(&cfg);
		assert_i_eq(fixture_finish(run, &result), MS_RUN_DONE);
		assert_u_eq(result.roce.tx_acks, 100 / every + (100 % every != 0));
		ms_run_destroy(run);
	}
}

static uint32_t link_of(uint32_t host, bool down)
{
	return mf_link_host_t0(&topology, 0, host, down);
}

/* REQ(sim.roce.go-back): packets that fly while the link is away are sent again, with all
 * behind. */
TEST(ms_rqp_receive_ack, nak_goes_back)
{
	const struct ms_fault faults[] = {
		{.at_ps = 20 * US_PS, .link = 0, .kind = MS_FAULT_LOSS, .value = 1000000},
		{.at_ps = 21 * US_PS, .link = 0, .kind = MS_FAULT_LOSS, .value = 0},
	};
	struct ms_run *run;

	one_flow(256 * 4096);
	cfg.faults = faults;
	cfg.n_faults = 2;
	assert_u_eq(link_of(0, false), 0);
	run = fixture_start(&cfg);
	assert_i_eq(fixture_finish(run, &result), MS_RUN_DONE);
	assert_true(result.net.dropped[MS_DROP_LOSS] > 0);
	assert_u_eq(result.roce.tx_naks, 1);
	assert_u_eq(result.roce.timeouts, 0);
	assert_u_eq(result.roce.tx_retransmits,
		    result.net.dropped[MS_DROP_LOSS] + result.roce.rx_out_of_order);
	assert_u_eq(result.retransmits, result.roce.tx_retransmits);
	ms_run_destroy(run);
}

/* REQ(sim.roce.retry): eight timeouts, then the QP is dead and the flow has failed. */
TEST(ms_rqp_timeouts, dies_when_retries_are_used_up)
{
	const struct ms_fault faults[] = {
		{.at_ps = 20 * US_PS, .link = 0, .kind = MS_FAULT_BLACKHOLE, .value = 1}};
	struct ms_flow_result flow;
	struct ms_run *run;
	char text[160];

	one_flow(256 * 4096);
	cfg.faults = faults;
	cfg.n_faults = 1;
	cfg.roce.timeout = 3;
	run = fixture_start(&cfg);
	assert_i_eq(fixture_finish(run, &result), MS_RUN_STUCK);
	assert_u_eq(result.roce.timeouts, 8);
	assert_u_eq(result.roce.qps_dead, 1);
	assert_u_eq(result.flows_failed, 1);
	assert_u_eq(result.flows_unfinished, 1);
	ms_run_flow(run, 0, &flow);
	assert_true(flow.failed);
	assert_true(ms_run_describe_wait(run, 0, text, sizeof(text)));
	assert_non_null(strstr(text, "gave up"));
	ms_run_destroy(run);
}

/* A lost ACK is made up for: what comes twice is answered again. */
TEST(ms_rrx_receive_data, duplicate_is_answered)
{
	struct ms_fault faults[2];
	struct ms_run *run;

	one_flow(4096);
	faults[0] = (struct ms_fault){
		.link = link_of(4, false), .kind = MS_FAULT_LOSS, .value = 1000000};
	faults[1] = faults[0];
	faults[1].at_ps = 30 * US_PS;
	faults[1].value = 0;
	cfg.faults = faults;
	cfg.n_faults = 2;
	cfg.roce.timeout = 3;
	run = fixture_start(&cfg);
	assert_i_eq(fixture_finish(run, &result), MS_RUN_DONE);
	assert_u_eq(result.roce.rx_duplicates, 1);
	assert_u_eq(result.roce.tx_acks, 2);
	assert_u_eq(result.roce.timeouts, 1);
	ms_run_destroy(run);
}

/* Every byte of a message belongs to one packet of one QP. */
TEST(ms_roce_split_packet, covers_each_byte_once)
{
	for (uint64_t round = test_rounds(500); round > 0; round--) {
		struct ms_rcut c = {256u << test_rand_below(5),
				    1 + (uint32_t)test_rand_below(MS_ROCE_QPS_MAX)};
		uint64_t bytes = test_rand_below(200000), at = 0, packets = 0;

		bytes = test_rand_chance(1, 10) ? 0 : bytes;
		for (uint32_t i = 0; i < c.qps; i++)
			for (uint64_t n = 0; n < ms_roce_split_packets(&c, i, bytes);
			     n++, packets++) {
				struct ms_rpart p = ms_roce_split_packet(&c, i, bytes, n);

				assert_u_eq(p.offset, at);
				assert_true(p.bytes <= c.mtu && (p.bytes > 0 || bytes == 0));
				at += p.bytes;
			}
		assert_u_eq(at, bytes);
		assert_true(packets > 0 && ms_roce_split_packets(&c, 0, bytes) > 0);
	}
}

/* 16 QPs take 16 ways, and all of a message arrives before it is reported. */
TEST(ms_roce_create, many_qps)
{
	struct ms_run *run;

	fixture_topology(&topology, 4, 4, 4, 4);
	fixture_run(&cfg, &topology, MS_ALL_REDUCE_RING, 1000000);
	cfg.workload[0].group_size = 16;
	cfg.roce.qps = 16;
	run = fixture_start(&cfg);
	assert_i_eq(fixture_finish(run, &result), MS_RUN_DONE);
	assert_u_eq(result.flows_unfinished, 0);
	ms_run_destroy(run);
}

/* REQ(sim.dcqcn.cnp): of seven QPs one each 50 us at most, and the first of each at once. */
TEST(ms_rrx_receive_data, cnps_keep_their_interval)
{
	struct ms_run *run;
	uint64_t most;

	fixture_topology(&topology, 1, 2, 4, 4);
	fixture_run(&cfg, &topology, MS_INCAST, 2000000);
	cfg.workload[0].group_size = 8;
	cfg.roce.congestion_control = 1;
	cfg.queue[MS_PORT_T0_DOWN].data_limit_bytes = 0;
	run = fixture_start(&cfg);
	assert_i_eq(fixture_finish(run, &result), MS_RUN_DONE);
	most = 7 * (1 + result.end_ps / (50 * US_PS));
	assert_true(result.roce.tx_cnps >= 7 && result.roce.tx_cnps <= most);
	assert_true(result.net.ecn_marks > 10 * result.roce.tx_cnps);
	ms_run_destroy(run);
}

TEST(ms_roce_check, names_what_is_wrong)
{
	char why[MS_WHY_BYTES] = "";
	struct ms_roce_cfg c;

	fixture_topology(&topology, 1, 2, 4, 2);
	ms_roce_defaults(&c, &topology);
	assert_true(ms_roce_check(&c, why));
	c.qps = 17;
	assert_false(ms_roce_check(&c, why));
	assert_string_equal(why, "roce.qps = 17: 1 to 16");
	c.qps = 16;
	c.retry_cnt = 8;
	assert_false(ms_roce_check(&c, why));
	assert_string_equal(why, "roce.retry_cnt = 8: 0 to 7");
}
