/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which transmission a SACK or NACK speaks of, and what follows for its EV: late packets, packets
 * that were sent again, trials, answers to probes.
 */
#include "core/qp/halves.h"
#include "unit/node_fixture.h"

#define REORDER_MAX 50000u

static struct mt_tx_desc sent[SENT_MAX];

static int wide_window(void **state)
{
	defaults(state);
	opts.cfg.timing.reorder_min_ns = 5000;
	opts.cfg.timing.reorder_max_ns = REORDER_MAX;
	opts.cfg.timing.port_hold_ns = 0;
	opts.cfg.ts_shift = 0;
	return 0;
}

#define CASE(function, name) TEST_WITH(wide_window, close_node, function, name)

static uint16_t ev_of(unsigned psn)
{
	return mt_tx_rec(&n.qp->req.window, node_psn(psn))->ev;
}

static enum mt_ev_state state_of(uint16_t ev)
{
	return mt_ev_state_of(n.qp->ev_set, ev);
}

/* What the log says of PSN 0, on this EV, in a former life of the QP or in this one. */
static void log_loss(uint16_t ev, uint64_t sent_ns)
{
	const struct mt_lost lost = {
		.psn = node_psn(0), .sent_ns = sent_ns, .qpn = mt_qp_lost_key(n.qp), .ev = ev};

	mt_lost_log_add(&n.engine->lost_log, &lost);
}

/* PSN 0, sent at 1000, is trimmed and sent again at 3000. */
static struct mw_packet sent_again(void)
{
	struct mw_packet first;

	start_message(sent, 8);
	first = node_sack(&n, &sent[0], 1);
	rx_at(2000, node_nack(&n, &sent[0], MW_NACK_TRIMMED));
	assert_u_eq(node_tx(&n, 3000, sent, 1), 1);
	return first;
}

/* REQ(req.loss.late) */
CASE(mt_completer_sack, a_late_packet_is_an_answer_of_its_ev)
{
	struct mw_packet late = sent_again();

	log_loss(3, 1000);
	rx_at(9000, late);
	assert_u_eq(node_stats(&n).losses_spurious, 1);
	assert_u_eq(n.qp->req.rtt.smoothed_ns, 8000);
	assert_u_eq(mt_reverse_ev_get(n.qp->ev_set, opts.evs[3].port), 3);
}

/* The log may still hold what the QP lost before it was connected to a destination with fewer. */
CASE(mt_completer_sack, a_late_packet_on_an_ev_that_is_no_more)
{
	struct mw_packet late = sent_again();

	log_loss(opts.ev_profile.n_evs, 1000);
	rx_at(9000, late);
	assert_u_eq(node_stats(&n).losses_spurious, 0);
	assert_u_eq(n.qp->req.rtt.smoothed_ns, 0);
}

/* REQ(req.loss.late) */
CASE(mt_completer_sack, what_is_out_for_the_first_time_is_not_late)
{
	start_message(sent, 8);
	log_loss(ev_of(0), 1000);
	rx_at(9000, node_sack(&n, &sent[0], 1));
	assert_u_eq(node_stats(&n).losses_spurious, 0);
	assert_u_eq(n.qp->req.rtt.smoothed_ns, 8000);
}

/* The EV comes back if its packet came within the longest RTT, to the nanosecond. */
static void late_by(uint64_t more_ns, enum mt_ev_state state)
{
	struct mw_packet late = sent_again();
	uint16_t ev = ev_of(1);
	uint64_t rtt_ns = 2000 + REORDER_MAX + more_ns;

	mt_rtt_sample(&n.qp->req.rtt, 2000);
	mt_qp_retire_ev_group(n.qp, ev, 3000, MT_EV_BY_LOSS);
	log_loss(ev, 1000);
	rx_at(1000 + rtt_ns, late);
	assert_u_eq(node_stats(&n).losses_spurious, 1);
	assert_u_eq(state_of(ev), state);
}

/* REQ(req.ev.late) */
CASE(mt_completer_sack, as_late_as_the_window_can_wait)
{
	late_by(0, MT_EV_GOOD);
}

