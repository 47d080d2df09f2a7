/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_hostile.c - packets that nobody honest sends. Each is counted by its reason and changes
 * nothing else; whatever is in them, no other memory is touched and no other QP disturbed.
 */
#include "case.h"

/* Gives node 1 a packet and asserts that one counter, and nothing else, went up by one. */
#define COUNTED_AS(w, counter, meta, pkt)                           \
	do {                                                        \
		struct mt_stats before_ = case_stats(w, 1), after_; \
		uint64_t sent_ = (w)->net.logged;                   \
                                                                    \
		case_give(w, 1, meta, pkt);                         \
		after_ = case_stats(w, 1);                          \
		CASE_EQ(w, after_.counter, before_.counter + 1);    \
		CASE_EQ(w, case_changed(&before_, &after_), 1);     \
		CASE_EQ(w, (w)->net.logged, sent_);                 \
	} while (0)

/* REQ(rsp.qp.demux) */
TEST(sim_hostile, a_packet_for_no_qp)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	struct mt_rx_meta meta = case_meta(w, 0);
	struct mw_packet p = case_data(qp, 0, 100);

	/* The same slot of the table, another number; an empty slot; the reserved numbers. */
	p.bth.dqp = qp->peer->qpn ^ w->cfg.engine.max_qps;
	COUNTED_AS(w, drop_no_qp, &meta, &p);
	p.bth.dqp = qp->peer->qpn ^ 1;
	COUNTED_AS(w, drop_no_qp, &meta, &p);
	for (p.bth.dqp = 0; p.bth.dqp < 3; p.bth.dqp++)
		if ((qp->peer->qpn & (w->cfg.engine.max_qps - 1)) != p.bth.dqp)
			COUNTED_AS(w, drop_no_qp, &meta, &p);
	case_close(w);
}

/* REQ(rsp.peer-check) */
TEST(sim_hostile, a_packet_from_a_attacker)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	struct mt_rx_meta meta = case_meta(w, 0);
	struct mw_packet p = case_data(qp, 0, 100);

	meta.src.b[15] ^= 0x40;
	COUNTED_AS(w, drop_src_mismatch, &meta, &p);
	meta.src = w->nodes[1].addr;
	COUNTED_AS(w, drop_src_mismatch, &meta, &p);
	case_close(w);
}

/* REQ(wire.bth.pkey) */
TEST(sim_hostile, a_packet_of_another_partition)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	struct mt_rx_meta meta = case_meta(w, 0);
	struct mw_packet p = case_data(qp, 0, 100);

	p.bth.p_key = 0x1234;
	COUNTED_AS(w, drop_p_key, &meta, &p);
	case_close(w);
}

/* REQ(wire.icrc.bad) */
TEST(sim_hostile, a_packet_with_a_wrong_icrc)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	struct mt_rx_meta meta = case_meta(w, 0);
	struct mw_packet p = case_data(qp, 0, 100);

	meta.icrc_ok = false;
	COUNTED_AS(w, drop_icrc, &meta, &p);
	case_close(w);
}

/* REQ(rsp.window.ancient): what was never sent in this life of the QP. */
TEST(sim_hostile, a_psn_from_before_the_connection)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	struct mt_rx_meta meta = case_meta(w, 0);
	static const uint32_t behind[] = {1, 0x1000, 0x7FFFFF, 0x800000};

	for (size_t i = 0; i < 4; i++) {
		struct mw_packet p = case_data(qp, 0x1000000 - behind[i], 100);

		COUNTED_AS(w, drop_old_psn, &meta, &p);
	}
	case_post(qp, 2, 1000, 0);
	sim_run_done(w, SIM_MS);
	case_close(w);
}

/* REQ(rsp.window.duplicate-below) */
TEST(sim_hostile, a_psn_that_came_long_ago)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	struct mt_rx_meta meta = case_meta(w, 0);
	struct mw_packet p;

	case_post(qp, 1, 4096 * 3000, 0);
	sim_run_done(w, 10 * SIM_MS);
	p = case_data(qp, 3, 4096);
	p.bth.opcode = MW_WRITE_MIDDLE;
	p.data.reth.dmalen = 4096 * 3000;
	p.data.meth.msn = 0;
	/* The checker would see a byte placed twice. */
	case_give(w, 1, &meta, &p);
	CASE_EQ(w, case_stats(w, 1).rx_duplicates, 1);
	CASE_EQ(w, case_stats(w, 1).rx_data_packets, 3000);
	case_close(w);
}

