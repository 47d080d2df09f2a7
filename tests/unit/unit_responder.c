/* SPDX-License-Identifier: BSD-2-Clause */
/* What becomes of a data packet, check by check; the packets are written by hand. */
#include "unit/node_fixture.h"

#define NAK_INVALID_REQUEST 0x61u
#define NAK_REMOTE_ACCESS 0x62u
#define NAK_REMOTE_OP 0x63u

#define CASE(function, name) TEST_WITH(defaults, close_node, function, name)

static struct mw_packet only_imm(uint64_t i, uint16_t rqmsn)
{
	struct mw_packet pkt = node_write(&n, MW_WRITE_ONLY_IMM, i, (uint16_t)i, MTU, MTU);

	pkt.data.meth.rqmsn = rqmsn;
	pkt.data.imm = 0x1000u + rqmsn;
	return pkt;
}

static void check_ack(uint8_t syndrome, uint32_t msn)
{
	struct mt_tx_desc d;

	assert_true(node_tx_opcode(&n, 2000, MW_ACK, &d));
	assert_u_eq(d.pkt.aeth.syndrome, syndrome);
	assert_u_eq(d.pkt.aeth.msn, msn);
}

static void check_silent(void)
{
	assert_u_eq(node_drain(&n, 2000), 0);
}

static uint64_t expected(void)
{
	return n.qp->rsp.window.expected - node_psn(0);
}

/* REQ(rsp.place.at-once) */
CASE(mt_responder_data, placed_whatever_is_missing)
{
	struct mw_packet pkt;

	start();
	pkt = node_write(&n, MW_WRITE_MIDDLE, 6, 0, MTU, 20 * MTU);
	pkt.data.reth.va += 6 * MTU + 3;
	rx(pkt);
	assert_u_eq(n.placed, 1);
	assert_u_eq(n.last_at, 6 * MTU + 3);
	assert_u_eq(n.last_len, MTU);
	assert_bytes_eq(n.memory + 6 * MTU + 3, node_payload(0), MTU);
	assert_u_eq(node_stats(&n).rx_data_packets, 1);
	assert_u_eq(node_stats(&n).rx_data_bytes, MTU);
	assert_u_eq(expected(), 0);
	check_silent();
}

/* REQ(rsp.window.any-order) REQ(rsp.ack.transport) */
CASE(mt_responder_data, any_order_across_messages)
{
	start();
	rx(only(2));
	rx(only(1));
	check_silent(); /* no message is complete in order */
	rx(only(0));
	assert_u_eq(expected(), 3);
	check_ack(0x1F, 3);
	check_silent();
	rx(only(3));
	check_ack(0x1F, 4);
}

/* REQ(rsp.place.once) REQ(rsp.window.duplicate-below) */
CASE(mt_responder_data, duplicate_behind_is_acknowledged_again)
{
	struct mw_packet again;

	start();
	rx(only(0));
	node_drain(&n, 2000);
	again = only(0);
	again.bth.rtx = true;
	rx(again);
	assert_u_eq(n.placed, 1);
	assert_u_eq(node_stats(&n).rx_duplicates, 1);
	assert_i_eq(next_sack().ack_psn_offset, 0);
	check_ack(0x1F, 1);
	assert_u_eq(n.qp->rsp.rcvd_bytes, MTU + MT_NOMINAL_HEADER);
}

/* REQ(rsp.window.duplicate-above) */
CASE(mt_responder_data, duplicate_ahead_is_answered_by_a_sack)
{
	struct mw_packet again;

	start();
	rx(only(3));
	again = only(3);
	again.bth.rtx = true;
	rx(again);
	assert_u_eq(n.placed, 1);
	assert_u_eq(node_stats(&n).rx_duplicates, 1);
	assert_u_eq(next_sack().sack_bitmap, 8);
	check_silent();
	assert_u_eq(n.qp->rsp.rcvd_bytes, MTU + MT_NOMINAL_HEADER);
}

