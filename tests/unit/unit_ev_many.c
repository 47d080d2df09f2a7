/* SPDX-License-Identifier: BSD-2-Clause */
/* A set of 200 EVs, whose bits take four words: each EV has its own. */
#include "support/test.h"

#include "core/ev/ev_set.h"
#include "unit/cold_pool.h"

#define EVS 200u

static struct mt_ev evs[EVS];
static struct mt_ev_set *set;
static struct mt_ev_change changes[2];

static int all_good(void **state)
{
	struct mt_ev_profile_cfg cfg = {
		.evs = evs,
		.n_evs = EVS,
		.n_active = EVS,
		.min_active = 1,
		.revive_probes = 1,
		.probe_interval_ns = 1000,
		.probe_interval_max_ns = 4000,
	};

	(void)state;
	for (uint16_t i = 0; i < EVS; i++)
		evs[i] = (struct mt_ev){.value = 0x100u + i};
	set = cold_ev_set(&cfg, 1);
	return 0;
}

#define CASE(function, name) TEST_WITH(all_good, NULL, function, name)

CASE(mt_ev_state_of, is_that_of_one_ev)
{
	for (uint16_t ev = 0; ev < EVS; ev++) {
		mt_ev_deny(set, ev, true);
		for (uint16_t other = 0; other < EVS; other++)
			assert_u_eq(mt_ev_state_of(set, other),
				    other == ev ? MT_EV_DENIED : MT_EV_GOOD);
		mt_ev_deny(set, ev, false);
	}
}

CASE(mt_ev_note_heard, of_one_ev_and_once)
{
	for (uint16_t ev = 0; ev < EVS; ev++) {
		assert_false(mt_ev_was_heard(set, ev));
		assert_u_eq(set->n_unheard, EVS - ev);
		assert_true(mt_ev_note_heard(set, ev));
		assert_false(mt_ev_note_heard(set, ev));
		assert_u_eq(set->n_unheard, EVS - ev - 1);
		assert_true(mt_ev_was_heard(set, ev));
	}
}

CASE(mt_ev_fault, each_record_is_found_among_the_others)
{
	uint32_t before = 0;

	for (uint16_t ev = 3; ev < EVS; ev += 7)
		assert_u_eq(mt_ev_retire(set, ev, 50 + ev, MT_EV_BY_LOSS, changes), 1);
	for (uint16_t ev = 0; ev < EVS; ev++) {
		bool bad = ev % 7 == 3;

		assert_u_eq(mt_ev_fault_rank(set, ev), before);
		assert_u_eq(mt_ev_state_of(set, ev), bad ? MT_EV_ASSUMED_BAD : MT_EV_GOOD);
		assert_int_equal(mt_ev_fault(set, ev) != NULL, bad);
		if (bad) {
			assert_u_eq(mt_ev_fault(set, ev)->ev, ev);
			assert_u_eq(mt_ev_fault(set, ev)->bad_since_ns, 50 + ev);
		}
		before += bad;
	}
}

/* In memory that has room for all of them the set needs none of the pool. */
CASE(mt_ev_set_add_faults, a_record_for_each_ev)
{
	static struct mt_ev_fault records[EVS];

	mt_ev_set_add_faults(set, records);
	assert_u_eq(set->n_faults, EVS);
	for (uint16_t ev = 0; ev < EVS; ev++) {
		assert_ptr_equal(mt_ev_fault(set, ev), &records[ev]);
		assert_u_eq(records[ev].ev, ev);
		assert_u_eq(records[ev].next_probe_ns, MB_NEVER);
	}
	set->faults = NULL; /* it is not the pool's */
	set->faults_room = set->n_faults = 0;
}

/* Room for records doubles. */
CASE(mt_ev_retire, takes_memory_as_it_needs_it)
{
	uint32_t room = 0;

	for (uint16_t ev = 0; ev < 40; ev++) {
		uint32_t before = room;

		assert_u_eq(mt_ev_retire(set, ev, 0, MT_EV_BY_LOSS, changes), 1);
		room = set->faults_room;
		assert_u_eq(room, before == 0 ? room : ev < before ? before : 2 * before);
	}
	assert_u_between(room, 40, 79);
}

/* The search for a due probe begins again behind the last EV. */
CASE(mt_ev_set_next_probe, after_the_last_ev_the_first)
{
	mt_ev_retire(set, 0, 0, MT_EV_BY_LOSS, changes);
	mt_ev_retire(set, EVS - 1, 0, MT_EV_BY_LOSS, changes);
	for (uint64_t now = 1000; now < 9000; now += 4000) {
		assert_u_eq(mt_ev_set_next_probe(set, now, true), 0);
		assert_u_eq(mt_ev_set_next_probe(set, now, true), EVS - 1);
	}
}

/* What is due within the longest interval stays. */
CASE(mt_ev_set_hasten_probes, those_that_are_later_than_that)
{
	struct mt_ev_fault *f;

	mt_ev_retire(set, 5, 0, MT_EV_BY_LOSS, changes);
	f = mt_ev_fault(set, 5);
	f->next_probe_ns = 100 + 4000;
	mt_ev_set_hasten_probes(set, 100);
	assert_u_eq(f->next_probe_ns, 4100);
	f->next_probe_ns = 100 + 4001;
	mt_ev_set_hasten_probes(set, 100);
	assert_u_eq(f->next_probe_ns, 100);
}
