/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RoCE in random fabrics, alone and beside MRC, while links lose, break and come back: every flow
 * is finished, every byte comes once and in order, every packet is accounted for, and two threads
 * do what one does. And a QP against a naive model of go-back-N, which is shown every packet.
 */
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

#include "property/random_fabric.h"
#include "property/run_to_end.h"
#include "sim/roce/roce_state.h"
#include "sim/run/sim_run.h"
#include "sim/workload/training_job.h"

#define US_PS UINT64_C(1000000)
#define FAULTS_MAX 12u

static char why[MS_WHY_BYTES];
static struct ms_fault faults[2 * FAULTS_MAX];

static void random_workload(struct ms_workload_cfg *w, uint32_t hosts)
{
	*w = (struct ms_workload_cfg){
		.kind = test_rand_chance(1, 2) ? MS_PERMUTATION : MS_ALL_REDUCE_RING,
		.transport = test_rand_chance(2, 3) ? MS_ROCE : MS_MRC,
		.bytes = test_rand_chance(1, 8) ? 0 : test_rand_below(300000),
		.start_ns = test_rand_below(20000),
		.seed = test_rand(),
		.group_size = pick(2, hosts),
		.placement = (enum ms_placement)test_rand_below(MS_PLACEMENTS),
	};
}

/* Each is over soon, so that seven retries are enough. */
static uint32_t random_faults(const struct mf_topology *t)
{
	static const uint8_t kinds[] = {MS_FAULT_DOWN, MS_FAULT_LOSS, MS_FAULT_CORRUPT,
					MS_FAULT_RATE, MS_FAULT_BLACKHOLE};
	uint32_t n = (uint32_t)test_rand_below(FAULTS_MAX + 1);

	for (uint32_t i = 0; i < n; i++) {
		struct ms_fault f = {.at_ps = test_rand_below(60 * US_PS),
				     .link = (uint32_t)test_rand_below(t->n_links),
				     .kind = kinds[test_rand_below(sizeof(kinds))]};
		struct ms_fault end = f;

		end.at_ps += 1 + test_rand_below(100 * US_PS);
		f.value = f.kind == MS_FAULT_BLACKHOLE ? 1
			  : f.kind == MS_FAULT_DOWN    ? 0
						       : 1 + (uint32_t)test_rand_below(50000);
		/* A packet whose sending begins as slowly ends as slowly. */
		if (f.kind == MS_FAULT_RATE)
			f.value += 50000;
		end.kind = f.kind == MS_FAULT_DOWN ? (uint8_t)MS_FAULT_UP : f.kind;
		end.value = f.kind == MS_FAULT_RATE ? 1000000 : 0;
		faults[2 * i] = f;
		faults[2 * i + 1] = end;
	}
	return 2 * n;
}

static void random_run(struct ms_run_cfg *cfg)
{
	struct mf_topology topology;

	random_topology(&topology);
	ms_run_defaults(cfg, &topology);
	cfg->n_workloads = pick(1, 3);
	for (uint32_t i = 0; i < cfg->n_workloads; i++)
		random_workload(&cfg->workload[i], topology.n_hosts);
	cfg->workload[0].transport = MS_ROCE;
	cfg->faults = faults;
	cfg->n_faults = random_faults(&topology);
	cfg->seed = test_rand();
	cfg->reconverge_ns = test_rand_below(50000);
	cfg->mrc.retry_exp = RD_RETRY_EXP_FOREVER;
	cfg->roce.path_mtu = 256u << test_rand_below(5);
	cfg->roce.qps = pick(1, 16);
	cfg->roce.depth = (uint16_t)pick(1, 8);
	cfg->roce.ack_every = pick(1, 40);
	cfg->roce.timeout = (uint8_t)pick(6, 8);
	cfg->roce.congestion_control = test_rand_chance(2, 3);
	if (test_rand_chance(1, 2)) {
		ms_pfc_defaults(&topology, &cfg->pfc);
		cfg->pfc.on = true;
		cfg->pfc.xoff_bytes = pick(1, 100000);
	}
	for (unsigned k = 0; k < MS_PORT_KINDS; k++)
		cfg->queue[k].data_limit_bytes = 0;
	cfg->end_ps = 2000000 * US_PS;
}

