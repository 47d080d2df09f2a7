/* SPDX-License-Identifier: BSD-2-Clause */
/* The rotation where ports have enough in flight. REQ(req.spray.flight) */
#include "support/test.h"

#include "core/ev/spray.h"
#include "unit/cold_pool.h"

#define EVS_MAX 16u
#define ANY UINT32_MAX

static struct mt_ev_set *set;
static struct mt_spray sp;
static uint64_t place[256];
#define FULL (mt_spray_flights(&sp, set)->full)
static uint32_t skipped;

/* A set of n EVs, port = index % ports, the first n_active of them in the rotation. */
static void make(uint16_t n, uint32_t ports, uint16_t n_active)
{
	static struct mt_ev evs[EVS_MAX];
	struct mt_ev_profile_cfg cfg = {
		.evs = evs,
		.n_evs = n,
		.n_active = n_active,
		.min_active = 1,
		.revive_probes = 1,
		.probe_interval_ns = 10,
		.probe_interval_max_ns = 10,
	};

	for (uint16_t i = 0; i < n; i++)
		evs[i] = (struct mt_ev){.value = i, .port = (uint8_t)(i % ports)};
	set = cold_ev_set(&cfg, ports);
	mt_spray_init(&sp, test_rand());
	assert_true(mt_spray_size(MT_PORTS_MAX, set->n_evs) <= sizeof(place));
	mt_spray_attach(&sp, place, MT_PORTS_MAX, set->n_evs);
	FULL = 0;
	skipped = 0;
}

static uint32_t next_port(uint32_t ports, uint16_t avoid)
{
	uint16_t ev = mt_spray_pick(&sp, set, mt_spray_not_full(&sp, set, ports), avoid, &skipped);

	return ev == MT_EV_NONE ? ANY : mt_ev_port(set, ev);
}

TEST(mt_spray_not_full, passes_over_what_has_enough_in_flight)
{
	make(16, 4, 16);
	FULL = 1u << 2;
	for (uint32_t i = 0; i < 40; i++)
		assert_true(next_port(ANY, MT_EV_NONE) != 2);
	assert_u_eq(next_port(1u << 2, MT_EV_NONE), ANY); /* others have room later */
	FULL = 0;
	assert_u_eq(next_port(1u << 2, MT_EV_NONE), 2);
}

TEST(mt_spray_not_full, all_have_enough_in_flight)
{
	uint32_t seen = 0;

	make(16, 4, 16);
	FULL = 0xF;
	for (uint32_t i = 0; i < 4; i++)
		seen |= 1u << next_port(ANY, MT_EV_NONE);
	assert_u_eq(seen, 0xF);
}

/* Port 1 has no active EV, and is of use only where port 0 has no usable one. */
TEST(mt_spray_not_full, a_port_out_of_the_rotation_is_no_other)
{
	make(2, 2, 1);
	FULL = 1u;
	assert_u_eq(next_port(ANY, MT_EV_NONE), 0);
}

TEST(mt_spray_not_full, a_port_without_a_usable_ev_is_no_other)
{
	struct mt_ev_change changes[2];

	make(2, 2, 2);
	FULL = 1u;
	assert_u_eq(next_port(ANY, MT_EV_NONE), 1);
	mt_ev_retire(set, 1, 0, MT_EV_BY_LOSS, changes);
	assert_u_eq(next_port(ANY, MT_EV_NONE), 0);
}

TEST(mt_spray_not_full, a_port_that_is_left_is_no_other)
{
	make(2, 2, 2);
	FULL = 1u;
	set->open_ports = 1u;
	assert_u_eq(next_port(ANY, MT_EV_NONE), 0);
}

static uint16_t next_of_run(void)
{
	return mt_spray_pick_run(&sp, set, mt_spray_not_full(&sp, set, ANY), 8, &skipped);
}

TEST(mt_spray_pick_run, ends_when_its_port_has_enough_in_flight)
{
	uint16_t ev;

	make(16, 4, 16);
	ev = next_of_run();
	assert_u_eq(next_of_run(), ev);
	FULL = 1u << mt_ev_port(set, ev);
	assert_true(next_of_run() != ev);
}

/* Runs are as long as ever then, or each packet would cost a system call. */
TEST(mt_spray_pick_run, goes_on_where_all_ports_have_enough)
{
	uint16_t ev;

	make(16, 4, 16);
	FULL = 0xF;
	ev = next_of_run();
	for (uint32_t i = 1; i < 8; i++)
		assert_u_eq(next_of_run(), ev);
}
