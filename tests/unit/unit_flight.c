/* SPDX-License-Identifier: BSD-2-Clause */
/* How many packets a port may have in flight. REQ(req.spray.flight) */
#include "support/test.h"

#include "core/ev/flight.h"

#define RTT 1000u
#define LEAST 4u

static const struct mt_flight_bounds bounds = {.smoothed_ns = RTT, .least = LEAST, .share = 1000};

static struct mt_flight fresh(void)
{
	struct mt_flight f;

	mt_flight_init(&f);
	return f;
}

/* n packets leave together at `at`, and arrive at `first`, one each gap_ns; how many rounds end. */
static unsigned burst(struct mt_flight *f, const struct mt_flight_bounds *b, unsigned n,
		      uint64_t at, uint64_t first, uint64_t gap_ns)
{
	unsigned rounds = 0;

	for (unsigned i = 0; i < n; i++)
		mt_flight_sent(f);
	for (unsigned i = 0; i < n; i++) {
		uint64_t now = first + i * gap_ns;

		if (!mt_flight_arrived(f, at, now))
			continue;
		rounds++;
		mt_flight_end_round(f, now, b);
	}
	return rounds;
}

/* A port with `flying` packets in flight whose link takes gap_ns for one, and base_ns besides. */
static void play(struct mt_flight *f, const struct mt_flight_bounds *b, unsigned flying,
		 unsigned packets, uint64_t gap_ns, uint64_t base_ns, uint64_t *now)
{
	uint64_t sent[256], free_ns = *now;
	unsigned head = 0, tail = 0;

	assert_true(flying < 256);
	for (unsigned i = 0; i < packets; i++) {
		uint64_t at;

		while (tail - head < flying && (tail == head || !mt_flight_is_enough(f))) {
			sent[tail++ % 256] = *now;
			mt_flight_sent(f);
		}
		at = sent[head % 256] + base_ns;
		free_ns = (free_ns + gap_ns > at ? free_ns + gap_ns : at);
		*now = free_ns;
		if (mt_flight_arrived(f, sent[head++ % 256], *now))
			mt_flight_end_round(f, *now, b);
	}
	while (head < tail) {
		mt_flight_left(f);
		head++;
	}
}

TEST(mt_flight_init, no_limit)
{
	struct mt_flight f = fresh();

	for (unsigned i = 0; i < 1000; i++)
		mt_flight_sent(&f);
	assert_false(mt_flight_is_enough(&f));
	assert_u_eq(f.packets, 1000);
}

TEST(mt_flight_arrived, a_round_ends_with_what_was_sent_in_it)
{
	struct mt_flight f = fresh();

	assert_u_eq(burst(&f, &bounds, 10, 100, 1100, 10), 0);
	mt_flight_sent(&f);
	mt_flight_sent(&f);
	assert_false(mt_flight_arrived(&f, 1200, 2200)); /* the port was idle: it begins here */
	assert_true(mt_flight_arrived(&f, 2200, 3200));
}

TEST(mt_flight_arrived, what_came_at_an_unknown_time_counts_for_the_rate)
{
	struct mt_flight f = fresh();

	for (unsigned i = 0; i < 12; i++)
		mt_flight_sent(&f);
	assert_false(mt_flight_arrived(&f, 100, 1100));
	for (unsigned i = 0; i < 9; i++)
		assert_false(mt_flight_arrived(&f, 0, 0));
	assert_true(mt_flight_arrived(&f, 1100, 2100));
	mt_flight_end_round(&f, 2100, &bounds);
	assert_u_eq(f.gap_ns, 100);
	assert_u_eq(f.packets, 1);
}

/* The clock of a packet that came may be behind that of one that left. */
TEST(mt_flight_arrived, before_it_was_sent)
{
	struct mt_flight f = fresh();

	mt_flight_sent(&f);
	mt_flight_sent(&f);
	assert_false(mt_flight_arrived(&f, 500, 400));
	assert_true(mt_flight_arrived(&f, 500, 450));
	assert_u_eq(f.least_ns, 0);
}

/* A packet each 100 ns, and two round trips of 1,000. */
TEST(mt_flight_end_round, as_many_as_arrive_in_two_round_trips)
{
	struct mt_flight f = fresh();
	uint64_t now = 1;

	play(&f, &bounds, 60, 200, 100, 500, &now);
	assert_u_eq(f.gap_ns, 100);
	assert_u_eq(f.most, 20);
}

TEST(mt_flight_end_round, never_less_than_the_least)
{
	struct mt_flight f = fresh();
	uint64_t now = 1;

	play(&f, &bounds, 60, 400, 3000, 500, &now);
	assert_true(f.most >= LEAST && f.most <= LEAST + 1);
}

TEST(mt_flight_end_round, no_more_than_the_share)
{
	const struct mt_flight_bounds narrow = {.smoothed_ns = RTT, .least = LEAST, .share = 12};
	struct mt_flight f = fresh();
	uint64_t now = 1;

	play(&f, &narrow, 60, 200, 10, 500, &now);
	assert_u_eq(f.most, 12);
}

TEST(mt_flight_end_round, no_limit_before_the_round_trip_is_known)
{
	const struct mt_flight_bounds unknown = {.least = LEAST, .share = UINT16_MAX};
	struct mt_flight f = fresh();
	uint64_t now = 1;

	play(&f, &unknown, 60, 200, 100, 500, &now);
	assert_u_eq(f.most, UINT16_MAX);
}