/* REQ(sim.roce.once) REQ(sim.same-bits) REQ(sim.check.counts) */
TEST(ms_roce, whatever_goes_wrong_for_a_while)
{
	struct ms_roce_stats sum = {0};

	for (uint64_t n = test_long_rounds(25); n > 0; n--) {
		struct ms_run_result one, two;
		struct ms_run_cfg cfg;

		random_run(&cfg);
		one = run_to_end(&cfg, 1000 * US_PS, NULL);
		cfg.threads = 2;
		two = run_to_end(&cfg, 37 * US_PS, NULL);
		assert_u_eq(two.net.hash, one.net.hash);
		assert_u_eq(two.end_ps, one.end_ps);
		assert_bytes_eq((const uint8_t *)&two.roce, (const uint8_t *)&one.roce,
				sizeof(one.roce));
		assert_bytes_eq((const uint8_t *)&two.core, (const uint8_t *)&one.core,
				sizeof(one.core));
		sum.tx_retransmits += one.roce.tx_retransmits;
		sum.timeouts += one.roce.timeouts;
		sum.tx_naks += one.roce.tx_naks;
		sum.tx_cnps += one.roce.tx_cnps;
		sum.rx_duplicates += one.roce.rx_duplicates;
	}
	assert_true(sum.tx_retransmits && sum.timeouts && sum.tx_naks && sum.tx_cnps &&
		    sum.rx_duplicates);
}

/* REQ(sim.pfc.thresholds): default headroom suffices for every topology and any xoff. */
TEST(ms_pfc, never_drops_while_headroom_suffices)
{
	uint64_t pauses = 0;

	for (uint64_t n = test_long_rounds(20); n > 0; n--) {
		struct ms_run_result one, two;
		struct ms_run_cfg cfg;

		random_run(&cfg);
		cfg.n_faults = 0;
		cfg.workload[0].kind = MS_INCAST;
		cfg.roce.retry_cnt = 0;
		cfg.roce.timeout = 20;
		ms_pfc_defaults(&cfg.topology, &cfg.pfc);
		cfg.pfc.on = true;
		cfg.pfc.xoff_bytes = pick(1, 60000);
		one = run_to_end(&cfg, 1000 * US_PS, NULL);
		assert_u_eq(one.net.dropped[MS_DROP_HEADROOM] + one.net.dropped[MS_DROP_DATA_FULL],
			    0);
		assert_u_eq(one.roce.tx_retransmits + one.roce.tx_naks, 0);
		cfg.threads = 2;
		two = run_to_end(&cfg, 37 * US_PS, NULL);
		assert_u_eq(two.net.hash, one.net.hash);
		assert_u_eq(two.net.pauses, one.net.pauses);
		assert_u_eq(two.net.paused_ps, one.net.paused_ps);
		pauses += one.net.pauses;
	}
	assert_true(pauses > 0);
}

/* A training job: messages of all sizes, in any order, that wait for each other. */
static struct ms_job *random_job(uint32_t hosts)
{
	struct ms_job_cfg c = {
		.hosts = hosts,
		.tp = 1,
		.pp = 2,
		.dp = 2,
		.ep = 2,
		.stride = 1,
		.placement_seed = test_rand(),
		.steps = 3,
		.microbatches = pick(1, 4),
		.forward_ns = 5000,
		.backward_ns = 10000,
		.optimizer_ns = 1000,
		.dp_bytes = test_rand_below(500000),
		.buckets = pick(1, 4),
		.overlap = test_rand_chance(1, 2),
		.pp_bytes = test_rand_below(100000),
		.ep_bytes = test_rand_below(20000),
		.ep_rounds = 1,
		.tp_bit_s = UINT64_C(1000000000000),
		.seed = test_rand(),
	};
	struct ms_job *job = ms_job_create(&c, why);

	assert_string_equal(why, "");
	return job;
}

