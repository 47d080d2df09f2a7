/* SPDX-License-Identifier: BSD-2-Clause */
/* SENDs, READs and atomics on their way to the peer: what is taken, what travels, what must
 * wait. */
#include "asking_fixture.h"

#include "base/bytes.h"

/* What leaves next beside ACKs and SACKs of answers, if it is this. */
static struct mt_tx_desc next_is(uint8_t opcode)
{
	struct mt_tx_desc d;

	do
		assert_u_eq(node_tx(&n, 2000, &d, 1), 1);
	while (d.pkt.bth.opcode == MW_RESPONSE_ACK || d.pkt.bth.opcode == MW_RESPONSE_SACK);
	assert_u_eq(d.pkt.bth.opcode, opcode);
	return d;
}

static void check_silent(void)
{
	assert_u_eq(node_drain(&n, 2000), 0);
}

/* ---- what is taken ---- */

static int sends_only(void **state)
{
	asking_defaults(state);
	opts.cap.extensions = MW_EXT_SEND;
	start();
	return 0;
}

static int asks_nothing(void **state)
{
	asking_defaults(state);
	opts.attr.max_rd_atomic = 0;
	start();
	return 0;
}

/* REQ(ext.atomic.local) */
FIXTURE_TEST(mt_wr_is_supported, requests_that_are_none)
{
	assert_i_eq(ask(RD_WR_FETCH_ADD, 7, 0), MT_ERR_INVALID);
	assert_i_eq(ask(RD_WR_COMPARE_SWAP, 9, 0), MT_ERR_INVALID);
	assert_i_eq(ask(RD_WR_READ, 8, RD_SEND_IMM), MT_ERR_INVALID);
	assert_i_eq(ask(RD_WR_OPCODES, 8, 0), MT_ERR_INVALID);
	assert_i_eq(ask(RD_WR_LOCAL_INV, 8, 0), MT_ERR_INVALID); /* it goes to no peer */
	assert_i_eq(ask(RD_WR_SEND, 8, RD_SEND_IMM), MT_OK);
}

/* REQ(ext.atomic.local) */
FIXTURE_TEST(mt_wr_is_supported, a_result_lies_in_one_piece)
{
	struct rd_sge half[2] = {{NODE_MR_START, 4, NODE_KEY}, {NODE_MR_START + 4, 4, NODE_KEY}};
	struct rd_send_wr wr = {.sge = half, .n_sge = 2, .opcode = RD_WR_FETCH_ADD};

	assert_i_eq(mt_qp_post_send(n.qp, 1000, &wr), MT_ERR_INVALID);
	wr.opcode = RD_WR_READ;
	assert_i_eq(mt_qp_post_send(n.qp, 1000, &wr), MT_OK);
}

/* REQ(svc.write-only) */
TEST_WITH(sends_only, close_node, mt_wr_is_supported, what_the_qp_was_not_made_for)
{
	assert_i_eq(ask(RD_WR_READ, 8, 0), MT_ERR_INVALID);
	assert_i_eq(ask(RD_WR_FETCH_ADD, 8, 0), MT_ERR_INVALID);
	assert_i_eq(ask(RD_WR_SEND, 8, 0), MT_OK);
}

/* REQ(ext.read.limit) */
TEST_WITH(asks_nothing, close_node, mt_wr_is_supported, none_at_once_is_none_at_all)
{
	struct rd_qp_attr err = {.state = RD_QPS_ERR};

	assert_i_eq(ask(RD_WR_READ, 8, 0), MT_ERR_INVALID);
	assert_i_eq(node_modify(&n, n.qp, &err, RD_QP_STATE), MT_OK);
	assert_i_eq(ask(RD_WR_READ, 8, 0), MT_OK); /* to be flushed */
	node_check_completion(&n, 5, RD_WC_WR_FLUSH_ERR);
}

/* ---- what travels ---- */

FIXTURE_TEST(mt_wqe_extend, a_send_names_no_memory)
{
	struct mt_tx_desc d;

	assert_i_eq(ask(RD_WR_SEND, 300, 0), MT_OK);
	peer_has(FIXTURE_EXT);
	d = next_is(MW_SEND_FIRST);
	assert_u_eq(d.pkt.data.reth.va, 0);
	assert_u_eq(d.pkt.data.reth.rkey, 0);
	assert_u_eq(d.pkt.data.reth.dmalen, 300);
	d = next_is(MW_SEND_LAST);
	assert_u_eq(d.pkt.data.reth.va, 256);
	assert_u_eq(d.sge[0].addr, NODE_MR_START + 100);
}

