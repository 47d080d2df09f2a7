/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_send.c - SEND over the extension: agreement, receives in any order, receivers that are not
 * ready, lengths, peers that know only MRC.
 */
#include "case.h"
#include "core/window/window.h"

/* REQ(ext.agreement) */
TEST(sim_send, a_probe_comes_first)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_extended(w);
	uint64_t begin = w->net.now_ns;

	case_recvs(qp->peer, 1);
	sim_send(qp, 100, 0);
	sim_run_done(w, SIM_MS);
	/* There and back for the probe, there and back for the message. */
	CASE_EQ(w, w->net.now_ns - begin, 20 * SIM_US);
	CASE_EQ(w, case_nth(w, 0, MW_PROBE, 0)->pkt.peth.ext, MW_EXT_VERSION | MW_EXT_SEND);
	CASE_EQ(w, case_nth(w, 1, MW_SACK, 0)->pkt.seth.ext, MW_EXT_VERSION | MW_EXT_SEND);
	CASE_EQ(w, case_count(w, 0, MW_SEND_ONLY), 1);
	CASE_EQ(w, case_nth(w, 0, 0, 0)->pkt.data.reth.rkey, 0);
	case_done(w);
}

static bool lose_first_probes(void *ctx, struct net_packet *p)
{
	unsigned *left = ctx;

	return p->pkt.bth.opcode != MW_PROBE || *left == 0 || --*left == 0;
}

/* REQ(ext.agreement) */
TEST(sim_send, a_lost_probe_is_sent_again)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_extended(w);
	unsigned left = 4;

	w->net.filter = lose_first_probes;
	w->net.filter_ctx = &left;
	case_recvs(qp->peer, 1);
	sim_send(qp, 100, 0);
	case_done(w);
}

/* Both ends begin at the same time, in all sizes, with and without immediates. */
TEST(sim_send, all_sizes_both_ways)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_extended(w);
	static const uint32_t sizes[] = {0, 1, 4095, 4096, 4097, 8192, 65535, 65536};

	case_recvs(qp, 32);
	case_recvs(qp->peer, 32);
	for (unsigned i = 0; i < 8; i++) {
		sim_send(qp, sizes[i], 0);
		sim_send(qp->peer, sizes[i], RD_SEND_IMM | RD_SEND_SOLICITED);
		sim_send(qp, sizes[7 - i], RD_SEND_IMM);
		sim_post(qp->peer, sizes[i], RD_SEND_IMM);
	}
	case_done(w);
}

/* REQ(ext.recv.match) REQ(ext.recv.order) */
TEST(sim_send, messages_that_overtake_complete_in_order)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_extended(w);

	w->net.filter = case_hold_first_message;
	case_recvs(qp->peer, 5);
	case_send(qp, 5, 10000, 0);
	sim_run_for(w, 40 * SIM_US);
	CASE_EQ(w, qp->out.takes_received, 0);
	CASE_EQ(w, qp->out.completed, 0);
	sim_run_for(w, 60 * SIM_US);
	CASE_EQ(w, qp->out.takes_received, 5);
	case_done(w);
}

/* REQ(ext.rnr.nack) REQ(ext.rnr.wait) */
TEST(sim_send, a_receiver_that_is_not_ready_is_waited_for)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_extended(w);

	case_send(qp, 4, 9000, 0);
	sim_run_for(w, 200 * SIM_US);
	CASE_EQ(w, qp->out.takes_received, 0);
	CASE_BETWEEN(w, case_stats(w, 0).rnr_waits, 12, 12 * 21);
	CASE_EQ(w, case_stats(w, 0).evs_retired, 0);
	CASE_EQ(w, case_stats(w, 0).timeouts, 0);
	case_recvs(qp->peer, 4);
	sim_node_run(qp->peer->node);
	case_done(w);
}

