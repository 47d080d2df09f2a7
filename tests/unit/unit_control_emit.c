/* SPDX-License-Identifier: BSD-2-Clause */
/* Control packets at the moment when they leave: each field, each way they go, and whose time is
 * over. */
#include "core/ev/spray.h"
#include "core/qp/halves.h"
#include "unit/node_fixture.h"

static struct mt_tx_desc d;

static int two_units(void **state)
{
	defaults(state);
	opts.attr.mpr_dest = 2;
	opts.attr.p_key = 0x8001;
	start();
	return 0;
}

#define CASE(function, name) TEST_WITH(two_units, close_node, function, name)

static bool emit(const struct mt_control *c)
{
	memset(&d, 0xFF, sizeof(d));
	return mt_control_emit(n.engine, 128 * 99, c, &d);
}

static struct mt_control control(enum mt_control_kind kind)
{
	return (struct mt_control){
		.qp = n.qp,
		.kind = (uint8_t)kind,
		.cause = {.psn = node_psn(6),
			  .ev = 0xE1E2E3E4,
			  .tx_timestamp = 0xABCD,
			  .port = 1,
			  .mark = MW_MARK_SKIP_ONCE,
			  .rtx = true},
		.reason = MW_NACK_TRIMMED,
	};
}

static void check_address(uint8_t opcode, uint32_t psn)
{
	assert_u_eq(d.pkt.bth.opcode, opcode);
	assert_u_eq(d.pkt.bth.p_key, 0x8001);
	assert_u_eq(d.pkt.bth.dqp, n.peer_qpn);
	assert_u_eq(d.pkt.bth.psn, psn);
	assert_memory_equal(&d.dst, &n.peer, sizeof(n.peer));
	assert_ptr_equal(d.qp_user, &n);
	assert_null(d.sge);
	assert_u_eq(d.n_sge, 0);
	assert_u_eq(d.offset, 0);
	assert_u_eq(d.pkt.payload_len, 0);
	assert_u_eq(d.ev, n.opts.evs[d.ev & 0xFF].value);
	assert_u_eq(d.port, n.opts.evs[d.ev & 0xFF].port);
}

/*
 * REQ(wire.bth.sack-rtx) REQ(req.reverse.per-plane)
 * REQ(wire.bth.control-use) REQ(wire.seth.context-ids)
 */
CASE(mt_control_emit, sack)
{
	struct mt_control c = control(MT_CONTROL_SACK);

	assert_true(emit(&c));
	check_address(MW_SACK, node_wire_psn(-UINT64_C(1)));
	assert_true(d.pkt.bth.rtx);
	assert_u_eq(d.port, 1);
	assert_u_eq(d.tclass, MW_DSCP_CONTROL);
	assert_u_eq(d.pkt.seth.spdcid, n.qpn);
	assert_u_eq(d.pkt.seth.dpdcid, n.peer_qpn);
	assert_u_eq(d.pkt.seth.mpr, 2); /* REQ(wire.seth.mpr) */
	assert_u_eq(d.pkt.seth.m, MW_MARK_SKIP_ONCE);
	assert_u_eq(d.pkt.seth.entropy, 0xE1E2E3E4);
	assert_i_eq(d.pkt.seth.ack_psn_offset, 7);
	assert_u_eq(d.pkt.seth.rcv_cwnd_pen, 0);
	assert_u_eq(node_stats(&n).tx_sacks, 1);
	c.cause.rtx = false;
	assert_true(emit(&c));
	assert_false(d.pkt.bth.rtx);
}

/* REQ(rsp.svc-time) */
CASE(mt_control_emit, the_stamp_of_a_sack_moves_by_the_time_that_it_took)
{
	struct mt_control c = control(MT_CONTROL_SACK);

	c.cause.rx_ns = 128 * 90 + 1;
	assert_true(emit(&c));
	assert_u_eq(d.pkt.seth.tx_timestamp, 0xABCD);
	n.engine->cfg.svc_time = true;
	assert_true(emit(&c));
	assert_u_eq(d.pkt.seth.tx_timestamp, 0xABCD + 8);
	c.cause.rx_ns = 0; /* there was no stamp */
	assert_true(emit(&c));
	assert_u_eq(d.pkt.seth.tx_timestamp, 0xABCD);
}

