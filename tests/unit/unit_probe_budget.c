/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How often the bad EVs of many destinations are probed: 64 destinations with 32 EVs each, of which
 * all but one are bad, and would be probed every millisecond: two million times a second.
 */
#include "core/endpoint/endpoint.h"
#include "core/qp/halves.h"
#include "unit/node_fixture.h"

#define DESTS 64u
#define EVS 32u
#define BAD (EVS - 1)
#define MS UINT64_C(1000000)
#define GAP_NS 10000u
#define SAVED_UP 1024u /* by the budget */

static struct mt_qp *qps[DESTS + 1]; /* the last one is for a case to connect */
static uint32_t probes[DESTS + 1];   /* by destination */
static uint64_t last_ns;	     /* of the engine */

static struct mt_qp *connect_to(uint32_t i)
{
	struct rd_qp_attr a = opts.attr;
	struct mt_qp *qp = engine_node_qp(&n.base, &opts.cap, n.qpn + 1 + i, NULL);

	a.dest = n.peer;
	a.dest.b[0] = (uint8_t)(100 + i);
	a.dest_qpn = 9;
	assert_i_eq(engine_node_bring_to(&n.base, qp, 0, &a, RD_QPS_RTS), MT_OK);
	return qp;
}

static int many_destinations(void **state)
{
	defaults(state);
	opts.cfg.max_qps = 2 * DESTS;
	opts.cfg.timing.revival_gap_ns = GAP_NS;
	opts.ev_profile.n_evs = opts.ev_profile.n_active = EVS;
	opts.ev_profile.probe_interval_ns = opts.ev_profile.probe_interval_max_ns = MS;
	start();
	last_ns = 0;
	for (uint32_t i = 0; i < DESTS; i++) {
		qps[i] = connect_to(i);
		for (uint16_t ev = 0; ev < BAD; ev++)
			while (mt_ev_state_of(qps[i]->ev_set, ev) == MT_EV_GOOD) {
				mt_qp_retire_ev_group(qps[i], ev, 0, MT_EV_BY_LOSS);
				engine_node_grow_if_wanted(&n.base);
			}
	}
	return 0;
}

#define CASE(function, name) TEST_WITH(many_destinations, close_node, function, name)

/* What the QP of a destination does that waits for an answer. */
static void use(uint32_t i, uint64_t now_ns)
{
	mt_liveness_count_waiter(&qps[i]->peer->liveness, now_ns, true);
}

static void count_probes(uint64_t now_ns)
{
	struct mt_tx_desc descs[32];
	uint32_t got;

	while ((got = node_tx(&n, now_ns, descs, 32)) > 0)
		for (uint32_t i = 0; i < got; i++)
			if (descs[i].pkt.bth.opcode == MW_PROBE)
				probes[descs[i].dst.b[0] - 100]++;
}

/* Runs the engine from one deadline to the next; returns how many probes were sent. */
static uint32_t run_until(uint64_t end_ns)
{
	uint32_t all = 0;

	memset(probes, 0, sizeof(probes));
	for (uint64_t now; (now = mt_engine_deadline(n.engine)) <= end_ns;) {
		assert_true(now >= last_ns);
		last_ns = now;
		mt_engine_tick(n.engine, now);
		count_probes(now);
	}
	for (uint32_t i = 0; i < DESTS; i++)
		all += probes[i];
	return all;
}

/* REQ(req.ev.probe-budget) */
CASE(mt_ev_probes_tick, all_destinations_share_the_budget)
{
	uint32_t all, budget = (uint32_t)(100 * MS / GAP_NS), least = UINT32_MAX, most = 0;

	for (uint32_t i = 0; i < DESTS; i++)
		use(i, 0);
	all = run_until(100 * MS);
	assert_u_between(all, budget, budget + SAVED_UP);
	for (uint32_t i = 0; i < DESTS; i++) {
		least = probes[i] < least ? probes[i] : least;
		most = probes[i] > most ? probes[i] : most;
	}
	assert_true(most - least <= 2 * BAD); /* one had a turn before another, and one after it */
}

/* The budget has some saved up by then, but not for it. */
CASE(mt_ev_sets_tick, who_comes_late_waits_behind_those_that_wait)
{
	struct mt_qp *late;
	uint64_t due;

	for (uint32_t i = 0; i < DESTS; i++)
		use(i, 0);
	run_until(40 * MS);
	late = qps[DESTS] = connect_to(DESTS);
	use(DESTS, 40 * MS);
	while (mt_ev_state_of(late->ev_set, 0) == MT_EV_GOOD) {
		mt_qp_retire_ev_group(late, 0, 40 * MS, MT_EV_BY_LOSS);
		engine_node_grow_if_wanted(&n.base);
	}
	assert_false(mb_link_is_empty(&n.engine->probes_active));
	due = mt_ev_set_probe_deadline(late->ev_set);
	assert_u_eq(due, 41 * MS);
	memset(probes, 0, sizeof(probes));
	mt_ev_sets_tick(n.engine, late->ev_set, due);
	count_probes(due);
	assert_u_eq(probes[DESTS], 0);
	assert_ptr_equal(n.engine->probes_active.prev, &late->ev_set->probe_turn);
}

CASE(mt_ev_probes_tick, those_in_use_come_first)
{
	uint32_t all;

	run_until(40 * MS); /* all are idle by now */
	use(5, 40 * MS);
	mt_engine_use_ev_set(n.engine, qps[5]->ev_set, 40 * MS);
	all = run_until(60 * MS);
	assert_u_between(probes[5], 19 * BAD, 21 * BAD);
	assert_true(all <= 20 * MS / GAP_NS + SAVED_UP);
}