/* REQ(req.ev.late) */
CASE(mt_completer_sack, later_than_the_window_can_wait)
{
	late_by(1, MT_EV_ASSUMED_BAD);
	assert_u_eq(n.qp->req.rtt.smoothed_ns, 2000);
}

/* REQ(req.ev.late) */
CASE(mt_completer_sack, an_ev_in_use_that_is_later_than_that_is_retired)
{
	struct mw_packet late = sent_again();
	uint16_t ev = ev_of(1);

	mt_rtt_sample(&n.qp->req.rtt, 2000);
	log_loss(ev, 1000);
	rx_at(1000 + 2000 + REORDER_MAX + 1, late);
	assert_u_eq(state_of(ev), MT_EV_ASSUMED_BAD);
	assert_u_eq(node_stats(&n).evs_retired, 1);
}

/* What was never away came not back, nor did the others of its group. REQ(req.ev.same-path) */
CASE(mt_qp_ev_group_revived, as_the_first_of_them_did)
{
	const uint16_t ids[] = {0, 0, 2, 3, 4, 5, 6, 7};

	for (uint16_t i = 0; i < 2; i++)
		opts.evs[i].port = 0;
	opts.ev_profile.group_ids = ids;
	start();
	mt_qp_retire_ev_group(n.qp, 0, 1000, MT_EV_BY_LOSS);
	mt_qp_ev_late(n.qp, 0, 2000, true);
	assert_u_eq(state_of(1), MT_EV_GOOD);
	assert_u_eq(mt_ev_fault(n.qp->ev_set, 1)->revived, 0);
	mt_qp_retire_ev_group(n.qp, 0, 3000, MT_EV_BY_LOSS);
	assert_true(mt_ev_restore(n.qp->ev_set, 0, 4000));
	mt_qp_ev_group_revived(n.qp, 0, 4000, MT_EV_BY_PROBE);
	assert_u_eq(state_of(1), MT_EV_GOOD);
	assert_u_eq(mt_ev_fault(n.qp->ev_set, 1)->revived, 1);
	assert_u_eq(node_stats(&n).evs_revived, 4);
}

/* REQ(req.loss.slowest-ev) */
CASE(mt_completer_sack, what_arrives_on_the_last_ev_not_heard_yet)
{
	struct mt_ev_set *s;
	uint16_t last;

	start_message(sent, 8);
	s = n.qp->ev_set;
	last = ev_of(0);
	for (uint16_t ev = 0; ev < s->n_evs; ev++)
		if (ev != last)
			mt_ev_note_heard(s, ev);
	rx_at(9000, node_sack(&n, &sent[1], 2));
	assert_true(mt_ev_was_heard(s, last));
	assert_u_eq(s->n_unheard, 0);
}

/* REQ(req.loss.slowest-ev) */
CASE(mt_completer_sack, what_arrives_on_the_slowest_ev_brings_it_nearer)
{
	struct mt_ev_set *s;

	start_message(sent, 8);
	s = n.qp->ev_set;
	mt_ev_note_heard(s, ev_of(0));
	mt_reorder_sample(&s->reorder, ev_of(0), 30000);
	rx_at(9000, node_sack(&n, &sent[1], 2));
	assert_u_eq(s->reorder.max_ns, 30000 - (30000 - 8000) / 2);
}

/* REQ(rsp.svc-time) */
CASE(mt_completer_sack, the_least_service_time_is_of_any_transmission)
{
	struct rd_qp_attr a = {.svc_time_dest = true};
	struct mw_packet pkt;

	sent_again();
	assert_i_eq(node_modify(&n, n.qp, &a, RD_QP_SVC_TIME_DEST), MT_OK);
	pkt = node_sack(&n, &sent[0], 1);
	pkt.seth.tx_timestamp++;
	pkt.bth.rtx = false;
	rx_at(9000, pkt);
	assert_u_eq(mt_reverse_ev_get(n.qp->ev_set, sent[0].port), MT_EV_NONE);
}

