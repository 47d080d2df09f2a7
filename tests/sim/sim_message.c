/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_message.c - messages over a network without faults: which packets they become, wraps, the
 * three gates, the spread over EVs.
 */
#include "case.h"

TEST(sim_message, lone_write_is_one_packet_and_its_answers)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	uint64_t begin = w->net.now_ns;

	sim_post(qp, 100, 0);
	sim_run_done(w, SIM_MS);
	/* There and back again: 5 us each way, and nobody waits for a timer. */
	CASE_EQ(w, w->net.now_ns - begin, 10 * SIM_US);
	CASE_EQ(w, case_count(w, 0, MW_WRITE_ONLY), 1);
	CASE_TRUE(w, case_nth(w, 0, 0, 0)->pkt.bth.a);
	CASE_EQ(w, case_count(w, 1, MW_SACK), 1);
	CASE_EQ(w, case_count(w, 1, MW_ACK), 1);
	CASE_EQ(w, case_nth(w, 1, MW_ACK, 0)->pkt.aeth.msn, 1);
	CASE_EQ(w, w->net.logged, 3);
	case_done(w);
}

TEST(sim_message, empty_write_is_one_packet_that_needs_no_key)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	struct sim_wr wr = {.rkey = 0xDEADBEEF};
	int result;

	assert_non_null(sim_post_wr(qp, &wr, &result));
	sim_node_run(qp->node);
	sim_run_done(w, SIM_MS);
	CASE_EQ(w, case_count(w, 0, MW_WRITE_ONLY), 1);
	CASE_EQ(w, case_nth(w, 0, 0, 0)->pkt.payload_len, 0);
	case_done(w);
}

TEST(sim_message, one_mtu_is_one_packet)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);

	sim_post(qp, 4096, 0);
	sim_run_done(w, SIM_MS);
	CASE_EQ(w, case_count(w, 0, 0), 1);
	CASE_EQ(w, case_nth(w, 0, MW_WRITE_ONLY, 0)->pkt.payload_len, 4096);
	case_done(w);
}

/* REQ(req.segment) REQ(wire.bth.pad) */
TEST(sim_message, one_byte_more_is_a_packet_more)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);

	sim_post(qp, 4097, 0);
	sim_run_done(w, SIM_MS);
	CASE_EQ(w, case_count(w, 0, 0), 2);
	CASE_EQ(w, case_nth(w, 0, MW_WRITE_FIRST, 0)->pkt.payload_len, 4096);
	CASE_EQ(w, case_nth(w, 0, MW_WRITE_LAST, 0)->pkt.payload_len, 1);
	CASE_EQ(w, case_nth(w, 0, MW_WRITE_LAST, 0)->pkt.bth.pad, 3);
	case_done(w);
}

TEST(sim_message, psn_wraps_at_24_bits)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp_cfg cfg;
	struct sim_qp *qp;

	sim_qp_cfg_default(&cfg);
	cfg.attr.sq_psn = 0xFFFFFD;
	qp = sim_connect(w, 0, 1, &cfg, &cfg);
	case_post(qp, 3, 4096 * 3, 0);
	case_post(qp->peer, 3, 4096 * 3, 0);
	sim_run_done(w, SIM_MS);
	CASE_EQ(w, case_nth(w, 0, 0, 2)->pkt.bth.psn, 0xFFFFFF);
	CASE_EQ(w, case_nth(w, 0, 0, 3)->pkt.bth.psn, 0);
	CASE_EQ(w, case_nth(w, 0, 0, 8)->pkt.bth.psn, 5);
	case_done(w);
}

/* MSN and RQMSN have 16 bits each and wrap together when every message has an immediate. */
TEST(sim_message, message_numbers_wrap_at_16_bits)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	uint32_t posted = 0;

	case_recvs(qp->peer, 256);
	while (posted < 65536 + 200 && !w->check.failed) {
		for (int i = 0; i < 200 && posted < 65536 + 200; i++, posted++)
			sim_post(qp, posted % 3, RD_SEND_IMM);
		sim_run_done(w, SIM_MS);
		while (qp->out.recvs_posted - qp->out.recvs_done < 256)
			case_recvs(qp->peer, 1);
	}
	CASE_EQ(w, qp->out.takes_received, 65536 + 200);
	case_done(w);
}

/* REQ(req.gate.wimm) */
TEST(sim_message, immediates_in_flight_are_limited)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp_cfg cfg;
	struct sim_qp *qp;

	sim_qp_cfg_default(&cfg);
	cfg.attr.max_wimm = 3;
	qp = sim_connect(w, 0, 1, &cfg, &cfg);
	case_recvs(qp->peer, 20);
	case_post(qp, 20, 10, RD_SEND_IMM);
	CASE_EQ(w, case_count(w, 0, MW_WRITE_ONLY_IMM), 3);
	/* The checker sees to it that there are never more than three. */
	sim_run_done(w, SIM_MS);
	CASE_EQ(w, case_count(w, 0, MW_WRITE_ONLY_IMM), 20);
	case_done(w);
}

