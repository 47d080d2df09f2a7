/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers to our READs and atomics, as packets made by hand. */
#include "asking_fixture.h"

/* REQ(ext.response.place) REQ(ext.response.complete) */
FIXTURE_TEST(mt_rd_atomic_place_resp, a_read_whose_packets_change_places)
{
	struct mt_tx_desc d;
	struct mt_event ev;

	assert_i_eq(ask(RD_WR_READ, 300, 0), MT_OK);
	peer_has(FIXTURE_EXT);
	assert_true(node_tx_opcode(&n, 2000, MW_READ_REQUEST, &d));
	assert_u_eq(d.pkt.data.imm, 300);
	assert_u_eq(d.pkt.data.reth.va, 64);
	assert_u_eq(d.pkt.data.reth.rkey, 0x1234);
	answer_of(MW_READ_RESPONSE_LAST, 1, 0, 256, 44, 300);
	assert_false(node_poll(&n, &ev));
	assert_u_eq(n.last_at, 100 + 256);
	answer_of(MW_READ_RESPONSE_FIRST, 0, 0, 0, 256, 300);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.status, RD_WC_SUCCESS);
	assert_u_eq(ev.opcode, RD_WR_READ);
	assert_u_eq(ev.byte_len, 300);
	assert_u_eq(n.last_at, 100);
}

/* REQ(ext.atomic.local) */
FIXTURE_TEST(mt_rd_atomic_place_resp, what_an_atomic_found)
{
	uint64_t found;
	struct mt_event ev;
	struct mt_tx_desc d;

	assert_i_eq(ask(RD_WR_FETCH_ADD, 8, 0), MT_OK);
	peer_has(FIXTURE_EXT);
	assert_true(node_tx_opcode(&n, 2000, MW_FETCH_ADD, &d));
	answer_of(MW_ATOMIC_RESPONSE, 0, 0, UINT64_C(0x0102030405060708), 0, 0);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.byte_len, 8);
	memcpy(&found, n.memory + 100, 8);
	assert_u_eq(found, UINT64_C(0x0102030405060708));
}

FIXTURE_TEST(mt_rd_atomic_place_resp, an_answer_of_another_kind)
{
	struct mt_tx_desc d;

	assert_i_eq(ask(RD_WR_READ, 8, 0), MT_OK);
	peer_has(FIXTURE_EXT);
	assert_true(node_tx_opcode(&n, 2000, MW_READ_REQUEST, &d));
	answer_of(MW_ATOMIC_RESPONSE, 0, 0, 1, 0, 0);
	assert_u_eq(node_stats(&n).drop_malformed, 1);
	assert_u_eq(n.placed, 0);
}

/* A packet of an answer that asks for a SACK; says whether one leaves. */
static bool answer_is_acknowledged(uint8_t opcode, uint32_t len)
{
	struct mw_packet p = node_write(&n, opcode, 0, 0, len, len);
	struct mt_tx_desc d;

	p.bth.psn = n.opts.attr.sq_psn;
	p.bth.a = true;
	p.data.reth.va = 0;
	node_rx(&n, 3000, &p);
	return node_tx(&n, 3000, &d, 1) == 1;
}

FIXTURE_TEST(mt_rd_atomic_place_resp, only_what_is_placed_is_acknowledged)
{
	struct mt_tx_desc d;

	assert_i_eq(ask(RD_WR_READ, 8, 0), MT_OK);
	peer_has(FIXTURE_EXT);
	assert_true(node_tx_opcode(&n, 2000, MW_READ_REQUEST, &d));
	assert_false(answer_is_acknowledged(MW_ATOMIC_RESPONSE, 0));
	assert_true(answer_is_acknowledged(MW_READ_RESPONSE_ONLY, 8));
}

FIXTURE_TEST(mt_rd_atomic_place_resp, memory_that_is_gone)
{
	struct mt_tx_desc d;
	struct mt_event ev;

	assert_i_eq(ask(RD_WR_READ, 8, 0), MT_OK);
	peer_has(FIXTURE_EXT);
	assert_true(node_tx_opcode(&n, 2000, MW_READ_REQUEST, &d));
	n.memory_gone = true;
	answer_of(MW_READ_RESPONSE_ONLY, 0, 0, 0, 8, 8);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.status, RD_WC_LOC_PROT_ERR);
}

/* REQ(rsp.complete.whole) */
FIXTURE_TEST(mt_rd_atomic_place_resp, packets_that_disagree_about_where_the_answer_begins)
{
	struct mt_tx_desc d;

	assert_i_eq(ask(RD_WR_READ, 4 * MTU, 0), MT_OK);
	peer_has(FIXTURE_EXT);
	assert_true(node_tx_opcode(&n, 2000, MW_READ_REQUEST, &d));
	answer_of(MW_READ_RESPONSE_FIRST, 0, 0, MTU, MTU, 4 * MTU);	 /* FIRST is at 0 */
	answer_of(MW_READ_RESPONSE_LAST, 3, 0, 2 * MTU, MTU, 4 * MTU);	 /* LAST ends it */
	answer_of(MW_READ_RESPONSE_MIDDLE, 1, 0, MTU + 8, MTU, 4 * MTU); /* all are full */
	assert_u_eq(node_stats(&n).drop_malformed, 3);
	answer_of(MW_READ_RESPONSE_MIDDLE, 1, 0, MTU, MTU, 4 * MTU);
	answer_of(MW_READ_RESPONSE_MIDDLE, 2, 0, MTU, MTU, 4 * MTU); /* the same bytes again */
	answer_of(MW_READ_RESPONSE_LAST, 2, 0, 3 * MTU, MTU, 4 * MTU);
	assert_u_eq(node_stats(&n).drop_malformed, 5);
	assert_u_eq(n.qp->state, RD_QPS_RTS);
}

