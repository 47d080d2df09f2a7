/* SPDX-License-Identifier: BSD-2-Clause */
/* Which packet leaves next: control before data, QPs in turn, and who stays in the round. */
#include "core/qp/halves.h"
#include "unit/node_fixture.h"

#define QPS 3u
#define UNUSED_PORT (1u << 2) /* no EV leaves by it */

static struct mt_qp *qps[QPS];
static struct mt_tx_desc sent[256];

/* Three QPs, of which qps[0] is the node's own; the user of each is its place in qps[]. */
static int three_qps(void **state)
{
	connected(state);
	qps[0] = n.qp;
	for (uint32_t i = 1; i < QPS; i++)
		qps[i] = node_add_qp(&n, n.qpn + i, n.peer_qpn + i, &qps[i]);
	return 0;
}

#define CASE(function, name) TEST_WITH(three_qps, close_node, function, name)

static void post(unsigned qp, uint32_t packets)
{
	assert_i_eq(node_post(&n, qps[qp], qp, packets * MTU, 0), MT_OK);
}

/* Which QP sent a packet. */
static unsigned from(const struct mt_tx_desc *d)
{
	return d->pkt.bth.dqp - n.peer_qpn;
}

/* Which QPs the first `count` packets came from, as digits. */
static void check_from(uint32_t count, const char *want)
{
	char got[256];

	for (uint32_t i = 0; i < count; i++)
		got[i] = (char)('0' + from(&sent[i]));
	got[count] = 0;
	assert_string_equal(got, want);
}

/* A data packet that makes qp owe a SACK and an ACK. */
static void owe(unsigned qp)
{
	struct mw_packet pkt = node_write(&n, MW_WRITE_ONLY, 0, 0, 4, 4);

	pkt.bth.dqp = qps[qp]->qpn;
	pkt.bth.a = true;
	node_rx(&n, 0, &pkt);
}

/* Eight packets are a turn; who has fewer gives the rest of his away. */
CASE(mt_engine_tx, qps_take_turns)
{
	post(0, 18);
	post(1, 3);
	post(2, 9);
	check_from(node_tx(&n, 0, sent, 256), "000000001112222222200000000200");
}

/* REQ(req.spray.rotation) */
CASE(mt_engine_tx, a_turn_ends_with_a_run)
{
	n.engine->cfg.max_run = 3;
	post(0, 14);
	post(1, 2);
	post(2, 4);
	check_from(node_tx(&n, 0, sent, 256), "00000000011222200000");
	assert_u_eq(sent[0].ev, sent[2].ev);
	assert_true(sent[2].ev != sent[3].ev);
	post(1, 1); /* what comes later is no part of the run that ended short */
	assert_u_eq(node_tx(&n, 0, &sent[100], 10), 1);
	assert_true(sent[100].ev != sent[10].ev);
}

CASE(mt_engine_tx, the_turn_is_kept_between_calls)
{
	post(0, 9);
	post(1, 2);
	check_from(node_tx(&n, 0, sent, 5), "00000");
	check_from(node_tx(&n, 0, sent, 4), "0001");
	check_from(node_tx(&n, 0, sent, 256), "10");
	assert_u_eq(node_tx(&n, 0, sent, 256), 0);
}

/* Ports that no QP may use can have room all the time, and ask each time one has. */
CASE(mt_engine_tx, who_finds_no_room_keeps_no_turn)
{
	for (unsigned qp = 0; qp < QPS; qp++)
		post(qp, 20);
	for (uint32_t i = 0; i < 6; i++) {
		assert_u_eq(node_tx(&n, 0, &sent[i], 1), 1);
		assert_u_eq(mt_engine_tx(n.engine, 0, UNUSED_PORT, &sent[i + 1], 1), 0);
	}
	check_from(6, "012012");
}

