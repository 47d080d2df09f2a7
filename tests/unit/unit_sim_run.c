/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whole runs against what theory says of them. Times are those of an exact simulation, so that only
 * what theory leaves out needs a tolerance, which is named where it is given.
 */
#include "support/test.h"

#include "fabric/fabric_node.h"
#include "sim/run/sim_run.h"

#define GBIT UINT64_C(1000000000)
#define US UINT64_C(1000)
#define MIB (UINT64_C(1) << 20)

static char why[MS_WHY_BYTES];
static struct ms_run_result result;

struct fabric {
	uint32_t planes, tiers, pods, hosts_per_t0, t0s, t1s, t1_uplinks;
	uint64_t bit_s;
	uint32_t latency_ns, switch_ns;
};

/* 8 hosts on each of 4 T0s, 8 T1s; 100G, 500 ns of cable, 500 ns of switch. */
static struct fabric small(uint32_t planes)
{
	return (struct fabric){
		.planes = planes,
		.tiers = 2,
		.pods = 1,
		.hosts_per_t0 = 8,
		.t0s = 4,
		.t1s = 8,
		.bit_s = 100 * GBIT,
		.latency_ns = 500,
		.switch_ns = 500,
	};
}

static void prepare(struct ms_run_cfg *cfg, const struct fabric *f, enum ms_workload_kind kind,
		    uint64_t bytes)
{
	struct mf_topology_cfg t = {
		.dscp = mw_dscp_map_default(),
		.name = "test",
		.planes = f->planes,
		.tiers = f->tiers,
		.pods = f->pods,
		.hosts_per_t0 = f->hosts_per_t0,
		.t0s = f->t0s,
		.t1s = f->t1s,
		.t1_uplinks = f->t1_uplinks,
		.rails = 1,
		.mtu = 4500,
		.switch_ns = f->switch_ns,
		.usid.block = 0xfcbbbb00,
		.address_block = 0xfd4d5243,
	};
	struct mf_topology topology;
	struct mf_error error;

	for (unsigned i = 0; i < MF_LINK_KINDS; i++)
		t.links[i] = (struct mf_link_cfg){f->bit_s, f->latency_ns};
	assert_true(mf_topology_init(&topology, &t, &error));
	ms_run_defaults(cfg, &topology);
	cfg->workload[0].kind = kind;
	cfg->workload[0].bytes = bytes;
	cfg->end_ps = 1000000 * US * MS_PS_PER_NS;
}

static struct ms_run *start(const struct ms_run_cfg *cfg)
{
	struct ms_run *run = ms_run_create(cfg, why);

	assert_string_equal(why, "");
	assert_non_null(run);
	return run;
}

static enum ms_run_state finish(struct ms_run *run)
{
	enum ms_run_state state;

	do
		state = ms_run_step(run, 100 * US * MS_PS_PER_NS);
	while (state == MS_RUN_RUNNING);
	assert_true(ms_run_result(run, &result));
	return state;
}

/* Runs to the end, where everything must be well, and leaves what came of it in `result`. */
static void run_all(const struct ms_run_cfg *cfg)
{
	struct ms_run *run = start(cfg);

	assert_i_eq(finish(run), MS_RUN_DONE);
	assert_null(ms_nics_violation(run->nics));
	assert_u_eq(result.violations, 0);
	assert_u_eq(result.flows_unfinished, 0);
	assert_true(result.memory_bytes <= ms_run_memory(cfg));
	ms_run_destroy(run);
}

static uint64_t end_ns(void)
{
	return result.end_ps / MS_PS_PER_NS;
}

/* Not before `low_ns` and at most so many percent after. */
static void assert_close(uint64_t ns, uint64_t low_ns, uint32_t percent)
{
	assert_u_between(ns, low_ns - 1, low_ns + low_ns * percent / 100 + 1);
}

/* ---- one flow ---- */

static void one_flow(struct ms_run_cfg *cfg, const struct ms_list_flow *flow)
{
	cfg->workload[0].kind = MS_LIST;
	cfg->workload[0].list = flow;
	cfg->workload[0].n_list = 1;
}

/* n packets at the rate of the link, and the way of the last one; to the nanosecond.
 * REQ(sim.theory) */
TEST(ms_run, a_lone_flow_takes_size_over_rate_and_a_latency)
{
	static const struct ms_list_flow flow = {.src = 0, .dst = 9, .bytes = 100 * 4096};
	struct fabric f = small(1);
	struct ms_run_cfg cfg;
	uint64_t packet = 4096 + 36 + 130, send_ps = packet * 80;

	prepare(&cfg, &f, MS_LIST, 0);
	one_flow(&cfg, &flow);
	run_all(&cfg);
	/* The last packet has an immediate of 4 bytes, which each of 4 links takes 320 ps for. */
	assert_u_between(end_ns(), (100 + 3) * send_ps / 1000 + 4 * 500 + 3 * 500,
			 (100 + 3) * send_ps / 1000 + 4 * 500 + 3 * 500 + 3);
	assert_u_eq(result.data_packets, 100);
	assert_u_eq(result.retransmits, 0);
	assert_u_eq(result.net.ecn_marks, 0);
}

