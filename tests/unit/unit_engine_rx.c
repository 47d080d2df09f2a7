/* SPDX-License-Identifier: BSD-2-Clause */
/* A packet's first steps: every reason to drop it before a QP sees it. */
#include "unit/node_fixture.h"

#define CASE(function, name) TEST_WITH(connected, close_node, function, name)

static struct mw_packet data(void)
{
	return node_write(&n, MW_WRITE_ONLY, 0, 0, 4, 4);
}

static void check_nothing_happened(void)
{
	assert_u_eq(n.placed, 0);
	assert_u_eq(node_stats(&n).rx_data_packets, 0);
	assert_u_eq(node_drain(&n, 0), 0);
}

CASE(mt_engine_rx, a_good_one_arrives)
{
	struct mw_packet pkt = data();

	node_rx(&n, 0, &pkt);
	assert_u_eq(n.placed, 1);
}

CASE(mt_engine_rx, unknown_opcode)
{
	struct mw_packet pkt = data();

	pkt.bth.opcode = 0x0A; /* RoCEv2's WRITE ONLY */
	node_rx(&n, 0, &pkt);
	pkt.bth.opcode = 0xC0;
	node_rx(&n, 0, &pkt);
	assert_u_eq(node_stats(&n).drop_decode, 2);
	pkt.bth.dqp = n.qpn + 1; /* whoever it is for */
	node_rx(&n, 0, &pkt);
	assert_u_eq(node_stats(&n).drop_decode, 3);
	assert_u_eq(node_stats(&n).drop_no_qp, 0);
	check_nothing_happened();
}

CASE(mt_engine_rx, a_port_that_is_not_there)
{
	struct mt_rx_meta meta = node_meta(&n);
	struct mw_packet pkt = data();

	meta.port = 2;
	node_rx_meta(&n, 0, &meta, &pkt);
	assert_u_eq(node_stats(&n).drop_decode, 1);
	check_nothing_happened();
}

CASE(mt_engine_rx, wrong_icrc)
{
	struct mt_rx_meta meta = node_meta(&n);
	struct mw_packet pkt = data(), probe = node_probe(&n, 1);

	meta.icrc_ok = false;
	node_rx_meta(&n, 0, &meta, &pkt);
	node_rx_meta(&n, 0, &meta, &probe);
	assert_u_eq(node_stats(&n).drop_icrc, 2);
	meta.trim = MT_TRIM_MIDPATH; /* nobody trims a control packet */
	node_rx_meta(&n, 0, &meta, &probe);
	assert_u_eq(node_stats(&n).drop_icrc, 3);
	check_nothing_happened();
}

CASE(mt_engine_rx_expected, counts_by_reason_what_it_refuses)
{
	struct mt_rx_meta meta = node_meta(&n);

	assert_true(mt_engine_rx_expected(n.engine, &meta, n.qpn, MW_WRITE_ONLY, 48));
	assert_true(mt_engine_rx_expected(n.engine, &meta, n.qpn, MW_SACK, 48));
	assert_true(mt_engine_rx_expected(n.engine, &meta, MW_QPN_ENDPOINT, MW_EP_REQUEST, 48));
	assert_false(mt_engine_rx_expected(n.engine, &meta, n.qpn, 0xC0, 48));
	assert_false(mt_engine_rx_expected(n.engine, &meta, n.qpn + 1, MW_WRITE_ONLY, 48));
	meta.src.b[15] ^= 1;
	assert_false(mt_engine_rx_expected(n.engine, &meta, n.qpn, MW_WRITE_ONLY, 48));
	assert_true(mt_engine_rx_expected(n.engine, &meta, MW_QPN_ENDPOINT, MW_EP_RESPONSE, 48));
	/* A control packet has no payload; of data one packet is as good as any. */
	assert_false(mt_engine_rx_expected(n.engine, &meta, MW_QPN_ENDPOINT, MW_EP_REQUEST, 49));
	assert_u_eq(node_stats(&n).drop_decode, 2);
	assert_u_eq(node_stats(&n).drop_no_qp, 1);
	assert_u_eq(node_stats(&n).drop_src_mismatch, 1);
	meta = node_meta(&n);
	assert_true(mt_engine_rx_expected(n.engine, &meta, n.qpn, MW_WRITE_MIDDLE, 4096));
	check_nothing_happened();
}

CASE(mt_engine_rx, a_trimmed_one_has_no_icrc_left)
{
	struct mt_rx_meta meta = node_meta(&n);
	struct mw_packet pkt = data();

	meta.icrc_ok = false;
	meta.trim = MT_TRIM_LASTHOP;
	node_rx_meta(&n, 0, &meta, &pkt);
	assert_u_eq(node_stats(&n).drop_icrc, 0);
	assert_u_eq(node_stats(&n).rx_trimmed, 1);
}

