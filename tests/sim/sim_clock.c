/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_clock.c - the time that an engine is told jumps ahead by up to an hour, or stands still,
 * while nothing happens to the network: every byte arrives once, no QP ends, though its retries are
 * few, and what is sent because of a jump is bounded by what was in flight at it.
 */
#include "case.h"

#define ROUNDS 40u
#define STANDS 10u
#define EVS 8u
/* Of the default QP: seven of 1 ms, then each twice as long as the one before. */
#define TIMEOUTS_A_SECOND 17u
/* At most every EV is taken for lost, and comes back with two answers. */
#define PROBES_A_STEP (2 * EVS)

static const uint64_t jumps_ns[] = {SIM_MS, 30 * SIM_MS, SIM_S, 10 * SIM_S, 3600 * SIM_S};

/* Few retries: a jump is one timeout at most, however long it was. */
static struct sim_qp *connect_mortal(struct sim_world *w, bool asking, uint32_t cc)
{
	struct sim_qp_cfg cfg;

	(asking ? sim_qp_cfg_asking : sim_qp_cfg_default)(&cfg);
	cfg.attr.retry_linear = 2;
	cfg.attr.retry_exp = 0;
	cfg.attr.cc_profile = cc;
	cfg.cap.sq_depth = 64;
	return sim_connect(w, 0, 1, &cfg, &cfg);
}

static uint64_t in_flight(const struct sim_qp *qp)
{
	struct mt_qp_info info = case_info(qp);

	return info.psn_next - info.psn_una;
}

/* Some round trips, so that answers come between two jumps, as they do in life. */
static uint64_t between_ns(const struct sim_world *w)
{
	return 6 * w->cfg.net.path.latency_ns + 50 * SIM_US;
}

static struct sim_world *open_world(void)
{
	struct sim_world_cfg cfg = case_cfg(2, 4);
	struct sim_world *w;

	cfg.net.seed = test_rand();
	cfg.net.path.latency_ns = test_rand_below(2) ? 5 * SIM_US : 100 * SIM_US;
	cfg.base_rtt_ns = 2 * cfg.net.path.latency_ns + 100;
	cfg.net.path.jitter_ns = test_rand_below(2) ? 0 : 3 * SIM_US;
	w = case_open(&cfg);
	for (uint32_t i = 0; i < 2; i++)
		case_pace(w, i, UINT64_C(10000000000));
	return w;
}

/* Both ends send all the time; READs and atomics, too, where the QP has them. */
static void post_more(void *ctx, struct sim_node *node)
{
	struct sim_qp *qp = node->qps[0];
	struct sim_wr wr = {.len = (uint32_t)rng_below(&node->w->net.rng, 60000)};
	int result;

	if (node->w->net.now_ns > *(uint64_t *)ctx)
		return;
	do
		if (qp->cfg.cap.extensions & MW_EXT_READ)
			wr.opcode = (enum rd_wr_opcode)(
				rng_below(&node->w->net.rng, 2) ? RD_WR_WRITE : RD_WR_READ);
	while (sim_post_wr(qp, &wr, &result));
}

/* Sends and, where the QPs can, asks at both ends for as long as a world's clocks go wrong. */
static struct sim_qp *begin_traffic(struct sim_world *w, uint64_t *until_ns)
{
	struct sim_qp *qp = connect_mortal(w, test_rand_below(2), (uint32_t)test_rand_below(2));

	*until_ns = w->net.now_ns + ROUNDS * 2 * between_ns(w);
	w->app = post_more;
	w->app_ctx = until_ns;
	for (uint32_t i = 0; i < 2; i++)
		sim_node_run(&w->nodes[i]);
	return qp;
}

static uint64_t probes_of_both(const struct sim_world *w)
{
	return w->nodes[0].traffic.sent[SIM_PROBE] + w->nodes[1].traffic.sent[SIM_PROBE];
}

static void finish(struct sim_world *w)
{
	sim_run_done(w, SIM_S);
	sim_check_quiet(w, 5 * SIM_MS);
	sim_check_stats(w);
	case_close(w);
}

