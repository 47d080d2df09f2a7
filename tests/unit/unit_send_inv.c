/* SPDX-License-Identifier: BSD-2-Clause */
/* SENDs that invalidate a window, and atomic writes, at both ends. */
#include "windows_fixture.h"

#define HALF (MR_START + MR_LENGTH / 2)
#define KEY_2 (MW_2 << 8 | 9u)

static struct rd_sge sge = {.addr = NODE_MR_START, .length = 8, .lkey = NODE_KEY};

static int ask(enum rd_wr_opcode opcode, uint32_t flags, uint32_t length)
{
	struct rd_send_wr wr = {.wr_id = 5,
				.sge = &sge,
				.n_sge = 1,
				.flags = flags | RD_SEND_SIGNALED,
				.imm = 0xABCD,
				.rkey = 0x1234,
				.remote_addr = 64,
				.opcode = opcode};

	sge.length = length;
	return mt_qp_post_send(n.qp, 1000, &wr);
}

static bool bound(void)
{
	return peer_may(KEY_2, HALF, 1, PEERS);
}

/* The i-th packet, an only one, takes the r-th receive. */
static struct mw_packet send_inv(uint32_t i, uint16_t r, uint32_t rkey)
{
	struct mw_packet p = node_write(&n, MW_SEND_ONLY_INV, i, (uint16_t)i, 8, 8);

	p.data.meth.rqmsn = r;
	p.data.reth.va = 0;
	p.data.reth.rkey = 0;
	p.data.imm = rkey;
	return p;
}

static struct mw_packet through(uint8_t opcode, uint32_t i, uint32_t len, uint32_t rkey)
{
	struct mw_packet p = node_write(&n, opcode, i, (uint16_t)i, len, len);

	p.data.reth.va = HALF;
	p.data.reth.rkey = rkey;
	return p;
}

static void receiver(void)
{
	assert_i_eq(post(bind_of(MW_2, 9), 1), MT_OK);
	complete(1, RD_WC_SUCCESS);
	for (uint64_t i = 0; i < 3; i++)
		assert_i_eq(mt_qp_post_recv_sges(
				    n.qp,
				    &(struct rd_recv_wr){.wr_id = 10 + i, .sge = &sge, .n_sge = 1}),
			    MT_OK);
	agree();
}

static void received(uint64_t wr_id, enum rd_wc_status status, bool invalidated)
{
	struct mt_event ev;

	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.type, MT_EVENT_RECV);
	assert_u_eq(ev.wr_id, wr_id);
	assert_u_eq(ev.status, status);
	assert_u_eq(ev.invalidated, invalidated);
	assert_false(ev.imm_valid);
	if (invalidated)
		assert_u_eq(ev.imm, KEY_2);
}

/* REQ(ext.send.inv) */
FIXTURE_TEST(mt_ext_run_in_order, a_send_takes_a_key_back)
{
	struct mw_packet p;

	receiver();
	p = send_inv(0, 0, KEY_2);
	node_rx(&n, 2000, &p);
	assert_false(bound());
	received(10, RD_WC_SUCCESS, true);
	assert_u_eq(n.qp->state, RD_QPS_RTS);
}

/* Its last packet, which names the key, comes first. REQ(ext.send.inv) */
FIXTURE_TEST(mt_ext_run_in_order, a_key_is_taken_back_when_all_of_the_message_is_there)
{
	struct mw_packet first, last;

	sge.length = MTU + 8;
	receiver();
	last = node_write(&n, MW_SEND_LAST_INV, 1, 0, 8, MTU + 8);
	last.data.reth.va = MTU;
	last.data.reth.rkey = 0;
	last.data.imm = KEY_2;
	node_rx(&n, 2000, &last);
	assert_true(bound());
	first = node_write(&n, MW_SEND_FIRST, 0, 0, MTU, MTU + 8);
	first.data.reth.va = 0;
	first.data.reth.rkey = 0;
	node_rx(&n, 2000, &first);
	assert_false(bound());
	received(10, RD_WC_SUCCESS, true);
}

/* What was sent before it is done with the key, what was sent behind it finds none. */
FIXTURE_TEST(mt_ext_run_in_order, in_the_order_of_messages)
{
	struct mw_packet write, send, read;
	struct mt_tx_desc d;

	receiver();
	n.qp->cap.in_order = true;
	read = through(MW_READ_REQUEST, 3, 0, KEY_2);
	read.data.imm = 8;
	node_rx(&n, 2000, &read);
	send = send_inv(2, 0, KEY_2);
	node_rx(&n, 2000, &send);
	write = through(MW_WRITE_ONLY, 1, 8, KEY_2);
	node_rx(&n, 2000, &write);
	assert_true(bound());
	assert_u_eq(n.placed, 1); /* the SEND */
	write = through(MW_WRITE_ONLY, 0, 8, KEY_2);
	node_rx(&n, 3000, &write);
	assert_u_eq(n.placed, 3);
	assert_false(bound());
	assert_false(node_tx_opcode(&n, 3000, MW_READ_RESPONSE_ONLY, &d));
	assert_u_eq(n.qp->state, RD_QPS_ERR);
	received(10, RD_WC_SUCCESS, true);
	received(11, RD_WC_WR_FLUSH_ERR, false);
}

