/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Losses and paths, as SACKs that are written by hand tell of them. The reorder window of this
 * file is 5 us, the base spacing of packets far less.
 */
#include "core/qp/halves.h"
#include "unit/node_fixture.h"

#define MAX 256u

static struct mt_tx_desc early[MAX], late[MAX];

static int short_window(void **state)
{
	defaults(state);
	opts.cfg.timing.reorder_min_ns = opts.cfg.timing.reorder_max_ns = 5000;
	return 0;
}

#define CASE(function, name) TEST_WITH(short_window, close_node, function, name)

/* Sends 8 packets at 1000, PSNs 0 to 7, and 8 more at `then`: one round over the 8 EVs each. */
static void start_rounds(uint64_t then)
{
	start();
	assert_i_eq(node_post(&n, n.qp, 70, 16 * MTU, RD_SEND_SIGNALED), MT_OK);
	assert_u_eq(node_tx(&n, 1000, early, 8), 8);
	assert_u_eq(node_tx(&n, then, late, MAX), 8);
}

/* A SACK that PSN 8 + i, of the later round, caused: it and all of the first round but `holes`. */
static struct mw_packet sack_late(unsigned i, uint64_t holes)
{
	struct mw_packet pkt = node_sack(&n, &late[i], 0);

	pkt.seth.sack_bitmap = (0xFF & ~holes) | UINT64_C(1) << (8 + i);
	return pkt;
}

static uint16_t path_of(unsigned psn)
{
	return mt_tx_rec(&n.qp->req.window, node_psn(psn))->ev;
}

static enum mt_ev_state state_of(uint16_t path)
{
	struct mt_ev_info info;

	assert_true(mt_qp_ev_info(n.qp, path, &info));
	return info.state;
}

static enum mt_tx_state psn_state(unsigned psn)
{
	return (enum mt_tx_state)mt_tx_rec(&n.qp->req.window, node_psn(psn))->state;
}

static uint32_t lost(void)
{
	return n.qp->req.window.lost;
}

/* A packet of the later round that did not take the EV of PSN `psn`. */
static unsigned other_than(unsigned psn)
{
	return late[0].ev == early[psn].ev ? 1 : 0;
}

static void check_ev_event(uint16_t path, enum mt_ev_state state, enum mt_ev_cause cause)
{
	struct mt_event ev;

	assert_true(node_poll(&n, &ev));
	assert_u_eq(ev.type, MT_EVENT_EV);
	assert_u_eq(ev.ev.value, opts.evs[path].value);
	assert_u_eq(ev.ev.port, opts.evs[path].port);
	assert_u_eq(ev.ev_state, state);
	assert_u_eq(ev.ev_cause, cause);
	assert_memory_equal(&ev.peer, &n.peer, sizeof(n.peer));
	assert_null(ev.qp_user);
}

/* REQ(req.loss.explicit) REQ(req.ev.one-loss) REQ(req.ev.events) */
CASE(mt_completer_sack, a_hole_one_reorder_window_old_is_lost)
{
	uint16_t path;

	start_rounds(6000);
	path = path_of(3);
	rx_at(8000, sack_late(other_than(3), 1 << 3));
	assert_u_eq(psn_state(3), MT_TX_LOST);
	assert_u_eq(lost(), 1);
	assert_u_eq(node_stats(&n).lost_inferred, 1);
	assert_u_eq(node_stats(&n).evs_retired, 1);
	assert_u_eq(state_of(path), MT_EV_ASSUMED_BAD);
	assert_u_eq(mt_ev_fault(n.qp->ev_set, path)->lost_bytes, MTU + MT_NOMINAL_HEADER);
	check_ev_event(path, MT_EV_ASSUMED_BAD, MT_EV_BY_LOSS);
}

CASE(mt_completer_sack, a_younger_hole_may_be_reordering)
{
	start_rounds(5999);
	rx_at(8000, sack_late(other_than(3), 1 << 3));
	assert_u_eq(lost(), 0);
}

