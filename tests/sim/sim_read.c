/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_read.c - READ and atomics over the extension: answers in PSNs of their own, order, limits,
 * fences, rights, executed once whatever is lost, and how QPs end with requests open.
 */
#include "case.h"
#include "core/ext/ext.h"

static struct sim_qp *connect_asking(struct sim_world *w)
{
	struct sim_qp_cfg cfg;

	sim_qp_cfg_asking(&cfg);
	return sim_connect(w, 0, 1, &cfg, &cfg);
}

static void some_of_all(struct sim_qp *qp, unsigned rounds)
{
	struct sim_wr miss = {.opcode = RD_WR_COMPARE_SWAP, .misses = true};
	struct sim_wr shared = {.opcode = RD_WR_FETCH_ADD, .shared = true};
	int result;

	for (unsigned i = 0; i < rounds; i++) {
		sim_post(qp, 5000 * i, 0);
		sim_read(qp, 7000 * i, 0);
		sim_atomic(qp, RD_WR_FETCH_ADD, 0);
		sim_atomic(qp, RD_WR_COMPARE_SWAP, i % 3 ? 0 : RD_SEND_FENCE);
		assert_non_null(sim_post_wr(qp, &miss, &result));
		assert_non_null(sim_post_wr(qp, &shared, &result));
		sim_send(qp, 600 * i, 0);
	}
}

/* REQ(ext.response.space) REQ(ext.response.place) */
TEST(sim_read, all_sizes_both_ways)
{
	static const uint32_t sizes[] = {0, 1, 4095, 4096, 4097, 8192, 65535, 1 << 20};
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = connect_asking(w);

	for (unsigned i = 0; i < 8; i++) {
		sim_read(qp, sizes[i], 0);
		sim_read(qp->peer, sizes[7 - i], 0);
	}
	sim_run_done(w, SIM_S);
	CASE_EQ(w, case_count(w, 0, MW_READ_REQUEST), 8);
	CASE_EQ(w, case_nth(w, 0, MW_READ_REQUEST, 7)->pkt.data.imm, 1 << 20);
	CASE_EQ(w, case_nth(w, 1, MW_READ_RESPONSE_ONLY, 0)->pkt.bth.psn, qp->cfg.attr.sq_psn);
	case_done(w);
}

/* REQ(ext.atomic.once) */
TEST(sim_read, atomics_find_what_those_before_left)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = connect_asking(w);

	case_recvs(qp->peer, 10);
	some_of_all(qp, 10);
	sim_run_done(w, SIM_S);
	CASE_EQ(w, case_stats(w, 1).rx_requests, 50);
	CASE_EQ(w, case_stats(w, 1).rx_duplicates, 0);
	case_done(w);
}

static void spoil(struct sim_world *w, uint32_t loss_ppm)
{
	for (uint32_t plane = 0; plane < w->cfg.net.n_planes; plane++)
		for (uint32_t k = 0; k < w->cfg.net.n_paths; k++)
			for (uint32_t src = 0; src < 2; src++) {
				struct net_path *p =
					engine_net_path(&w->net, src, 1 - src, plane, k);

				p->loss_ppm = plane + k == 0 ? 0 : loss_ppm;
				p->dup_ppm = 50000;
				p->reorder_ppm = 100000;
				p->reorder_ns = 50000;
				p->trim_ppm = plane + k == 0 ? 0 : 50000;
			}
}

/* Requests and answers are lost, doubled, cut, and overtake each other. REQ(ext.atomic.once) */
TEST(sim_read, executed_once_whatever_is_lost)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = connect_asking(w);

	spoil(w, 200000);
	case_recvs(qp->peer, 30);
	case_recvs(qp, 30);
	some_of_all(qp, 30);
	some_of_all(qp->peer, 30);
	sim_run_done(w, 20 * SIM_S);
	CASE_EQ(w, case_stats(w, 1).rx_requests, 150);
	CASE_TRUE(w, case_resent(w, 0) > 0 && case_resent(w, 1) > 0);
	CASE_TRUE(w, case_stats(w, 0).rx_duplicates > 0);
	case_done(w);
}

