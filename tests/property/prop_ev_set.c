/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What holds of a path set whatever happens to it: counts are those of the states, places are a
 * permutation port by port, no active place is idle while a backup of its port could fill it, the
 * floor is kept, only the operator lifts DENIED, and probes are scheduled for bad paths alone.
 */
#include "support/test.h"

#include "core/ev/ev_set.h"
#include "unit/cold_pool.h"

#define EVS_MAX 64u
#define PORTS_MAX 8u

static struct mt_ev evs[EVS_MAX];
static uint16_t ids[EVS_MAX];
static struct mt_ev_profile_cfg cfg;
static uint32_t n_ports;
static struct mt_ev_set *set;
static uint64_t now;
/* Whether the set finds no memory at present. */
static bool is_starved;
static struct mb_pool none;
/* Kept beside the set: the state of each path as the operations should have left it. */
static uint8_t want[EVS_MAX];
/* Probes on their way: when they were sent, MB_NEVER for none. */
static uint64_t under_way[EVS_MAX];

static void make(void)
{
	n_ports = 1 + (uint32_t)test_rand_below(PORTS_MAX);
	cfg = (struct mt_ev_profile_cfg){
		.evs = evs,
		.n_evs = (uint16_t)(1 + test_rand_below(EVS_MAX)),
		.revive_probes = (uint8_t)(1 + test_rand_below(3)),
		.probe_interval_ns = 100,
		.probe_interval_max_ns = 1000,
	};
	cfg.n_active = (uint16_t)(1 + test_rand_below(cfg.n_evs));
	cfg.min_active = (uint16_t)(1 + test_rand_below(cfg.n_active));
	cfg.group_ids = test_rand_chance(1, 2) ? ids : NULL;
	for (uint16_t i = 0; i < cfg.n_evs; i++) {
		evs[i] = (struct mt_ev){i, (uint8_t)test_rand_below(n_ports)};
		ids[i] = (uint16_t)test_rand_below(cfg.n_evs);
	}
	set = cold_ev_set(&cfg, n_ports);
	set->open_ports = UINT32_MAX;
	mb_pool_init(&none);
	is_starved = false;
	memset(want, MT_EV_GOOD, sizeof(want));
	memset(under_way, 0xFF, sizeof(under_way));
	now = 0;
}

static bool usable(uint16_t i)
{
	return want[i] == MT_EV_GOOD;
}

static bool leaves_open_port(uint16_t i)
{
	return set->open_ports >> evs[i].port & 1;
}

/* Those of a state in a mask that leave from open ports. */
static uint16_t count_open(uint32_t states)
{
	uint16_t n = 0;

	for (uint16_t i = 0; i < cfg.n_evs; i++)
		n = (uint16_t)(n + (leaves_open_port(i) && states >> want[i] & 1));
	return n;
}

static uint16_t count_usable(void)
{
	return count_open(1u << MT_EV_GOOD);
}

/* Bad EVs come back up to the floor, as far as there are any. REQ(req.ev.min-active) */
static void restore_to_floor(void)
{
	uint16_t ev;

	while ((ev = mt_ev_set_restore_to_floor(set)) != MT_EV_NONE) {
		assert_true(count_usable() < cfg.min_active && leaves_open_port(ev));
		assert_u_eq(want[ev], MT_EV_ASSUMED_BAD);
		want[ev] = MT_EV_GOOD;
	}
	assert_true(count_usable() >= cfg.min_active || count_open(1u << MT_EV_ASSUMED_BAD) == 0);
}

/* ---- operations, each with what it may change ---- */

