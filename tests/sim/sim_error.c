/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_error.c - how a QP ends: retries used up, access refused, immediates without a receive; what
 * completes with which status, in which order, and that nothing was placed that should not be.
 */
#include "case.h"

/* Sets what the completions of messages from .. n-1 must say. */
static void expect(struct sim_qp *qp, size_t from, enum rd_wc_status first)
{
	for (size_t i = from; i < qp->out.n; i++)
		qp->out.msgs[i]->want = i == from ? first : RD_WC_WR_FLUSH_ERR;
	qp->may_fail = qp->peer->may_fail = true;
	qp->out.flushing = qp->peer->out.flushing = true;
}

static bool all_completed(const struct sim_qp *qp)
{
	return qp->out.completed == qp->out.n && qp->out.recvs_done == qp->out.recvs_posted;
}

/* Runs until every message of qp has completed one way or another. */
static void run_completed(struct sim_world *w, struct sim_qp *qp, uint64_t ns)
{
	uint64_t limit = w->net.now_ns + ns;

	while (!all_completed(qp) && sim_step(w, limit))
		;
	CASE_EQ(w, qp->out.completed, qp->out.n);
}

static struct sim_qp *connect_retry(struct sim_world *w, uint8_t timeout, uint8_t linear,
				    uint8_t exp)
{
	struct sim_qp_cfg cfg;

	sim_qp_cfg_default(&cfg);
	cfg.attr.timeout = timeout;
	cfg.attr.retry_linear = linear;
	cfg.attr.retry_exp = exp;
	return sim_connect(w, 0, 1, &cfg, &cfg);
}

/* REQ(req.retry.linear-exp) REQ(req.retry.exhausted) REQ(req.error.flush) */
TEST(sim_error, a_peer_that_is_gone_is_given_up_in_time)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = connect_retry(w, 4, 3, 4);
	uint64_t rto = 1024 << 4, begin = w->net.now_ns, gave_up;

	case_silence(w, true);
	case_post(qp, 4, 5000, 0);
	expect(qp, 0, RD_WC_RETRY_EXC_ERR);
	qp->out.flushing = false;
	run_completed(w, qp, SIM_S);
	gave_up = w->net.now_ns - begin;
	/* Three retries a timeout apart, then waits of 1, 2, 4, 8 and 16 timeouts. */
	CASE_BETWEEN(w, gave_up, (3 + 1 + 2 + 4 + 8) * rto, (3 + 1 + 2 + 4 + 8 + 16) * rto);
	CASE_EQ(w, case_stats(w, 0).timeouts, 7);
	CASE_EQ(w, case_info(qp).state, RD_QPS_ERR);
	CASE_EQ(w, qp->qp_events, 1);
	CASE_EQ(w, qp->qp_status, RD_WC_RETRY_EXC_ERR);
	sim_run_for(w, 10 * SIM_MS);
	CASE_EQ(w, mt_engine_deadline(w->nodes[0].engine), NET_NEVER);
	case_close(w);
}

/* REQ(req.retry.forever) */
TEST(sim_error, twenty_five_exponential_retries_are_for_ever)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = connect_retry(w, 4, 7, 25);

	case_silence(w, true);
	sim_post(qp, 5000, 0);
	sim_run_for(w, 3000 * SIM_S);
	CASE_EQ(w, case_info(qp).state, RD_QPS_RTS);
	case_silence(w, false);
	/* The interval stops growing at 2^24 times 1.024 us. */
	sim_run_done(w, 20 * SIM_S);
	case_close(w);
}

/* REQ(req.retry.progress) */
TEST(sim_error, progress_starts_the_count_of_retries_again)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = connect_retry(w, 4, 2, 1);

	for (int i = 0; i < 10; i++) {
		case_silence(w, true);
		sim_post(qp, 1000, 0);
		sim_run_for(w, 40 * SIM_US);
		case_silence(w, false);
		sim_run_done(w, SIM_MS);
	}
	CASE_BETWEEN(w, case_stats(w, 0).timeouts, 10, 30);
	case_close(w);
}

/* Posts five messages of which the third is at fault, with their receives. */
static void refused(struct sim_world *w, struct sim_qp *qp, const struct sim_wr *bad,
		    enum rd_wc_status status)
{
	int result;

