/* SPDX-License-Identifier: BSD-2-Clause */
/* Who probes a destination, and what is probed when a peer is heard again. */
#include "core/endpoint/endpoint.h"
#include "unit/node_fixture.h"

static struct mt_qp *other;

/* Two QPs to two processes at one address: one EV set, two peers. */
static int two_peers(void **state)
{
	defaults(state);
	opts.cfg.qpn_index_bits = 20;
	start();
	other = node_add_qp(&n, n.qpn + 1, 5u << 20 | 9, &other);
	assert_ptr_equal(other->ev_set, n.qp->ev_set);
	assert_ptr_not_equal(other->peer, n.qp->peer);
	return 0;
}

#define CASE(function, name) TEST_WITH(two_peers, close_node, function, name)

static struct mt_qp *pick(void)
{
	return mt_ev_sets_pick_prober(n.qp->ev_set, 1000);
}

static void check_turns(void)
{
	struct mt_qp *first = pick(), *second = pick();

	assert_true((first == n.qp && second == other) || (first == other && second == n.qp));
	assert_ptr_equal(pick(), first);
	assert_ptr_equal(pick(), second);
}

CASE(mt_ev_sets_pick_prober, takes_turns)
{
	check_turns();
}

/* REQ(req.ev.endpoint) */
CASE(mt_ev_sets_pick_prober, of_a_peer_that_answers_if_there_is_one)
{
	mt_liveness_silence(&n.qp->peer->liveness);
	for (int i = 0; i < 3; i++)
		assert_ptr_equal(pick(), other);
}

/* One of those that are silent may be back, and another one gone. */
CASE(mt_ev_sets_pick_prober, takes_turns_when_all_are_silent)
{
	mt_liveness_silence(&n.qp->peer->liveness);
	mt_liveness_silence(&other->peer->liveness);
	check_turns();
}

CASE(mt_ev_sets_pick_prober, only_who_may_send)
{
	struct rd_qp_attr err = {.state = RD_QPS_ERR};

	assert_i_eq(node_modify(&n, n.qp, &err, RD_QP_STATE), MT_OK);
	assert_ptr_equal(pick(), other);
	assert_ptr_equal(pick(), other);
	assert_i_eq(node_modify(&n, other, &err, RD_QP_STATE), MT_OK);
	assert_null(pick());
}

/* The ports by which probes of n.qp leave when its peer is heard after a silence, as a mask. */
static uint32_t resume(void)
{
	struct mw_packet pkt = only(0);
	struct mt_tx_desc d;
	uint32_t ports = 0;

	mt_liveness_silence(&n.qp->peer->liveness);
	node_rx(&n, 2000, &pkt);
	while (node_tx_opcode(&n, 2000, MW_PROBE, &d)) {
		assert_u_eq(d.pkt.bth.dqp, n.peer_qpn);
		assert_u_eq(ports >> d.port & 1, 0);
		ports |= 1u << d.port;
	}
	assert_u_eq(n.qp->peer->liveness.planes, ports);
	return ports;
}

/* REQ(req.ev.endpoint) */
CASE(mt_peer_resume, each_plane_is_probed_once)
{
	assert_u_eq(resume(), 3);
}

CASE(mt_peer_resume, no_plane_that_is_closed_here)
{
	assert_i_eq(mt_engine_port_set(n.engine, 1000, 1, false), MT_OK);
	assert_u_eq(resume(), 1);
}

CASE(mt_peer_resume, no_plane_without_an_ev)
{
	for (uint32_t i = 1; i < 8; i += 2)
		assert_i_eq(mt_qp_ev_deny(n.qp, 1000, i, true), MT_OK);
	assert_u_eq(resume(), 1);
	for (uint32_t i = 0; i < 6; i += 2)
		assert_i_eq(mt_qp_ev_deny(n.qp, 1000, i, true), MT_OK);
	assert_u_eq(resume(), 1); /* one is enough */
}

CASE(mt_peer_resume, nothing_when_no_qp_of_the_peer_may_send)
{
	struct rd_qp_attr a = {.state = RD_QPS_ERR};

	assert_i_eq(node_modify(&n, n.qp, &a, RD_QP_STATE), MT_OK);
	assert_u_eq(resume(), 0);
}