static void retire(uint16_t i)
{
	struct mt_ev_change c[2];
	uint16_t before = count_usable();
	unsigned n = mt_ev_retire(set, i, now, MT_EV_BY_LOSS, c);

	if (!usable(i)) {
		assert_u_eq(n, 0);
		return;
	}
	if (n == 2) {
		assert_true(leaves_open_port(i) && before <= cfg.min_active);
		assert_u_eq(want[c[0].ev], MT_EV_ASSUMED_BAD);
		assert_u_eq(c[0].cause, MT_EV_BY_FLOOR);
		want[c[0].ev] = MT_EV_GOOD;
	} else if (n == 0) {
		assert_true(is_starved || (leaves_open_port(i) && before <= cfg.min_active));
		return;
	}
	assert_u_eq(c[n - 1].ev, i);
	assert_u_eq(c[n - 1].state, MT_EV_ASSUMED_BAD);
	want[i] = MT_EV_ASSUMED_BAD;
	assert_true(count_usable() >= (before < cfg.min_active ? before : cfg.min_active));
}

static void deny_or_allow(uint16_t i)
{
	bool lifted = mt_ev_deny(set, i, false);

	assert_u_eq(lifted, want[i] == MT_EV_DENIED);
	if (lifted) {
		want[i] = MT_EV_GOOD;
	} else if (mt_ev_deny(set, i, true)) {
		want[i] = MT_EV_DENIED;
	} else {
		assert_true(is_starved && !set->own_places);
	}
	restore_to_floor();
}

/* A probe of path i leaves: one that was due, or (of any path) one that silence called for. */
static void send_probe(uint16_t i)
{
	uint16_t due = mt_ev_set_next_probe(set, now, test_rand_chance(1, 4));

	if (due != MT_EV_NONE) {
		assert_u_eq(want[due], MT_EV_ASSUMED_BAD);
		i = due;
	}
	if (test_rand_chance(1, 4)) /* the operator is quicker than the ring of control packets */
		deny_or_allow(i);
	mt_ev_probe_sent(set, i);
	under_way[i] = now;
}

static void answer_probe(uint16_t i)
{
	uint64_t sent_ns = under_way[i];

	if (sent_ns == MB_NEVER)
		return;
	under_way[i] = MB_NEVER;
	if (!mt_ev_probe_answered(set, i, sent_ns, now))
		return;
	assert_true(sent_ns >= mt_ev_fault(set, i)->bad_since_ns);
	assert_u_eq(want[i], MT_EV_ASSUMED_BAD);
	want[i] = MT_EV_GOOD;
}

/* The proof of a copy. */
static void restore(uint16_t i)
{
	assert_i_eq(mt_ev_restore(set, i, now), want[i] == MT_EV_ASSUMED_BAD);
	if (want[i] == MT_EV_ASSUMED_BAD)
		want[i] = MT_EV_GOOD;
}

static void change_ports(void)
{
	set->open_ports = (uint32_t)test_rand() | (uint32_t)test_rand();
	restore_to_floor();
}

static void operate(void)
{
	uint16_t i = (uint16_t)test_rand_below(cfg.n_evs);

	now += test_rand_chance(1, 100) ? 20000 : test_rand_below(60);
	if (test_rand_chance(1, 20)) {
		is_starved = !is_starved;
		set->pool = is_starved ? &none : &cold_blocks;
	}
	switch (test_rand_below(8)) {
	case 0:
	case 1:
		retire(i);
		break;
	case 2:
		if (test_rand_chance(1, 4))
			deny_or_allow(i);
		else if (test_rand_chance(1, 8))
			restore(i);
		else if (test_rand_chance(1, 8))
			change_ports();
		break;
	case 3:
	case 4:
		send_probe(i);
		break;
	default:
		answer_probe(i);
	}
}

/* ---- invariants ---- */

static void check_states(void)
{
	uint16_t n = 0;

	for (uint16_t i = 0; i < cfg.n_evs; i++)
		n = (uint16_t)(n + usable(i));
	assert_u_eq(set->n_usable, n);
	for (uint16_t i = 0; i < cfg.n_evs; i++) {
		assert_u_eq(mt_ev_state_of(set, i), want[i]);
		if (want[i] == MT_EV_ASSUMED_BAD)
			assert_true(mt_ev_fault(set, i)->next_probe_ns != MB_NEVER);
		else if (mt_ev_fault(set, i)) /* it was in trouble */
			assert_u_eq(mt_ev_fault(set, i)->next_probe_ns, MB_NEVER);
	}
}

