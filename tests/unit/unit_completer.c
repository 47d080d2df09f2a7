/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a requester believes of SACKs and NACKs that are written by hand: which are bogus, and
 * what the others complete, time and count. Losses are in unit_completer_loss.c.
 */
#include "unit/node_fixture.h"

#define NOMINAL (MTU + MT_NOMINAL_HEADER)

static struct mt_tx_desc sent[SENT_MAX];

#define CASE(function, name) TEST_WITH(defaults, close_node, function, name)

static uint64_t una(void)
{
	return n.qp->req.window.una - node_psn(0);
}

/* ---- SACK ---- */

/* REQ(req.loss.accumulate) */
CASE(mt_completer_sack, adds_up)
{
	struct mw_packet pkt;

	start_message(sent, 10);
	pkt = node_sack(&n, &sent[5], 0);
	pkt.seth.sack_bitmap = 0x24; /* 2 and 5 */
	rx_at(5000, pkt);
	assert_u_eq(una(), 0);
	pkt.seth.sack_bitmap = 0x1B; /* 0, 1, 3, 4 and nothing of 2 and 5 */
	rx_at(5100, pkt);
	assert_u_eq(una(), 6);
	rx_at(5200, node_sack(&n, &sent[3], 3)); /* overtaken by the others */
	assert_u_eq(una(), 6);
	assert_u_eq(node_stats(&n).rx_sacks, 3);
	node_check_no_event(&n); /* a SACK completes nothing */
}

CASE(mt_completer_sack, map_with_an_offset)
{
	struct mw_packet pkt;

	start_message(sent, 100);
	pkt = node_sack(&n, &sent[90], 30);
	pkt.seth.sack_offset = 41; /* bit 0 is 70 */
	pkt.seth.sack_bitmap = UINT64_C(1) << 20;
	rx_at(5000, pkt);
	assert_u_eq(una(), 30);
	assert_u_eq(mt_tx_rec(&n.qp->req.window, node_psn(90))->state, MT_TX_RECEIVED);
	pkt = node_sack(&n, &sent[90], 30);
	pkt.seth.sack_offset = -9; /* bit 0 is 20: what lies below una says nothing new */
	pkt.seth.sack_bitmap = 0xFFF;
	rx_at(5000, pkt);
	assert_u_eq(una(), 32);
}

/* A map that begins at `base`, and which packets below 64 and above are then received. */
static void check_map(unsigned base, uint64_t map, uint64_t low, uint64_t high)
{
	struct mw_packet pkt = node_sack(&n, &sent[90], 0);

	pkt.seth.sack_offset = (int16_t)(base + 1);
	pkt.seth.sack_bitmap = map;
	rx_at(5000, pkt);
	for (uint64_t i = 0; i < 100; i++) {
		const struct mt_tx_rec *rec = mt_tx_rec(&n.qp->req.window, node_psn(i));

		assert_u_eq(rec->state == MT_TX_RECEIVED, (i < 64 ? low : high) >> i % 64 & 1);
	}
}

/* REQ(req.loss.accumulate): of each map what those before did not name, wherever it begins. */
CASE(mt_completer_sack, maps_overlap)
{
	start_message(sent, 100);
	check_map(10, 0x21, 0x8400, 0);
	check_map(10, 0x22, 0x8C00, 0);
	check_map(12, 0x109, 0x109C00, 0);
	check_map(4, UINT64_C(1) << 63 | 0x241, 0x10BC10, 0x8);
	check_map(35, UINT64_C(1) << 63 | UINT64_C(1) << 32, 0x10BC10, 0x400000000 | 0x8);
	check_map(30, UINT64_C(1) << 37 | 1, 0x4010BC10, 0x400000000 | 0x8);
	check_map(94, 1, 0x4010BC10, 0x440000008); /* no PSN of the map before it, ... */
	check_map(30, 3, 0xC010BC10, 0x440000008); /* ... and likewise */
}

/* REQ(req.psn.serial) */
CASE(mt_completer_sack, of_what_was_never_sent_is_bogus)
{
	struct mw_packet good, bad;

	start_message(sent, 10);
	good = node_sack(&n, &sent[9], 3);
	bad = node_sack(&n, &sent[9], 11); /* 10 was not sent */
	rx_at(5000, bad);
	bad = good;
	bad.seth.sack_bitmap = UINT64_C(1) << 7; /* neither in the map */
	rx_at(5000, bad);
	bad = good;
	bad.bth.psn = node_wire_psn(1); /* not what the SETH says */
	rx_at(5000, bad);
	bad = good;
	bad.seth.cack_psn = bad.bth.psn = node_wire_psn(UINT64_C(1) << 22);
	rx_at(5000, bad);
	assert_u_eq(node_stats(&n).drop_bogus_ack, 4);
	assert_u_eq(node_stats(&n).rx_sacks, 0);
	assert_u_eq(una(), 0);
	good.seth.sack_bitmap = UINT64_C(1) << 6;
	rx_at(5000, good);
	assert_u_eq(una(), 3);
	rx_at(5000, node_sack(&n, &sent[9], 10));
	assert_u_eq(una(), 10);
}

/* REQ(req.sack.window) */
CASE(mt_completer_sack, of_more_than_a_window_ago_is_stale)
{
	struct mw_packet late;
	uint64_t window;

	start_message(sent, 10);
	window = (uint64_t)n.qp->attr.mpr * 128;
	rx_at(5000, node_sack(&n, &sent[9], 9));
	late = node_sack(&n, &sent[0], 9 - window - 1);
	rx_at(6000, late);
	assert_u_eq(node_stats(&n).acks_stale, 1);
	rx_at(6000, node_sack(&n, &sent[0], 9 - window));
	assert_u_eq(node_stats(&n).acks_stale, 1);
	assert_u_eq(node_stats(&n).rx_sacks, 3);
}

