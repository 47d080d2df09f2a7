/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rotation over random sets: each round takes each good EV once, ports get equal shares,
 * nothing is chosen that must not be, and something is chosen whenever anything could be.
 */
#include "support/test.h"

#include "core/ev/spray.h"
#include "unit/cold_pool.h"

#define EVS_MAX 128u
#define PORTS_MAX 8u
#define ANY UINT32_MAX

static struct mt_ev evs[EVS_MAX];
static struct mt_ev_set *set;
static struct mt_spray sp;
static uint64_t place[256];
static uint32_t n_ports, skipped;

static void attach(void)
{
	assert_true(mt_spray_size(MT_PORTS_MAX, set->n_evs) <= sizeof(place));
	mt_spray_attach(&sp, place, MT_PORTS_MAX, set->n_evs);
}

/* A set of per_port EVs on each port, of which n_active take part: as many on each as can be. */
static void make(uint32_t ports, uint32_t per_port, uint32_t n_active)
{
	struct mt_ev_profile_cfg cfg = {
		.evs = evs,
		.n_evs = (uint16_t)(ports * per_port),
		.n_active = (uint16_t)n_active,
		.min_active = 1,
		.revive_probes = 1,
		.probe_interval_ns = 1,
		.probe_interval_max_ns = 1,
	};

	n_ports = ports;
	for (uint16_t i = 0; i < cfg.n_evs; i++)
		evs[i] = (struct mt_ev){i, (uint8_t)(i % ports)};
	set = cold_ev_set(&cfg, ports);
	mt_spray_init(&sp, test_rand());
	attach();
	skipped = 0;
}

static void make_random(void)
{
	uint32_t ports = 1 + (uint32_t)test_rand_below(PORTS_MAX);
	uint32_t per_port = 1 + (uint32_t)test_rand_below(EVS_MAX / PORTS_MAX);

	make(ports, per_port, 1 + (uint32_t)test_rand_below(ports * per_port));
}

/* How many ports take part: those that have an active EV, which are the first. */
static uint32_t count_rotating(void)
{
	uint32_t n = 0;

	while (n < n_ports && set->shared->ports[n].active > 0)
		n++;
	return n;
}

static uint16_t next(uint32_t ports, uint16_t avoid)
{
	return mt_spray_pick(&sp, set, ports, avoid, &skipped);
}

/*
 * Ports may differ by one active EV; each takes its turn, and so many rounds of each have begun.
 * REQ(req.spray.rotation) REQ(req.spray.equal-planes) REQ(req.spray.standby-port)
 */
TEST(mt_spray_pick, laps_and_shares)
{
	for (size_t round = 0; round < test_rounds(500); round++) {
		uint32_t rotating, count[EVS_MAX] = {0};

		make_random();
		rotating = count_rotating();
		for (uint32_t i = 0; i < 5 * set->n_evs; i++) {
			uint16_t path = next(ANY, MT_EV_NONE);

			assert_u_eq(mt_ev_port(set, path), i % rotating);
			count[path]++;
			assert_u_eq(count[path],
				    i / rotating / set->shared->ports[i % rotating].active + 1);
		}
	}
}

/* Retires, denies and skips some; never all. */
static void damage(void)
{
	struct mt_ev_change c[2];

	for (uint16_t i = 0; i < set->n_evs; i++) {
		uint64_t what = test_rand_below(5);

		if (what == 0)
			mt_ev_retire(set, i, 0, MT_EV_BY_LOSS, c);
		else if (what == 1 && set->n_usable > 1)
			mt_ev_deny(set, i, true);
		else if (what == 2)
			mt_spray_skip_once(&sp, set, i);
	}
}

static bool is_usable(uint16_t i, uint16_t avoid)
{
	return mt_ev_is_usable(set, i) && i != avoid;
}

/* Whether the ports of the rotation have none: then those that are not in it help out. */
static bool standby_helps(uint16_t avoid)
{
	for (uint16_t i = 0; i < set->n_evs; i++)
		if (set->shared->ports[mt_ev_port(set, i)].active > 0 && is_usable(i, avoid))
			return false;
	return true;
}

static bool could_be(uint16_t i, uint32_t ports, uint16_t avoid)
{
	uint8_t port = mt_ev_port(set, i);

	return is_usable(i, avoid) && ports >> port & 1 &&
	       (set->shared->ports[port].active > 0 || standby_helps(avoid));
}

