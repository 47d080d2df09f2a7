/* SPDX-License-Identifier: BSD-2-Clause */
/* Is the peer there? Planes 0 to 3; a silence is longer than 100, a waking has patience for 200. */
#include "support/test.h"

#include "core/ev/liveness.h"
#include "unit/panic.h"

#define LIMIT 100u
#define PLANES 0xFu

static struct mt_liveness p;

/* Heard at 1000 while one QP waits; silent until 5000, when the planes are probed. */
static int woken(void **state)
{
	(void)state;
	mt_liveness_init(&p);
	p.silence_limit_ns = LIMIT;
	mt_liveness_count_waiter(&p, 900, true);
	assert_false(mt_liveness_note_rx(&p, 1000));
	assert_true(mt_liveness_note_rx(&p, 5000));
	mt_liveness_resume(&p, 5000, PLANES);
	return 0;
}

static enum mt_loss_cause judge(uint64_t sent, uint8_t plane, uint64_t trigger,
				uint8_t trigger_plane)
{
	return mt_liveness_attribute_loss(&p, sent, plane, trigger, trigger_plane);
}

TEST(mt_liveness_note_rx, silence_counts_only_while_somebody_waits)
{
	mt_liveness_init(&p);
	assert_false(mt_liveness_note_rx(&p, UINT64_C(1) << 60)); /* no RTT is known */
	p.silence_limit_ns = LIMIT;
	assert_false(mt_liveness_note_rx(&p, UINT64_C(1) << 61));
	mt_liveness_count_waiter(&p, UINT64_C(1) << 62, true);
	assert_false(mt_liveness_is_silent(&p, (UINT64_C(1) << 62) + LIMIT));
	assert_true(mt_liveness_is_silent(&p, (UINT64_C(1) << 62) + LIMIT + 1));
	mt_liveness_count_waiter(&p, 0, true);
	mt_liveness_count_waiter(&p, 0, false);
	assert_true(mt_liveness_is_silent(&p, (UINT64_C(1) << 62) + LIMIT + 1));
	mt_liveness_count_waiter(&p, 0, false);
	assert_false(mt_liveness_is_silent(&p, UINT64_MAX));
}

TEST(mt_liveness_note_rx, each_packet_ends_the_silence)
{
	mt_liveness_init(&p);
	p.silence_limit_ns = LIMIT;
	mt_liveness_count_waiter(&p, 1000, true);
	for (uint64_t now = 1100; now < 2000; now += LIMIT)
		assert_false(mt_liveness_note_rx(&p, now));
	assert_true(mt_liveness_note_rx(&p, 2101));
	assert_false(mt_liveness_note_rx(&p, 2102));
}

TEST(mt_liveness_heard, only_of_a_silent_peer)
{
	mt_liveness_init(&p);
	assert_u_eq(p.state, MT_PEER_ALIVE);
	expect_assert_failure(mt_liveness_heard(&p));
	mt_liveness_silence(&p);
	mt_liveness_silence(&p);
	assert_u_eq(p.state, MT_PEER_SILENT);
	mt_liveness_heard(&p);
	assert_u_eq(p.state, MT_PEER_RESUMING);
	expect_assert_failure(mt_liveness_heard(&p));
}

TEST(mt_liveness_resume, nothing_to_wait_for_when_nothing_was_probed)
{
	mt_liveness_init(&p);
	mt_liveness_silence(&p);
	mt_liveness_heard(&p);
	mt_liveness_resume(&p, 5000, 0);
	assert_u_eq(p.state, MT_PEER_ALIVE);
}

TEST(mt_liveness_attribute_loss, without_a_silence_every_report_counts)
{
	mt_liveness_init(&p);
	assert_u_eq(judge(0, 0, 10, 1), MT_LOSS_PATH_FAULT);
}

/* REQ(req.ev.endpoint) */
TEST_WITH(woken, NULL, mt_liveness_attribute_loss, only_its_own_plane_tells_of_a_packet)
{
	assert_u_eq(judge(1500, 0, 1900, 1), MT_LOSS_UNDECIDED);
	assert_u_eq(judge(1500, 0, 1900, 0), MT_LOSS_PATH_FAULT);
	/* Nor of one sent since, as long as queues may be full. */
	assert_u_eq(judge(5010, 0, 5090, 1), MT_LOSS_UNDECIDED);
	assert_u_eq(judge(5010, 0, 5090, 0), MT_LOSS_PATH_FAULT);
}

