/* SPDX-License-Identifier: BSD-2-Clause */
/* A QP that takes its receives from an SRQ: when their places are free again. */
#include "core/ext/ext.h"
#include "unit/node_fixture.h"

#define DEPTH 2u
#define LENGTH 8u

static struct mt_srq *srq;
static struct mt_qp *qp;

static int with_srq(void **state)
{
	struct mt_srq_cap cap = {.depth = DEPTH, .max_sge = 1, .pd = NODE_PD};
	struct mw_packet p;

	defaults(state);
	node_open(&n, &opts, 0);
	assert_i_eq(mt_srq_init(n.engine, engine_node_block(&n.base, mt_srq_size(&cap)), &cap, &n,
				&srq),
		    MT_OK);
	n.opts.cap.extensions = MW_EXT_SEND;
	n.opts.cap.max_recv_sge = 1;
	n.opts.cap.srq = srq;
	qp = node_add_qp(&n, n.qpn + 1, n.peer_qpn, &n);
	p = node_probe(&n, 1);
	p.bth.dqp = qp->qpn;
	p.peth.ext = MW_EXT_VERSION | MW_EXT_SEND;
	node_rx(&n, 1000, &p);
	node_drain(&n, 1000);
	return 0;
}

#define CASE(function, name) TEST_WITH(with_srq, close_node, function, name)

static int post(uint64_t wr_id)
{
	struct rd_sge sge = {.addr = NODE_MR_START, .length = LENGTH, .lkey = NODE_KEY};
	struct rd_recv_wr wr = {.wr_id = wr_id, .sge = &sge, .n_sge = 1};

	return mt_srq_post(srq, &wr);
}

/* The i-th packet is a SEND that takes the r-th receive of the QP. */
static void receive(uint32_t i, uint32_t r)
{
	struct mw_packet p = node_write(&n, MW_SEND_ONLY, i, (uint16_t)i, LENGTH, LENGTH);

	p.bth.dqp = qp->qpn;
	p.data.meth.rqmsn = (uint16_t)r;
	p.data.reth.va = 0;
	p.data.reth.rkey = 0;
	node_rx(&n, 2000, &p);
}

/* REQ(ext.srq.take) */
CASE(mt_engine_poll, a_receive_keeps_its_place_until_it_is_polled)
{
	struct mt_event ev;

	assert_i_eq(post(10), MT_OK);
	assert_i_eq(post(11), MT_OK);
	receive(0, 0);
	assert_u_eq(n.placed, 1);
	assert_i_eq(post(12), MT_ERR_FULL);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.type, MT_EVENT_RECV);
	assert_u_eq(ev.wr_id, 10);
	assert_u_eq(ev.byte_len, LENGTH);
	assert_i_eq(post(12), MT_OK);
	assert_i_eq(post(13), MT_ERR_FULL);
}

/* A message took it that is not complete, since one before it is missing. */
/* REQ(ext.srq.limit) */
CASE(mt_engine_poll, an_srq_limit_waits_for_room)
{
	struct mt_event ev;

	assert_i_eq(mt_srq_arm(srq, 1), MT_OK);
	assert_u_eq(mt_engine_poll(n.engine, NULL, 0), 0);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.type, MT_EVENT_SRQ_LIMIT);
	node_check_no_event(&n);
}

CASE(mt_qp_modify, reset_returns_what_was_taken)
{
	struct rd_qp_attr reset = {.state = RD_QPS_RESET};
	struct rd_recv_wr wr;

	assert_i_eq(post(10), MT_OK);
	assert_i_eq(post(11), MT_OK);
	receive(1, 0);
	assert_true(mt_srq_peek(srq, &wr) && wr.wr_id == 11);
	assert_i_eq(node_modify(&n, qp, &reset, RD_QP_STATE), MT_OK);
	for (uint64_t wr_id = 10; wr_id < 12; wr_id++) {
		assert_true(mt_srq_pop(srq, &wr));
		assert_u_eq(wr.wr_id, wr_id);
	}
}

/* Of a QP in ERR the SRQ's receives are not flushed: the program hears that it takes no more. */
CASE(mt_qp_fail, says_when_it_takes_no_more)
{
	struct mt_event ev;
	struct rd_recv_wr wr;

	assert_i_eq(post(10), MT_OK);
	mt_qp_fail(qp, RD_WC_FATAL_ERR, RD_WC_FATAL_ERR);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.type, MT_EVENT_QP);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.type, MT_EVENT_LAST_WQE);
	node_check_no_event(&n);
	assert_true(mt_srq_peek(srq, &wr));
}