CASE(mt_completer_sack, all_of_several_holes)
{
	start_rounds(7000);
	rx_at(8000, sack_late(0, 0x5C));
	assert_u_eq(lost(), 4); /* 2, 3, 4 and 6 */
	assert_u_eq(psn_state(5), MT_TX_RECEIVED);
	assert_u_eq(psn_state(9), MT_TX_OUTSTANDING);
}

/* The first PSN after `psn` whose EV has the same port. */
static unsigned next_of_port(unsigned psn)
{
	unsigned other = psn + 1;

	while (opts.evs[path_of(other)].port != opts.evs[path_of(psn)].port)
		other++;
	assert_true(other < 8);
	return other;
}

/*
 * What left before a silence may have been lost because of it: when one such loss has retired an EV
 * of a plane, the others there are held against none.
 */
CASE(mt_completer_sack, of_losses_before_a_silence_one_retires_an_ev_of_a_plane)
{
	unsigned other;

	start_rounds(7000);
	n.qp->peer->liveness.resumed_ns = 2000;
	other = next_of_port(0);
	rx_at(8000, sack_late(other_than(0), 1 | UINT64_C(1) << other));
	assert_u_eq(lost(), 2);
	assert_u_eq(node_stats(&n).evs_retired, 1);
	assert_u_eq(state_of(path_of(0)), MT_EV_ASSUMED_BAD);
	assert_u_eq(state_of(path_of(other)), MT_EV_GOOD);
}

/* REQ(req.loss.same-ev) */
CASE(mt_completer_sack, a_later_packet_of_the_same_ev_proves_it_sooner)
{
	unsigned same = 0;

	start_rounds(1000 + 5000 / 4);
	while (late[same].ev != early[3].ev)
		same++;
	rx_at(8000, sack_late(other_than(3), 1 << 3));
	assert_u_eq(lost(), 0);
	rx_at(8000, sack_late(same, 1 << 3));
	assert_u_eq(psn_state(3), MT_TX_LOST);
}

static int wide_window(void **state)
{
	defaults(state);
	opts.cfg.timing.reorder_min_ns = 5000;
	opts.cfg.timing.reorder_max_ns = 50000;
	opts.cfg.timing.port_hold_ns = 0;
	return 0;
}

/* PSN 3 is found lost and sent again; then a SACK comes that its first transmission has caused. */
static uint16_t late_at(uint64_t now_ns)
{
	struct mw_packet pkt;
	uint16_t path;

	start_rounds(20000);
	path = path_of(3);
	pkt = node_sack(&n, &early[0], 0);
	pkt.seth.sack_bitmap = 0xFF & ~(1 << 3);
	rx_at(3000, pkt);
	pkt.seth.tx_timestamp++; /* no more samples of it, only a sign of life */
	for (uint64_t now = 8000; now < 22000; now += 5000)
		rx_at(now, pkt);
	rx_at(22000, sack_late(other_than(3), 1 << 3));
	assert_u_eq(lost(), 1);
	check_ev_event(path, MT_EV_ASSUMED_BAD, MT_EV_BY_LOSS);
	assert_u_eq(node_tx(&n, 23000, late, 1), 1);
	assert_true(late[0].pkt.bth.rtx);
	rx_at(now_ns, node_sack(&n, &early[3], 8));
	assert_u_eq(node_stats(&n).losses_spurious, 1);
	return path;
}

static uint64_t window_ns(void)
{
	return mt_reorder_window(&n.qp->ev_set->reorder, &opts.cfg.timing);
}

/* REQ(req.loss.late) */
TEST_WITH(wide_window, close_node, mt_completer_sack, a_packet_called_lost_was_late)
{
	uint16_t path = late_at(24000);

	check_ev_event(path, MT_EV_GOOD, MT_EV_BY_LATE);
	assert_u_eq(state_of(path), MT_EV_GOOD);
	assert_u_eq(window_ns(), (23000 - 2000) * 5 / 4);
	/* It is told once. */
	rx_at(25000, node_sack(&n, &early[3], 8));
	assert_u_eq(node_stats(&n).losses_spurious, 1);
}