/* REQ(rsp.window.ahead) */
TEST(sim_hostile, a_psn_ahead_of_the_window_is_nacked)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	struct mt_rx_meta meta = case_meta(w, 0);
	struct mw_packet p = case_data(qp, 8 * 128, 100);
	struct mt_stats before = case_stats(w, 1), after;

	case_give(w, 1, &meta, &p);
	after = case_stats(w, 1);
	CASE_EQ(w, after.drop_far_psn, before.drop_far_psn + 1);
	CASE_EQ(w, after.tx_nacks, before.tx_nacks + 1);
	CASE_EQ(w, case_changed(&before, &after), 2);
	CASE_EQ(w, case_nth(w, 1, MW_NACK, 0)->pkt.neth.reason, MW_NACK_PSN_OOR_WINDOW);
	/* The requester never sent that PSN, and does not mind being told that it did. */
	sim_run_for(w, SIM_MS);
	CASE_EQ(w, case_stats(w, 0).drop_bogus_ack, 1);
	case_close(w);
}

/* REQ(rsp.place.payload-length) */
TEST(sim_hostile, lengths_that_contradict_each_other)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	struct mt_rx_meta meta = case_meta(w, 0);
	struct mw_packet p = case_data(qp, 0, 100);

	p.data.reth.dmalen = 101;
	COUNTED_AS(w, drop_malformed, &meta, &p);
	p.data.reth.dmalen = 0;
	COUNTED_AS(w, drop_malformed, &meta, &p);
	p = case_data(qp, 0, 4097);
	COUNTED_AS(w, drop_malformed, &meta, &p);
	p = case_data(qp, 0, 100);
	p.bth.opcode = MW_WRITE_FIRST;
	p.data.reth.dmalen = 5000;
	COUNTED_AS(w, drop_malformed, &meta, &p);
	p = case_data(qp, 0, 4096);
	p.bth.opcode = MW_WRITE_MIDDLE;
	p.data.reth.dmalen = 4096;
	COUNTED_AS(w, drop_malformed, &meta, &p);
	p.bth.opcode = MW_WRITE_LAST;
	p.data.reth.dmalen = 4097;
	COUNTED_AS(w, drop_malformed, &meta, &p);
	case_close(w);
}

/* An honest message goes through all the same afterwards. */
TEST(sim_hostile, a_qp_survives_everything_that_is_dropped)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	struct mt_rx_meta meta = case_meta(w, 0);

	for (uint64_t i = 0; i < 200; i++) {
		struct mw_packet p = case_data(qp, 0x700000 + i * 0x1000, 100);

		meta.icrc_ok = i & 1;
		p.bth.opcode = (uint8_t)(MW_WRITE_FIRST + i % 6);
		case_give(w, 1, &meta, &p);
	}
	case_post(qp, 5, 10000, 0);
	sim_run_done(w, SIM_MS);
	case_close(w);
}

TEST(sim_hostile, bytes_that_are_no_packet)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	struct mt_rx_meta meta = case_meta(w, 0);
	uint8_t bytes[300];
	struct mt_stats st;

	for (size_t i = 0; i < test_rounds(20000); i++) {
		size_t len = test_rand_below(sizeof(bytes) + 1);

		test_rand_bytes(bytes, len);
		if (len >= 12 && test_rand_chance(1, 2)) {
			static const uint8_t opcodes[] = {0xC6, 0xC7, 0xC8, 0xC9, 0xCA, 0xCB,
							  0xD1, 0xD8, 0xD9, 0xDC, 0xDD, 0xDE};

			bytes[0] = opcodes[test_rand_below(sizeof(opcodes))];
			bytes[1] &= 0x30;
		}
		meta.trim = (uint8_t)test_rand_below(3);
		meta.port = (uint8_t)test_rand_below(4);
		sim_node_give(&w->nodes[1], &meta, bytes, len);
	}
	st = case_stats(w, 1);
	CASE_BETWEEN(w, st.drop_decode, test_rounds(5000), test_rounds(20000));
	CASE_BETWEEN(w, st.drop_no_qp, 1, test_rounds(20000));
	CASE_EQ(w, st.rx_data_packets, 0);
	case_post(qp, 5, 10000, 0);
	sim_run_done(w, SIM_MS);
	case_close(w);
}