/* REQ(wire.meth.rqmsn) */
FIXTURE_TEST(mt_wqe_extend, whatever_takes_a_receive_counts_as_one)
{
	assert_i_eq(ask(RD_WR_SEND, 8, 0), MT_OK);
	assert_i_eq(ask(RD_WR_SEND, 8, RD_SEND_IMM), MT_OK);
	assert_i_eq(node_post(&n, n.qp, 6, 8, RD_SEND_IMM), MT_OK);
	assert_i_eq(ask(RD_WR_READ, 8, 0), MT_OK);
	assert_i_eq(node_post(&n, n.qp, 7, 8, 0), MT_OK);
	peer_has(FIXTURE_EXT);
	assert_u_eq(next_is(MW_SEND_ONLY).pkt.data.meth.rqmsn, 0);
	assert_u_eq(next_is(MW_SEND_ONLY_IMM).pkt.data.meth.rqmsn, 1);
	assert_u_eq(next_is(MW_WRITE_ONLY_IMM).pkt.data.meth.rqmsn, 2);
	assert_u_eq(next_is(MW_READ_REQUEST).pkt.data.meth.rqmsn, 3);
	assert_u_eq(next_is(MW_WRITE_ONLY).pkt.data.meth.rqmsn, 3);
}

FIXTURE_TEST(mt_wqe_extend, a_read_is_one_packet_without_payload)
{
	struct mt_tx_desc d;

	assert_i_eq(ask(RD_WR_READ, 10 * NODE_MTU, 0), MT_OK);
	peer_has(FIXTURE_EXT);
	d = next_is(MW_READ_REQUEST);
	assert_u_eq(d.pkt.payload_len, 0);
	assert_u_eq(d.pkt.data.reth.dmalen, 0);
	assert_u_eq(d.pkt.data.imm, 10 * NODE_MTU);
	assert_u_eq(d.pkt.data.reth.va, 64);
	assert_u_eq(d.pkt.data.reth.rkey, 0x1234);
	check_silent();
}

static void check_operands(uint8_t opcode, uint64_t first, uint64_t second)
{
	struct mt_tx_desc d = next_is(opcode);
	const uint8_t *payload = (const uint8_t *)(uintptr_t)d.sge[0].addr;

	assert_u_eq(d.pkt.payload_len, MW_ATOMIC_BYTES);
	assert_u_eq(d.sge[0].length, MW_ATOMIC_BYTES);
	assert_u_eq(d.sge[0].lkey, MT_LKEY_ADAPTER);
	assert_u_eq(mb_load_be64(payload), first);
	assert_u_eq(mb_load_be64(payload + 8), second);
}

FIXTURE_TEST(mt_wqe_extend, the_numbers_of_atomics)
{
	assert_i_eq(ask(RD_WR_COMPARE_SWAP, 8, 0), MT_OK);
	assert_i_eq(ask(RD_WR_FETCH_ADD, 8, 0), MT_OK);
	peer_has(FIXTURE_EXT);
	check_operands(MW_COMPARE_SWAP, 9, 7);
	check_operands(MW_FETCH_ADD, 7, 0);
}

/* ---- what must wait ---- */

/* REQ(ext.agreement) */
FIXTURE_TEST(mt_ext_may_begin, nothing_before_the_peer_has_answered)
{
	struct mt_tx_desc d;

	assert_i_eq(node_post(&n, n.qp, 4, 8, 0), MT_OK);
	assert_false(node_tx_opcode(&n, 1000, MW_WRITE_ONLY, &d));
	assert_i_eq(ask(RD_WR_SEND, 8, 0), MT_OK);
	assert_false(node_tx_opcode(&n, 1000, MW_SEND_ONLY, &d));
}

/* REQ(ext.strict-peer) */
FIXTURE_TEST(mt_ext_may_begin, what_the_peer_lacks_fails_in_its_turn)
{
	struct mw_packet ack;

	assert_i_eq(node_post(&n, n.qp, 4, 8, RD_SEND_SIGNALED), MT_OK);
	assert_i_eq(ask(RD_WR_READ, 8, 0), MT_OK);
	peer_has(MW_EXT_SEND);
	next_is(MW_WRITE_ONLY);
	check_silent();
	assert_u_eq(n.qp->state, RD_QPS_RTS);
	ack = node_ack(&n, 0x1F, 1);
	node_rx(&n, 3000, &ack);
	check_silent();
	node_check_completion(&n, 4, RD_WC_SUCCESS);
	node_check_completion(&n, 5, RD_WC_REM_OP_ERR);
	assert_u_eq(n.qp->state, RD_QPS_ERR);
}