CASE(mt_completer_sack, of_a_trigger_that_was_never_sent_is_bogus)
{
	struct mw_packet pkt;

	start_message(sent, 10);
	pkt = node_sack(&n, &sent[9], 4);
	pkt.seth.ack_psn_offset = 7; /* 10 */
	rx_at(5000, pkt);
	assert_u_eq(node_stats(&n).drop_bogus_ack, 1);
	assert_u_eq(una(), 0);
	pkt.seth.pr = true; /* the id of a probe, which nobody sent */
	rx_at(5000, pkt);
	assert_u_eq(node_stats(&n).drop_bogus_ack, 1);
	assert_u_eq(una(), 4);
}

/* REQ(wire.seth.context-ids) */
CASE(mt_completer_sack, context_ids_count_once_the_peer_has_filled_them_in)
{
	struct mw_packet sack, nack;

	start_message(sent, 10);
	rx_at(2000, node_sack(&n, &sent[0], 1)); /* both are 0 */
	assert_u_eq(una(), 1);
	sack = node_sack(&n, &sent[1], 2);
	sack.seth.spdcid = (uint16_t)n.qp->attr.dest_qpn;
	sack.seth.dpdcid = (uint16_t)n.qp->qpn;
	sack.seth.tx_timestamp++; /* of no packet of ours: nothing follows of its ids */
	rx_at(2000, sack);
	assert_false(n.qp->req.peer_fills_ids);
	sack.seth.tx_timestamp--;
	rx_at(2000, sack);
	assert_true(n.qp->req.peer_fills_ids);
	rx_at(2000, node_sack(&n, &sent[2], 3));
	assert_u_eq(una(), 2);
	assert_u_eq(node_stats(&n).drop_context_ids, 1);
	nack = node_nack(&n, &sent[5], MW_NACK_UNEXP_EVENT);
	nack.neth.spdcid = sack.seth.spdcid;
	rx_at(2000, nack);
	assert_u_eq(node_stats(&n).drop_context_ids, 2);
	assert_u_eq(n.qp->state, RD_QPS_RTS);
	nack.neth.dpdcid = sack.seth.dpdcid;
	rx_at(2000, nack);
	assert_u_eq(n.qp->state, RD_QPS_ERR);
	assert_u_eq(node_stats(&n).drop_bogus_ack, 0);
}

CASE(mt_completer_sack, needs_a_qp_that_may_send)
{
	struct rd_qp_attr err = {.state = RD_QPS_ERR};

	start_message(sent, 1);
	assert_i_eq(node_modify(&n, n.qp, &err, RD_QP_STATE), MT_OK);
	rx_at(5000, node_sack(&n, &sent[0], 1));
	rx_at(5000, node_nack(&n, &sent[0], MW_NACK_TRIMMED));
	rx_at(5000, node_ack(&n, 0x1F, 1));
	assert_u_eq(node_stats(&n).drop_bogus_ack, 3);
}

/* ---- round trips ---- */

/* REQ(cc.rtt.validity) */
CASE(mt_completer_sack, rtt_of_a_first_transmission)
{
	struct mw_packet pkt;

	start_message(sent, 4);
	pkt = node_sack(&n, &sent[1], 2);
	pkt.bth.rtx = true; /* the SACK of a retransmission: of another one */
	rx_at(9000, pkt);
	assert_u_eq(n.qp->req.rtt.smoothed_ns, 0);
	pkt = node_sack(&n, &sent[2], 2);
	pkt.seth.tx_timestamp++; /* not the stamp that this packet carried */
	rx_at(9000, pkt);
	assert_u_eq(n.qp->req.rtt.smoothed_ns, 0);
	rx_at(9000, node_sack(&n, &sent[3], 2));
	assert_u_eq(n.qp->req.rtt.smoothed_ns, 8000);
}

/* REQ(rsp.svc-time) */
CASE(mt_completer_sack, rtt_without_the_time_that_the_peer_took)
{
	struct rd_qp_attr a = {.svc_time_dest = true};
	struct mw_packet pkt;

	start_message(sent, 4);
	assert_i_eq(node_modify(&n, n.qp, &a, RD_QP_SVC_TIME_DEST), MT_OK);
	pkt = node_sack(&n, &sent[2], 2);
	pkt.seth.tx_timestamp = (uint16_t)(pkt.seth.tx_timestamp + 63); /* of 62.5 */
	rx_at(9000, pkt);
	assert_u_eq(n.qp->req.rtt.smoothed_ns, 0);
	pkt.seth.tx_timestamp = (uint16_t)(pkt.seth.tx_timestamp - 53);
	rx_at(9000, pkt);
	assert_u_eq(n.qp->req.rtt.smoothed_ns, 8000 - 10 * 128);
}

