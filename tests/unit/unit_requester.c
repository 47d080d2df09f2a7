/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From WQEs to packets: how a message is cut, what each packet says, which gates stand before it,
 * and what is sent again. The peer is written by hand and says only what a case wants to hear.
 */
#include "base/bits.h"
#include "core/qp/halves.h"
#include "unit/node_fixture.h"

static struct mt_tx_desc sent[SENT_MAX];

#define CASE(function, name) TEST_WITH(defaults, close_node, function, name)

static void post(uint32_t len, uint32_t flags)
{
	assert_i_eq(node_post(&n, n.qp, 1, len, flags), MT_OK);
}

/* Sends whatever may be sent at `now`, into sent[]. */
static uint32_t send(uint64_t now)
{
	return node_tx(&n, now, sent, SENT_MAX);
}

static void with_nscc(uint64_t max_cwnd)
{
	opts.cc_profile = (struct mt_cc_profile_cfg){
		.kind = MT_CC_NSCC,
		.link_bps = 100000000000,
		.base_rtt_ns = 12000,
		.max_cwnd_bytes = max_cwnd,
	};
}

/* REQ(req.segment) */
CASE(mt_requester_next, opcodes_of_each_length)
{
	static const struct {
		uint32_t len, flags;
		uint8_t opcodes[4]; /* of its packets, then 0 */
	} rows[] = {
		{0, 0, {MW_WRITE_ONLY}},
		{1, 0, {MW_WRITE_ONLY}},
		{MTU, 0, {MW_WRITE_ONLY}},
		{MTU, RD_SEND_IMM, {MW_WRITE_ONLY_IMM}},
		{MTU + 1, 0, {MW_WRITE_FIRST, MW_WRITE_LAST}},
		{2 * MTU, RD_SEND_IMM, {MW_WRITE_FIRST, MW_WRITE_LAST_IMM}},
		{2 * MTU + 1, 0, {MW_WRITE_FIRST, MW_WRITE_MIDDLE, MW_WRITE_LAST}},
		{3 * MTU, RD_SEND_IMM, {MW_WRITE_FIRST, MW_WRITE_MIDDLE, MW_WRITE_LAST_IMM}},
	};

	start();
	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		uint32_t i = 0;

		post(rows[k].len, rows[k].flags);
		for (send(0); rows[k].opcodes[i]; i++)
			assert_u_eq(sent[i].pkt.bth.opcode, rows[k].opcodes[i]);
		assert_u_eq(node_stats(&n).tx_data_packets, n.qp->req.post_psn - node_psn(0));
	}
}

/* REQ(wire.reth.address) REQ(wire.reth.length) */
CASE(mt_requester_next, address_length_and_payload_of_each_packet)
{
	start();
	post(2 * MTU + 30, 0);
	assert_u_eq(send(0), 3);
	for (uint32_t i = 0; i < 3; i++) {
		const struct mw_packet *pkt = &sent[i].pkt;

		assert_u_eq(pkt->payload_len, i < 2 ? MTU : 30);
		assert_u_eq(pkt->bth.pad, i < 2 ? 0 : 2);
		assert_u_eq(sent[i].offset, i * MTU);
		assert_u_eq(pkt->data.reth.va, NODE_MR_START + i * MTU);
		assert_u_eq(pkt->data.reth.dmalen, 2 * MTU + 30);
		assert_u_eq(pkt->data.reth.rkey, NODE_KEY);
		assert_u_eq(pkt->bth.psn, node_wire_psn(i));
		assert_u_eq(sent[i].n_sge, 1);
		assert_u_eq(sent[i].sge[0].length, 2 * MTU + 30);
	}
}