/*
 * htsim's lone flow: 2 MB in packets of 4150 bytes over three tiers of 100G and 1 us hops, 176.2 us
 * until the sender knows. One percent: its packets carry a few bytes less, and its answers are 64.
 */
TEST(ms_run, a_lone_flow_over_three_tiers)
{
	static const struct ms_list_flow flow = {.src = 0, .dst = 15, .bytes = 2000000};
	struct fabric f = {.planes = 1,
			   .tiers = 3,
			   .pods = 2,
			   .hosts_per_t0 = 4,
			   .t0s = 2,
			   .t1s = 4,
			   .t1_uplinks = 2,
			   .bit_s = 100 * GBIT,
			   .latency_ns = 1000};
	struct ms_flow_result r;
	struct ms_run_cfg cfg;
	struct ms_run *run;

	prepare(&cfg, &f, MS_LIST, 0);
	one_flow(&cfg, &flow);
	cfg.mrc.frame_bytes = 4150 - 4096 - 36;
	run = start(&cfg);
	assert_i_eq(finish(run), MS_RUN_DONE);
	ms_run_flow(run, 0, &r);
	assert_u_between(r.acked_ns, 176200 * 99 / 100, 176200 * 101 / 100);
	ms_run_destroy(run);
}

/* 96 % of line rate at MTU 4096: what 32 KB writes reach on eight planes. */
TEST(ms_run, payload_is_96_percent)
{
	static const struct ms_list_flow flow = {.src = 0, .dst = 1, .bytes = 10000 * 4096};
	struct fabric f = small(8);
	struct ms_run_cfg cfg;

	prepare(&cfg, &f, MS_LIST, 0);
	one_flow(&cfg, &flow);
	run_all(&cfg);
	assert_u_between(flow.bytes * 8 * 1000 / end_ns() / 800, 955, 965);
}

/* ---- many flows ---- */

/*
 * 2(N-1)/N * S/B + 2(N-1) * latency. 3 %: a host answers every second packet that it gets, over
 * the port on which it sends.
 */
TEST(ms_run, a_ring_all_reduce)
{
	struct fabric f = small(1);
	struct ms_run_cfg cfg;
	uint64_t s = 8 * 64 * 4096, wire = s / 4096 * (4096 + 36 + 130);
	uint64_t latency = 2 * 500 + 500 + (4096 + 36 + 130) * 80 / 1000;

	prepare(&cfg, &f, MS_ALL_REDUCE_RING, s);
	cfg.workload[0].group_size = 8;
	run_all(&cfg);
	assert_close(end_ns(), 2 * 7 * (wire / 8 * 80 / 1000 + latency), 3);
	assert_close(end_ns(), result.ideal_ns, 3);
}

/* The same over all planes, each message 8 packets, one a plane. */
TEST(ms_run, a_ring_over_eight_planes)
{
	struct fabric f = small(8);
	struct ms_run_cfg cfg;

	prepare(&cfg, &f, MS_ALL_REDUCE_RING, 8 * 8 * 4096);
	cfg.workload[0].group_size = 8;
	run_all(&cfg);
	assert_close(end_ns(), 2 * 7 * (uint64_t)(2 * 500 + 500 + 2 * 4262 * 80 / 1000), 3);
}

/* (N-1)/N * S/B with S = N messages, and one latency; 6 %: sources that meet at a port. */
TEST(ms_run, all_to_all)
{
	struct fabric f = small(1);
	struct ms_run_cfg cfg;

	prepare(&cfg, &f, MS_ALL_TO_ALL, 64 * 4096);
	cfg.workload[0].group_size = 8;
	run_all(&cfg);
	assert_close(end_ns(), (uint64_t)7 * 64 * 4262 * 80 / 1000 + 1500, 6);
	assert_close(end_ns(), result.ideal_ns, 6);
}

/* n * S/B and a latency. */
TEST(ms_run, incast)
{
	struct fabric f = small(1);
	struct ms_run_cfg cfg;

	prepare(&cfg, &f, MS_INCAST, 2 * MIB);
	cfg.workload[0].group_size = 8;
	cfg.workload[0].groups = 1;
	run_all(&cfg);
	assert_true(result.net.trims > 0);
	assert_close(end_ns(), (uint64_t)7 * 512 * 4262 * 80 / 1000 + 1500, 6);
}