/* REQ(rsp.window.ahead) REQ(rsp.window.range) */
CASE(mt_responder_data, beyond_the_window)
{
	struct mt_tx_desc d;

	start();
	rx(only(127));
	assert_u_eq(n.placed, 1);
	rx(only(128));
	assert_u_eq(n.placed, 1);
	assert_u_eq(node_stats(&n).drop_far_psn, 1);
	assert_true(node_tx_opcode(&n, 2000, MW_NACK, &d));
	assert_u_eq(d.pkt.neth.reason, MW_NACK_PSN_OOR_WINDOW);
	assert_u_eq(d.pkt.neth.nack_psn, node_wire_psn(128));
	assert_u_eq(d.pkt.neth.entropy, node_meta(&n).ev);
	rx(only(0));
	rx(only(128));
	assert_u_eq(n.placed, 3);
}

/* REQ(rsp.window.ancient) */
CASE(mt_responder_data, ancient_is_dropped_in_silence)
{
	struct mw_packet pkt;

	start();
	rx(only(0));
	node_drain(&n, 2000);
	pkt = only(0);
	pkt.bth.rtx = true;
	pkt.bth.psn = node_wire_psn(-UINT64_C(1)); /* from before this connection */
	rx(pkt);
	pkt.bth.psn = node_wire_psn(1 - (UINT64_C(1) << 23)); /* as far behind as can be */
	rx(pkt);
	assert_u_eq(node_stats(&n).drop_old_psn, 2);
	assert_u_eq(node_stats(&n).rx_duplicates, 0);
	assert_u_eq(n.placed, 1);
	check_silent();
}

/* REQ(rsp.qp.demux) */
CASE(mt_responder_data, another_partition)
{
	struct mw_packet pkt;

	start();
	pkt = only(0);
	pkt.bth.p_key = 0x7FFF;
	rx(pkt);
	pkt = node_probe(&n, 1);
	pkt.bth.p_key = 0x7FFF;
	rx(pkt);
	assert_u_eq(node_stats(&n).drop_p_key, 2);
	assert_u_eq(n.placed, 0);
	check_silent();
}

static void check_nack(uint8_t reason, uint32_t psn)
{
	struct mt_tx_desc d;

	assert_true(node_tx_opcode(&n, 2000, MW_NACK, &d));
	assert_u_eq(d.pkt.neth.reason, reason);
	assert_u_eq(d.pkt.neth.nack_psn, psn);
}

/* REQ(rsp.nack.unexpected) */
CASE(mt_responder_data, not_in_error)
{
	struct rd_qp_attr err = {.state = RD_QPS_ERR};

	start();
	assert_i_eq(node_modify(&n, n.qp, &err, RD_QP_STATE), MT_OK);
	rx(only(1));
	check_nack(MW_NACK_UNEXP_EVENT, node_wire_psn(1));
	rx(node_probe(&n, 1));
	check_nack(MW_NACK_UNEXP_EVENT, node_wire_psn(-UINT64_C(1)));
	assert_u_eq(node_stats(&n).drop_qp_state, 2);
	assert_u_eq(n.placed, 0);
	check_silent();
}

/* REQ(rsp.nack.shortage) REQ(mem.idle) */
CASE(mt_responder_data, without_memory_for_the_bitmaps)
{
	struct mw_packet first;

	start();
	first = only(0);
	first.bth.a = true; /* no SACK: nothing of it was taken */
	node_exhaust(&n);
	rx(first);
	check_nack(MW_NACK_NO_BITMAP, node_wire_psn(0));
	assert_u_eq(n.placed, 0);
	check_silent();
	rx(only(0)); /* the node has added memory meanwhile */
	assert_u_eq(n.placed, 1);
}

/* REQ(rsp.nack.shortage) REQ(mem.idle) */
CASE(mt_responder_data, without_memory_for_the_stash)
{
	struct mw_packet imm;

	start();
	imm = node_write(&n, MW_WRITE_ONLY_IMM, 1, 1, MTU, MTU);
	rx(only(0));
	node_drain(&n, 1000);
	node_exhaust(&n);
	rx(imm);
	check_nack(MW_NACK_NO_RESOURCE, node_wire_psn(1));
	assert_u_eq(n.placed, 1);
	assert_u_eq(expected(), 1);
	rx(imm);
	assert_u_eq(n.placed, 2);
}

