/* SPDX-License-Identifier: BSD-2-Clause */
/* How a responder answers data and probes: which trigger makes a SACK, and what it reflects. */
#include "unit/node_fixture.h"

#define CASE(function, name) TEST_WITH(defaults, close_node, function, name)

static void check_ack(uint32_t msn)
{
	struct mt_tx_desc d;

	assert_true(node_tx_opcode(&n, 2000, MW_ACK, &d));
	assert_u_eq(d.pkt.aeth.syndrome, 0x1F);
	assert_u_eq(d.pkt.aeth.msn, msn);
}

static void check_silent(void)
{
	assert_u_eq(node_drain(&n, 2000), 0);
}

/* REQ(rsp.sack.trigger.ackreq) REQ(rsp.sack.reflect-ev) REQ(rsp.sack.reflect-time) */
CASE(mt_responder_data, sack_when_asked_for)
{
	struct mw_packet pkt;
	struct mw_seth s;

	start();
	pkt = only(1);
	pkt.bth.a = true;
	rx(pkt);
	s = next_sack();
	assert_u_eq(s.cack_psn, node_wire_psn(-UINT64_C(1)));
	assert_u_eq(s.sack_bitmap, 2);
	assert_i_eq(s.ack_psn_offset, 2);
	assert_u_eq(s.entropy, node_meta(&n).ev);
	assert_u_eq(s.tx_timestamp, 0x1001);
	assert_u_eq(s.mpr, 1);
	assert_u_eq(s.rcvd_bytes, 2);
	check_silent();
}

/* REQ(rsp.sack.trigger.bytes) REQ(rsp.sack.trigger.rtx) */
CASE(mt_responder_data, sack_after_enough_bytes_or_for_a_retransmission)
{
	struct mw_packet pkt;

	start();
	for (uint64_t i = 1; i < 5; i++)
		rx(only(i)); /* each counts 1024 */
	check_silent();
	rx(only(5));
	assert_u_eq(next_sack().sack_bitmap, 0x3E);
	pkt = only(7);
	pkt.bth.rtx = true;
	rx(pkt);
	assert_u_eq(next_sack().sack_bitmap, 0xBE);
	check_silent();
}

/* REQ(rsp.sack.trigger.ecn) REQ(rsp.sack.mark) REQ(rsp.sack.coalesce) */
CASE(mt_responder_data, a_sack_for_each_mark)
{
	struct mt_rx_meta meta;

	start();
	meta = node_meta(&n);
	meta.ecn_ce = true;
	for (uint32_t i = 1; i < 4; i++) {
		struct mw_packet pkt = only(i);

		meta.ev = 0x500 + i;
		node_rx_meta(&n, 1000, &meta, &pkt);
	}
	for (uint32_t i = 1; i < 4; i++) {
		struct mw_seth s = next_sack();

		assert_u_eq(s.m, MW_MARK_SKIP_ONCE);
		assert_u_eq(s.entropy, 0x500 + i);
		assert_i_eq(s.ack_psn_offset, 1 + (int64_t)i);
	}
	assert_u_eq(node_stats(&n).rx_ecn, 3);
	check_silent();
}

/* REQ(rsp.sack.trigger.probe) REQ(req.probe.reliability) */
CASE(mt_responder_probe, a_sack_for_each_and_the_ack_in_case_it_was_lost)
{
	struct mw_seth s;

	start();
	rx(node_probe(&n, 0x123));
	s = next_sack();
	assert_true(s.pr);
	assert_u_eq(s.probe_id, 0x123);
	assert_u_eq(s.tx_timestamp, 0x7A7A);
	check_silent(); /* nothing was complete yet */
	rx(only(0));
	node_drain(&n, 2000);
	rx(node_probe(&n, 0x124));
	rx(node_probe(&n, 0x125));
	assert_u_eq(next_sack().probe_id, 0x124);
	assert_u_eq(next_sack().probe_id, 0x125);
	check_ack(1);
	assert_u_eq(node_stats(&n).rx_probes, 3);
}

