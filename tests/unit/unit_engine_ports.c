/* SPDX-License-Identifier: BSD-2-Clause */
/* Local ports that go down and come back: what leaves by which port, and who is blamed. */
#include "core/qp/halves.h"
#include "unit/node_fixture.h"

static struct mt_tx_desc d;
static struct mt_event ev;

#define CASE(function, name) TEST_WITH(connected, close_node, function, name)

/* The ports by which everything leaves that may leave now. */
static uint32_t ports_used(uint64_t now)
{
	uint32_t ports = 0;

	while (node_tx(&n, now, &d, 1) == 1)
		ports |= 1u << d.port;
	return ports;
}

CASE(mt_engine_port_set, knows_its_ports)
{
	assert_i_eq(mt_engine_port_set(n.engine, 0, 2, true), MT_ERR_INVALID);
	assert_u_eq(mt_engine_ports_up(n.engine), 3);
	assert_i_eq(mt_engine_port_set(n.engine, 0, 0, false), MT_OK);
	assert_i_eq(mt_engine_port_set(n.engine, 0, 0, false), MT_OK);
	assert_u_eq(mt_engine_ports_up(n.engine), 2);
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.type, MT_EVENT_PORT);
	assert_false(ev.port_up);
	assert_false(ev.port_of_peer);
	assert_u_eq(ev.ev.port, 0);
	assert_false(node_poll(&n, &ev));
	assert_i_eq(mt_engine_port_set(n.engine, 0, 0, true), MT_OK);
	assert_true(node_poll(&n, &ev) && ev.port_up);
}

/* REQ(ep.port.local-down) REQ(ep.port.return) */
CASE(mt_engine_port_set, data_leave_it_at_once_and_return_at_once)
{
	assert_i_eq(node_post(&n, n.qp, 1, 16 * NODE_MTU, 0), MT_OK);
	for (int i = 0; i < 4; i++)
		assert_u_eq(node_tx(&n, 0, &d, 1), 1);
	mt_engine_port_set(n.engine, 0, 1, false);
	assert_u_eq(ports_used(0), 1);
	mt_engine_port_set(n.engine, 5, 1, true);
	assert_i_eq(node_post(&n, n.qp, 2, 16 * NODE_MTU, 0), MT_OK);
	assert_u_eq(ports_used(5), 3);
}

CASE(mt_engine_port_set, answers_and_probes_leave_it)
{
	struct mw_packet pkt = node_write(&n, MW_WRITE_ONLY, 0, 0, 4, 4), probe = node_probe(&n, 1);
	struct mt_rx_meta meta = node_meta(&n);

	meta.port = 1;
	pkt.bth.a = true;
	node_rx_meta(&n, 0, &meta, &pkt);
	node_rx_meta(&n, 0, &meta, &probe);
	mt_qp_retire_ev_group(n.qp, 1, 0, MT_EV_BY_LOSS);
	n.engine->cfg.timing.port_notice_ns = 0;
	mt_engine_port_set(n.engine, 10, 1, false);
	assert_u_eq(ports_used(10), 1);
	assert_u_eq(node_stats(&n).tx_sacks, 2);
	/* A probe of a bad EV waits for its port. */
	mt_engine_tick(n.engine, 10);
	mt_engine_tick(n.engine, 49000);
	assert_false(node_tx_opcode(&n, 49000, MW_PROBE, &d));
	mt_engine_port_set(n.engine, 50000, 1, true);
	mt_engine_tick(n.engine, 50000);
	assert_true(node_tx_opcode(&n, 50000, MW_PROBE, &d));
	assert_u_eq(d.port, 1);
}

CASE(mt_engine_port_set, a_queued_probe_of_a_dead_port_is_not_sent)
{
	mt_qp_retire_ev_group(n.qp, 1, 0, MT_EV_BY_LOSS);
	mt_engine_tick(n.engine, opts.ev_profile.probe_interval_ns);
	mt_engine_port_set(n.engine, opts.ev_profile.probe_interval_ns, 1, false);
	assert_u_eq(node_drain(&n, opts.ev_profile.probe_interval_ns), 0);
}

/* REQ(ep.port.survive) */
CASE(mt_engine_port_set, with_all_down_nothing_is_sent_and_time_goes_on)
{
	struct mw_packet probe = node_probe(&n, 1);
	uint64_t now;

	assert_i_eq(node_post(&n, n.qp, 1, NODE_MTU, 0), MT_OK);
	assert_u_eq(node_tx(&n, 0, &d, 1), 1);
	mt_engine_port_set(n.engine, 0, 0, false);
	mt_engine_port_set(n.engine, 0, 1, false);
	assert_i_eq(node_post(&n, n.qp, 2, NODE_MTU, 0), MT_OK);
	node_rx(&n, 0, &probe);
	assert_false(mt_engine_tx_is_blocked(n.engine));
	while (n.qp->state == RD_QPS_RTS) {
		assert_u_eq(node_drain(&n, 0), 0);
		now = mt_engine_deadline(n.engine);
		assert_true(now != UINT64_MAX);
		mt_engine_tick(n.engine, now);
	}
	while (node_poll(&n, &ev) && ev.type != MT_EVENT_SEND)
		;
	assert_u_eq(ev.status, RD_WC_RETRY_EXC_ERR);
}