/* REQ(rsp.complete.write-silent) REQ(rsp.state.early) */
CASE(mt_responder_data, a_plain_write_completes_nothing_and_an_immediate_after_its_payload)
{
	struct mt_event ev;

	start();
	assert_i_eq(mt_qp_post_recv(n.qp, 50), MT_OK);
	rx(only(0));
	assert_false(node_poll(&n, &ev));
	rx(only_imm(2, 0)); /* tracked and acknowledged, but not complete */
	assert_u_eq(n.qp->rsp.window.ahead, 1);
	assert_false(node_poll(&n, &ev));
	rx(only(1));
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.wr_id, 50);
	assert_u_eq(n.placed, 3);
	assert_false(node_poll(&n, &ev));
}

/* REQ(wire.tseth.optional) */
CASE(mt_responder_data, a_message_of_which_only_some_packets_carry_a_time)
{
	struct mw_packet pkt;

	start();
	pkt = node_write(&n, MW_WRITE_FIRST, 0, 0, MTU, 2 * MTU);
	pkt.bth.a = pkt.bth.ts = true;
	pkt.data.tseth.tx_timestamp = 0x1234;
	rx(pkt);
	assert_u_eq(next_sack().tx_timestamp, 0x1234);
	pkt = node_write(&n, MW_WRITE_LAST, 1, 0, MTU, 2 * MTU);
	pkt.bth.a = true;
	pkt.bth.ts = false;
	pkt.data.tseth.tx_timestamp = 0x5678; /* not there, whatever the memory says */
	rx(pkt);
	assert_u_eq(next_sack().tx_timestamp, 0);
	assert_u_eq(n.qp->rsp.msn, 1);
	assert_u_eq(n.placed, 2);
}

static void rx_trimmed(uint64_t i, enum mt_trim trim, bool whole)
{
	struct mw_packet pkt = only(i);
	struct mt_rx_meta meta = node_meta(&n);

	meta.trim = (uint8_t)trim;
	meta.icrc_ok = whole;
	pkt.payload_len = whole ? MTU : 0;
	node_rx_meta(&n, 1000, &meta, &pkt);
}

/* REQ(rsp.trim.by-dscp) REQ(rsp.trim.never-placed) REQ(rsp.nack.trim)
 * REQ(rsp.nack.trim-last-hop) */
CASE(mt_responder_data, trimmed_is_refused_never_placed)
{
	struct mt_tx_desc d;

	start();
	rx_trimmed(5, MT_TRIM_MIDPATH, true); /* its payload is all there, and not ours */
	rx_trimmed(6, MT_TRIM_LASTHOP, false);
	assert_u_eq(n.placed, 0);
	assert_u_eq(node_stats(&n).rx_trimmed, 2);
	assert_true(node_tx_opcode(&n, 2000, MW_NACK, &d));
	assert_u_eq(d.pkt.neth.reason, MW_NACK_TRIMMED);
	assert_u_eq(d.pkt.neth.nack_psn, node_wire_psn(5));
	assert_true(node_tx_opcode(&n, 2000, MW_NACK, &d));
	assert_u_eq(d.pkt.neth.reason, MW_NACK_TRIMMED_LASTHOP);
	assert_u_eq(d.pkt.neth.nack_psn, node_wire_psn(6));
	check_silent();
	rx(only(5));
	assert_u_eq(n.placed, 1);
}

/* REQ(rsp.senders) */
CASE(mt_responder_data, senders_are_counted_while_the_last_hop_trims)
{
	const struct mt_senders *s;

	start();
	s = &n.engine->senders;
	rx(only(0));
	rx_trimmed(5, MT_TRIM_MIDPATH, false);
	assert_u_eq(s->end_ns, 0);
	rx_trimmed(6, MT_TRIM_LASTHOP, false);
	assert_u_eq(s->end_ns, 1000 + opts.cfg.timing.backpressure_ns);
	assert_u_eq(mt_senders_count(s), 0);
	rx_trimmed(7, MT_TRIM_LASTHOP, false);
	rx(only(8));
	assert_u_eq(mt_senders_count(s), 1);
}