/* Whether any path but the one to avoid could be chosen from these ports. */
static bool any_could_be(uint32_t ports, uint16_t avoid)
{
	for (uint16_t i = 0; i < set->n_evs; i++)
		if (could_be(i, ports, avoid))
			return true;
	return false;
}

/* Whether a port of the rotation that has no room could be chosen if it had. */
static bool one_without_room(uint32_t ports)
{
	for (uint16_t i = 0; i < set->n_evs; i++)
		if (set->shared->ports[mt_ev_port(set, i)].active > 0 && is_usable(i, MT_EV_NONE) &&
		    !(ports >> mt_ev_port(set, i) & 1))
			return true;
	return false;
}

/*
 * The next EV, after the turns that were lost to ports without room: each time a skip ended, so
 * that there are as many at most as there are EVs.
 */
static uint16_t next_turn(uint32_t ports, uint16_t avoid)
{
	uint16_t path;

	for (uint32_t lost = 0; lost <= set->n_evs; lost++) {
		uint32_t before = skipped;

		path = next(ports, avoid);
		if (path != MT_EV_NONE || skipped == before || !one_without_room(ports))
			return path;
	}
	fail_msg("turns are lost without end");
	return MT_EV_NONE;
}

static void check_choice(uint32_t ports, uint16_t avoid)
{
	bool possible = any_could_be(ports, avoid);
	bool last = set->n_usable == 1 && avoid != MT_EV_NONE && is_usable(avoid, MT_EV_NONE) &&
		    ports >> mt_ev_port(set, avoid) & 1;
	uint16_t path = next_turn(ports, avoid);

	if (possible) {
		assert_true(path != MT_EV_NONE);
		assert_true(could_be(path, ports, avoid));
		assert_u_eq(mt_ev_state_of(set, path), MT_EV_GOOD);
	} else {
		assert_u_eq(path, last ? avoid : MT_EV_NONE);
	}
}

/* REQ(req.spray.port-room) REQ(req.rtx.other-ev) REQ(req.spray.last-moment) */
TEST(mt_spray_pick, chooses_what_may_be_chosen_and_only_that)
{
	for (size_t round = 0; round < test_rounds(10000); round++) {
		make_random();
		for (int i = 0; i < 20; i++) {
			uint32_t ports = test_rand_chance(1, 2) ? ANY : (uint32_t)test_rand();
			uint16_t avoid = test_rand_chance(1, 2)
						 ? MT_EV_NONE
						 : (uint16_t)test_rand_below(set->n_evs);

			if (i % 5 == 0)
				damage();
			check_choice(ports, avoid);
		}
	}
}

/* REQ(req.ev.skip-once) */
TEST(mt_spray_pick, a_skip_costs_one_turn)
{
	for (size_t round = 0; round < test_rounds(2000); round++) {
		uint32_t count[EVS_MAX] = {0}, skips = 0;
		uint32_t active = 1 + (uint32_t)test_rand_below(EVS_MAX / PORTS_MAX);

		make(1, active, active);
		for (uint16_t i = 1; i < active; i++)
			if (test_rand_chance(1, 2)) {
				mt_spray_skip_once(&sp, set, i);
				skips++;
			}
		for (uint32_t i = 0; i < 4 * active - skips; i++)
			count[next(ANY, MT_EV_NONE)]++;
		assert_u_eq(skipped, skips);
		for (uint16_t i = 0; i < active; i++)
			assert_u_between(count[i], 3, 4);
	}
}

static bool any_usable(uint32_t ports)
{
	for (uint16_t i = 0; i < set->n_evs; i++)
		if (is_usable(i, MT_EV_NONE) && ports >> mt_ev_port(set, i) & 1)
			return true;
	return false;
}

/* REQ(req.reverse.per-plane) */
TEST(mt_spray_pick_control, a_usable_path_of_the_port_if_there_is_one)
{
	for (size_t round = 0; round < test_rounds(10000); round++) {
		uint8_t port;
		uint16_t path;

		make_random();
		damage();
		port = (uint8_t)test_rand_below(n_ports);
		path = mt_spray_pick_control(&sp, set, port);
		assert_true(path < set->n_evs);
		if (any_usable(ANY))
			assert_true(mt_ev_is_usable(set, path));
		if (any_usable(1u << port))
			assert_u_eq(mt_ev_port(set, path), port);
	}
}
