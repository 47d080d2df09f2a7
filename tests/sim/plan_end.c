/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan_end.c - the end of a random world, when all is done that was posted: old keys of windows are
 * used while others send, and what SRQs still hold is counted.
 *
 * Each such use must be refused, changes no memory, and ends its connection, so that it comes last.
 */
#include <inttypes.h>

#include "plan_run.h"

#define END_MAX_NS (60 * SIM_S)
#define STALE_BYTES 8u
#define TAKE_NS (200 * SIM_US)

/* ---- keys that are over, or another's ---- */

/* A key of the peer's windows that must be refused, and an address that it had; false: none. */
static bool find_key(struct run *run, const struct sim_qp *qp, struct sim_wr *wr)
{
	const struct sim_mw *mw = &qp->peer->mws[rng_below(&run->apart, SIM_MWS)];
	const struct sim_qp *other = run->world.qps[rng_below(&run->apart, run->world.n_qps)];
	const struct sim_key *key = mw->key;

	while (key && !key->over)
		key = key->before;
	/* Of type 2, bound on a QP of the same node, but another one. REQ(ext.mw.of-qp) */
	if (!key && other != qp->peer && other->node == qp->peer->node &&
	    other->mws[1].state == SIM_MW_BOUND)
		key = other->mws[1].key;
	if (!key || (mw->key && mw->key != key && mw->key->rkey == key->rkey))
		return false;
	wr->rkey = key->rkey;
	wr->nowhere = key->addr ? (key->addr + 7) & ~UINT64_C(7) : 8;
	return true;
}

static void post_behind(struct sim_qp *qp)
{
	struct sim_wr wr = {.len = 100, .want = RD_WC_WR_FLUSH_ERR};
	int result;

	sim_post_wr(qp, &wr, &result);
}

/* REQ(ext.mw.invalidate) REQ(ext.mw.rebind) */
static void use_old_key(struct run *run, struct sim_qp *qp)
{
	static const enum rd_wr_opcode plain[] = {RD_WR_WRITE};
	static const enum rd_wr_opcode asking[] = {RD_WR_WRITE, RD_WR_READ, RD_WR_COMPARE_SWAP,
						   RD_WR_FETCH_ADD};
	bool asks = run->plan.ask_share;
	struct sim_wr wr = {.len = STALE_BYTES, .want = RD_WC_REM_ACCESS_ERR};
	int result;

	wr.opcode = asks ? asking[rng_below(&run->apart, 4)] : plain[0];
	if (qp->may_fail || rng_below(&run->apart, 3) == 0 || !find_key(run, qp, &wr))
		return;
	qp->may_fail = qp->peer->may_fail = true;
	qp->out.flushing = qp->peer->out.flushing = true;
	if (!sim_post_wr(qp, &wr, &result))
		sim_fail(&run->world.check, "%s: mt_qp_post_send of an old key: %d", qp->out.name,
			 result);
	if (run->plan.sq_depth > 1)
		post_behind(qp);
}

static void post_healthy(struct sim_qp *qp)
{
	if (!qp->may_fail)
		sim_post(qp, 3000, RD_SEND_SIGNALED);
}

static bool ended(const struct sim_qp *qp)
{
	struct mt_qp_info info;

	if (!qp->may_fail)
		return sim_qp_done(qp);
	mt_qp_info(qp->qp, &info);
	return info.state == RD_QPS_ERR && qp->out.completed == qp->out.n;
}

static bool all_ended(const struct sim_world *w)
{
	for (uint32_t i = 0; i < w->n_qps; i++)
		if (!ended(w->qps[i]))
			return false;
	return true;
}

static void run_until_ended(struct run *run)
{
	struct sim_world *w = &run->world;
	uint64_t limit = w->net.now_ns + END_MAX_NS;

	while (!all_ended(w))
		if (!sim_step(w, limit)) {
			sim_fail(&w->check, "old keys, and not done after %.3f s",
				 (double)END_MAX_NS / 1e9);
			return;
		}
}

/* REQ(ext.srq.last) */
static void check_ends(struct sim_world *w)
{
	for (uint32_t i = 0; i < w->n_qps; i++) {
		const struct sim_qp *qp = w->qps[i];

		if (qp->qp_events != qp->may_fail ||
		    qp->last_wqes != (uint32_t)(qp->may_fail && qp->srq) ||
		    (qp->may_fail && qp->qp_status != RD_WC_REM_ACCESS_ERR))
			sim_fail(&w->check,
				 "%s: %u QP events with %s, and %u that it takes no receives",
				 qp->out.name, qp->qp_events, mt_wc_status_name(qp->qp_status),
				 qp->last_wqes);
	}
}

static void use_old_keys(struct run *run)
{
	struct sim_world *w = &run->world;

	for (uint32_t i = 0; i < w->n_qps; i++)
		use_old_key(run, w->qps[i]);
	for (uint32_t i = 0; i < w->n_qps; i++)
		post_healthy(w->qps[i]);
	for (uint32_t i = 0; i < w->cfg.net.n_nodes; i++)
		sim_node_run(&w->nodes[i]);
	run_until_ended(run);
	if (!w->check.failed)
		check_ends(w);
	if (!w->check.failed)
		sim_check_words(w);
}

/* ---- what is left ---- */

static bool leaves_hole(void *ctx, struct net_packet *p)
{
	const struct run *run = ctx;

	for (uint32_t i = 0; i < run->world.n_qps; i++)
		if (p->flow == &run->loads[i].qp->out && p->pkt.data.meth.msn == run->loads[i].hole)
			return false;
	return true;
}

/* Messages behind one that is missing take receives, which are the SRQ's again at a reset. */
static void take_some(struct run *run)
{
	struct sim_world *w = &run->world;
	struct sim_wr wr = {.opcode = RD_WR_SEND, .len = 200};
	int result;

	w->net.filter = leaves_hole;
	w->net.filter_ctx = run;
	for (uint32_t i = 0; i < w->n_qps; i++) {
		struct sim_qp *qp = w->qps[i];

		run->loads[i].hole = (uint16_t)qp->out.n;
		for (int k = 0; k < 3 && !qp->may_fail && qp->peer->srq; k++)
			sim_post_wr(qp, &wr, &result);
	}
	for (uint32_t i = 0; i < w->cfg.net.n_nodes; i++)
		sim_node_run(&w->nodes[i]);
	sim_run_for(w, TAKE_NS + 4 * run->plan.latency_ns);
}

/* REQ(ext.srq.take) */
static void count_receives(struct run *run)
{
	struct rd_qp_attr reset = {.state = RD_QPS_RESET};
	struct sim_world *w = &run->world;

	w->app = NULL;
	take_some(run);
	for (uint32_t i = 0; i < w->n_qps; i++)
		sim_modify(w->qps[i], &reset, RD_QP_STATE);
	for (uint32_t i = 0; i < w->cfg.net.n_nodes; i++)
		if (w->nodes[i].srq && !w->check.failed)
			sim_srq_end(w->nodes[i].srq);
}

void plan_end(struct run *run)
{
	struct sim_world *w = &run->world;

	run->ending = true;
	for (uint32_t i = 0; i < w->cfg.net.n_nodes; i++)
		w->nodes[i].refused_share = 0;
	if (run->plan.mw_stale)
		use_old_keys(run);
	if (!w->check.failed)
		count_receives(run);
}