/* What follows the immediate that has to wait waits too: PSNs are given in the order of posting. */
TEST(sim_message, a_write_does_not_overtake_an_immediate_that_waits)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp_cfg cfg;
	struct sim_qp *qp;

	sim_qp_cfg_default(&cfg);
	cfg.attr.max_wimm = 1;
	qp = sim_connect(w, 0, 1, &cfg, &cfg);
	case_recvs(qp->peer, 2);
	case_post(qp, 2, 10, RD_SEND_IMM);
	case_post(qp, 1, 10, 0);
	CASE_EQ(w, case_count(w, 0, 0), 1);
	case_done(w);
}

/* REQ(req.gate.mpr) */
TEST(sim_message, psns_in_flight_are_limited_by_mpr)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp_cfg cfg;
	struct sim_qp *qp;

	sim_qp_cfg_default(&cfg);
	cfg.attr.mpr = 1;
	cfg.attr.path_mtu = 256;
	qp = sim_connect(w, 0, 1, &cfg, &cfg);
	sim_post(qp, 256 * 1000, 0);
	CASE_EQ(w, case_count(w, 0, 0), 128);
	/* No SACK, no further PSN; the checker watches the window all the time. */
	for (uint32_t plane = 0; plane < 2; plane++)
		case_kill(w, 1, 0, plane, NET_NO_NODE, true);
	sim_run_for(w, 200 * SIM_US);
	CASE_EQ(w, case_count(w, 0, 0), 128);
	for (uint32_t plane = 0; plane < 2; plane++)
		case_kill(w, 1, 0, plane, NET_NO_NODE, false);
	case_done(w);
}

static void count_per_plane(struct sim_world *w, uint64_t *counts)
{
	const struct net_seen *s;

	for (CASE_EACH(w, s))
		if (s->src == 0 && case_is_data(s))
			counts[s->port]++;
}

/* REQ(req.spray.equal-planes) REQ(svc.all-planes) */
TEST(sim_message, planes_carry_equal_shares)
{
	struct sim_world_cfg cfg = case_cfg(4, 8);
	struct sim_world *w = case_open(&cfg);
	struct sim_qp *qp = sim_connect_default(w);
	uint64_t counts[4] = {0};

	for (int i = 0; i < 30; i++) {
		sim_post(qp, 4096 * 33 + 1, 0);
		sim_run_for(w, 20 * SIM_US);
	}
	sim_run_done(w, SIM_MS);
	count_per_plane(w, counts);
	for (int plane = 0; plane < 4; plane++)
		CASE_EQ(w, counts[plane], 30 * 34 / 4);
	case_done(w);
}

/* REQ(req.spray.rotation) REQ(req.spray.order) */
TEST(sim_message, every_ev_has_its_turn_once_a_lap)
{
	struct sim_world_cfg cfg = case_cfg(2, 16);
	struct sim_world *w = case_open(&cfg);
	struct sim_qp *qp = sim_connect_default(w);
	uint32_t first_lap[32], same = 0;

	sim_post(qp, 4096 * 32 * 10, 0);
	sim_run_done(w, SIM_MS);
	for (uint64_t pass_no = 0; pass_no < 10; pass_no++) {
		uint64_t seen = 0;

		for (uint64_t i = 0; i < 32; i++) {
			const struct net_seen *s = case_nth(w, 0, 0, pass_no * 32 + i);
			uint32_t ev = (s->ev - w->cfg.net.ev_base) * 2 + s->port;

			seen |= UINT64_C(1) << ev;
			if (pass_no == 0)
				first_lap[i] = ev;
			same += pass_no > 0 && first_lap[i] == ev;
		}
		CASE_EQ(w, seen, 0xFFFFFFFF);
	}
	/* Each round has an order of its own: 288 places, about 1 of 16 the same by chance. */
	CASE_BETWEEN(w, same, 0, 100);
	case_done(w);
}

TEST(sim_message, ports_without_room_get_nothing)
{
	struct sim_world_cfg cfg = case_cfg(4, 2);
	struct sim_world *w = case_open(&cfg);
	struct sim_qp *qp = sim_connect_default(w);
	uint64_t counts[4] = {0};

	/* One slow port; the node checks every packet against the ports it named. */
	for (uint32_t port = 0; port < 4; port++)
		w->net.egress[0][port].bps = UINT64_C(100000000000);
	w->net.egress[0][2].bps = 1000000000;
	w->nodes[0].tx_batch = 1;
	case_post(qp, 20, 65536, 0);
	sim_run_done(w, 100 * SIM_MS);
	count_per_plane(w, counts);
	CASE_BETWEEN(w, counts[2], 1, 60);
	CASE_BETWEEN(w, counts[0], 80, 160);
	case_done(w);
}

