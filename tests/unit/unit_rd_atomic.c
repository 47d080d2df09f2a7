/* SPDX-License-Identifier: BSD-2-Clause */
/* The half of a QP that carries answers: with what it begins, when it is heard, how it ends. */
#include "asking_fixture.h"

#define SQ_PSN 0x111u
#define RQ_PSN 0x222u

static int open_unequal(void **state)
{
	asking_defaults(state);
	opts.attr.sq_psn = SQ_PSN;
	opts.attr.rq_psn = RQ_PSN;
	opts.attr.retry_exp = 3;
	opts.attr.dynamic_mpr = false;
	node_open(&n, &opts, 0);
	return 0;
}

#define UNEQUAL_TEST(function, name) TEST_WITH(open_unequal, close_node, function, name)

static void to_rtr(void)
{
	struct rd_qp_attr a = n.opts.attr;

	a.dest = n.peer;
	a.dest_qpn = n.peer_qpn;
	a.state = RD_QPS_RTR;
	assert_i_eq(node_modify(&n, n.qp, &a, UINT32_MAX), MT_OK);
}

static void to(enum rd_qp_state state)
{
	struct rd_qp_attr a = {.state = state};

	assert_i_eq(node_modify(&n, n.qp, &a, RD_QP_STATE), MT_OK);
}

static struct mt_rd_atomic *responses(void)
{
	assert_non_null(n.qp->ext->rd_atomic);
	return n.qp->ext->rd_atomic;
}

/* A READ that the peer makes; packet and message are the i-th. */
static void peer_reads(uint16_t i)
{
	struct mw_packet p = node_probe(&n, 1);

	p.peth.ext = MW_EXT_VERSION | FIXTURE_EXT;
	node_rx(&n, 1000, &p);
	p = node_write(&n, MW_READ_REQUEST, i, i, 0, 0);
	p.bth.psn = (n.opts.attr.rq_psn + i) & 0xFFFFFF;
	p.data.imm = 8;
	node_rx(&n, 2000, &p);
}

/* ---- mt_rd_atomic_attach ---- */

/* REQ(ext.response.space) */
UNEQUAL_TEST(mt_rd_atomic_attach, answers_begin_where_requests_do)
{
	struct mt_tx_desc d;

	to_rtr();
	assert_u_eq(responses()->qp.attr.sq_psn, RQ_PSN);
	assert_u_eq(responses()->qp.attr.rq_psn, SQ_PSN);
	peer_reads(0);
	assert_true(node_tx_opcode(&n, 2000, MW_READ_RESPONSE_ONLY, &d));
	assert_u_eq(d.pkt.bth.psn, RQ_PSN);
	assert_u_eq(d.pkt.bth.dqp, n.peer_qpn);
}

UNEQUAL_TEST(mt_rd_atomic_attach, a_half_of_the_same_qp)
{
	to_rtr();
	assert_ptr_equal(responses()->of, n.qp);
	assert_ptr_equal(responses()->qp.user, n.qp->user);
	assert_ptr_equal(responses()->qp.ev_set, n.qp->ev_set);
	assert_u_eq(responses()->qp.qpn, n.qp->qpn);
	assert_u_eq(responses()->qp.cap.pd, NODE_PD);
	assert_u_eq(responses()->qp.response_bit, MW_RESPONSE_BIT);
}

/* It is the requester that gives up. */
/* A profile that is set between the two steps of a connection is for others. */
UNEQUAL_TEST(mt_rd_atomic_attach, has_the_evs_of_its_qp)
{
	struct mt_ev_profile_cfg profile = opts.ev_profile;

	n.opts.attr.max_dest_rd_atomic = 0; /* attached in the move to RTS */
	to_rtr();
	profile.evs = opts.evs;
	profile.is_static = true;
	assert_i_eq(mt_ev_profile_set(n.engine, 0, &profile), MT_OK);
	to(RD_QPS_RTS);
	assert_ptr_equal(responses()->qp.ev_set, n.qp->ev_set);
}

UNEQUAL_TEST(mt_rd_atomic_attach, answers_are_tried_for_ever)
{
	to_rtr();
	assert_u_eq(responses()->qp.attr.retry_exp, RD_RETRY_EXP_FOREVER);
	assert_true(responses()->qp.attr.dynamic_mpr);
	assert_u_eq(n.qp->attr.retry_exp, 3);
}

/* ---- mt_rd_atomic_enable_rx ---- */

/* REQ(ext.response.space) */
UNEQUAL_TEST(mt_rd_atomic_enable_rx, with_the_psn_of_the_requests)
{
	to_rtr();
	to(RD_QPS_RTS);
	assert_u_eq(responses()->qp.rsp.window.expected & 0xFFFFFF, SQ_PSN);
}

/* ---- mt_rd_atomic_control_qp ---- */

static struct mw_packet probe_of_answers(void)
{
	struct mw_packet p = {
		.bth = {.opcode = MW_RESPONSE_PROBE, .p_key = 0xFFFF, .dqp = n.qpn},
		.peth = {.probe_id = 7, .ts = {.tx_timestamp = 1, .ftype = 1}},
	};

	return p;
}

