/* SPDX-License-Identifier: BSD-2-Clause */
/* Return paths: what proves one, when one is tested, what answers take. */
#include "core/ev/spray.h"
#include "core/qp/halves.h"
#include "unit/node_fixture.h"

static struct mt_tx_desc d;

#define CASE(function, name) TEST_WITH(connected, close_node, function, name)

static void receive(uint64_t now, uint64_t psn, uint8_t port)
{
	struct mw_packet pkt = node_write(&n, MW_WRITE_ONLY, psn, (uint16_t)psn, 4, 4);
	struct mt_rx_meta meta = node_meta(&n);

	meta.port = port;
	pkt.bth.a = true;
	node_rx_meta(&n, now, &meta, &pkt);
}

static void answer_probe(uint64_t now)
{
	struct mw_packet sack = node_sack(&n, &d, 0);

	sack.seth.pr = true;
	sack.seth.probe_id = d.pkt.peth.probe_id;
	node_rx(&n, now, &sack);
}

/* REQ(req.reverse.probe) */
CASE(mt_reverse_ev_candidate, each_plane_in_turn_a_random_ev)
{
	struct mb_prng prng = {1};
	uint32_t seen = 0;

	for (uint32_t i = 0; i < 200; i++) {
		uint16_t path = mt_reverse_ev_candidate(n.qp->ev_set, &prng);

		assert_u_eq(mt_ev_port(n.qp->ev_set, path), (i + 1) % 2);
		seen |= 1u << path;
	}
	assert_u_eq(seen, 0xFF);
	mt_engine_port_set(n.engine, 0, 1, false);
	for (int i = 0; i < 20; i++)
		assert_u_eq(opts.evs[mt_reverse_ev_candidate(n.qp->ev_set, &prng)].port, 0);
	mt_engine_port_set(n.engine, 0, 0, false);
	assert_u_eq(mt_reverse_ev_candidate(n.qp->ev_set, &prng), MT_EV_NONE);
}

/* REQ(req.loss.unknown-ev) */
CASE(mt_reverse_ev_set, is_heard)
{
	assert_false(mt_ev_was_heard(n.qp->ev_set, 5));
	mt_reverse_ev_set(n.qp->ev_set, 5, 0);
	assert_true(mt_ev_was_heard(n.qp->ev_set, 5));
}

/* REQ(req.rtx.proved-ev) */
CASE(mt_reverse_ev_newest, of_the_ports_that_may_be_taken)
{
	assert_u_eq(mt_reverse_ev_newest(n.qp->ev_set, 3, MT_EV_NONE), MT_EV_NONE);
	mt_reverse_ev_set(n.qp->ev_set, 5, 10);
	mt_reverse_ev_set(n.qp->ev_set, 4, 20);
	assert_u_eq(mt_reverse_ev_newest(n.qp->ev_set, 3, MT_EV_NONE), 4);
	assert_u_eq(mt_reverse_ev_newest(n.qp->ev_set, 3, 4), 5);
	assert_u_eq(mt_reverse_ev_newest(n.qp->ev_set, 2, MT_EV_NONE), 5);
	assert_u_eq(mt_reverse_ev_newest(n.qp->ev_set, 2, 5), MT_EV_NONE);
	mt_reverse_ev_set(n.qp->ev_set, 5, 30);
	assert_u_eq(mt_reverse_ev_newest(n.qp->ev_set, 3, MT_EV_NONE), 5);
	mt_engine_port_set(n.engine, 30, 1, false);
	assert_u_eq(mt_reverse_ev_newest(n.qp->ev_set, 3, MT_EV_NONE), 4);
}

CASE(mt_reverse_ev_get, only_while_it_may_be_used)
{
	assert_u_eq(mt_reverse_ev_get(n.qp->ev_set, 1), MT_EV_NONE);
	mt_reverse_ev_set(n.qp->ev_set, 5, 0);
	assert_u_eq(mt_reverse_ev_get(n.qp->ev_set, 1), 5);
	assert_u_eq(mt_reverse_ev_get(n.qp->ev_set, 0), MT_EV_NONE);
	mt_qp_retire_ev_group(n.qp, 5, 0, MT_EV_BY_LOSS);
	assert_u_eq(mt_reverse_ev_get(n.qp->ev_set, 1), MT_EV_NONE);
	mt_reverse_ev_set(n.qp->ev_set, 7, 0);
	mt_engine_port_set(n.engine, 0, 1, false);
	assert_u_eq(mt_reverse_ev_get(n.qp->ev_set, 1), MT_EV_NONE);
}

/* REQ(req.reverse.probe) */
CASE(mt_responder_data, who_only_receives_tests_a_way_back_each_round_trip)
{
	uint64_t step = MT_REVERSE_EV_WAITS * opts.cfg.timing.tail_probe_min_ns;

	receive(0, 0, 1);
	receive(step - 1, 1, 1);
	assert_u_eq(node_stats(&n).reverse_ev_probes, 0);
	receive(step, 2, 1);
	assert_true(node_tx_opcode(&n, step, MW_PROBE, &d));
	answer_probe(step + 100);
	assert_u_eq(mt_reverse_ev_get(n.qp->ev_set, d.port), d.ev & 0xFF);
	receive(2 * step - 1, 3, 1);
	assert_false(node_tx_opcode(&n, 2 * step - 1, MW_PROBE, &d));
	receive(2 * step, 4, 1);
	assert_true(node_tx_opcode(&n, 2 * step, MW_PROBE, &d));
	assert_u_eq(node_stats(&n).reverse_ev_probes, 2);
	/* Its answers take what was proven. */
	answer_probe(2 * step + 100);
	for (uint64_t i = 5; i < 20; i++) {
		receive(2 * step + 200, i, (uint8_t)(i % 2));
		assert_true(node_tx_opcode(&n, 2 * step + 200, MW_SACK, &d));
		assert_u_eq(d.ev & 0xFF, mt_reverse_ev_get(n.qp->ev_set, i % 2));
	}
	assert_u_eq(mt_engine_deadline(n.engine), UINT64_MAX); /* and no timer */
}

