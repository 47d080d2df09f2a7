/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The EVs of a destination. The set of this file: 2 ports with 4 EVs each, values 0x100 + index,
 * port = index % 2; the first 3 of each port are active, so that 6 and 7 are the backups.
 */
#include "support/test.h"

#include "core/ev/ev_set.h"
#include "unit/cold_pool.h"
#include "unit/panic.h"

#define EVS 8u
#define INTERVAL 1000u

static struct mt_ev evs[EVS];
static struct mt_ev_set *set;
static struct mt_ev_change changes[2];

static uint8_t ignores; /* of the next set that is made */

static void make(uint16_t n_active, uint16_t min_active, uint8_t revive)
{
	struct mt_ev_profile_cfg cfg = {
		.ignores = ignores,
		.evs = evs,
		.n_evs = EVS,
		.n_active = n_active,
		.min_active = min_active,
		.revive_probes = revive,
		.probe_interval_ns = INTERVAL,
		.probe_interval_max_ns = 4 * INTERVAL,
	};

	for (uint16_t i = 0; i < EVS; i++)
		evs[i] = (struct mt_ev){.value = 0x100u + i, .port = i % 2};
	set = cold_ev_set(&cfg, 2);
}

static int six_active(void **state)
{
	(void)state;
	make(6, 1, 2);
	return 0;
}

static bool is_active(uint16_t path)
{
	const struct mt_ev_port *p = &set->shared->ports[mt_ev_port(set, path)];

	return mt_ev_slot(set, path) < p->first + p->active;
}

static unsigned retire(uint16_t path, uint64_t now)
{
	return mt_ev_retire(set, path, now, MT_EV_BY_LOSS, changes);
}

static uint16_t probed; /* the EV of the newest probe */

/* Sends the probe that is due on `path`, not those of other paths, and returns when. */
static uint64_t probe(uint16_t path, uint64_t now)
{
	uint16_t due;

	do
		due = mt_ev_set_next_probe(set, now, false);
	while (due != path && due != MT_EV_NONE);
	assert_u_eq(due, path);
	mt_ev_probe_sent(set, path);
	probed = path;
	return now;
}

/* The answer to the newest probe, sent then; says whether its EV was revived. */
static bool answer(uint64_t sent, uint64_t now)
{
	return mt_ev_probe_answered(set, probed, sent, now);
}

TEST_WITH(six_active, NULL, mt_ev_set_init, all_good_and_grouped)
{
	assert_u_eq(set->n_evs, EVS);
	assert_u_eq(set->n_usable, EVS);
	assert_u_eq(set->peer.b[0], 9);
	for (uint16_t i = 0; i < EVS; i++) {
		assert_u_eq(mt_ev_value(set, i), 0x100u + i);
		assert_u_eq(mt_ev_port(set, i), i % 2);
		assert_u_eq(mt_ev_state_of(set, i), MT_EV_GOOD);
		assert_u_eq(is_active(i), i < 6);
		assert_u_eq(set->order[mt_ev_slot(set, i)], i);
	}
	assert_u_eq(set->shared->ports[1].first, 4);
	assert_u_eq(set->shared->ports[1].count, 4);
	assert_u_eq(set->ports[1].usable, 4);
	assert_u_eq(mt_ev_set_probe_deadline(set), MB_NEVER);
}

TEST(mt_ev_set_init, active_ones_shared_out_over_ports)
{
	make(5, 1, 1);
	assert_u_eq(set->shared->ports[0].active, 3);
	assert_u_eq(set->shared->ports[1].active, 2);
	make(8, 1, 1);
	assert_u_eq(set->shared->ports[0].active, 4);
	assert_u_eq(set->shared->ports[1].active, 4);
	make(1, 1, 1);
	assert_u_eq(set->shared->ports[0].active, 1);
	assert_u_eq(set->shared->ports[1].active, 0);
}

TEST(mt_ev_set_init, a_port_with_few_evs)
{
	static const struct mt_ev uneven[] = {{1, 0}, {2, 1}, {3, 1}, {4, 1}};
	struct mt_ev_profile_cfg cfg = {.evs = uneven, .n_evs = 4, .n_active = 3, .min_active = 1};

	set = cold_ev_set(&cfg, 3);
	assert_u_eq(set->shared->ports[0].active, 1);
	assert_u_eq(set->shared->ports[1].active, 2);
	assert_u_eq(set->shared->ports[2].active, 0);
	assert_u_eq(set->shared->ports[2].count, 0);
}

/* REQ(req.ev.one-loss) REQ(req.spray.backup-same-plane) */
TEST_WITH(six_active, NULL, mt_ev_retire, a_backup_of_its_port_takes_over)
{
	assert_u_eq(retire(2, 50), 1);
	assert_u_eq(changes[0].ev, 2);
	assert_u_eq(changes[0].state, MT_EV_ASSUMED_BAD);
	assert_u_eq(changes[0].cause, MT_EV_BY_LOSS);
	assert_u_eq(mt_ev_state_of(set, 2), MT_EV_ASSUMED_BAD);
	assert_u_eq(mt_ev_fault(set, 2)->retired, 1);
	assert_false(is_active(2));
	assert_true(is_active(6));
	assert_false(is_active(7));
	assert_u_eq(set->ports[0].usable, 3);
	assert_u_eq(set->n_usable, 7);
	retire(0, 51); /* no backup of port 0 is left: it keeps its place */
	assert_true(is_active(0));
	assert_false(is_active(7));
}

TEST_WITH(six_active, NULL, mt_ev_retire, once)
{
	assert_u_eq(retire(1, 0), 1);
	assert_u_eq(retire(1, 5), 0);
	assert_u_eq(mt_ev_fault(set, 1)->retired, 1);
	assert_u_eq(mt_ev_fault(set, 1)->bad_since_ns, 0);
	mt_ev_deny(set, 3, true);
	assert_u_eq(retire(3, 5), 0);
	assert_u_eq(mt_ev_state_of(set, 3), MT_EV_DENIED);
}

