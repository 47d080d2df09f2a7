/* SPDX-License-Identifier: BSD-2-Clause */
/* Losses to several destinations as evidence about a local port: what counts, and until when. */
#include "core/endpoint/endpoint.h"
#include "unit/node_fixture.h"

#define DESTS (MT_UPLINK_DESTS + 1)

static struct mb_link users[DESTS];
static struct mt_ev_set *sets[DESTS];
static uint64_t notice_ns;

static int destinations(void **state)
{
	connected(state);
	notice_ns = opts.cfg.timing.port_notice_ns;
	for (uint32_t i = 0; i < DESTS; i++) {
		struct rd_gid peer = {{0xFD, [15] = (uint8_t)(i + 1)}};

		mb_link_init(&users[i]);
		while (!(sets[i] = mt_ev_sets_acquire(n.engine, 0, &peer, &users[i])))
			engine_node_grow(&n.base);
	}
	return 0;
}

#define CASE(function, name) TEST_WITH(destinations, close_node, function, name)

/* Each of the first `dests` loses what was sent on a port at sent_ns; says whether it is left. */
static bool lose(uint32_t dests, uint32_t port, uint64_t sent_ns, uint64_t now_ns)
{
	bool left = false;

	for (uint32_t i = 0; i < dests && !left; i++)
		left = mt_uplink_note_loss(n.engine, sets[i], port, sent_ns, now_ns);
	return left;
}

/* REQ(req.ev.uplink) */
CASE(mt_uplink_note_loss, enough_destinations_and_nothing_answered_since)
{
	assert_false(lose(MT_UPLINK_DESTS - 1, 1, 100, 200));
	assert_false(lose(MT_UPLINK_DESTS - 1, 1, 110, 210)); /* the same ones */
	n.engine->no_room_ports = 0;
	assert_true(lose(MT_UPLINK_DESTS, 1, 120, 220));
	assert_u_eq(n.engine->no_room_ports, UINT32_MAX); /* QPs that wait are looked at */
	assert_u_eq(mt_local_ports_open(&n.engine->ports), 1);
	for (uint32_t i = 0; i < DESTS; i++)
		assert_u_eq(sets[i]->open_ports, 1);
	assert_u_eq(n.engine->stats.uplinks_left, 1);
}

CASE(mt_uplink_note_loss, what_was_answered_since_refutes_it)
{
	lose(MT_UPLINK_DESTS - 1, 1, 100, 200);
	mt_uplink_answered(n.engine, sets[8], 1, 100, 210);
	assert_false(lose(MT_UPLINK_DESTS, 1, 90, 220)); /* older than the answer */
	assert_false(
		mt_uplink_note_loss(n.engine, sets[7], 1, 101, 230)); /* the first of new ones */
	assert_false(lose(MT_UPLINK_DESTS - 2, 1, 101, 230));
	assert_false(mt_uplink_note_loss(n.engine, sets[8], 1, 100, 230)); /* as old as it */
	assert_true(lose(MT_UPLINK_DESTS, 1, 101, 230));
}

/* What data prove of the port by which they left. REQ(req.ev.uplink) */
CASE(mt_completer_sack, an_answer_to_data_refutes_what_was_lost_before)
{
	struct mw_packet sack;
	struct mt_tx_desc d;

	assert_i_eq(node_post(&n, n.qp, 1, 1, 0), MT_OK);
	assert_u_eq(node_tx(&n, 1000, &d, 1), 1);
	sack = node_sack(&n, &d, 1);
	rx_at(2000, sack);
	assert_false(lose(MT_UPLINK_DESTS, d.port, 1000, 3000));
	assert_true(lose(MT_UPLINK_DESTS, d.port, 1001, 3000));
}

CASE(mt_uplink_note_loss, only_within_a_short_time)
{
	lose(MT_UPLINK_DESTS - 1, 1, 100, 200);
	assert_false(mt_uplink_note_loss(n.engine, sets[MT_UPLINK_DESTS - 1], 1, 102 + notice_ns,
					 102 + notice_ns));
}

CASE(mt_uplink_note_loss, the_short_time_is_that_in_which_a_port_is_noticed)
{
	lose(MT_UPLINK_DESTS - 1, 1, 100, 200);
	assert_true(mt_uplink_note_loss(n.engine, sets[MT_UPLINK_DESTS - 1], 1, 100 + notice_ns,
					100 + notice_ns));
}

CASE(mt_uplink_note_loss, the_first_probe_is_an_interval_of_the_first_loser_later)
{
	struct mt_ev_shared slower = *sets[0]->shared;

	slower.probe_interval_ns *= 2;
	sets[0]->shared = &slower;
	assert_true(lose(MT_UPLINK_DESTS, 1, 100, 200));
	assert_u_eq(mt_uplinks_deadline(n.engine), 200 + 2 * opts.ev_profile.probe_interval_ns);
}