/* What is known to have worked may be what the probe is about. REQ(req.reverse.unheard) */
CASE(mt_responder_probe, half_of_the_sacks_take_any_ev)
{
	struct mt_rx_meta meta;
	struct mw_packet probe;
	struct mt_tx_desc d;
	unsigned known = 0;

	start();
	mt_reverse_ev_set(n.qp->ev_set, 1, 0);
	probe = node_probe(&n, 1);
	meta = node_meta(&n);
	meta.port = opts.evs[1].port;
	for (unsigned i = 0; i < 200; i++) {
		node_rx_meta(&n, 2000, &meta, &probe);
		assert_true(node_tx_opcode(&n, 2000, MW_SACK, &d));
		known += d.ev == opts.evs[1].value;
	}
	assert_u_between(known, 60, 180);
}

/* Who probes may not hear on the plane of the last data. REQ(req.reverse.unheard) */
CASE(mt_responder_probe, the_ack_that_may_be_lost_goes_where_the_probe_came_from)
{
	unsigned planes[2] = {0};
	struct mw_packet probe;
	struct mt_rx_meta meta;
	struct mt_tx_desc d;

	start();
	rx(only(0));
	node_drain(&n, 2000);
	probe = node_probe(&n, 1);
	meta = node_meta(&n);
	meta.port = 1;
	for (unsigned i = 0; i < 200; i++) {
		node_rx_meta(&n, 2000, &meta, &probe);
		assert_true(node_tx_opcode(&n, 2000, MW_ACK, &d));
		planes[d.port]++;
	}
	assert_u_between(planes[0], 20, 80); /* half take any EV, of either plane */
	assert_u_between(planes[1], 120, 180);
}

/* REQ(rsp.svc-time) REQ(wire.tseth.optional) */
CASE(mt_responder_data, a_packet_without_a_time_has_none_returned)
{
	struct mw_packet pkt;

	opts.cfg.svc_time = true;
	start();
	pkt = only(0);
	pkt.bth.a = true;
	pkt.bth.ts = false;
	rx_at(1, pkt);
	assert_u_eq(next_sack().tx_timestamp, 0);
}

/* REQ(req.reverse.per-plane) */
CASE(mt_responder_data, answers_on_the_plane_it_came_from)
{
	struct mt_tx_desc d;

	start();
	for (uint64_t i = 0; i < 20; i++) {
		struct mt_rx_meta meta = node_meta(&n);
		struct mw_packet pkt = only(i);

		meta.port = i % 2;
		pkt.bth.a = true;
		node_rx_meta(&n, 1000, &meta, &pkt);
		while (node_tx(&n, 1000, &d, 1) == 1)
			assert_u_eq(d.port, i % 2);
	}
	assert_u_eq(node_stats(&n).tx_sacks, 20);
	assert_u_eq(node_stats(&n).tx_acks, 20);
}

/* How many of 64 SACKs and ACKs for packets on port 0 leave from port 1. */
static unsigned from_the_other_port(bool rtx)
{
	unsigned others = 0;
	struct mt_tx_desc d;

	for (uint64_t i = 0; i < 32; i++) {
		struct mw_packet pkt = only(i);

		pkt.bth.a = true;
		pkt.bth.rtx = rtx;
		rx(pkt);
		while (node_tx(&n, 2000, &d, 1) == 1)
			others += d.port;
	}
	return others;
}

CASE(mt_responder_data, answers_that_were_not_heard_change_plane)
{
	struct mt_tx_desc d;
	unsigned others = 0;

	start();
	assert_u_eq(from_the_other_port(false), 0);
	assert_u_between(from_the_other_port(false), 4, 28); /* duplicates: a quarter of 64 */
	node_close(&n);
	start();
	assert_u_between(from_the_other_port(true), 4, 28);
	for (uint16_t i = 0; i < 32; i++) {
		rx(node_probe(&n, i));
		while (node_tx(&n, 2000, &d, 1) == 1)
			others += d.port;
	}
	assert_u_between(others, 4, 28);
}