TEST(ms_run, outcast)
{
	struct fabric f = small(8);
	struct ms_run_cfg cfg;

	prepare(&cfg, &f, MS_OUTCAST, MIB);
	cfg.workload[0].group_size = 8;
	cfg.workload[0].groups = 1;
	run_all(&cfg);
	assert_close(end_ns(), result.ideal_ns, 1);
}

/* log2 N times the latency and S/B; 3 % as above. */
TEST(ms_run, recursive_doubling)
{
	struct fabric f = small(8);
	struct ms_run_cfg cfg;

	prepare(&cfg, &f, MS_ALL_REDUCE_DOUBLING, 64 * 8 * 4096);
	cfg.workload[0].group_size = 8;
	run_all(&cfg);
	assert_close(end_ns(), 3 * ((uint64_t)64 * 4262 * 80 / 1000 + 1500 + 341), 3);
}

/* Rings inside T0s, and across them: 5 %, for rings that meet at T1s. */
TEST(ms_run, hierarchical_all_reduce)
{
	struct fabric f = small(8);
	struct ms_run_cfg cfg;

	prepare(&cfg, &f, MS_ALL_REDUCE_HIERARCHICAL, 32 * 8 * 4096);
	cfg.workload[0].group_size = 32;
	cfg.workload[0].local_size = 8;
	run_all(&cfg);
	assert_close(end_ns(), result.ideal_ns, 5);
}

TEST(ms_run, every_other_collective_is_finished)
{
	static const enum ms_workload_kind kinds[] = {MS_ALL_REDUCE_TREE, MS_ALL_GATHER,
						      MS_REDUCE_SCATTER, MS_PERMUTATION};

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct fabric f = small(4);
		struct ms_run_cfg cfg;

		prepare(&cfg, &f, kinds[i], 300001); /* parts and packets that are not whole */
		cfg.workload[0].group_size = 11;
		cfg.workload[0].chunks = 7;
		cfg.workload[0].placement = MS_RANDOM;
		run_all(&cfg);
	}
}

/* A permutation on a fabric that is large enough keeps more than 80 % of its rate: short flows. */
TEST(ms_run, a_permutation)
{
	struct fabric f = small(8);
	struct ms_run_cfg cfg;

	prepare(&cfg, &f, MS_PERMUTATION, 4 * MIB);
	cfg.workload[0].across_t0 = true;
	run_all(&cfg);
	assert_close(end_ns(), result.ideal_ns, 25);
}

/* ---- faults ---- */

static void fault(struct ms_run_cfg *cfg, struct ms_fault *faults, uint32_t n)
{
	cfg->faults = faults;
	cfg->n_faults = n;
}

/* One of eight ports gone takes an eighth of the rate; the latency stays. */
TEST(ms_run, a_port_less_is_an_eighth_less)
{
	static const struct ms_list_flow flow = {.src = 0, .dst = 1, .bytes = 8000 * 4096};
	struct fabric f = small(8);
	struct ms_fault down[2];
	struct ms_run_cfg cfg;
	uint64_t whole;

	prepare(&cfg, &f, MS_LIST, 0);
	one_flow(&cfg, &flow);
	run_all(&cfg);
	whole = end_ns();
	for (unsigned i = 0; i < 2; i++)
		down[i] = (struct ms_fault){
			.kind = MS_FAULT_DOWN,
			.link = mf_link_host_t0(&cfg.topology, 3, 0, i),
		};
	fault(&cfg, down, 2);
	run_all(&cfg);
	assert_u_between(end_ns(), whole * 8 / 7 * 99 / 100, whole * 8 / 7 * 102 / 100);
}

/* A link between T0 and T1 that dies silently, and stays so, costs a few round trips. */
TEST(ms_run, a_dead_link_is_left)
{
	struct fabric f = small(2);
	struct ms_fault dead = {
		.at_ps = 20 * US * MS_PS_PER_NS, .kind = MS_FAULT_BLACKHOLE, .value = 1};
	struct ms_run_cfg cfg;
	uint64_t whole;

	prepare(&cfg, &f, MS_PERMUTATION, 4 * MIB);
	cfg.workload[0].across_t0 = true;
	run_all(&cfg);
	whole = end_ns();
	dead.link = mf_link_t0_t1(&cfg.topology, 1, 2, 3, false);
	fault(&cfg, &dead, 1);
	run_all(&cfg);
	assert_true(result.net.dropped[MS_DROP_BLACKHOLE] > 0);
	assert_true(result.core.evs_retired > 0);
	assert_u_between(end_ns(), whole / 2, whole + 150 * US);
}