static bool lose_first_answers(void *ctx, struct net_packet *p)
{
	unsigned *left = ctx;

	return p->pkt.bth.opcode != MW_ATOMIC_RESPONSE || *left == 0 || --*left == 0;
}

/* The answer, not the atomic, is repeated. REQ(ext.atomic.once) */
TEST(sim_read, a_lost_answer_is_sent_again)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = connect_asking(w);
	unsigned left = 4;

	w->net.filter = lose_first_answers;
	w->net.filter_ctx = &left;
	sim_atomic(qp, RD_WR_FETCH_ADD, 0);
	sim_run_done(w, SIM_S);
	CASE_EQ(w, case_count(w, 1, MW_ATOMIC_RESPONSE), 4);
	CASE_EQ(w, case_stats(w, 1).rx_requests, 1);
	case_done(w);
}

static bool hold_first_message(void *ctx, struct net_packet *p)
{
	struct sim_world *w = ctx;

	return !p->data || p->src != 0 || p->pkt.data.meth.msn != 0 || w->net.now_ns > SIM_MS * 3;
}

/* A request waits for all before it, whichever packet was lost. REQ(ext.request.order) */
TEST(sim_read, a_request_waits_for_what_is_before_it)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = connect_asking(w);

	w->net.filter = hold_first_message;
	w->net.filter_ctx = w;
	sim_post(qp, 100, 0);
	sim_read(qp, 100, 0);
	sim_atomic(qp, RD_WR_FETCH_ADD, 0);
	sim_run_for(w, SIM_MS);
	CASE_EQ(w, case_stats(w, 1).rx_requests, 0);
	CASE_TRUE(w, case_count(w, 0, MW_READ_REQUEST) >= 1);
	CASE_EQ(w, case_count(w, 1, MW_READ_RESPONSE_ONLY), 0);
	case_done(w);
}

/* REQ(ext.read.limit) */
TEST(sim_read, no_more_at_a_time_than_agreed)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = connect_asking(w);

	for (unsigned i = 0; i < 6; i++)
		sim_read(qp, 10, 0);
	sim_post(qp, 10, 0);
	sim_run_for(w, 12 * SIM_US);
	CASE_EQ(w, case_count(w, 0, MW_READ_REQUEST), 4);
	sim_run_for(w, 12 * SIM_US);
	CASE_EQ(w, case_count(w, 0, MW_READ_REQUEST), 6);
	CASE_EQ(w, case_count(w, 0, MW_WRITE_ONLY), 1);
	case_done(w);
}

/* REQ(ext.read.limit) */
TEST(sim_read, more_than_the_responder_takes_is_refused)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp_cfg ours, theirs;
	struct sim_qp *qp;

	sim_qp_cfg_asking(&ours);
	sim_qp_cfg_asking(&theirs);
	theirs.attr.max_dest_rd_atomic = 1;
	qp = sim_connect(w, 0, 1, &ours, &theirs);
	qp->may_fail = qp->peer->may_fail = true;
	w->net.filter = hold_first_message;
	w->net.filter_ctx = w;
	sim_post(qp, 100, 0);
	sim_read(qp, 10, 0);
	struct sim_wr wr = {.opcode = RD_WR_READ, .len = 10, .want = RD_WC_REM_INV_REQ_ERR};
	int result;

	assert_non_null(sim_post_wr(qp, &wr, &result));
	sim_node_run(qp->node);
	sim_run_for(w, 20 * SIM_MS);
	CASE_EQ(w, qp->out.completed, 3);
	CASE_EQ(w, qp->peer->qp_status, RD_WC_REM_INV_REQ_ERR);
	case_close(w);
}