/* REQ(rsp.qp.demux) */
CASE(mt_engine_rx, no_such_qp)
{
	struct mw_packet pkt = data();

	pkt.bth.dqp = n.qpn + 1;
	node_rx(&n, 0, &pkt);
	pkt.bth.dqp = n.qpn + 4; /* in the same place of the table of 4 */
	node_rx(&n, 0, &pkt);
	assert_u_eq(node_stats(&n).drop_no_qp, 2);
	check_nothing_happened();
}

CASE(mt_engine_rx, a_qp_that_is_not_connected)
{
	struct rd_qp_attr reset = {.state = RD_QPS_RESET};
	struct mw_packet pkt = data();

	assert_i_eq(node_modify(&n, n.qp, &reset, RD_QP_STATE), MT_OK);
	node_rx(&n, 0, &pkt);
	assert_u_eq(node_stats(&n).drop_qp_state, 1);
	check_nothing_happened();
}

/* REQ(rsp.peer-check) */
CASE(mt_engine_rx, a_attacker)
{
	struct mt_rx_meta meta = node_meta(&n);
	struct mw_packet pkt = data(), probe = node_probe(&n, 1), ack = node_ack(&n, 0x62, 0);

	meta.src.b[15] ^= 1;
	node_rx_meta(&n, 0, &meta, &pkt);
	node_rx_meta(&n, 0, &meta, &probe);
	node_rx_meta(&n, 0, &meta, &ack);
	assert_u_eq(node_stats(&n).drop_src_mismatch, 3);
	check_nothing_happened();
}

CASE(mt_engine_rx, control_packets_reach_their_half)
{
	struct mt_tx_desc d;
	struct mw_packet pkt;

	assert_i_eq(node_post(&n, n.qp, 1, 10, 0), MT_OK);
	assert_u_eq(node_tx(&n, 0, &d, 1), 1);
	pkt = node_nack(&n, &d, MW_NACK_TRIMMED);
	node_rx(&n, 10, &pkt);
	pkt = node_sack(&n, &d, 0);
	node_rx(&n, 10, &pkt);
	pkt = node_ack(&n, 0x1F, 0);
	node_rx(&n, 10, &pkt);
	pkt = node_probe(&n, 1);
	node_rx(&n, 10, &pkt);
	assert_u_eq(node_stats(&n).rx_nacks, 1);
	assert_u_eq(node_stats(&n).rx_sacks, 1);
	assert_u_eq(node_stats(&n).rx_acks, 1);
	assert_u_eq(node_stats(&n).rx_probes, 1);
}

CASE(mt_engine_rx_bytes, decodes_or_counts)
{
	struct mt_rx_meta meta = node_meta(&n);
	struct mw_packet pkt = data();
	uint8_t bytes[64];
	size_t len = mw_packet_encode(&pkt, bytes);

	memcpy(bytes + len, "abcd", 4);
	mt_engine_rx_bytes(n.engine, 0, &meta, bytes, 11);
	assert_u_eq(node_stats(&n).drop_decode, 1);
	mt_engine_rx_bytes(n.engine, 0, &meta, bytes, len + 4);
	assert_u_eq(n.placed, 1);
	assert_memory_equal(n.memory, "abcd", 4);
}

CASE(mt_engine_rx_bytes, trimmed_ones_may_be_cut)
{
	struct mt_rx_meta meta = node_meta(&n);
	struct mw_packet pkt = data();
	uint8_t bytes[64];

	mw_packet_encode(&pkt, bytes);
	mt_engine_rx_bytes(n.engine, 0, &meta, bytes, 20); /* BTH, METH and TSETH */
	assert_u_eq(node_stats(&n).drop_decode, 1);
	meta.trim = MT_TRIM_MIDPATH;
	meta.icrc_ok = false;
	mt_engine_rx_bytes(n.engine, 0, &meta, bytes, 20);
	assert_u_eq(node_stats(&n).rx_trimmed, 1);
}

static void prefetch_all(uint32_t qpn)
{
	for (unsigned opcode = 0; opcode < 256; opcode++) {
		mt_engine_prefetch_qp(n.engine, qpn, (uint8_t)opcode);
		mt_engine_prefetch_qp_parts(n.engine, qpn, (uint8_t)opcode);
	}
}

CASE(mt_engine_prefetch_qp, changes_nothing_whoever_it_names)
{
	struct mt_stats before = node_stats(&n), after;

	for (uint32_t qpn = 0; qpn < 4 * opts.cfg.max_qps; qpn++)
		prefetch_all(qpn);
	prefetch_all(UINT32_MAX);
	after = node_stats(&n);
	assert_memory_equal(&before, &after, sizeof(before));
}

/* REQ(rsp.control.quota): half of what is not kept for NACKs. */
CASE(mt_engine_queue_control, counts_what_a_full_queue_drops)
{
	struct mw_packet pkt = node_probe(&n, 1);
	uint32_t quota = opts.cfg.control_ring * 3 / 8;

	for (uint32_t i = 0; i < quota + 3; i++)
		node_rx(&n, 0, &pkt);
	assert_u_eq(node_stats(&n).control_dropped, 3);
	assert_u_eq(node_drain(&n, 0), quota);
}