/* Loss everywhere: slower, and yet whole. */
TEST(ms_run, loss_is_repaired)
{
	struct fabric f = small(2);
	struct ms_fault loss[16];
	struct ms_run_cfg cfg;

	prepare(&cfg, &f, MS_ALL_TO_ALL, 64 * 4096);
	cfg.workload[0].group_size = 8;
	cfg.workload[0].groups = 1;
	for (uint32_t i = 0; i < 16; i++)
		loss[i] = (struct ms_fault){
			.kind = MS_FAULT_LOSS,
			.value = 10000,
			.link = mf_link_host_t0(&cfg.topology, i % 2, i / 2, true),
		};
	fault(&cfg, loss, 16);
	run_all(&cfg);
	assert_true(result.retransmits > 0);
}

/* ---- the run itself ---- */

TEST(ms_run, the_same_for_any_number_of_threads)
{
	struct fabric f = small(2);
	struct ms_fault dead = {
		.at_ps = 10 * US * MS_PS_PER_NS, .kind = MS_FAULT_LOSS, .value = 50000};
	struct ms_run_result first;
	struct ms_run_cfg cfg;

	prepare(&cfg, &f, MS_PERMUTATION, MIB);
	dead.link = mf_link_t0_t1(&cfg.topology, 1, 2, 3, false);
	fault(&cfg, &dead, 1);
	run_all(&cfg);
	first = result;
	for (cfg.threads = 2; cfg.threads <= 3; cfg.threads++) {
		run_all(&cfg);
		assert_u_eq(result.net.hash, first.net.hash);
		assert_u_eq(result.end_ps, first.end_ps);
		assert_bytes_eq((const uint8_t *)&result.core, (const uint8_t *)&first.core,
				sizeof(first.core));
	}
	cfg.threads = 1;
	cfg.seed = 2;
	run_all(&cfg);
	assert_true(result.net.hash != first.net.hash);
}

TEST(ms_run, says_who_waits_for_whom)
{
	struct fabric f = small(1);
	struct ms_run_cfg cfg;
	struct ms_run *run;
	char text[200];

	prepare(&cfg, &f, MS_ALL_REDUCE_RING, MIB);
	cfg.workload[0].group_size = 8;
	cfg.workload[0].groups = 1;
	cfg.end_ps = 1 * US * MS_PS_PER_NS;
	run = start(&cfg);
	assert_i_eq(finish(run), MS_RUN_TIME);
	assert_u_eq(result.flows_unfinished, 8);
	assert_true(ms_run_describe_wait(run, 3, text, sizeof(text)));
	assert_string_equal(text, "flow 3 (3 -> 4), message 2 of 14, waits for message 1 of flow "
				  "2 (2 -> 3)");
	ms_run_destroy(run);
}

/* An unreachable host: the flow gives up, and the run says so. */
TEST(ms_run, a_flow_that_cannot_be_finished)
{
	static const struct ms_list_flow flow = {.src = 0, .dst = 9, .bytes = 4096};
	struct fabric f = small(1);
	struct ms_fault dead = {.kind = MS_FAULT_BLACKHOLE, .value = 1};
	struct ms_run_cfg cfg;
	struct ms_run *run;
	char text[200];

	prepare(&cfg, &f, MS_LIST, 0);
	one_flow(&cfg, &flow);
	dead.link = mf_link_host_t0(&cfg.topology, 0, 9, true);
	fault(&cfg, &dead, 1);
	run = start(&cfg);
	assert_i_eq(finish(run), MS_RUN_STUCK);
	assert_u_eq(result.flows_failed, 1);
	assert_u_eq(result.flows_unfinished, 1);
	assert_true(ms_run_describe_wait(run, 0, text, sizeof(text)));
	assert_string_equal(text, "flow 0 (0 -> 9) gave up after 0 of 1 messages");
	ms_run_destroy(run);
}

TEST(ms_run_check, names_the_field)
{
	struct fabric f = small(8);
	struct ms_run_cfg cfg;

	prepare(&cfg, &f, MS_PERMUTATION, MIB);
	cfg.mrc.path_mtu = 1000;
	assert_false(ms_run_check(&cfg, why));
	assert_non_null(strstr(why, "mtu = 1000"));
	prepare(&cfg, &f, MS_INCAST, MIB);
	cfg.workload[0].group_size = 1;
	assert_false(ms_run_check(&cfg, why));
	assert_non_null(strstr(why, "group_size = 1"));
	prepare(&cfg, &f, MS_PERMUTATION, MIB);
	cfg.mrc.evs = 0;
	assert_false(ms_run_check(&cfg, why));
	assert_non_null(strstr(why, "evs = 0"));
	prepare(&cfg, &f, MS_PERMUTATION, MIB);
	cfg.n_workloads = 9;
	assert_false(ms_run_check(&cfg, why));
	assert_non_null(strstr(why, "9 workloads"));
}