/* Two READs; a packet in the middle of the first answer says that it is of the second. */
FIXTURE_TEST(mt_rd_atomic_resp_done, an_answer_that_ends_without_all_its_packets)
{
	struct mw_packet last = node_write(&n, MW_READ_RESPONSE_LAST, 0, 0, MTU, 3 * MTU);
	struct mt_rx_meta meta = node_meta(&n);
	struct mt_tx_desc d;

	last.bth.psn = (n.opts.attr.sq_psn + 2) & 0xFFFFFF;
	last.data.reth.va = 2 * MTU;
	meta.ecn_ce = true;
	assert_i_eq(ask(RD_WR_READ, 3 * MTU, 0), MT_OK);
	assert_i_eq(ask(RD_WR_READ, 3 * MTU, 0), MT_OK);
	peer_has(FIXTURE_EXT);
	assert_true(node_tx_opcode(&n, 2000, MW_READ_REQUEST, &d));
	assert_true(node_tx_opcode(&n, 2000, MW_READ_REQUEST, &d));
	answer_of(MW_READ_RESPONSE_MIDDLE, 1, 1, MTU, MTU, 3 * MTU);
	answer_of(MW_READ_RESPONSE_FIRST, 0, 0, 0, MTU, 3 * MTU);
	assert_u_eq(n.qp->state, RD_QPS_RTS);
	node_rx_meta(&n, 3000, &meta, &last);
	assert_u_eq(n.qp->state, RD_QPS_ERR);
	node_check_completion(&n, 5, RD_WC_FATAL_ERR);
	assert_false(mt_engine_tx_is_blocked(n.engine)); /* with it all ends ... */
	assert_u_eq(node_stats(&n).rx_ecn, 0);		 /* ... and its mark is not answered */
}

/* REQ(ext.response.complete) */
FIXTURE_TEST(mt_rd_atomic_resp_done, more_ends_of_messages_than_requests)
{
	struct mt_tx_desc d;
	struct mt_event ev;

	assert_i_eq(ask(RD_WR_FETCH_ADD, 8, 0), MT_OK);
	peer_has(FIXTURE_EXT);
	assert_true(node_tx_opcode(&n, 2000, MW_FETCH_ADD, &d));
	answer_of(MW_ATOMIC_RESPONSE, 1, 0, 0, 0, 0);
	assert_false(node_poll(&n, &ev));
	answer_of(MW_ATOMIC_RESPONSE, 0, 0, 0, 0, 0);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.wr_id, 5);
	assert_u_eq(ev.status, RD_WC_SUCCESS);
	node_check_no_event(&n);
	assert_u_eq(n.qp->state, RD_QPS_RTS);
}

/* Of what is not answered in full nothing follows, nor of what was asked before it. */
FIXTURE_TEST(mt_rd_atomic_resp_done, half_an_answer_proves_nothing)
{
	assert_i_eq(node_post(&n, n.qp, 4, 8, RD_SEND_SIGNALED), MT_OK);
	assert_i_eq(ask(RD_WR_READ, 2 * MTU, 0), MT_OK);
	peer_has(FIXTURE_EXT);
	assert_u_eq(node_drain(&n, 2000), 2);
	answer_of(MW_READ_RESPONSE_FIRST, 0, 0, 0, MTU, 2 * MTU);
	node_check_no_event(&n);
	answer_of(MW_READ_RESPONSE_LAST, 1, 0, MTU, MTU, 2 * MTU);
	node_check_completion(&n, 4, RD_WC_SUCCESS);
	node_check_completion(&n, 5, RD_WC_SUCCESS);
}

/* A refusal that waited for the answer is not what ended the QP. REQ(ext.response.nak) */
FIXTURE_TEST(mt_rd_atomic_resp_done, a_torn_answer_comes_before_a_refusal_behind_it)
{
	struct mt_event ev;

	assert_i_eq(ask(RD_WR_READ, 3 * MTU, 0), MT_OK);
	assert_i_eq(ask(RD_WR_READ, 3 * MTU, 0), MT_OK);
	assert_i_eq(node_post(&n, n.qp, 6, 8, RD_SEND_SIGNALED), MT_OK);
	peer_has(FIXTURE_EXT);
	assert_u_eq(node_drain(&n, 2000), 3);
	rx_at(2500, node_ack(&n, 0x62, 2)); /* waits for the answers to both READs */
	answer_of(MW_READ_RESPONSE_MIDDLE, 1, 1, MTU, MTU, 3 * MTU);
	answer_of(MW_READ_RESPONSE_FIRST, 0, 0, 0, MTU, 3 * MTU);
	answer_of(MW_READ_RESPONSE_LAST, 2, 0, 2 * MTU, MTU, 3 * MTU);
	node_check_completion(&n, 5, RD_WC_FATAL_ERR);
	node_check_completion(&n, 5, RD_WC_WR_FLUSH_ERR);
	node_check_completion(&n, 6, RD_WC_WR_FLUSH_ERR);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.type, MT_EVENT_QP);
	assert_u_eq(ev.status, RD_WC_FATAL_ERR);
}