TEST(ms_roce, graphs_while_packets_are_lost)
{
	for (uint64_t n = test_long_rounds(8); n > 0; n--) {
		struct ms_run_result one, two;
		struct ms_run_cfg cfg;
		struct ms_job *job;

		do
			random_run(&cfg);
		while (cfg.topology.n_hosts < 4);
		why[0] = '\0';
		job = random_job(cfg.topology.n_hosts);
		cfg.workload[0] = (struct ms_workload_cfg){
			.kind = MS_GRAPH, .transport = MS_ROCE, .graph = job->graph};
		one = run_to_end(&cfg, 1000 * US_PS, NULL);
		cfg.threads = 2;
		two = run_to_end(&cfg, 37 * US_PS, NULL);
		assert_u_eq(two.net.hash, one.net.hash);
		assert_u_eq(two.end_ps, one.end_ps);
		ms_job_destroy(job);
	}
}

/* ---- go-back-N, naively ---- */

#define LOG_MAX 40000u

struct seen {
	uint64_t number, at_ps;
	enum ms_roce_kind kind;
};

/* What was sent and what arrived at each end, in the order of time; loss is in between. */
struct wires {
	struct seen log[4][LOG_MAX];
	uint32_t n[4], link[4];
};

enum { DATA_OUT, DATA_IN, ANSWERS_OUT, ANSWERS_IN };

static void tap(void *ctx, struct ms_run *run, uint32_t link, uint64_t now_ps,
		const struct ms_packet *p)
{
	struct wires *w = ctx;

	(void)run;
	for (unsigned i = 0; i < 4; i++)
		if (w->link[i] == link && w->n[i] < LOG_MAX)
			w->log[i][w->n[i]++] =
				(struct seen){p->body[MS_RBODY_NUMBER], now_ps, ms_rbody_kind(p)};
}

/* The receiver: told what came, says what it would have answered. */
static void model_receiver(const struct wires *w, uint32_t every, uint64_t packets)
{
	uint64_t expected = 0, unanswered = 0;
	uint32_t at = 0;
	bool nak = false;

	for (uint32_t i = 0; i < w->n[DATA_IN]; i++) {
		enum ms_roce_kind kind = MS_ROCE_DATA;

		if (w->log[DATA_IN][i].number == expected) {
			expected++;
			nak = false;
			if (++unanswered == every || expected == packets)
				kind = MS_ROCE_ACK;
		} else if (w->log[DATA_IN][i].number < expected) {
			kind = MS_ROCE_ACK;
		} else if (!nak) {
			nak = true;
			kind = MS_ROCE_NAK;
		}
		if (kind == MS_ROCE_DATA)
			continue;
		unanswered = kind == MS_ROCE_ACK ? 0 : unanswered;
		assert_true(at < w->n[ANSWERS_OUT]);
		assert_i_eq(w->log[ANSWERS_OUT][at].kind, kind);
		assert_u_eq(w->log[ANSWERS_OUT][at++].number, expected);
	}
	assert_u_eq(at, w->n[ANSWERS_OUT]);
	assert_u_eq(expected, packets);
}

/* The sender: told what answers came and when, says which packet is the next. */
static void model_sender(const struct wires *w, uint64_t way_ps, uint64_t timeout_ps)
{
	uint64_t una = 0, next = 0, top = 0, silent_since = 0;
	uint32_t at = 0;

	for (uint32_t i = 0; i < w->n[DATA_OUT]; i++) {
		const struct seen *s = &w->log[DATA_OUT][i];

		for (; at < w->n[ANSWERS_IN] && w->log[ANSWERS_IN][at].at_ps + way_ps <= s->at_ps;
		     at++) {
			const struct seen *a = &w->log[ANSWERS_IN][at];

			if (a->number > una) {
				una = a->number;
				silent_since = a->at_ps + way_ps;
			}
			next = next < una ? una : next;
			if (a->kind == MS_ROCE_NAK && a->number == una && una < top) {
				next = una;
				silent_since = a->at_ps + way_ps;
			}
		}
		if (s->number != next) { /* else only a timeout explains it */
			assert_u_eq(s->number, una);
			assert_true(s->at_ps + US_PS >= silent_since + timeout_ps);
			next = una;
			silent_since = s->at_ps;
		}
		if (una == top)
			silent_since = s->at_ps;
		next++;
		top = next > top ? next : top;
	}
}