/* REQ(ext.rnr.nack) */
TEST(sim_send, an_immediate_without_a_receive_waits_too)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_extended(w);

	sim_post(qp, 9000, RD_SEND_IMM);
	sim_post(qp, 100, 0);
	sim_run_for(w, 100 * SIM_US);
	CASE_EQ(w, qp->out.completed, 0);
	case_recvs(qp->peer, 1);
	case_done(w);
}

/* With a limit of n the n + 1st refusal is the end. REQ(ext.rnr.retry) */
TEST(sim_send, patience_with_a_receiver_ends)
{
	for (uint32_t retries = 0; retries < 3; retries++) {
		struct sim_world *w = case_open(NULL);
		struct sim_wr wr = {
			.len = 10, .want = RD_WC_RNR_RETRY_EXC_ERR, .opcode = RD_WR_SEND};
		struct sim_qp_cfg cfg;
		struct sim_qp *qp;
		int result;

		sim_qp_cfg_extended(&cfg);
		cfg.attr.rnr_retry = retries & 7;
		qp = sim_connect(w, 0, 1, &cfg, &cfg);
		qp->may_fail = true;
		assert_non_null(sim_post_wr(qp, &wr, &result));
		sim_node_run(qp->node);
		sim_run_for(w, SIM_MS);
		CASE_EQ(w, case_count(w, 0, MW_SEND_ONLY), retries + 1);
		CASE_EQ(w, qp->out.completed, 1);
		CASE_EQ(w, qp->qp_status, RD_WC_RNR_RETRY_EXC_ERR);
		case_close(w);
	}
}

/* More immediates are in flight than MRC's limit. */
TEST(sim_send, immediates_have_no_limit)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp_cfg cfg;
	struct sim_qp *qp;

	sim_qp_cfg_extended(&cfg);
	cfg.attr.max_wimm = cfg.attr.max_wimm_dest = 2;
	qp = sim_connect(w, 0, 1, &cfg, &cfg);
	case_recvs(qp->peer, 40);
	case_post(qp, 20, 10, RD_SEND_IMM);
	case_send(qp, 20, 10, RD_SEND_IMM);
	sim_run_for(w, 12 * SIM_US);
	CASE_EQ(w, case_count(w, 0, 0), 40);
	case_done(w);
}

/* REQ(ext.recv.length) */
TEST(sim_send, what_is_longer_than_its_receive_ends_both)
{
	struct sim_world *w = case_open(NULL);
	struct sim_wr wr = {.len = 65537, .want = RD_WC_REM_INV_REQ_ERR, .opcode = RD_WR_SEND};
	struct sim_qp *qp = sim_connect_extended(w);
	int result;

	qp->may_fail = qp->peer->may_fail = true;
	case_recvs(qp->peer, 2);
	sim_send(qp, 65536, 0);
	assert_non_null(sim_post_wr(qp, &wr, &result));
	qp->out.wrong_recv = RD_WC_LOC_LEN_ERR;
	sim_node_run(qp->node);
	sim_run_for(w, 10 * SIM_MS);
	CASE_EQ(w, qp->out.completed, 2);
	CASE_EQ(w, qp->out.takes_received, 1);
	CASE_EQ(w, qp->out.recvs_done, 2);
	CASE_EQ(w, qp->peer->qp_status, RD_WC_REM_INV_REQ_ERR);
	case_close(w);
}