CASE(mt_control_emit, an_answer_that_was_not_heard_takes_any_ev_but_a_denied_one)
{
	struct mt_control c = control(MT_CONTROL_SACK);
	uint32_t seen = 0;

	c.cause.answer_lost = true;
	mt_qp_retire_ev_group(n.qp, 2, 0, MT_EV_BY_LOSS);
	mt_ev_deny(n.qp->ev_set, 3, true);
	mt_ev_deny(n.qp->ev_set, 4, true);
	for (int i = 0; i < 300; i++) {
		assert_true(emit(&c));
		seen |= 1u << (d.ev & 0xFF);
	}
	assert_u_eq(seen, 0xE7);
}

/* REQ(req.reverse.unheard) */
CASE(mt_control_emit, an_answer_that_was_not_heard_takes_the_ev_of_its_cause)
{
	struct mt_control c = control(MT_CONTROL_SACK);
	const struct mt_ev_shared *shared = n.qp->ev_set->shared;
	const struct mt_ev *own = &shared->evs[shared->ports[0].first];
	unsigned same = 0;

	mt_reverse_ev_set(n.qp->ev_set,
			  n.qp->ev_set->order[n.qp->ev_set->shared->ports[0].first + 1], 0);
	c.cause.answer_lost = true;
	c.cause.port = own->port;
	c.cause.ev = own->value;
	for (int i = 0; i < 1000; i++) {
		assert_true(emit(&c));
		same += d.ev == own->value && d.port == own->port;
	}
	assert_in_range(same, 250, 500); /* an eighth of the others by chance */
}

/* REQ(req.reverse.unproved) What is left of a network mostly works in both directions. */
CASE(mt_control_emit, an_answer_takes_the_ev_of_its_cause_until_one_is_proved)
{
	struct mt_control c = control(MT_CONTROL_SACK);
	const struct mt_ev_set *s = n.qp->ev_set;
	const struct mt_ev *own = &s->shared->evs[s->shared->ports[0].first];
	uint16_t proved = n.qp->ev_set->order[n.qp->ev_set->shared->ports[0].first + 1];

	c.cause.port = own->port;
	c.cause.ev = own->value;
	for (int i = 0; i < 20; i++) {
		assert_true(emit(&c));
		assert_true(d.ev == own->value && d.port == own->port);
	}
	mt_reverse_ev_set(n.qp->ev_set, proved, 0);
	for (int i = 0; i < 20; i++) {
		assert_true(emit(&c));
		assert_u_eq(d.ev, mt_ev_value(n.qp->ev_set, proved));
	}
}

/* Half of them any, of which half are of the other plane. REQ(req.reverse.unheard) */
CASE(mt_control_emit, a_quarter_of_the_answers_that_were_not_heard_change_plane)
{
	struct mt_control c = control(MT_CONTROL_SACK);
	unsigned other = 0;

	c.cause.answer_lost = true;
	for (int i = 0; i < 4000; i++) {
		assert_true(emit(&c));
		other += d.port != c.cause.port;
	}
	assert_in_range(other, 900, 1100);
}

CASE(mt_control_emit, no_answer_without_a_plane)
{
	struct mt_control sack = control(MT_CONTROL_SACK), nack = control(MT_CONTROL_NACK);

	mt_engine_port_set(n.engine, 0, 0, false);
	assert_true(emit(&sack) && emit(&nack));
	mt_engine_port_set(n.engine, 0, 1, false);
	assert_false(emit(&sack));
	assert_false(emit(&nack));
}

/* REQ(rsp.pressure.penalty) REQ(wire.ccstate.layout) */
CASE(mt_control_emit, a_sack_asks_for_less_after_an_overflow_and_takes_it_back)
{
	const uint64_t period = n.opts.cfg.timing.backpressure_ns;
	struct mt_control c = control(MT_CONTROL_SACK);

	mt_engine_rx_overflow(n.engine, 128 * 99, 3);
	assert_u_eq(node_stats(&n).rx_overflows, 3);
	assert_true(emit(&c));
	assert_u_eq(d.pkt.seth.rcv_cwnd_pen, 64);
	assert_false(d.pkt.seth.restore_cwnd);
	assert_u_eq(d.pkt.seth.mpr, 2); /* this QP has not agreed to a dynamic window */
	assert_true(mt_control_emit(n.engine, 128 * 99 + period, &c, &d));
	assert_u_eq(d.pkt.seth.rcv_cwnd_pen, 0);
	assert_true(d.pkt.seth.restore_cwnd);
}