	case_recvs(qp->peer, 2);
	case_post(qp, 2, 9000, 0);
	assert_non_null(sim_post_wr(qp, bad, &result));
	case_post(qp, 2, 9000, 0);
	expect(qp, 2, status);
	run_completed(w, qp, SIM_S);
	sim_run_for(w, SIM_MS);
	CASE_EQ(w, qp->out.msgs[2]->placed, 0);
	CASE_EQ(w, qp->out.msgs[0]->placed, 9000);
	CASE_EQ(w, qp->out.msgs[1]->placed, 9000);
	CASE_EQ(w, case_info(qp).state, RD_QPS_ERR);
	CASE_EQ(w, case_info(qp->peer).state, RD_QPS_ERR);
	CASE_EQ(w, qp->qp_status, status);
	CASE_EQ(w, qp->peer->qp_status, status);
	/* The receives that nobody used are flushed. */
	CASE_EQ(w, qp->out.recvs_done, 2);
}

/* REQ(rsp.place.access-nak) REQ(req.error.nak) */
TEST(sim_error, a_wrong_key_is_refused)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	struct sim_wr bad = {.len = 9000, .rkey = qp->peer->mr->key ^ 1};

	refused(w, qp, &bad, RD_WC_REM_ACCESS_ERR);
	case_close(w);
}

TEST(sim_error, a_key_of_no_mr_is_refused)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	struct sim_wr bad = {.len = 9000, .rkey = 0xFFFFFF00};

	refused(w, qp, &bad, RD_WC_REM_ACCESS_ERR);
	case_close(w);
}

/* The message begins inside and ends outside; the checker sees any byte beyond the MR. */
TEST(sim_error, a_write_over_the_end_of_an_mr_is_refused)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	struct sim_mr *small = sim_mr_add(&w->nodes[1], 0, 1 << 20, 10000,
					  RD_ACCESS_LOCAL_WRITE | RD_ACCESS_REMOTE_WRITE);
	struct sim_wr bad = {.len = 4096, .mr = small, .beyond = 10000 - 4095};

	refused(w, qp, &bad, RD_WC_REM_ACCESS_ERR);
	case_close(w);
}

TEST(sim_error, a_write_before_the_start_of_an_mr_is_refused)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	struct sim_mr *small = sim_mr_add(&w->nodes[1], 0, 1 << 20, 10000,
					  RD_ACCESS_LOCAL_WRITE | RD_ACCESS_REMOTE_WRITE);
	struct sim_wr bad = {.len = 4096, .mr = small, .beyond = UINT64_MAX};

	refused(w, qp, &bad, RD_WC_REM_ACCESS_ERR);
	case_close(w);
}

TEST(sim_error, an_address_that_wraps_is_refused)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	struct sim_wr bad = {.len = 4096, .beyond = -qp->peer->mr->start - 100};

	refused(w, qp, &bad, RD_WC_REM_ACCESS_ERR);
	case_close(w);
}

TEST(sim_error, an_mr_without_remote_write_is_refused)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	struct sim_mr *local = sim_mr_add(&w->nodes[1], 0, 1 << 20, 100000, RD_ACCESS_LOCAL_WRITE);
	struct sim_wr bad = {.len = 9000, .mr = local};

	refused(w, qp, &bad, RD_WC_REM_ACCESS_ERR);
	case_close(w);
}

TEST(sim_error, an_mr_of_another_pd_is_refused)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	struct sim_mr *other = sim_mr_add(&w->nodes[1], 7, 1 << 20, 100000,
					  RD_ACCESS_LOCAL_WRITE | RD_ACCESS_REMOTE_WRITE);
	struct sim_wr bad = {.len = 9000, .mr = other};

	refused(w, qp, &bad, RD_WC_REM_ACCESS_ERR);
	case_close(w);
}

TEST(sim_error, a_qp_without_remote_write_is_refused)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp_cfg cfg, closed;
	struct sim_qp *qp;

	sim_qp_cfg_default(&cfg);
	closed = cfg;
	closed.attr.access = RD_ACCESS_LOCAL_WRITE;
	qp = sim_connect(w, 0, 1, &cfg, &closed);
	sim_post(qp, 9000, 0);
	expect(qp, 0, RD_WC_REM_ACCESS_ERR);
	run_completed(w, qp, SIM_S);
	CASE_EQ(w, qp->out.msgs[0]->placed, 0);
	case_close(w);
}

