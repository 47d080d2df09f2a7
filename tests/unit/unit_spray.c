/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which EV is next: rounds, ports, EVs that are skipped, EVs to avoid, and EVs of control
 * packets.
 */
#include "support/test.h"

#include "base/bits.h"
#include "core/ev/spray.h"
#include "unit/cold_pool.h"

#define EVS_MAX 130u
#define ANY UINT32_MAX

static struct mt_ev_set *set;
static struct mt_spray sp;
static uint64_t place[256];
static uint32_t skipped;

/* Numbers of paths for the next set; NULL: each EV is its own. */
static const uint16_t *group_ids;
/* Whether a controller has ordered the EVs of the next set. */
static bool ordered;

static void attach(void)
{
	assert_true(mt_spray_size(MT_PORTS_MAX, set->n_evs) <= sizeof(place));
	mt_spray_attach(&sp, place, MT_PORTS_MAX, set->n_evs);
}

/* A set of n EVs, port = index % ports, the first n_active of them in the rotation. */
static void make(uint16_t n, uint32_t ports, uint16_t n_active)
{
	static struct mt_ev evs[EVS_MAX];
	struct mt_ev_profile_cfg cfg = {
		.evs = evs,
		.group_ids = group_ids,
		.ordered = ordered,
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
	attach();
	skipped = 0;
}

static uint16_t next(uint32_t ports, uint16_t avoid)
{
	return mt_spray_pick(&sp, set, ports, avoid, &skipped);
}

static void retire(uint16_t path)
{
	struct mt_ev_change changes[2];

	mt_ev_retire(set, path, 0, MT_EV_BY_LOSS, changes);
}

static uint16_t next_run(uint32_t ports, uint32_t max_run)
{
	return mt_spray_pick_run(&sp, set, ports, max_run, &skipped);
}

/* REQ(req.spray.rotation) */
TEST(mt_spray_pick_run, keeps_to_one_ev_for_the_length_of_a_run)
{
	uint32_t seen = 0;

	make(8, 2, 8);
	for (int run = 0; run < 8; run++) {
		uint16_t path = next_run(ANY, 5);

		for (int i = 1; i < 5; i++)
			assert_u_eq(next_run(ANY, 5), path);
		assert_u_eq(seen >> path & 1, 0);
		seen |= 1u << path;
	}
	assert_u_eq(seen, 0xFF);
}

TEST(mt_spray_pick_run, of_one_is_plain_rotation)
{
	uint16_t path = 99;

	make(8, 1, 8);
	for (int i = 0; i < 40; i++) {
		uint16_t other = next_run(ANY, 1);

		assert_true(other != path || i % 8 == 0);
		path = other;
	}
}

TEST(mt_spray_pick_run, ends_when_its_path_is_marked_bad_or_without_room)
{
	uint16_t path;

	make(8, 2, 8);
	path = next_run(ANY, 64);
	mt_spray_skip_once(&sp, set, path);
	assert_true(next_run(ANY, 64) != path);
	path = next_run(ANY, 64);
	retire(path);
	assert_true(next_run(ANY, 64) != path);
	path = next_run(ANY, 64);
	assert_true(next_run(1u << (path % 2 == 0), 64) % 2 != path % 2);
	assert_u_eq(next_run(0, 64), MT_EV_NONE);
	assert_true(next_run(ANY, 64) < 8);
}

/* REQ(ep.port.survive) */
TEST(mt_spray_pick_run, ends_when_its_port_is_left)
{
	uint16_t path;

	make(8, 2, 8);
	path = next_run(ANY, 64);
	set->open_ports = ANY & ~(1u << path % 2);
	for (int i = 0; i < 100; i++)
		assert_true(next_run(ANY, 64) % 2 != path % 2);
}

/* REQ(req.spray.rotation) */
TEST(mt_spray_pick, each_ev_once_a_lap)
{
	make(12, 2, 12);
	for (int pass_no = 0; pass_no < 20; pass_no++) {
		uint32_t seen = 0;

		for (int i = 0; i < 12; i++) {
			uint16_t path = next(ANY, MT_EV_NONE);

			assert_in_range(path, 0, 11);
			assert_u_eq(seen >> path & 1, 0);
			seen |= 1u << path;
		}
	}
}

/* REQ(req.spray.equal-planes) */
TEST(mt_spray_pick, ports_take_turns)
{
	uint8_t last = 0;

	make(12, 3, 12);
	last = mt_ev_port(set, next(ANY, MT_EV_NONE));
	for (int i = 0; i < 100; i++) {
		uint8_t port = mt_ev_port(set, next(ANY, MT_EV_NONE));

		assert_u_eq(port, (last + 1u) % 3);
		last = port;
	}
}

/* REQ(req.spray.order) */
TEST(mt_spray_pick, laps_and_seeds_differ)
{
	uint16_t order[3][16];
	bool laps_differ = false, seeds_differ = false;

	make(16, 1, 16);
	for (int run = 0; run < 3; run++) {
		if (run == 2)
			mt_spray_init(&sp, test_rand());
		attach();
		for (int i = 0; i < 16; i++)
			order[run][i] = next(ANY, MT_EV_NONE);
	}
	for (int i = 0; i < 16; i++) {
		laps_differ |= order[0][i] != order[1][i];
		seeds_differ |= order[0][i] != order[2][i];
	}
	assert_true(laps_differ);
	assert_true(seeds_differ);
}

/* A set of 16 EVs on two ports in a controller's order. */
static void make_ordered(void)
{
	ordered = true;
	make(16, 2, 16);
	ordered = false;
}

/* Says whether the next 16 packets take the EVs as the profile has them. */
static bool next_round_is_in_order(void)
{
	bool same = true;

	for (uint16_t i = 0; i < 16; i++)
		same &= next(ANY, MT_EV_NONE) == i;
	return same;
}

/* REQ(req.spray.in-order) */
TEST(mt_spray_pick, keeps_the_order_of_a_controller)
{
	make_ordered();
	for (int round = 0; round < 8; round++)
		assert_true(next_round_is_in_order());
}

/* REQ(req.spray.in-order) */
TEST(mt_spray_pick, begins_narrow_rounds_with_the_first_of_the_order)
{
	make_ordered();
	mt_spray_set_width(&sp, 8, 2);
	for (uint16_t i = 0; i < 64; i++)
		assert_u_eq(next(ANY, MT_EV_NONE), i % 8);
}

/* REQ(req.spray.in-order) */
TEST(mt_spray_pick, leaves_the_order_when_it_hears_of_a_queue)
{
	for (int trimmed = 0; trimmed < 2; trimmed++) {
		int in_order = 0;

		make_ordered();
		assert_true(next_round_is_in_order());
		if (trimmed)
			mt_spray_leave_order(&sp);
		else
			mt_spray_skip_once(&sp, set, 3);
		for (int i = 0; i < 15 && !trimmed; i++)
			next(ANY, MT_EV_NONE); /* the round that passes over it */
		for (int round = 0; round < 8; round++)
			in_order += next_round_is_in_order();
		assert_true(in_order < 2);
	}
}

/* REQ(req.spray.in-order) */
TEST(mt_spray_pick, leaves_the_order_of_a_port_that_lost_an_ev)
{
	uint32_t odd = 0;

	make_ordered();
	retire(2);
	for (int i = 0; i < 160; i++) {
		uint16_t ev = next(ANY, MT_EV_NONE);

		assert_u_eq(ev % 2, (uint32_t)i % 2);
		if (ev % 2)
			assert_u_eq(ev, 2 * (odd++ % 8) + 1);
	}
}

/* REQ(req.spray.port-room) */
TEST(mt_spray_pick, only_ports_with_room)
{
	make(12, 3, 12);
	for (uint32_t mask = 1; mask < 8; mask++)
		for (int i = 0; i < 20; i++)
			assert_true(mask >> mt_ev_port(set, next(mask, MT_EV_NONE)) & 1);
	assert_u_eq(next(0, MT_EV_NONE), MT_EV_NONE);
	assert_u_eq(next(~7u, MT_EV_NONE), MT_EV_NONE);
}

TEST(mt_spray_pick, only_active_ones)
{
	make(12, 2, 8);
	for (int i = 0; i < 50; i++)
		assert_in_range(next(ANY, MT_EV_NONE), 0, 7);
}

/* REQ(req.ev.skip-once) */
TEST(mt_spray_pick, one_turn_is_skipped)
{
	uint32_t seen = 0;

	make(8, 1, 8);
	mt_spray_skip_once(&sp, set, 3);
	for (int i = 0; i < 7; i++)
		seen |= 1u << next(ANY, MT_EV_NONE);
	if (skipped == 0) { /* it was to be the last of the round */
		next(ANY, MT_EV_NONE);
		assert_u_eq(skipped, 1);
	}
	assert_u_eq(seen, 0xFF & ~(1u << 3));
	assert_u_eq(skipped, 1);
	assert_false(mt_spray_skips(&sp, 3));
}

/* REQ(req.ev.skip-once) */
TEST(mt_spray_skip_once, only_a_good_one_and_for_this_qp_alone)
{
	struct mt_spray other;
	uint64_t others[256];

	make(8, 2, 8);
	mt_spray_init(&other, 1);
	mt_spray_skip_once(&other, set, 2); /* it has no place in the rotation */
	assert_false(mt_spray_skips(&other, 2));
	mt_spray_attach(&other, others, MT_PORTS_MAX, set->n_evs);
	mt_spray_skip_once(&sp, set, 2);
	assert_true(mt_spray_skips(&sp, 2));
	assert_false(mt_spray_skips(&other, 2));
	assert_u_eq(mt_ev_state_of(set, 2), MT_EV_GOOD);
	retire(3);
	mt_spray_skip_once(&sp, set, 3);
	mt_ev_deny(set, 4, true);
	mt_spray_skip_once(&sp, set, 4);
	for (uint16_t i = 0; i < 8; i++)
		assert_i_eq(mt_spray_skips(&sp, i), i == 2);
}

TEST(mt_spray_pick, all_skipped_are_used_all_the_same)
{
	make(4, 2, 4);
	for (uint16_t i = 0; i < 4; i++)
		mt_spray_skip_once(&sp, set, i);
	for (int i = 0; i < 8; i++)
		assert_in_range(next(ANY, MT_EV_NONE), 0, 3);
	assert_u_eq(skipped, 4);
}

static void skip_all_of_port(uint32_t port)
{
	for (uint16_t i = 0; i < set->n_evs; i++)
		if (mt_ev_port(set, i) == port)
			mt_spray_skip_once(&sp, set, i);
}

/* Three ports with four EVs each, of which those of port 0 are to be skipped; it has the turn. */
static void make_skipping(void)
{
	make(12, 3, 12);
	skip_all_of_port(0);
	sp.next_port = 0;
}

/* REQ(req.spray.skip-turn) */
TEST(mt_spray_pick, a_skip_costs_the_port_its_turn)
{
	static const uint8_t want[] = {1, 2, 1, 2, 1, 2, 1, 2, 0, 1, 2, 0};

	make_skipping();
	for (size_t i = 0; i < sizeof(want); i++)
		assert_u_eq(mt_ev_port(set, next(ANY, MT_EV_NONE)), want[i]);
	assert_u_eq(skipped, 4);
}

/* REQ(req.spray.skip-turn) */
TEST(mt_spray_pick, the_lost_turn_is_that_of_a_port_without_room)
{
	make_skipping();
	assert_u_eq(next(1, MT_EV_NONE), MT_EV_NONE);
	assert_u_eq(skipped, 1);
	assert_u_eq(mt_ev_port(set, next(1 | 2, MT_EV_NONE)), 1);
	assert_u_eq(mt_ev_port(set, next(1 | 4, MT_EV_NONE)), 2);
	assert_u_eq(skipped, 1);
}

/* REQ(req.spray.skip-turn) */
TEST(mt_spray_pick, the_lost_turn_is_that_of_a_single_ev_without_room)
{
	make(2, 2, 2);
	mt_spray_skip_once(&sp, set, 1);
	assert_u_eq(next(2, MT_EV_NONE), MT_EV_NONE);
	assert_u_eq(skipped, 1);
	assert_u_eq(next(2, MT_EV_NONE), 1);
}

/* REQ(req.spray.skip-turn) */
TEST(mt_spray_pick, no_turn_is_lost_to_a_port_that_cannot_have_it)
{
	make_skipping();
	for (uint16_t i = 1; i < 12; i += 3)
		mt_ev_deny(set, i, true);
	set->open_ports &= ~4u;
	assert_u_eq(mt_ev_port(set, next(1, MT_EV_NONE)), 0);
	assert_u_eq(skipped, 4);
}

/* REQ(req.spray.skip-turn) */
TEST(mt_spray_pick, no_turn_is_lost_to_a_port_out_of_the_rotation)
{
	make(12, 3, 1);
	mt_spray_skip_once(&sp, set, 0);
	assert_u_eq(mt_ev_port(set, next(1, MT_EV_NONE)), 0);
	assert_u_eq(skipped, 1);
}

/* REQ(req.ev.denied) */
TEST(mt_spray_pick, neither_bad_nor_denied)
{
	make(6, 2, 6);
	retire(0);
	mt_ev_deny(set, 2, true);
	mt_ev_deny(set, 3, true);
	for (int i = 0; i < 60; i++) {
		uint16_t path = next(ANY, MT_EV_NONE);

		assert_true(path == 1 || path == 4 || path == 5);
	}
	mt_ev_deny(set, 4, true);
	assert_u_eq(next(1, MT_EV_NONE), MT_EV_NONE); /* all of port 0 */
}

/* REQ(req.rtx.other-ev) */
TEST(mt_spray_pick, avoids_while_there_is_another)
{
	make(6, 2, 6);
	for (int i = 0; i < 60; i++)
		assert_true(next(ANY, 4) != 4);
	for (uint16_t i = 0; i < 4; i++)
		retire(i);
	for (int i = 0; i < 10; i++)
		assert_u_eq(next(ANY, 4), 5);
	assert_u_eq(next(1, 4), MT_EV_NONE); /* port 1 will have room some time */
	retire(5);
	assert_u_eq(next(ANY, 4), 4);
	assert_u_eq(next(2, 4), MT_EV_NONE);
}

TEST(mt_spray_pick, a_backup_when_the_active_one_is_to_be_avoided)
{
	make(2, 1, 1);
	for (int i = 0; i < 5; i++) {
		assert_u_eq(next(ANY, 0), 1);
		assert_u_eq(next(ANY, MT_EV_NONE), 0);
	}
}

TEST(mt_spray_pick, ends_the_skip_of_a_backup)
{
	make(4, 1, 1);
	for (uint16_t i = 1; i < 4; i++)
		mt_spray_skip_once(&sp, set, i);
	for (int i = 0; i < 5; i++) {
		uint16_t path = next(ANY, 0);

		assert_in_range(path, 1, 3);
		mt_spray_skip_once(&sp, set, path);
	}
}

TEST(mt_spray_pick, finds_the_only_other_whatever_the_order)
{
	for (int run = 0; run < 200; run++) {
		make(2, 1, 2);
		if (run % 2)
			next(ANY, MT_EV_NONE); /* begin in the middle of a round */
		mt_spray_skip_once(&sp, set, 1);
		assert_u_eq(next(ANY, 0), 1);
	}
}

/* ---- tail probes ---- */

/* Picks `n` EVs for tail probes, which must differ, and returns them as a mask. */
static uint64_t tail(uint32_t n, uint32_t want)
{
	uint16_t picked[16];
	uint64_t mask = 0;

	assert_u_eq(mt_spray_pick_tail(&sp, set, n, picked), want);
	for (uint32_t i = 0; i < want; i++) {
		assert_u_eq(mask >> picked[i] & 1, 0);
		mask |= UINT64_C(1) << picked[i];
	}
	return mask;
}

/* REQ(req.probe.tail) */
TEST(mt_spray_pick_tail, different_ones_on_all_ports_alike)
{
	uint64_t seen = 0;

	make(24, 3, 6);
	for (int i = 0; i < 1000; i++) {
		uint64_t one = tail(1, 1), six = tail(6, 6), all = tail(16, 16);

		for (uint32_t p = 0; p < 3; p++) {
			uint64_t of_port = UINT64_C(0x249249) << p; /* every third */

			assert_u_eq(mb_popcount64(six & of_port), 2);
			assert_u_between(mb_popcount64(all & of_port), 5, 6);
		}
		seen |= one;
	}
	assert_u_eq(seen, 0xFFFFFF);
}

TEST(mt_spray_pick_tail, the_known_one_of_each_port_first)
{
	make(12, 3, 6);
	mt_reverse_ev_set(set, 6, 0);
	mt_reverse_ev_set(set, 7, 0);
	mt_reverse_ev_set(set, 8, 0);
	for (int i = 0; i < 20; i++) {
		assert_u_eq(mb_popcount64(tail(2, 2) & (1u << 6 | 1u << 7 | 1u << 8)), 2);
		assert_u_eq(tail(4, 4) & (1u << 6 | 1u << 7 | 1u << 8),
			    1u << 6 | 1u << 7 | 1u << 8);
	}
}

TEST(mt_spray_pick_tail, usable_ones_of_ports_that_are_open)
{
	make(12, 3, 6);
	mt_reverse_ev_set(set, 0, 0);
	for (uint16_t i = 0; i < 12; i += 3)
		if (i != 6)
			retire(i);
	set->open_ports = 1u << 0 | 1u << 1;
	for (int i = 0; i < 20; i++) {
		assert_u_eq(tail(16, 5) & ~UINT64_C(0x492), 1u << 6);
		assert_u_eq(tail(2, 2) & ~UINT64_C(0x492), 1u << 6);
	}
	set->open_ports = 0;
	tail(16, 0);
}

TEST(mt_spray_pick_tail, a_bad_one_rather_than_none)
{
	make(4, 2, 4);
	for (uint16_t i = 0; i < 4; i++)
		mt_ev_deny(set, i, true);
	for (int i = 0; i < 20; i++)
		tail(16, 1);
}

TEST(mt_spray_pick_control, from_the_port_asked_for)
{
	make(12, 3, 6);
	for (uint8_t i = 0; i < 60; i++)
		assert_u_eq(mt_ev_port(set, mt_spray_pick_control(&sp, set, i % 3)), i % 3);
}

TEST(mt_spray_pick_control, uses_all_usable_ones)
{
	uint32_t seen = 0;

	make(8, 2, 2);
	mt_spray_skip_once(&sp, set, 2); /* congested is good enough for a small packet */
	retire(4);
	for (int i = 0; i < 200; i++)
		seen |= 1u << mt_spray_pick_control(&sp, set, 0);
	assert_u_eq(seen, 1u << 0 | 1u << 2 | 1u << 6);
}

TEST(mt_spray_pick_control, another_port_when_all_of_it_are_bad)
{
	make(4, 2, 4);
	retire(0);
	retire(2);
	for (int i = 0; i < 20; i++)
		assert_u_eq(mt_ev_port(set, mt_spray_pick_control(&sp, set, 0)), 1);
}

TEST(mt_spray_pick_control, a_bad_one_rather_than_none)
{
	make(4, 2, 4);
	for (uint16_t i = 0; i < 4; i++)
		mt_ev_deny(set, i, true);
	for (int i = 0; i < 20; i++)
		assert_u_eq(mt_ev_port(set, mt_spray_pick_control(&sp, set, 1)), 1);
}

TEST(mt_spray_pick_control, no_ev_on_that_port)
{
	static const struct mt_ev one[] = {{7, 1}};
	struct mt_ev_profile_cfg cfg = {.evs = one, .n_evs = 1, .n_active = 1, .min_active = 1};

	set = cold_ev_set(&cfg, 2);
	mt_spray_init(&sp, 1);
	attach();
	assert_u_eq(mt_spray_pick_control(&sp, set, 0), 0);
	mt_ev_deny(set, 0, true);
	assert_u_eq(mt_spray_pick_control(&sp, set, 0), 0);
}

/* ---- how wide a round is ---- */

/* The EVs that `n` packets take. */
static uint32_t used(int n)
{
	uint32_t seen = 0;

	for (int i = 0; i < n; i++)
		seen |= 1u << next(ANY, MT_EV_NONE);
	return seen;
}

/* REQ(req.spray.width) */
TEST(mt_spray_set_width, one_to_two_windows_of_evs)
{
	for (uint32_t window = 1; window < 40; window++) {
		uint32_t evs, pass_no;

		make(32, 2, 32);
		used(1); /* a round that has begun goes on */
		assert_true(sp.round_began);
		mt_spray_set_width(&sp, window, 2);
		assert_false(sp.round_began);
		used(63);
		evs = (uint32_t)mb_popcount64(used(640));
		pass_no = window > 32 ? 32 : window < 2 ? 2 : window;
		assert_u_between(evs, pass_no, 2 * pass_no);
	}
}

TEST(mt_spray_set_width, the_same_evs_each_lap_and_equal_shares)
{
	uint32_t seen, count[2] = {0};

	make(32, 2, 32);
	mt_spray_set_width(&sp, 8, 2);
	used(64);
	seen = used(8);
	assert_i_eq(mb_popcount64(seen), 8);
	for (uint16_t i = 0; i < 32; i++)
		count[i % 2] += seen >> i & 1;
	assert_u_eq(count[0], 4);
	for (int pass_no = 0; pass_no < 20; pass_no++)
		assert_u_eq(used(8), seen);
}

TEST(mt_spray_set_width, a_wider_window_takes_more_again)
{
	make(32, 2, 32);
	mt_spray_set_width(&sp, 2, 2);
	used(64);
	assert_i_eq(mb_popcount64(used(64)), 2);
	mt_spray_set_width(&sp, UINT64_MAX, 2);
	used(64);
	assert_u_eq(used(32), UINT32_MAX);
}

/* What a narrow round lacks is taken from the others. */
TEST(mt_spray_set_width, a_lap_of_bad_evs_is_left)
{
	uint32_t seen;

	make(32, 1, 32);
	mt_spray_set_width(&sp, 4, 1);
	used(64);
	seen = used(4);
	for (uint16_t i = 0; i < 32; i++)
		if (seen >> i & 1)
			retire(i);
	assert_u_eq(used(100) & seen, 0);
	assert_true(mb_popcount64(used(100)) > 8);
}

/* ---- EVs of one path ---- */

/* REQ(req.ev.same-path) REQ(req.rtx.other-ev) */
TEST(mt_spray_pick, avoids_the_path_and_not_only_the_ev)
{
	static const uint16_t ids[4] = {0, 0, 1, 0};

	group_ids = ids;
	make(4, 1, 4);
	group_ids = NULL;
	for (int i = 0; i < 20; i++)
		assert_u_eq(next(ANY, 3), 2);
	retire(2);
	assert_true(next(ANY, 3) != MT_EV_NONE); /* there is no other path */
	assert_true(next(ANY, 3) != 2);
	mt_ev_deny(set, 3, true);
	assert_true(next(ANY, 3) != 3);
	assert_u_eq(next(0, 3), MT_EV_NONE);
}

TEST(mt_spray_skips_size, a_bit_for_each_ev)
{
	assert_u_eq(mt_spray_skips_size(1), 8);
	assert_u_eq(mt_spray_skips_size(64), 8);
	assert_u_eq(mt_spray_skips_size(65), 16);
}

/* REQ(req.ev.skip-once) */
TEST(mt_spray_skip_once, each_ev_has_a_bit_of_its_own)
{
	static const uint16_t some[] = {0, 1, 63, 64, 65, 127, 128, 129};

	make(EVS_MAX, 2, EVS_MAX);
	for (size_t k = 0; k < 8; k++) {
		mt_spray_skip_once(&sp, set, some[k]);
		for (uint16_t ev = 0; ev < EVS_MAX; ev++)
			assert_i_eq(mt_spray_skips(&sp, ev), ev == some[k]);
		for (uint32_t i = 0; i < 2 * EVS_MAX && mt_spray_skips(&sp, some[k]); i++)
			next(ANY, MT_EV_NONE);
		for (uint16_t ev = 0; ev < EVS_MAX; ev++)
			assert_false(mt_spray_skips(&sp, ev));
	}
}

TEST(mt_spray_pick, a_backup_used_for_want_of_another_has_been_skipped)
{
	make(2, 1, 1);
	mt_spray_skip_once(&sp, set, 1);
	assert_u_eq(next(ANY, 0), 1);
	assert_false(mt_spray_skips(&sp, 1));
}

TEST(mt_spray_attach, the_first_round_asks_how_wide_it_is_to_be)
{
	make(4, 1, 4);
	assert_true(sp.round_began);
}

/* A QP that found no room goes on in the rotation, not with the first EV. */
TEST(mt_spray_pick_run, after_no_room_the_rotation_goes_on)
{
	make(8, 2, 8);
	sp.next_port = 1;
	assert_u_eq(next_run(0, 4), MT_EV_NONE);
	assert_u_eq(mt_ev_port(set, next_run(ANY, 4)), 1);
}

TEST(mt_spray_pick_probe, a_usable_one_or_else_any_of_the_port)
{
	make(3, 2, 3); /* 0 and 2 are of port 0, 1 alone of port 1 */
	for (uint16_t from = 0; from < 4; from++)
		assert_u_eq(mt_spray_pick_probe(set, 1, from), 1);
	retire(0);
	for (uint16_t from = 0; from < 4; from++)
		assert_u_eq(mt_spray_pick_probe(set, 0, from), 2);
	retire(1);
	assert_u_eq(mt_spray_pick_probe(set, 1, 5), 1); /* bad, for want of another */
	make(1, 2, 1);
	assert_u_eq(mt_spray_pick_probe(set, 1, 0), MT_EV_NONE);
}

TEST(mt_spray_pick_control, a_bad_one_of_the_only_port_that_is_open)
{
	make(4, 2, 4);
	for (uint16_t i = 0; i < 4; i++)
		mt_ev_deny(set, i, true);
	for (uint32_t port = 0; port < 2; port++) {
		set->open_ports = 1u << port;
		assert_u_eq(mt_spray_pick_control(&sp, set, 0) % 2, port);
		assert_u_eq(mt_spray_pick_control(&sp, set, 1) % 2, port);
	}
}

TEST(mt_spray_set_width, one_at_least_and_no_more_than_there_can_be)
{
	mt_spray_set_width(&sp, 0, 1);
	assert_u_eq(sp.width, 1);
	mt_spray_set_width(&sp, UINT64_MAX, 1);
	assert_u_eq(sp.width, MT_EVS_MAX);
	mt_spray_set_width(&sp, MT_EVS_MAX, 2);
	assert_u_eq(sp.width, MT_EVS_MAX / 2);
}

/* The time at which it was proved may be the first of all. */
TEST(mt_reverse_ev_newest, one_that_was_proved_at_the_very_beginning)
{
	make(8, 2, 8);
	assert_u_eq(mt_reverse_ev_newest(set, ANY, MT_EV_NONE), MT_EV_NONE);
	mt_reverse_ev_set(set, 4, 0);
	assert_u_eq(mt_reverse_ev_newest(set, ANY, MT_EV_NONE), 4);
	mt_reverse_ev_set(set, 3, 1);
	assert_u_eq(mt_reverse_ev_newest(set, ANY, MT_EV_NONE), 3);
	assert_u_eq(mt_reverse_ev_newest(set, 1u << 0, MT_EV_NONE), 4);
	assert_u_eq(mt_reverse_ev_newest(set, ANY, 3), 4);
}

/* Half of 32 of the shortest waits for an answer, or of the round trip if that is longer. */
TEST(mt_reverse_ev_is_due_soon, from_half_of_the_wait_on)
{
	struct mt_timing t = {.tail_probe_min_ns = 100};

	make(8, 2, 8);
	set->probe_rtt_ns = 0;
	set->reverse_ev_next_ns = 5000;
	assert_false(mt_reverse_ev_is_due_soon(set, &t, 5000 - 1600 - 1));
	assert_true(mt_reverse_ev_is_due_soon(set, &t, 5000 - 1600));
	set->probe_rtt_ns = 4000;
	assert_false(mt_reverse_ev_is_due_soon(set, &t, 5000 - 2000 - 1));
	assert_true(mt_reverse_ev_is_due_soon(set, &t, 5000 - 2000));
}
