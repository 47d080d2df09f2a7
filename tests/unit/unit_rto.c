/* SPDX-License-Identifier: BSD-2-Clause */
/* Silence: probes, timeouts at a fixed and then a doubling interval, and the end. */
#include "support/test.h"

#include "core/types.h"
#include "core/window/window.h"

#define RTO 1000000u
#define PROBE 1000u
#define NO_PROBE (UINT64_C(1) << 50)
#define START 5000u

static struct mt_rto r;

static int running(void **state)
{
	(void)state;
	r = (struct mt_rto){0};
	assert_true(mt_rto_start(&r, START));
	return 0;
}

static struct mt_rto_limits limits(uint8_t linear, uint8_t exp)
{
	return (struct mt_rto_limits){.rto_ns = RTO, .linear = linear, .exp = exp};
}

/* Waits for the next step without probes and checks when it comes and what it is. */
static void check_step(const struct mt_rto_limits *l, uint64_t *now, uint64_t wait,
		       enum mt_rto_action want)
{
	assert_u_eq(mt_rto_deadline(&r, l, NO_PROBE), *now + wait);
	assert_u_eq(mt_rto_expire(&r, l, NO_PROBE, *now + wait - 1), MT_RTO_WAIT);
	*now += wait;
	assert_u_eq(mt_rto_expire(&r, l, NO_PROBE, *now), want);
}

TEST(mt_rto_deadline, never_while_not_running)
{
	struct mt_rto idle = {0};
	struct mt_rto_limits l = limits(1, 1);

	assert_u_eq(mt_rto_deadline(&idle, &l, PROBE), UINT64_MAX);
	assert_u_eq(mt_rto_expire(&idle, &l, PROBE, UINT64_MAX), MT_RTO_WAIT);
}

TEST_WITH(running, NULL, mt_rto_start, puts_off_probes_and_not_the_timeout)
{
	struct mt_rto_limits l = limits(1, 1);

	assert_false(mt_rto_start(&r, START + 500));
	assert_u_eq(mt_rto_deadline(&r, &l, PROBE), START + 500 + PROBE);
	assert_u_eq(mt_rto_deadline(&r, &l, NO_PROBE), START + RTO);
	assert_u_eq(mt_rto_deadline(&r, &l, MT_RTO_NO_PROBE), START + RTO);
	assert_u_eq(mt_rto_expire(&r, &l, MT_RTO_NO_PROBE, START + RTO - 1), MT_RTO_WAIT);
}

/* REQ(req.probe.tail) */
TEST_WITH(running, NULL, mt_rto_expire, three_probes_each_after_twice_the_wait)
{
	struct mt_rto_limits l = limits(7, 7);
	static const uint64_t at[] = {1, 3, 7};

	for (int i = 0; i < 3; i++) {
		assert_u_eq(mt_rto_deadline(&r, &l, PROBE), START + at[i] * PROBE);
		assert_u_eq(mt_rto_expire(&r, &l, PROBE, START + at[i] * PROBE - 1), MT_RTO_WAIT);
		assert_u_eq(mt_rto_expire(&r, &l, PROBE, START + at[i] * PROBE), MT_RTO_PROBE);
	}
	assert_u_eq(mt_rto_deadline(&r, &l, PROBE), START + RTO);
	assert_u_eq(mt_rto_expire(&r, &l, PROBE, START + RTO), MT_RTO_RESEND);
	assert_u_eq(mt_rto_deadline(&r, &l, PROBE), START + RTO + PROBE);
}

/* REQ(req.retry.slow-peer) */
TEST_WITH(running, NULL, mt_rto_expire, a_slow_peer_is_probed_while_the_timeout_waits)
{
	struct mt_rto_limits l = limits(7, 0);

	l.patience_ns = 50 * RTO;
	for (int i = 0; i < 10; i++) {
		uint64_t at = START + ((2u << i) - 1) * PROBE;

		assert_u_eq(mt_rto_deadline(&r, &l, PROBE), at);
		assert_u_eq(mt_rto_expire(&r, &l, PROBE, at), MT_RTO_PROBE);
	}
	assert_u_eq(mt_rto_deadline(&r, &l, PROBE), START + 50 * RTO);
	assert_u_eq(mt_rto_expire(&r, &l, PROBE, START + 50 * RTO), MT_RTO_RESEND);
}

/* What was waited for lately is less: with more probes than three it is for the timeout. */
TEST_WITH(running, NULL, mt_rto_expire, patience_that_ends)
{
	struct mt_rto_limits l = limits(7, 0);

	l.patience_ns = 50 * RTO;
	for (int i = 0; i < 5; i++)
		assert_u_eq(mt_rto_expire(&r, &l, PROBE, START + ((2u << i) - 1) * PROBE),
			    MT_RTO_PROBE);
	l.patience_ns = RTO;
	assert_u_eq(mt_rto_deadline(&r, &l, PROBE), START + RTO);
	assert_u_eq(mt_rto_expire(&r, &l, PROBE, START + RTO), MT_RTO_RESEND);
}