/* REQ(ext.send.inv-refused) */
FIXTURE_TEST(mt_ext_run_in_order, a_key_of_nothing)
{
	struct mw_packet p;
	struct mt_tx_desc d;

	receiver();
	p = send_inv(1, 1, KEY_2 + 1);
	node_rx(&n, 2000, &p);
	p = send_inv(0, 0, KEY_2);
	node_rx(&n, 2000, &p);
	assert_true(node_tx_opcode(&n, 2000, MW_ACK, &d));
	assert_u_eq(d.pkt.aeth.syndrome, MW_NAK_REMOTE_ACCESS);
	assert_u_eq(d.pkt.aeth.msn, 1);
	received(10, RD_WC_SUCCESS, true);
	received(11, RD_WC_REM_INV_REQ_ERR, false);
	received(12, RD_WC_WR_FLUSH_ERR, false);
}

/* A peer that did not say that it knows them has sent no packet that we know. REQ(ext.strict) */
FIXTURE_TEST(mt_ext_admit, without_agreement)
{
	struct mw_packet p = node_probe(&n, 1);

	p.peth.ext = MW_EXT_VERSION | MW_EXT_INV;
	node_rx(&n, 1000, &p);
	p = send_inv(0, 0, KEY_2);
	node_rx(&n, 2000, &p);
	p = through(MW_ATOMIC_WRITE, 0, 8, NODE_KEY);
	node_rx(&n, 2000, &p);
	assert_u_eq(node_stats(&n).drop_decode, 2);
}

/* REQ(ext.send.inv) */
FIXTURE_TEST(mt_wqe_extend, opcodes_of_a_send_that_invalidates)
{
	struct mt_tx_desc d;

	assert_i_eq(ask(RD_WR_SEND, RD_SEND_INV, NODE_MTU + 8), MT_OK);
	assert_i_eq(ask(RD_WR_SEND, RD_SEND_INV, 8), MT_OK);
	agree();
	assert_true(node_tx_opcode(&n, 2000, MW_SEND_FIRST, &d));
	assert_true(node_tx_opcode(&n, 2000, MW_SEND_LAST_INV, &d));
	assert_u_eq(d.pkt.data.imm, 0xABCD);
	assert_true(node_tx_opcode(&n, 2000, MW_SEND_ONLY_INV, &d));
	assert_u_eq(d.pkt.data.meth.rqmsn, 1);
	assert_i_eq(ask(RD_WR_SEND, RD_SEND_INV | RD_SEND_IMM, 8), MT_ERR_INVALID);
	assert_i_eq(ask(RD_WR_WRITE, RD_SEND_INV, 8), MT_ERR_INVALID);
	assert_i_eq(ask(RD_WR_READ, RD_SEND_INV, 8), MT_ERR_INVALID);
}

/* REQ(ext.atomic.write) */
FIXTURE_TEST(mt_rd_atomic_execute, an_atomic_write)
{
	struct mw_packet p;
	struct mt_tx_desc d;

	receiver();
	p = through(MW_ATOMIC_WRITE, 0, 8, KEY_2);
	node_rx(&n, 2000, &p);
	assert_memory_equal(n.memory + MR_LENGTH / 2, node_payload(0), 8);
	assert_true(node_tx_opcode(&n, 2000, MW_ATOMIC_RESPONSE, &d));
	p = through(MW_ATOMIC_WRITE, 1, 8, KEY_2);
	p.data.reth.va += 4;
	node_rx(&n, 3000, &p);
	assert_true(node_tx_opcode(&n, 3000, MW_ACK, &d));
	assert_u_eq(d.pkt.aeth.syndrome, MW_NAK_INVALID_REQUEST);
}

FIXTURE_TEST(mt_rd_atomic_check_req, an_atomic_write_of_another_length)
{
	struct mw_packet p;

	receiver();
	p = through(MW_ATOMIC_WRITE, 0, 16, KEY_2);
	node_rx(&n, 2000, &p);
	assert_u_eq(node_stats(&n).drop_malformed, 1);
}

/* It needs the right to write, not that of atomics. REQ(ext.atomic.write) */
FIXTURE_TEST(mt_rd_atomic_execute, an_atomic_write_where_only_atomics_may)
{
	struct mt_local_wr wr = bind_of(MW_1, 9);
	struct mw_packet p;

	wr.access = RD_ACCESS_REMOTE_ATOMIC;
	assert_i_eq(post(wr, 1), MT_OK);
	agree();
	p = through(MW_ATOMIC_WRITE, 0, 8, MW_1 << 8 | 9);
	node_rx(&n, 2000, &p);
	assert_u_eq(node_stats(&n).rx_access_errors, 1);
}

/* REQ(ext.atomic.write) */
FIXTURE_TEST(mt_wqe_extend, an_atomic_write_is_answered)
{
	struct mw_packet p;
	struct mt_tx_desc d;
	struct mt_event ev;

	assert_i_eq(ask(RD_WR_ATOMIC_WRITE, 0, 7), MT_ERR_INVALID);
	assert_i_eq(ask(RD_WR_ATOMIC_WRITE, 0, 8), MT_OK);
	agree();
	assert_true(node_tx_opcode(&n, 2000, MW_ATOMIC_WRITE, &d));
	assert_u_eq(d.pkt.payload_len, 8);
	assert_u_eq(d.sge[0].addr, NODE_MR_START);
	p = node_ack(&n, MW_SYNDROME_ACK << MW_SYNDROME_KIND_SHIFT, 1);
	node_rx(&n, 3000, &p);
	assert_false(node_poll(&n, &ev));
	p = node_write(&n, MW_ATOMIC_RESPONSE, 0, 0, 0, 0);
	p.bth.psn = n.opts.attr.sq_psn;
	node_rx(&n, 4000, &p);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.opcode, RD_WR_ATOMIC_WRITE);
	assert_u_eq(ev.status, RD_WC_SUCCESS);
	assert_u_eq(n.placed, 0);
}
