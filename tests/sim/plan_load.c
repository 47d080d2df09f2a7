/* SPDX-License-Identifier: BSD-2-Clause */
/* plan_load.c - what the QPs of a random world post, and when. */
#include <inttypes.h>

#include "plan_run.h"

/* After which a program tries again that was refused memory. */
#define MEMORY_WAIT_NS (10 * SIM_US)

static uint32_t message_len(struct run *run, uint32_t mtu)
{
	struct rng *r = &run->rng;

	if (rng_below(r, 1000) < run->plan.big_share)
		return 1 << 20;
	switch (rng_below(r, run->plan.small ? 4 : 6)) {
	case 0:
		return 0;
	case 1:
		return (uint32_t)rng_between(r, 1, 64);
	case 2:
		return mtu * (uint32_t)rng_between(r, 1, 3);
	case 3:
		return mtu + (uint32_t)rng_below(r, 3) - 1;
	default:
		return (uint32_t)rng_between(r, 1, 65536);
	}
}

static uint32_t message_flags(struct run *run, struct load *load)
{
	const struct sim_plan *p = &run->plan;
	uint32_t flags = 0;

	if (rng_below(&run->rng, 100) < p->imm_share)
		flags |= RD_SEND_IMM;
	if (rng_below(&run->rng, 4) == 0)
		flags |= RD_SEND_SOLICITED;
	/* Slots of silent requests come back with the next signalled one. */
	if (rng_below(&run->rng, 100) >= p->silent_share || load->left == 1 ||
	    load->silent + 1 >= (p->sq_depth + 1) / 2)
		flags |= RD_SEND_SIGNALED;
	return flags;
}

static void come_back(void *ctx, uint64_t arg)
{
	(void)arg;
	sim_node_run(ctx);
}

static void pause_load(struct run *run, struct load *load)
{
	struct engine_net *net = &run->world.net;

	if (!run->plan.pause_ns || rng_below(&run->rng, 4))
		return;
	load->not_before_ns = net->now_ns + rng_between(&run->rng, 1, run->plan.pause_ns);
	engine_net_at(net, load->not_before_ns, come_back, load->qp->node, 0);
}

/* Makes a READ or an atomic of it. */
static void make_request(struct run *run, struct sim_wr *wr)
{
	struct rng *r = &run->rng;

	wr->opcode = (enum rd_wr_opcode)rng_between(r, RD_WR_READ, RD_WR_FETCH_ADD);
	wr->flags &= ~(uint32_t)(RD_SEND_IMM | RD_SEND_SOLICITED);
	if (run->plan.atomic_write && wr->opcode > RD_WR_READ &&
	    rng_below(&run->apart, 100) < run->plan.atomic_write)
		wr->opcode = RD_WR_ATOMIC_WRITE;
	wr->misses = wr->opcode == RD_WR_COMPARE_SWAP && rng_below(r, 2);
	wr->shared = wr->opcode == RD_WR_FETCH_ADD && rng_below(r, 2);
}

static void wait_for_memory(struct run *run, struct load *load)
{
	struct engine_net *net = &run->world.net;

	load->not_before_ns = net->now_ns + MEMORY_WAIT_NS;
	engine_net_at(net, load->not_before_ns, come_back, load->qp->node, 0);
}

/* Sends what ends the binding of type 2, whatever is still under way through it. */
static bool invalidate(struct run *run, const struct sim_mw *mw, struct sim_wr *wr)
{
	if (mw->type != RD_MW_TYPE_2 || mw->state != SIM_MW_BOUND || rng_below(&run->apart, 8))
		return false;
	wr->opcode = RD_WR_SEND;
	wr->flags = (wr->flags & ~(uint32_t)RD_SEND_IMM) | RD_SEND_INV;
	wr->imm = mw->key->rkey;
	if (wr->len > mw->qp->cfg.recv_room)
		wr->len = mw->qp->cfg.recv_room;
	return true;
}

/* Makes a WRITE or READ go through a window of the peer, if one has room, or end it. */
static void use_window(struct run *run, struct load *load, struct sim_wr *wr)
{
	struct sim_mw *mw = &load->qp->peer->mws[rng_below(&run->apart, SIM_MWS)];

	if (rng_below(&run->apart, 100) >= run->plan.mw_share || invalidate(run, mw, wr))
		return;
	if (mw->state != SIM_MW_BOUND || (wr->opcode != RD_WR_WRITE && wr->opcode != RD_WR_READ))
		return;
	if (wr->len > mw->length - mw->taken)
		wr->len = (uint32_t)(mw->length - mw->taken);
	wr->mw = mw;
}

/* Binds a window, takes it back when nobody uses it any more, or of type 1 binds it again. */
static void go_on(struct run *run, struct sim_mw *mw)
{
	struct rng *r = &run->apart;
	uint32_t flags = rng_below(r, 4) ? 0 : RD_SEND_FENCE;
	bool again = mw->type == RD_MW_TYPE_1 && rng_below(r, 2);

	if (mw->state == SIM_MW_BOUND && (mw->taken == mw->length || rng_below(r, 64) == 0))
		mw->state = SIM_MW_RESTS;
	if (mw->state == SIM_MW_FREE || (mw->state == SIM_MW_RESTS && again && sim_mw_is_quiet(mw)))
		sim_mw_bind(mw, rng_between(r, 1, run->plan.mw_bytes), rng_below(r, 2), flags);
	else if (mw->state == SIM_MW_RESTS && sim_mw_is_quiet(mw))
		sim_mw_end(mw, flags);
}