/* REQ(req.probe.tail) */
CASE(mt_engine_tx, silence_begins_when_there_is_no_more_to_send)
{
	uint64_t tail_ns = opts.cfg.timing.tail_probe_min_ns;

	post(0, 3);
	assert_u_eq(node_tx(&n, 0, sent, 1), 1);
	assert_u_eq(node_tx(&n, 1000, sent, 1), 1);
	mt_engine_tick(n.engine, 1000 + 2 * tail_ns); /* one more is to come, and asks for a SACK */
	assert_u_eq(node_stats(&n).tail_probes, 0);
	assert_u_eq(node_tx(&n, 1000 + 2 * tail_ns, sent, 256), 1);
	assert_u_eq(mt_engine_deadline(n.engine), 1000 + 3 * tail_ns);
	mt_engine_tick(n.engine, 1000 + 3 * tail_ns);
	assert_u_eq(node_stats(&n).tail_probes, 1);
}

CASE(mt_engine_tx, at_most_n)
{
	post(0, 100);
	assert_u_eq(node_tx(&n, 0, sent, 0), 0);
	assert_u_eq(node_tx(&n, 0, sent, 7), 7);
	assert_u_eq(node_tx(&n, 0, sent, 256), 93);
	owe(0);
	assert_u_eq(node_tx(&n, 0, sent, 0), 0);
	assert_u_eq(node_tx(&n, 0, sent, 1), 1);
	assert_u_eq(node_tx(&n, 0, sent, 256), 1);
}

CASE(mt_engine_tx, control_before_data)
{
	struct mw_packet probe = node_probe(&n, 5);

	post(0, 1);
	post(2, 1);
	owe(1);
	probe.bth.dqp = qps[1]->qpn;
	node_rx(&n, 0, &probe);
	assert_u_eq(node_tx(&n, 0, sent, 256), 5);
	assert_true(sent[0].pkt.seth.pr); /* what names a packet goes before what is pending */
	assert_u_eq(sent[0].pkt.bth.opcode, MW_SACK);
	assert_u_eq(sent[1].pkt.bth.opcode, MW_SACK);
	assert_u_eq(from(&sent[1]), 1);
	assert_u_eq(sent[2].pkt.bth.opcode, MW_ACK);
	assert_u_eq(from(&sent[2]), 1);
	assert_u_eq(sent[3].tclass, MW_DSCP_TRIMMABLE);
}

static void rx_probes(unsigned qp, uint32_t count)
{
	struct mw_packet probe = node_probe(&n, 5);

	probe.bth.dqp = qps[qp]->qpn;
	while (count-- > 0)
		node_rx(&n, 0, &probe);
}

/* REQ(rsp.control.quota) */
CASE(mt_engine_tx, control_of_one_qp_does_not_hold_up_that_of_others)
{
	rx_probes(0, 50);
	rx_probes(1, 2);
	rx_probes(2, 10);
	check_from(node_tx(&n, 0, sent, 30), "000000001122222222000000002200");
	check_from(node_tx(&n, 0, sent, 8), "00000000");
}

/* REQ(rsp.control.quota) */
CASE(mt_engine_tx, data_have_a_part_of_each_call)
{
	rx_probes(0, 50);
	post(1, 5);
	assert_u_eq(node_tx(&n, 0, sent, 16), 16);
	for (uint32_t i = 0; i < 16; i++)
		assert_u_eq(sent[i].tclass, i < 12 ? MW_DSCP_CONTROL : MW_DSCP_TRIMMABLE);
	/* What data do not use is there for control packets. */
	assert_u_eq(node_tx(&n, 0, sent, 16), 16);
	for (uint32_t i = 0; i < 16; i++)
		assert_u_eq(sent[i].tclass, i == 12 ? MW_DSCP_TRIMMABLE : MW_DSCP_CONTROL);
	assert_u_eq(node_tx(&n, 0, sent, 100), 23);
}