/* Those of EVs in trouble, each once, in the order of EVs. REQ(mem.path-trouble) */
static void check_records(void)
{
	uint16_t n = 0;

	for (uint16_t i = 0; i < cfg.n_evs; i++)
		if (mt_ev_fault(set, i)) {
			assert_ptr_equal(mt_ev_fault(set, i), &set->faults[n]);
			assert_u_eq(set->faults[n++].ev, i);
		}
	assert_u_eq(set->n_faults, n);
	assert_true(n <= set->faults_room);
}

static bool same_path(uint16_t a, uint16_t b)
{
	return a == b || (cfg.group_ids && ids[a] == ids[b] && evs[a].port == evs[b].port);
}

/* How many usable EVs of the same path stand in active places. */
static uint16_t serving(uint16_t i)
{
	uint16_t n = 0;

	for (uint16_t k = 0; k < cfg.n_evs; k++) {
		const struct mt_ev_port *p = &set->shared->ports[evs[k].port];

		n = (uint16_t)(n + (same_path(i, k) && usable(k) &&
				    mt_ev_slot(set, k) < p->first + p->active));
	}
	return n;
}

/* REQ(req.ev.same-path) */
static void check_group(void)
{
	for (uint16_t i = 0; i < cfg.n_evs; i++) {
		uint16_t ring = 1, n = 0;

		for (uint16_t k = mt_ev_group_next(set, i); k != i && ring <= cfg.n_evs;
		     k = mt_ev_group_next(set, k))
			ring++;
		for (uint16_t k = 0; k < cfg.n_evs; k++) {
			assert_i_eq(mt_ev_same_group(set, i, k), same_path(i, k));
			n = (uint16_t)(n + same_path(i, k));
		}
		assert_u_eq(ring, n);
		assert_true(serving(i) <= 1);
		if (set->shared->groups)
			assert_u_eq(set->order[2u * cfg.n_evs + set->shared->groups[i].head],
				    serving(i));
	}
}

/* Of one port: its EVs and no others stand in its places, and none is idle without need. */
static void check_port(uint8_t port)
{
	const struct mt_ev_port *p = &set->shared->ports[port];
	uint16_t n_usable = 0, idle = 0, spare = 0;

	for (uint16_t at = p->first; at < p->first + p->count; at++) {
		uint16_t i = set->order[at];

		assert_u_eq(mt_ev_slot(set, i), at);
		assert_u_eq(mt_ev_port(set, i), port);
		n_usable = (uint16_t)(n_usable + usable(i));
		if (at < p->first + p->active)
			idle = (uint16_t)(idle + !usable(i));
		else
			spare = (uint16_t)(spare + (usable(i) && serving(i) == 0));
	}
	assert_u_eq(set->ports[port].usable, n_usable);
	assert_true(idle == 0 || spare == 0);
}

static void check_ports(void)
{
	uint32_t places = 0, active = 0;

	for (uint8_t port = 0; port < n_ports; port++) {
		assert_u_eq(set->shared->ports[port].first, places);
		places += set->shared->ports[port].count;
		active += set->shared->ports[port].active;
		check_port(port);
	}
	assert_u_eq(places, cfg.n_evs);
	assert_true(active <= cfg.n_active);
	if (!cfg.group_ids)
		assert_u_eq(active, cfg.n_active);
}

/* REQ(req.ev.min-active) REQ(req.ev.denied) REQ(req.spray.backup-same-plane)
 * REQ(req.ev.state-machine) */
TEST(mt_ev_set, invariants_after_random_operations)
{
	for (size_t life = 0; life < test_rounds(150); life++) {
		make();
		check_ports();
		check_group();
		for (int i = 0; i < 400; i++) {
			operate();
			check_states();
			check_records();
			if (i % 4 == 0)
				check_ports();
			if (i % 100 == 0)
				check_group();
		}
	}
}
