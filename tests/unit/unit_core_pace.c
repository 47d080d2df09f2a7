/* SPDX-License-Identifier: BSD-2-Clause */
/* The gap between packets: how a NACK names it, when a packet may go, how it becomes shorter. */
#include "support/test.h"

#include "core/cc/pace.h"

#define BASE 8000u

static struct mt_pace p;

static int fresh(void **state)
{
	(void)state;
	p = (struct mt_pace){0};
	return 0;
}

#define CASE(function, name) TEST_WITH(fresh, NULL, function, name)

/* REQ(cc.pace.code) */
CASE(mt_pace_encode, each_code_stands_for_a_longer_gap)
{
	assert_u_eq(mt_pace_decode(0), 0);
	assert_u_eq(mt_pace_decode(1), 34);
	assert_u_eq(mt_pace_decode(255), 31u << 16);
	for (unsigned code = 1; code < 256; code++) {
		assert_true(mt_pace_decode((uint8_t)code) > mt_pace_decode((uint8_t)(code - 1)));
		assert_u_eq(mt_pace_encode(mt_pace_decode((uint8_t)code)), code);
	}
}

/* REQ(cc.pace.code) */
CASE(mt_pace_encode, the_next_longer_one)
{
	for (uint64_t gap = 1; gap <= mt_pace_decode(255); gap += 1 + gap / 64) {
		uint8_t code = mt_pace_encode(gap);

		assert_true(mt_pace_decode(code) >= gap);
		assert_true(code == 1 || mt_pace_decode((uint8_t)(code - 1)) < gap);
	}
	assert_u_eq(mt_pace_encode(mt_pace_decode(255) + 1), 255);
	assert_u_eq(mt_pace_encode(UINT64_C(1) << 60), 255);
	assert_u_eq(mt_pace_encode(0), 1);
}

/* REQ(cc.pace.gap) */
CASE(mt_pace_may_send, from_a_random_time_within_the_gap_on)
{
	assert_true(mt_pace_may_send(&p, 1000));
	mt_pace_set(&p, 1000, 400, 1u << 30);
	assert_false(mt_pace_may_send(&p, 1099));
	assert_true(p.waiting);
	assert_true(mt_pace_may_send(&p, 1100));
	assert_false(p.waiting);
	mt_pace_set(&p, 2000, 400, UINT32_MAX);
	assert_u_eq(p.next_ns, 2399);
	mt_pace_set(&p, 3000, 400, 0);
	assert_u_eq(p.next_ns, 3000);
}

/* REQ(cc.pace.gap) */
CASE(mt_pace_sent, the_next_goes_a_gap_later)
{
	mt_pace_sent(&p, 500);
	assert_true(mt_pace_may_send(&p, 500));
	mt_pace_set(&p, 1000, 400, 0);
	mt_pace_sent(&p, 1000);
	assert_false(mt_pace_may_send(&p, 1399));
	assert_true(mt_pace_may_send(&p, 1400));
	mt_pace_set(&p, 2000, 1, 0);
	mt_pace_sent(&p, 2000);
	assert_false(mt_pace_may_send(&p, 2000));
	assert_true(mt_pace_may_send(&p, 2001));
}

/* REQ(cc.pace.shorter) */
CASE(mt_pace_arrived, without_a_queue_the_gap_is_shorter)
{
	mt_pace_set(&p, 0, 40000, 0);
	mt_pace_arrived(&p, BASE * 3 / 4, BASE);
	assert_u_eq(p.gap_ns, 40000);
	mt_pace_arrived(&p, BASE * 3 / 4 - 1, BASE);
	assert_u_eq(p.gap_ns, 30000);
	mt_pace_arrived(&p, 0, BASE);
	assert_u_eq(p.gap_ns, 22500);
}

/* REQ(cc.pace.shorter) */
CASE(mt_pace_arrived, until_there_is_none)
{
	mt_pace_set(&p, 0, BASE / 64, 0);
	mt_pace_arrived(&p, BASE, BASE);
	assert_u_eq(p.gap_ns, BASE / 64);
	mt_pace_arrived(&p, 0, BASE);
	assert_u_eq(p.gap_ns, 0);
	assert_true(mt_pace_may_send(&p, 0));
	mt_pace_set(&p, 0, BASE / 64 - 1, UINT32_MAX);
	mt_pace_arrived(&p, BASE, BASE);
	assert_u_eq(p.gap_ns, 0);
	assert_true(mt_pace_may_send(&p, 0)); /* though the packet was to wait */
}

/* REQ(cc.pace.window) */
CASE(mt_pace_replaces, what_is_wider_than_the_gap)
{
	assert_false(mt_pace_replaces(&p, UINT64_MAX, 4000, BASE)); /* there is none */
	mt_pace_set(&p, 0, BASE, 0);
	assert_true(mt_pace_replaces(&p, 4000, 4000, BASE));
	assert_false(mt_pace_replaces(&p, 4000, 4000, BASE + 1));
	assert_true(mt_pace_replaces(&p, 8000, 4000, 2 * BASE));
	assert_false(mt_pace_replaces(&p, 4000, 4000, 0)); /* not known */
	mt_pace_set(&p, 0, 1, 0);
	assert_true(mt_pace_replaces(&p, 4000, 4000, 1));
	assert_false(mt_pace_replaces(&p, 4000, 4000, 2));
}