/* REQ(req.ev.revive) */
CASE(mt_completer_sack, a_packet_on_trial_brings_its_ev_back)
{
	uint16_t ev;

	start_message(sent, 8);
	ev = ev_of(2);
	mt_qp_retire_ev_group(n.qp, ev, 900, MT_EV_BY_LOSS);
	mt_ev_fault(n.qp->ev_set, ev)->on_trial = true;
	rx_at(9000, node_sack(&n, &sent[2], 8));
	assert_u_eq(state_of(ev), MT_EV_GOOD);
	assert_u_eq(node_stats(&n).evs_revived, 1);
}

/* Sends a probe by hand on EV 5, which is bad; its answer comes so much later. */
static void probe_answered(uint64_t after_ns)
{
	struct mt_control c = {
		.qp = n.qp, .kind = MT_CONTROL_PROBE, .index = 5, .purpose = MT_PROBE_REVIVAL};
	struct mw_packet sack;
	struct mt_tx_desc d;

	assert_true(mt_control_emit(n.engine, 10000, &c, &d));
	sack = node_sack(&n, &d, 0);
	sack.seth.pr = true;
	sack.seth.probe_id = d.pkt.peth.probe_id;
	rx_at(10000 + after_ns, sack);
}

/* REQ(req.ev.revive) */
CASE(mt_completer_sack, an_answer_that_is_too_late_revives_nothing)
{
	start_message(sent, 8);
	mt_rtt_sample(&n.qp->req.rtt, 2000);
	mt_qp_retire_ev_group(n.qp, 5, 9000, MT_EV_BY_LOSS);
	probe_answered(2000 + REORDER_MAX + 1);
	assert_u_eq(state_of(5), MT_EV_ASSUMED_BAD);
	assert_u_eq(node_stats(&n).evs_revived, 0);
}

/* REQ(req.probe.tail) */
CASE(mt_completer_sack, an_answer_to_a_probe_ends_the_silence)
{
	start_message(sent, 8);
	n.qp->req.rto.probes = 3;
	probe_answered(2000);
	assert_u_eq(n.qp->req.rto.probe_ns, 12000);
	assert_u_eq(n.qp->req.rto.probes, 0);
}

/* REQ(req.loss.slowest-ev) */
CASE(mt_completer_received, what_was_sent_again_says_nothing_of_its_ev)
{
	struct mw_packet pkt;

	sent_again();
	pkt = node_sack(&n, &sent[7], 1);
	pkt.seth.tx_timestamp++; /* no packet carried it */
	rx_at(3100, pkt);
	assert_u_eq(n.qp->req.window.una, node_psn(1));
	assert_u_eq(n.qp->ev_set->n_unheard, opts.ev_profile.n_evs);
	assert_u_eq(n.qp->ev_set->reorder.min_ns, UINT64_MAX);
	pkt = node_sack(&n, &sent[7], 2);
	pkt.seth.tx_timestamp++;
	rx_at(3200, pkt);
	assert_u_eq(n.qp->ev_set->n_unheard, opts.ev_profile.n_evs - 1u);
	assert_u_eq(n.qp->ev_set->reorder.min_ns, 2200);
}

/* When its packets arrived an ACK does not say. REQ(req.loss.slowest-ev) */
CASE(mt_completer_ack, says_nothing_of_evs)
{
	start_message(sent, 8);
	rx_at(9000, node_ack(&n, MW_ACK_NO_CREDIT, 1));
	assert_u_eq(n.qp->req.window.una, node_psn(8));
	assert_u_eq(n.qp->ev_set->n_unheard, opts.ev_profile.n_evs);
	assert_u_eq(n.qp->ev_set->reorder.min_ns, UINT64_MAX);
}

/* REQ(req.ev.overloaded) */
CASE(mt_completer_nack, only_want_of_room_is_overload)
{
	static const struct {
		uint8_t reason;
		bool overload;
	} rows[] = {{MW_NACK_PSN_OOR_WINDOW, false}, {MW_NACK_NO_RESOURCE, true}};

	for (unsigned i = 0; i < 2; i++) {
		start_message(sent, 8);
		rx_at(2000, node_nack(&n, &sent[0], rows[i].reason));
		assert_i_eq(mt_liveness_was_overloaded(&n.qp->peer->liveness, 2000),
			    rows[i].overload);
		if (i == 0)
			node_close(&n);
	}
}
