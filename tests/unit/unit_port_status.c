/* SPDX-License-Identifier: BSD-2-Clause */
/* A peer's word about its ports, and what an engine makes of it. */
#include "unit/node_fixture.h"

static struct mt_tx_desc d;
static struct mt_event ev;

#define CASE(function, name) TEST_WITH(connected, close_node, function, name)

static void word(uint64_t now, uint8_t src, uint32_t up)
{
	struct mt_rx_meta meta = node_meta(&n);
	struct mw_packet pkt = {
		.bth = {.opcode = MW_EP_REQUEST, .p_key = 0xFFFF, .dqp = 2, .psn = 1},
		.erth = {.op = MW_EP_PORT_STATUS,
			 .port_status_mask = up,
			 .ts = {.ftype = MW_FTYPE_TIMESTAMP}},
	};

	meta.src.b[0] = src;
	node_rx_meta(&n, now, &meta, &pkt);
	assert_true(node_tx_opcode(&n, now, MW_EP_RESPONSE, &d)); /* in any case */
}

static void answer_probe(uint64_t now)
{
	struct mw_packet sack = node_sack(&n, &d, 0);

	sack.seth.pr = true;
	sack.seth.probe_id = d.pkt.peth.probe_id;
	node_rx(&n, now, &sack);
}

/* Lets all probes on plane 1 stay unanswered until it is left; returns the time. */
static uint64_t leave_plane_1(void)
{
	uint64_t now = 1000;

	word(now, n.peer.b[0], 1);
	while (n.engine->stats.peer_ports_abandoned == 0) {
		mt_engine_tick(n.engine, now);
		assert_true(node_tx_opcode(&n, now, MW_PROBE, &d));
		assert_u_eq(d.port, 1);
		now = mt_engine_deadline(n.engine);
	}
	return now;
}

static uint32_t data_ports(uint64_t now)
{
	uint32_t ports = 0;

	assert_i_eq(node_post(&n, n.qp, 1, 8 * NODE_MTU, 0), MT_OK);
	while (node_tx(&n, now, &d, 1) == 1)
		if (d.pkt.payload_len > 0)
			ports |= 1u << d.port;
	return ports;
}

/* REQ(ep.port.peer-down) */
CASE(mt_port_status_rx, a_plane_that_answers_no_probe_is_left)
{
	uint64_t now = leave_plane_1();

	assert_true(now < 1000 + 10 * opts.cfg.timing.tail_probe_min_ns);
	assert_u_eq(data_ports(now), 1);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.type, MT_EVENT_PORT);
	assert_true(ev.port_of_peer);
	assert_false(ev.port_up);
	assert_u_eq(ev.ev.port, 1);
	assert_memory_equal(&ev.peer, &n.peer, sizeof(n.peer));
}

/* REQ(ep.port.suspicion) */
CASE(mt_port_status_rx, a_forged_word_costs_one_probe)
{
	word(1000, n.peer.b[0], 0);
	mt_engine_tick(n.engine, 1000);
	for (unsigned i = 0; i < 2; i++) {
		assert_true(node_tx_opcode(&n, 1000, MW_PROBE, &d));
		answer_probe(2000);
	}
	assert_false(node_tx_opcode(&n, 2000, MW_PROBE, &d));
	for (uint64_t now = 2000; now < 1000 + opts.cfg.timing.tail_probe_min_ns; now += 100)
		word(now, n.peer.b[0], 0);
	assert_u_eq(node_stats(&n).tx_probes, 2);
	assert_u_eq(data_ports(2000), 3);
	assert_u_eq(node_stats(&n).peer_ports_abandoned, 0);
}

CASE(mt_port_status_rx, a_word_about_somebody_else)
{
	word(1000, 77, 0);
	assert_u_eq(n.qp->ev_set->peer_ports.suspect, 0);
	assert_u_eq(mt_engine_deadline(n.engine), UINT64_MAX);
}

/* REQ(ep.port.return) */
CASE(mt_port_status_answered, an_answered_probe_brings_it_back)
{
	uint64_t now = leave_plane_1();

	while (node_poll(&n, &ev))
		;
	word(now, n.peer.b[0], 3);
	mt_engine_tick(n.engine, now);
	assert_true(node_tx_opcode(&n, now, MW_PROBE, &d));
	assert_u_eq(d.port, 1);
	answer_probe(now + 500);
	assert_u_eq(data_ports(now + 500), 3);
	assert_true(node_poll(&n, &ev) && ev.type == MT_EVENT_PORT && ev.port_up);
	assert_u_eq(node_stats(&n).peer_ports_restored, 1);
}