static void two_hosts(struct mf_topology *topology)
{
	struct mf_topology_cfg t = {.dscp = mw_dscp_map_default(),
				    .name = "two",
				    .planes = 1,
				    .tiers = 2,
				    .pods = 1,
				    .hosts_per_t0 = 1,
				    .t0s = 2,
				    .t1s = 1,
				    .rails = 1,
				    .mtu = 4500,
				    .usid.block = 0xfcbbbb00,
				    .address_block = 0xfd4d5243};
	struct mf_error error;

	for (unsigned i = 0; i < MF_LINK_KINDS; i++)
		t.links[i] = (struct mf_link_cfg){UINT64_C(100000000000), 500};
	assert_true(mf_topology_init(topology, &t, &error));
}

/* Losses in the middle, in both directions, so that both ends see all that they sent. */
static void lossy_run(struct ms_run_cfg *cfg, struct wires *w, struct ms_list_flow *flow,
		      struct ms_fault loss[2])
{
	struct mf_topology t;

	two_hosts(&t);
	ms_run_defaults(cfg, &t);
	cfg->workload[0] = (struct ms_workload_cfg){
		.kind = MS_LIST, .transport = MS_ROCE, .list = flow, .n_list = 1};
	for (unsigned i = 0; i < 2; i++)
		loss[i] = (struct ms_fault){
			.link = mf_link_t0_t1(&t, 0, i, 0, false),
			.kind = MS_FAULT_LOSS,
			.value = 1 + (uint32_t)test_rand_below(i ? 100000 : 20000),
		};
	cfg->faults = loss;
	cfg->n_faults = 2;
	cfg->roce.path_mtu = 256;
	cfg->roce.ack_every = pick(1, 20);
	cfg->roce.timeout = 3;
	cfg->roce.congestion_control = 0;
	cfg->seed = test_rand();
	cfg->tap = tap;
	cfg->ctx = w;
	memset(w->n, 0, sizeof(w->n));
	w->link[DATA_OUT] = mf_link_host_t0(&t, 0, 0, false);
	w->link[DATA_IN] = mf_link_host_t0(&t, 0, 1, true);
	w->link[ANSWERS_OUT] = mf_link_host_t0(&t, 0, 1, false);
	w->link[ANSWERS_IN] = mf_link_host_t0(&t, 0, 0, true);
}

/* False: the QP used up its retries. */
static bool run_lossy(const struct ms_run_cfg *cfg, const struct wires *w)
{
	struct ms_run *run = ms_run_create(cfg, why);
	bool done;

	assert_non_null(run);
	for (unsigned i = 0; i < 4; i++)
		ms_net_set_tap(run->net, w->link[i], true);
	while (ms_run_step(run, 1000 * US_PS) == MS_RUN_RUNNING)
		;
	assert_null(ms_nics_violation(run->nics));
	done = ms_nics_arrived(run->nics) > 0;
	ms_run_destroy(run);
	return done;
}

/* REQ(sim.roce.go-back) REQ(sim.roce.ack) */
TEST(ms_roce, is_go_back_n)
{
	struct wires *w = malloc(sizeof(*w));
	uint32_t compared = 0;

	assert_non_null(w);
	for (uint64_t round = test_long_rounds(40); round > 0; round--) {
		uint64_t packets = pick(1, 3000);
		struct ms_list_flow flow = {.src = 0, .dst = 1, .bytes = packets * 256};
		struct ms_fault loss[2];
		struct ms_run_cfg cfg;

		lossy_run(&cfg, w, &flow, loss);
		if (!run_lossy(&cfg, w))
			continue;
		compared++;
		model_receiver(w, cfg.roce.ack_every, packets);
		/* An answer of 106 bytes at 100G, and 500 ns. */
		model_sender(w, 106 * 80 + 500000, (UINT64_C(4096) << 3) * 1000);
	}
	assert_true(compared > 0);
	free(w);
}