/* ---- what claims to come from the peer ---- */

static uint32_t near_psn(const struct sim_qp *qp)
{
	uint64_t base = qp->cfg.attr.sq_psn + qp->out.sent;

	switch (test_rand_below(4)) {
	case 0:
		return (uint32_t)test_rand() & 0xFFFFFF;
	case 1:
		return (uint32_t)(base + test_rand_below(100)) & 0xFFFFFF;
	default:
		return (uint32_t)(base - test_rand_below(2000)) & 0xFFFFFF;
	}
}

static struct mw_packet forged(const struct sim_qp *qp)
{
	struct mw_packet p = {.payload_len = 0};

	p.bth = (struct mw_bth){
		.p_key = 0xFFFF, .dqp = qp->qpn, .psn = near_psn(qp), .rtx = test_rand() & 1};
	switch (test_rand_below(4)) {
	case 0:
		p.bth.opcode = MW_NACK;
		p.neth = (struct mw_neth){.reason = (uint8_t)test_rand_below(0x19),
					  .entropy = 0xC000 + (uint32_t)test_rand_below(8),
					  .nack_psn = near_psn(qp),
					  .tx_timestamp = (uint16_t)test_rand()};
		return p;
	case 1:
		p.bth.opcode = MW_ACK;
		p.aeth = (struct mw_aeth){.syndrome = (uint8_t)(test_rand() & 0x1F),
					  .msn = (uint32_t)test_rand() & 0xFFFFFF};
		/* A message that was never posted; a peer that lies about others is believed. */
		if (p.aeth.msn <= qp->out.n)
			p.aeth.msn += 0x10000;
		return p;
	default:
		break;
	}
	p.bth.opcode = MW_SACK;
	p.seth = (struct mw_seth){.m = (uint8_t)test_rand_below(4),
				  .pr = test_rand() & 1,
				  .ack_psn_offset = (int16_t)test_rand(),
				  .probe_id = (uint16_t)test_rand(),
				  .entropy = 0xC000 + (uint32_t)test_rand_below(8),
				  .cack_psn = near_psn(qp),
				  .mpr = (uint8_t)test_rand(),
				  .sack_offset = (int16_t)test_rand(),
				  .sack_bitmap = test_rand(),
				  .tx_timestamp = (uint16_t)test_rand(),
				  .ooo_count = (uint16_t)(test_rand() & 0x7FFF),
				  .restore_cwnd = test_rand() & 1,
				  .rcv_cwnd_pen = (uint8_t)(test_rand() & 0x7F),
				  .rcvd_bytes = (uint32_t)test_rand() & 0xFFFFFF};
	/* The rest: what could be true, so that the deeper checks are reached. */
	if (test_rand_chance(1, 2)) {
		p.seth.cack_psn = (uint32_t)(qp->cfg.attr.sq_psn - 1) & 0xFFFFFF;
		p.bth.psn = p.seth.cack_psn;
		p.seth.sack_offset = (int16_t)test_rand_below(64);
		p.seth.sack_bitmap &= test_rand() & test_rand();
		p.seth.ack_psn_offset = (int16_t)test_rand_below(64);
	}
	return p;
}

/*
 * A peer may lie about what it received, and then loses its own data. It must not reach anything
 * else: another QP of the same nodes goes on, and the checker finds nothing wrong with it.
 */
