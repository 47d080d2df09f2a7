/* SPDX-License-Identifier: BSD-2-Clause */
/* The model of the queue: limits, draining, classes, marks, counting. */
#include <math.h>
#include <time.h>

#include "bpf/fixture.h"
#include "support/test.h"

#define NO_TRIM 0
#define TRIMMABLE 4
#define CONTROL 46
#define ECT0 2
#define ECT1 1
#define CE 3

/* What HTB goes by. */
#define CLASS_CONTROL 0x10010u
#define CLASS_DATA 0x10020u

static enum fixture_verdict run(struct fixture *r, enum frame_form form, size_t len, uint8_t dscp,
				uint8_t ecn)
{
	struct frame f;

	frame_make(&f, form, len, dscp, ecn, 1);
	return fixture_run(r, &f);
}

TEST_WITH(fixture_setup, fixture_teardown, swq_egress, passes_a_port_without_a_queue)
{
	struct fixture *r = fixture_of(state);
	struct mswq_reading reading;
	struct mswq_error error;

	assert_int_equal(run(r, FRAME_INNER, 1514, TRIMMABLE, ECT0), FIXTURE_OK);
	assert_int_not_equal(mswq_read(r->swq, r->ifindex, &reading, &error), 0);
}

TEST_WITH(fixture_setup, fixture_teardown, swq_egress, data_limit_is_exact)
{
	struct fixture *r = fixture_of(state);

	fixture_slow(r, 1000 * 7 + 500, 0);
	for (int i = 0; i < 12; i++)
		assert_int_equal(run(r, FRAME_INNER, 1000, NO_TRIM, ECT0),
				 i < 7 ? FIXTURE_OK : FIXTURE_SHOT);
	assert_u_eq(fixture_read(r).full, 7);
	assert_u_eq(fixture_read(r).dropped, 5);
	assert_u_eq(fixture_read(r).sent_bytes, 7000);
	assert_u_eq(fixture_read(r).offered_bytes, 12000);
}

/* REQ(switch.control.first) REQ(switch.dscp.class) */
TEST_WITH(fixture_setup, fixture_teardown, swq_egress, control_has_room_of_its_own)
{
	struct fixture *r = fixture_of(state);

	fixture_slow(r, 2000, 1000);
	for (int i = 0; i < 4; i++)
		run(r, FRAME_INNER, 1000, NO_TRIM, ECT0);
	for (int i = 0; i < 8; i++) {
		assert_int_equal(run(r, FRAME_INNER, 200, CONTROL, ECT0),
				 i < 5 ? FIXTURE_OK : FIXTURE_SHOT);
		if (i < 5)
			assert_u_eq(r->priority, CLASS_CONTROL);
	}
	assert_u_eq(fixture_read(r).full, 2);
	assert_u_eq(fixture_read(r).control, 5);
	assert_u_eq(fixture_read(r).control_dropped, 3);
}