/* REQ(req.retry.slow-peer) */
TEST_WITH(running, NULL, mt_rto_expire, patience_is_the_interval_that_doubles)
{
	struct mt_rto_limits l = limits(1, 2);
	uint64_t now = START;

	l.patience_ns = 3 * RTO;
	check_step(&l, &now, 3 * RTO, MT_RTO_RESEND);
	check_step(&l, &now, 3 * RTO, MT_RTO_RESEND);
	check_step(&l, &now, 6 * RTO, MT_RTO_RESEND);
	check_step(&l, &now, 12 * RTO, MT_RTO_GIVE_UP);
}

/* REQ(ext.rnr.wait) */
TEST_WITH(running, NULL, mt_rto_exclude, puts_all_off_by_as_much)
{
	struct mt_rto_limits l = limits(7, 7);
	uint64_t due = mt_rto_deadline(&r, &l, PROBE);

	mt_rto_exclude(&r, 777);
	assert_u_eq(mt_rto_deadline(&r, &l, PROBE), due + 777);
	assert_u_eq(mt_rto_expire(&r, &l, PROBE, due), MT_RTO_WAIT);
}

TEST_WITH(running, NULL, mt_rto_probe_answered, an_answer_begins_the_waits_again)
{
	struct mt_rto_limits l = limits(7, 7);

	for (int i = 0; i < 3; i++)
		mt_rto_expire(&r, &l, PROBE, START + 7 * PROBE);
	mt_rto_probe_answered(&r, START + 10 * PROBE);
	assert_u_eq(mt_rto_deadline(&r, &l, PROBE), START + 11 * PROBE);
	mt_rto_probe_answered(&r, START + RTO - 10); /* it does not put the timeout off */
	assert_u_eq(mt_rto_deadline(&r, &l, PROBE), START + RTO);
	assert_u_eq(mt_rto_expire(&r, &l, PROBE, START + RTO), MT_RTO_RESEND);
}

TEST_WITH(running, NULL, mt_rto_probe_fanout, doubles_up_to_16_until_progress)
{
	static const uint32_t want[] = {1, 2, 4, 8, 16, 16, 16};
	struct mt_rto_limits l = limits(7, 7);

	for (unsigned i = 0; i < 7; i++) {
		mt_rto_probe_answered(&r, START + i * PROBE);
		assert_u_eq(mt_rto_expire(&r, &l, PROBE, mt_rto_deadline(&r, &l, PROBE)),
			    MT_RTO_PROBE);
		assert_u_eq(mt_rto_probe_fanout(&r), want[i]);
	}
	mt_rto_restart(&r, START, true);
	assert_u_eq(mt_rto_expire(&r, &l, PROBE, START + PROBE), MT_RTO_PROBE);
	assert_u_eq(mt_rto_probe_fanout(&r), 1);
}

TEST_WITH(running, NULL, mt_rto_probe_fanout, does_not_come_round)
{
	struct mt_rto_limits l = limits(7, 7);

	for (unsigned i = 0; i < 300; i++) {
		mt_rto_probe_answered(&r, START);
		assert_u_eq(mt_rto_expire(&r, &l, PROBE, mt_rto_deadline(&r, &l, PROBE)),
			    MT_RTO_PROBE);
		if (i >= 4)
			assert_u_eq(mt_rto_probe_fanout(&r), 16);
	}
}

/* REQ(req.probe.in-vain) */
TEST_WITH(running, NULL, mt_rto_probe_answered, in_vain_is_asked_more_and_more_rarely)
{
	static const uint64_t waits[] = {1, 1, 1, 1, 1, 2, 4, 8, 16, 16};
	struct mt_rto_limits l = limits(7, 7);
	uint64_t now = START;

	for (unsigned i = 0; i < 300; i++) {
		now = mt_rto_deadline(&r, &l, PROBE);
		assert_u_eq(now, START + (i < 10 ? waits[i] : 16) * PROBE);
		assert_u_eq(mt_rto_expire(&r, &l, PROBE, now), MT_RTO_PROBE);
		mt_rto_probe_answered(&r, START);
		mt_rto_probe_answered(&r, START); /* of the same round, by another EV */
		assert_false(mt_rto_start(&r, START));
	}
	mt_rto_restart(&r, START, true); /* progress */
	assert_u_eq(mt_rto_deadline(&r, &l, PROBE), START + PROBE);
}