CASE(mt_engine_rx_overflow, none_is_none)
{
	struct mt_control c = control(MT_CONTROL_SACK);

	mt_engine_rx_overflow(n.engine, 128 * 99, 0);
	assert_true(emit(&c));
	assert_u_eq(d.pkt.seth.rcv_cwnd_pen, 0);
	assert_false(d.pkt.seth.restore_cwnd);
}

/* REQ(rsp.mpr.dynamic) */
CASE(mt_engine_rx_capacity, is_shared_by_the_qps_that_agreed)
{
	struct mt_control c = control(MT_CONTROL_SACK);

	n.qp->attr.dynamic_mpr = true;
	assert_true(emit(&c));
	assert_u_eq(d.pkt.seth.mpr, 2);
	mt_engine_rx_capacity(n.engine, 2 * 128 - 1);
	assert_true(emit(&c));
	assert_u_eq(d.pkt.seth.mpr, 1);
	mt_engine_rx_capacity(n.engine, 2 * 128);
	assert_true(emit(&c));
	assert_u_eq(d.pkt.seth.mpr, 2);
	mt_engine_rx_overflow(n.engine, 0, 1);
	assert_true(emit(&c));
	assert_u_eq(d.pkt.seth.mpr, 1);
}

/* REQ(rsp.nack.trim) */
CASE(mt_control_emit, nack)
{
	struct mt_control c = control(MT_CONTROL_NACK);

	assert_true(emit(&c));
	check_address(MW_NACK, node_wire_psn(6));
	assert_u_eq(d.port, 1);
	assert_u_eq(d.tclass, MW_DSCP_CONTROL);
	assert_u_eq(d.pkt.neth.reason, MW_NACK_TRIMMED);
	assert_u_eq(d.pkt.neth.nack_psn, node_wire_psn(6));
	assert_u_eq(d.pkt.neth.entropy, 0xE1E2E3E4);
	assert_u_eq(d.pkt.neth.tx_timestamp, 0xABCD);
	assert_u_eq(d.pkt.neth.cc_type, 2);
	assert_u_eq(d.pkt.neth.vendor_info, 0);
	assert_u_eq(d.pkt.neth.spdcid, n.qpn);
	assert_u_eq(d.pkt.neth.dpdcid, n.peer_qpn);
	assert_u_eq(node_stats(&n).tx_nacks, 1);
}

/* REQ(rsp.senders): a full packet at 100 Gb/s, of each of ten. */
CASE(mt_control_emit, a_nack_of_the_last_hop_says_how_far_apart_packets_are_to_be)
{
	struct mt_control c = control(MT_CONTROL_NACK);

	n.engine->cc_profiles[0].nscc.link_kbps = 100000000;
	n.engine->senders.heard = 10;
	c.reason = MW_NACK_TRIMMED_LASTHOP;
	assert_true(emit(&c));
	assert_u_eq(d.pkt.neth.vendor_info,
		    mt_pace_encode((MTU + MT_NOMINAL_HEADER) * 8 / 100 * 10));
	n.engine->senders.heard = 2;
	assert_true(emit(&c));
	assert_true(d.pkt.neth.vendor_info != 0);
	n.engine->senders.heard = 1;
	assert_true(emit(&c));
	assert_u_eq(d.pkt.neth.vendor_info, 0);
	n.engine->senders.before = 10;
	c.reason = MW_NACK_TRIMMED;
	assert_true(emit(&c));
	assert_u_eq(d.pkt.neth.vendor_info, 0);
	c.reason = MW_NACK_TRIMMED_LASTHOP;
	n.engine->cc_profiles[0].nscc.link_kbps = 0; /* nothing is known of the link */
	assert_true(emit(&c));
	assert_u_eq(d.pkt.neth.vendor_info, 0);
}