TEST_WITH(fixture_setup, fixture_teardown, swq_egress, classes_are_written_for_htb)
{
	struct fixture *r = fixture_of(state);

	fixture_slow(r, 2000, 10000);
	run(r, FRAME_V4, 1000, NO_TRIM, ECT0);
	assert_u_eq(r->priority, CLASS_DATA);
	run(r, FRAME_V4, 100, CONTROL, ECT0);
	assert_u_eq(r->priority, CLASS_CONTROL);
	run(r, FRAME_ARP, 60, NO_TRIM, 0);
	assert_u_eq(r->priority, CLASS_DATA);
	assert_int_equal(run(r, FRAME_DIRECT, 1400, TRIMMABLE, ECT0), FIXTURE_REDIRECT);
	assert_u_eq(r->priority, CLASS_CONTROL);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct mswq_reading reading_of(struct fixture *r)
{
	struct mswq_reading reading;
	struct mswq_error error;

	assert_int_equal(mswq_read(r->swq, r->ifindex, &reading, &error), 0);
	return reading;
}

/* 8 Mb/s is a byte each microsecond: the backlog is what came less the time since. */
TEST_WITH(fixture_setup, fixture_teardown, swq_egress, drains_with_time_control_first)
{
	struct fixture *r = fixture_of(state);
	uint64_t first, last;
	struct mswq_reading q;

	fixture_slow(r, 10 << 20, 10 << 20);
	r->port.rate_bits = 8000000;
	fixture_set(r);
	first = now_ns();
	for (int i = 0; i < 100; i++)
		run(r, FRAME_INNER, 3000, NO_TRIM, 0);
	for (int i = 0; i < 30; i++)
		run(r, FRAME_INNER, 3000, CONTROL, 0);
	do {
		last = now_ns();
		q = reading_of(r);
		/* While control waits no data leaves, but data left before the first control. */
		assert_u_between(q.data_bytes + q.control_bytes + (now_ns() - first) / 1000 + 2,
				 390000, UINT64_MAX);
		if (last - first < 390000000)
			assert_u_between(q.data_bytes + q.control_bytes, 0, 390000);
	} while (q.control_bytes);
	assert_u_between(q.data_bytes, 0, 300000);
	do {
		q = reading_of(r);
	} while (q.data_bytes);
	assert_u_between(now_ns() - first, 389999000, UINT64_MAX);
}

TEST_WITH(fixture_setup, fixture_teardown, swq_egress, slower_port_keeps_what_waits)
{
	struct mswq_faults slow = {.slow_bits = MSWQ_RATE_MIN};
	struct fixture *r = fixture_of(state);
	uint64_t before;

	fixture_slow(r, 1 << 20, 0);
	r->port.rate_bits = 80000;
	fixture_set(r);
	for (int i = 0; i < 100; i++)
		run(r, FRAME_INNER, 3000, NO_TRIM, 0);
	before = reading_of(r).data_bytes;
	fixture_fault(r, &slow);
	run(r, FRAME_INNER, 3000, NO_TRIM, 0);
	/* 10 kB/s before, 100 B/s now; a busy machine may take a while over this. */
	assert_u_between(reading_of(r).data_bytes, before - 20000, before + 3000);
}

/* With limits on both sides of the backlog: never, always. REQ(switch.ecn.red) */
TEST_WITH(fixture_setup, fixture_teardown, swq_egress, marks_from_the_minimum_on)
{
	struct fixture *r = fixture_of(state);
	struct frame f;

	fixture_slow(r, 1 << 20, 0);
	r->port.ecn = true;
	r->port.ecn_min_bytes = 10000;
	r->port.ecn_max_bytes = 10001;
	r->port.ecn_max_ppm = 0;
	fixture_set(r);
	for (int i = 0; i < 20; i++) {
		frame_make(&f, FRAME_INNER, 1000, TRIMMABLE, ECT0, 1);
		assert_int_equal(fixture_run(r, &f), FIXTURE_OK);
		/* The eleventh finds exactly the minimum. */
		assert_u_eq(frame_ecn(f.bytes), i < 11 ? ECT0 : CE);
	}
	assert_u_eq(fixture_read(r).marked, 9);
	assert_u_eq(fixture_read(r).full, 20);
}

/* The mark changes two bits of the outer header and, in IPv4, its checksum.
 * REQ(switch.ecn.outer) */
TEST_WITH(fixture_setup, fixture_teardown, swq_egress, mark_touches_the_outer_header_only)
{
	static const enum frame_form forms[] = {FRAME_DIRECT, FRAME_INNER, FRAME_SRH_INNER,
						FRAME_V4, FRAME_TCP};
	struct fixture *r = fixture_of(state);
	struct frame f, before;

	fixture_slow(r, 1 << 20, 0);
	r->port.ecn = true;
	r->port.ecn_min_bytes = 0;
	r->port.ecn_max_bytes = 1;
	fixture_set(r);
	run(r, FRAME_INNER, 1000, NO_TRIM, 0); /* something to wait behind */
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		frame_make(&before, forms[i], 1000, 33, i % 2 ? ECT0 : ECT1, 1);
		f = before;
		fixture_run(r, &f);
		assert_u_eq(frame_ecn(f.bytes), CE);
		assert_u_eq(frame_dscp(f.bytes), 33);
		if (forms[i] == FRAME_V4) {
			assert_true(frame_v4_sum_ok(f.bytes));
			memcpy(before.bytes + FRAME_ETH + 10, f.bytes + FRAME_ETH + 10, 2);
			f.bytes[FRAME_ETH + 1] = before.bytes[FRAME_ETH + 1];
		} else {
			f.bytes[FRAME_ETH + 1] &= (uint8_t)~0x30;
			f.bytes[FRAME_ETH + 1] |= before.bytes[FRAME_ETH + 1] & 0x30;
		}
		assert_bytes_eq(f.bytes, before.bytes, before.len);
	}
}

/* REQ(switch.ecn.ect-only) */
TEST_WITH(fixture_setup, fixture_teardown, swq_egress, marks_only_what_is_ecn_capable_data)
{
	struct fixture *r = fixture_of(state);
	struct frame f;

	fixture_slow(r, 1 << 20, 1 << 20);
	r->port.ecn = true;
	r->port.ecn_min_bytes = 0;
	r->port.ecn_max_bytes = 1;
	fixture_set(r);
	run(r, FRAME_INNER, 1000, NO_TRIM, 0);
	for (uint8_t ecn = 0; ecn < 4; ecn++) {
		frame_make(&f, FRAME_INNER, 1000, TRIMMABLE, ecn, 1);
		assert_int_equal(fixture_run(r, &f), FIXTURE_OK);
		assert_u_eq(frame_ecn(f.bytes), ecn ? CE : 0);
		frame_make(&f, FRAME_INNER, 1000, CONTROL, ecn, 1);
		assert_int_equal(fixture_run(r, &f), FIXTURE_OK);
		assert_u_eq(frame_ecn(f.bytes), ecn);
	}
	/* What was marked already is no mark of this port. */
	assert_u_eq(fixture_read(r).marked, 2);
}

