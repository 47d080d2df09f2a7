/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_lives.c - a QP that is reset and connected again under traffic, without a pause: packets of
 * its former lives are still on their way, some for as long as several lives, and nothing of them
 * may be placed, complete, execute or end anything.
 *
 * New PSNs are the application's, as everywhere: they keep clear of those of all former lives by
 * two windows, which is all that a receiver can tell lives apart by. How close they come, from
 * below or above, is drawn. The message numbers of all lives are the same.
 */
#include "case.h"

#define LIVES 6u
#define PSNS 0x1000000u
#define WINDOW 1024u
/* No life posts as many packets each way. */
#define PACKETS_MAX 2000u
#define CLEAR (PACKETS_MAX + 2 * WINDOW)

/* What a connection of a world has had: first PSNs, of one end and of the other. */
struct lives {
	struct sim_qp *qp;
	uint32_t psns[2][LIVES + 1];
	unsigned n;
};

/* ---- PSNs ---- */

static bool keeps_clear(const struct lives *l, unsigned end, uint32_t psn)
{
	for (unsigned i = 0; i < l->n; i++) {
		uint32_t ahead = (psn - l->psns[end][i]) % PSNS;

		if (ahead < CLEAR || ahead > PSNS - CLEAR)
			return false;
	}
	return true;
}

/* Close above a former life, close below one, or anywhere. */
static uint32_t draw_psn(struct lives *l, unsigned end)
{
	uint32_t psn;

	do {
		uint32_t near = CLEAR + (uint32_t)test_rand_below(100);
		uint32_t former = l->n ? l->psns[end][test_rand_below(l->n)] : 0;

		switch (test_rand_below(3)) {
		case 0:
			psn = former + near;
			break;
		case 1:
			psn = former - near;
			break;
		default:
			psn = (uint32_t)test_rand();
		}
		psn %= PSNS;
	} while (!keeps_clear(l, end, psn));
	return psn;
}

static void draw_life(struct lives *l)
{
	for (unsigned end = 0; end < 2; end++)
		l->psns[end][l->n] = draw_psn(l, end);
	l->n++;
}

/* ---- worlds ---- */

/* Packets are late by up to several lives, doubled and lost. */
static struct sim_world *open_world(uint32_t nodes)
{
	struct sim_world_cfg cfg = case_cfg(1 + (uint32_t)test_rand_below(4), 4);

	cfg.net.seed = test_rand();
	cfg.net.n_nodes = nodes;
	cfg.net.path.jitter_ns = test_rand_below(20 * SIM_US);
	cfg.net.path.reorder_ppm = 200000;
	cfg.net.path.reorder_ns = 1 + test_rand_below(SIM_MS);
	cfg.net.path.dup_ppm = 100000;
	cfg.net.path.loss_ppm = test_rand_below(2) ? 20000 : 0;
	cfg.net.path.trim_ppm = test_rand_below(2) ? 20000 : 0;
	return case_open(&cfg);
}

static void connect_one(struct sim_world *w, struct lives *l, uint32_t peer)
{
	struct sim_qp_cfg a, b;
	bool asking = test_rand_below(3) > 0;

	*l = (struct lives){0};
	draw_life(l);
	(asking ? sim_qp_cfg_asking : sim_qp_cfg_default)(&a);
	a.attr.path_mtu = 1024;
	a.attr.cc_profile = (uint32_t)test_rand_below(2);
	b = a;
	a.attr.sq_psn = l->psns[0][0];
	b.attr.sq_psn = l->psns[1][0];
	l->qp = sim_connect(w, 0, peer, &a, &b);
}

static void post_one(struct sim_qp *qp)
{
	static const enum rd_wr_opcode opcodes[] = {RD_WR_WRITE, RD_WR_SEND, RD_WR_READ,
						    RD_WR_COMPARE_SWAP, RD_WR_FETCH_ADD};
	bool asking = qp->cfg.cap.extensions & MW_EXT_READ;
	struct sim_wr wr = {.opcode = opcodes[asking ? test_rand_below(5) : 0],
			    .len = (uint32_t)test_rand_below(test_rand_below(2) ? 30000 : 200)};
	int result;

	if (wr.opcode <= RD_WR_SEND && test_rand_below(4) == 0)
		wr.flags |= RD_SEND_IMM;
	sim_post_wr(qp, &wr, &result);
	if (result != MT_OK)
		sim_fail(&qp->node->w->check, "mt_qp_post_send: error %d", result);
}