/* WRITEs go, and what the peer does not know fails in its turn. REQ(ext.strict-peer) */
TEST(sim_send, a_peer_of_plain_mrc)
{
	struct sim_world *w = case_open(NULL);
	struct sim_wr wr = {.len = 100, .want = RD_WC_REM_OP_ERR, .opcode = RD_WR_SEND};
	struct sim_qp_cfg ours, theirs;
	struct sim_qp *qp;
	int result;

	sim_qp_cfg_extended(&ours);
	sim_qp_cfg_default(&theirs);
	qp = sim_connect(w, 0, 1, &ours, &theirs);
	qp->may_fail = true;
	case_recvs(qp->peer, 1);
	case_recvs(qp, 1);
	case_post(qp, 3, 10000, 0);
	case_post(qp, 1, 100, RD_SEND_IMM);
	case_post(qp->peer, 1, 100, RD_SEND_IMM);
	assert_non_null(sim_post_wr(qp, &wr, &result));
	sim_node_run(qp->node);
	sim_run_for(w, SIM_MS);
	CASE_EQ(w, qp->out.completed, 5);
	CASE_EQ(w, qp->qp_status, RD_WC_REM_OP_ERR);
	CASE_EQ(w, case_count(w, 0, MW_SEND_ONLY), 0);
	CASE_EQ(w, case_nth(w, 1, MW_SACK, 0)->pkt.seth.ext, 0);
	case_close(w);
}

/* REQ(svc.write-only) */
TEST(sim_send, a_plain_qp_refuses_it)
{
	struct sim_world *w = case_open(NULL);
	struct sim_wr wr = {.len = 100, .opcode = RD_WR_SEND};
	struct sim_qp *qp = sim_connect_default(w);
	int result;

	assert_null(sim_post_wr(qp, &wr, &result));
	assert_i_eq(result, MT_ERR_INVALID);
	case_close(w);
}

/* REQ(ext.strict) */
TEST(sim_send, a_plain_qp_does_not_know_its_packets)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	struct mt_rx_meta meta = case_meta(w, 0);
	struct mw_packet p = case_data(qp, 0, 100);
	struct mt_stats before = case_stats(w, 1), after;

	p.bth.opcode = MW_SEND_ONLY;
	case_give(w, 1, &meta, &p);
	after = case_stats(w, 1);
	CASE_EQ(w, after.drop_decode, before.drop_decode + 1);
	CASE_EQ(w, case_changed(&before, &after), 1);
	case_close(w);
}

/* The MPR that the answer offers counts, not what was set. REQ(ext.agreement) */
TEST(sim_send, the_answer_tells_the_window)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp_cfg ours, theirs;
	struct sim_qp *qp;

	sim_qp_cfg_extended(&ours);
	sim_qp_cfg_extended(&theirs);
	theirs.attr.mpr_dest = 2;
	qp = sim_connect(w, 0, 1, &ours, &theirs);
	sim_post(qp, 4096 * 500, 0);
	sim_run_for(w, 12 * SIM_US);
	CASE_EQ(w, case_count(w, 0, 0), 256);
	sim_run_done(w, SIM_MS);
	CASE_EQ(w, case_stats(w, 1).drop_far_psn, 0);
	case_done(w);
}

/* A QP that begins again asks again. */
TEST(sim_send, after_a_reset)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_extended(w);

	case_recvs(qp->peer, 2);
	case_send(qp, 2, 5000, 0);
	sim_run_done(w, SIM_MS);
	sim_run_for(w, SIM_MS);
	sim_reconnect(qp, 77, 88);
	case_recvs(qp->peer, 2);
	case_send(qp, 2, 5000, 0);
	sim_run_done(w, SIM_MS);
	CASE_EQ(w, case_stats(w, 0).tx_probes, 2);
	case_close(w);
}

static uint64_t placed_bytes(const struct sim_qp *qp)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < qp->out.n; i++)
		bytes += qp->out.msgs[i]->placed;
	return bytes;
}

/* Of three messages the first is late: of the others all but the ends is placed.
 * REQ(ext.order.wait) */
TEST(sim_send, ends_of_writes_wait_for_all_before_them)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_extended(w);

	w->net.filter = case_hold_first_message;
	case_post(qp, 1, 100, 0);
	case_post(qp, 1, 10000, 0);
	case_post(qp, 1, 8, 0);
	sim_run_for(w, 40 * SIM_US);
	CASE_EQ(w, placed_bytes(qp), 8192);
	case_done(w);
}