/* REQ(rsp.nack.capability): what the peer cannot do says nothing of us. */
CASE(mt_responder_data, trimmed_by_a_peer_without_the_capability)
{
	struct mt_tx_desc d;

	opts.attr.trim_nack_dest = false;
	start();
	rx_trimmed(5, MT_TRIM_MIDPATH, false);
	assert_u_eq(node_stats(&n).rx_trimmed, 1);
	assert_true(node_tx_opcode(&n, 2000, MW_NACK, &d));
}

/* REQ(rsp.nack.trim-duplicate) */
CASE(mt_responder_data, trimmed_copy_of_what_is_there)
{
	struct mt_tx_desc d;

	start();
	rx(only(5));
	rx_trimmed(5, MT_TRIM_MIDPATH, false);
	assert_u_eq(node_stats(&n).rx_trimmed, 0);
	assert_u_eq(node_stats(&n).rx_duplicates, 1);
	assert_false(node_tx_opcode(&n, 2000, MW_NACK, &d));
}

/* REQ(rsp.place.payload-length) */
CASE(mt_responder_data, lengths_that_contradict_each_other)
{
	static const struct {
		uint8_t opcode;
		uint32_t len, whole;
	} bad[] = {
		{MW_WRITE_ONLY, MTU, MTU - 1},	     {MW_WRITE_ONLY, MTU - 1, MTU},
		{MW_WRITE_ONLY, MTU + 1, MTU + 1},   {MW_WRITE_FIRST, MTU, MTU},
		{MW_WRITE_FIRST, MTU - 1, 3 * MTU},  {MW_WRITE_FIRST, MTU + 1, 3 * MTU},
		{MW_WRITE_MIDDLE, MTU - 1, 3 * MTU}, {MW_WRITE_MIDDLE, 0, 3 * MTU},
		{MW_WRITE_LAST, MTU, 2 * MTU + 1},   {MW_WRITE_LAST, MTU - 1, 2 * MTU},
		{MW_WRITE_LAST, 0, 2 * MTU},	     {MW_WRITE_LAST, 5, 5},
		{MW_WRITE_LAST_IMM, 2, MTU + 1},     {MW_WRITE_ONLY_IMM, 1, 0},
	};
	const size_t rows = sizeof(bad) / sizeof(bad[0]);

	start();
	for (size_t i = 0; i < rows; i++) {
		rx(node_write(&n, bad[i].opcode, 4, 0, bad[i].len, bad[i].whole));
		assert_u_eq(node_stats(&n).drop_malformed, i + 1);
	}
	assert_u_eq(n.placed, 0);
	assert_u_eq(n.qp->rsp.window.ahead, 0);
	check_silent();
}

CASE(mt_responder_data, lengths_that_fit)
{
	static const struct {
		uint8_t opcode;
		uint32_t len, whole;
	} good[] = {
		{MW_WRITE_ONLY, 0, 0},
		{MW_WRITE_ONLY, 1, 1},
		{MW_WRITE_ONLY, MTU, MTU},
		{MW_WRITE_FIRST, MTU, MTU + 1},
		{MW_WRITE_MIDDLE, MTU, 2 * MTU + 1},
		{MW_WRITE_LAST, 1, MTU + 1},
		{MW_WRITE_LAST, MTU, 2 * MTU},
		{MW_WRITE_LAST_IMM, 9, MTU + 9},
	};

	start();
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		rx(node_write(&n, good[i].opcode, i + 1, 0, good[i].len, good[i].whole));
		assert_u_eq(node_stats(&n).rx_data_packets, i + 1);
	}
	assert_u_eq(n.placed, 7); /* of the empty one there is nothing to place */
}