/* An answer that is not sent in full counts. REQ(ext.read.limit) */
TEST(sim_read, more_than_can_be_answered_is_refused)
{
	struct sim_wr wr = {.opcode = RD_WR_READ, .len = 10, .want = RD_WC_REM_INV_REQ_ERR};
	struct sim_world *w = case_open(NULL);
	struct sim_qp_cfg ours, theirs;
	struct sim_qp *qp;
	int result;

	sim_qp_cfg_asking(&ours);
	sim_qp_cfg_asking(&theirs);
	theirs.attr.max_dest_rd_atomic = 1;
	qp = sim_connect(w, 0, 1, &ours, &theirs);
	qp->may_fail = qp->peer->may_fail = true;
	sim_read(qp, 4 << 20, 0);
	assert_non_null(sim_post_wr(qp, &wr, &result));
	sim_node_run(qp->node);
	sim_run_for(w, 20 * SIM_MS);
	CASE_EQ(w, qp->out.completed, 2);
	CASE_EQ(w, qp->peer->qp_status, RD_WC_REM_INV_REQ_ERR);
	case_close(w);
}

/* REQ(ext.fence) */
TEST(sim_read, a_fence_waits_for_answers)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = connect_asking(w);

	sim_read(qp, 100000, 0);
	sim_post(qp, 1, 0);
	sim_post(qp, 2, RD_SEND_FENCE);
	sim_run_for(w, 15 * SIM_US);
	CASE_EQ(w, case_count(w, 0, MW_WRITE_ONLY), 1);
	sim_run_done(w, SIM_MS);
	CASE_EQ(w, case_count(w, 0, MW_WRITE_ONLY), 2);
	case_done(w);
}

/* A WR that is refused, after one that is not, and how both ends report it. */
static void refused(struct sim_wr wr, struct sim_qp_cfg theirs, enum rd_wc_status peers)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp_cfg ours;
	struct sim_qp *qp;
	int result;

	sim_qp_cfg_asking(&ours);
	qp = sim_connect(w, 0, 1, &ours, &theirs);
	qp->may_fail = qp->peer->may_fail = true;
	case_recvs(qp->peer, 1);
	sim_send(qp, 50000, 0);
	assert_non_null(sim_post_wr(qp, &wr, &result));
	wr = (struct sim_wr){.opcode = RD_WR_READ, .len = 1, .want = RD_WC_WR_FLUSH_ERR};
	assert_non_null(sim_post_wr(qp, &wr, &result));
	sim_node_run(qp->node);
	sim_run_for(w, 20 * SIM_MS);
	CASE_EQ(w, qp->out.completed, 3);
	CASE_EQ(w, qp->peer->qp_status, peers);
	case_close(w);
}

/* REQ(ext.read.access) REQ(ext.atomic.access) REQ(ext.atomic.aligned) */
TEST(sim_read, rights_of_the_peer)
{
	static const enum rd_wc_status access = RD_WC_REM_ACCESS_ERR, inv = RD_WC_REM_INV_REQ_ERR;
	struct sim_qp_cfg open, no_read, no_atomic;

	sim_qp_cfg_asking(&open);
	no_read = no_atomic = open;
	no_read.attr.access &= ~(uint32_t)RD_ACCESS_REMOTE_READ;
	no_atomic.attr.access &= ~(uint32_t)RD_ACCESS_REMOTE_ATOMIC;
	struct sim_wr read = {.opcode = RD_WR_READ, .len = 100, .want = access};
	struct sim_wr add = {.opcode = RD_WR_FETCH_ADD, .want = access};

	refused(read, no_read, access);
	refused(add, no_atomic, access);
	read.rkey = 0x77777777;
	refused(read, open, access);
	read.rkey = 0;
	read.beyond = UINT64_C(1) << 40;
	refused(read, open, access);
	add.beyond = 8 * 1000;
	refused(add, open, access);
	add.beyond = 4;
	add.want = inv;
	refused(add, open, inv);
}