/* More ends than may wait are refused, and come again. REQ(ext.order.bound) */
TEST(sim_send, not_too_many_ends_wait)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp_cfg cfg;
	struct sim_qp *qp;

	sim_qp_cfg_extended(&cfg);
	cfg.cap.sq_depth = 1024;
	qp = sim_connect(w, 0, 1, &cfg, &cfg);
	w->net.filter = case_hold_first_message;
	case_post(qp, 1 + MT_IN_ORDER_MAX + 50, 4, 0);
	sim_run_for(w, 19 * SIM_US);
	CASE_EQ(w, placed_bytes(qp), 0);
	CASE_EQ(w, case_nth(w, 1, MW_NACK, 0)->pkt.neth.reason, MW_NACK_NO_PKT_BUFFER);
	CASE_EQ(w, case_count(w, 1, MW_NACK), 50);
	case_done(w);
}

/* Nor in all QPs together, and one leaves as many places as it takes. REQ(ext.order.bound) */
TEST(sim_send, ends_that_wait_leave_places_to_other_qps)
{
	struct sim_world_cfg cfg = case_cfg(2, 4);
	struct sim_qp *qp, *other;
	struct sim_world *w;

	cfg.engine.max_buffered = 64;
	w = case_open(&cfg);
	qp = sim_connect_extended(w);
	other = sim_connect_extended(w);
	w->net.filter = case_hold_first_message;
	case_post(qp, 1 + 60, 4, 0);
	case_post(other, 1 + 20, 4, 0);
	sim_run_for(w, 19 * SIM_US);
	CASE_EQ(w, case_count(w, 1, MW_NACK), 60 - 64 / 2 + 20 - 64 / 4);
	CASE_EQ(w, case_stats(w, 1).drop_no_buffer, 60 - 64 / 2 + 20 - 64 / 4);
	case_done(w);
}

/* The memory of what waits goes with the QP. */
TEST(sim_send, a_reset_while_ends_wait)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_extended(w);
	struct rd_qp_attr attr = {.state = RD_QPS_RESET};
	size_t idle = mt_engine_memory_used(w->nodes[1].engine);

	w->net.filter = case_hold_first_message;
	case_post(qp, 4, 4096, 0);
	sim_run_for(w, 19 * SIM_US);
	assert_true(mt_engine_memory_used(w->nodes[1].engine) > idle + 3 * 4096);
	assert_i_eq(sim_modify(qp->peer, &attr, RD_QP_STATE), MT_OK);
	assert_true(mt_engine_memory_used(w->nodes[1].engine) <= idle);
	case_close(w);
}

static bool lose_the_first_packet(void *ctx, struct net_packet *p)
{
	bool *lost = ctx;

	if (!p->data || p->pkt.data.meth.msn != 0 || *lost)
		return true;
	*lost = true;
	return false;
}

/* Refusals of what is behind it are no answer to the oldest packet, which is lost. */
TEST(sim_send, a_lost_packet_before_a_receiver_that_is_not_ready)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_extended(w);
	bool lost = false;

	w->net.filter = lose_the_first_packet;
	w->net.filter_ctx = &lost;
	sim_post(qp, 100, 0);
	case_send(qp, 3, 100, 0);
	sim_run_for(w, 2 * SIM_MS);
	CASE_EQ(w, qp->out.completed, 1);
	case_recvs(qp->peer, 3);
	case_done(w);
}

/* However long it takes, waiting for a receiver is no silence. */
TEST(sim_send, waiting_uses_up_no_retries)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp_cfg cfg;
	struct sim_qp *qp;

	sim_qp_cfg_extended(&cfg);
	cfg.attr.retry_linear = 1;
	cfg.attr.retry_exp = 0;
	qp = sim_connect(w, 0, 1, &cfg, &cfg);
	case_send(qp, 3, 10000, 0);
	sim_run_for(w, 100 * SIM_MS);
	CASE_EQ(w, case_stats(w, 0).timeouts, 0);
	case_recvs(qp->peer, 3);
	case_done(w);
}