TEST(sim_error, an_mr_that_was_removed_is_refused)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	struct sim_mr *gone = sim_mr_add(&w->nodes[1], 0, 1 << 20, 100000,
					 RD_ACCESS_LOCAL_WRITE | RD_ACCESS_REMOTE_WRITE);
	struct sim_wr bad = {.len = 9000, .mr = gone};

	assert_i_eq(mt_mr_remove(w->nodes[1].engine, gone->index), MT_OK);
	assert_i_eq(mt_mr_remove(w->nodes[1].engine, gone->index), MT_ERR_INVALID);
	refused(w, qp, &bad, RD_WC_REM_ACCESS_ERR);
	case_close(w);
}

TEST(sim_error, a_source_that_is_no_mr_is_refused_when_posted)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	struct rd_sge sge = {.addr = qp->mr->start, .length = 16, .lkey = qp->mr->key ^ 1};
	struct rd_send_wr wr = {.sge = &sge, .n_sge = 1, .rkey = qp->peer->mr->key};

	assert_i_eq(mt_qp_post_send(qp->qp, w->net.now_ns, &wr), MT_ERR_ACCESS);
	sge.lkey = qp->mr->key;
	sge.addr = qp->mr->start - 1;
	assert_i_eq(mt_qp_post_send(qp->qp, w->net.now_ns, &wr), MT_ERR_ACCESS);
	sge.addr = qp->mr->start + qp->mr->length - 15;
	assert_i_eq(mt_qp_post_send(qp->qp, w->net.now_ns, &wr), MT_ERR_ACCESS);
	wr.n_sge = SIM_SGE_MAX + 1;
	assert_i_eq(mt_qp_post_send(qp->qp, w->net.now_ns, &wr), MT_ERR_INVALID);
	sim_node_run(qp->node);
	CASE_EQ(w, w->net.logged, 0);
	case_close(w);
}

static bool hold_first_message(void *ctx, struct net_packet *p)
{
	(void)ctx;
	if (p->data && p->pkt.data.meth.msn == 0)
		p->extra_ns = 30 * SIM_US;
	return true;
}

/* The error is in message 2, and message 0 arrives after it: 0 and 1 succeed all the same. */
TEST(sim_error, an_error_behind_a_hole_waits_for_what_is_before)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	struct sim_wr bad = {.len = 9000, .rkey = qp->peer->mr->key ^ 1};

	w->net.filter = hold_first_message;
	refused(w, qp, &bad, RD_WC_REM_ACCESS_ERR);
	case_close(w);
}

static bool lose_naks(void *ctx, struct net_packet *p)
{
	uint64_t *left = ctx;

	if (p->pkt.bth.opcode != MW_ACK || p->pkt.aeth.syndrome < 0x60 || *left == 0)
		return true;
	--*left;
	return false;
}

TEST(sim_error, a_lost_nak_is_repeated)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	struct sim_wr bad = {.len = 9000, .rkey = qp->peer->mr->key ^ 1};
	uint64_t left = 3;

	w->net.filter = lose_naks;
	w->net.filter_ctx = &left;
	refused(w, qp, &bad, RD_WC_REM_ACCESS_ERR);
	CASE_EQ(w, left, 0);
	case_close(w);
}

/* REQ(rsp.wimm.no-receive) REQ(svc.no-rnr) */
TEST(sim_error, an_immediate_without_a_receive_ends_the_qp)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);

	case_recvs(qp->peer, 1);
	case_post(qp, 2, 100, RD_SEND_IMM);
	case_post(qp, 1, 100, 0);
	expect(qp, 1, RD_WC_REM_INV_REQ_ERR);
	run_completed(w, qp, SIM_S);
	CASE_EQ(w, qp->out.takes_received, 1);
	CASE_EQ(w, qp->peer->qp_status, RD_WC_REM_INV_REQ_ERR);
	CASE_EQ(w, case_info(qp->peer).state, RD_QPS_ERR);
	case_close(w);
}

/* REQ(rsp.wimm.limit): the requester believes in more than the responder stashes. */
TEST(sim_error, more_immediates_than_agreed_end_the_qp)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp_cfg cfg, small;
	struct sim_qp *qp;

	sim_qp_cfg_default(&cfg);
	small = cfg;
	small.attr.max_wimm_dest = 2;
	qp = sim_connect(w, 0, 1, &cfg, &small);
	w->net.filter = hold_first_message;
	case_recvs(qp->peer, 20);
	sim_post(qp, 10, 0);
	case_post(qp, 10, 10, RD_SEND_IMM);
	/* Message 0 is late, 1 and 2 are stashed, 3 is one too many. */
	expect(qp, 3, RD_WC_REM_INV_REQ_ERR);
	run_completed(w, qp, SIM_S);
	CASE_EQ(w, qp->out.takes_received, 2);
	case_close(w);
}