/* REQ(req.ev.min-active) */
TEST(mt_ev_retire, floor_takes_back_the_one_bad_longest)
{
	make(8, 6, 2);
	assert_u_eq(retire(4, 10), 1);
	assert_u_eq(retire(1, 20), 1);
	assert_u_eq(set->n_usable, 6);
	assert_u_eq(retire(0, 30), 2);
	assert_u_eq(changes[0].ev, 4);
	assert_u_eq(changes[0].state, MT_EV_GOOD);
	assert_u_eq(changes[0].cause, MT_EV_BY_FLOOR);
	assert_u_eq(changes[1].ev, 0);
	assert_u_eq(changes[1].state, MT_EV_ASSUMED_BAD);
	assert_u_eq(set->n_usable, 6);
	assert_u_eq(mt_ev_fault(set, 4)->next_probe_ns, MB_NEVER);
}

/* REQ(req.ev.hint) */
TEST_WITH(six_active, NULL, mt_ev_suspect, is_probed_at_once_and_a_backup_takes_over)
{
	assert_true(mt_ev_suspect(set, 2, 50));
	assert_u_eq(mt_ev_state_of(set, 2), MT_EV_ASSUMED_BAD);
	assert_false(is_active(2));
	assert_true(is_active(6));
	assert_u_eq(mt_ev_set_probe_deadline(set), 50);
	assert_u_eq(mt_ev_set_next_probe(set, 50, false), 2);
	assert_u_eq(mt_ev_fault(set, 2)->retired, 0);
	assert_false(mt_ev_suspect(set, 2, 60));
	assert_u_eq(mt_ev_fault(set, 2)->bad_since_ns, 50);
}

/* What this process has seen itself counts for more. REQ(req.ev.hint) */
TEST_WITH(six_active, NULL, mt_ev_suspect, not_what_is_known)
{
	mt_ev_note_heard(set, 1);
	assert_false(mt_ev_suspect(set, 1, 50));
	retire(3, 10);
	mt_ev_restore(set, 3, 20);
	assert_false(mt_ev_suspect(set, 3, 50));
	mt_ev_deny(set, 5, true);
	assert_false(mt_ev_suspect(set, 5, 50));
	assert_u_eq(mt_ev_state_of(set, 5), MT_EV_DENIED);
	ignores = MT_EV_IGNORES_LOSS;
	make(6, 1, 2);
	ignores = 0;
	assert_false(mt_ev_suspect(set, 0, 50));
}

/* REQ(req.ev.hint) REQ(req.ev.min-active) */
TEST(mt_ev_suspect, never_the_last_ones)
{
	make(8, 3, 2);
	for (uint16_t i = 0; i < EVS; i++)
		assert_true(mt_ev_suspect(set, i, 50) == (i < EVS - 3));
	assert_u_eq(set->n_usable, 3);
}

TEST(mt_ev_retire, denied_ones_are_not_taken_back)
{
	make(8, 6, 2);
	mt_ev_deny(set, 0, true);
	mt_ev_deny(set, 1, true);
	mt_ev_deny(set, 2, true);
	assert_u_eq(set->n_usable, 5);
	assert_u_eq(retire(3, 10), 0);
	assert_u_eq(mt_ev_state_of(set, 3), MT_EV_GOOD);
}

/* REQ(req.ev.denied) */
TEST_WITH(six_active, NULL, mt_ev_deny, until_allowed_again)
{
	assert_false(mt_ev_deny(set, 2, false));
	assert_true(mt_ev_deny(set, 2, true));
	assert_false(mt_ev_deny(set, 2, true));
	assert_u_eq(mt_ev_state_of(set, 2), MT_EV_DENIED);
	assert_false(is_active(2));
	assert_true(is_active(6));
	assert_u_eq(set->n_usable, 7);
	assert_u_eq(mt_ev_set_probe_deadline(set), MB_NEVER);
	assert_true(mt_ev_deny(set, 2, false));
	assert_u_eq(mt_ev_state_of(set, 2), MT_EV_GOOD);
	assert_u_eq(set->n_usable, 8);
}

TEST_WITH(six_active, NULL, mt_ev_deny, of_a_bad_one_ends_its_probes)
{
	uint64_t sent;

	retire(2, 0);
	sent = probe(2, INTERVAL);
	assert_false(mt_ev_deny(set, 2, false)); /* bad is not denied */
	assert_true(mt_ev_deny(set, 2, true));
	assert_u_eq(mt_ev_set_probe_deadline(set), MB_NEVER);
	for (int i = 0; i < 3; i++) /* more often than it takes to revive */
		assert_false(answer(sent, 1100));
	assert_u_eq(mt_ev_state_of(set, 2), MT_EV_DENIED);
	assert_u_eq(mt_ev_set_probe_deadline(set), MB_NEVER);
}

/* REQ(req.ev.revive) */
TEST_WITH(six_active, NULL, mt_ev_probe_answered, enough_in_a_row_revive)
{
	retire(2, 100);
	assert_u_eq(mt_ev_set_probe_deadline(set), 100 + INTERVAL);
	assert_u_eq(mt_ev_set_next_probe(set, 99 + INTERVAL, false), MT_EV_NONE);
	assert_false(answer(probe(2, 1100), 1150));
	assert_u_eq(mt_ev_state_of(set, 2), MT_EV_ASSUMED_BAD);
	assert_u_eq(mt_ev_set_probe_deadline(set), 1150 + INTERVAL);
	assert_true(answer(probe(2, 2150), 2200));
	assert_u_eq(mt_ev_state_of(set, 2), MT_EV_GOOD);
	assert_u_eq(mt_ev_fault(set, 2)->revived, 1);
	assert_u_eq(mt_ev_set_probe_deadline(set), MB_NEVER);
	assert_u_eq(set->n_usable, 8);
}