/* Both ends work; each has receives for all that comes. */
static void work(struct sim_qp *qp)
{
	struct sim_qp *ends[] = {qp, qp->peer};

	for (unsigned end = 0; end < 2; end++)
		case_recvs(ends[end], 30);
	for (unsigned i = 0; i < 30; i++)
		post_one(ends[test_rand_below(2)]);
	sim_node_run(qp->node);
	sim_node_run(qp->peer->node);
}

/* Both ends of a connection go on to the next life; sometimes one is behind for a while. */
static void live_again(struct sim_world *w, struct lives *l)
{
	struct sim_qp *first = test_rand_below(2) ? l->qp : l->qp->peer;

	draw_life(l);
	sim_life_begin(l->qp, l->psns[0][l->n - 1], l->psns[1][l->n - 1]);
	sim_life_enter(first);
	switch (test_rand_below(3)) {
	case 0:
		break;
	case 1: /* The one that is ahead works already. */
		case_recvs(first, 30);
		for (unsigned i = 0; i < 10; i++)
			post_one(first);
		sim_node_run(first->node);
		sim_run_for(w, test_rand_below(50 * SIM_US));
		sim_life_enter(first->peer);
		case_recvs(first->peer, 30);
		return;
	default:
		sim_run_for(w, test_rand_below(50 * SIM_US));
	}
	sim_life_enter(first->peer);
	work(l->qp);
}

/* Nothing was lost, doubled or from elsewhere; the checker saw to the rest on the way. */
static void finish(struct sim_world *w)
{
	sim_run_done(w, 20 * SIM_S);
	sim_run_for(w, 2 * SIM_MS); /* the last of what is late */
	sim_check_words(w);
	case_close(w);
}

static void many_lives(void)
{
	struct sim_world *w = open_world(2);
	uint32_t conns = 1 + (uint32_t)test_rand_below(3);
	struct lives lives[3];

	for (uint32_t i = 0; i < conns; i++) {
		connect_one(w, &lives[i], 1);
		work(lives[i].qp);
	}
	/* The first connection is a bystander where there are more. */
	for (unsigned life = 0; life < LIVES; life++)
		for (uint32_t i = conns > 1; i < conns; i++) {
			sim_run_for(w, test_rand_below(test_rand_below(2) ? 15 * SIM_US
									  : 100 * SIM_US));
			live_again(w, &lives[i]);
		}
	finish(w);
}

TEST(sim_lives, packets_of_former_lives_change_nothing)
{
	for (size_t i = 0; i < test_rounds(40); i++)
		many_lives();
}

/* The process at the other end is gone and comes back: what its peers still send is for nobody. */
static void peer_returns(void)
{
	uint32_t nodes = 2 + (uint32_t)test_rand_below(2);
	struct sim_world *w = open_world(nodes);
	bool same_qpns = test_rand_below(2);
	struct lives lives[3];
	uint32_t conns = 2;

	for (uint32_t i = 0; i < conns; i++) {
		connect_one(w, &lives[i], 1);
		work(lives[i].qp);
	}
	if (nodes > 2) /* another peer, which stays */
		connect_one(w, &lives[conns++], 2);
	sim_run_for(w, test_rand_below(60 * SIM_US));
	sim_node_restart(&w->nodes[1], same_qpns);
	if (nodes > 2)
		work(lives[2].qp);
	for (uint32_t i = 0; i < 2; i++) {
		draw_life(&lives[i]);
		sim_life_begin(lives[i].qp, lives[i].psns[0][1], lives[i].psns[1][1]);
		sim_life_enter(lives[i].qp->peer);
		case_recvs(lives[i].qp->peer, 30);
		for (unsigned k = 0; k < 10; k++)
			post_one(lives[i].qp->peer);
		sim_node_run(&w->nodes[1]);
		/* Our QP is stale, and goes on sending to what was there. */
		sim_run_for(w, test_rand_below(2 * SIM_MS));
	}
	for (uint32_t i = 0; i < 2; i++) {
		sim_life_enter(lives[i].qp);
		case_recvs(lives[i].qp, 30);
		for (unsigned k = 0; k < 10; k++)
			post_one(lives[i].qp);
	}
	sim_node_run(&w->nodes[0]);
	finish(w);
}

TEST(sim_lives, a_peer_that_comes_back_hears_nothing_of_before)
{
	for (size_t i = 0; i < test_rounds(30); i++)
		peer_returns();
}