/* REQ(wire.tseth.resolution) */
CASE(mt_requester_next, what_all_packets_say)
{
	start();
	post(1, RD_SEND_IMM);
	assert_u_eq(send(128 * 77), 1);
	assert_u_eq(sent[0].pkt.bth.p_key, 0xFFFF);
	assert_u_eq(sent[0].pkt.bth.dqp, n.peer_qpn);
	assert_false(sent[0].pkt.bth.rtx);
	assert_true(sent[0].pkt.bth.ts);
	assert_u_eq(sent[0].pkt.data.tseth.tx_timestamp, 77);
	assert_u_eq(sent[0].pkt.data.tseth.ftype, 1);
	assert_u_eq(sent[0].pkt.data.imm, 0xABC00001);
	assert_u_eq(sent[0].tclass, MW_DSCP_TRIMMABLE);
	assert_memory_equal(&sent[0].dst, &n.peer, sizeof(n.peer));
	assert_ptr_equal(sent[0].qp_user, &n);
	assert_u_eq(node_stats(&n).tx_data_packets, 1);
	assert_u_eq(node_stats(&n).tx_data_bytes, 1);
	assert_u_eq(node_stats(&n).tx_retransmits, 0);
}

CASE(mt_requester_next, message_numbers)
{
	static const uint32_t flags[] = {0, RD_SEND_IMM, 0, RD_SEND_IMM, 0};
	static const uint16_t rqmsn[] = {0, 0, 1, 1, 2};

	start();
	for (unsigned i = 0; i < 5; i++)
		post(MTU + 1, flags[i]);
	assert_u_eq(send(0), 10);
	for (unsigned i = 0; i < 10; i++) {
		assert_u_eq(sent[i].pkt.data.meth.msn, i / 2);
		assert_u_eq(sent[i].pkt.data.meth.rqmsn, rqmsn[i / 2]);
	}
}

CASE(mt_requester_next, solicited_on_the_last_packet)
{
	start();
	post(2 * MTU, RD_SEND_SOLICITED);
	post(1, 0);
	assert_u_eq(send(0), 3);
	assert_false(sent[0].pkt.bth.se);
	assert_true(sent[1].pkt.bth.se);
	assert_false(sent[2].pkt.bth.se);
}

/* REQ(cc.nscc.ack-request) */
CASE(mt_requester_next, asks_for_an_ack_at_the_end_of_a_message)
{
	start();
	post(3 * MTU, 0);
	assert_u_eq(send(0), 3);
	assert_false(sent[0].pkt.bth.a);
	assert_false(sent[1].pkt.bth.a);
	assert_true(sent[2].pkt.bth.a);
}