/* 10,000 ns long and 100 a packet: 100 in flight are what it takes, and it gets there. */
TEST(mt_flight_end_round, a_long_plane_grows_to_what_it_carries)
{
	struct mt_flight f = fresh();
	uint64_t now = 1;

	play(&f, &bounds, 60, 200, 100, 500, &now);
	assert_u_eq(f.most, 20);
	play(&f, &bounds, 200, 4000, 100, 10000, &now);
	assert_true(f.most >= 100 && f.most <= 130);
	assert_true(f.base_ns >= 10000 && f.base_ns <= 10100);
}

/* 10 packets in flight make 1,000 ns; what it queues itself is no length of the plane. */
TEST(mt_flight_end_round, a_slow_plane_does_not_grow)
{
	struct mt_flight f = fresh();
	uint64_t now = 1;

	play(&f, &bounds, 200, 4000, 600, 500, &now);
	assert_true(f.most >= LEAST && f.most <= 6);
}

TEST(mt_flight_end_round, a_plane_that_recovers_is_used_at_once)
{
	struct mt_flight f = fresh();
	uint64_t now = 1;

	play(&f, &bounds, 200, 400, 3000, 500, &now);
	assert_true(f.most <= LEAST + 1);
	play(&f, &bounds, 200, 400, 20, 500, &now);
	assert_true(f.most >= 50);
}

/* As it is when a round that began at 1000 ends after so long with one arrival. */
static void end_round(struct mt_flight *f, uint64_t after_ns, uint32_t least_ns)
{
	f->arrived = 1;
	f->round_ns = 1000;
	f->least_ns = least_ns;
	mt_flight_end_round(f, 1000 + after_ns, &bounds);
}

/* Two clocks may differ, and packets arrive together. */
TEST(mt_flight_end_round, a_round_without_time)
{
	struct mt_flight f = fresh();

	end_round(&f, 0, RTT);
	assert_u_eq(f.gap_ns, 1);
	end_round(&f, 77, RTT);
	assert_u_eq(f.gap_ns, 77);
	end_round(&f, (uint64_t)-1, RTT);
	assert_u_eq(f.gap_ns, 1);
	end_round(&f, UINT64_C(1) << 33, RTT);
	assert_u_eq(f.gap_ns, UINT32_MAX);
}

/* With more than the least in flight an RTT says no more than that the plane is no longer. */
TEST(mt_flight_end_round, which_rtt_is_the_base)
{
	struct mt_flight f = {.most = 100};

	end_round(&f, 100, 8000);
	assert_u_eq(f.base_ns, 8000);
	assert_u_eq(f.age, 0);
	end_round(&f, 100, 9001);
	end_round(&f, 100, 9001);
	assert_u_eq(f.age, 2);
	end_round(&f, 100, 9000); /* an eighth more is about the same */
	assert_u_eq(f.age, 0);
	assert_u_eq(f.base_ns, 8000);
	end_round(&f, 100, 9001);
	end_round(&f, 100, 7999);
	assert_u_eq(f.age, 0);
	assert_u_eq(f.base_ns, 7999);
	f.most = LEAST;
	end_round(&f, 100, 20000);
	assert_u_eq(f.base_ns, 20000);
}

/* What little is sent then says nothing of the rate. */
TEST(mt_flight_end_round, the_base_is_looked_for_after_eight_rounds)
{
	struct mt_flight f = {.most = 100, .base_ns = 8000, .gap_ns = 100};

	for (unsigned i = 0; i < 7; i++)
		end_round(&f, 100, 16000);
	assert_u_eq(f.most, 100);
	end_round(&f, 100, 16000);
	assert_u_eq(f.most, LEAST);
	end_round(&f, 5000, 16000);
	assert_u_eq(f.base_ns, 16000);
	assert_u_eq(f.gap_ns, 100);
	assert_u_eq(f.most, 200);
	end_round(&f, 5000, 16000);
	assert_u_eq(f.gap_ns, 100);
	end_round(&f, 200, 16000);
	assert_u_eq(f.gap_ns, 200);
}

/* 1,600 ns and a quarter are two round trips. */
TEST(mt_flight_end_round, a_short_base_is_not_looked_for)
{
	struct mt_flight f = {.most = 20, .base_ns = 1600};

	for (unsigned i = 0; i < 20; i++) {
		end_round(&f, 100, 16000);
		assert_u_eq(f.most, 20);
		assert_u_eq(f.age, 0);
	}
	f.base_ns = 1604;
	end_round(&f, 100, 16000);
	assert_u_eq(f.age, 1);
}

TEST(mt_flight_end_round, no_more_than_it_can_count)
{
	const struct mt_flight_bounds wide = {
		.smoothed_ns = 100000, .least = LEAST, .share = 80000};
	struct mt_flight f = {.most = 100, .arrived = 1, .round_ns = 1, .least_ns = 1000};

	mt_flight_end_round(&f, 2, &wide);
	assert_u_eq(f.most, UINT16_MAX);
}

TEST(mt_flight_end_round, packets_a_nanosecond_apart)
{
	const struct mt_flight_bounds quick = {.smoothed_ns = 1, .least = LEAST, .share = 1000};
	struct mt_flight f = {.most = 100, .arrived = 1, .round_ns = 1, .least_ns = 40};

	mt_flight_end_round(&f, 2, &quick);
	assert_u_eq(f.most, 50);
}
