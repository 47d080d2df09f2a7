/* SPDX-License-Identifier: BSD-2-Clause */
/* Detection and recovery: src/demo/measure.h. */
#include "demo/measure.h"

#include "support/test.h"

static struct demo_times t;
static struct demo_bad_evs bad;

/* A fault that struck at 1000. */
static int strike(void **state)
{
	(void)state;
	bad = (struct demo_bad_evs){0};
	demo_times_fault_begin(&t, 1000);
	return 0;
}

#define TIMES_TEST(function, name) TEST_WITH(strike, NULL, function, name)

static void retired(uint64_t at_ns)
{
	const struct mrc_stats_event e = {
		.at_ns = at_ns, .kind = MRC_STATS_EVENT_EV, .state = MRC_STATS_EV_ASSUMED_BAD};

	demo_times_event(&t, &bad, &e);
}

static void revived(uint64_t at_ns)
{
	const struct mrc_stats_event e = {
		.at_ns = at_ns, .kind = MRC_STATS_EVENT_EV, .state = MRC_STATS_EV_GOOD};

	demo_times_event(&t, &bad, &e);
}

TIMES_TEST(demo_times_event, finds_the_earliest_retirement_after_the_strike)
{
	retired(990); /* of the fault before, read late */
	assert_u_eq(t.found_ns, DEMO_NEVER);
	retired(1080);
	retired(1040); /* of another process */
	assert_u_eq(t.found_ns, 40);
	t.ended = 2000;
	retired(2005);
	assert_u_eq(t.found_ns, 40);
	assert_u_eq(bad.n, 4);
}

TIMES_TEST(demo_times_event, leaves_ports_and_the_time_before_any_fault_alone)
{
	const struct mrc_stats_event port = {.at_ns = 1001, .kind = MRC_STATS_EVENT_PORT};
	const struct mrc_stats_event ev = {.kind = MRC_STATS_EVENT_EV,
					   .state = MRC_STATS_EV_ASSUMED_BAD};

	demo_times_event(&t, &bad, &port);
	assert_u_eq(t.found_ns, DEMO_NEVER);
	demo_times_event(NULL, &bad, &ev);
	demo_times_fault_end(NULL, &bad);
	assert_u_eq(bad.n, 1);
}

TIMES_TEST(demo_times_fault_end, waits_until_the_last_ev_is_good)
{
	retired(1010);
	retired(1020);
	revived(1500); /* while the fault lasts */
	retired(1600);
	retired(1700);
	t.ended = 2000;
	revived(2070);
	demo_times_fault_end(&t, &bad);
	assert_u_eq(t.first_good_ns, 70);
	assert_u_eq(t.all_good_ns, DEMO_NEVER);
	revived(2090);
	revived(2085); /* of another process; what counts is the last */
	demo_times_fault_end(&t, &bad);
	assert_u_eq(t.first_good_ns, 70);
	assert_u_eq(t.all_good_ns, 90);
	retired(2200);
	revived(2300);
	demo_times_fault_end(&t, &bad);
	assert_u_eq(t.all_good_ns, 90);
}

TIMES_TEST(demo_times_fault_end, is_at_once_where_all_were_good_at_the_end)
{
	retired(1010);
	revived(1100);
	demo_times_fault_end(&t, &bad);
	assert_u_eq(t.all_good_ns, DEMO_NEVER); /* the fault still lasts */
	t.ended = 2000;
	demo_times_fault_end(&t, &bad);
	assert_u_eq(t.all_good_ns, 0);
	assert_u_eq(t.first_good_ns, DEMO_NEVER);
}

TIMES_TEST(demo_times_fault_end, says_nothing_when_events_were_missed)
{
	revived(1500); /* which nobody has seen retired */
	t.ended = 2000;
	demo_times_fault_end(&t, &bad);
	assert_true(bad.uncertain);
	assert_u_eq(t.all_good_ns, DEMO_NEVER);
}

TIMES_TEST(demo_times_left, takes_the_last_hit_of_a_steady_fault)
{
	demo_times_left(&t, 0);
	assert_u_eq(t.left_ns, DEMO_NEVER);
	demo_times_left(&t, 999); /* a clock read just before the strike */
	assert_u_eq(t.left_ns, 0);
	demo_times_left(&t, 1300);
	assert_u_eq(t.left_ns, 300);
}

TIMES_TEST(demo_times_left, takes_the_longest_of_a_fault_that_flaps)
{
	demo_times_left(&t, 1300);
	t.down = 5000;
	demo_times_left(&t, 1300); /* it took nothing this time */
	assert_u_eq(t.left_ns, 300);
	t.down = 6000;
	demo_times_left(&t, 6400);
	assert_u_eq(t.left_ns, 400);
}

TEST(demo_times_text, has_a_digit_behind_the_point_where_that_says_something)
{
	char text[DEMO_TIMES_TEXT];

	assert_string_equal(demo_times_text(text, 4240000), "4.2 ms");
	assert_string_equal(demo_times_text(text, 9949999), "9.9 ms");
	assert_string_equal(demo_times_text(text, 9950000), "10 ms");
	assert_string_equal(demo_times_text(text, 1234000000), "1234 ms");
	assert_string_equal(demo_times_text(text, DEMO_NEVER), "-");
}

TEST(demo_lateness, has_mean_and_maximum)
{
	struct demo_lateness l = {0};

	assert_u_eq(demo_lateness_mean(&l), 0);
	demo_lateness_add(&l, 100, 90);
	demo_lateness_add(&l, 100, 130);
	assert_u_eq(demo_lateness_mean(&l), 15);
	assert_u_eq(l.max_ns, 30);
}