/* Posts one message; false when it has to wait. */
static bool post_one(struct run *run, struct load *load)
{
	struct sim_flow *f = &load->qp->out;
	uint32_t packets_mtu = f->mtu;
	struct sim_wr wr = {.flags = message_flags(run, load),
			    .imm = (uint32_t)rng_rand(&run->rng)};
	int result;

	if (f->extended && rng_below(&run->rng, 100) < run->plan.send_share)
		wr.opcode = RD_WR_SEND;
	if (run->plan.ask_share && rng_below(&run->rng, 100) < run->plan.ask_share)
		make_request(run, &wr);
	if (run->plan.ask_share && rng_below(&run->rng, 4) == 0)
		wr.flags |= RD_SEND_FENCE;
	/* Without extension an immediate needs a receive that is posted already. */
	load->waits = wr.flags & RD_SEND_IMM && !f->extended && f->recvs_posted <= f->takes;
	if (load->waits)
		return false;
	wr.len = message_len(run, packets_mtu);
	if (wr.opcode == RD_WR_SEND && wr.len > load->qp->peer->cfg.recv_room)
		wr.len = load->qp->peer->cfg.recv_room;
	if (wr.len / packets_mtu + 1 > run->packets_left)
		wr.len = 0;
	if (run->plan.mw_share)
		use_window(run, load, &wr);
	wr.n_sge = wr.len ? (uint32_t)rng_between(&run->rng, 1, SIM_SGE_MAX) : 0;
	if (!sim_post_wr(load->qp, &wr, &result)) {
		if (result == MT_ERR_MEMORY && run->plan.refused)
			wait_for_memory(run, load);
		else if (result != MT_ERR_FULL)
			sim_fail(&run->world.check, "%s: mt_qp_post_send: error %d", f->name,
				 result);
		return false;
	}
	if (wr.flags & RD_SEND_INV)
		load->qp->peer->mws[1].state = SIM_MW_ENDING;
	load->left--;
	load->silent = wr.flags & RD_SEND_SIGNALED ? 0 : load->silent + 1;
	run->packets_left -= wr.len / packets_mtu < run->packets_left ? wr.len / packets_mtu : 0;
	pause_load(run, load);
	return true;
}

/* Nothing else may be under way that would wake who waits for the receives of this QP. */
static void wake_sender(struct run *run, const struct sim_qp *qp)
{
	struct engine_net *net = &run->world.net;

	for (uint32_t i = 0; i < run->world.n_qps; i++)
		if (run->loads[i].qp == qp->peer && run->loads[i].waits) {
			run->loads[i].waits = false;
			engine_net_at(net, net->now_ns, come_back, qp->peer->node, 0);
		}
}

/* Now and then an SRQ gets another size or limit, which may be one that is refused. */
static void change_srq(struct run *run, struct sim_srq *srq)
{
	struct rng *r = &run->apart;
	uint64_t least = run->plan.withheld ? SIM_LEFT_TO_OTHERS * run->plan.withheld : 1;

	if (!run->plan.srq_changes || rng_below(r, 100) >= run->plan.srq_changes)
		return;
	if (rng_below(r, 2))
		sim_srq_resize(srq, (uint32_t)rng_between(r, least, 2 * run->plan.srq_depth));
	else
		sim_srq_arm(srq, (uint32_t)rng_below(r, srq->depth + 2));
}

/* Keeps a node's SRQ full, or fills it now and then. */
static void fill_srq(struct run *run, struct sim_node *node)
{
	struct sim_srq *srq = node->srq;
	struct engine_net *net = &run->world.net;

	if (net->now_ns < srq->not_before_ns)
		return;
	change_srq(run, srq);
	if (srq->posted - srq->done == srq->depth)
		return;
	if (run->plan.recv_pause_ns) {
		srq->not_before_ns =
			net->now_ns + rng_between(&run->apart, 1, run->plan.recv_pause_ns);
		engine_net_at(net, srq->not_before_ns, come_back, node, 0);
	}
	while (sim_srq_post(srq))
		;
}

/* Keeps the receive queue full, or fills it now and then. */
static void post_recvs(struct run *run, struct load *load)
{
	struct sim_qp *qp = load->qp;
	const struct sim_flow *in = &qp->peer->out;
	struct engine_net *net = &run->world.net;

	if (qp->srq || qp->may_fail || in->recvs_posted - in->recvs_done == qp->cfg.cap.rq_depth ||
	    net->now_ns < load->recvs_at_ns)
		return;
	if (run->plan.recv_pause_ns) {
		load->recvs_at_ns =
			net->now_ns + rng_between(&run->rng, 1, run->plan.recv_pause_ns);
		engine_net_at(net, load->recvs_at_ns, come_back, qp->node, 0);
	}
	while (in->recvs_posted - in->recvs_done < qp->cfg.cap.rq_depth)
		if (sim_post_recv(qp) != MT_OK) {
			sim_fail(&run->world.check, "%s: mt_qp_post_recv failed", in->name);
			return;
		}
	wake_sender(run, qp);
}

void plan_load_begin(struct run *run, struct load *load)
{
	post_recvs(run, load);
}

void plan_load_app(void *ctx, struct sim_node *node)
{
	struct run *run = ctx;

	if (node->srq)
		fill_srq(run, node);
	for (uint32_t i = 0; i < run->world.n_qps; i++) {
		struct load *load = &run->loads[i];

		if (load->qp->node != node)
			continue;
		post_recvs(run, load);
		for (uint32_t k = 0; run->plan.mw_share && !run->ending && k < SIM_MWS; k++)
			go_on(run, &load->qp->mws[k]);
		while (load->left && run->world.net.now_ns >= load->not_before_ns)
			if (!post_one(run, load))
				break;
	}
}

bool plan_all_posted(const struct run *run, bool withheld)
{
	for (uint32_t i = 0; i < run->world.n_qps; i++)
		if (run->loads[i].left && (withheld || !run->loads[i].withheld))
			return false;
	return true;
}