TEST_WITH(woken, NULL, mt_liveness_attribute_loss, all_planes_tell_when_each_has_answered)
{
	for (uint8_t plane = 0; plane < 4; plane++) {
		assert_u_eq(judge(1500, 0, 5100, 1), MT_LOSS_UNDECIDED);
		mt_liveness_note_sack(&p, 5020 + plane, plane, 5001);
	}
	assert_u_eq(judge(1500, 0, 5022, 1), MT_LOSS_UNDECIDED); /* may have been made before */
	assert_u_eq(judge(1500, 0, 5023, 1), MT_LOSS_PATH_FAULT);
	assert_u_eq(judge(5030, 0, 5040, 1), MT_LOSS_PATH_FAULT);
}

TEST_WITH(woken, NULL, mt_liveness_attribute_loss, a_plane_that_stays_silent_is_not_waited_for)
{
	for (uint8_t plane = 0; plane < 3; plane++)
		mt_liveness_note_sack(&p, 5020, plane, 5001);
	assert_u_eq(judge(1500, 3, 5199, 1), MT_LOSS_UNDECIDED);
	assert_u_eq(judge(1500, 3, 5200, 1), MT_LOSS_PATH_FAULT);
}

TEST_WITH(woken, NULL, mt_liveness_attribute_loss, old_answers_hold_the_judgement_up)
{
	mt_liveness_note_sack(&p, 5150, 0, 1400);
	assert_u_eq(judge(1500, 3, 5349, 1), MT_LOSS_UNDECIDED);
	assert_u_eq(judge(1500, 3, 5350, 1), MT_LOSS_NOT_PATH);
	/* One that is no older than an answer takes holds up nothing. */
	mt_liveness_note_sack(&p, 5080, 0, 4990);
	assert_u_eq(judge(1500, 3, 5350, 1), MT_LOSS_NOT_PATH);
}

TEST_WITH(woken, NULL, mt_liveness_attribute_loss, a_stop_explains_the_loss)
{
	mt_liveness_note_sack(&p, 5000, 0, 1400);
	assert_u_eq(judge(1500, 0, 1900, 0), MT_LOSS_NOT_PATH);
	assert_u_eq(judge(4999, 0, 5050, 0), MT_LOSS_NOT_PATH);
	assert_u_eq(judge(5000, 0, 5050, 0), MT_LOSS_PATH_FAULT);
}

TEST_WITH(woken, NULL, mt_liveness_attribute_loss, without_a_stop_one_ev_a_plane_is_retired)
{
	mt_liveness_note_retired(&p, 1500, 2);
	assert_u_eq(judge(1600, 2, 1900, 2), MT_LOSS_NOT_PATH);
	assert_u_eq(judge(1600, 1, 1900, 1), MT_LOSS_PATH_FAULT);
	assert_u_eq(judge(5001, 2, 5050, 2), MT_LOSS_PATH_FAULT);
	/* What was sent since costs nothing. */
	mt_liveness_note_retired(&p, 5001, 1);
	assert_u_eq(judge(1600, 1, 1900, 1), MT_LOSS_PATH_FAULT);
}

TEST_WITH(woken, NULL, mt_liveness_resume, the_next_silence_without_a_stop_is_not_waited_for)
{
	mt_liveness_note_retired(&p, 1500, 2);
	assert_true(mt_liveness_note_rx(&p, 5300));
	mt_liveness_resume(&p, 5300, PLANES);
	assert_u_eq(judge(5100, 2, 5250, 1), MT_LOSS_PATH_FAULT);
	/* Unless it turns out to be one. */
	mt_liveness_note_sack(&p, 5301, 0, 5100);
	assert_u_eq(judge(5100, 2, 5250, 1), MT_LOSS_UNDECIDED);
	assert_u_eq(judge(5100, 2, 5250, 2), MT_LOSS_NOT_PATH);
}

TEST_WITH(woken, NULL, mt_liveness_resume, later_silences_are_waited_for_again)
{
	for (uint8_t plane = 0; plane < 4; plane++)
		mt_liveness_note_sack(&p, 5020, plane, 5001);
	assert_u_eq(p.state, MT_PEER_ALIVE);
	assert_true(mt_liveness_note_rx(&p, 5000 + 8 * 200));
	mt_liveness_resume(&p, 6600, PLANES);
	assert_u_eq(judge(6500, 2, 6600, 1), MT_LOSS_UNDECIDED);
}

/* Where answers are farther apart than a silence is long, each would have to be waited for. */
TEST_WITH(woken, NULL, mt_liveness_resume, a_waiting_that_was_cut_short_is_the_last)
{
	assert_true(mt_liveness_note_rx(&p, 5000 + 800 * 200));
	mt_liveness_resume(&p, 165000, PLANES);
	assert_u_eq(judge(5010, 2, 164990, 1), MT_LOSS_PATH_FAULT);
	/* Until it was found to be alive. */
	mt_liveness_note_sack(&p, 165010, 1, 164999);
	assert_u_eq(p.state, MT_PEER_ALIVE);
	assert_true(mt_liveness_note_rx(&p, 400000));
	mt_liveness_resume(&p, 400000, PLANES);
	assert_u_eq(judge(165020, 2, 399990, 1), MT_LOSS_UNDECIDED);
}