/* REQ(req.reverse.nack) It came that way a moment ago; what was proved once may have died since. */
CASE(mt_control_emit, a_nack_goes_back_by_the_ev_of_its_cause)
{
	struct mt_control c = control(MT_CONTROL_NACK);
	struct mt_ev_set *s = n.qp->ev_set;
	uint16_t here = s->order[s->shared->ports[1].first];
	uint16_t other = s->order[s->shared->ports[1].first + 1];

	mt_reverse_ev_set(s, other, 0);
	c.cause.ev = mt_ev_value(s, here);
	for (int i = 0; i < 20; i++) {
		c.cause.answer_lost = i % 2; /* it was sent again, by another EV than before */
		assert_true(emit(&c));
		assert_u_eq(d.ev, mt_ev_value(s, here));
		assert_u_eq(d.port, 1);
	}
	c.cause.answer_lost = false;
	assert_true(mt_ev_deny(s, here, true));
	assert_true(emit(&c));
	assert_u_eq(d.ev, mt_ev_value(s, other));
	c.cause.ev = 0xE1E2E3E4; /* none of ours */
	assert_true(emit(&c));
	assert_u_eq(d.ev, mt_ev_value(s, other));
}

/* Another plane's EV of the same value is another path. REQ(req.reverse.nack) */
CASE(mt_control_emit, a_nack_stays_on_the_plane_of_its_cause)
{
	struct mt_control c = control(MT_CONTROL_NACK);
	struct mt_ev_set *s = n.qp->ev_set;

	c.cause.port = 0;
	for (uint16_t k = 0; k < s->shared->ports[1].count; k++) {
		c.cause.ev = mt_ev_value(s, s->order[s->shared->ports[1].first + k]);
		assert_true(emit(&c));
		assert_u_eq(d.port, 0);
	}
}

/* REQ(req.probe.reliability) REQ(req.probe.no-psn) */
CASE(mt_control_emit, probe)
{
	struct mt_control c = {.qp = n.qp, .kind = MT_CONTROL_PROBE, .index = 5};
	struct mt_probe probe;

	c.purpose = MT_PROBE_REVIVAL;
	assert_true(emit(&c));
	check_address(MW_PROBE, 0);
	assert_u_eq(d.ev, n.opts.evs[5].value); /* on the path that it is about */
	assert_u_eq(d.tclass, MW_DSCP_NO_TRIM); /* and in the queue where data wait */
	assert_u_eq(d.pkt.peth.ts.tx_timestamp, 99);
	assert_u_eq(d.pkt.peth.ts.ftype, 1);
	assert_u_eq(d.pkt.peth.spdcid, n.qpn);
	assert_u_eq(node_stats(&n).tx_probes, 1);
	assert_true(mt_probe_match(&n.engine->probes, d.pkt.peth.probe_id, n.qp, n.qp->first_probe,
				   &probe));
	assert_u_eq(probe.ev, 5);
	assert_u_eq(probe.purpose, MT_PROBE_REVIVAL);
	assert_u_eq(probe.sent_ns, 128 * 99);
	assert_u_eq(n.qp->req.window.next, node_psn(0));
}

/* REQ(req.probe.bounded) */
CASE(mt_control_emit, no_more_probes_than_the_table_holds)
{
	struct mt_control c = {
		.qp = n.qp, .kind = MT_CONTROL_PROBE, .index = 5, .purpose = MT_PROBE_REVIVAL};
	uint32_t sent = 0;

	while (emit(&c))
		sent++;
	assert_u_eq(sent, n.engine->probes.mask + 1);
	assert_u_eq(node_stats(&n).tx_probes, sent);
	assert_u_eq(node_stats(&n).probes_refused, 1);
}

CASE(mt_control_emit, nothing_after_an_error)
{
	struct rd_qp_attr err = {.state = RD_QPS_ERR};
	struct mt_control c;

	assert_i_eq(node_modify(&n, n.qp, &err, RD_QP_STATE), MT_OK);
	c = control(MT_CONTROL_SACK);
	assert_false(emit(&c));
	c = control(MT_CONTROL_NACK);
	assert_false(emit(&c));
	c = control(MT_CONTROL_PROBE);
	assert_false(emit(&c));
	assert_u_eq(node_stats(&n).tx_sacks + node_stats(&n).tx_nacks + node_stats(&n).tx_probes,
		    0);
}