/* REQ(req.stamp.unique) */
CASE(mt_completer_sack, no_service_time_after_a_round_of_stamps)
{
	struct rd_qp_attr a = {.svc_time_dest = true};
	struct mw_packet pkt;

	start_message(sent, 4);
	assert_i_eq(node_modify(&n, n.qp, &a, RD_QP_SVC_TIME_DEST), MT_OK);
	pkt = node_sack(&n, &sent[2], 2);
	pkt.seth.tx_timestamp = (uint16_t)(pkt.seth.tx_timestamp + 10000);
	rx_at(1000 + 65536 * 128, pkt);
	assert_u_eq(n.qp->req.rtt.smoothed_ns, 0);
	rx_at(1000 + 65535 * 128, pkt);
	assert_u_eq(n.qp->req.rtt.smoothed_ns, 55535 * 128);
}

CASE(mt_completer_sack, no_service_time_of_another_transmission)
{
	struct rd_qp_attr a = {.svc_time_dest = true};
	struct mw_packet pkt;

	start_message(sent, 4);
	assert_i_eq(node_modify(&n, n.qp, &a, RD_QP_SVC_TIME_DEST), MT_OK);
	rx_at(2000, node_nack(&n, &sent[0], MW_NACK_TRIMMED));
	assert_u_eq(node_tx(&n, 3000, sent, 1), 1);
	pkt = node_sack(&n, &sent[0], 1);
	pkt.seth.tx_timestamp = (uint16_t)(pkt.seth.tx_timestamp + 10);
	pkt.bth.rtx = false; /* as if of the first, which the peer kept for long */
	rx_at(9000, pkt);
	assert_u_eq(n.qp->req.rtt.smoothed_ns, 0);
	assert_u_eq(n.qp->ev_set->reverse_ev_next_ns, 0);
	pkt.bth.rtx = true;
	rx_at(9000, pkt);
	assert_u_eq(n.qp->req.rtt.smoothed_ns, 6000 - 10 * 128);
}

/* All the time since the packet was sent, and no more. REQ(rsp.svc-time) */
CASE(mt_completer_sack, a_peer_can_have_taken_all_the_time_there_was)
{
	struct rd_qp_attr a = {.svc_time_dest = true};
	struct mw_packet pkt;

	opts.cfg.ts_shift = 0;
	start_message(sent, 4);
	assert_i_eq(node_modify(&n, n.qp, &a, RD_QP_SVC_TIME_DEST), MT_OK);
	pkt = node_sack(&n, &sent[2], 2);
	pkt.seth.tx_timestamp++;
	rx_at(1000, pkt); /* later than it came */
	assert_u_eq(n.qp->ev_set->reverse_ev_next_ns, 0);
	rx_at(1001, pkt);
	assert_true(n.qp->ev_set->reverse_ev_next_ns > 0); /* it is known to be answered */
	assert_u_eq(n.qp->req.rtt.smoothed_ns, 0);
}

/* Timeouts are multiples of a round of stamps. */
CASE(mt_completer_sack, a_resend_does_not_carry_the_stamp_before)
{
	struct mw_packet first;
	uint64_t round = UINT64_C(65536) * 128;

	start_message(sent, 1);
	first = node_sack(&n, &sent[0], 1);
	first.bth.rtx = true; /* to be seen apart by its stamp alone */
	rx_at(2000, node_nack(&n, &sent[0], MW_NACK_TRIMMED));
	assert_u_eq(node_tx(&n, 1000 + round, sent, 1), 1);
	assert_true(sent[0].pkt.bth.rtx);
	rx_at(3000 + round, first);
	assert_u_eq(n.qp->req.rtt.smoothed_ns, 0);
	rx_at(3000 + round, node_sack(&n, &sent[0], 1));
	assert_u_eq(n.qp->req.rtt.smoothed_ns, 2000 - 128);
}

CASE(mt_completer_sack, rtt_of_a_retransmission)
{
	struct mw_packet late, pkt;

	start_message(sent, 4);
	rx_at(2000, node_nack(&n, &sent[0], MW_NACK_TRIMMED));
	late = node_sack(&n, &sent[0], 0); /* as if the first copy had arrived after all */
	assert_u_eq(node_tx(&n, 3000, sent, 1), 1);
	rx_at(5000, late);
	assert_u_eq(n.qp->req.rtt.smoothed_ns, 0);
	pkt = node_sack(&n, &sent[0], 1);
	pkt.bth.rtx = false; /* who sent this one? */
	rx_at(6000, pkt);
	assert_u_eq(n.qp->req.rtt.smoothed_ns, 0);
	rx_at(7000, node_sack(&n, &sent[0], 1));
	assert_u_eq(n.qp->req.rtt.smoothed_ns, 4000);
}

CASE(mt_completer_sack, no_rtt_of_a_packet_sent_twice_again)
{
	start_message(sent, 4);
	rx_at(2000, node_nack(&n, &sent[0], MW_NACK_TRIMMED));
	assert_u_eq(node_tx(&n, 3000, sent, 1), 1);
	rx_at(3500, node_nack(&n, &sent[0], MW_NACK_TRIMMED));
	assert_u_eq(node_tx(&n, 4000, sent, 1), 1);
	rx_at(9000, node_sack(&n, &sent[0], 1));
	assert_u_eq(n.qp->req.rtt.smoothed_ns, 0);
	assert_u_eq(una(), 1);
}

CASE(mt_completer_sack, no_rtt_of_what_was_never_sent)
{
	struct mw_packet pkt;

	start_message(sent, 4);
	pkt = node_sack(&n, &sent[3], 4);
	pkt.seth.ack_psn_offset = -9; /* before the first one; no record, and a stamp of none */
	pkt.seth.tx_timestamp = 0;
	rx_at(UINT64_C(1) << 40, pkt);
	assert_u_eq(n.qp->req.rtt.smoothed_ns, 0);
}