/* REQ(req.error.flush) */
TEST(sim_error, going_to_err_flushes_everything_once)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	struct rd_qp_attr attr = {.state = RD_QPS_ERR};
	struct sim_wr flushed = {.len = 100, .want = RD_WC_WR_FLUSH_ERR};
	int result;

	case_recvs(qp, 5);
	case_post(qp, 5, 50000, 0);
	expect(qp, 0, RD_WC_WR_FLUSH_ERR);
	assert_i_eq(sim_modify(qp, &attr, RD_QP_STATE), MT_OK);
	sim_node_run(qp->node);
	CASE_EQ(w, qp->out.completed, 5);
	CASE_EQ(w, qp->peer->out.recvs_done, 5);
	/* Asked for, so no event. */
	CASE_EQ(w, qp->qp_events, 0);
	/* Posting goes on and is flushed; nothing is sent. */
	assert_non_null(sim_post_wr(qp, &flushed, &result));
	case_recvs(qp, 1);
	sim_node_run(qp->node);
	sim_run_for(w, 10 * SIM_MS);
	CASE_EQ(w, qp->out.completed, 6);
	CASE_EQ(w, qp->peer->out.recvs_done, 6);
	CASE_EQ(w, case_count(w, 0, 0), 65);
	case_close(w);
}

TEST(sim_error, a_qp_in_error_leaves_others_alone)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w), *other = sim_connect_default(w);
	struct sim_wr bad = {.len = 9000, .rkey = qp->peer->mr->key ^ 1};

	case_post(other, 20, 50000, 0);
	case_post(other->peer, 20, 50000, 0);
	refused(w, qp, &bad, RD_WC_REM_ACCESS_ERR);
	sim_run_for(w, SIM_MS);
	CASE_EQ(w, other->out.completed, 20);
	CASE_EQ(w, other->peer->out.completed, 20);
	case_close(w);
}

TEST(sim_error, a_qp_can_be_reset_and_used_again)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);

	case_recvs(qp->peer, 3);
	case_post(qp, 3, 100000, 0);
	/* In the middle of everything: what is still on its way belongs to nobody. */
	sim_run_for(w, 7 * SIM_US);
	sim_reconnect(qp, 0x123456, 0x654321);
	sim_run_for(w, SIM_MS);
	case_recvs(qp->peer, 1);
	case_post(qp, 3, 1000, 0);
	sim_post(qp, 1000, RD_SEND_IMM);
	sim_run_done(w, SIM_MS);
	CASE_EQ(w, qp->out.completed, 4);
	case_close(w);
}

/*
 * What is on its way of one life of a QP comes in the next, whose messages have the same numbers:
 * nothing of it may complete or end anything. REQ(req.ack.psn) REQ(req.error.fatal-nack)
 */
TEST(sim_error, answers_of_a_former_life_say_nothing)
{
	for (unsigned i = 0; i < test_rounds(50); i++) {
		struct sim_world *w = case_open(NULL);
		struct sim_qp *qp = sim_connect_default(w);

		case_recvs(qp->peer, 1);
		case_post(qp, 20, 1000, 0);
		case_post(qp, 3, 30000, 0);
		sim_post(qp, 1000, RD_SEND_IMM);
		sim_run_for(w,
			    7 * SIM_US + test_rand_below(6 * SIM_US)); /* data came, answers fly */
		sim_reconnect(qp, (uint32_t)test_rand() & 0xFFFFFF,
			      (uint32_t)test_rand() & 0xFFFFFF);
		case_recvs(qp->peer, 1);
		case_post(qp, 20, 1000, 0);
		sim_post(qp, 1000, RD_SEND_IMM);
		sim_run_done(w, SIM_MS);
		CASE_EQ(w, qp->out.completed, 21);
		case_close(w);
	}
}

TEST(sim_error, a_failed_qp_can_be_reset_and_used_again)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	struct sim_wr bad = {.len = 9000, .rkey = qp->peer->mr->key ^ 1};

	refused(w, qp, &bad, RD_WC_REM_ACCESS_ERR);
	sim_reconnect(qp, 77, 99);
	case_post(qp, 3, 10000, 0);
	case_post(qp->peer, 3, 10000, 0);
	sim_run_done(w, SIM_MS);
	case_close(w);
}