/* REQ(ext.read.limit) */
FIXTURE_TEST(mt_ext_may_begin, no_more_open_than_agreed)
{
	for (unsigned i = 0; i < FIXTURE_AT_ONCE + 1; i++)
		assert_i_eq(ask(RD_WR_READ, 8, 0), MT_OK);
	assert_i_eq(node_post(&n, n.qp, 6, 8, 0), MT_OK);
	peer_has(FIXTURE_EXT);
	for (unsigned i = 0; i < FIXTURE_AT_ONCE; i++)
		next_is(MW_READ_REQUEST);
	check_silent(); /* the WRITE does not overtake the READ that waits */
	answer_of(MW_READ_RESPONSE_ONLY, 0, 0, 0, 8, 8);
	next_is(MW_READ_REQUEST);
	next_is(MW_WRITE_ONLY);
}

/* REQ(ext.fence) */
FIXTURE_TEST(mt_ext_may_begin, a_fence_waits_for_answers)
{
	assert_i_eq(ask(RD_WR_READ, 8, 0), MT_OK);
	assert_i_eq(node_post(&n, n.qp, 6, 8, 0), MT_OK);
	assert_i_eq(node_post(&n, n.qp, 7, 8, RD_SEND_FENCE), MT_OK);
	peer_has(FIXTURE_EXT);
	next_is(MW_READ_REQUEST);
	next_is(MW_WRITE_ONLY);
	check_silent();
	answer_of(MW_READ_RESPONSE_ONLY, 0, 0, 0, 8, 8);
	next_is(MW_WRITE_ONLY);
}

/* REQ(ext.read.local) */
FIXTURE_TEST(mt_ext_may_begin, memory_that_went_after_the_post)
{
	assert_i_eq(ask(RD_WR_READ, 8, 0), MT_OK);
	assert_i_eq(ask(RD_WR_SEND, 8, 0), MT_OK);
	mt_mr_remove(n.engine, NODE_MR_INDEX);
	peer_has(FIXTURE_EXT);
	check_silent();
	node_check_completion(&n, 5, RD_WC_LOC_PROT_ERR);
	node_check_completion(&n, 5, RD_WC_WR_FLUSH_ERR);
}

/* REQ(ext.send.local) */
FIXTURE_TEST(mt_ext_may_begin, memory_that_is_not_ours_fails_in_its_turn)
{
	struct rd_sge sge = {.addr = NODE_MR_START, .length = 8, .lkey = NODE_KEY ^ 1};
	struct rd_send_wr wr = {.wr_id = 6, .sge = &sge, .n_sge = 1, .opcode = RD_WR_SEND};
	struct mw_packet ack;
	struct mt_event ev;

	assert_i_eq(ask(RD_WR_SEND, 8, 0), MT_OK);
	assert_i_eq(mt_qp_post_send(n.qp, 1000, &wr), MT_OK);
	peer_has(FIXTURE_EXT);
	next_is(MW_SEND_ONLY);
	check_silent();
	assert_u_eq(n.qp->state, RD_QPS_RTS); /* the one before it is not complete */
	ack = node_ack(&n, 0x1F, 1);
	node_rx(&n, 3000, &ack);
	check_silent();
	node_check_completion(&n, 5, RD_WC_SUCCESS);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.wr_id, 6);
	assert_u_eq(ev.status, RD_WC_LOC_PROT_ERR);
	assert_false(ev.with_imm);
	assert_u_eq(n.qp->state, RD_QPS_ERR);
}

/* REQ(ext.read.local) */
FIXTURE_TEST(mt_ext_may_begin, room_for_what_an_atomic_found)
{
	assert_i_eq(ask(RD_WR_FETCH_ADD, 8, 0), MT_OK);
	mt_mr_remove(n.engine, NODE_MR_INDEX);
	peer_has(FIXTURE_EXT);
	check_silent();
	node_check_completion(&n, 5, RD_WC_LOC_PROT_ERR);
}

/* REQ(ext.read.local) */
FIXTURE_TEST(mt_ext_may_begin, a_read_of_nothing_needs_no_memory)
{
	assert_i_eq(ask(RD_WR_READ, 0, 0), MT_OK);
	mt_mr_remove(n.engine, NODE_MR_INDEX);
	peer_has(FIXTURE_EXT);
	next_is(MW_READ_REQUEST);
}

/* A peer that was not there at first is asked again at each timeout. REQ(ext.agreement) */
FIXTURE_TEST(mt_qp_tick, timeouts_ask_for_the_extensions_again)
{
	struct mt_tx_desc d;
	uint64_t now = 0;

	assert_i_eq(ask(RD_WR_SEND, 8, 0), MT_OK);
	node_drain(&n, 1000);
	while (node_stats(&n).timeouts == 0) {
		node_drain(&n, now);
		now = mt_engine_deadline(n.engine);
		mt_engine_tick(n.engine, now);
	}
	assert_true(node_tx_opcode(&n, now, MW_PROBE, &d));
	assert_u_eq(d.pkt.peth.ext, MW_EXT_VERSION | FIXTURE_EXT);
}