/* Own requests are few; whoever asks us may be anybody. */
CASE(mt_engine_tx, own_endpoint_requests_go_first_and_answers_last)
{
	static const uint8_t want[] = {MW_EP_REQUEST, MW_SACK, MW_ACK, MW_EP_RESPONSE};
	struct mt_ep_request req = {.dst = n.peer, .op = MW_EP_EV_PROBE, .timeout_ns = 10000};
	struct mw_packet asked = {
		.bth = {.opcode = MW_EP_REQUEST, .p_key = 0xFFFF, .dqp = 2, .psn = 5},
		.erth = {.op = MW_EP_EV_PROBE},
	};
	uint16_t id;

	node_rx(&n, 0, &asked);
	owe(1);
	assert_i_eq(mt_engine_ep_request(n.engine, 0, &req, &id), MT_OK);
	assert_u_eq(node_tx(&n, 0, sent, 256), 4);
	for (int i = 0; i < 4; i++)
		assert_u_eq(sent[i].pkt.bth.opcode, want[i]);
}

CASE(mt_engine_tx, control_does_not_wait_for_room)
{
	post(0, 1);
	owe(1);
	assert_u_eq(mt_engine_tx(n.engine, 0, 0, sent, 256), 2);
	assert_u_eq(mt_engine_tx(n.engine, 0, 0, sent, 256), 0);
	assert_true(mt_engine_tx_is_blocked(n.engine));
	assert_u_eq(mt_engine_tx(n.engine, 0, 1, sent, 256), 1);
}

CASE(mt_engine_tx, owed_ones_wait_their_turn_too)
{
	owe(2);
	owe(0);
	for (unsigned i = 0; i < 4; i++) {
		assert_u_eq(node_tx(&n, 0, sent, 1), 1);
		assert_u_eq(sent[0].pkt.bth.opcode, i % 2 ? MW_ACK : MW_SACK);
		assert_u_eq(from(&sent[0]), i < 2 ? 2 : 0);
	}
	assert_u_eq(node_tx(&n, 0, sent, 1), 0);
}

CASE(mt_engine_tx, who_finds_no_room_stays_in_order)
{
	for (uint32_t i = 1; i < 8; i += 2)
		mt_ev_deny(qps[0]->ev_set, (uint16_t)i, true); /* all of port 1 */
	post(2, 1);
	post(0, 1);
	post(1, 1);
	assert_u_eq(mt_engine_tx(n.engine, 0, 2, sent, 256), 0);
	assert_true(mt_engine_tx_is_blocked(n.engine));
	check_from(mt_engine_tx(n.engine, 0, 1, sent, 256), "201");
}

CASE(mt_engine_tx, who_is_blocked_leaves_until_woken)
{
	struct mw_packet sack;

	post(0, 130);
	post(1, 1);
	assert_u_eq(node_tx(&n, 0, sent, 256), 129);
	assert_false(mt_engine_tx_is_blocked(n.engine));
	assert_true(mb_link_is_empty(&qps[0]->ready));
	sack = node_sack(&n, &sent[0], 1);
	sack.bth.dqp = qps[0]->qpn;
	node_rx(&n, 5000, &sack);
	assert_true(mt_engine_tx_is_blocked(n.engine));
	check_from(node_tx(&n, 5000, sent, 256), "0");
}

CASE(mt_engine_tx_is_blocked, nothing_to_send)
{
	assert_false(mt_engine_tx_is_blocked(n.engine));
	owe(0); /* control packets do not wait */
	assert_false(mt_engine_tx_is_blocked(n.engine));
	post(0, 1);
	assert_true(mt_engine_tx_is_blocked(n.engine));
	node_drain(&n, 0);
	assert_false(mt_engine_tx_is_blocked(n.engine));
}

/* ---- skips ---- */

#define PORT_0 1u
#define PORT_1 2u

/*
 * Three QPs with 20 packets each, of which the first `count` are to skip the four EVs of port 0;
 * links of `bps`, 0: nobody knows.
 */