/* REQ(ep.port.survive) */
CASE(mt_uplink_note_loss, never_of_the_last_port)
{
	assert_true(lose(MT_UPLINK_DESTS, 1, 100, 200));
	assert_false(lose(DESTS, 0, 100, 200));
	assert_u_eq(n.engine->uplinks[0].n_lost, MT_UPLINK_DESTS); /* no more are kept */
	assert_u_eq(mt_local_ports_open(&n.engine->ports), 1);
}

CASE(mt_uplink_note_loss, a_destination_that_is_gone_does_not_count)
{
	lose(MT_UPLINK_DESTS - 1, 1, 100, 200);
	mt_ev_sets_release(n.engine, sets[0], &users[0]);
	assert_false(mt_uplink_note_loss(n.engine, sets[7], 1, 100, 200));
	assert_true(mt_uplink_note_loss(n.engine, sets[8], 1, 100, 200));
}

CASE(mt_uplink_answered, one_that_lost_brings_back_what_went_bad)
{
	uint64_t left_ns = 1000 + notice_ns;
	struct mt_ev_change c[2];

	assert_u_eq(mt_ev_port(sets[0], 1), 1);
	mt_ev_retire(sets[0], 1, left_ns - 100, MT_EV_BY_LOSS, c);
	lose(MT_UPLINK_DESTS, 1, left_ns - 200, left_ns);
	mt_uplink_answered(n.engine, sets[0], 1, left_ns - 1, left_ns + 50); /* sent before */
	assert_u_eq(mt_local_ports_open(&n.engine->ports), 1);
	mt_uplink_answered(n.engine, sets[0], 1, left_ns, left_ns + 60);
	assert_u_eq(mt_local_ports_open(&n.engine->ports), 3);
	assert_u_eq(mt_ev_state_of(sets[0], 1), MT_EV_GOOD);
	assert_u_eq(sets[8]->open_ports & 3, 3);
	/* It may be left again at once. */
	assert_true(lose(MT_UPLINK_DESTS, 1, left_ns + 70, left_ns + 80));
}

CASE(mt_uplink_answered, another_one_shows_that_the_fault_lies_farther_on)
{
	uint64_t left_ns = 1000 + notice_ns, again_ns;
	struct mt_ev_change c[2];

	mt_ev_retire(sets[0], 1, left_ns - 100, MT_EV_BY_LOSS, c);
	lose(MT_UPLINK_DESTS, 1, left_ns - 200, left_ns);
	mt_uplink_answered(n.engine, sets[8], 1, left_ns, left_ns + 60);
	assert_u_eq(mt_local_ports_open(&n.engine->ports), 3);
	assert_u_eq(mt_ev_state_of(sets[0], 1), MT_EV_ASSUMED_BAD);
	assert_false(lose(DESTS, 1, left_ns + 70, left_ns + 80));
	again_ns = left_ns + 60 + 16 * opts.ev_profile.probe_interval_max_ns;
	assert_false(lose(DESTS, 1, again_ns - 2, again_ns - 1));
	assert_true(lose(DESTS, 1, again_ns - 2, again_ns));
}

/* Those that lost are gone; what is left is the destination of the node's QP. */
CASE(mt_uplinks_tick, probes_ever_more_rarely)
{
	/* From the first on two of each, one for each kind of destination. */
	static const uint64_t gaps[8] = {1, 1, 1, 2, 2, 4, 4, 8};
	uint64_t last = 200, gap = 0;
	struct mt_tx_desc d;

	lose(MT_UPLINK_DESTS, 1, 100, 200);
	for (uint32_t i = 0; i < DESTS; i++)
		mt_ev_sets_release(n.engine, sets[i], &users[i]);
	for (uint32_t i = 0; i < 40; i++) {
		uint64_t now = mt_uplinks_deadline(n.engine);

		gap = now - last;
		assert_u_eq(gap, gaps[i < 7 ? i : 7] * opts.ev_profile.probe_interval_ns);
		last = now;
		mt_uplinks_tick(n.engine, now);
		assert_true(mt_uplinks_deadline(n.engine) > now);
		assert_true(node_tx_opcode(&n, now, MW_PROBE, &d));
		assert_u_eq(d.port, 1);
	}
	assert_u_eq(gap, opts.ev_profile.probe_interval_max_ns);
}