/* REQ(ext.strict) */
UNEQUAL_TEST(mt_rd_atomic_control_qp, who_may_not_ask_yet_is_not_asked)
{
	struct mw_packet p = probe_of_answers();

	to_rtr();
	assert_null(mt_rd_atomic_control_qp(n.qp, MW_RESPONSE_PROBE));
	node_rx(&n, 1000, &p);
	assert_u_eq(node_stats(&n).drop_qp_state, 2);
	assert_ptr_equal(mt_rd_atomic_control_qp(n.qp, MW_RESPONSE_SACK), &responses()->qp);
	to(RD_QPS_RTS);
	assert_ptr_equal(mt_rd_atomic_control_qp(n.qp, MW_RESPONSE_PROBE), &responses()->qp);
	to(RD_QPS_ERR);
	assert_ptr_equal(mt_rd_atomic_control_qp(n.qp, MW_RESPONSE_PROBE), &responses()->qp);
	assert_u_eq(node_stats(&n).drop_qp_state, 2);
}

/* REQ(ext.strict) */
TEST_WITH(connected, close_node, mt_rd_atomic_control_qp, who_has_none)
{
	assert_null(mt_rd_atomic_control_qp(n.qp, MW_RESPONSE_SACK));
	assert_null(mt_rd_atomic_control_qp(n.qp, MW_RESPONSE_PROBE));
	assert_u_eq(node_stats(&n).drop_decode, 2);
}

/* ---- mt_rd_atomic_begin ---- */

FIXTURE_TEST(mt_rd_atomic_begin, numbers_come_round)
{
	struct mt_rd_atomic *r = responses();

	for (uint64_t i = 0; i < 3 * RD_ATOMIC_MAX; i++) {
		mt_rd_atomic_begin(n.qp, 100 + i);
		assert_u_eq(mt_rd_atomic_outstanding(n.qp), 1);
		assert_u_eq(r->req_msns[i % RD_ATOMIC_MAX], 100 + i);
		r->n_completed++;
	}
}

/* ---- mt_rd_atomic_stop ---- */

FIXTURE_TEST(mt_rd_atomic_stop, what_was_not_sent_never_will_be)
{
	struct mt_tx_desc d;

	peer_reads(0);
	assert_true(node_tx_opcode(&n, 2000, MW_READ_RESPONSE_ONLY, &d));
	assert_true(responses()->qp.req.rto.armed);
	peer_reads(1);
	assert_u_eq(responses()->qp.req.sq.tail, 2);
	peer_reads(3); /* ahead of a hole: it waits */
	assert_u_eq(responses()->n_queued, 1);
	mt_rd_atomic_stop(responses());
	assert_u_eq(responses()->n_queued, 0);
	assert_u_eq(responses()->qp.state, RD_QPS_ERR);
	assert_u_eq(responses()->qp.req.sq.head, 2);
	assert_false(node_tx_opcode(&n, 2000, MW_READ_RESPONSE_ONLY, &d));
	assert_false(responses()->qp.req.rto.armed);
}

/* ---- mt_rd_atomic_free ---- */

/* REQ(ext.free) */
FIXTURE_TEST(mt_rd_atomic_free, with_a_reset)
{
	size_t used = mt_engine_memory_used(n.engine);

	peer_reads(0);
	to(RD_QPS_RESET);
	assert_null(n.qp->ext->rd_atomic);
	assert_true(mt_engine_memory_used(n.engine) + sizeof(struct mt_rd_atomic) <= used);
	assert_u_eq(node_drain(&n, 3000), 0); /* no answer of a QP that is gone */
	assert_u_eq(mt_rd_atomic_outstanding(n.qp), 0);
}

/* REQ(ext.read.limit) */
UNEQUAL_TEST(mt_rd_atomic_attach, no_memory_for_what_was_not_agreed_on)
{
	n.opts.attr.max_rd_atomic = n.opts.attr.max_dest_rd_atomic = 0;
	to_rtr();
	assert_null(n.qp->ext->rd_atomic);
	to(RD_QPS_RTS);
	assert_null(n.qp->ext->rd_atomic);
}

FIXTURE_TEST(mt_rd_atomic_attach, answers_draw_evs_of_their_own)
{
	struct mt_qp *other = node_add_qp(&n, n.qpn + 1, n.peer_qpn + 1, NULL);
	struct mb_prng a = responses()->qp.req.spray.prng;
	struct mb_prng b = other->ext->rd_atomic->qp.req.spray.prng;

	assert_true(mb_prng_u64(&a) != mb_prng_u64(&b));
}

/* The half that carries answers is on the same lists as a QP; its memory goes back with a reset. */
FIXTURE_TEST(mt_rd_atomic_free, leaves_the_lists_of_the_engine)
{
	uint32_t n_free = n.engine->controls.n_free;
	struct mw_packet probe = node_probe(&n, 1);
	struct mt_ev_set *set = n.qp->ev_set;
	struct mt_qp *other = node_add_qp(&n, n.qpn + 1, n.peer_qpn + 1, NULL);
	uint32_t refs = set->refs;

	assert_ptr_equal(other->ev_set, set);
	probe.bth.opcode = MW_RESPONSE_PROBE;
	node_rx(&n, 1000, &probe);
	assert_u_eq(n.engine->controls.n_free, n_free - 1);
	mt_qp_queue_for_poll(&responses()->qp);
	assert_false(mb_link_is_empty(&responses()->qp.control));
	to(RD_QPS_RESET);
	assert_true(mb_link_is_empty(&n.engine->control));
	assert_true(mb_link_is_empty(&n.engine->completions));
	assert_u_eq(n.engine->controls.n_free, n_free);
	assert_u_eq(set->refs, refs - 2); /* the QP and its answers */
}
