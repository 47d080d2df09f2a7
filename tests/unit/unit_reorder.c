/* SPDX-License-Identifier: BSD-2-Clause */
/* How far apart the EVs of a destination are. */
#include "support/test.h"

#include "core/ev/reorder.h"

static const struct mt_timing timing = {
	.reorder_min_ns = 5000,
	.reorder_max_ns = 100000,
};

/* EV 0 takes 10 us, EV 1 as long as is said. */
static struct mt_reorder two_evs(uint64_t slow_ns)
{
	struct mt_reorder r;

	mt_reorder_init(&r, 32);
	mt_reorder_sample(&r, 0, 10000);
	mt_reorder_sample(&r, 1, slow_ns);
	return r;
}

static void sample(struct mt_reorder *r, uint16_t ev, uint64_t rtt_ns, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		mt_reorder_sample(r, ev, rtt_ns);
}

/* REQ(req.loss.explicit) */
TEST(mt_reorder_window, longest_before_any_sample)
{
	struct mt_reorder r;

	mt_reorder_init(&r, 32);
	assert_u_eq(mt_reorder_window(&r, &timing), 100000);
}

TEST(mt_reorder_window, spread_and_a_quarter_between_its_bounds)
{
	struct mt_reorder even = two_evs(10000), some = two_evs(30000), wide = two_evs(910000);

	assert_u_eq(mt_reorder_window(&even, &timing), 5000);
	assert_u_eq(mt_reorder_window(&some, &timing), 25000);
	assert_u_eq(mt_reorder_window(&wide, &timing), 100000);
}

TEST(mt_reorder_window, what_a_port_may_hold_is_added)
{
	struct mt_reorder some = two_evs(30000);
	struct mt_timing t = timing;

	t.port_hold_ns = 7000;
	assert_u_eq(mt_reorder_window(&some, &t), 32000);
	t.port_hold_ns = 90000;
	assert_u_eq(mt_reorder_window(&some, &t), 100000);
}

/* REQ(req.loss.slowest-ev) */
TEST(mt_reorder_sample, other_evs_say_nothing_of_the_slowest)
{
	struct mt_reorder r = two_evs(30000);

	sample(&r, 0, 10000, 8 * 32);
	assert_u_eq(r.max_ns, 30000);
	mt_reorder_sample(&r, 1, 14000);
	assert_u_eq(r.max_ns, 22000);
	sample(&r, 0, 10000, 8 * 32);
	assert_u_eq(r.max_ns, 22000);
	sample(&r, 1, 14000, 100);
	assert_u_eq(r.max_ns, 14001);
}

TEST(mt_reorder_sample, a_slower_one_takes_its_place)
{
	struct mt_reorder r = two_evs(30000);

	mt_reorder_sample(&r, 2, 50000);
	sample(&r, 1, 10000, 100);
	assert_u_eq(r.max_ns, 50000);
	sample(&r, 2, 10000, 200);
	assert_u_eq(r.max_ns, 10001);
}

TEST(mt_reorder_sample, one_as_slow_takes_its_place)
{
	struct mt_reorder r = two_evs(30000);

	mt_reorder_sample(&r, 2, 30000);
	mt_reorder_sample(&r, 1, 10000);
	assert_u_eq(r.max_ns, 30000);
	mt_reorder_sample(&r, 2, 10000);
	assert_u_eq(r.max_ns, 20000);
}

TEST(mt_reorder_sample, what_is_no_longer_sampled_is_forgotten)
{
	struct mt_reorder r = two_evs(30000);

	sample(&r, 0, 10000, 8 * 32);
	assert_u_eq(r.max_ns, 30000);
	mt_reorder_sample(&r, 0, 10000);
	assert_u_eq(r.max_ns, 30000 - 20000 / 64);
	sample(&r, 0, 10000, 1000);
	assert_u_between(r.max_ns, 10000, 10100);
	assert_u_eq(r.min_ns, 10000);
}

TEST(mt_reorder_retire, its_sample_sinks_at_once)
{
	struct mt_reorder r = two_evs(30000);

	mt_reorder_retire(&r, 0);
	mt_reorder_sample(&r, 0, 10000);
	assert_u_eq(r.max_ns, 30000);
	mt_reorder_retire(&r, 1);
	mt_reorder_sample(&r, 0, 10000);
	assert_u_eq(r.max_ns, 30000 - 20000 / 64);
}

/* REQ(req.loss.unknown-ev) */
TEST(mt_reorder_window_unknown, several_round_trips_up_to_the_longest)
{
	struct mt_reorder r, even = two_evs(10000), wide = two_evs(80000);
	struct mt_timing t = timing;

	mt_reorder_init(&r, 32);
	assert_u_eq(mt_reorder_window_unknown(&r, &timing), 100000);
	assert_u_eq(mt_reorder_window_unknown(&even, &timing), 40000);
	assert_u_eq(mt_reorder_window_unknown(&wide, &timing), 87500);
	mt_reorder_init(&r, 32);
	mt_reorder_sample(&r, 0, 25000);
	assert_u_eq(mt_reorder_window_unknown(&r, &timing), 100000);
	t.reorder_max_ns = 100003;
	assert_u_eq(mt_reorder_window_unknown(&r, &t), 100003);
	mt_reorder_sample(&r, 0, 22000);
	assert_u_eq(mt_reorder_window_unknown(&r, &t), 88000);
}

TEST(mt_reorder_refresh, raises_nothing)
{
	struct mt_reorder r = two_evs(30000);

	mt_reorder_refresh(&r, 90000);
	assert_u_eq(r.max_ns, 30000);
	sample(&r, 0, 10000, 8 * 32);
	mt_reorder_refresh(&r, 30000);
	sample(&r, 0, 10000, 8 * 32);
	assert_u_eq(r.max_ns, 30000);
	mt_reorder_refresh(&r, 20000);
	assert_u_eq(r.max_ns, 25000);
	assert_u_eq(r.min_ns, 10000);
}