/* REQ(req.reverse.probe) */
CASE(mt_responder_data, after_a_pause_the_first_packet_tests_nothing)
{
	const uint64_t wait = opts.cfg.timing.tail_probe_min_ns;
	uint64_t step = MT_REVERSE_EV_WAITS * wait, due = step;

	receive(0, 0, 1);
	receive(due + 8 * wait, 1, 1);
	assert_u_eq(node_stats(&n).reverse_ev_probes, 1);
	due += 8 * wait + step;
	receive(due + 8 * wait + 1, 2, 1);
	assert_u_eq(node_stats(&n).reverse_ev_probes, 1);
}

/* REQ(req.reverse.from-sacks) */
CASE(mt_completer_sack, who_sends_needs_no_test)
{
	uint64_t step = MT_REVERSE_EV_WAITS * opts.cfg.timing.tail_probe_min_ns;
	struct mw_packet sack;

	assert_i_eq(node_post(&n, n.qp, 1, 2 * NODE_MTU, 0), MT_OK);
	assert_u_eq(node_tx(&n, step, &d, 1), 1);
	sack = node_sack(&n, &d, 1);
	node_rx(&n, 2 * step, &sack);
	assert_u_eq(mt_reverse_ev_get(n.qp->ev_set, d.port), d.ev & 0xFF);
	receive(3 * step - 1, 0, 0);
	assert_u_eq(node_stats(&n).reverse_ev_probes, 0);
}

/* The EV on which the SACK for a packet leaves, which came on EV 1 of ours; then all is sent. */
static uint16_t answered_on(uint64_t now, uint64_t psn)
{
	struct mw_packet pkt = only(psn);
	struct mt_rx_meta meta = node_meta(&n);

	meta.port = opts.evs[1].port;
	meta.ev = opts.evs[1].value;
	pkt.bth.a = true;
	node_rx_meta(&n, now, &meta, &pkt);
	assert_true(node_tx_opcode(&n, now, MW_SACK, &d));
	node_drain(&n, now);
	return (uint16_t)(d.ev & 0xFF);
}

static void repeat(uint64_t now, uint64_t psn, bool rtx)
{
	struct mw_packet pkt = only(psn);

	pkt.bth.rtx = rtx;
	rx_at(now, pkt);
	node_drain(&n, now);
}

/* REQ(req.reverse.doubt) What was proved before the answers left may have lost them. */
CASE(mt_responder_data, what_is_sent_again_in_vain_ends_what_was_proved)
{
	const uint64_t proved = 1000, wait = opts.cfg.timing.tail_probe_min_ns;
	struct mt_spray other;

	mt_spray_init(&other, 1);
	mt_reverse_ev_set(n.qp->ev_set, 3, proved);
	assert_u_eq(answered_on(proved, 0), 3);
	repeat(proved + wait + 1, 0, true);
	assert_u_eq(answered_on(proved + wait + 2, 1), 1);
	/* Others need not believe this peer. */
	assert_u_eq(mt_spray_reverse_ev(&other, n.qp->ev_set, opts.evs[3].port), 3);
	mt_reverse_ev_set(n.qp->ev_set, 5, proved + wait + 3);
	assert_u_eq(answered_on(proved + wait + 4, 2), 5);
}

/* REQ(req.reverse.doubt) The peer has waited before it asked. */
CASE(mt_responder_data, what_was_proved_meanwhile_stays)
{
	const uint64_t proved = 1000, wait = opts.cfg.timing.tail_probe_min_ns;

	mt_reverse_ev_set(n.qp->ev_set, 3, proved);
	assert_u_eq(answered_on(proved, 0), 3);
	repeat(proved + wait, 0, true);
	assert_u_eq(answered_on(proved + wait, 1), 3);
	n.qp->ev_set->probe_rtt_ns = 2 * wait;
	repeat(proved + 2 * wait, 0, true);
	assert_u_eq(answered_on(proved + 2 * wait, 2), 3);
	repeat(proved + 2 * wait + 1, 0, true);
	assert_u_eq(answered_on(proved + 2 * wait + 1, 3), 1);
	repeat(proved + wait, 0, true); /* a time that goes back changes nothing */
	assert_u_eq(answered_on(proved + 2 * wait + 1, 4), 1);
}

/*
 * REQ(req.reverse.doubt) A copy that a switch made was not sent again, and a packet that is new had
 * no answer yet that could be lost.
 */
CASE(mt_responder_data, copies_and_losses_end_nothing)
{
	uint64_t now = 1000 + 2 * opts.cfg.timing.tail_probe_min_ns;

	mt_reverse_ev_set(n.qp->ev_set, 3, 1000);
	assert_u_eq(answered_on(1000, 0), 3);
	repeat(now, 0, false);
	repeat(now, 1, true);
	assert_u_eq(answered_on(now, 2), 3);
}

/* REQ(req.reverse.doubt) */
CASE(mt_responder_probe, ends_what_was_proved)
{
	uint64_t now = 1001 + opts.cfg.timing.tail_probe_min_ns;

	mt_reverse_ev_set(n.qp->ev_set, 3, 1000);
	assert_u_eq(answered_on(1000, 0), 3);
	rx_at(now - 1, node_probe(&n, 1));
	node_drain(&n, now - 1);
	assert_u_eq(answered_on(now, 1), 3);
	rx_at(now, node_probe(&n, 2));
	node_drain(&n, now);
	assert_u_eq(answered_on(now, 2), 1);
}