CASE(mt_responder_data, a_message_that_is_complete_gets_no_more)
{
	struct mw_packet pkt;

	start();
	rx(only(0));
	pkt = only(1);
	pkt.data.meth.msn = 0;
	rx(pkt);
	assert_u_eq(node_stats(&n).drop_malformed, 1);
	assert_u_eq(expected(), 1);
}

/* REQ(rsp.place.msn) */
CASE(mt_responder_data, no_more_messages_than_packets_lie_in_front)
{
	struct mw_packet pkt;

	start();
	pkt = only(2);
	pkt.data.meth.msn = 3;
	rx(pkt);
	assert_u_eq(node_stats(&n).drop_malformed, 1);
	assert_u_eq(n.placed, 0);
	rx(only(2));
	assert_u_eq(n.placed, 1);
	pkt = only(3); /* behind a message that was refused it is the same */
	pkt.data.reth.rkey ^= 1;
	rx(pkt);
	pkt = only(4);
	pkt.data.meth.msn = 5;
	rx(pkt);
	assert_u_eq(node_stats(&n).drop_malformed, 2);
	rx(only(0));
	rx(only(1));
	check_ack(NAK_REMOTE_ACCESS, 3);
}

/* Refused: nothing is placed, a NAK of message 0 leaves, the QP is in error. */
static void check_refused(uint8_t syndrome, enum rd_wc_status why)
{
	struct mt_event ev;

	assert_u_eq(n.placed, 0);
	assert_u_eq(n.qp->state, RD_QPS_ERR);
	check_ack(syndrome, 0);
	check_silent();
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.type, MT_EVENT_QP);
	assert_u_eq(ev.status, why);
	assert_true(ev.responder);
	assert_ptr_equal(ev.qp_user, &n);
	assert_false(node_poll(&n, &ev));
}

/* REQ(rsp.place.access-nak) REQ(rsp.mr.every-packet) */
CASE(mt_responder_data, no_access)
{
	struct rd_qp_attr deny = {.access = RD_ACCESS_LOCAL_WRITE};

	for (int why = 0; why < 5; why++) {
		struct mw_packet pkt;

		start();
		pkt = only(0);
		if (why == 0)
			pkt.data.reth.rkey ^= 1;
		else if (why == 1)
			pkt.data.reth.rkey = 3u << 8;
		else if (why == 2)
			pkt.data.reth.va = NODE_MR_START - 1;
		else if (why == 3)
			pkt.data.reth.va = NODE_MR_START + NODE_MR_BYTES - MTU + 1;
		else
			assert_i_eq(node_modify(&n, n.qp, &deny, RD_QP_ACCESS), MT_OK);
		rx(pkt);
		assert_u_eq(node_stats(&n).rx_access_errors, 1);
		check_refused(NAK_REMOTE_ACCESS, RD_WC_REM_ACCESS_ERR);
		node_close(&n);
	}
}

/* No message is complete by it, and no SACK was asked for. */
CASE(mt_responder_data, the_first_packet_of_a_message_is_refused_at_once)
{
	struct mw_packet pkt;

	start();
	pkt = node_write(&n, MW_WRITE_FIRST, 0, 0, MTU, 20 * MTU);
	pkt.data.reth.rkey ^= 1;
	rx(pkt);
	check_refused(NAK_REMOTE_ACCESS, RD_WC_REM_ACCESS_ERR);
}

/*
 * The plane of the packet before the refusal may be dead for what we send. REQ(rsp.nack.unexpected)
 * REQ(req.reverse.unheard)
 */
CASE(mt_responder_data, a_nak_is_repeated_on_the_planes_that_packets_come_by)
{
	struct mw_packet pkt;
	struct mt_rx_meta meta;
	struct mt_tx_desc d;
	uint32_t planes = 0;

	start();
	meta = node_meta(&n);
	pkt = only(0);
	pkt.data.reth.rkey ^= 1;
	rx(pkt);
	check_refused(NAK_REMOTE_ACCESS, RD_WC_REM_ACCESS_ERR);
	meta.port = 1;
	for (unsigned i = 0; i < 32; i++) {
		node_rx_meta(&n, 5000 + i, &meta, &pkt);
		assert_true(node_tx_opcode(&n, 5000 + i, MW_ACK, &d));
		assert_u_eq(d.pkt.aeth.syndrome, NAK_REMOTE_ACCESS);
		planes |= 1u << d.port;
	}
	assert_u_eq(planes, 3);
	node_close(&n);
}