CASE(mt_control_emit, a_skipped_time_takes_no_place_in_the_round)
{
	struct mw_packet probe = node_probe(&n, 1);
	struct rd_qp_attr err = {.state = RD_QPS_ERR};
	struct mw_packet request = {
		.bth = {.opcode = MW_EP_REQUEST, .p_key = 0xFFFF, .dqp = 2},
		.erth = {.op = MW_EP_EV_PROBE},
	};

	probe.bth.p_key = 0x8001;
	node_rx(&n, 0, &probe);
	node_rx(&n, 0, &request);
	assert_i_eq(node_modify(&n, n.qp, &err, RD_QP_STATE), MT_OK);
	assert_u_eq(node_tx(&n, 0, &d, 1), 1);
	assert_u_eq(d.pkt.bth.opcode, MW_EP_RESPONSE);
}

CASE(mt_control_emit, a_qp_that_began_again_answers_nothing_old)
{
	struct rd_qp_attr reset = {.state = RD_QPS_RESET};
	struct mw_packet probe = node_probe(&n, 1);

	probe.bth.p_key = 0x8001;
	node_rx(&n, 0, &probe);
	assert_u_eq(n.engine->controls.n_free, n.engine->controls.size - 1);
	assert_i_eq(node_modify(&n, n.qp, &reset, RD_QP_STATE), MT_OK);
	assert_u_eq(n.engine->controls.n_free, n.engine->controls.size);
	reset.state = RD_QPS_INIT;
	assert_i_eq(node_modify(&n, n.qp, &reset, RD_QP_STATE), MT_OK);
	node_connect(&n);
	assert_u_eq(node_drain(&n, 0), 0);
}

/* REQ(rsp.ack.transport) REQ(wire.aeth.no-credit) */
CASE(mt_control_emit_next, a_sack_then_an_ack_then_nothing)
{
	struct mw_packet pkt = node_write(&n, MW_WRITE_ONLY, 0, 0, 4, 4);

	pkt.bth.p_key = 0x8001;
	pkt.bth.a = true;
	node_rx(&n, 0, &pkt);
	assert_true(mt_control_emit_next(n.qp, 0, &d));
	check_address(MW_SACK, node_wire_psn(0));
	assert_true(mt_control_emit_next(n.qp, 0, &d));
	check_address(MW_ACK, node_wire_psn(0));
	assert_u_eq(d.pkt.aeth.syndrome, 0x1F);
	assert_u_eq(d.pkt.aeth.msn, 1);
	assert_u_eq(d.tclass, MW_DSCP_CONTROL);
	assert_false(mt_control_emit_next(n.qp, 0, &d));
	assert_u_eq(node_stats(&n).tx_acks, 1);
}

/* REQ(rsp.senders) */
CASE(mt_qp_packet_ns, as_long_as_the_link_takes_for_it_and_its_header)
{
	n.engine->cc_profiles[n.qp->attr.cc_profile].nscc.link_kbps = 100;
	assert_u_eq(mt_qp_packet_ns(n.qp), (MTU + MT_NOMINAL_HEADER) * UINT64_C(80000));
}

/* REQ(ep.port.survive) */
CASE(mt_control_emit_next, nothing_while_no_port_is_open)
{
	struct mw_packet pkt = node_write(&n, MW_WRITE_ONLY, 0, 0, 4, 4);

	pkt.bth.p_key = 0x8001;
	pkt.bth.a = true;
	node_rx(&n, 0, &pkt);
	for (uint8_t port = 0; port < 2; port++)
		mt_engine_port_set(n.engine, 0, port, false);
	assert_false(mt_control_emit_next(n.qp, 0, &d));
	mt_engine_port_set(n.engine, 0, 1, true);
	assert_true(mt_control_emit_next(n.qp, 0, &d));
	check_address(MW_SACK, node_wire_psn(0));
}