TEST(sim_hostile, forged_answers_harm_nobody_else)
{
	struct sim_world_cfg cfg = case_cfg(2, 4);
	struct sim_world *w;
	struct sim_qp *qp, *other;
	struct mt_rx_meta meta;
	struct sim_qp_cfg def;

	cfg.net.n_nodes = 3;
	w = case_open(&cfg);
	sim_qp_cfg_default(&def);
	def.attr.cc_profile = 1;
	qp = sim_connect(w, 0, 1, &def, &def);
	other = sim_connect(w, 0, 2, &def, &def);
	meta = case_meta(w, 1);
	/* The honest answers are kept away: nothing of this flow is ever really known. */
	for (uint32_t plane = 0; plane < 2; plane++)
		case_kill(w, 1, 0, plane, NET_NO_NODE, true);
	case_post(qp, 10, 65536, 0);
	for (size_t i = 0; i < test_rounds(5000) && !w->check.failed; i++) {
		struct mw_packet p = forged(qp);

		if (i % 50 == 0)
			sim_post(other, 20000, 0);
		case_give(w, 0, &meta, &p);
		sim_run_for(w, 10 * SIM_US);
	}
	/* No ACK covered a message, so none completed. */
	CASE_EQ(w, qp->out.completed, 0);
	CASE_EQ(w, case_info(qp).state, RD_QPS_RTS);
	sim_run_for(w, 20 * SIM_MS);
	CASE_EQ(w, other->out.completed, other->out.n);
	case_close(w);
}

/* The three kinds of claims about what was never sent. */
TEST(sim_hostile, answers_for_what_was_never_sent)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	struct mt_rx_meta meta = case_meta(w, 0);
	struct mw_packet p = {.bth = {.p_key = 0xFFFF, .dqp = qp->peer->qpn, .psn = 5}};

	/* To node 1, whose QP has sent nothing. */
	p.bth.opcode = MW_SACK;
	p.seth = (struct mw_seth){.cack_psn = 5};
	COUNTED_AS(w, drop_bogus_ack, &meta, &p);
	p.bth.opcode = MW_NACK;
	p.neth = (struct mw_neth){.reason = MW_NACK_TRIMMED, .nack_psn = 5, .cc_type = 2};
	COUNTED_AS(w, drop_bogus_ack, &meta, &p);
	p.bth.opcode = MW_ACK;
	p.aeth = (struct mw_aeth){.syndrome = 0x1F, .msn = 1};
	COUNTED_AS(w, drop_bogus_ack, &meta, &p);
	p.aeth = (struct mw_aeth){.syndrome = 0x62, .msn = 0};
	COUNTED_AS(w, drop_bogus_ack, &meta, &p);
	case_close(w);
}

/* REQ(req.error.fatal-nack) */
TEST(sim_hostile, an_unexpected_event_on_no_ev_of_the_packet_ends_nothing)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	struct mt_rx_meta meta = case_meta(w, 1);
	struct mw_packet p = {
		.bth = {.opcode = MW_NACK, .p_key = 0xFFFF, .dqp = qp->qpn},
		.neth = {.reason = MW_NACK_UNEXP_EVENT, .cc_type = 2},
	};

	sim_post(qp, 100, 0);
	case_give(w, 0, &meta, &p);
	CASE_EQ(w, case_stats(w, 0).nacks_stale, 1);
	CASE_EQ(w, case_info(qp).state, RD_QPS_RTS);
	case_close(w);
}

TEST(sim_hostile, packets_for_a_qp_that_is_not_ready)
{
	struct sim_world *w = case_open(NULL);
	struct sim_qp *qp = sim_connect_default(w);
	struct mt_rx_meta meta = case_meta(w, 0);
	struct mw_packet p = case_data(qp, 0, 100);
	struct rd_qp_attr attr = {.state = RD_QPS_RESET};

	assert_i_eq(sim_modify(qp->peer, &attr, RD_QP_STATE), MT_OK);
	COUNTED_AS(w, drop_qp_state, &meta, &p);
	attr.state = RD_QPS_INIT;
	assert_i_eq(sim_modify(qp->peer, &attr, RD_QP_STATE), MT_OK);
	COUNTED_AS(w, drop_qp_state, &meta, &p);
	p.bth.opcode = MW_PROBE;
	p.payload_len = 0;
	p.bth.pad = 0;
	p.peth = (struct mw_peth){.ts = {.ftype = 1}};
	COUNTED_AS(w, drop_qp_state, &meta, &p);
	case_close(w);
}