static void clocks_jump(void)
{
	struct sim_world *w = open_world();
	uint64_t until_ns, flew = 0;
	struct sim_qp *qp = begin_traffic(w, &until_ns);

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct sim_qp *at = test_rand_below(2) ? qp : qp->peer;

		sim_run_for(w, between_ns(w) + test_rand_below(between_ns(w)));
		flew += in_flight(at) + at->answers.sent - at->answers.expected;
		sim_clock_jump(at->node, jumps_ns[test_rand_below(5)]);
	}
	sim_run_done(w, SIM_S);
	CASE_BETWEEN(w, case_resent(w, 0) + case_resent(w, 1), 0, flew);
	CASE_BETWEEN(w, probes_of_both(w), 0, ROUNDS * PROBES_A_STEP);
	finish(w);
}

TEST(sim_clock, clocks_that_jump_ahead)
{
	for (size_t i = 0; i < test_long_rounds(6); i++)
		clocks_jump();
}

/* Longer than many timeouts; traffic of what needs no time goes on meanwhile. */
static void clocks_stand(void)
{
	struct sim_world *w = open_world();
	uint64_t until_ns;

	begin_traffic(w, &until_ns);
	for (unsigned i = 0; i < STANDS; i++) {
		sim_run_for(w, between_ns(w) + test_rand_below(between_ns(w)));
		sim_clock_stand(&w->nodes[test_rand_below(2)], test_rand_below(4 * between_ns(w)),
				test_rand_below(2));
	}
	sim_run_done(w, SIM_S);
	CASE_BETWEEN(w, case_resent(w, 0) + case_resent(w, 1), 0, STANDS);
	CASE_BETWEEN(w, probes_of_both(w), 0, STANDS * PROBES_A_STEP);
	finish(w);
}

TEST(sim_clock, clocks_that_stand_still)
{
	for (size_t i = 0; i < test_long_rounds(6); i++)
		clocks_stand();
}

/*
 * A peer whose clock stands still answers probes, but sends no lost response again: who waits for
 * it probes more rarely with every timeout. REQ(req.probe.tail)
 */
TEST(sim_clock, a_peer_that_owes_responses_is_not_probed_for_ever)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp_cfg cfg;
	struct sim_qp *qp;

	sim_qp_cfg_asking(&cfg);
	qp = sim_connect(w, 0, 1, &cfg, &cfg);
	sim_read(qp, 1000, 0);
	sim_run_done(w, SIM_S);
	sim_clock_stand(&w->nodes[1], SIM_S, false);
	for (uint32_t plane = 0; plane < 2; plane++)
		case_kill(w, 1, 0, plane, NET_NO_NODE, true);
	sim_read(qp, 1000, 0);
	sim_run_for(w, 20 * SIM_US);
	case_silence(w, false);
	sim_run_for(w, SIM_S);
	CASE_BETWEEN(w, case_stats(w, 0).timeouts, 1, 2 * TIMEOUTS_A_SECOND);
	CASE_BETWEEN(w, w->nodes[0].traffic.sent[SIM_PROBE], 1, 2 * TIMEOUTS_A_SECOND * 3 * EVS);
	finish(w);
}

/* EVs in fault are probed at their own pace; an hour that passes at once is one step of it. */
TEST(sim_clock, a_jump_at_rest_is_one_round_of_probes)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	uint64_t probes, ticks;

	case_kill(w, 0, 1, 0, NET_NO_NODE, true);
	case_post(qp, 20, 50000, 0);
	sim_run_done(w, SIM_S);
	sim_run_for(w, 20 * SIM_MS);
	CASE_BETWEEN(w, case_info(qp).evs_bad, 1, EVS);
	for (unsigned i = 0; i < 10; i++) {
		probes = probes_of_both(w);
		ticks = w->nodes[0].ticks + w->nodes[1].ticks;
		sim_clock_jump(&w->nodes[0], 3600 * SIM_S);
		sim_clock_jump(&w->nodes[1], 3600 * SIM_S);
		sim_run_for(w, 100 * SIM_US);
		CASE_BETWEEN(w, probes_of_both(w) - probes, 0, EVS);
		CASE_BETWEEN(w, w->nodes[0].ticks + w->nodes[1].ticks - ticks, 0, 2 * EVS);
	}
	case_silence(w, false);
	finish(w);
}