/* REQ(req.ev.late) */
TEST_WITH(six_active, NULL, mt_ev_probe_late, is_a_failure)
{
	retire(2, 0);
	assert_false(answer(probe(2, 1000), 1001));
	mt_ev_probe_late(set, 2, 1001 + INTERVAL);
	assert_u_eq(mt_ev_fault(set, 2)->answered, 0);
	assert_u_eq(mt_ev_set_probe_deadline(set), 1001 + 3 * INTERVAL);
	mt_ev_probe_late(set, 3, 1001);
	assert_u_eq(mt_ev_state_of(set, 3), MT_EV_GOOD);
}

TEST_WITH(six_active, NULL, mt_ev_probe_answered, an_unanswered_one_starts_the_count_again)
{
	retire(2, 0);
	assert_false(answer(probe(2, 1000), 1001));
	probe(2, 2001); /* lost */
	assert_false(answer(probe(2, 4001), 4002));
	assert_true(answer(probe(2, 5002), 5003));
}

TEST_WITH(six_active, NULL, mt_ev_probe_answered, takes_an_idle_place_of_its_port)
{
	for (uint16_t i = 0; i < EVS; i += 2)
		if (i != 4)
			retire(i, i);
	assert_u_eq(set->ports[0].usable, 1);
	assert_false(answer(probe(0, INTERVAL), 1001));
	assert_true(answer(probe(0, 2001), 2002));
	assert_true(is_active(0));
}

/* What left before the EV went bad, in time, says nothing of it now. */
TEST_WITH(six_active, NULL, mt_ev_probe_answered, only_of_probes_since_it_went_bad)
{
	retire(2, 1000);
	probed = 2;
	for (int i = 0; i < 3; i++)
		assert_false(answer(999, 1100));
	assert_u_eq(mt_ev_state_of(set, 2), MT_EV_ASSUMED_BAD);
	assert_u_eq(mt_ev_set_probe_deadline(set), 1000 + INTERVAL);
	assert_u_eq(set->probe_rtt_ns, 101); /* but it tells the time */
}

TEST_WITH(six_active, NULL, mt_ev_probe_answered, of_a_usable_path_only_tells_the_time)
{
	probed = 5;
	for (uint64_t i = 0; i < 3; i++) {
		mt_ev_probe_sent(set, 5);
		assert_false(answer(100, 150));
	}
	assert_u_eq(mt_ev_state_of(set, 5), MT_EV_GOOD);
	assert_u_eq(mt_ev_set_probe_deadline(set), MB_NEVER);
	assert_u_eq(set->probe_rtt_ns, 50);
	assert_u_eq(set->pool->in_use, 0); /* and costs no memory */
}

TEST_WITH(six_active, NULL, mt_ev_set_next_probe, doubles_up_to_its_longest)
{
	static const uint64_t gap[] = {2000, 4000, 4000};
	uint64_t now = INTERVAL;

	retire(2, 0);
	probe(2, now);
	assert_u_eq(mt_ev_set_probe_deadline(set), now + INTERVAL);
	now += INTERVAL;
	for (int i = 0; i < 3; i++) {
		probe(2, now);
		assert_u_eq(mt_ev_set_probe_deadline(set), now + gap[i]);
		now += gap[i];
	}
	answer(probe(2, now), now + 1); /* an answer brings the short gap back */
	assert_u_eq(mt_ev_set_probe_deadline(set), now + 1 + INTERVAL);
}

/* REQ(req.ev.endpoint) */
TEST_WITH(six_active, NULL, mt_ev_set_next_probe, a_silent_peer_costs_no_path_its_pace)
{
	retire(2, 0);
	probe(2, 1000);
	assert_u_eq(mt_ev_set_next_probe(set, 2000, true), 2);
	mt_ev_probe_sent(set, 2);
	assert_u_eq(mt_ev_set_probe_deadline(set), 2000 + INTERVAL);
	probe(2, 3000);
	assert_u_eq(mt_ev_set_probe_deadline(set), 3000 + 2 * INTERVAL);
}

TEST_WITH(six_active, NULL, mt_ev_set_next_probe, waits_two_rtts_for_an_answer)
{
	retire(2, 0);
	answer(probe(2, 1000), 6000); /* an RTT of 5000, longer than any interval */
	probe(2, 7000);
	assert_u_eq(mt_ev_set_probe_deadline(set), 7000 + 2 * 5000);
}

TEST_WITH(six_active, NULL, mt_ev_set_next_probe, all_that_are_due)
{
	retire(2, 0);
	retire(5, 0);
	retire(7, 900);
	assert_u_eq(mt_ev_set_next_probe(set, INTERVAL, false), 2);
	assert_u_eq(mt_ev_set_next_probe(set, INTERVAL, false), 5);
	assert_u_eq(mt_ev_set_next_probe(set, INTERVAL, false), MT_EV_NONE);
	assert_u_eq(mt_ev_set_probe_deadline(set), 900 + INTERVAL);
}

/* ---- EVs of one path ---- */

/* 0 2 4 6 leave from port 0, 1 3 5 7 from port 1; 0 and 4 are one path, 1 3 7 another. */
static void make_group(uint16_t n_active)
{
	static const uint16_t ids[EVS] = {5, 1, 2, 1, 5, 3, 6, 1};
	struct mt_ev_profile_cfg cfg = {
		.evs = evs,
		.n_evs = EVS,
		.group_ids = ids,
		.n_active = n_active,
		.min_active = 1,
		.revive_probes = 1,
		.probe_interval_ns = INTERVAL,
		.probe_interval_max_ns = 4 * INTERVAL,
	};

	for (uint16_t i = 0; i < EVS; i++)
		evs[i] = (struct mt_ev){.value = 0x100u + i, .port = i % 2};
	set = cold_ev_set(&cfg, 2);
}

