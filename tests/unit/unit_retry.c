/* SPDX-License-Identifier: BSD-2-Clause */
/* Silence: probes, timeouts at a fixed and then a doubling interval, and the end. */
#include "support/test.h"

#include "core/retry.h"
#include "core/types.h"

#define RTO 1000000u
#define PROBE 1000u
#define NO_PROBE (UINT64_C(1) << 50)
#define START 5000u

static struct mt_retry r;

static int running(void **state)
{
	(void)state;
	r = (struct mt_retry){0};
	assert_true(mt_retry_sent(&r, START));
	return 0;
}

static struct mt_retry_limits limits(uint8_t linear, uint8_t exp)
{
	return (struct mt_retry_limits){.rto_ns = RTO, .linear = linear, .exp = exp};
}

/* Waits for the next step without probes and checks when it comes and what it is. */
static void check_step(const struct mt_retry_limits *l, uint64_t *now, uint64_t wait,
		       enum mt_retry_action want)
{
	assert_u_eq(mt_retry_deadline(&r, l, NO_PROBE), *now + wait);
	assert_u_eq(mt_retry_due(&r, l, NO_PROBE, *now + wait - 1), MT_RETRY_WAIT);
	*now += wait;
	assert_u_eq(mt_retry_due(&r, l, NO_PROBE, *now), want);
}

TEST(mt_retry_deadline, never_while_not_running)
{
	struct mt_retry idle = {0};
	struct mt_retry_limits l = limits(1, 1);

	assert_u_eq(mt_retry_deadline(&idle, &l, PROBE), UINT64_MAX);
	assert_u_eq(mt_retry_due(&idle, &l, PROBE, UINT64_MAX), MT_RETRY_WAIT);
}

TEST_WITH(running, NULL, mt_retry_sent, puts_off_probes_and_not_the_timeout)
{
	struct mt_retry_limits l = limits(1, 1);

	assert_false(mt_retry_sent(&r, START + 500));
	assert_u_eq(mt_retry_deadline(&r, &l, PROBE), START + 500 + PROBE);
	assert_u_eq(mt_retry_deadline(&r, &l, NO_PROBE), START + RTO);
	assert_u_eq(mt_retry_deadline(&r, &l, MT_RETRY_NO_PROBE), START + RTO);
	assert_u_eq(mt_retry_due(&r, &l, MT_RETRY_NO_PROBE, START + RTO - 1), MT_RETRY_WAIT);
}

/* REQ(req.probe.tail) */
TEST_WITH(running, NULL, mt_retry_due, three_probes_each_after_twice_the_wait)
{
	struct mt_retry_limits l = limits(7, 7);
	static const uint64_t at[] = {1, 3, 7};

	for (int i = 0; i < 3; i++) {
		assert_u_eq(mt_retry_deadline(&r, &l, PROBE), START + at[i] * PROBE);
		assert_u_eq(mt_retry_due(&r, &l, PROBE, START + at[i] * PROBE - 1), MT_RETRY_WAIT);
		assert_u_eq(mt_retry_due(&r, &l, PROBE, START + at[i] * PROBE), MT_RETRY_PROBE);
	}
	assert_u_eq(mt_retry_deadline(&r, &l, PROBE), START + RTO);
	assert_u_eq(mt_retry_due(&r, &l, PROBE, START + RTO), MT_RETRY_RESEND);
	assert_u_eq(mt_retry_deadline(&r, &l, PROBE), START + RTO + PROBE);
}

/* REQ(ext.rnr.wait) */
TEST_WITH(running, NULL, mt_retry_paused, puts_all_off_by_as_much)
{
	struct mt_retry_limits l = limits(7, 7);
	uint64_t due = mt_retry_deadline(&r, &l, PROBE);

	mt_retry_paused(&r, 777);
	assert_u_eq(mt_retry_deadline(&r, &l, PROBE), due + 777);
	assert_u_eq(mt_retry_due(&r, &l, PROBE, due), MT_RETRY_WAIT);
}

TEST_WITH(running, NULL, mt_retry_heard, an_answer_begins_the_waits_again)
{
	struct mt_retry_limits l = limits(7, 7);

	for (int i = 0; i < 3; i++)
		mt_retry_due(&r, &l, PROBE, START + 7 * PROBE);
	mt_retry_heard(&r, START + 10 * PROBE);
	assert_u_eq(mt_retry_deadline(&r, &l, PROBE), START + 11 * PROBE);
	mt_retry_heard(&r, START + RTO - 10); /* it does not put the timeout off */
	assert_u_eq(mt_retry_deadline(&r, &l, PROBE), START + RTO);
	assert_u_eq(mt_retry_due(&r, &l, PROBE, START + RTO), MT_RETRY_RESEND);
}