/* REQ(switch.ecn.not-last-hop) */
TEST_WITH(fixture_setup, fixture_teardown, swq_egress, last_hop_does_not_mark)
{
	const struct mw_dscp_map dscp = mw_dscp_map_default();
	struct fixture *r = fixture_of(state);

	for (int last_hop = 0; last_hop < 2; last_hop++) {
		mswq_port_default(&r->port, &dscp, MSWQ_RATE_MIN, 0, last_hop);
		fixture_set(r);
		for (int i = 0; i < 80; i++)
			run(r, FRAME_INNER, 3000, NO_TRIM, ECT0);
		if (last_hop)
			assert_u_eq(fixture_read(r).marked, 0);
		else
			assert_true(fixture_read(r).marked > 0);
		mswq_port_forget(r->swq, r->ifindex, &(struct mswq_error){.text = ""});
	}
}

/*
 * At a fixed backlog b the chance is Pmax (b - Kmin) / (Kmax - Kmin). The backlog stands still:
 * the rate is as good as nothing and the packets that are tried find no room beyond b. So each is
 * tried on a port whose queue was filled again. REQ(switch.ecn.red)
 */
TEST_WITH(fixture_setup, fixture_teardown, swq_egress, marks_by_chance_between_minimum_and_maximum)
{
	enum { TRIES = 4000 };
	struct fixture *r = fixture_of(state);
	/* b = 50 kB + up to 60 bytes a try: frames of 60 bytes against thresholds in megabytes. */
	const double pmax = 0.4, kmin = 0, kmax = 2e6;
	double want = 0, variance = 0, got;

	fixture_slow(r, 4 << 20, 0);
	r->port.ecn = true;
	r->port.ecn_min_bytes = (uint32_t)kmin;
	r->port.ecn_max_bytes = (uint32_t)kmax;
	r->port.ecn_max_ppm = (uint32_t)(pmax * MSWQ_PPM_MAX);
	r->port.seed = test_seed();
	fixture_set(r);
	for (int i = 0; i < 300; i++)
		run(r, FRAME_INNER, 3000, NO_TRIM, 0);
	for (int i = 0; i < TRIES; i++) {
		double p = pmax * (300 * 3000.0 + 110.0 * i - kmin) / (kmax - kmin);

		want += p;
		variance += p * (1 - p);
		run(r, FRAME_INNER, 110, NO_TRIM, ECT0);
	}
	got = (double)fixture_read(r).marked;
	if (fabs(got - want) > 5 * sqrt(variance) + 0.01 * want)
		fail_msg("%g marked of %d, %g expected", got, TRIES, want);
}

/* The same packets with the same seed are marked alike, with another one otherwise. */
TEST_WITH(fixture_setup, fixture_teardown, swq_egress, seed_repeats_a_run)
{
	enum { TRIES = 500 };
	struct fixture *r = fixture_of(state);
	uint8_t ecn[3][TRIES];
	struct frame f;

	for (int round = 0; round < 3; round++) {
		fixture_slow(r, 4 << 20, 0);
		r->port.ecn = true;
		r->port.ecn_min_bytes = 0;
		r->port.ecn_max_bytes = 4 << 20;
		r->port.seed = round == 1 ? 2 : 1;
		fixture_set(r);
		for (int i = 0; i < TRIES; i++) {
			frame_make(&f, FRAME_DIRECT, 3000, NO_TRIM, ECT0, 1);
			fixture_run(r, &f);
			ecn[round][i] = frame_ecn(f.bytes);
		}
		mswq_port_forget(r->swq, r->ifindex, &(struct mswq_error){.text = ""});
	}
	assert_memory_not_equal(ecn[0], ecn[1], TRIES);
	/* Time passes between packets, so a chance in a great many may fall the other way. */
	for (int i = 0, other = 0; i < TRIES; i++) {
		other += ecn[0][i] != ecn[2][i];
		assert_true(other <= 2);
	}
}

/* Random traffic of all kinds: whatever happens, the counters add up (fixture_read checks). */
TEST_WITH(fixture_setup, fixture_teardown, swq_egress, counters_add_up)
{
	struct fixture *r = fixture_of(state);
	uint64_t bytes = 0, packets = test_rounds(3000);

	fixture_slow(r, 200000, 50000);
	r->port.rate_bits = 100000000;
	r->port.ecn = true;
	r->port.ecn_max_bytes = 150000;
	fixture_set(r);
	for (uint64_t i = 0; i < packets; i++) {
		enum frame_form form = (enum frame_form)test_rand_below(FRAME_FORMS);
		size_t len = frame_headers(form) + test_rand_below(FIXTURE_RUN_MAX - 200);

		if (i % 500 == 0)
			fixture_fault(r,
				      &(struct mswq_faults){
					      .loss_ppm = (uint32_t)test_rand_below(MSWQ_PPM_MAX),
					      .blackhole = i == 1000});
		run(r, form, len, (uint8_t)test_rand_below(64), (uint8_t)test_rand_below(4));
		bytes += len;
	}
	assert_u_eq(fixture_read(r).offered, packets);
	assert_u_eq(fixture_read(r).offered_bytes, bytes);
}