/* REQ(req.ev.same-path) */
TEST(mt_ev_set_init, one_ev_a_path_is_active)
{
	make_group(8);
	assert_u_eq(set->shared->ports[0].active, 3);
	assert_u_eq(set->shared->ports[1].active, 2);
	for (uint16_t i = 0; i < EVS; i++)
		assert_u_eq(is_active(i), i != 4 && i != 3 && i != 7);
	make_group(3);
	assert_u_eq(set->shared->ports[0].active, 2);
	assert_u_eq(set->shared->ports[1].active, 1);
}

TEST(mt_ev_group_next, a_ring)
{
	static const uint16_t want[EVS] = {4, 7, 2, 1, 0, 5, 6, 3};

	make_group(8);
	for (uint16_t i = 0; i < EVS; i++) {
		assert_u_eq(mt_ev_group_next(set, i), want[i]);
		assert_true(mt_ev_same_group(set, i, want[i]));
	}
	assert_false(mt_ev_same_group(set, 0, 2));
}

TEST(mt_ev_retire, a_peer_is_no_backup_of_another_path)
{
	make_group(8);
	retire(2, 0);
	assert_false(is_active(4)); /* its path is in the rotation already */
	mt_ev_deny(set, 0, true);
	assert_true(is_active(4)); /* and now it is not */
	mt_ev_deny(set, 0, false);
	assert_true(is_active(4));
	assert_false(is_active(0));
}

TEST(mt_ev_restore, only_what_is_bad)
{
	make_group(8);
	assert_false(mt_ev_restore(set, 1, 10));
	retire(1, 0);
	retire(3, 0);
	retire(7, 0);
	assert_true(mt_ev_restore(set, 3, 10));
	assert_u_eq(mt_ev_state_of(set, 3), MT_EV_GOOD);
	assert_u_eq(mt_ev_fault(set, 3)->revived, 1);
	assert_true(is_active(3));
	mt_ev_deny(set, 3, true);
	assert_false(mt_ev_restore(set, 3, 20));
}

/* ---- flapping ---- */

/* REQ(req.ev.flapping) */
TEST_WITH(six_active, NULL, mt_ev_retire, each_flap_makes_the_proof_longer)
{
	uint64_t now = 0;

	for (uint64_t gap = INTERVAL; gap <= 4 * INTERVAL; gap *= 2) {
		retire(2, now);
		now += gap;
		assert_u_eq(mt_ev_set_probe_deadline(set), now);
		assert_false(answer(probe(2, now), now));
		now += gap;
		assert_u_eq(mt_ev_set_probe_deadline(set), now);
		assert_true(answer(probe(2, now), now));
	}
	retire(2, now); /* no longer than that */
	assert_u_eq(mt_ev_set_probe_deadline(set), now + 4 * INTERVAL);
}

TEST_WITH(six_active, NULL, mt_ev_retire, a_path_that_was_well_for_long_does_not_flap)
{
	retire(2, 0);
	assert_false(answer(probe(2, 1000), 1000));
	assert_true(answer(probe(2, 2000), 2000));
	retire(2, 2001 + 16 * 4 * INTERVAL);
	assert_u_eq(mt_ev_set_probe_deadline(set), 2001 + 16 * 4 * INTERVAL + INTERVAL);
}

/* The EV loses a packet of so many bytes, comes back by its probes, and is retired again. */
static uint64_t relapse(uint16_t ev, uint16_t bytes, uint64_t now)
{
	retire(ev, now);
	mt_ev_note_lost_bytes(set, ev, bytes);
	mt_ev_note_lost_bytes(set, ev, bytes - 1);
	now += INTERVAL;
	assert_false(answer(probe(ev, now), now));
	now += INTERVAL;
	assert_true(answer(probe(ev, now), now));
	retire(ev, now);
	return now;
}

/* The EV has lost a packet of 4184 bytes twice, and as many probes as it takes are answered. */
static uint64_t lose_twice(uint16_t ev, uint64_t now)
{
	now = relapse(ev, 4184, now);
	for (int i = 0; i < 3; i++) {
		assert_u_eq(mt_ev_take_trial(set, UINT32_MAX, 4184), i < 2 ? MT_EV_NONE : ev);
		now += 2 * INTERVAL;
		assert_false(answer(probe(ev, now), now));
	}
	return now;
}

/* What seemed to be lost has arrived: it neither was away nor came back. */
TEST_WITH(six_active, NULL, mt_ev_clear_of_loss, leaves_no_flap_behind)
{
	retire(2, 0);
	assert_true(mt_ev_clear_of_loss(set, 2));
	assert_false(mt_ev_clear_of_loss(set, 2));
	assert_u_eq(mt_ev_fault(set, 2)->revived, 0);
	retire(2, 100);
	assert_u_eq(mt_ev_set_probe_deadline(set), 100 + INTERVAL);
	assert_true(mt_ev_restore(set, 2, 200));
	for (uint64_t now = 300; now < 600; now += 100) {
		retire(2, now); /* one after it came back, each time */
		assert_u_eq(mt_ev_set_probe_deadline(set), now + 2 * INTERVAL);
		assert_true(mt_ev_clear_of_loss(set, 2));
	}
}