/* REQ(ext.read.local) */
TEST(sim_read, memory_of_ours_that_must_not_be_written)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = connect_asking(w);
	struct sim_mr *mr = sim_mr_add(qp->node, 0, UINT64_C(7) << 50, 4096, 0);
	struct rd_sge sge = {.addr = UINT64_C(7) << 50, .length = 64, .lkey = mr->key};
	struct rd_send_wr wr = {.opcode = RD_WR_READ,
				.sge = &sge,
				.n_sge = 1,
				.rkey = qp->peer->mr->key,
				.remote_addr = qp->peer->mr->start};

	qp->may_fail = true;
	sim_post(qp, 100000, 0);
	assert_i_eq(mt_qp_post_send(qp->qp, w->net.now_ns, &wr), MT_OK);
	sim_flow_add(&qp->out, &(struct sim_msg){.opcode = RD_WR_READ, .want = RD_WC_LOC_PROT_ERR},
		     NULL);
	sim_node_run(qp->node);
	sim_run_for(w, SIM_MS);
	CASE_EQ(w, qp->out.completed, 2);
	CASE_EQ(w, qp->qp_status, RD_WC_LOC_PROT_ERR);
	CASE_EQ(w, case_count(w, 0, MW_READ_REQUEST), 0);
	case_close(w);
}

/* WRITEs and SENDs go, and what the peer does not know fails in its turn. REQ(ext.strict-peer) */
TEST(sim_read, a_peer_that_has_sends_only)
{
	struct sim_world *w = case_open(NULL);
	struct sim_wr wr = {.opcode = RD_WR_READ, .len = 10, .want = RD_WC_REM_OP_ERR};
	struct sim_qp_cfg ours, theirs;
	struct sim_qp *qp;
	int result;

	sim_qp_cfg_asking(&ours);
	sim_qp_cfg_extended(&theirs);
	qp = sim_connect(w, 0, 1, &ours, &theirs);
	qp->may_fail = true;
	case_recvs(qp->peer, 1);
	sim_send(qp, 9000, 0);
	assert_non_null(sim_post_wr(qp, &wr, &result));
	sim_node_run(qp->node);
	sim_run_for(w, SIM_MS);
	CASE_EQ(w, qp->out.completed, 2);
	CASE_EQ(w, qp->qp_status, RD_WC_REM_OP_ERR);
	case_close(w);
}

/* What is wrong is said when it is posted. REQ(ext.atomic.local) */
TEST(sim_read, requests_that_are_none)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *plain = sim_connect_extended(w), *qp = connect_asking(w);
	struct rd_sge sge = {.addr = qp->mr->start, .length = 7, .lkey = qp->mr->key};
	struct rd_send_wr wr = {.opcode = RD_WR_FETCH_ADD, .sge = &sge, .n_sge = 1};

	assert_i_eq(mt_qp_post_send(qp->qp, w->net.now_ns, &wr), MT_ERR_INVALID);
	wr.opcode = RD_WR_READ;
	wr.flags = RD_SEND_IMM;
	assert_i_eq(mt_qp_post_send(qp->qp, w->net.now_ns, &wr), MT_ERR_INVALID);
	wr.opcode = RD_WR_OPCODES;
	wr.flags = 0;
	assert_i_eq(mt_qp_post_send(qp->qp, w->net.now_ns, &wr), MT_ERR_INVALID);
	wr.opcode = RD_WR_READ;
	sge.addr = plain->mr->start;
	assert_i_eq(mt_qp_post_send(plain->qp, w->net.now_ns, &wr), MT_ERR_INVALID);
	case_close(w);
}

static bool hold_answers(void *ctx, struct net_packet *p)
{
	struct sim_world *w = ctx;

	return p->src == 0 || !p->data || w->net.now_ns > SIM_MS * 3;
}

/* REQ(ext.response.complete) */
TEST(sim_read, the_ack_of_a_request_completes_nothing)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = connect_asking(w);

	w->net.filter = hold_answers;
	w->net.filter_ctx = w;
	sim_post(qp, 100, 0);
	sim_read(qp, 100, 0);
	sim_post(qp, 100, 0);
	sim_run_for(w, SIM_MS);
	CASE_TRUE(w, case_stats(w, 0).rx_acks >= 3);
	CASE_EQ(w, qp->out.completed, 1);
	case_done(w);
}

