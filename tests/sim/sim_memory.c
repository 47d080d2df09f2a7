/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_memory.c - engines that get no memory when they ask: now and then, mostly, or for a while.
 * What was refused for want of it comes again; nothing is lost, placed twice or half executed.
 */
#include "case.h"

#define CONNS 4u

static struct sim_world *open_world(void)
{
	struct sim_world_cfg cfg = case_cfg(2, 4);

	cfg.net.seed = test_rand();
	cfg.net.path.jitter_ns = 3 * SIM_US;
	cfg.net.path.loss_ppm = test_rand_below(2) ? 10000 : 0;
	cfg.memory_least = 1;
	return case_open(&cfg);
}

static void connect_all(struct sim_world *w, struct sim_qp **qps)
{
	struct sim_qp_cfg cfg;

	for (uint32_t i = 0; i < CONNS; i++) {
		(test_rand_below(4) ? sim_qp_cfg_asking : sim_qp_cfg_default)(&cfg);
		qps[i] = sim_connect(w, 0, 1, &cfg, &cfg);
		case_recvs(qps[i], 60);
		case_recvs(qps[i]->peer, 60);
	}
}

/* A program that is refused memory tries again later, and counts on nothing of the first time. */
static void post_one(struct sim_world *w, struct sim_qp *qp)
{
	static const enum rd_wr_opcode opcodes[] = {RD_WR_WRITE, RD_WR_SEND, RD_WR_READ,
						    RD_WR_COMPARE_SWAP, RD_WR_FETCH_ADD};
	bool asking = qp->cfg.cap.extensions & MW_EXT_READ;
	struct sim_wr wr = {.opcode = opcodes[asking ? test_rand_below(5) : 0],
			    .len = (uint32_t)test_rand_below(test_rand_below(2) ? 60000 : 200)};
	int result;

	if (wr.opcode <= RD_WR_SEND && test_rand_below(3) == 0)
		wr.flags |= RD_SEND_IMM;
	while (!sim_post_wr(qp, &wr, &result) && !w->check.failed) {
		if (result != MT_ERR_MEMORY && result != MT_ERR_FULL)
			sim_fail(&w->check, "mt_qp_post_send: error %d", result);
		sim_run_for(w, 10 * SIM_US);
	}
	sim_node_run(qp->node);
}

static void refused(uint32_t share)
{
	struct sim_world *w = open_world();
	struct sim_qp *qps[CONNS];

	connect_all(w, qps);
	for (uint32_t i = 0; i < 2; i++)
		w->nodes[i].refused_share = share;
	for (unsigned i = 0; i < 120; i++) {
		struct sim_qp *qp = qps[test_rand_below(CONNS)];

		post_one(w, test_rand_below(2) ? qp : qp->peer);
		if (test_rand_below(4) == 0)
			sim_run_for(w, test_rand_below(500 * SIM_US)); /* windows go back */
	}
	sim_run_done(w, 20 * SIM_S);
	CASE_BETWEEN(w, w->nodes[0].refusals + w->nodes[1].refusals, 1, UINT64_MAX);
	case_done(w);
}

TEST(sim_memory, refused_now_and_then)
{
	for (size_t i = 0; i < test_rounds(15); i++)
		refused(50);
}

TEST(sim_memory, refused_mostly)
{
	for (size_t i = 0; i < test_rounds(15); i++)
		refused(95);
}

/*
 * What the way to RTR found to spare is all there ever is, a window of one QP: they take turns,
 * and what those that wait send in vain stays within bounds.
 */
TEST(sim_memory, one_window_for_all)
{
	struct sim_world *w = open_world();
	struct sim_qp *qps[CONNS];

	connect_all(w, qps);
	w->nodes[1].refused_share = 100;
	for (uint32_t i = 0; i < CONNS; i++)
		case_post(qps[i], 20, 50000, 0);
	sim_run_done(w, SIM_S);
	CASE_BETWEEN(w, case_stats(w, 1).drop_no_memory, 1, 10 * case_stats(w, 1).rx_data_packets);
	CASE_BETWEEN(w, w->nodes[1].refusals, 1, UINT64_MAX);
	case_done(w);
}
