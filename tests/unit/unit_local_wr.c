/* SPDX-License-Identifier: BSD-2-Clause */
/* Send WRs without packets: their turn, their completions, their failures. */
#include "windows_fixture.h"

#define HALF (MR_START + MR_LENGTH / 2)
#define KEY_2 (MW_2 << 8 | 9u)

static struct rd_sge sge = {.addr = NODE_MR_START, .length = 8, .lkey = NODE_KEY};

static int ask(enum rd_wr_opcode opcode, uint64_t wr_id, uint32_t flags)
{
	struct rd_send_wr wr = {.wr_id = wr_id,
				.sge = &sge,
				.n_sge = 1,
				.flags = flags | RD_SEND_SIGNALED,
				.rkey = 0x1234,
				.opcode = opcode};

	return mt_qp_post_send(n.qp, 1000, &wr);
}

static bool bound(void)
{
	return peer_may(KEY_2, HALF, 1, PEERS);
}

static void acked(uint32_t msn)
{
	struct mw_packet p = node_ack(&n, MW_SYNDROME_ACK << MW_SYNDROME_KIND_SHIFT, msn);

	node_rx(&n, 5000, &p);
}

static void answered(uint32_t i)
{
	struct mw_packet p = node_write(&n, MW_READ_RESPONSE_ONLY, 0, 0, 8, 8);

	p.bth.psn = (n.opts.attr.sq_psn + i) & 0xFFFFFF;
	p.data.meth.msn = (uint16_t)i;
	p.data.reth.va = 0;
	node_rx(&n, 6000, &p);
}

static struct mt_local_wr fenced(struct mt_local_wr wr)
{
	wr.flags |= RD_SEND_FENCE;
	return wr;
}

/* Without a peer that has spoken. REQ(ext.local.turn) */
FIXTURE_TEST(mt_qp_post_local, at_once_when_nothing_is_before_it)
{
	struct mt_event ev;
	struct mt_tx_desc d;

	assert_i_eq(post(bind_of(MW_2, 9), 1), MT_OK);
	assert_true(bound());
	complete(1, RD_WC_SUCCESS);
	assert_false(node_poll(&n, &ev));
	assert_u_eq(node_tx(&n, 1000, &d, 1), 0);
}

/* REQ(ext.local.turn) REQ(ext.local.order) */
FIXTURE_TEST(mt_local_wr_execute, after_what_is_before_it_was_sent)
{
	struct mt_event ev;
	struct mt_tx_desc d;

	assert_i_eq(ask(RD_WR_SEND, 1, 0), MT_OK);
	assert_i_eq(post(bind_of(MW_2, 9), 2), MT_OK);
	assert_i_eq(ask(RD_WR_SEND, 3, 0), MT_OK);
	assert_false(bound());
	agree();
	assert_true(node_tx_opcode(&n, 2000, MW_SEND_ONLY, &d));
	assert_u_eq(d.pkt.data.meth.msn, 0);
	assert_false(bound());
	assert_true(node_tx_opcode(&n, 2000, MW_SEND_ONLY, &d));
	assert_u_eq(d.pkt.data.meth.msn, 1); /* the peer counts messages */
	assert_true(bound());
	assert_false(node_poll(&n, &ev));
	acked(2);
	complete(1, RD_WC_SUCCESS);
	complete(2, RD_WC_SUCCESS);
	complete(3, RD_WC_SUCCESS);
}

FIXTURE_TEST(mt_local_wr_execute, at_the_end_of_the_queue)
{
	struct mt_tx_desc d;

	assert_i_eq(ask(RD_WR_SEND, 1, 0), MT_OK);
	assert_i_eq(post(bind_of(MW_2, 9), 2), MT_OK);
	agree();
	assert_true(node_tx_opcode(&n, 2000, MW_SEND_ONLY, &d));
	node_drain(&n, 2000);
	assert_true(bound());
	acked(1);
	complete(1, RD_WC_SUCCESS);
	complete(2, RD_WC_SUCCESS);
}

/* REQ(ext.local.fence) */
FIXTURE_TEST(mt_local_wr_execute, a_fence_waits_for_answers)
{
	assert_i_eq(ask(RD_WR_READ, 1, 0), MT_OK);
	assert_i_eq(post(fenced(bind_of(MW_2, 9)), 2), MT_OK);
	agree();
	node_drain(&n, 2000);
	assert_false(bound());
	answered(0);
	node_drain(&n, 7000);
	assert_true(bound());
	complete(1, RD_WC_SUCCESS);
	complete(2, RD_WC_SUCCESS);
}

/* REQ(ext.local.error) */
FIXTURE_TEST(mt_local_wr_execute, a_failure_waits_for_what_is_before_it)
{
	struct mt_event ev;

	assert_i_eq(ask(RD_WR_SEND, 1, 0), MT_OK);
	assert_i_eq(post(invalidate_of(KEY_2), 2), MT_OK);
	assert_i_eq(ask(RD_WR_SEND, 3, 0), MT_OK);
	assert_i_eq(post(bind_of(MW_2, 9), 4), MT_OK);
	agree();
	node_drain(&n, 2000);
	assert_false(node_poll(&n, &ev));
	assert_u_eq(n.qp->state, RD_QPS_RTS);
	acked(1);
	node_drain(&n, 5000);
	complete(1, RD_WC_SUCCESS);
	complete(2, RD_WC_LOC_QP_OP_ERR);
	complete(3, RD_WC_WR_FLUSH_ERR);
	complete(4, RD_WC_WR_FLUSH_ERR);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.type, MT_EVENT_QP);
	assert_u_eq(ev.status, RD_WC_LOC_QP_OP_ERR);
	assert_false(bound());
}