CASE(mt_completer_sack, rtt_of_what_was_acknowledged_long_ago)
{
	start_message(sent, 4);
	rx_at(2000, node_sack(&n, &sent[3], 4));
	assert_u_eq(n.qp->req.rtt.smoothed_ns, 1000);
	rx_at(10000, node_sack(&n, &sent[1], 2)); /* late, but of a packet that was sent once */
	assert_u_eq(n.qp->req.rtt.smoothed_ns, 2000);
}

/* ---- bytes in flight ---- */

static int64_t inflight(void)
{
	return n.qp->req.cc.inflight;
}

static struct mt_cc_ack told;
static uint64_t told_bytes;

static void note_ack(struct mt_cc *cc, const struct mt_cc_ack *ack)
{
	(void)cc;
	told = *ack;
	told_bytes += ack->newly_bytes;
}

static const struct mt_cc_ops spy = {.name = "spy", .ack = note_ack};

static void start_message_and_listen(uint32_t packets)
{
	start_message(sent, packets);
	n.qp->req.cc.ops = &spy;
	told_bytes = 0;
}

/* How responders count, in bytes; rcvd_bytes has units of 256. */
static uint64_t count_headers(uint64_t packets)
{
	return packets * NOMINAL;
}

static uint64_t count_immediates(uint64_t packets)
{
	return packets * (NOMINAL + 4);
}

static uint64_t count_payload(uint64_t packets)
{
	return packets * MTU;
}

static uint64_t count_nothing(uint64_t packets)
{
	(void)packets;
	return 0;
}

static uint64_t count_anything(uint64_t packets)
{
	return packets * packets * UINT64_C(0x9E3779B97F4A7C15) >> 20;
}

/*
 * REQ(cc.nscc.inflight): however the responder counts, what is in flight and what is newly received
 * are what was sent and what SACKs name. The window runs empty three times.
 */
CASE(mt_completer_sack, bytes_are_counted_by_our_own_records)
{
	static uint64_t (*const counts[])(uint64_t) = {
		count_headers, count_immediates, count_payload, count_nothing, count_anything};
	static const uint64_t steps[] = {4, 1, 123, 60, 68, 2, 126, 16};

	for (unsigned k = 0; k < 5; k++) {
		uint64_t done = 0, next = 128; /* PSNs, as in the window */

		if (k > 0)
			node_close(&n);
		start();
		assert_i_eq(node_post(&n, n.qp, 70, 400 * MTU, 0), MT_OK);
		assert_u_eq(node_tx(&n, 1000, sent, SENT_MAX), 128);
		n.qp->req.cc.ops = &spy;
		told_bytes = 0;
		for (unsigned i = 0; i < 8; i++) {
			struct mw_packet pkt = node_sack(&n, &sent[0], done += steps[i]);

			pkt.seth.rcvd_bytes = (uint32_t)((counts[k](done) + 255) / 256) & 0xFFFFFF;
			rx_at(5000, pkt);
			assert_i_eq(inflight(), (int64_t)(next - done) * NOMINAL);
			assert_u_eq(told_bytes, done * NOMINAL);
			if (done == next)
				node_drain(&n, 5000);
			next = n.qp->req.window.next - node_psn(0);
		}
		assert_u_eq(done, 400);
	}
}

/* REQ(cc.nscc.penalty) */
CASE(mt_completer_sack, tells_congestion_control_what_it_says)
{
	struct mw_packet pkt;

	start_message_and_listen(20);
	pkt = node_sack(&n, &sent[3], 4);
	pkt.seth.m = MW_MARK_SKIP_ONCE;
	pkt.seth.rcv_cwnd_pen = 9;
	pkt.seth.restore_cwnd = true;
	rx_at(5000, pkt);
	assert_u_eq(told.now_ns, 5000);
	assert_u_eq(told.rtt_ns, 4000);
	assert_u_eq(told.newly_bytes, 4 * NOMINAL);
	assert_true(told.marked);
	assert_u_eq(told.penalty, 9);
	assert_true(told.restore);
	rx_at(6000, node_sack(&n, &sent[3], 4));
	assert_false(told.marked);
	assert_u_eq(told.penalty, 0);
	assert_false(told.restore);
	assert_u_eq(told.newly_bytes, 0);
}

/* REQ(req.sack.overtaken) */
CASE(mt_completer_sack, overtaken_asks_for_nothing)
{
	struct mw_packet early, late;

	start_message_and_listen(20);
	early = late = node_sack(&n, &sent[9], 3);
	late.seth.ooo_count = 3;
	late.seth.sack_bitmap = 0x38;
	late.seth.rcv_cwnd_pen = 9;
	rx_at(5000, late);
	assert_u_eq(told.penalty, 9);
	early.seth.restore_cwnd = true;
	rx_at(6000, early);
	assert_u_eq(told.penalty, 9);
	assert_false(told.restore);
	late = node_sack(&n, &sent[9], 4);
	late.seth.ooo_count = 2;
	rx_at(7000, late);
	assert_u_eq(told.penalty, 0);
	early.seth.rcv_cwnd_pen = 100;
	rx_at(8000, early);
	assert_u_eq(told.penalty, 0);
}

/* A count of what has arrived that is beyond what was sent does not silence later SACKs. */
CASE(mt_completer_sack, ooo_count_is_limited_to_what_was_sent)
{
	struct mw_packet pkt;

	start_message_and_listen(20);
	pkt = node_sack(&n, &sent[9], 3);
	pkt.seth.ooo_count = 0x7FFF;
	rx_at(5000, pkt);
	pkt = node_sack(&n, &sent[19], 20);
	pkt.seth.rcv_cwnd_pen = 7;
	rx_at(6000, pkt);
	assert_u_eq(told.penalty, 7);
}