/* Retries wait for a port to come back, and end some time after the last went. */
static void go_on_until(uint64_t end_ns)
{
	while (mt_engine_deadline(n.engine) < end_ns)
		mt_engine_tick(n.engine, mt_engine_deadline(n.engine));
	mt_engine_tick(n.engine, end_ns);
}

/* REQ(req.retry.no-port) */
CASE(mt_engine_port_set, with_all_down_retries_wait)
{
	const uint64_t s = 1000000000, wait_ns = 100 * s;

	n.engine->cfg.timing.no_port_ns = wait_ns;
	assert_i_eq(node_post(&n, n.qp, 1, NODE_MTU, 0), MT_OK);
	assert_u_eq(node_tx(&n, 0, &d, 1), 1);
	mt_engine_port_set(n.engine, 0, 0, false);
	mt_engine_port_set(n.engine, 7, 1, false);
	go_on_until(wait_ns);
	assert_u_eq(n.qp->state, RD_QPS_RTS);
	mt_engine_port_set(n.engine, wait_ns, 1, true);
	go_on_until(wait_ns + s);
	assert_u_eq(n.qp->state, RD_QPS_RTS);
	assert_true(node_tx_opcode(&n, wait_ns + s, MW_WRITE_ONLY, &d));
	mt_engine_port_set(n.engine, wait_ns + s, 1, false);
	go_on_until(2 * wait_ns + s);
	assert_u_eq(n.qp->state, RD_QPS_RTS);
	go_on_until(4 * wait_ns);
	assert_u_eq(n.qp->state, RD_QPS_ERR);
}

/* REQ(req.retry.no-port) */
CASE(mt_qp_tick, after_that_long_without_a_port_its_timeouts_go_on)
{
	const uint64_t wait_ns = 1000000;

	n.engine->cfg.timing.no_port_ns = wait_ns;
	assert_i_eq(node_post(&n, n.qp, 1, NODE_MTU, 0), MT_OK);
	assert_u_eq(node_tx(&n, 0, &d, 1), 1);
	mt_engine_port_set(n.engine, 1000, 0, false);
	mt_engine_port_set(n.engine, 1000, 1, false);
	mt_qp_tick(n.qp, 1000 + wait_ns - 1);
	assert_u_eq(n.qp->req.rto.step_ns, 1000 + wait_ns - 1);
	mt_qp_tick(n.qp, 1000 + wait_ns);
	assert_u_eq(n.qp->req.rto.step_ns, 1000 + wait_ns - 1);
}

/* Runs timers, and what they send is lost. */
static void lose_all_until(uint64_t end_ns)
{
	for (uint64_t now; (now = mt_engine_deadline(n.engine)) < end_ns;) {
		mt_engine_tick(n.engine, now);
		node_drain(&n, now);
	}
}

/* REQ(req.retry.no-port) */
CASE(mt_qp_tick, while_the_only_link_that_is_back_settles_retries_are_tried_and_not_used_up)
{
	const uint64_t s = 1000000000, settle_ns = 100 * s;

	n.engine->cfg.timing.port_notice_ns = settle_ns;
	assert_i_eq(node_post(&n, n.qp, 1, NODE_MTU, 0), MT_OK);
	mt_engine_port_set(n.engine, 0, 0, false);
	mt_engine_port_set(n.engine, 0, 1, false);
	mt_engine_port_set(n.engine, s, 1, true);
	assert_true(node_tx_opcode(&n, s, MW_WRITE_ONLY, &d));
	lose_all_until(s + settle_ns);
	assert_u_eq(n.qp->state, RD_QPS_RTS);
	assert_true(node_stats(&n).tx_retransmits > 20);
	lose_all_until(2 * settle_ns);
	assert_u_eq(n.qp->state, RD_QPS_ERR);
}

CASE(mt_qp_tick, nothing_is_used_up_of_the_retries_while_a_link_settles)
{
	n.engine->cfg.timing.port_notice_ns = 1000;
	assert_i_eq(node_post(&n, n.qp, 1, NODE_MTU, 0), MT_OK);
	mt_engine_port_set(n.engine, 0, 0, false);
	mt_engine_port_set(n.engine, 0, 1, false);
	mt_engine_port_set(n.engine, 10, 1, true);
	assert_true(node_tx_opcode(&n, 10, MW_WRITE_ONLY, &d));
	n.qp->req.rto.timeouts = 5;
	mt_qp_tick(n.qp, 11);
	assert_u_eq(n.qp->req.rto.timeouts, 0);
	n.qp->req.rto.timeouts = 5;
	mt_qp_tick(n.qp, 1010);
	assert_u_eq(n.qp->req.rto.timeouts, 5);
}