TEST(sim_message, a_full_send_queue_takes_more_when_polled)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp_cfg cfg;
	struct sim_wr wr = {.len = 8};
	struct sim_qp *qp;
	int result;

	sim_qp_cfg_default(&cfg);
	cfg.cap.sq_depth = 5;
	qp = sim_connect(w, 0, 1, &cfg, &cfg);
	for (int i = 0; i < 5; i++)
		assert_non_null(sim_post_wr(qp, &wr, &result));
	assert_null(sim_post_wr(qp, &wr, &result));
	assert_i_eq(result, MT_ERR_FULL);
	sim_node_run(qp->node);
	sim_run_done(w, SIM_MS);
	assert_non_null(sim_post_wr(qp, &wr, &result));
	sim_node_run(qp->node);
	case_done(w);
}

TEST(sim_message, pieces_from_several_places_arrive_as_one)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	int result;

	for (uint32_t n = 1; n <= SIM_SGE_MAX; n++) {
		struct sim_wr wr = {.len = 10000 + n, .n_sge = n};

		assert_non_null(sim_post_wr(qp, &wr, &result));
	}
	sim_node_run(qp->node);
	case_done(w);
}

TEST(sim_message, several_megabytes)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);

	sim_post(qp, (5 << 20) + 1, 0);
	sim_post(qp->peer, (5 << 20) - 1, 0);
	sim_run_done(w, 100 * SIM_MS);
	CASE_EQ(w, case_resent(w, 0) + case_resent(w, 1), 0);
	case_done(w);
}

/* REQ(rsp.wimm.stash) REQ(rsp.complete.in-order) */
TEST(sim_message, immediates_that_come_early_wait_for_what_was_sent_before)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);

	w->net.filter = case_hold_first_message;
	case_recvs(qp->peer, 3);
	sim_post(qp, 10, 0);
	case_post(qp, 3, 10, RD_SEND_IMM);
	sim_run_for(w, 40 * SIM_US);
	CASE_EQ(w, qp->out.takes_received, 0);
	CASE_EQ(w, qp->out.completed, 0);
	sim_run_for(w, 30 * SIM_US);
	CASE_EQ(w, qp->out.takes_received, 3);
	case_done(w);
}

TEST(sim_message, unsignalled_writes_are_silent)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp_cfg cfg;
	struct sim_qp *qp;

	sim_qp_cfg_default(&cfg);
	cfg.cap.signal_all = false;
	qp = sim_connect(w, 0, 1, &cfg, &cfg);
	case_post(qp, 10, 100, 0);
	sim_run_done(w, SIM_MS);
	CASE_EQ(w, qp->out.completed, 0);
	sim_post(qp, 100, RD_SEND_SIGNALED);
	sim_run_done(w, SIM_MS);
	CASE_EQ(w, qp->out.completed, 11);
	case_done(w);
}

/* SQD: what has begun is finished, nothing new begins until RTS. */
TEST(sim_message, a_drained_send_queue_waits_for_rts)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	struct rd_qp_attr attr = {.state = RD_QPS_SQD};

	sim_post(qp, 4096 * 2000, 0);
	assert_i_eq(sim_modify(qp, &attr, RD_QP_STATE), MT_OK);
	case_post(qp, 2, 100, 0);
	sim_run_for(w, SIM_MS);
	CASE_EQ(w, qp->out.completed, 1);
	CASE_EQ(w, case_count(w, 0, 0), 2000);
	attr.state = RD_QPS_RTS;
	assert_i_eq(sim_modify(qp, &attr, RD_QP_STATE), MT_OK);
	sim_node_run(qp->node);
	case_done(w);
}

/* Two QPs of different partitions, MTUs and windows between the same nodes do not disturb. */
TEST(sim_message, many_qps_share_the_paths)
{
	struct sim_world *w = case_open(NULL);

	for (uint32_t i = 0; i < 16; i++) {
		struct sim_qp_cfg cfg;
		struct sim_qp *qp;

		sim_qp_cfg_default(&cfg);
		cfg.attr.path_mtu = 256u << i % 5;
		cfg.attr.mpr = (uint8_t)(1 + i % 8);
		cfg.attr.p_key = (uint16_t)(0x8000 + i);
		cfg.cap.pd = i % 3;
		qp = sim_connect(w, 0, 1, &cfg, &cfg);
		case_recvs(qp->peer, 10);
		for (uint32_t k = 0; k < 10; k++) {
			sim_post(qp, k * 1000, k & 1 ? RD_SEND_IMM : 0);
			sim_post(qp->peer, k * 777, RD_SEND_SOLICITED);
		}
	}
	case_done(w);
}