CASE(mt_completer_sack, bytes_of_an_ack_are_told_with_the_next_sack)
{
	start_message_and_listen(3);
	rx_at(5000, node_ack(&n, MW_ACK_NO_CREDIT, 1));
	assert_i_eq(inflight(), 0);
	assert_u_eq(told_bytes, 0);
	rx_at(6000, node_sack(&n, &sent[2], 3));
	assert_u_eq(told_bytes, 3 * NOMINAL);
}

CASE(mt_completer_sack, a_lost_packet_that_arrives_after_all)
{
	start_message_and_listen(20);
	n.qp->req.cc.ops = &mt_cc_none;
	rx_at(2000, node_nack(&n, &sent[7], MW_NACK_NO_RESOURCE));
	assert_i_eq(inflight(), 19 * NOMINAL);
	n.qp->req.cc.ops = &spy;
	rx_at(5000, node_sack(&n, &sent[8], 9));
	assert_i_eq(inflight(), 11 * NOMINAL);
	assert_u_eq(told_bytes, 9 * NOMINAL);
	assert_u_eq(n.qp->req.window.n_backoff, 0);
}

/* ---- NACK ---- */

/* REQ(req.loss.nack) REQ(req.ev.trim-skips) REQ(req.ev.last-hop-trim) */
CASE(mt_completer_nack, each_reason_sends_again)
{
	static const uint8_t reasons[] = {MW_NACK_TRIMMED,
					  MW_NACK_TRIMMED_LASTHOP,
					  MW_NACK_NO_BITMAP,
					  MW_NACK_NO_PKT_BUFFER,
					  MW_NACK_NO_RESOURCE,
					  MW_NACK_PSN_OOR_WINDOW,
					  0x55};

	start_message(sent, 7);
	for (uint32_t i = 0; i < 7; i++) {
		uint16_t path = mt_tx_rec(&n.qp->req.window, node_psn(i))->ev;

		rx_at(2000, node_nack(&n, &sent[i], reasons[i]));
		assert_u_eq(n.qp->req.window.lost, i < 2 ? i + 1 : 2);
		assert_u_eq(n.qp->req.window.n_backoff, i < 2 ? 0 : i - 1);
		assert_i_eq(inflight(), (6 - (int64_t)i) * NOMINAL);
		assert_i_eq(mt_spray_skips(&n.qp->req.spray, path), i == 0);
	}
	assert_u_eq(node_stats(&n).rx_nacks, 7);
	assert_u_eq(node_stats(&n).lost_inferred, 0);
	assert_u_eq(node_stats(&n).nack_backoffs, 5);
	assert_u_eq(node_stats(&n).evs_retired, 0);
	assert_u_eq(node_tx(&n, 3000, sent, SENT_MAX),
		    2); /* trims at once, the others have to wait */
	for (uint64_t t = 0; t < 1000000; t = mt_engine_deadline(n.engine)) {
		mt_engine_tick(n.engine, t);
		node_drain(&n, t);
	}
	assert_u_eq(node_stats(&n).tx_retransmits, 7);
}

/* How long after it was sent a packet that was refused goes again. */
static uint64_t wait_of(uint64_t now)
{
	for (uint64_t t = now; t < now + 100000000; t = mt_engine_deadline(n.engine)) {
		mt_engine_tick(n.engine, t);
		while (node_tx(&n, t, sent, 1) == 1)
			if (sent[0].pkt.bth.rtx)
				return t - now;
	}
	fail_msg("it never goes");
	return 0;
}

/* REQ(req.loss.nack-wait) */
CASE(mt_completer_nack, each_refusal_makes_the_next_wait_longer)
{
	const uint64_t unit = opts.cfg.timing.tail_probe_min_ns;
	uint64_t now = 1000;

	opts.attr.timeout = 24;
	start_message(sent, 1);
	for (unsigned i = 0; i < 10; i++) {
		unsigned shift = i < 2 ? 0 : i < 6 ? i - 1 : 4;
		uint64_t waited;

		rx_at(now + 100, node_nack(&n, &sent[0], MW_NACK_NO_RESOURCE));
		waited = wait_of(now);
		assert_true(waited >= (unit << shift) - unit / 4);
		assert_true(waited <= (unit << shift) * 2 + unit);
		now += waited;
	}
	assert_u_eq(n.qp->state, RD_QPS_RTS);
}

/*
 * Answers take half a second; the first refusal's wait still leaves time for more before the
 * timeouts are used up. REQ(req.loss.nack-wait)
 */
CASE(mt_completer_nack, waits_no_longer_than_timeouts_allow)
{
	opts.attr.timeout = 16;
	start_message(sent, 1);
	n.qp->req.rtt.smoothed_ns = UINT64_C(500000000);
	rx_at(2000, node_nack(&n, &sent[0], MW_NACK_NO_RESOURCE));
	assert_true(wait_of(2000) <= mt_qp_rto_limits(n.qp).rto_ns / 2);
}