/* REQ(req.ev.late) */
TEST_WITH(wide_window, close_node, mt_completer_sack, a_packet_later_than_the_window_may_be)
{
	uint16_t path = late_at(60000);

	check_ev_event(path, MT_EV_ASSUMED_BAD, MT_EV_BY_LATE);
	assert_u_eq(state_of(path), MT_EV_ASSUMED_BAD);
	assert_u_eq(window_ns(), 5000);
}

/* REQ(req.loss.outside-bitmap) */
CASE(mt_completer_sack, nothing_follows_for_what_is_outside_the_map)
{
	struct mw_packet pkt;

	start_rounds(7000);
	pkt = node_sack(&n, &late[0], 2);
	pkt.seth.sack_offset =
		5; /* bit 0 is 6; 3, 4 and 5 are not told of, 2 is the expected one */
	pkt.seth.sack_bitmap = 4;
	rx_at(8000, pkt);
	assert_u_eq(psn_state(2), MT_TX_LOST);
	for (unsigned i = 3; i < 6; i++)
		assert_u_eq(psn_state(i), MT_TX_OUTSTANDING);
	assert_u_eq(psn_state(6), MT_TX_LOST);
	assert_u_eq(psn_state(8), MT_TX_RECEIVED);
}

CASE(mt_completer_sack, a_map_that_holds_everything_received_speaks_of_all)
{
	struct mw_packet pkt;

	start_rounds(7000);
	pkt = node_sack(&n, &late[0], 0);
	pkt.seth.sack_offset = 5; /* bit 0 is 4; of 1, 2 and 3 the map itself says nothing */
	pkt.seth.sack_bitmap = 1 << 4;
	pkt.seth.ooo_count = 2;
	rx_at(8000, pkt);
	assert_u_eq(psn_state(0), MT_TX_LOST);
	assert_u_eq(psn_state(1), MT_TX_OUTSTANDING);
	pkt.seth.ooo_count = 1;
	rx_at(8000, pkt);
	for (unsigned i = 0; i < 8; i++)
		assert_u_eq(psn_state(i), MT_TX_LOST);
	assert_u_eq(psn_state(9), MT_TX_OUTSTANDING);
}

CASE(mt_completer_sack, an_unknown_trigger_proves_nothing)
{
	struct mw_packet pkt;

	start_rounds(7000);
	pkt = sack_late(0, 1 << 3);
	pkt.seth.tx_timestamp++;
	rx_at(8000, pkt);
	assert_u_eq(lost(), 0);
}

CASE(mt_completer_sack, found_once)
{
	start_rounds(7000);
	rx_at(8000, sack_late(0, 1 << 3));
	rx_at(8100, sack_late(1, 1 << 3));
	assert_u_eq(node_stats(&n).lost_inferred, 1);
	assert_u_eq(node_tx(&n, 9000, early, 1), 1);
	rx_at(9100, sack_late(2, 1 << 3)); /* the copy on its way is younger than that */
	assert_u_eq(lost(), 0);
}

/*
 * A window of retransmissions, of which only one far behind is old: the first SACK ends its search
 * before, the same SACK once more goes on there. So many PSNs were used up before.
 */
static void search_goes_on(uint64_t before)
{
	static struct mt_tx_desc sent[SENT_MAX], again[SENT_MAX];
	struct mw_packet pkt;

	opts.attr.mpr = 8;
	start();
	n.qp->req.post_psn += before;
	mt_tx_window_init(&n.qp->req.window, n.qp->req.post_psn);
	assert_i_eq(node_post(&n, n.qp, 70, 460 * MTU, RD_SEND_SIGNALED), MT_OK);
	assert_u_eq(node_tx(&n, 1000, sent, SENT_MAX), 460);
	rx_at(2000, node_nack(&n, &sent[450], MW_NACK_TRIMMED));
	assert_u_eq(node_tx(&n, 3000, again, SENT_MAX), 1);
	for (unsigned i = 0; i < 450; i++)
		rx_at(4000, node_nack(&n, &sent[i], MW_NACK_TRIMMED));
	assert_u_eq(node_tx(&n, 20000, again, SENT_MAX), 450);
	pkt = node_sack(&n, &again[5], 0);
	pkt.seth.sack_bitmap = 0;
	pkt.seth.ooo_count = 0;
	rx_at(21000, pkt);
	assert_u_eq(psn_state(450), MT_TX_OUTSTANDING);
	assert_u_eq(n.qp->req.window.search_from - (uint32_t)n.qp->req.window.una, 256);
	rx_at(21000, pkt);
	assert_u_eq(psn_state(450), MT_TX_LOST);
	assert_u_eq(lost(), 10); /* and nine that were never sent again */
}

