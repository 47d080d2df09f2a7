/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_cc.c - congestion control as a whole: QPs that share a queue which only overflows, and a QP
 * whose round trips are mostly noise.
 */
#include <stdio.h>

#include "case.h"

#define SENDERS 4u
#define MESSAGE (16u * 4096)
#define RATE UINT64_C(25000000000)
#define RTT (40 * SIM_US)

/* Nodes 0 .. 3 each keep a QP to node 4 busy. */
struct load {
	struct sim_qp *qps[SENDERS];
	/* When the measurement began. */
	size_t complete[SENDERS];
	struct sim_traffic traffic[SENDERS];
};

static void post_more(void *ctx, struct sim_node *node)
{
	struct load *l = ctx;
	struct sim_qp *qp = node->id < SENDERS ? l->qps[node->id] : NULL;

	while (qp && qp->out.n - qp->out.completed < 4)
		sim_post(qp, MESSAGE, 0);
}

static struct sim_world_cfg incast_cfg(void)
{
	struct sim_world_cfg cfg = case_cfg(1, 8);

	cfg.net.n_nodes = SENDERS + 1;
	cfg.net.path.latency_ns = RTT / 2;
	cfg.link_bps = RATE;
	cfg.base_rtt_ns = RTT;
	return cfg;
}

/* Connects and lets the windows settle before anything is measured. */
static void start(struct sim_world *w, struct load *l, uint64_t settle_ns)
{
	struct sim_qp_cfg def;

	sim_qp_cfg_default(&def);
	def.attr.cc_profile = 1;
	def.attr.timeout = 12;
	memset(l, 0, sizeof(*l));
	for (uint32_t i = 0; i < SENDERS; i++)
		l->qps[i] = sim_connect(w, i, SENDERS, &def, &def);
	w->app = post_more;
	w->app_ctx = l;
	for (uint32_t i = 0; i < SENDERS; i++)
		sim_node_run(&w->nodes[i]);
	sim_run_for(w, settle_ns);
	for (uint32_t i = 0; i < SENDERS; i++) {
		l->complete[i] = l->qps[i]->out.completed;
		l->traffic[i] = w->nodes[i].traffic;
	}
}

struct outcome {
	double jain, share; /* of the bottleneck */
	double lost;	    /* packets sent again, of all */
};

static struct outcome measure(struct sim_world *w, struct load *l, uint64_t ns)
{
	double sum = 0, squares = 0, again = 0, sent = 0;

	sim_run_for(w, ns);
	for (uint32_t i = 0; i < SENDERS; i++) {
		double x = (double)(l->qps[i]->out.completed - l->complete[i]);

		sum += x;
		squares += x * x;
		again += (double)(w->nodes[i].traffic.sent_again - l->traffic[i].sent_again);
		sent += (double)(w->nodes[i].traffic.sent[SIM_DATA] - l->traffic[i].sent[SIM_DATA]);
	}
	return (struct outcome){
		.jain = sum * sum / (SENDERS * squares),
		.share = sum * MESSAGE * 8e9 / (double)ns / (double)RATE,
		.lost = again / sent,
	};
}

static void finish(struct sim_world *w)
{
	w->app = NULL;
	case_done(w);
}

/*
 * A queue in front of node 4 that holds so many round trips' worth, and tells nobody before it
 * overflows. NSCC grows by several packets a round trip, so there is no drop tail without loss.
 */
static void share_drop_tail(uint64_t queue_ns)
{
	struct sim_world_cfg cfg = incast_cfg();
	struct sim_world *w = case_open(&cfg);
	struct outcome o;
	struct load l;

	w->net.lasthop[SENDERS][0] = (struct net_queue){.bps = RATE, .full_ns = queue_ns};
	start(w, &l, 20 * SIM_MS);
	o = measure(w, &l, 40 * SIM_MS);
	printf("# %.0f us of queue: Jain %.3f, %.3f of the link, %.3f lost\n",
	       (double)queue_ns / 1e3, o.jain, o.share, o.lost);
	CASE_TRUE(w, o.jain >= 0.85);
	CASE_TRUE(w, o.share >= 0.9);
	CASE_TRUE(w, o.lost <= 0.1);
	finish(w);
}

/* REQ(cc.nscc.drop-tail) */
TEST(sim_cc, four_qps_share_a_drop_tail_of_one_bdp)
{
	share_drop_tail(RTT);
}

/* REQ(cc.nscc.drop-tail) */
TEST(sim_cc, four_qps_share_a_drop_tail_of_four_bdps)
{
	share_drop_tail(4 * RTT);
}

/* What a QP gets of 200 Mb/s when each way takes anything from 50 us to 2 ms, as on busy hosts. */
static struct sim_world_cfg noisy_cfg(uint64_t base_rtt_min_ns)
{
	struct sim_world_cfg cfg = incast_cfg();

	cfg.net.path.latency_ns = 50 * SIM_US;
	cfg.net.path.jitter_ns = 1950 * SIM_US;
	cfg.link_bps = UINT64_C(200000000);
	cfg.base_rtt_ns = 4 * SIM_MS;
	cfg.base_rtt_min_ns = base_rtt_min_ns;
	cfg.engine.timing.reorder_min_ns = cfg.engine.timing.reorder_max_ns = 5 * SIM_MS;
	return cfg;
}

static double share_in_noise(uint64_t base_rtt_min_ns)
{
	struct sim_world_cfg cfg = noisy_cfg(base_rtt_min_ns);
	struct sim_world *w = case_open(&cfg);
	struct outcome o;
	struct load l;

	for (uint32_t i = 0; i < SENDERS; i++)
		w->net.egress[i][0].bps = cfg.link_bps;
	start(w, &l, 500 * SIM_MS);
	o = measure(w, &l, 1000 * SIM_MS);
	CASE_TRUE(w, o.lost <= 0.01);
	finish(w);
	return o.share * (double)RATE / (double)cfg.link_bps / SENDERS;
}

/* REQ(cc.nscc.base-rtt-floor) */
TEST(sim_cc, a_floor_for_the_base_rtt_keeps_the_rate_between_busy_hosts)
{
	double floored = share_in_noise(4 * SIM_MS), free = share_in_noise(0);

	printf("# %.3f of the link with a floor, %.3f without\n", floored, free);
	assert_true(floored >= 0.9);
	assert_true(free <= 0.5);
}