/* A peer that never has room is not waited for without end. REQ(req.retry.exhausted) */
CASE(mt_completer_nack, timeouts_go_on_while_a_packet_waits)
{
	uint64_t now = 1000, timeouts;

	opts.cfg.timing.tail_probe_min_ns = UINT64_C(1) << 36;
	opts.attr.retry_exp = RD_RETRY_EXP_FOREVER;
	start_message(sent, 1);
	for (unsigned i = 0; i < 5; i++) {
		rx_at(now + 100, node_nack(&n, &sent[0], MW_NACK_NO_RESOURCE));
		now += wait_of(now);
	}
	rx_at(now + 100, node_nack(&n, &sent[0], MW_NACK_NO_RESOURCE));
	timeouts = node_stats(&n).timeouts;
	now += wait_of(now); /* 16 quarters of a timeout, and up to as much again */
	assert_u_between(node_stats(&n).timeouts - timeouts, 3, 8);
}

/* REQ(req.loss.nack-wait) */
CASE(mt_completer_nack, trimmed_again_waits)
{
	start_message(sent, 1);
	rx_at(2000, node_nack(&n, &sent[0], MW_NACK_TRIMMED_LASTHOP));
	assert_u_eq(node_tx(&n, 2000, sent, SENT_MAX), 1);
	rx_at(3000, node_nack(&n, &sent[0], MW_NACK_TRIMMED_LASTHOP));
	assert_u_eq(node_tx(&n, 3000, sent, SENT_MAX), 0);
	assert_u_eq(n.qp->req.window.n_backoff, 1);
	assert_u_eq(wait_of(2000) / opts.cfg.timing.tail_probe_min_ns, 1);
}

/* The wait after the last of ten trims at the last hop, in the shortest waits that there are. */
static uint64_t wait_after_ten_trims(void)
{
	uint64_t now = 1000, waited = 0;

	opts.attr.timeout = 24;
	start_message(sent, 1);
	for (unsigned i = 0; i < 10; i++) {
		rx_at(now + 100, node_nack(&n, &sent[0], MW_NACK_TRIMMED_LASTHOP));
		waited = wait_of(now);
		now += waited;
	}
	return waited / opts.cfg.timing.tail_probe_min_ns;
}

/* REQ(req.loss.nack-wait) */
CASE(mt_completer_nack, trimmed_often_waits_longer_where_nothing_empties_the_queue)
{
	assert_u_between(wait_after_ten_trims(), 15, 32);
}

/* REQ(req.loss.nack-wait) */
CASE(mt_completer_nack, trimmed_often_waits_no_longer_with_congestion_control)
{
	opts.cc_profile = (struct mt_cc_profile_cfg){
		.kind = MT_CC_NSCC,
		.link_bps = 100000000000,
		.base_rtt_ns = 12000,
	};
	assert_u_between(wait_after_ten_trims(), 1, 4);
}

static void trim_at(uint64_t now, unsigned i, enum mw_nack_reason reason, uint8_t code)
{
	struct mw_packet nack = node_nack(&n, &sent[i], (uint8_t)reason);

	nack.neth.vendor_info = code;
	rx_at(now, nack);
}

/* REQ(cc.pace.gap) All three go again, the first within the gap, and the timer wakes the QP. */
CASE(mt_completer_nack, of_the_last_hop_sets_the_gap_between_packets)
{
	const uint64_t gap = mt_pace_decode(mt_pace_encode(300000));
	uint64_t now = 2000, times[3];
	unsigned got = 0;

	opts.attr.timeout = 16;
	start_message(sent, 3);
	for (unsigned i = 0; i < 3; i++)
		trim_at(now, i, MW_NACK_TRIMMED_LASTHOP, mt_pace_encode(300000));
	for (; got < 3 && now < 2000000; now = mt_engine_deadline(n.engine)) {
		mt_engine_tick(n.engine, now);
		while (got < 3 && node_tx(&n, now, sent, 1) == 1) {
			assert_true(sent[0].pkt.bth.rtx && sent[0].pkt.bth.a);
			times[got++] = now;
		}
	}
	assert_u_eq(got, 3);
	assert_u_between(times[0], 2000, 2000 + gap);
	assert_u_between(times[1] - times[0], gap, gap + 2000);
	assert_u_between(times[2] - times[1], gap, gap + 2000);
	assert_u_eq(node_stats(&n).tail_probes, 0);
	assert_u_eq(node_stats(&n).nack_backoffs, 0);
}

/* REQ(cc.pace.gap) */
CASE(mt_completer_nack, sets_no_gap_that_timeouts_do_not_bear_and_none_for_other_causes)
{
	opts.attr.timeout = 8;
	start_message(sent, 3);
	trim_at(2000, 0, MW_NACK_TRIMMED, 200);
	trim_at(2000, 1, MW_NACK_TRIMMED_LASTHOP, 0);
	assert_u_eq(n.qp->req.pace.gap_ns, 0);
	trim_at(2000, 2, MW_NACK_TRIMMED_LASTHOP, 255);
	assert_u_eq(n.qp->req.pace.gap_ns, (UINT64_C(1024) << 8) / 4);
}

/* Whether the NACK of one of three packets sets a gap, with such a window and RTT. */
static bool sets_gap(uint64_t cwnd, uint64_t rtt_ns)
{
	bool set;

	opts.attr.timeout = 16;
	start_message(sent, 3);
	n.qp->req.cc.cwnd = cwnd;
	n.qp->req.rtt.smoothed_ns = rtt_ns;
	trim_at(2000, 0, MW_NACK_TRIMMED_LASTHOP, mt_pace_encode(100000));
	set = n.qp->req.pace.gap_ns > 0;
	assert_u_eq(n.qp->req.window.lost, 1); /* with a gap or without, it goes again */
	node_close(&n);
	return set;
}