/* REQ(cc.rtt.validity) */
TEST_WITH(woken, NULL, mt_liveness_clamp_rtt, the_time_of_a_stop_is_no_rtt)
{
	assert_u_eq(mt_liveness_clamp_rtt(&p, 1500, 3500), 2 * LIMIT);
	assert_u_eq(mt_liveness_clamp_rtt(&p, 4950, 50), 50);
	assert_u_eq(mt_liveness_clamp_rtt(&p, 5000, 3500), 3500);
}

/* REQ(req.ev.overloaded) */
TEST(mt_liveness_was_overloaded, until_then)
{
	mt_liveness_init(&p);
	assert_false(mt_liveness_was_overloaded(&p, 0));
	mt_liveness_set_overload(&p, 500);
	assert_true(mt_liveness_was_overloaded(&p, 499));
	assert_false(mt_liveness_was_overloaded(&p, 500));
}

/* While the queues of some planes were emptied, those of others filled. */
TEST_WITH(woken, NULL, mt_liveness_attribute_loss, a_long_round_is_followed_by_another)
{
	for (uint8_t plane = 0; plane < 4; plane++)
		mt_liveness_note_sack(&p, 5150 + 50u * plane, plane, 5020 + 50u * plane);
	assert_u_eq(judge(5290, 0, 5299, 1), MT_LOSS_UNDECIDED);
	for (uint8_t plane = 0; plane < 4; plane++)
		mt_liveness_note_sack(&p, 5350, plane, 5310);
	assert_u_eq(judge(5290, 0, 5350, 1), MT_LOSS_PATH_FAULT);
}

/* ---- to the nanosecond: half of the patience of 200 is what an answer takes ---- */

TEST_WITH(woken, NULL, mt_liveness_note_sack, an_answer_is_old_when_it_took_longer_than_half)
{
	mt_liveness_note_sack(&p, 5100, 0, 5000);
	assert_u_eq(p.settled_ns, 5200);
	assert_u_eq(p.unanswered, PLANES & ~1u); /* sent when the round began: it counts */
	mt_liveness_note_sack(&p, 5102, 1, 5001);
	assert_u_eq(p.settled_ns, 5302);
	assert_false(p.stopped);
}

TEST_WITH(woken, NULL, mt_liveness_note_sack, what_left_when_it_resumed_shows_no_stop)
{
	mt_liveness_note_sack(&p, 5150, 0, 5000);
	assert_false(p.stopped);
	mt_liveness_note_sack(&p, 5150, 0, 4999);
	assert_true(p.stopped);
}

TEST_WITH(woken, NULL, mt_liveness_note_sack, alive_when_the_patience_ends)
{
	mt_liveness_note_sack(&p, 5199, 0, 5150);
	assert_u_eq(p.state, MT_PEER_RESUMING);
	mt_liveness_note_sack(&p, 5200, 0, 5150);
	assert_u_eq(p.state, MT_PEER_ALIVE);
}

/* An old answer has held the judgement up, so that it is the round that ends. */
TEST_WITH(woken, NULL, mt_liveness_note_sack, a_round_as_long_as_the_patience_is_not_long)
{
	mt_liveness_note_sack(&p, 5101, 0, 5000);
	for (uint8_t plane = 1; plane < 3; plane++)
		mt_liveness_note_sack(&p, 5110, plane, 5050);
	assert_u_eq(p.state, MT_PEER_RESUMING);
	mt_liveness_note_sack(&p, 5200, 3, 5150);
	assert_u_eq(p.state, MT_PEER_ALIVE);
}

TEST_WITH(woken, NULL, mt_liveness_attribute_loss, of_what_left_when_all_was_settled)
{
	assert_u_eq(judge(5199, 0, 5199, 1), MT_LOSS_UNDECIDED);
	assert_u_eq(judge(5200, 0, 5199, 1), MT_LOSS_PATH_FAULT);
}

TEST_WITH(woken, NULL, mt_liveness_note_retired, for_what_left_before_it_resumed)
{
	mt_liveness_note_retired(&p, 5000, 1);
	assert_u_eq(judge(1600, 1, 1900, 1), MT_LOSS_PATH_FAULT);
	mt_liveness_note_retired(&p, 4999, 1);
	assert_u_eq(judge(1600, 1, 1900, 1), MT_LOSS_NOT_PATH);
}