/* REQ(req.ev.trial) */
TEST_WITH(six_active, NULL, mt_ev_take_trial, after_a_relapse_only_a_packet_as_large_revives)
{
	uint64_t now = lose_twice(2, 0);

	assert_u_eq(mt_ev_state_of(set, 2), MT_EV_ASSUMED_BAD);
	assert_u_eq(mt_ev_take_trial(set, UINT32_MAX, 4183), MT_EV_NONE);
	assert_u_eq(mt_ev_take_trial(set, ~1u, 4184), MT_EV_NONE);
	assert_u_eq(mt_ev_take_trial(set, 1, 4184), 2);
	assert_u_eq(mt_ev_take_trial(set, 1, 4184), MT_EV_NONE);
	assert_false(mt_ev_pass_trial(set, 2, 2 * INTERVAL - 1, now)); /* sent before it went bad */
	assert_true(mt_ev_pass_trial(set, 2, now, now + 10));
	assert_u_eq(mt_ev_state_of(set, 2), MT_EV_GOOD);
	assert_u_eq(mt_ev_fault(set, 2)->revived, 2);
	assert_false(mt_ev_pass_trial(set, 2, now, now + 10));
}

/* Who has sent large packets may send small ones only from now on. */
TEST_WITH(six_active, NULL, mt_ev_take_trial, where_none_as_large_is_sent_any_will_do)
{
	uint64_t now = lose_twice(2, 0);

	for (uint32_t i = 1; i < MT_EV_TRIAL_PATIENCE; i++) {
		assert_u_eq(mt_ev_take_trial(set, 1, 4183), MT_EV_NONE);
		assert_u_eq(mt_ev_take_trial(set, ~1u, 4184), MT_EV_NONE); /* has no room: none */
	}
	assert_u_eq(mt_ev_take_trial(set, 1, 100), 2);
	assert_true(mt_ev_pass_trial(set, 2, 2 * INTERVAL, now + 10)); /* when it went bad */
}

/* The packets of one offer are counted, not those of all. */
TEST_WITH(six_active, NULL, mt_ev_take_trial, each_offer_waits_for_a_large_one)
{
	uint64_t now = lose_twice(2, 0);

	assert_u_eq(mt_ev_take_trial(set, 1, 100), MT_EV_NONE);
	assert_u_eq(mt_ev_take_trial(set, 1, 4184), 2);
	mt_ev_retire(set, 2, now, MT_EV_BY_LOSS, changes);
	for (int i = 0; i < 2; i++) {
		now += 4 * INTERVAL;
		assert_false(answer(probe(2, now), now));
	}
	for (uint32_t i = 1; i < MT_EV_TRIAL_PATIENCE; i++)
		assert_u_eq(mt_ev_take_trial(set, 1, 100), MT_EV_NONE);
	assert_u_eq(mt_ev_take_trial(set, 1, 100), 2);
}

/* One whose port is closed, or that came back meanwhile, keeps no other waiting. */
TEST_WITH(six_active, NULL, mt_ev_take_trial, another_takes_the_place_of_one_that_cannot)
{
	uint64_t now = lose_twice(2, 0);

	set->open_ports = ~1u;
	now = lose_twice(3, now); /* with EV 2 on offer, but closed */
	set->open_ports = UINT32_MAX;
	assert_true(mt_ev_restore(set, 3, now));
	lose_twice(4, now);
}

TEST_WITH(six_active, NULL, mt_ev_take_trial, its_loss_is_no_retirement)
{
	uint64_t now = lose_twice(2, 0);

	assert_u_eq(mt_ev_take_trial(set, 1, 4184), 2);
	assert_u_eq(mt_ev_retire(set, 2, now, MT_EV_BY_LOSS, changes), 0);
	assert_u_eq(mt_ev_fault(set, 2)->retired, 2);
	assert_u_eq(mt_ev_fault(set, 2)->answered, 0);
	assert_u_eq(mt_ev_set_probe_deadline(set), now + 4 * INTERVAL);
	assert_false(mt_ev_pass_trial(set, 2, now, now)); /* that trial is over */
}

TEST_WITH(six_active, NULL, mt_ev_take_trial, each_loss_of_one_counts_up_to_sixteen)
{
	uint64_t now = lose_twice(2, 0);

	for (uint32_t flaps = 2; flaps < 20; flaps++) {
		mt_ev_fault(set, 2)->on_trial = true;
		assert_u_eq(mt_ev_retire(set, 2, now, MT_EV_BY_LOSS, changes), 0);
		assert_u_eq(mt_ev_fault(set, 2)->flaps, flaps < 16 ? flaps : 16);
	}
}

/* An EV whose probes are answered while another is on offer waits until that has its packet. */
TEST_WITH(six_active, NULL, mt_ev_take_trial, the_one_on_offer_keeps_its_turn)
{
	uint64_t now = relapse(3, 4184, lose_twice(2, 0));

	for (int i = 0; i < 2; i++) {
		now += 2 * INTERVAL;
		assert_false(answer(probe(3, now), now));
	}
	assert_u_eq(mt_ev_take_trial(set, UINT32_MAX, 4184), 2);
	assert_u_eq(mt_ev_take_trial(set, UINT32_MAX, 4184), MT_EV_NONE);
}

TEST_WITH(six_active, NULL, mt_ev_take_trial, after_the_loss_of_a_single_byte_too)
{
	uint64_t now = relapse(2, 1, 0);

	for (int i = 0; i < 2; i++) {
		now += 2 * INTERVAL;
		assert_false(answer(probe(2, now), now));
	}
	assert_u_eq(mt_ev_take_trial(set, UINT32_MAX, 1), 2);
}

/* REQ(req.loss.slowest-ev) */
TEST_WITH(six_active, NULL, mt_ev_retire, its_round_trips_no_longer_count)
{
	mt_reorder_sample(&set->reorder, 3, 10000);
	mt_reorder_sample(&set->reorder, 2, 30000);
	retire(2, 0);
	mt_reorder_sample(&set->reorder, 3, 10000);
	assert_true(set->reorder.max_ns < 30000);
}