/* REQ(req.loss.search-bound) */
CASE(mt_completer_sack, a_search_that_takes_too_long_goes_on_with_the_next)
{
	search_goes_on(0);
}

/* REQ(req.loss.search-bound) */
CASE(mt_completer_sack, a_search_goes_on_after_four_billion_packets)
{
	search_goes_on(UINT64_C(1) << 32);
}

/* What is found is not looked at in vain, however much that is. */
CASE(mt_completer_sack, all_that_is_lost_is_found_at_once)
{
	static struct mt_tx_desc sent[SENT_MAX];
	struct mt_tx_desc last;
	struct mw_packet pkt;

	opts.attr.mpr = 8;
	start_message(sent, 460);
	assert_i_eq(node_post(&n, n.qp, 71, 8, RD_SEND_SIGNALED), MT_OK);
	assert_u_eq(node_tx(&n, 1000000, &last, 1), 1);
	pkt = node_sack(&n, &last, 0);
	pkt.seth.sack_offset = 461; /* of it alone */
	pkt.seth.sack_bitmap = pkt.seth.ooo_count = 1;
	rx_at(1010000, pkt);
	assert_u_eq(psn_state(459), MT_TX_LOST);
	assert_u_eq(lost(), 460);
}

/* REQ(req.loss.search-bound) */
CASE(mt_completer_sack, a_search_that_ended_with_the_window_begins_again)
{
	struct mw_packet pkt;

	start_rounds(7000);
	n.qp->req.window.search_from = (uint32_t)n.qp->req.window.next;
	pkt = sack_late(0, 1 << 3);
	pkt.seth.ooo_count = (uint16_t)mb_popcount64(pkt.seth.sack_bitmap);
	rx_at(8000, pkt);
	assert_u_eq(psn_state(3), MT_TX_LOST);
}

/* ---- marks ---- */

static struct mw_packet marked(uint8_t m)
{
	struct mw_packet pkt = node_sack(&n, &early[2], 3);

	pkt.seth.m = m;
	return pkt;
}

/* REQ(req.ev.skip-on-ecn) REQ(req.ev.state-machine) */
CASE(mt_completer_sack, skip_once_skips_the_ev_of_the_trigger)
{
	start_rounds(2000);
	rx_at(3000, marked(MW_MARK_SKIP_ONCE));
	for (uint16_t i = 0; i < 8; i++)
		assert_u_eq(state_of(i), i == path_of(2) ? MT_EV_SKIP : MT_EV_GOOD);
}

/* REQ(req.ev.always-skip) */
CASE(mt_completer_sack, always_skip_retires_it)
{
	start_rounds(2000);
	rx_at(3000, marked(MW_MARK_ALWAYS_SKIP));
	assert_u_eq(state_of(path_of(2)), MT_EV_ASSUMED_BAD);
	check_ev_event(path_of(2), MT_EV_ASSUMED_BAD, MT_EV_BY_MARK);
}

/* REQ(req.ev.always-skip): one process among several must not take an EV away from the others. */
CASE(mt_completer_sack, always_skip_of_one_peer_of_several_skips_once)
{
	static int other;

	opts.cfg.qpn_index_bits = 14;
	start_rounds(2000);
	node_add_qp(&n, n.qpn + 1, n.peer_qpn ^ 1u << 14, &other);
	rx_at(3000, marked(MW_MARK_ALWAYS_SKIP));
	for (uint16_t i = 0; i < 8; i++) {
		assert_u_eq(mt_ev_state_of(n.qp->ev_set, i), MT_EV_GOOD);
		assert_u_eq(state_of(i), i == path_of(2) ? MT_EV_SKIP : MT_EV_GOOD);
	}
	assert_u_eq(node_stats(&n).evs_retired, 0);
}