/* REQ(cc.pace.own-part) */
TEST_WITH(defaults, NULL, mt_completer_nack, sets_no_gap_where_its_own_nic_holds_it_back)
{
	const uint64_t in_flight = UINT64_C(3) * NOMINAL, wide = 100 * in_flight;
	const uint64_t gap = mt_pace_decode(mt_pace_encode(100000));

	assert_u_eq(gap % 4, 0);
	assert_false(sets_gap(wide, gap * 3 / 4 + 1));
	assert_true(sets_gap(wide, gap * 3 / 4)); /* they are closer than a quarter of it */
	assert_false(sets_gap(2 * in_flight + 2, gap * 3 / 4 + 1));
	assert_true(sets_gap(2 * in_flight, gap * 3 / 4 + 1)); /* the window holds it back */
}

/* REQ(cc.pace.own-part) */
CASE(mt_completer_nack, who_has_a_gap_is_told_of_another)
{
	opts.attr.timeout = 16;
	start_message(sent, 3);
	trim_at(2000, 0, MW_NACK_TRIMMED_LASTHOP, mt_pace_encode(100000));
	n.qp->req.rtt.smoothed_ns = 1000000;
	trim_at(2000, 1, MW_NACK_TRIMMED_LASTHOP, mt_pace_encode(50000));
	assert_u_between(n.qp->req.pace.gap_ns, 50000, 60000);
}

/* REQ(cc.pace.gap) What is cut again goes in its turn as well. */
CASE(mt_completer_nack, with_a_gap_there_is_no_other_wait)
{
	start_message(sent, 1);
	trim_at(2000, 0, MW_NACK_TRIMMED_LASTHOP, 0);
	assert_u_eq(node_tx(&n, 2000, sent, SENT_MAX), 1);
	trim_at(3000, 0, MW_NACK_TRIMMED_LASTHOP, mt_pace_encode(40000));
	assert_u_eq(n.qp->req.window.n_backoff, 0);
	assert_u_eq(n.qp->req.window.lost, 1);
}

/* REQ(cc.pace.gap) The queue is before a link that is slower than the receiver's. */
CASE(mt_completer_nack, a_gap_that_is_too_short_gives_way_to_the_wait)
{
	const uint8_t code = mt_pace_encode(64);
	uint64_t now = 2000;

	start_message(sent, 1);
	for (unsigned i = 0; i < 16; i++) {
		trim_at(now, 0, MW_NACK_TRIMMED_LASTHOP, code);
		assert_u_eq(n.qp->req.window.n_backoff, 0);
		now += 1000;
		assert_u_eq(node_tx(&n, now, sent, SENT_MAX), 1);
	}
	trim_at(now, 0, MW_NACK_TRIMMED_LASTHOP, code);
	assert_u_eq(n.qp->req.window.n_backoff, 1);
	assert_u_eq(node_tx(&n, now + 1000, sent, SENT_MAX), 0);
}

/* REQ(cc.pace.gap) Those that met on one plane go on at any. */
CASE(mt_completer_nack, of_the_last_hop_goes_on_at_a_random_port)
{
	unsigned second = 0;

	start_message(sent, 64);
	for (unsigned i = 0; i < 64; i++) {
		n.qp->req.spray.next_port = 0;
		trim_at(2000, i, MW_NACK_TRIMMED_LASTHOP, 100);
		second += n.qp->req.spray.next_port == 1;
	}
	assert_u_between(second, 8, 56);
}

/* REQ(cc.pace.shorter) Before any sample, nothing; after one, what has none was sent often. */
CASE(mt_completer_sack, of_which_no_sample_is_taken_shortens_the_gap)
{
	struct mw_packet sack;

	start_message(sent, 4);
	trim_at(9000, 3, MW_NACK_TRIMMED_LASTHOP, mt_pace_encode(40000));
	sack = node_sack(&n, &sent[0], 1);
	sack.seth.tx_timestamp++;
	rx_at(9000, sack);
	assert_u_eq(n.qp->req.pace.gap_ns, 40960);
	rx_at(9000, node_sack(&n, &sent[1], 2));
	assert_u_eq(n.qp->req.pace.gap_ns, 30720);
	sack = node_sack(&n, &sent[2], 3);
	sack.seth.tx_timestamp++;
	n.qp->req.rtt.min_ns = 1; /* it has not queued for as long as that */
	rx_at(900000, sack);
	assert_u_eq(n.qp->req.pace.gap_ns, 23040);
}

/* REQ(cc.pace.shorter) */
CASE(mt_completer_sack, shortens_the_gap_by_what_did_not_queue)
{
	start_message(sent, 3);
	rx_at(9000, node_sack(&n, &sent[0], 1));
	trim_at(9000, 1, MW_NACK_TRIMMED_LASTHOP, mt_pace_encode(40000));
	rx_at(9100, node_sack(&n, &sent[0], 1)); /* nothing new */
	assert_u_eq(n.qp->req.pace.gap_ns, 40960);
	rx_at(9200, node_sack(&n, &sent[2], 1));
	assert_u_eq(n.qp->req.pace.gap_ns, 40960);
	rx_at(9300, node_sack(&n, &sent[2], 3));
	assert_u_eq(n.qp->req.pace.gap_ns, 30720);
}