/* REQ(req.ev.revive) */
TEST(mt_ev_set_next_probe, many_bad_paths_take_turns)
{
	static struct mt_ev all[256];
	struct mt_ev_profile_cfg cfg = {
		.evs = all,
		.n_evs = 256,
		.n_active = 256,
		.min_active = 1,
		.revive_probes = 1,
		.probe_interval_ns = 1000,
		.probe_interval_max_ns = 1000,
	};
	uint32_t seen[256] = {0};
	struct mt_ev_set *many;

	for (uint16_t i = 0; i < 256; i++)
		all[i].value = i;
	many = cold_ev_set(&cfg, 1);
	for (uint16_t i = 0; i < 255; i++)
		mt_ev_retire(many, i, 0, MT_EV_BY_LOSS, changes);
	for (uint64_t now = 1000; now < 9000; now += 1000) {
		uint16_t path;
		uint32_t n = 0;

		for (; (path = mt_ev_set_next_probe(many, now, false)) != MT_EV_NONE; n++)
			seen[path]++;
		assert_u_eq(n, MT_EV_PROBES_PER_INTERVAL);
		assert_u_eq(mt_ev_set_probe_deadline(many), now + 1000);
	}
	for (uint16_t i = 0; i < 255; i++)
		assert_u_between(seen[i], 1, 2);
}

/* REQ(mem.path-trouble) */
TEST_WITH(six_active, NULL, mt_ev_retire, waits_for_memory)
{
	struct mb_pool none;

	mb_pool_init(&none);
	set->pool = &none;
	assert_u_eq(retire(0, 10), 0);
	assert_u_eq(mt_ev_state_of(set, 0), MT_EV_GOOD);
	assert_true(none.wanted >= sizeof(struct mt_ev_fault));
	mt_ev_probe_sent(set, 1);
	assert_false(mt_ev_probe_answered(set, 1, 20, 30));
	assert_u_eq(mt_ev_set_next_probe(set, UINT64_MAX - 1, false), MT_EV_NONE);
	assert_u_eq(mt_ev_set_probe_deadline(set), MB_NEVER);
	set->pool = cold_pool();
	assert_u_eq(retire(0, 40), 1);
	assert_true(set->pool->in_use > 0);
	mt_ev_set_fini(set);
	assert_u_eq(set->pool->in_use, 0);
}

/* A set with backups needs places of its own before one of its EVs may go bad. */
TEST_WITH(six_active, NULL, mt_ev_retire, waits_for_places)
{
	struct mb_pool little;
	static _Alignas(64) uint8_t one_block[256];

	assert_true(mb_pool_block_size(4 * sizeof(struct mt_ev_fault)) <= sizeof(one_block));
	mb_pool_init(&little);
	mb_pool_add(&little, one_block, sizeof(one_block));
	set->pool = &little;
	assert_u_eq(retire(2, 10), 0);
	assert_u_eq(mt_ev_state_of(set, 2), MT_EV_GOOD);
	assert_true(is_active(2));
	assert_u_eq(mt_ev_set_probe_deadline(set), MB_NEVER);
	assert_false(mt_ev_deny(set, 2, true));
	assert_u_eq(little.wanted, mb_pool_block_size(mt_ev_places_size(set->shared)));
	mb_pool_add(&little, cold_memory, sizeof(cold_memory));
	assert_u_eq(retire(2, 20), 1);
	assert_true(is_active(6));
}

/* A set of 256 EVs, all in the rotation of 8 ports. */
static void make_256(void)
{
	static struct mt_ev all[256];
	struct mt_ev_profile_cfg cfg = {
		.evs = all,
		.n_evs = 256,
		.n_active = 256,
		.min_active = 1,
		.revive_probes = 1,
		.probe_interval_ns = INTERVAL,
		.probe_interval_max_ns = INTERVAL,
	};

	for (uint16_t i = 0; i < 256; i++)
		all[i] = (struct mt_ev){.value = i, .port = i % 8};
	set = cold_ev_set(&cfg, 8);
}

static bool probe_and_answer(uint16_t ev, uint64_t at)
{
	mt_ev_probe_sent(set, ev);
	return mt_ev_probe_answered(set, ev, at, at + 10);
}

/* REQ(mem.path-trouble) */
TEST(mt_ev_set_size, at_most_1_kb_with_256_evs_and_nothing_for_probes)
{
	make_256();
	assert_true(mb_pool_block_size(mt_ev_set_size(256, 8)) <= 1024);
	for (uint16_t ev = 0; ev < 256; ev++)
		assert_false(probe_and_answer(ev, 100));
	assert_u_eq(set->pool->in_use, 0);
	for (uint16_t ev = 0; ev < 4; ev++)
		retire(64 * ev, 200);
	assert_true(set->pool->in_use <= 256);
	for (uint16_t ev = 0; ev < 256; ev++)
		retire(ev, 300);
	assert_true(set->pool->in_use <= 16384);
}

/* The records of EVs that are well again for long are used for others. */
TEST(mt_ev_get_fault, records_are_used_again)
{
	uint64_t now = 0;
	size_t in_use;

	make_256();
	for (uint16_t ev = 0; ev < 4; ev++)
		assert_u_eq(retire(ev, now), 1);
	in_use = set->pool->in_use;
	for (uint16_t ev = 4; ev < 256; ev++) {
		now += INTERVAL;
		assert_true(probe_and_answer((uint16_t)(ev - 4), now));
		now += 16 * INTERVAL + 11; /* it does not flap any more */
		assert_u_eq(retire(ev, now), 1);
		assert_u_eq(mt_ev_fault(set, ev)->retired, 1);
		assert_u_eq(set->pool->in_use, in_use);
		assert_null(mt_ev_fault(set, (uint16_t)(ev - 4)));
	}
}