/* REQ(wire.seth.m) */
CASE(mt_completer_sack, other_marks_say_nothing)
{
	struct mw_packet pkt;

	start_rounds(2000);
	rx_at(3000, marked(MW_MARK_NONE));
	rx_at(3000, marked(3));
	pkt = marked(MW_MARK_SKIP_ONCE);
	pkt.seth.entropy ^= 1; /* not the EV on which this PSN went out last */
	rx_at(3000, pkt);
	pkt = marked(MW_MARK_ALWAYS_SKIP);
	pkt.seth.tx_timestamp++; /* not that transmission */
	rx_at(3000, pkt);
	for (uint16_t i = 0; i < 8; i++)
		assert_u_eq(state_of(i), MT_EV_GOOD);
}

/* ---- probes ---- */

static struct mw_packet probe_answer(uint16_t id, uint64_t expected)
{
	struct mw_packet pkt = node_sack(&n, &early[0], expected);

	pkt.seth.pr = true;
	pkt.seth.probe_id = id;
	pkt.bth.rtx = false;
	return pkt;
}

/* The first tail probe, sent when it is due. */
static uint16_t tail_probe(uint64_t *now)
{
	struct mt_tx_desc d;

	*now = mt_engine_deadline(n.engine);
	mt_engine_tick(n.engine, *now);
	assert_true(node_tx_opcode(&n, *now, MW_PROBE, &d));
	return d.pkt.peth.probe_id;
}

/* REQ(req.ev.revive-marked) */
CASE(mt_completer_sack, a_marked_answer_revives_to_skip)
{
	struct mw_packet pkt;
	uint64_t now;

	start_rounds(2000);
	rx_at(3000, node_sack(&n, &late[7], 16));
	mt_qp_retire_ev_group(n.qp, 2, 3000, MT_EV_BY_LOSS);
	for (int i = 0; state_of(2) == MT_EV_ASSUMED_BAD && i < 100; i++) {
		pkt = probe_answer(tail_probe(&now), 16);
		pkt.seth.m = MW_MARK_SKIP_ONCE;
		rx_at(now + 1000, pkt);
	}
	assert_u_eq(state_of(2), MT_EV_SKIP);
	assert_u_eq(mt_ev_state_of(n.qp->ev_set, 2), MT_EV_GOOD);
}

/* REQ(req.probe.tail) REQ(req.probe.match) */
CASE(mt_completer_sack, a_probe_finds_the_loss_of_the_last_packets)
{
	struct mw_packet pkt;
	uint64_t now;
	uint16_t id;

	start_rounds(2000);
	id = tail_probe(&now);
	pkt = probe_answer((uint16_t)(id + 1), 12);
	rx_at(now + 1000, pkt);
	assert_u_eq(lost(), 0); /* nobody asked that */
	rx_at(now + 2000, probe_answer(id, 12));
	assert_u_eq(lost(), 4);
	assert_u_eq(psn_state(15), MT_TX_LOST);
	assert_u_eq(n.qp->req.rtt.smoothed_ns, 2000);
}

#define QPS 4u

/* One packet each of several QPs leaves on one EV; `sent` gets them. */
static void send_one_each(uint64_t now, struct mt_qp *const qps[QPS], struct mt_tx_desc sent[QPS])
{
	for (uint32_t i = 0; i < QPS; i++) {
		assert_i_eq(node_post(&n, qps[i], i, 8, 0), MT_OK);
		assert_u_eq(node_tx(&n, now, &sent[i], 1), 1);
		assert_u_eq(sent[i].pkt.bth.opcode, MW_WRITE_ONLY);
	}
}

/*
 * QPs to one peer, on one plane of which one EV is known to reach it, lose a packet each: all probe
 * that EV at one moment, and each hears of its own loss. REQ(req.probe.match)
 */