/* REQ(req.ev.uplink) */
CASE(mt_engine_tick, probes_a_port_that_was_left)
{
	uint64_t due;
	struct mt_tx_desc d;

	lose(MT_UPLINK_DESTS, 1, 100, 200);
	for (uint32_t i = 0; i < DESTS; i++)
		mt_ev_sets_release(n.engine, sets[i], &users[i]);
	due = mt_engine_deadline(n.engine);
	assert_u_eq(due, mt_uplinks_deadline(n.engine));
	mt_engine_tick(n.engine, due);
	assert_true(node_tx_opcode(&n, due, MW_PROBE, &d));
	assert_u_eq(d.port, 1);
}

CASE(mt_uplinks_tick, of_the_first_port_too)
{
	struct mt_tx_desc d;
	uint64_t due;

	lose(MT_UPLINK_DESTS, 0, 100, 200);
	for (uint32_t i = 0; i < DESTS; i++)
		mt_ev_sets_release(n.engine, sets[i], &users[i]);
	due = mt_uplinks_deadline(n.engine);
	assert_u_eq(due, 200 + opts.ev_profile.probe_interval_ns);
	mt_uplinks_tick(n.engine, due);
	assert_true(node_tx_opcode(&n, due, MW_PROBE, &d));
	assert_u_eq(d.port, 0);
}

/* No destination has EVs on the port any more, and no time is given to notice ports. */
CASE(mt_uplinks_tick, nobody_to_probe_does_not_keep_it_busy)
{
	lose(MT_UPLINK_DESTS, 1, 100, 200);
	for (uint32_t i = 0; i < DESTS; i++)
		mt_ev_sets_release(n.engine, sets[i], &users[i]);
	n.qp->ev_set->shared->own_ports = 1;
	n.engine->cfg.timing.port_notice_ns = 0;
	mt_uplinks_tick(n.engine, 50000);
	assert_u_eq(mt_uplinks_deadline(n.engine), 50000 + opts.cfg.timing.tail_probe_min_ns);
	assert_u_eq(node_drain(&n, 50000), 0);
}

/* ---- which destination is probed ---- */

#define SENDERS (MT_UPLINK_DESTS + 4)

static struct mt_qp *senders[SENDERS];

/* QPs to as many destinations; the last byte of each address is its place in senders[]. */
static int many_senders(void **state)
{
	defaults(state);
	opts.cfg.max_qps = 16;
	node_open(&n, &opts, 0);
	for (uint32_t i = 0; i < SENDERS; i++) {
		n.peer.b[15] = (uint8_t)i;
		senders[i] = node_add_qp(&n, n.qpn + 1 + i, n.peer_qpn, &senders[i]);
	}
	return 0;
}

/* The first of senders[] lose on port 1 at 200. */
static void lose_all(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		mt_uplink_note_loss(n.engine, senders[i]->ev_set, 1, 100, 200);
	assert_u_eq(mt_local_ports_open(&n.engine->ports), 1);
}

/* Which destination the next probe goes to, when it is due. */
static uint8_t next_probed(void)
{
	uint64_t now = mt_uplinks_deadline(n.engine);
	struct mt_tx_desc d;

	mt_uplinks_tick(n.engine, now);
	assert_true(node_tx_opcode(&n, now, MW_PROBE, &d));
	assert_u_eq(d.port, 1);
	return d.dst.b[15];
}

/* REQ(req.ev.uplink) */
TEST_WITH(many_senders, close_node, mt_uplinks_tick, those_that_lost_in_turn_and_others_between)
{
	lose_all(MT_UPLINK_DESTS);
	for (uint32_t i = 0; i < 16; i++) {
		uint8_t at = next_probed();

		if (i % 2 == 0)
			assert_u_eq(at, i / 2);
		else
			assert_true(at >= MT_UPLINK_DESTS);
	}
	/* Left a second time, it begins with one that lost. */
	mt_uplink_answered(n.engine, senders[0]->ev_set, 1, UINT64_C(1) << 40, UINT64_C(1) << 40);
	for (uint32_t i = 0; i < MT_UPLINK_DESTS; i++)
		mt_uplink_note_loss(n.engine, senders[i]->ev_set, 1, (UINT64_C(1) << 40) + 1,
				    (UINT64_C(1) << 40) + 1);
	assert_u_eq(next_probed(), 0);
	assert_true(next_probed() >= MT_UPLINK_DESTS);
}

TEST_WITH(many_senders, close_node, mt_uplinks_tick, the_only_one_left_of_those_that_lost)
{
	struct rd_qp_attr reset = {.state = RD_QPS_RESET};

	lose_all(MT_UPLINK_DESTS);
	for (uint32_t i = 1; i < MT_UPLINK_DESTS; i++)
		assert_i_eq(node_modify(&n, senders[i], &reset, RD_QP_STATE), MT_OK);
	assert_u_eq(next_probed(), 0);
	assert_true(next_probed() >= MT_UPLINK_DESTS);
	assert_u_eq(next_probed(), 0);
}