/* Where another port was up all the time nothing was new. */
CASE(mt_qp_tick, beside_a_link_that_stayed_up_retries_are_used_up)
{
	const uint64_t s = 1000000000;

	n.engine->cfg.timing.port_notice_ns = 100 * s;
	assert_i_eq(node_post(&n, n.qp, 1, NODE_MTU, 0), MT_OK);
	mt_engine_port_set(n.engine, 0, 0, false);
	mt_engine_port_set(n.engine, 0, 0, true);
	assert_true(node_tx_opcode(&n, 0, MW_WRITE_ONLY, &d));
	lose_all_until(50 * s);
	assert_u_eq(n.qp->state, RD_QPS_ERR);
}

/* The only path that is left takes what was lost on it, whatever other ports would have. */
CASE(mt_engine_port_set, the_last_path_takes_its_own_losses)
{
	struct mw_packet nack;

	for (uint16_t i = 2; i < 8; i++)
		mt_ev_deny(n.qp->ev_set, i, true);
	mt_engine_port_set(n.engine, 0, 1, false);
	assert_i_eq(node_post(&n, n.qp, 1, NODE_MTU, 0), MT_OK);
	assert_true(node_tx_opcode(&n, 0, MW_WRITE_ONLY, &d));
	nack = node_nack(&n, &d, MW_NACK_TRIMMED_LASTHOP);
	node_rx(&n, 0, &nack);
	assert_u_eq(node_tx(&n, 0, &d, 1), 1);
	assert_true(d.pkt.bth.rtx);
	assert_u_eq(d.port, 0);
}

/* Sends eight packets; those on `port` are lost with it, and one on the other port tells. */
static void lose_on(uint8_t port, uint64_t sent, uint64_t now)
{
	struct mt_tx_desc descs[9];
	struct mw_packet sack;
	uint32_t first;

	assert_i_eq(node_post(&n, n.qp, 1, 8 * NODE_MTU, 0), MT_OK);
	assert_u_eq(node_tx(&n, sent, descs, 8), 8);
	mt_engine_port_set(n.engine, now, port, false);
	assert_i_eq(node_post(&n, n.qp, 2, NODE_MTU, 0), MT_OK);
	assert_true(node_tx_opcode(&n, now, MW_WRITE_ONLY, &descs[8]));
	first = descs[0].port != port;
	sack = node_sack(&n, &descs[8], first);
	for (uint32_t i = first; i < 9; i++) {
		if (descs[i].port == port)
			continue;
		sack.seth.sack_bitmap |= UINT64_C(1) << (i - first);
		sack.seth.ooo_count++;
	}
	node_rx(&n, now + 1000, &sack);
}

/* REQ(ep.port.not-attributed): what went bad before anybody knew of the port is good when it is
 * back. */
CASE(mt_ev_sets_port_restored, evs_that_went_bad_with_it_are_good_again)
{
	uint64_t notice = opts.cfg.timing.port_notice_ns, down = 5 * notice;
	struct mt_ev_info info;

	mt_qp_retire_ev_group(n.qp, 1, down - notice - 1, MT_EV_BY_LOSS); /* long before */
	mt_qp_retire_ev_group(n.qp, 3, down - notice, MT_EV_BY_LOSS);
	mt_qp_retire_ev_group(n.qp, 2, down - 1, MT_EV_BY_LOSS); /* of the other port */
	mt_engine_port_set(n.engine, down, 1, false);
	while (node_poll(&n, &ev))
		;
	mt_engine_port_set(n.engine, down + 1000, 1, true);
	for (uint32_t i = 1; i <= 3; i++) {
		assert_true(mt_qp_ev_info(n.qp, i, &info));
		assert_u_eq(info.state, i == 3 ? MT_EV_GOOD : MT_EV_ASSUMED_BAD);
	}
	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.type, MT_EVENT_EV);
	assert_u_eq(ev.ev_cause, MT_EV_BY_PORT);
	assert_u_eq(ev.ev.value, opts.evs[3].value);
}

/* REQ(ep.port.not-attributed) */
CASE(mt_engine_port_set, no_ev_is_blamed_for_what_was_lost_with_its_port)
{
	lose_on(1, 1000, 200000);
	assert_true(node_stats(&n).lost_inferred >= 4);
	assert_u_eq(node_stats(&n).evs_retired, 0);
	assert_u_eq(ports_used(201000), 1);
	mt_engine_port_set(n.engine, 300000, 1, true);
	assert_i_eq(node_post(&n, n.qp, 3, 8 * NODE_MTU, 0), MT_OK);
	assert_u_eq(ports_used(300000), 3);
}