CASE(mt_port_status_answered, so_does_an_acknowledged_packet)
{
	struct mw_packet sack;

	assert_i_eq(node_post(&n, n.qp, 1, 4 * NODE_MTU, 0), MT_OK);
	word(1000, n.peer.b[0], 1);
	do
		assert_u_eq(node_tx(&n, 1000, &d, 1), 1);
	while (d.port != 1);
	sack = node_sack(&n, &d, 0);
	sack.seth.sack_bitmap = UINT64_C(1) << ((d.pkt.bth.psn - node_wire_psn(0)) & 0xFFFFFF);
	sack.seth.ooo_count = 1;
	node_rx(&n, 3000, &sack);
	assert_u_eq(n.qp->ev_set->peer_ports.suspect, 0);
}

/* REQ(ep.port.last-plane) */
CASE(mt_port_status_tick, never_the_last_one)
{
	uint64_t now = 1000;

	word(now, n.peer.b[0], 0);
	for (unsigned i = 0; i < 40; i++) {
		mt_engine_tick(n.engine, now);
		node_drain(&n, now);
		now = mt_engine_deadline(n.engine);
	}
	assert_u_eq(node_stats(&n).peer_ports_abandoned, 1);
	assert_true(data_ports(now) != 0);
}

CASE(mt_port_status_tick, a_left_plane_is_better_than_none)
{
	uint64_t now = leave_plane_1();

	mt_engine_port_set(n.engine, now, 0, false);
	assert_u_eq(data_ports(now), 2);
}

CASE(mt_port_status_tick, nobody_to_probe_is_no_silence)
{
	struct rd_qp_attr err = {.state = RD_QPS_ERR};
	uint64_t now = 1000;

	word(now, n.peer.b[0], 1);
	assert_i_eq(node_modify(&n, n.qp, &err, RD_QP_STATE), MT_OK);
	for (unsigned i = 0; i < 10; i++) {
		mt_engine_tick(n.engine, now);
		assert_true(mt_engine_deadline(n.engine) > now);
		now = mt_engine_deadline(n.engine);
	}
	assert_u_eq(node_stats(&n).peer_ports_abandoned, 0);
}

/* Once there is a QP again, the plane is probed as often as before it is left. */
CASE(mt_port_status_tick, what_could_not_be_probed_counts_for_nothing)
{
	struct rd_qp_attr err = {.state = RD_QPS_ERR};
	uint64_t now = 1000;
	struct mt_qp *other;

	word(now, n.peer.b[0], 1);
	assert_i_eq(node_modify(&n, n.qp, &err, RD_QP_STATE), MT_OK);
	for (unsigned i = 0; i < 10; i++) {
		mt_engine_tick(n.engine, now);
		now = mt_engine_deadline(n.engine);
	}
	other = node_add_qp(&n, n.qpn + 1, n.peer_qpn + 1, &other);
	for (unsigned i = 0; i < 3; i++) {
		mt_engine_tick(n.engine, now);
		assert_true(node_tx_opcode(&n, now, MW_PROBE, &d));
		assert_u_eq(node_stats(&n).peer_ports_abandoned, 0);
		now = mt_engine_deadline(n.engine);
	}
	mt_engine_tick(n.engine, now);
	assert_u_eq(node_stats(&n).peer_ports_abandoned, 1);
}

/* The shortest wait, or two round trips where these are longer. */
CASE(mt_port_status_tick, how_long_an_answer_may_take)
{
	uint64_t least_ns = opts.cfg.timing.tail_probe_min_ns;

	word(1000, n.peer.b[0], 1);
	mt_engine_tick(n.engine, 1000);
	assert_u_eq(mt_engine_deadline(n.engine), 1000 + least_ns);
	n.qp->ev_set->probe_rtt_ns = 3 * least_ns;
	mt_engine_tick(n.engine, 1000 + least_ns);
	assert_u_eq(mt_engine_deadline(n.engine), 1000 + 7 * least_ns);
}

/* REQ(ep.port.not-attributed) */
CASE(mt_port_status_answered, evs_that_went_bad_with_the_plane_are_good_again)
{
	struct mt_ev_change changes[2];
	uint64_t now = leave_plane_1();

	assert_u_eq(mt_ev_port(n.qp->ev_set, 3), 1);
	mt_ev_retire(n.qp->ev_set, 3, now, MT_EV_BY_LOSS, changes);
	word(now, n.peer.b[0], 3);
	mt_engine_tick(n.engine, now);
	assert_true(node_tx_opcode(&n, now, MW_PROBE, &d));
	answer_probe(now + 500);
	assert_u_eq(mt_ev_state_of(n.qp->ev_set, 3), MT_EV_GOOD);
}