/* REQ(rsp.place.memory-gone) */
CASE(mt_responder_data, memory_is_gone)
{
	start();
	n.memory_gone = true;
	rx(only(0));
	check_refused(NAK_REMOTE_OP, RD_WC_REM_OP_ERR);
	assert_u_eq(node_stats(&n).rx_data_bytes, 0);
	node_close(&n);
}

CASE(mt_responder_data, an_empty_message_needs_no_key)
{
	struct mw_packet pkt;

	start();
	pkt = node_write(&n, MW_WRITE_ONLY, 0, 0, 0, 0);
	pkt.data.reth.rkey = 0;
	rx(pkt);
	check_ack(0x1F, 1);
}

/* REQ(rsp.error.in-order) */
CASE(mt_responder_data, refused_when_all_earlier_ones_are_complete)
{
	struct mw_packet bad;

	start();
	bad = only(2);
	bad.data.reth.rkey = 0;
	rx(bad);
	rx(only(3)); /* behind a refused message: taken, not placed */
	assert_u_eq(n.placed, 0);
	rx(only(1));
	assert_u_eq(n.placed, 1);
	check_silent();
	rx(only(0));
	assert_u_eq(n.placed, 2);
	assert_u_eq(n.qp->state, RD_QPS_ERR);
	check_ack(NAK_REMOTE_ACCESS, 2);
}

CASE(mt_responder_data, the_first_refusal_counts)
{
	struct mw_packet bad;

	start();
	bad = only(3);
	bad.data.reth.rkey = 0;
	rx(bad);
	bad = only(1);
	bad.data.reth.rkey = 0;
	rx(bad);
	bad = only(2);
	bad.data.reth.rkey = 0;
	rx(bad);
	rx(only(0));
	check_ack(NAK_REMOTE_ACCESS, 1);
}

CASE(mt_responder_data, nothing_more_of_a_refused_message_is_placed)
{
	struct mw_packet bad;

	start();
	bad = node_write(&n, MW_WRITE_FIRST, 1, 1, MTU, 2 * MTU);
	bad.data.reth.rkey = 0;
	rx(bad);
	rx(node_write(&n, MW_WRITE_LAST, 2, 1, MTU, 2 * MTU));
	assert_u_eq(n.placed, 0);
	rx(only(0)); /* what is before it is */
	assert_u_eq(n.placed, 1);
	check_ack(NAK_REMOTE_ACCESS, 1);
}

CASE(mt_responder_data, the_first_fault_of_a_message_is_told)
{
	struct mw_packet bad;

	opts.attr.max_wimm_dest = 1;
	start();
	bad = only_imm(1, 2); /* beyond what was agreed, and ... */
	bad.data.reth.rkey = 0;
	rx(bad);
	rx(only(0));
	check_ack(NAK_REMOTE_ACCESS, 1);
}

CASE(mt_responder_data, nothing_completes_behind_a_refused_message)
{
	struct mw_packet bad;
	struct mt_event ev;

	start();
	assert_i_eq(mt_qp_post_recv(n.qp, 9), MT_OK);
	bad = only(1);
	bad.data.reth.rkey = 0;
	rx(bad);
	rx(only_imm(2, 0));
	rx(only(0));
	check_ack(NAK_REMOTE_ACCESS, 1);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.type, MT_EVENT_RECV);
	assert_u_eq(ev.status, RD_WC_WR_FLUSH_ERR);
	assert_false(ev.imm_valid);
}

CASE(mt_responder_data, says_no_again_to_whoever_goes_on)
{
	struct mw_packet bad;

	start();
	bad = only(0);
	bad.data.reth.rkey = 0;
	rx(bad);
	check_ack(NAK_REMOTE_ACCESS, 0);
	check_silent();
	rx(only(0));
	check_ack(NAK_REMOTE_ACCESS, 0);
	rx(node_probe(&n, 3));
	check_ack(NAK_REMOTE_ACCESS, 0);
	check_silent();
}