/* REQ(req.ev.probe-budget) */
CASE(mt_ev_sets_tick, the_last_probe_that_was_saved_up)
{
	n.engine->revival_due_ns = MS + (SAVED_UP - 1) * GAP_NS;
	for (uint32_t i = 0; i < 2; i++) {
		use(i, 0);
		memset(probes, 0, sizeof(probes));
		mt_ev_sets_tick(n.engine, qps[i]->ev_set, MS);
		count_probes(MS);
		assert_u_eq(probes[i], i == 0);
	}
}

/* Idle destinations leave 512 to those in use. */
CASE(mt_ev_sets_tick, the_last_probe_that_idle_ones_may_send)
{
	n.engine->revival_due_ns = 100 * MS + (SAVED_UP - 513) * GAP_NS;
	for (uint32_t i = 0; i < 2; i++) {
		memset(probes, 0, sizeof(probes));
		mt_ev_sets_tick(n.engine, qps[i]->ev_set, 100 * MS);
		count_probes(100 * MS);
		assert_u_eq(probes[i], i == 0);
	}
}

/* The adapter wakes up for sixteen probes at once; idle destinations leave half of the budget. */
CASE(mt_ev_probes_deadline, when_there_are_enough_for_a_wake_up)
{
	n.engine->revival_due_ns = 100 * MS;
	mb_list_push(&n.engine->probes_idle, &qps[0]->ev_set->probe_turn);
	assert_u_eq(mt_ev_probes_deadline(n.engine), 100 * MS - (SAVED_UP - 512 - 16) * GAP_NS);
	mb_list_push(&n.engine->probes_active, &qps[1]->ev_set->probe_turn);
	assert_u_eq(mt_ev_probes_deadline(n.engine), 100 * MS - (SAVED_UP - 16) * GAP_NS);
}

/* Its turn comes with those in use, by its timer. */
CASE(mt_engine_use_ev_set, waits_no_longer_with_those_that_are_idle)
{
	struct mt_ev_set *s;
	uint32_t i = 0;

	run_until(40 * MS);
	assert_false(mb_link_is_empty(&n.engine->probes_idle));
	s = mb_container_of(n.engine->probes_idle.next, struct mt_ev_set, probe_turn);
	while (qps[i]->ev_set != s)
		i++;
	use(i, 40 * MS);
	mt_engine_use_ev_set(n.engine, s, 40 * MS);
	assert_true(mb_link_is_empty(&s->probe_turn));
	assert_u_eq(mt_engine_deadline(n.engine), 40 * MS);
}

CASE(mt_ev_sets_tick, idle_destinations_are_probed_ever_more_rarely)
{
	uint32_t early, late;

	run_until(90 * MS);
	early = run_until(100 * MS);
	run_until(2000 * MS);
	late = run_until(2064 * MS);
	assert_true(early >= 10 * BAD);
	assert_u_between(late, 0, 2 * DESTS * BAD); /* each EV once in 64 ms */
	assert_u_between(probes[7], 1, 2 * BAD);
}

CASE(mt_ev_sets_tick, twice_as_rarely_after_twice_sixteen_intervals)
{
	struct mt_ev_set *s = qps[0]->ev_set;

	mt_ev_sets_tick(n.engine, s, 32 * MS - 1);
	assert_u_eq(s->stretch, 1);
	mt_ev_sets_tick(n.engine, s, 32 * MS);
	assert_u_eq(s->stretch, 2);
}

/* Its bad EVs are due at once. */
CASE(mt_engine_use_ev_set, by_a_write_after_a_long_silence)
{
	struct mt_tx_desc d;

	run_until(2000 * MS);
	assert_u_eq(qps[9]->ev_set->stretch, 64);
	assert_i_eq(node_post(&n, qps[9], 1, 8, RD_SEND_SIGNALED), MT_OK);
	assert_true(node_tx_opcode(&n, 2000 * MS, MW_WRITE_ONLY, &d));
	assert_u_eq(qps[9]->ev_set->stretch, 1);
	mt_engine_tick(n.engine, 2000 * MS);
	memset(probes, 0, sizeof(probes));
	count_probes(2000 * MS);
	assert_u_eq(probes[9], BAD);
}

CASE(mt_engine_use_ev_set, by_a_write_after_a_silence)
{
	struct mt_ev_set *s = qps[9]->ev_set;
	struct mt_tx_desc d;

	mt_ev_sets_tick(n.engine, s, 32 * MS);
	assert_u_eq(s->stretch, 2);
	assert_i_eq(node_post(&n, qps[9], 1, 8, RD_SEND_SIGNALED), MT_OK);
	assert_true(node_tx_opcode(&n, 32 * MS, MW_WRITE_ONLY, &d));
	assert_u_eq(s->stretch, 1);
}

/* A set that goes leaves its turn. */
CASE(mt_ev_sets_release, while_its_probes_wait)
{
	for (uint32_t i = 0; i < DESTS; i++)
		use(i, 0);
	run_until(5 * MS);
	assert_false(mb_link_is_empty(&n.engine->probes_active));
	for (uint32_t i = 0; i < DESTS; i++) {
		mt_liveness_count_waiter(&qps[i]->peer->liveness, 5 * MS, false);
		mt_qp_fini(qps[i]);
	}
	assert_true(mb_link_is_empty(&n.engine->probes_active));
	assert_u_eq(mt_ev_probes_deadline(n.engine), MB_NEVER);
}