CASE(mt_completer_sack, qps_that_probe_one_ev_are_all_answered)
{
	struct mt_qp *qps[QPS];
	struct mt_tx_desc sent[QPS];
	struct mw_packet pkt;
	uint64_t now;

	opts.cfg.n_ports = 1;
	for (uint32_t i = 0; i < opts.ev_profile.n_evs; i++)
		opts.evs[i].port = 0;
	start();
	qps[0] = n.qp;
	for (uint32_t i = 1; i < QPS; i++)
		qps[i] = node_add_qp(&n, n.qpn + i, n.peer_qpn + i, NULL);
	send_one_each(1000, qps, sent);
	for (uint32_t i = 0; i < QPS; i++) {
		pkt = node_sack(&n, &sent[i], 1);
		pkt.bth.dqp = qps[i]->qpn;
		rx_at(2000, pkt);
	}
	send_one_each(3000, qps, sent);
	now = 3000;
	for (uint32_t i = 0; i < QPS; i++)
		while (!node_tx_opcode(&n, now, MW_PROBE, &sent[i])) {
			now = mt_engine_deadline(n.engine);
			mt_engine_tick(n.engine, now);
		}
	for (uint32_t i = 0; i < QPS; i++) {
		assert_u_eq(sent[i].ev, sent[0].ev);
		pkt = probe_answer(sent[i].pkt.peth.probe_id, 1);
		pkt.bth.dqp = qps[sent[i].pkt.bth.dqp - n.peer_qpn]->qpn;
		rx_at(now + 1000, pkt);
	}
	for (uint32_t i = 0; i < QPS; i++)
		assert_u_eq(qps[i]->req.window.lost, 1);
}

CASE(mt_completer_sack, a_mark_on_a_probe_answer_skips_nothing)
{
	struct mw_packet pkt;
	uint64_t now;

	start_rounds(2000);
	pkt = probe_answer(tail_probe(&now), 16);
	pkt.seth.m = MW_MARK_SKIP_ONCE;
	rx_at(now + 1000, pkt);
	for (uint16_t i = 0; i < 8; i++)
		assert_u_eq(state_of(i), MT_EV_GOOD);
	assert_u_eq(n.qp->req.window.una, node_psn(16));
}

/* REQ(req.ev.revive) */
CASE(mt_completer_sack, answered_probes_revive_the_ev)
{
	struct mt_tx_desc d;
	uint64_t now = 8000;
	uint16_t path;

	start_rounds(7000);
	path = path_of(3);
	rx_at(now, sack_late(other_than(3), 1 << 3));
	check_ev_event(path, MT_EV_ASSUMED_BAD, MT_EV_BY_LOSS);
	rx_at(now, node_ack(&n, 0x1F, 1)); /* nothing is outstanding: no tail probes */
	for (int i = 0; i < 2; i++) {
		now += opts.ev_profile.probe_interval_ns;
		while (mt_engine_deadline(n.engine) <= now)
			mt_engine_tick(n.engine, mt_engine_deadline(n.engine));
		assert_true(node_tx_opcode(&n, now, MW_PROBE, &d));
		assert_u_eq(d.ev, opts.evs[path].value);
		rx_at(now, probe_answer(d.pkt.peth.probe_id, 16));
		assert_u_eq(state_of(path), i == 0 ? MT_EV_ASSUMED_BAD : MT_EV_GOOD);
	}
	check_ev_event(path, MT_EV_GOOD, MT_EV_BY_PROBE);
	assert_u_eq(node_stats(&n).evs_revived, 1);
}

/* Each kind of sign is ignored by itself. REQ(req.ev.trim-skips) */
CASE(mt_completer_sack, signs_that_a_set_ignores)
{
	static const struct {
		uint8_t ignores;
		bool mark_skips, trim_skips;
	} rows[] = {{MT_EV_IGNORES_MARKS, false, true}, {MT_EV_IGNORES_TRIMS, true, false}};

	for (unsigned i = 0; i < 2; i++) {
		struct mw_packet sack;
		uint16_t marked, trimmed;

		opts.ev_profile.ignores = rows[i].ignores;
		start();
		assert_i_eq(node_post(&n, n.qp, 70, 8 * MTU, 0), MT_OK);
		assert_u_eq(node_tx(&n, 1000, early, MAX), 8);
		marked = mt_tx_rec(&n.qp->req.window, node_psn(0))->ev;
		trimmed = mt_tx_rec(&n.qp->req.window, node_psn(1))->ev;
		sack = node_sack(&n, &early[0], 1);
		sack.seth.m = MW_MARK_SKIP_ONCE;
		rx_at(2000, sack);
		rx_at(2000, node_nack(&n, &early[1], MW_NACK_TRIMMED));
		assert_i_eq(mt_spray_skips(&n.qp->req.spray, marked), rows[i].mark_skips);
		assert_i_eq(mt_spray_skips(&n.qp->req.spray, trimmed), rows[i].trim_skips);
		if (i == 0)
			node_close(&n);
	}
}