/* What else is sent puts probes off, and is no answer. */
TEST_WITH(running, NULL, mt_rto_start, is_no_answer)
{
	struct mt_rto_limits l = limits(7, 7);

	for (unsigned i = 0; i < 20; i++) {
		assert_u_eq(mt_rto_expire(&r, &l, PROBE, START + PROBE), MT_RTO_PROBE);
		assert_false(mt_rto_start(&r, START));
		mt_rto_probe_answered(&r, START);
	}
	assert_u_eq(mt_rto_deadline(&r, &l, PROBE), START + PROBE);
}

/* REQ(req.retry.linear-exp) REQ(req.retry.exhausted) */
TEST_WITH(running, NULL, mt_rto_expire, linear_then_doubling_then_the_end)
{
	struct mt_rto_limits l = limits(2, 3);
	uint64_t now = START;

	check_step(&l, &now, RTO, MT_RTO_RESEND);
	check_step(&l, &now, RTO, MT_RTO_RESEND);
	check_step(&l, &now, RTO, MT_RTO_RESEND);
	check_step(&l, &now, 2 * RTO, MT_RTO_RESEND);
	check_step(&l, &now, 4 * RTO, MT_RTO_RESEND);
	check_step(&l, &now, 8 * RTO, MT_RTO_GIVE_UP);
}

TEST_WITH(running, NULL, mt_rto_expire, no_retries_at_all)
{
	struct mt_rto_limits l = limits(0, 0);
	uint64_t now = START;

	check_step(&l, &now, RTO, MT_RTO_GIVE_UP);
}

TEST_WITH(running, NULL, mt_rto_expire, only_linear)
{
	struct mt_rto_limits l = limits(RD_RETRY_LINEAR_MAX, 0);
	uint64_t now = START;

	for (unsigned i = 0; i < RD_RETRY_LINEAR_MAX; i++)
		check_step(&l, &now, RTO, MT_RTO_RESEND);
	check_step(&l, &now, RTO, MT_RTO_GIVE_UP);
}

/* REQ(req.retry.forever) */
TEST_WITH(running, NULL, mt_rto_expire, forever_at_the_longest_timeout)
{
	struct mt_rto_limits l = limits(0, RD_RETRY_EXP_FOREVER);
	uint64_t now = START, longest = UINT64_C(1024) << 24;

	for (unsigned i = 0; i < 200; i++) {
		uint64_t wait =
			i < 20 && ((uint64_t)RTO << i) < longest ? (uint64_t)RTO << i : longest;

		check_step(&l, &now, wait, MT_RTO_RESEND);
	}
}

TEST_WITH(running, NULL, mt_rto_expire, one_step_however_late)
{
	struct mt_rto_limits l = limits(7, 7);
	uint64_t late = START + 100 * (uint64_t)RTO;

	assert_u_eq(mt_rto_expire(&r, &l, NO_PROBE, late), MT_RTO_RESEND);
	assert_u_eq(mt_rto_expire(&r, &l, NO_PROBE, late), MT_RTO_WAIT);
	assert_u_eq(mt_rto_deadline(&r, &l, NO_PROBE), late + RTO);
}

/* REQ(req.retry.progress) */
TEST_WITH(running, NULL, mt_rto_expire, one_round_of_probes_however_late)
{
	struct mt_rto_limits l = limits(1, 1);
	uint64_t now = START + 50 * PROBE;

	assert_u_eq(mt_rto_expire(&r, &l, PROBE, now), MT_RTO_PROBE);
	assert_u_eq(mt_rto_expire(&r, &l, PROBE, now), MT_RTO_WAIT);
	assert_u_eq(mt_rto_deadline(&r, &l, PROBE), now + 2 * PROBE);
}

TEST_WITH(running, NULL, mt_rto_restart, starts_again_or_ends)
{
	struct mt_rto_limits l = limits(0, 2);
	uint64_t now = START;

	check_step(&l, &now, RTO, MT_RTO_RESEND);
	check_step(&l, &now, 2 * RTO, MT_RTO_RESEND);
	now += 10;
	mt_rto_restart(&r, now, true);
	check_step(&l, &now, RTO, MT_RTO_RESEND);
	check_step(&l, &now, 2 * RTO, MT_RTO_RESEND);
	check_step(&l, &now, 4 * RTO, MT_RTO_GIVE_UP);
	mt_rto_restart(&r, now, false);
	assert_u_eq(mt_rto_deadline(&r, &l, PROBE), UINT64_MAX);
}

TEST_WITH(running, NULL, mt_rto_deadline, a_first_timeout_beyond_the_longest_stays)
{
	struct mt_rto_limits l = {.rto_ns = UINT64_C(1) << 40, .linear = 0, .exp = 3};

	assert_u_eq(mt_rto_expire(&r, &l, NO_PROBE, START + l.rto_ns), MT_RTO_RESEND);
	assert_u_eq(mt_rto_deadline(&r, &l, NO_PROBE), START + 2 * l.rto_ns);
}