TEST(sim_error, a_reset_qp_takes_no_receive)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	struct rd_qp_attr attr = {.state = RD_QPS_RESET};

	assert_i_eq(sim_modify(qp, &attr, RD_QP_STATE), MT_OK);
	assert_i_eq(mt_qp_post_recv(qp->qp, 0), MT_ERR_STATE);
	case_close(w);
}

struct change {
	uint32_t mask;
	struct rd_qp_attr attr;
};

static void refuses(struct sim_world *w, struct sim_qp *qp, const struct change *c)
{
	struct rd_qp_attr before, after;

	memset(&before, 0, sizeof(before));
	memset(&after, 0, sizeof(after));
	mt_qp_query(qp->qp, &before);
	CASE_TRUE(w, sim_modify(qp, &c->attr, c->mask) < 0);
	mt_qp_query(qp->qp, &after);
	assert_memory_equal(&before, &after, sizeof(before));
}

/* A QP in INIT: every attribute may be set, but not to this. REQ(api.qp.ranges) */
TEST(sim_error, values_out_of_range_change_nothing)
{
	static const struct change bad[] = {
		{RD_QP_STATE, {.state = RD_QPS_COUNT}},
		{RD_QP_STATE, {.state = (enum rd_qp_state)99}},
		{RD_QP_STATE, {.state = RD_QPS_RTS}},
		{RD_QP_STATE, {.state = RD_QPS_SQD}},
		{RD_QP_STATE, {.state = RD_QPS_RTR}}, /* no destination yet */
		{RD_QP_DEST, {.dest_qpn = 0}},
		{RD_QP_DEST, {.dest_qpn = 1 << 24}},
		{RD_QP_RQ_PSN, {.rq_psn = 1 << 24}},
		{RD_QP_SQ_PSN, {.sq_psn = 1 << 24}},
		{RD_QP_PATH_MTU, {.path_mtu = 0}},
		{RD_QP_PATH_MTU, {.path_mtu = 1500}},
		{RD_QP_PATH_MTU, {.path_mtu = 8192}},
		{RD_QP_ACCESS, {.access = 16}},
		{RD_QP_MPR, {.mpr = 0}},
		{RD_QP_MPR_DEST, {.mpr_dest = 0}},
		{RD_QP_MAX_WIMM, {.max_wimm = 0}},
		{RD_QP_MAX_WIMM_DEST, {.max_wimm_dest = 0}},
		{RD_QP_MAX_WIMM_DEST, {.max_wimm_dest = 1025}},
		{RD_QP_TIMEOUT, {.timeout = 25}},
		{RD_QP_RETRY, {.retry_linear = 8, .retry_exp = 1}},
		{RD_QP_RETRY, {.retry_linear = 7, .retry_exp = 26}},
		{RD_QP_EV_PROFILE, {.ev_profile = 1}}, /* not defined */
		{RD_QP_EV_PROFILE, {.ev_profile = 4}}, /* beyond max_profiles */
		{RD_QP_CC_PROFILE, {.cc_profile = 3}},
		{RD_QP_CC_PROFILE, {.cc_profile = UINT32_MAX}},
		/* One bad value among good ones. */
		{RD_QP_P_KEY | RD_QP_MPR | RD_QP_TIMEOUT, {.p_key = 5, .mpr = 9, .timeout = 99}},
	};
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	struct rd_qp_attr attr = {.state = RD_QPS_RESET};

	assert_i_eq(sim_modify(qp, &attr, RD_QP_STATE), MT_OK);
	attr.state = RD_QPS_INIT;
	assert_i_eq(sim_modify(qp, &attr, RD_QP_STATE), MT_OK);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		refuses(w, qp, &bad[i]);
	case_close(w);
}

TEST(sim_error, what_is_fixed_in_rts_stays)
{
	static const struct change fixed[] = {
		{RD_QP_STATE, {.state = RD_QPS_INIT}}, {RD_QP_STATE, {.state = RD_QPS_RTR}},
		{RD_QP_DEST, {.dest_qpn = 99}},	       {RD_QP_RQ_PSN, {.rq_psn = 1}},
		{RD_QP_SQ_PSN, {.sq_psn = 1}},	       {RD_QP_PATH_MTU, {.path_mtu = 256}},
		{RD_QP_MPR_DEST, {.mpr_dest = 1}},
	};
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);

	sim_post(qp, 1 << 20, 0);
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		refuses(w, qp, &fixed[i]);
	case_done(w);
}