/* What was asked for before the fault is still answered. REQ(ext.response.nak) */
TEST(sim_read, a_refusal_waits_for_the_answers_before_it)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = connect_asking(w);
	struct sim_wr wr = {.len = 10, .rkey = 0x7777, .want = RD_WC_REM_ACCESS_ERR};
	int result;

	qp->may_fail = qp->peer->may_fail = true;
	w->net.filter = hold_answers;
	w->net.filter_ctx = w;
	sim_read(qp, 30000, 0);
	sim_atomic(qp, RD_WR_FETCH_ADD, 0);
	assert_non_null(sim_post_wr(qp, &wr, &result));
	sim_node_run(qp->node);
	sim_run_for(w, SIM_MS);
	CASE_EQ(w, qp->peer->qp_status, RD_WC_REM_ACCESS_ERR);
	CASE_EQ(w, qp->out.completed, 0);
	sim_run_for(w, 50 * SIM_MS);
	CASE_EQ(w, qp->out.completed, 3);
	CASE_EQ(w, qp->qp_status, RD_WC_REM_ACCESS_ERR);
	case_close(w);
}

/* REQ(req.retry.exhausted) */
TEST(sim_read, a_peer_that_dies)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp_cfg cfg;
	struct sim_msg *m;
	struct sim_qp *qp;

	sim_qp_cfg_asking(&cfg);
	cfg.attr.retry_exp = 0;
	qp = sim_connect(w, 0, 1, &cfg, &cfg);
	qp->may_fail = true;
	m = sim_read(qp, 4 << 20, 0);
	sim_run_for(w, 17 * SIM_US);
	m->want = RD_WC_RETRY_EXC_ERR;
	case_silence(w, true);
	sim_run_for(w, 50 * SIM_MS);
	CASE_EQ(w, qp->out.completed, 1);
	CASE_EQ(w, qp->qp_status, RD_WC_RETRY_EXC_ERR);
	case_close(w);
}

/* Its responder hears that nobody takes the answer any more, and ends. */
TEST(sim_read, a_requester_that_gives_up)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = connect_asking(w);
	struct rd_qp_attr attr = {.state = RD_QPS_ERR};
	struct sim_msg *m = sim_read(qp, 4 << 20, 0);

	sim_run_for(w, 17 * SIM_US);
	m->want = RD_WC_WR_FLUSH_ERR;
	assert_i_eq(sim_modify(qp, &attr, RD_QP_STATE), MT_OK);
	sim_node_run(qp->node);
	sim_run_for(w, SIM_MS);
	CASE_EQ(w, qp->out.completed, 1);
	CASE_EQ(w, case_info(qp->peer).responses, 0);
	CASE_EQ(w, case_info(qp->peer).state, RD_QPS_RTS);
	sim_check_quiet(w, 5 * SIM_MS);
	case_close(w);
}

/* REQ(req.sqd) */
TEST(sim_read, sqd_finishes_what_was_asked)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = connect_asking(w);
	struct rd_qp_attr attr = {.state = RD_QPS_SQD};

	for (unsigned i = 0; i < 6; i++)
		sim_read(qp, 100000, 0);
	sim_run_for(w, 15 * SIM_US);
	assert_i_eq(sim_modify(qp, &attr, RD_QP_STATE), MT_OK);
	mt_qp_query(qp->qp, &attr);
	CASE_TRUE(w, attr.draining);
	sim_run_for(w, 10 * SIM_MS);
	CASE_EQ(w, qp->out.completed, 4);
	mt_qp_query(qp->qp, &attr);
	CASE_TRUE(w, !attr.draining);
	attr.state = RD_QPS_RTS;
	assert_i_eq(sim_modify(qp, &attr, RD_QP_STATE), MT_OK);
	sim_node_run(qp->node);
	case_done(w);
}