static int some_skip(uint32_t count, uint64_t bps)
{
	defaults(NULL);
	if (bps)
		opts.cc_profile = (struct mt_cc_profile_cfg){
			.kind = MT_CC_NSCC,
			.link_bps = bps,
			.base_rtt_ns = 12000,
		};
	start();
	for (uint32_t i = 0; i < QPS; i++) {
		qps[i] = i ? node_add_qp(&n, n.qpn + i, n.peer_qpn + i, &qps[i]) : n.qp;
		post(i, 1); /* it has a place in the rotation from its first packet on */
		assert_u_eq(mt_engine_tx(n.engine, 0, PORT_1, sent, 1), 1);
		for (uint16_t ev = 0; i < count && ev < 8; ev += 2)
			mt_spray_skip_once(&qps[i]->req.spray, qps[i]->ev_set, ev);
		qps[i]->req.spray.next_port = 0;
	}
	for (uint32_t i = 0; i < QPS; i++)
		post(i, 20);
	return 0;
}

static int all_skip(void **state)
{
	(void)state;
	return some_skip(QPS, 100000000000);
}

static int all_skip_at_unknown_rate(void **state)
{
	(void)state;
	return some_skip(QPS, 0);
}

static int first_skips(void **state)
{
	(void)state;
	return some_skip(1, 100000000000);
}

#define CASE_SKIPS(setup, name) TEST_WITH(setup, close_node, mt_engine_tx, name)

static uint64_t turn_ns(void)
{
	return 2 * mt_qp_packet_ns(n.qp); /* two ports share the rate */
}

/* REQ(req.spray.skip-turn) */
CASE_SKIPS(all_skip, a_call_is_not_idle_while_all_ports_have_room)
{
	assert_u_eq(node_tx(&n, 0, sent, 7), 7);
	for (uint32_t i = 0; i < 7; i++)
		assert_u_eq(sent[i].port, i < 4 ? 1 : i % 2);
	assert_u_eq(node_tx(&n, 0, sent, 256), 53);
	assert_u_eq(node_stats(&n).evs_skipped, 12);
}

/* REQ(req.spray.skip-turn) */
CASE_SKIPS(all_skip, a_lost_turn_waits_for_the_port_that_has_it)
{
	assert_u_eq(mt_engine_tx(n.engine, 0, PORT_0, sent, 16), 0);
	assert_true(mt_engine_tx_is_blocked(n.engine));
	assert_u_eq(node_stats(&n).evs_skipped, QPS);
	assert_u_eq(mt_engine_tx(n.engine, 0, PORT_0, sent, 16), 0);
	assert_u_eq(node_stats(&n).evs_skipped, QPS); /* nobody is asked again */
	assert_u_eq(mt_engine_tx(n.engine, 0, PORT_0 | PORT_1, sent, 1), 1);
	assert_u_eq(sent[0].port, 1);
}

/* REQ(req.spray.skip-turn) */
CASE_SKIPS(all_skip, a_lost_turn_lasts_no_longer_than_a_packet)
{
	uint64_t now = 0;

	for (uint32_t lost = 1; lost <= 4; lost++) {
		assert_u_eq(mt_engine_tx(n.engine, now, PORT_0, sent, 16), 0);
		assert_u_eq(node_stats(&n).evs_skipped, lost * QPS);
		assert_u_eq(mt_engine_deadline(n.engine), now + turn_ns());
		mt_engine_tick(n.engine, now + turn_ns() - 1);
		assert_u_eq(mt_engine_tx(n.engine, now + turn_ns() - 1, PORT_0, sent, 16), 0);
		assert_u_eq(node_stats(&n).evs_skipped, lost * QPS);
		now += turn_ns();
		mt_engine_tick(n.engine, now);
		assert_true(mt_engine_deadline(n.engine) > now);
	}
	assert_u_eq(mt_engine_tx(n.engine, now, PORT_0, sent, 16), 16);
}

/* REQ(req.spray.skip-turn) */
CASE_SKIPS(all_skip, a_turn_that_came_is_waited_for_no_longer)
{
	assert_u_eq(mt_engine_tx(n.engine, 0, PORT_0, sent, 16), 0);
	assert_u_eq(node_tx(&n, 0, sent, 256), 60);
	assert_true(mt_engine_deadline(n.engine) > turn_ns());
}