/* REQ(req.gate.mpr) */
CASE(mt_requester_next, asks_for_an_ack_when_no_full_packet_fits_the_window)
{
	start();
	n.qp->req.cc.cwnd = 3 * (MTU + MT_NOMINAL_HEADER);
	post(8 * MTU, 0);
	assert_u_eq(send(0), 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_i_eq(sent[i].pkt.bth.a, i == 2); /* behind the second fits just one more */
}

CASE(mt_requester_next, no_psn_beyond_the_window)
{
	struct mw_packet sack;

	start();
	post(200 * MTU, 0);
	assert_u_eq(send(0), 128);
	assert_false(sent[126].pkt.bth.a);
	assert_true(sent[127].pkt.bth.a); /* only a SACK opens the window again */
	sack = node_sack(&n, &sent[127], 3);
	node_rx(&n, 5000, &sack);
	assert_u_eq(send(5000), 3);
	assert_u_eq(sent[2].pkt.bth.psn, node_wire_psn(130));
	assert_true(sent[2].pkt.bth.a);
}

static void offer(uint8_t mpr, uint64_t expected)
{
	struct mw_packet sack = node_sack(&n, &sent[0], expected);

	sack.seth.mpr = mpr;
	node_rx(&n, 5000, &sack);
}

/* REQ(req.mpr.dynamic) */
CASE(mt_requester_next, the_window_follows_what_is_offered_when_agreed)
{
	opts.attr.mpr = 3;
	opts.attr.dynamic_mpr = true;
	start();
	post(1000 * MTU, 0);
	assert_u_eq(send(0), 128); /* nothing was offered yet */
	offer(3, 0);
	assert_u_eq(send(0), 2 * 128);
	offer(1, 3 * 128 - 100);
	assert_u_eq(send(5000), 28);
	offer(3, 3 * 128 - 101); /* overtaken by the one before: an old offer */
	assert_u_eq(n.qp->req.mpr, 1);
	offer(1, 3 * 128);
	assert_u_eq(send(5000), 100);
	offer(2, 3 * 128);
	assert_u_eq(send(5000), 128);
	offer(0, 3 * 128); /* no window at all is no offer */
	assert_u_eq(n.qp->req.mpr, 2);
	offer(255, 3 * 128);
	assert_u_eq(n.qp->req.mpr, 3); /* what was agreed is the most */
	assert_u_eq(send(5000), 128);
}

/* REQ(req.mpr.dynamic) */
CASE(mt_requester_next, the_window_is_what_was_agreed_for_a_peer_that_offers_none)
{
	opts.attr.mpr = 3;
	opts.attr.dynamic_mpr = true;
	start();
	post(1000 * MTU, 0);
	assert_u_eq(send(0), 128);
	offer(0, 0);
	assert_u_eq(send(0), 2 * 128);
	offer(2, 128); /* it does after all */
	assert_u_eq(n.qp->req.mpr, 2);
	offer(0, 128);
	assert_u_eq(n.qp->req.mpr, 2);
}

CASE(mt_requester_next, the_window_is_fixed_when_not_agreed)
{
	opts.attr.mpr = 2;
	start();
	post(1000 * MTU, 0);
	assert_u_eq(send(0), 256);
	offer(1, 256);
	assert_u_eq(send(5000), 256);
}

/* REQ(cc.pace.gap) Each packet asks for the SACK that shortens the gap. */
CASE(mt_requester_next, packets_with_a_gap_ask_for_sacks)
{
	start();
	post(3 * MTU, 0);
	mt_pace_set(&n.qp->req.pace, 1000, 50, 0);
	assert_u_eq(send(1000), 1);
	assert_true(sent[0].pkt.bth.a);
	n.qp->req.pace.gap_ns = 0;
	mt_qp_queue_for_tx(n.qp);
	assert_u_eq(send(2000), 2);
	assert_false(sent[0].pkt.bth.a);
}

/*
 * REQ(cc.pace.window) The window is full of packets that may be lost; where packets are to be
 * farther apart than the window would have them, the next one goes all the same. REQ(cc.pace.gap)
 */
CASE(mt_requester_next, a_gap_that_is_wider_replaces_the_window)
{
	with_nscc(2 * (MTU + MT_NOMINAL_HEADER));
	start();
	post(8 * MTU, 0);
	assert_u_eq(send(1000), 2);
	mt_pace_set(&n.qp->req.pace, 1000, 5999, 0);
	mt_qp_queue_for_tx(n.qp);
	assert_u_eq(send(1000), 0);
	mt_pace_set(&n.qp->req.pace, 1000, 6000, 0);
	mt_qp_queue_for_tx(n.qp);
	assert_u_eq(send(1000), 1);
	assert_true(sent[0].pkt.bth.a);
	mt_qp_queue_for_tx(n.qp);
	assert_u_eq(send(6999), 0);
	assert_true(mt_engine_deadline(n.engine) <= 7000 + 1100);
	mt_engine_tick(n.engine, 9000);
	assert_u_eq(send(9000), 1);
}

/* REQ(req.gate.cwnd) */
CASE(mt_requester_next, no_byte_beyond_the_window)
{
	uint32_t nominal = MTU + MT_NOMINAL_HEADER;

	with_nscc(5 * nominal + 100);
	start();
	post(20 * MTU, 0);
	assert_u_eq(send(0), 5);
	assert_i_eq(n.qp->req.cc.inflight, 5 * nominal);
	assert_false(sent[3].pkt.bth.a);
	assert_true(sent[4].pkt.bth.a); /* no other packet would fit */
}

static uint32_t sent_by(const struct mt_qp *qp, uint32_t packets)
{
	uint32_t by = 0;

	for (uint32_t i = 0; i < packets; i++)
		by += sent[i].qp_user == qp->user;
	return by;
}

/* REQ(req.gate.share) */
CASE(mt_requester_next, qps_share_what_the_peer_holds)
{
	struct mt_qp *other;
	struct mw_packet sack;
	uint32_t packets;

	start();
	mt_engine_rx_capacity(n.engine, 40);
	other = node_add_qp(&n, 0x52, 0x62, &other);
	post(100 * MTU, 0);
	assert_u_eq(send(0), 40); /* alone */
	assert_i_eq(node_post(&n, other, 1, 100 * MTU, 0), MT_OK);
	packets = send(0);
	assert_u_eq(packets, 20);
	assert_u_eq(sent_by(other, packets), 20);
	assert_false(sent[18].pkt.bth.a);
	assert_true(sent[19].pkt.bth.a); /* only a SACK lets more go */
	sack = node_sack(&n, &sent[0], 25);
	node_rx(&n, 5000, &sack);
	packets = send(5000);
	assert_u_eq(packets, 5); /* 15 were left of the first one's */
	assert_u_eq(sent_by(n.qp, packets), 5);
}

/* REQ(req.gate.share) */
CASE(mt_requester_next, what_is_sent_again_waits_for_its_share)
{
	struct mt_qp *other;
	struct mw_packet nack, sack;

	start();
	mt_engine_rx_capacity(n.engine, 40);
	other = node_add_qp(&n, 0x52, 0x62, &other);
	post(100 * MTU, 0);
	assert_u_eq(send(0), 40);
	nack = node_nack(&n, &sent[30], MW_NACK_TRIMMED);
	sack = node_sack(&n, &sent[0], 18);
	assert_i_eq(node_post(&n, other, 1, 100 * MTU, 0), MT_OK);
	assert_u_eq(node_tx(&n, 0, sent, SENT_MAX), 20);
	node_rx(&n, 5000, &nack);
	assert_u_eq(send(5000), 0); /* 39 are on their way */
	node_rx(&n, 6000, &sack);
	assert_u_eq(send(6000), 0); /* 21 */
	sack = node_sack(&n, &sent[0], 20);
	node_rx(&n, 7000, &sack);
	assert_u_eq(send(7000), 1);
	assert_true(sent[0].pkt.bth.rtx);
}

/* REQ(req.gate.share) */
CASE(mt_requester_next, a_share_is_never_too_small_to_get_on)
{
	start();
	mt_engine_rx_capacity(n.engine, 1);
	post(100 * MTU, 0);
	assert_u_eq(send(0), 8);
}

/* REQ(req.gate.wimm) */
CASE(mt_requester_next, no_more_immediates_than_agreed)
{
	struct mw_packet ack;

	opts.attr.max_wimm = 2;
	start();
	for (int i = 0; i < 4; i++)
		post(10, RD_SEND_IMM);
	post(10, 0);
	assert_u_eq(send(0), 2);
	ack = node_ack(&n, 0x1F, 1);
	node_rx(&n, 10, &ack);
	assert_u_eq(send(20), 1);
	ack = node_ack(&n, 0x1F, 3);
	node_rx(&n, 30, &ack);
	assert_u_eq(send(40), 2); /* the last one and the plain WRITE behind it */
}

CASE(mt_requester_next, the_rest_of_an_immediate_is_not_held_back)
{
	opts.attr.max_wimm = 1;
	start();
	post(3 * MTU, RD_SEND_IMM);
	assert_u_eq(node_tx(&n, 0, sent, 1), 1);
	assert_u_eq(send(0), 2);
}

CASE(mt_requester_next, drained_queue_finishes_what_it_began)
{
	struct rd_qp_attr sqd = {.state = RD_QPS_SQD}, rts = {.state = RD_QPS_RTS};

	start();
	post(3 * MTU, 0);
	post(MTU, 0);
	assert_u_eq(node_tx(&n, 0, sent, 1), 1);
	assert_i_eq(node_modify(&n, n.qp, &sqd, RD_QP_STATE), MT_OK);
	assert_u_eq(send(0), 2);
	assert_i_eq(node_modify(&n, n.qp, &rts, RD_QP_STATE), MT_OK);
	assert_u_eq(send(0), 1);
}

/* REQ(req.spray.port-room) */
CASE(mt_requester_next, only_ports_with_room)
{
	start();
	post(8 * MTU, 0);
	assert_u_eq(mt_engine_tx(n.engine, 0, 2, sent, 4), 4);
	for (int i = 0; i < 4; i++) {
		assert_u_eq(sent[i].port, 1);
		assert_u_eq(sent[i].ev & 1, 1);
	}
	assert_u_eq(mt_engine_tx(n.engine, 0, 4, sent, 4), 0);
	assert_u_eq(send(0), 4);
}

/* Sends 4 packets at 1000 and has the peer say that the one at `i` was trimmed. */
static void trim(unsigned i)
{
	struct mw_packet nack;

	post(4 * MTU, 0);
	assert_u_eq(send(1000), 4);
	nack = node_nack(&n, &sent[i], MW_NACK_TRIMMED_LASTHOP);
	node_rx(&n, 2000, &nack);
}

/* REQ(req.rtx.flag) REQ(req.rtx.same-packet) REQ(req.rtx.other-ev) */
CASE(mt_requester_next, sent_again_on_another_ev)
{
	struct mt_tx_desc first, again;

	start();
	trim(2);
	first = sent[2];
	assert_u_eq(send(3000), 1);
	again = sent[0];
	assert_true(again.pkt.bth.rtx);
	assert_true(again.pkt.bth.a);
	assert_u_eq(again.tclass, MW_DSCP_TRIMMABLE_RETX);
	assert_true(again.ev != first.ev);
	assert_u_eq(again.pkt.bth.psn, first.pkt.bth.psn);
	assert_u_eq(again.pkt.bth.opcode, first.pkt.bth.opcode);
	assert_memory_equal(&again.pkt.data.meth, &first.pkt.data.meth,
			    sizeof(first.pkt.data.meth));
	assert_u_eq(again.pkt.data.reth.va, first.pkt.data.reth.va);
	assert_u_eq(again.offset, first.offset);
	assert_u_eq(again.pkt.payload_len, first.pkt.payload_len);
	assert_u_eq(node_stats(&n).tx_retransmits, 1);
}

CASE(mt_requester_next, never_on_the_ev_that_lost_it)
{
	opts.ev_profile.n_evs = opts.ev_profile.n_active = 3;
	opts.evs[1].port = 0; /* on one port, where no turn of ports helps */
	start();
	for (int i = 0; i < 40; i++) {
		struct mw_packet nack, ack;
		uint32_t ev;

		post(1, 0);
		assert_u_eq(send(1000), 1);
		ev = sent[0].ev;
		nack = node_nack(&n, &sent[0], MW_NACK_TRIMMED_LASTHOP);
		node_rx(&n, 2000, &nack);
		assert_u_eq(send(3000), 1);
		assert_true(sent[0].ev != ev);
		ack = node_ack(&n, 0x1F, (uint32_t)i + 1);
		node_rx(&n, 4000, &ack);
	}
}

/* REQ(req.rtx.oldest-first) REQ(req.rtx.selective) */
CASE(mt_requester_next, oldest_loss_before_anything_new)
{
	struct mw_packet nack;

	start();
	post(6 * MTU, 0);
	assert_u_eq(send(1000), 6);
	post(MTU, 0);
	nack = node_nack(&n, &sent[4], MW_NACK_TRIMMED);
	node_rx(&n, 2000, &nack);
	nack = node_nack(&n, &sent[1], MW_NACK_TRIMMED);
	node_rx(&n, 2000, &nack);
	assert_u_eq(send(3000), 3);
	assert_u_eq(sent[0].pkt.bth.psn, node_wire_psn(1));
	assert_u_eq(sent[1].pkt.bth.psn, node_wire_psn(4));
	assert_u_eq(sent[2].pkt.bth.psn, node_wire_psn(6));
	assert_false(sent[2].pkt.bth.rtx);
}

CASE(mt_requester_next, sent_again_with_the_number_of_its_message)
{
	opts.cap.sq_depth = 4;
	start();
	for (uint32_t msn = 0; msn < 10; msn++) { /* the slots of the queue come round */
		struct mw_packet nack, ack;

		post(1, 0);
		assert_u_eq(send(1000), 1);
		nack = node_nack(&n, &sent[0], MW_NACK_TRIMMED);
		node_rx(&n, 2000, &nack);
		assert_u_eq(send(3000), 1);
		assert_true(sent[0].pkt.bth.rtx);
		assert_u_eq(sent[0].pkt.data.meth.msn, msn);
		ack = node_ack(&n, 0x1F, msn + 1);
		node_rx(&n, 4000, &ack);
	}
}

CASE(mt_requester_next, a_retransmission_counts_as_in_flight)
{
	uint32_t nominal = MTU + MT_NOMINAL_HEADER;

	with_nscc(20 * nominal);
	start();
	trim(0);
	assert_i_eq(n.qp->req.cc.inflight, 3 * nominal);
	assert_u_eq(send(3000), 1);
	assert_i_eq(n.qp->req.cc.inflight, 4 * nominal);
}

/*
 * Sends 30 windows of so many packets, each acknowledged as a whole, and returns how many different
 * EVs the last ten took.
 */
static uint32_t count_evs_at_window(uint32_t window, uint64_t now)
{
	uint64_t taken = 0;

	for (uint32_t k = 0; k < 30; k++) {
		struct mw_packet sack;

		n.qp->req.cc.cwnd = window * (uint64_t)(MTU + MT_NOMINAL_HEADER);
		assert_u_eq(send(now + k), window);
		for (uint32_t i = 0; i < window && k >= 20; i++)
			taken |= UINT64_C(1) << (sent[i].ev & 63);
		sack = node_sack(&n, &sent[window - 1], n.qp->req.window.next - node_psn(0));
		node_rx(&n, now + k, &sack);
	}
	return mb_popcount64(taken);
}

/* REQ(req.spray.width) */
CASE(mt_requester_next, new_packets_take_one_to_two_windows_of_evs)
{
	static const uint32_t windows[] = {32, 16, 13, 16, 32};

	opts.ev_profile.n_evs = opts.ev_profile.n_active = 64;
	start();
	for (uint32_t i = 0; i < 5; i++)
		post(700 * MTU, 0);
	for (uint32_t i = 0; i < 5; i++) {
		uint32_t evs = count_evs_at_window(windows[i], 1000 * (i + 1));

		if (evs < windows[i] || evs > 2 * windows[i])
			fail_msg("window of %u packets: %u EVs", windows[i], evs);
	}
}

/* The EVs of a round are shared by two ports; a power of two of them. REQ(req.spray.width) */
CASE(mt_requester_next, a_round_is_as_wide_as_the_window_in_full_packets)
{
	struct mw_packet nack;

	opts.ev_profile.n_evs = opts.ev_profile.n_active = 64;
	start();
	n.qp->req.cc.cwnd = 33 * (MTU + MT_NOMINAL_HEADER);
	post(300 * MTU, 0);
	assert_u_eq(node_tx(&n, 1000, sent, 1), 1);
	assert_u_eq(n.qp->req.spray.width, 64 / 2);
	n.qp->req.cc.cwnd--; /* for 32 packets and most of another */
	n.qp->req.spray.round_began = true;
	assert_u_eq(node_tx(&n, 1000, sent, 1), 1);
	assert_u_eq(n.qp->req.spray.width, 32 / 2);
	n.qp->req.cc.cwnd = 16 * (MTU + MT_NOMINAL_HEADER);
	n.qp->req.spray.round_began = true;
	nack = node_nack(&n, &sent[0], MW_NACK_TRIMMED); /* what is sent again follows it, too */
	node_rx(&n, 2000, &nack);
	assert_u_eq(node_tx(&n, 2000, sent, 1), 1);
	assert_true(sent[0].pkt.bth.rtx);
	assert_u_eq(n.qp->req.spray.width, 16 / 2);
}

/* REQ(req.spray.width) */
CASE(mt_requester_next, a_round_is_no_wider_than_the_psns_that_may_be_out)
{
	opts.ev_profile.n_evs = opts.ev_profile.n_active = 64;
	start();
	n.qp->req.cc.cwnd = UINT64_MAX / 2;
	post(300 * MTU, 0);
	assert_u_eq(node_tx(&n, 1000, sent, 1), 1);
	assert_u_eq(n.qp->req.spray.width, MT_MPR_UNIT / 2);
}

/* REQ(req.loss.timeout) */
CASE(mt_requester_next, one_resend_after_a_timeout_whatever_the_window)
{
	uint32_t nominal = MTU + MT_NOMINAL_HEADER;
	struct mw_packet nack;
	uint64_t now = 0;

	with_nscc(2 * nominal);
	start();
	post(2 * MTU, 0);
	assert_u_eq(send(1000), 2);
	n.qp->req.cc.cwnd = nominal;
	while (node_stats(&n).timeouts == 0) {
		now = mt_engine_deadline(n.engine);
		mt_engine_tick(n.engine, now);
	}
	assert_true(node_tx_opcode(&n, now, MW_WRITE_FIRST, &sent[0]));
	nack = node_nack(&n, &sent[1], MW_NACK_TRIMMED);
	node_rx(&n, now, &nack);
	assert_u_eq(send(now), 0);
}

/* REQ(req.complete.acked) */
CASE(mt_requester_next, repeats_the_last_packet_when_only_the_ack_is_missing)
{
	struct mw_packet sack;
	uint64_t now = 10000;

	start();
	post(3 * MTU, 0);
	assert_u_eq(send(1000), 3);
	sack = node_sack(&n, &sent[2], 3);
	node_rx(&n, now, &sack);
	for (int i = 0; i < 20 && !n.qp->req.repeat_last; i++) {
		now = mt_engine_deadline(n.engine);
		mt_engine_tick(n.engine, now);
	}
	assert_true(node_tx_opcode(&n, now, MW_WRITE_LAST, &sent[0]));
	assert_u_eq(sent[0].pkt.bth.psn, node_wire_psn(2));
	assert_true(sent[0].pkt.bth.rtx && sent[0].pkt.bth.a);
	assert_u_eq(send(now), 0);
}

/* REQ(req.complete.acked) */
CASE(mt_requester_next, repeats_nothing_once_the_ack_has_come)
{
	start();
	post(MTU, 0);
	assert_u_eq(send(1000), 1);
	rx_at(2000, node_sack(&n, &sent[0], 1));
	n.qp->req.repeat_last = true;
	rx_at(2000, node_ack(&n, 0x1F, 1));
	assert_u_eq(send(3000), 0);
	post(MTU, 0);
	assert_u_eq(send(3000), 1);
	assert_false(sent[0].pkt.bth.rtx);
	assert_u_eq(sent[0].pkt.bth.psn, node_wire_psn(1));
}

CASE(mt_requester_next, nothing_before_rts)
{
	struct rd_qp_attr rtr;

	node_open(&n, &opts, 0);
	rtr = opts.attr;
	rtr.dest = n.peer;
	rtr.dest_qpn = n.peer_qpn;
	rtr.state = RD_QPS_RTR;
	assert_i_eq(node_modify(&n, n.qp, &rtr, UINT32_MAX), MT_OK);
	assert_i_eq(node_post(&n, n.qp, 1, 10, 0), MT_ERR_STATE);
	assert_u_eq(mt_requester_next(n.qp, 0, NODE_ALL_PORTS, sent), MT_NEXT_BLOCKED);
}

/* Whether a lone packet asks, of a peer that answers and whose return paths are new. */
static bool lone_message_asks(uint64_t rtt_ns)
{
	struct mt_tx_desc d;

	opts.cfg.timing.sack_in_order_bytes = 4 * opts.cfg.timing.sack_bytes;
	start();
	n.qp->req.rtt.smoothed_ns = rtt_ns;
	n.qp->peer->liveness.state = MT_PEER_ALIVE;
	n.qp->ev_set->reverse_ev_next_ns = UINT64_MAX;
	assert_i_eq(node_post(&n, n.qp, 70, 8, RD_SEND_SIGNALED), MT_OK);
	assert_u_eq(node_tx(&n, 1000, &d, 1), 1);
	return d.pkt.bth.a;
}

/* REQ(req.ask.end) */
CASE(mt_requester_next, asks_while_no_round_trip_is_known)
{
	assert_true(lone_message_asks(0));
}

CASE(mt_requester_next, asks_no_more_once_one_is_known)
{
	assert_false(lone_message_asks(1000));
}