/* REQ(req.ev.overloaded) */
CASE(mt_completer_sack, losses_to_an_overloaded_peer_count_from_what_arrived_last)
{
	struct mt_ev_fault *fault;
	uint16_t ev;

	start();
	assert_i_eq(node_post(&n, n.qp, 70, 8 * MTU, 0), MT_OK);
	assert_u_eq(node_tx(&n, 1000, early, MAX), 8);
	ev = mt_tx_rec(&n.qp->req.window, node_psn(0))->ev;
	fault = mt_ev_get_fault(n.qp->ev_set, ev, 1000);
	assert_non_null(fault);
	fault->overload_losses = MT_OVERLOAD_LOSSES - 1;
	rx_at(2000, node_sack(&n, &early[0], 1));
	assert_u_eq(fault->overload_losses, MT_OVERLOAD_LOSSES - 1); /* it has room */
	mt_liveness_set_overload(&n.qp->peer->liveness, 5000);
	rx_at(2000, node_sack(&n, &early[0], 1));
	assert_u_eq(fault->overload_losses, 0);
}

/* Losses of a burst count once; what was sent when the next may count, counts. */
CASE(mt_completer_sack, a_loss_to_an_overloaded_peer_from_when_it_counts_again)
{
	for (unsigned early_by = 0; early_by < 2; early_by++) {
		struct mt_ev_fault *fault;

		start_rounds(6000);
		fault = mt_ev_get_fault(n.qp->ev_set, path_of(3), 1000);
		fault->overload_losses = MT_OVERLOAD_LOSSES - 1;
		fault->overload_next_ns = 1000 + early_by;
		mt_liveness_set_overload(&n.qp->peer->liveness, 50000);
		rx_at(8000, sack_late(other_than(3), 1 << 3));
		assert_u_eq(lost(), 1);
		assert_u_eq(node_stats(&n).evs_retired, early_by == 0);
		if (early_by == 0)
			node_close(&n);
	}
}

/* Probes EV 5, which was retired, at 10000; the answer comes so much later. */
static void answer_to_revival(uint64_t after_ns)
{
	struct mt_control c = {
		.qp = n.qp, .kind = MT_CONTROL_PROBE, .index = 5, .purpose = MT_PROBE_REVIVAL};
	struct mw_packet sack;
	struct mt_tx_desc d;

	assert_true(mt_control_emit(n.engine, 10000, &c, &d));
	assert_true(mt_ev_fault(n.qp->ev_set, 5)->probe_unanswered);
	sack = node_sack(&n, &d, 0);
	sack.seth.pr = true;
	sack.seth.probe_id = d.pkt.peth.probe_id;
	rx_at(10000 + after_ns, sack);
}

/* One that data would not be waited for either is not used. REQ(req.ev.revive) */
CASE(mt_completer_sack, an_answer_within_the_longest_rtt_counts_for_its_ev)
{
	const uint64_t longest = 3000 + opts.cfg.timing.reorder_max_ns;

	start();
	mt_rtt_sample(&n.qp->req.rtt, 3000);
	mt_qp_retire_ev_group(n.qp, 5, 9000, MT_EV_BY_LOSS);
	answer_to_revival(longest + 1);
	assert_u_eq(n.qp->ev_set->probe_rtt_ns, 0);
	assert_false(mt_ev_fault(n.qp->ev_set, 5)->probe_unanswered); /* it came, though too late */
	n.qp->req.rtt = (struct mt_rtt){0};
	mt_rtt_sample(&n.qp->req.rtt, 3000);
	answer_to_revival(longest);
	assert_u_eq(n.qp->ev_set->probe_rtt_ns, longest);
}