/* REQ(req.spray.skip-turn) */
CASE_SKIPS(first_skips, what_one_qp_does_not_use_others_do)
{
	assert_u_eq(mt_engine_tx(n.engine, 0, PORT_0, sent, 256), 40);
	for (uint32_t i = 0; i < 40; i++)
		assert_true(from(&sent[i]) != 0);
	check_from(mt_engine_tx(n.engine, 0, PORT_1, sent, 1), "0");
}

/* REQ(req.spray.skip-turn) */
CASE_SKIPS(all_skip_at_unknown_rate, no_turn_is_waited_for_that_may_last_for_ever)
{
	assert_u_eq(mt_engine_tx(n.engine, 0, PORT_0, sent, 16), 16);
	assert_u_eq(node_stats(&n).evs_skipped, 4 * QPS);
}

/* ---- a plane that none can use ---- */

#define MANY 10000u
#define DEAD 1u /* the mask of port 0, which always has room; port 1 seldom */
#define GOOD 2u

static int many_qps(void **state)
{
	static uint8_t users[MANY];

	defaults(state);
	opts.cfg.max_qps = 1u << 14;
	opts.attr.mpr = 1;
	start();
	for (uint32_t i = 1; i < MANY; i++)
		node_post(&n, node_add_qp(&n, n.qpn + i, n.peer_qpn + i, &users[i]), i, MTU, 0);
	node_post(&n, n.qp, 0, MTU, 0);
	for (uint32_t i = 0; i < 8; i += 2)
		mt_qp_retire_ev_group(n.qp, (uint16_t)i, 0, MT_EV_BY_LOSS);
	return 0;
}

#define CASE_MANY(function, name) TEST_WITH(many_qps, close_node, function, name)

static uint64_t visits_without_room(void)
{
	return node_stats(&n).tx_no_room;
}

/* REQ(req.spray.no-scan) */
CASE_MANY(mt_engine_tx, no_qp_is_looked_at_for_a_port_that_none_can_use)
{
	assert_u_eq(mt_engine_tx(n.engine, 0, DEAD, sent, 16), 0);
	assert_u_eq(visits_without_room(), MANY);
	for (int i = 0; i < 100; i++)
		assert_u_eq(mt_engine_tx(n.engine, 0, DEAD, sent, 16), 0);
	assert_u_eq(visits_without_room(), MANY);
	assert_true(mt_engine_tx_is_blocked(n.engine));
	for (uint32_t i = 0; i < 100; i++) {
		assert_u_eq(mt_engine_tx(n.engine, 0, DEAD | GOOD, sent, 16), 16);
		assert_u_eq(mt_engine_tx(n.engine, 0, DEAD, sent, 16), 0);
		assert_u_between(visits_without_room(), MANY, MANY + i + 1);
	}
	while (mt_engine_tx(n.engine, 0, GOOD, sent, 16))
		;
	assert_u_eq(node_stats(&n).tx_data_packets, MANY);
	assert_false(mt_engine_tx_is_blocked(n.engine));
}

/* REQ(req.spray.no-scan) */
CASE_MANY(mt_engine_tx, an_ev_that_comes_back_is_used_by_those_that_wait)
{
	assert_u_eq(mt_engine_tx(n.engine, 0, DEAD, sent, 16), 0);
	assert_true(mt_ev_restore(n.qp->ev_set, 0, 1000));
	mt_qp_ev_group_revived(n.qp, 0, 1000, MT_EV_BY_PROBE);
	assert_u_eq(mt_engine_tx(n.engine, 0, DEAD, sent, 16), 16);
}

/* REQ(req.spray.no-scan) */
CASE_MANY(mt_engine_tx, a_port_that_comes_back_is_used_by_those_that_wait)
{
	assert_i_eq(mt_engine_port_set(n.engine, 0, 1, false), MT_OK);
	assert_u_eq(mt_engine_tx(n.engine, 0, GOOD, sent, 16), 0);
	assert_i_eq(mt_engine_port_set(n.engine, 0, 1, true), MT_OK);
	assert_u_eq(mt_engine_tx(n.engine, 0, GOOD, sent, 16), 16);
}