/* REQ(ext.local.error) */
FIXTURE_TEST(mt_local_wr_execute, a_bind_that_may_not_be)
{
	struct mt_local_wr wr = bind_of(MW_2, 9);

	wr.length++;
	assert_i_eq(post(wr, 1), MT_OK);
	complete(1, RD_WC_MW_BIND_ERR);
	assert_u_eq(n.qp->state, RD_QPS_ERR);
}

/* REQ(req.sqd) */
FIXTURE_TEST(mt_local_wr_execute, not_in_sqd)
{
	struct rd_qp_attr a = {.state = RD_QPS_SQD};

	assert_i_eq(node_modify(&n, n.qp, &a, RD_QP_STATE), MT_OK);
	assert_i_eq(post(bind_of(MW_2, 9), 1), MT_OK);
	node_drain(&n, 1000);
	assert_false(bound());
	a.state = RD_QPS_RTS;
	assert_i_eq(node_modify(&n, n.qp, &a, RD_QP_STATE), MT_OK);
	node_drain(&n, 2000);
	assert_true(bound());
}

FIXTURE_TEST(mt_local_wr_flush, in_err)
{
	struct rd_qp_attr a = {.state = RD_QPS_ERR};

	assert_i_eq(ask(RD_WR_SEND, 1, 0), MT_OK);
	assert_i_eq(post(bind_of(MW_2, 9), 2), MT_OK);
	assert_i_eq(node_modify(&n, n.qp, &a, RD_QP_STATE), MT_OK);
	assert_i_eq(post(bind_of(MW_2, 9), 3), MT_OK);
	complete(1, RD_WC_WR_FLUSH_ERR);
	complete(2, RD_WC_WR_FLUSH_ERR);
	complete(3, RD_WC_WR_FLUSH_ERR);
	assert_false(bound());
}

/* Behind the last event of a QP that has failed there is another. */
FIXTURE_TEST(mt_qp_post_local, flushed_at_once_in_err)
{
	struct rd_qp_attr a = {.state = RD_QPS_ERR};

	assert_i_eq(node_modify(&n, n.qp, &a, RD_QP_STATE), MT_OK);
	node_check_no_event(&n);
	assert_i_eq(post(bind_of(MW_2, 9), 3), MT_OK);
	complete(3, RD_WC_WR_FLUSH_ERR);
}

FIXTURE_TEST(mt_qp_post_local, without_memory_for_its_queue)
{
	struct mt_local_wr wr = bind_of(MW_2, 9);

	node_exhaust(&n);
	assert_i_eq(mt_qp_post_local(n.qp, &wr), MT_ERR_MEMORY);
	assert_false(bound());
	assert_i_eq(post(wr, 1), MT_OK);
	assert_true(bound());
}

/* Of those that nobody asked for nothing is heard, and their places are free again. */
FIXTURE_TEST(mt_local_wr_poll, silent_ones)
{
	struct mt_local_wr wr = bind_of(MW_1, 1);
	struct mt_event ev;

	wr.flags = 0;
	for (uint32_t i = 0; i < 3 * n.opts.cap.sq_depth; i++) {
		wr.rkey = MW_1 << 8 | (i & 0xFF);
		assert_i_eq(post(wr, i), MT_OK);
	}
	assert_false(node_poll(&n, &ev));
	assert_i_eq(post(bind_of(MW_2, 9), 7), MT_OK);
	complete(7, RD_WC_SUCCESS);
}

FIXTURE_TEST(mt_qp_post_local, refusals)
{
	struct mt_local_wr wr = bind_of(MW_2, 9);
	struct rd_qp_attr reset = {.state = RD_QPS_RESET};

	wr.opcode = RD_WR_SEND;
	assert_i_eq(post(wr, 1), MT_ERR_INVALID);
	wr = bind_of(MW_2, 9);
	wr.flags = RD_SEND_IMM;
	assert_i_eq(post(wr, 1), MT_ERR_INVALID);
	wr = bind_of(MW_1, 9);
	for (uint32_t i = 0; i < n.opts.cap.sq_depth; i++)
		assert_i_eq(post(wr, i), MT_OK);
	assert_i_eq(post(wr, 1), MT_ERR_FULL);
	assert_i_eq(node_modify(&n, n.qp, &reset, RD_QP_STATE), MT_OK);
	assert_i_eq(post(wr, 1), MT_ERR_STATE);
}

/* REQ(ext.free) */
FIXTURE_TEST(mt_local_wr_free, with_a_reset)
{
	struct rd_qp_attr reset = {.state = RD_QPS_RESET};
	size_t used = mt_engine_memory_used(n.engine);

	assert_null(n.qp->ext->local_sq);
	assert_i_eq(post(bind_of(MW_2, 9), 1), MT_OK);
	assert_true(mt_engine_memory_used(n.engine) > used);
	assert_i_eq(node_modify(&n, n.qp, &reset, RD_QP_STATE), MT_OK);
	assert_null(n.qp->ext->local_sq);
	assert_true(mt_engine_memory_used(n.engine) <= used);
}