CASE(mt_responder_data, own_requests_are_flushed_not_blamed)
{
	struct mw_packet bad;
	struct mt_event ev;

	start();
	assert_i_eq(node_post(&n, n.qp, 77, 10, RD_SEND_SIGNALED), MT_OK);
	node_drain(&n, 100);
	bad = only(0);
	bad.data.reth.rkey = 0;
	rx(bad);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.type, MT_EVENT_SEND);
	assert_u_eq(ev.wr_id, 77);
	assert_u_eq(ev.status, RD_WC_WR_FLUSH_ERR);
}

static void check_recv(uint64_t wr_id, uint32_t imm)
{
	struct mt_event ev;

	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.type, MT_EVENT_RECV);
	assert_u_eq(ev.wr_id, wr_id);
	assert_u_eq(ev.imm, imm);
	assert_u_eq(ev.byte_len, MTU);
}

/* REQ(rsp.complete.in-order) REQ(rsp.wimm.stash) */
CASE(mt_responder_data, immediates_in_order_behind_everything_earlier)
{
	struct mt_event ev;

	start();
	for (uint64_t id = 50; id < 53; id++)
		assert_i_eq(mt_qp_post_recv(n.qp, id), MT_OK);
	rx(only_imm(3, 1));
	rx(only_imm(1, 0));
	rx(only(2));
	assert_false(node_poll(&n, &ev));
	rx(only(0));
	check_recv(50, 0x1000);
	check_recv(51, 0x1001);
	assert_false(node_poll(&n, &ev));
}

CASE(mt_responder_data, an_immediate_waits_for_its_own_message)
{
	struct mw_packet last;
	struct mt_event ev;

	start();
	assert_i_eq(mt_qp_post_recv(n.qp, 9), MT_OK);
	last = node_write(&n, MW_WRITE_LAST_IMM, 1, 0, 5, MTU + 5);
	last.bth.se = true;
	rx(last);
	assert_false(node_poll(&n, &ev));
	rx(node_write(&n, MW_WRITE_FIRST, 0, 0, MTU, MTU + 5));
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.byte_len, MTU + 5);
	assert_true(ev.solicited);
}

/* REQ(rsp.wimm.limit) */
CASE(mt_responder_data, more_immediates_than_agreed)
{
	opts.attr.max_wimm_dest = 2;
	start();
	assert_i_eq(mt_qp_post_recv(n.qp, 9), MT_OK);
	rx(only_imm(3, 2));
	assert_u_eq(n.qp->state, RD_QPS_RTS);
	rx(only_imm(2, 1));
	rx(only(0));
	assert_u_eq(n.qp->state, RD_QPS_RTS);
	rx(only(1));
	assert_u_eq(n.qp->state, RD_QPS_ERR);
	check_ack(NAK_INVALID_REQUEST, 3);
}

/* REQ(rsp.wimm.no-receive) */
CASE(mt_responder_data, an_immediate_without_a_receive)
{
	struct mt_event ev;

	start();
	rx(only_imm(1, 0));
	rx(only(2));
	assert_u_eq(n.qp->state, RD_QPS_RTS);
	rx(only(0));
	assert_u_eq(n.qp->state, RD_QPS_ERR);
	check_ack(NAK_INVALID_REQUEST, 1); /* message 0 is complete, message 1 is not */
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.type, MT_EVENT_QP);
	assert_u_eq(ev.status, RD_WC_REM_INV_REQ_ERR);
}

CASE(mt_responder_data, message_numbers_wrap_at_16_bits)
{
	start();
	for (uint64_t i = 0; i < 66000; i += 2) {
		rx(only(i + 1));
		rx(only(i));
		node_drain(&n, 2000);
	}
	assert_u_eq(n.qp->rsp.msn, 66000);
	assert_u_eq(n.placed, 66000);
}