/* Those of bad EVs, of ones that may flap, and of losses to an overloaded peer stay. */
TEST(mt_ev_get_fault, records_with_news_stay)
{
	make_256();
	assert_u_eq(retire(10, 0), 1);
	assert_u_eq(retire(20, 0), 1);
	assert_true(probe_and_answer(20, 5));
	mt_ev_get_fault(set, 30, 0)->overload_losses = 3;
	assert_u_eq(retire(40, 0), 1);
	assert_u_eq(retire(5, 15 + 16 * INTERVAL), 1); /* room for a fifth */
	assert_u_eq(mt_ev_fault(set, 10)->bad_since_ns, 0);
	assert_u_eq(mt_ev_fault(set, 20)->revived, 1);
	assert_u_eq(mt_ev_fault(set, 30)->overload_losses, 3);
	assert_u_eq(mt_ev_fault(set, 40)->retired, 1);
	assert_u_eq(mt_ev_fault(set, 5)->retired, 1);
}

/* Without memory for one more record those that there are stay, and the EV stays in use. */
TEST(mt_ev_get_fault, no_room_for_more)
{
	struct mb_pool none, *some;

	make_256();
	for (uint16_t ev = 0; ev < 4; ev++)
		assert_u_eq(retire((uint16_t)(9 * ev), 7), 1);
	mb_pool_init(&none);
	some = set->pool;
	set->pool = &none;
	assert_u_eq(retire(3, 8), 0);
	assert_u_eq(mt_ev_state_of(set, 3), MT_EV_GOOD);
	assert_true(none.wanted > 0);
	assert_u_eq(mt_ev_set_probe_deadline(set), 7 + INTERVAL);
	for (uint16_t ev = 0; ev < 4; ev++)
		assert_u_eq(mt_ev_set_next_probe(set, 7 + INTERVAL, false), 9 * ev);
	set->pool = some;
	assert_u_eq(retire(3, 9), 1);
	for (uint16_t ev = 0; ev < 4; ev++)
		assert_u_eq(mt_ev_fault(set, (uint16_t)(9 * ev))->bad_since_ns, 7);
	assert_u_eq(mt_ev_fault(set, 3)->bad_since_ns, 9);
}

/* What is there for comparison only: losses and marks that retire nothing, EVs that stay bad. */
TEST(mt_ev_retire, ignores_what_the_profile_says)
{
	ignores = MT_EV_IGNORES_LOSS;
	make(6, 1, 2);
	assert_u_eq(retire(0, 100), 0);
	assert_u_eq(mt_ev_retire(set, 0, 100, MT_EV_BY_MARK, changes), 1);
	ignores = MT_EV_IGNORES_MARKS;
	make(6, 1, 2);
	assert_u_eq(mt_ev_retire(set, 0, 100, MT_EV_BY_MARK, changes), 0);
	assert_u_eq(retire(0, 100), 1);
	ignores = MT_EV_NO_PROBES;
	make(6, 1, 2);
	assert_u_eq(retire(0, 100), 1);
	assert_u_eq(mt_ev_set_probe_deadline(set), MB_NEVER);
	assert_u_eq(mt_ev_set_next_probe(set, 1000000 * INTERVAL, false), MT_EV_NONE);
	ignores = 0;
}

/* REQ(req.spray.no-scan) */
TEST_WITH(six_active, NULL, mt_ev_set_useful_ports, open_ones_with_a_usable_ev)
{
	set->open_ports = 3;
	assert_u_eq(mt_ev_set_useful_ports(set), 3);
	for (uint16_t i = 0; i < EVS; i += 2)
		retire(i, 0); /* all of port 0 */
	assert_u_eq(mt_ev_set_useful_ports(set), 2);
	for (uint16_t i = 1; i < EVS - 2; i += 2)
		retire(i, 0); /* all but one of port 1 */
	assert_u_eq(mt_ev_set_useful_ports(set), 2);
	set->open_ports = 1;
	assert_u_eq(mt_ev_set_useful_ports(set), 0);
}

/* REQ(req.ev.flapping) */
TEST_WITH(six_active, NULL, mt_ev_retire, flaps_count_up_to_sixteen)
{
	for (uint64_t now = 1; now < 40; now++) {
		assert_u_eq(retire(0, now), 1);
		assert_u_eq(mt_ev_fault(set, 0)->flaps, now - 1 < 16 ? now - 1 : 16);
		assert_true(mt_ev_restore(set, 0, now));
	}
}

/* REQ(req.ev.flapping) */
TEST_WITH(six_active, NULL, mt_ev_retire, sixteen_of_the_longest_intervals_are_not_long)
{
	const uint64_t longest = 4 * INTERVAL;

	retire(0, 0);
	assert_true(mt_ev_restore(set, 0, 1));
	retire(0, 1 + 16 * longest);
	assert_u_eq(mt_ev_fault(set, 0)->flaps, 1);
	assert_true(mt_ev_restore(set, 0, 1 + 16 * longest));
	retire(0, 2 + 32 * longest);
	assert_u_eq(mt_ev_fault(set, 0)->flaps, 0);
}

/* The first EV is one like any other, and of several the first. REQ(req.ev.min-active) */
TEST(mt_ev_set_restore_to_floor, the_first_of_those_that_are_bad_longest)
{
	make(6, 8, 1);
	set->shared->min_active = 1; /* to retire them all the same */
	retire(4, 1000);
	retire(5, 900);
	retire(3, 900);
	retire(0, 950);
	set->shared->min_active = 8;
	assert_u_eq(mt_ev_set_restore_to_floor(set), 3);
	assert_u_eq(mt_ev_set_restore_to_floor(set), 5);
	assert_u_eq(mt_ev_set_restore_to_floor(set), 0);
	assert_u_eq(mt_ev_set_restore_to_floor(set), 4);
	assert_u_eq(mt_ev_set_restore_to_floor(set), MT_EV_NONE);
}

/* What is dead may return at any moment; only what relapses has to wait for long. */
TEST_WITH(six_active, NULL, mt_ev_count_failure, doubles_four_times_more_than_flaps)
{
	for (uint8_t flaps = 0; flaps < 3; flaps++) {
		retire(0, 20u * flaps);
		for (int i = 0; i < 300; i++)
			mt_ev_count_failure(set, 0, 20u * flaps);
		assert_u_eq(mt_ev_fault(set, 0)->backoff, flaps + 4);
		assert_true(mt_ev_restore(set, 0, 20u * flaps + 10));
	}
}