/* Senders that met at a receiver are not to meet in that order again. REQ(req.spray.in-order) */
CASE(mt_completer_nack, of_the_last_hop_ends_the_order_of_rounds)
{
	start_message(sent, 1);
	assert_true(n.qp->req.spray.in_order);
	rx_at(2000, node_nack(&n, &sent[0], MW_NACK_TRIMMED_LASTHOP));
	assert_false(n.qp->req.spray.in_order);
}

CASE(mt_completer_nack, only_of_the_transmission_that_is_out)
{
	struct mw_packet old;

	start_message(sent, 3);
	old = node_nack(&n, &sent[0], MW_NACK_TRIMMED_LASTHOP);
	rx_at(2000, old);
	rx_at(2000, old); /* it is lost already */
	assert_u_eq(n.qp->req.window.lost, 1);
	assert_u_eq(node_tx(&n, 3000, sent, 1), 1);
	rx_at(4000, old); /* the first copy's, on another EV */
	assert_u_eq(n.qp->req.window.outstanding, 3);
	assert_u_eq(n.qp->req.window.lost, 0);
	rx_at(5000, node_sack(&n, &sent[0], 1));
	rx_at(6000, node_nack(&n, &sent[0], MW_NACK_TRIMMED_LASTHOP)); /* received */
	assert_u_eq(n.qp->req.window.lost, 0);
	assert_u_eq(node_stats(&n).rx_nacks, 4);
}

/* REQ(req.retry.progress) */
CASE(mt_completer_nack, is_no_progress)
{
	start_message(sent, 3);
	rx_at(2000, node_nack(&n, &sent[1], MW_NACK_TRIMMED));
	assert_u_eq(n.qp->req.window.lost, 1);
	assert_u_eq(n.qp->req.rto.step_ns, 1000);
}

CASE(mt_completer_nack, of_what_was_never_sent)
{
	struct mw_packet bad;

	start_message(sent, 3);
	bad = node_nack(&n, &sent[0], MW_NACK_UNEXP_EVENT);
	bad.neth.nack_psn = node_wire_psn(3);
	rx_at(2000, bad);
	assert_u_eq(node_stats(&n).drop_bogus_ack, 1);
	assert_u_eq(n.qp->state, RD_QPS_RTS);
}

/* REQ(req.error.fatal-nack) */
CASE(mt_completer_nack, unexpected_event_is_fatal)
{
	start_message(sent, 3);
	rx_at(2000, node_nack(&n, &sent[1], MW_NACK_UNEXP_EVENT));
	assert_u_eq(n.qp->state, RD_QPS_ERR);
	node_check_completion(&n, 70, RD_WC_REM_OP_ERR);
}

/*
 * One that names no outstanding transmission is of a former connection of the QP, or forged.
 * REQ(req.error.fatal-nack)
 */
CASE(mt_completer_nack, unexpected_event_must_name_an_outstanding_packet_and_its_ev)
{
	struct mw_packet bad;

	start_message(sent, 3);
	bad = node_nack(&n, &sent[1], MW_NACK_UNEXP_EVENT);
	bad.neth.nack_psn = node_wire_psn(-UINT64_C(5000));
	rx_at(2000, bad);
	bad = node_nack(&n, &sent[1], MW_NACK_UNEXP_EVENT);
	bad.neth.entropy = sent[2].ev;
	rx_at(2000, bad);
	assert_u_eq(node_stats(&n).nacks_stale, 2);
	assert_u_eq(n.qp->state, RD_QPS_RTS);
	rx_at(2000, node_nack(&n, &sent[1], MW_NACK_UNEXP_EVENT));
	assert_u_eq(n.qp->state, RD_QPS_ERR);
}

/* REQ(rsp.nack.unexpected) */
CASE(mt_completer_nack, unexpected_event_of_what_is_complete_harms_nothing)
{
	start_message(sent, 3);
	rx_at(2000, node_ack(&n, 0x1F, 1));
	node_check_completion(&n, 70, RD_WC_SUCCESS);
	rx_at(2000, node_nack(&n, &sent[1], MW_NACK_UNEXP_EVENT));
	assert_u_eq(n.qp->state, RD_QPS_RTS);
}

/* REQ(req.retry.progress) */
CASE(mt_completer_sack, progress_starts_the_timeouts_again)
{
	start_message(sent, 4);
	n.qp->req.rto.timeouts = 3;
	rx_at(2000, node_sack(&n, &sent[0], 0));
	assert_u_eq(n.qp->req.rto.timeouts, 3); /* nothing new */
	rx_at(3000, node_sack(&n, &sent[0], 1));
	assert_u_eq(n.qp->req.rto.timeouts, 0);
	assert_true(n.qp->req.rto.armed);
	rx_at(4000, node_sack(&n, &sent[3], 4));
	assert_true(n.qp->req.rto.armed); /* the ACK is still missing */
	rx_at(5000, node_ack(&n, 0x1F, 1));
	assert_false(n.qp->req.rto.armed);
}

/* REQ(req.mpr.dynamic) */
CASE(mt_completer_sack, the_least_window_is_an_offer_and_none_is_not)
{
	struct mw_packet pkt;

	opts.attr.dynamic_mpr = true;
	opts.attr.mpr = 3;
	start_message(sent, 4);
	pkt = node_sack(&n, &sent[0], 1);
	pkt.seth.mpr = 1;
	rx_at(2000, pkt);
	assert_u_eq(n.qp->req.mpr, 1);
	pkt = node_sack(&n, &sent[1], 2);
	pkt.seth.mpr = 0;
	rx_at(2000, pkt);
	assert_u_eq(n.qp->req.mpr, 1);
}