/* Nothing of the first life is left. */
TEST(sim_read, after_a_reset_with_requests_open)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = connect_asking(w);
	size_t used = mt_engine_memory_used(w->nodes[1].engine);

	case_recvs(qp->peer, 10);
	some_of_all(qp, 10);
	sim_run_for(w, 40 * SIM_US);
	case_silence(w, true);
	sim_run_for(w, 10 * SIM_US); /* nothing flies any more */
	case_silence(w, false);
	assert_true(mt_engine_memory_used(w->nodes[1].engine) > used);
	sim_reconnect(qp, 77, 88);
	CASE_EQ(w, mt_engine_memory_used(w->nodes[1].engine), used);
	qp->added = w->nodes[1].mrs[1].words[0];
	case_recvs(qp->peer, 10);
	some_of_all(qp, 10);
	sim_run_done(w, SIM_S);
	sim_check_words(w);
	case_close(w);
}

/* An answer to nothing, one of another length, bytes behind its end. REQ(ext.response.place) */
TEST(sim_read, answers_that_do_not_fit)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = connect_asking(w);
	struct mt_rx_meta meta = case_meta(w, 1);
	struct mw_packet p = {.payload_len = 100};

	sim_read(qp, 0, 0); /* now both know what the other knows */
	sim_run_done(w, SIM_MS);
	p.bth = (struct mw_bth){.opcode = MW_READ_RESPONSE_ONLY,
				.p_key = 0xFFFF,
				.dqp = qp->qpn,
				.psn = qp->cfg.attr.sq_psn + 1};
	p.data.meth.msn = 1;
	p.data.reth.dmalen = 100;
	case_give(w, 0, &meta, &p);
	CASE_EQ(w, case_stats(w, 0).drop_malformed, 1);
	case_silence(w, true);
	sim_read(qp, 200, 0);
	CASE_EQ(w, case_count(w, 0, MW_READ_REQUEST), 2);
	case_give(w, 0, &meta, &p);
	p.payload_len = p.data.reth.dmalen = 200;
	p.data.reth.va = 1;
	case_give(w, 0, &meta, &p);
	p.data.reth.va = 0;
	p.data.meth.msn = 2;
	case_give(w, 0, &meta, &p);
	/* It would fit the READ that stands where that of number 2 will. */
	p.payload_len = p.data.reth.dmalen = 0;
	case_give(w, 0, &meta, &p);
	p.bth.opcode = MW_ATOMIC_RESPONSE;
	p.data.meth.msn = 1;
	case_give(w, 0, &meta, &p);
	CASE_EQ(w, case_stats(w, 0).drop_malformed, 6);
	CASE_EQ(w, case_stats(w, 0).rx_data_bytes, 0);
	case_close(w);
}

/* REQ(ext.strict) */
TEST(sim_read, a_plain_qp_does_not_know_its_packets)
{
	static const uint8_t opcodes[] = {
		MW_READ_REQUEST, MW_READ_RESPONSE_ONLY, MW_ATOMIC_RESPONSE, MW_FETCH_ADD,
		MW_RESPONSE_ACK, MW_RESPONSE_SACK,	MW_RESPONSE_NACK,   MW_RESPONSE_PROBE};
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	struct mt_rx_meta meta = case_meta(w, 0);

	for (size_t i = 0; i < sizeof(opcodes); i++) {
		struct mw_packet p = {.bth = {.opcode = opcodes[i],
					      .p_key = 0xFFFF,
					      .dqp = qp->peer->qpn,
					      .psn = qp->cfg.attr.sq_psn}};

		if (opcodes[i] == MW_RESPONSE_PROBE)
			p.peth.ts.ftype = MW_FTYPE_TIMESTAMP;
		case_give(w, 1, &meta, &p);
	}
	CASE_EQ(w, case_stats(w, 1).drop_decode, sizeof(opcodes));
	case_close(w);
}

/* REQ(ext.free) */
TEST(sim_read, a_qp_that_may_not_ask_pays_nothing)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp_cfg cfg;
	size_t without;

	sim_qp_cfg_asking(&cfg);
	cfg.attr.max_rd_atomic = cfg.attr.max_dest_rd_atomic = 0;
	sim_connect(w, 0, 1, &cfg, &cfg);
	without = mt_engine_memory_used(w->nodes[0].engine);
	connect_asking(w);
	CASE_TRUE(w, mt_engine_memory_used(w->nodes[0].engine) >=
			     without + sizeof(struct mt_rd_atomic));
	case_close(w);
}