TEST_WITH(running, NULL, mt_retry_breadth, doubles_up_to_16_until_progress)
{
	static const uint32_t want[] = {1, 2, 4, 8, 16, 16, 16};
	struct mt_retry_limits l = limits(7, 7);

	for (unsigned i = 0; i < 7; i++) {
		uint64_t now = START + i * PROBE;

		mt_retry_heard(&r, now);
		assert_u_eq(mt_retry_due(&r, &l, PROBE, now + PROBE), MT_RETRY_PROBE);
		assert_u_eq(mt_retry_breadth(&r), want[i]);
	}
	mt_retry_progress(&r, START, true);
	assert_u_eq(mt_retry_due(&r, &l, PROBE, START + PROBE), MT_RETRY_PROBE);
	assert_u_eq(mt_retry_breadth(&r), 1);
}

TEST_WITH(running, NULL, mt_retry_breadth, does_not_come_round)
{
	struct mt_retry_limits l = limits(7, 7);

	for (unsigned i = 0; i < 300; i++) {
		mt_retry_heard(&r, START);
		assert_u_eq(mt_retry_due(&r, &l, PROBE, START + PROBE), MT_RETRY_PROBE);
	}
	assert_u_eq(mt_retry_breadth(&r), 16);
}

/* REQ(req.retry.linear-exp) REQ(req.retry.exhausted) */
TEST_WITH(running, NULL, mt_retry_due, linear_then_doubling_then_the_end)
{
	struct mt_retry_limits l = limits(2, 3);
	uint64_t now = START;

	check_step(&l, &now, RTO, MT_RETRY_RESEND);
	check_step(&l, &now, RTO, MT_RETRY_RESEND);
	check_step(&l, &now, RTO, MT_RETRY_RESEND);
	check_step(&l, &now, 2 * RTO, MT_RETRY_RESEND);
	check_step(&l, &now, 4 * RTO, MT_RETRY_RESEND);
	check_step(&l, &now, 8 * RTO, MT_RETRY_GIVE_UP);
}

TEST_WITH(running, NULL, mt_retry_due, no_retries_at_all)
{
	struct mt_retry_limits l = limits(0, 0);
	uint64_t now = START;

	check_step(&l, &now, RTO, MT_RETRY_GIVE_UP);
}

TEST_WITH(running, NULL, mt_retry_due, only_linear)
{
	struct mt_retry_limits l = limits(MT_RETRY_LINEAR_MAX, 0);
	uint64_t now = START;

	for (unsigned i = 0; i < MT_RETRY_LINEAR_MAX; i++)
		check_step(&l, &now, RTO, MT_RETRY_RESEND);
	check_step(&l, &now, RTO, MT_RETRY_GIVE_UP);
}

/* REQ(req.retry.forever) */
TEST_WITH(running, NULL, mt_retry_due, forever_at_the_longest_timeout)
{
	struct mt_retry_limits l = limits(0, MT_RETRY_EXP_FOREVER);
	uint64_t now = START, longest = UINT64_C(1024) << 24;

	for (unsigned i = 0; i < 200; i++) {
		uint64_t wait =
			i < 20 && ((uint64_t)RTO << i) < longest ? (uint64_t)RTO << i : longest;

		check_step(&l, &now, wait, MT_RETRY_RESEND);
	}
}

TEST_WITH(running, NULL, mt_retry_due, one_step_however_late)
{
	struct mt_retry_limits l = limits(7, 7);
	uint64_t late = START + 100 * (uint64_t)RTO;

	assert_u_eq(mt_retry_due(&r, &l, NO_PROBE, late), MT_RETRY_RESEND);
	assert_u_eq(mt_retry_due(&r, &l, NO_PROBE, late), MT_RETRY_WAIT);
	assert_u_eq(mt_retry_deadline(&r, &l, NO_PROBE), late + RTO);
}

/* REQ(req.retry.progress) */
TEST_WITH(running, NULL, mt_retry_progress, starts_anew_or_ends)
{
	struct mt_retry_limits l = limits(0, 2);
	uint64_t now = START;

	check_step(&l, &now, RTO, MT_RETRY_RESEND);
	check_step(&l, &now, 2 * RTO, MT_RETRY_RESEND);
	now += 10;
	mt_retry_progress(&r, now, true);
	check_step(&l, &now, RTO, MT_RETRY_RESEND);
	check_step(&l, &now, 2 * RTO, MT_RETRY_RESEND);
	check_step(&l, &now, 4 * RTO, MT_RETRY_GIVE_UP);
	mt_retry_progress(&r, now, false);
	assert_u_eq(mt_retry_deadline(&r, &l, PROBE), UINT64_MAX);
}

TEST_WITH(running, NULL, mt_retry_deadline, a_first_timeout_beyond_the_longest_stays)
{
	struct mt_retry_limits l = {.rto_ns = UINT64_C(1) << 40, .linear = 0, .exp = 3};

	assert_u_eq(mt_retry_due(&r, &l, NO_PROBE, START + l.rto_ns), MT_RETRY_RESEND);
	assert_u_eq(mt_retry_deadline(&r, &l, NO_PROBE), START + 2 * l.rto_ns);
}
