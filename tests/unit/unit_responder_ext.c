/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ends of WRITEs that wait for a hole: what became of their memory meanwhile. And SENDs: what
 * becomes of those that their receive cannot hold.
 */
#include "unit/node_fixture.h"

#define KEY_2 (2u << 8 | 0x77u)

static int in_order(void **state)
{
	defaults(state);
	opts.cap.extensions = MW_EXT_SEND;
	opts.cap.in_order = true;
	start();
	/* Message 0 goes to an MR of its own, so that message 1 alone finds nothing. */
	assert_i_eq(mt_mr_add(n.engine, KEY_2, NODE_PD, NODE_MR_START, MTU,
			      RD_ACCESS_LOCAL_WRITE | RD_ACCESS_REMOTE_WRITE, &n),
		    MT_OK);
	return 0;
}

#define CASE(function, name) TEST_WITH(in_order, close_node, function, name)

static struct mw_packet hole(uint32_t len)
{
	struct mw_packet p = node_write(&n, MW_WRITE_ONLY, 0, 0, len, len);

	p.data.reth.va = NODE_MR_START;
	p.data.reth.rkey = KEY_2;
	return p;
}

static void check_nak(uint8_t syndrome, uint32_t msn)
{
	struct mt_tx_desc d;

	assert_u_eq(n.qp->state, RD_QPS_ERR);
	assert_true(node_tx_opcode(&n, 2000, MW_ACK, &d));
	assert_u_eq(d.pkt.aeth.syndrome, syndrome);
	assert_u_eq(d.pkt.aeth.msn, msn);
}

/* REQ(ext.order.wait) */
CASE(mt_in_order_place, what_waited_is_placed_behind_the_hole)
{
	struct mt_tx_desc d;

	rx(only(1));
	assert_u_eq(n.placed, 0);
	rx(hole(MTU));
	assert_u_eq(n.placed, 2);
	assert_bytes_eq(n.memory + n.last_at, node_payload(0), MTU);
	assert_true(node_tx_opcode(&n, 2000, MW_ACK, &d));
	assert_u_eq(d.pkt.aeth.msn, 2);
	assert_u_eq(n.qp->ext->in_order.count, 0);
}

CASE(mt_in_order_place, a_key_that_is_gone_meanwhile)
{
	rx(only(1));
	assert_i_eq(mt_mr_remove(n.engine, NODE_MR_INDEX), MT_OK);
	rx(hole(MTU));
	assert_u_eq(n.placed, 1);
	check_nak(MW_NAK_REMOTE_ACCESS, 1);
}

CASE(mt_in_order_place, memory_that_is_gone_meanwhile)
{
	rx(only(1));
	n.memory_gone = true;
	rx(hole(0));
	check_nak(MW_NAK_REMOTE_OP, 1);
}

/* ---- SENDs ---- */

#define ROOM 64u

static void receiver(void)
{
	struct rd_sge sge = {.addr = NODE_MR_START, .length = ROOM, .lkey = NODE_KEY};
	struct mw_packet p = node_probe(&n, 1);

	p.peth.ext = MW_EXT_VERSION | MW_EXT_SEND;
	rx(p);
	node_drain(&n, 1000);
	assert_i_eq(mt_qp_post_recv_sges(n.qp,
					 &(struct rd_recv_wr){.wr_id = 9, .sge = &sge, .n_sge = 1}),
		    MT_OK);
}

static struct mw_packet message(uint32_t len, uint64_t offset)
{
	struct mw_packet p = node_write(&n, MW_SEND_ONLY, 0, 0, len, len);

	p.data.reth.va = offset;
	p.data.reth.rkey = 0;
	return p;
}

static void check_receive(enum rd_wc_status status)
{
	struct mt_event ev;

	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.type, MT_EVENT_RECV);
	assert_u_eq(ev.wr_id, 9);
	assert_u_eq(ev.status, status);
}

static int sends(void **state)
{
	defaults(state);
	opts.cap.extensions = MW_EXT_SEND;
	opts.cap.max_recv_sge = 1;
	start();
	receiver();
	return 0;
}

#undef CASE
#define CASE(function, name) TEST_WITH(sends, close_node, function, name)

/* REQ(ext.rnr.nack) */
CASE(mt_responder_data, without_a_receive_there_is_a_nack_and_no_sack)
{
	struct mw_packet p = node_write(&n, MW_SEND_ONLY, 1, 1, 1, 1);
	struct mt_tx_desc d;

	p.data.meth.rqmsn = 1;
	p.data.reth = (struct mw_reth){.dmalen = 1};
	p.bth.a = true;
	rx(p);
	assert_u_eq(node_tx(&n, 2000, &d, 1), 1);
	assert_u_eq(d.pkt.bth.opcode, MW_NACK);
	assert_u_eq(d.pkt.neth.reason, MW_NACK_RNR);
	assert_u_eq(node_drain(&n, 2000), 0);
}

CASE(mt_recv_place, as_much_as_the_receive_has_room_for)
{
	rx(message(ROOM, 0));
	assert_u_eq(n.placed, 1);
	check_receive(RD_WC_SUCCESS);
}

/* REQ(ext.recv.length) */
CASE(mt_recv_check_room, a_byte_more)
{
	rx(message(ROOM + 1, 0));
	assert_u_eq(n.placed, 0);
	check_nak(MW_NAK_INVALID_REQUEST, 0);
	check_receive(RD_WC_LOC_LEN_ERR);
}

CASE(mt_recv_check_room, bytes_outside_of_their_message)
{
	rx(message(ROOM / 2, 1));
	assert_u_eq(n.placed, 0);
	check_nak(MW_NAK_INVALID_REQUEST, 0);
}

/* REQ(ext.recv.scatter) */
CASE(mt_recv_place, a_key_that_is_gone_since_the_receive_was_posted)
{
	assert_i_eq(mt_mr_remove(n.engine, NODE_MR_INDEX), MT_OK);
	rx(message(ROOM, 0));
	assert_u_eq(n.placed, 0);
	check_nak(MW_NAK_REMOTE_OP, 0);
	check_receive(RD_WC_LOC_PROT_ERR);
}

/* REQ(ext.recv.length) */
CASE(mt_recv_check_room, packets_that_disagree_about_the_length_of_their_message)
{
	struct mw_packet p = node_write(&n, MW_SEND_FIRST, 0, 0, MTU, 3 * MTU);
	struct rd_sge sge = {.addr = NODE_MR_START, .length = 8 * MTU, .lkey = NODE_KEY};
	struct rd_recv_wr wr = {.wr_id = 10, .sge = &sge, .n_sge = 1};

	assert_i_eq(mt_qp_post_recv_sges(n.qp, &wr), MT_OK);
	p.data.meth.rqmsn = 1;
	p.data.meth.msn = 0;
	p.data.reth.va = 0;
	p.data.reth.rkey = 0;
	rx(p);
	assert_u_eq(n.placed, 1);
	p = node_write(&n, MW_SEND_MIDDLE, 1, 0, MTU, 4 * MTU);
	p.data.meth.rqmsn = 1;
	p.data.reth.va = MTU;
	p.data.reth.rkey = 0;
	rx(p);
	assert_u_eq(n.placed, 1);
	check_nak(MW_NAK_INVALID_REQUEST, 0);
}