TEST_WITH(six_active, NULL, mt_ev_probe_answered, of_what_left_when_it_went_bad)
{
	retire(0, 1000);
	probe(0, 1000 + INTERVAL);
	answer(999, 1000 + INTERVAL);
	assert_u_eq(mt_ev_fault(set, 0)->answered, 0);
	answer(1000, 1000 + INTERVAL);
	assert_u_eq(mt_ev_fault(set, 0)->answered, 1);
}

TEST(mt_ev_retire, probes_it_unless_the_profile_says_not_to)
{
	ignores = MT_EV_IGNORES_MARKS | MT_EV_IGNORES_TRIMS;
	make(6, 1, 1);
	retire(0, 0);
	assert_u_eq(mt_ev_fault(set, 0)->next_probe_ns, INTERVAL);
	ignores = MT_EV_NO_PROBES;
	make(6, 1, 1);
	retire(0, 0);
	assert_u_eq(mt_ev_fault(set, 0)->next_probe_ns, MB_NEVER);
	ignores = 0;
}

TEST_WITH(six_active, NULL, mt_ev_set_next_probe, an_interval_of_more_than_two_rtts_is_kept)
{
	set->probe_rtt_ns = INTERVAL * 2 / 5;
	retire(0, 0);
	probe(0, INTERVAL);
	assert_u_eq(mt_ev_fault(set, 0)->next_probe_ns, 2 * INTERVAL);
}

/* Nobody had a way to send it. */
TEST_WITH(six_active, NULL, mt_ev_set_next_probe, one_that_was_not_sent_was_not_unanswered)
{
	retire(0, 0);
	for (uint64_t i = 1; i < 5; i++) {
		assert_u_eq(mt_ev_set_next_probe(set, i * INTERVAL, false), 0);
		assert_u_eq(mt_ev_fault(set, 0)->backoff, 0);
	}
}

TEST_WITH(six_active, NULL, mt_ev_set_sample_rtt, sinks_by_an_eighth)
{
	mt_ev_set_sample_rtt(set, 8000);
	assert_u_eq(set->probe_rtt_ns, 8000);
	mt_ev_set_sample_rtt(set, 10);
	assert_u_eq(set->probe_rtt_ns, 7000);
}

TEST(mt_ev_set_size, the_sum_of_its_parts)
{
	const uint32_t ports = 8;
	size_t plain = sizeof(struct mt_ev_set) + sizeof(struct mt_ev_bits) +
		       ports * (sizeof(struct mt_peer_port) + sizeof(uint64_t) +
				sizeof(struct mt_ev_set_port));

	assert_u_eq(mt_ev_set_size(EVS, ports), plain);
	assert_u_eq(mt_ev_set_size(64, ports), plain);
	assert_u_eq(mt_ev_set_size(65, ports), plain + sizeof(struct mt_ev_bits));
	assert_u_eq(mt_ev_set_size(1, 1) % sizeof(uint64_t), 0);
}

TEST(mt_ev_shared_size, the_sum_of_its_parts)
{
	struct mt_ev_profile_cfg profile = {.n_evs = EVS};
	size_t copied = mt_ev_shared_size(&profile, 4), alone;

	profile.is_static = true;
	alone = mt_ev_shared_size(&profile, 4);
	assert_u_eq(alone, sizeof(struct mt_ev_shared) + 2 * EVS * sizeof(uint16_t) +
				   4 * sizeof(struct mt_ev_port));
	assert_u_eq(copied, alone + EVS * sizeof(struct mt_ev));
	profile.group_ids = (const uint16_t[EVS]){0};
	assert_u_eq(mt_ev_shared_size(&profile, 4),
		    alone + EVS * (sizeof(struct mt_ev_group) + sizeof(uint16_t)));
}

TEST_WITH(six_active, NULL, mt_ev_set_init, keeps_to_its_memory)
{
	for (size_t i = mt_ev_set_size(EVS, 2); i < sizeof(cold_set); i++)
		assert_u_eq(cold_set[i], 0xAA);
	for (size_t i = mt_ev_shared_bytes(set->shared); i < sizeof(cold_shared); i++)
		assert_u_eq(cold_shared[i], 0xAA);
}

/* In memory behind it that looks like a port with a backup and room for an active EV. */
TEST(mt_ev_shared_init, looks_at_no_port_behind_the_last)
{
	static const struct mt_ev all[] = {{1, 0}, {2, 1}, {3, 2}, {4, 3}};
	const struct mt_ev_profile_cfg cfg = {.evs = all, .n_evs = 4, .n_active = 4};
	const struct mt_ev_port behind = {.first = 7, .count = 1};
	uint8_t *end = cold_shared + mt_ev_shared_size(&cfg, 4);

	memcpy(end, &behind, sizeof(behind));
	assert_false(mt_ev_shared_init(cold_shared, &cfg, 4)->has_backups);
	assert_memory_equal(end, &behind, sizeof(behind));
}

TEST(mt_ev_shared_init, ports_with_evs_are_its_own)
{
	static const struct mt_ev all[] = {{1, 1}, {2, 1}};
	const struct mt_ev_profile_cfg cfg = {.evs = all, .n_evs = 2, .n_active = 2};

	assert_u_eq(mt_ev_shared_init(cold_shared, &cfg, 3)->own_ports, 1u << 1);
}

/* Where the bits of EVs fill their words, what follows is the ports of the peer. */
TEST(mt_ev_set_init, whole_words_of_bits)
{
	make_256();
	assert_u_eq(set->peer_ports.port[0].since_ns, 0);
}
