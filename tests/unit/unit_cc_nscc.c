/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NSCC, one rule at a time, on UEC's reference network: 100 Gb/s and 12 us, so that its scale
 * factors are 1. The packet is 4096 + 88 bytes. prop_nscc.c holds the rules against floating point.
 */
#include "support/test.h"

#include "core/cc/cc.h"

#define RTT 12000u
#define MTU (4096u + MT_NOMINAL_HEADER)
#define BDP 150000u
#define MAX_WND 225000u

static struct mt_cc_profile_cfg cfg;
static struct mt_cc_profile profile;
static struct mt_cc cc;
static uint64_t now;

/* A QP begins, with what cfg says now. */
static void begin(void)
{
	mt_cc_profile_define(&profile, &cfg);
	mt_cc_init(&cc, &profile, 4096, now);
}

static int reference(void **state)
{
	(void)state;
	cfg = (struct mt_cc_profile_cfg){
		.kind = MT_CC_NSCC, .link_bps = 100000000000, .base_rtt_ns = RTT};
	now = 1000000;
	begin();
	return 0;
}

#define CASE(function, name) TEST_WITH(reference, NULL, function, name)

/* A SACK of so many bytes that queued for delay_ns, a nanosecond after the last one. */
static void ack(uint64_t newly, uint64_t delay_ns, bool marked)
{
	struct mt_cc_ack a = {
		.now_ns = ++now,
		.newly_bytes = newly,
		.rtt_ns = cc.nscc.base_rtt_ns + delay_ns,
		.marked = marked,
	};

	cc.ops->ack(&cc, &a);
}

static void lose(enum mt_cc_loss_kind kind)
{
	cc.ops->loss(&cc, ++now, kind, MTU);
}

/* The average delay becomes about this; no window moves meanwhile. */
static void settle_average(uint64_t delay_ns)
{
	for (int i = 0; i < 1000; i++)
		ack(0, delay_ns, true);
}

/* REQ(cc.nscc.init) REQ(cc.nscc.scale) REQ(cc.nscc.target) */
CASE(nscc_init, constants_of_the_reference_network)
{
	const struct mt_nscc *n = &cc.nscc;

	assert_string_equal(cc.ops->name, "uet-1.0-nscc");
	assert_u_eq(cc.cwnd, MAX_WND);
	assert_u_eq(mt_nscc_max_wnd(n), MAX_WND);
	assert_u_eq(n->mtu, MTU);
	assert_u_eq(n->p->target_ns, RTT);
	assert_u_eq(mt_nscc_amount_of(n, n->p->fair), 5 * MTU);
	assert_u_eq(mt_nscc_amount_of(n, n->p->eta), 15 * MTU / 100);
	assert_u_eq(mt_nscc_amount_of(n, n->p->adjust), 8 * MTU);
	assert_u_eq(n->p->fast_q16, 65536 / 4);
	assert_u_eq(n->p->fast_delay_ns, 1000);
	assert_u_between(n->p->alpha_q30, 357913, 357915); /* 4 / target, a byte of MTU */
	assert_u_eq(n->p->gamma_q16, 52428);
	assert_u_eq(n->p->max_md_jump_q16, 32768);
	assert_u_eq(n->p->qa_gate, 3);
	assert_u_eq(n->p->qa_threshold_ns, 4 * RTT);
	assert_u_eq(n->p->adjust_period_ns, RTT);
}

CASE(nscc_init, a_profile_may_state_every_constant)
{
	const struct mt_nscc_param *p = &profile.nscc;

	cfg.qa_gate = 5;
	cfg.qa_threshold_ns = 7000;
	cfg.adjust_period_ns = 8000;
	cfg.adjust_bytes = 9000;
	cfg.eta_bytes = 10;
	cfg.fair_bytes = 11;
	cfg.fast_q16 = 12;
	cfg.gamma_q16 = 13;
	cfg.max_md_jump_q16 = 14;
	begin();
	assert_u_eq(p->qa_gate, 5);
	assert_u_eq(p->qa_threshold_ns, 7000);
	assert_u_eq(p->adjust_period_ns, 8000);
	assert_u_eq(mt_nscc_amount_of(&cc.nscc, p->adjust), 9000);
	assert_u_eq(mt_nscc_amount_of(&cc.nscc, p->eta), 10);
	assert_u_eq(mt_nscc_amount_of(&cc.nscc, p->fair), 11);
	assert_u_eq(p->fast_q16, 12);
	assert_u_eq(p->gamma_q16, 13);
	assert_u_eq(p->max_md_jump_q16, 14);
}

/* REQ(cc.nscc.per-qp) */
CASE(nscc_init, each_qp_has_its_own_window)
{
	struct mt_cc other;

	mt_cc_init(&other, &profile, 1024, now);
	lose(MT_CC_INFERRED);
	assert_u_eq(cc.cwnd, MAX_WND - MTU);
	assert_u_eq(other.cwnd, MAX_WND);
	assert_u_eq(mt_nscc_amount_of(&other.nscc, profile.nscc.adjust),
		    8 * (1024 + MT_NOMINAL_HEADER));
}

CASE(nscc_init, trimming_lowers_the_target_and_a_profile_sets_it)
{
	cfg.trimming = true;
	begin();
	assert_u_eq(profile.nscc.target_ns, RTT * 3 / 4);
	cfg.target_qdelay_ns = 5000;
	cfg.max_cwnd_bytes = 50000;
	begin();
	assert_u_eq(profile.nscc.target_ns, 5000);
	assert_u_eq(cc.cwnd, 50000);
}

CASE(nscc_init, eight_times_the_link_eight_times_the_constants)
{
	uint64_t alpha = profile.nscc.alpha_q30;

	cfg.link_bps *= 8;
	begin();
	assert_u_eq(cc.cwnd, 8 * MAX_WND);
	assert_u_eq(mt_nscc_amount_of(&cc.nscc, profile.nscc.fair), 8 * 5 * MTU);
	assert_u_between(profile.nscc.alpha_q30, 8 * alpha, 8 * alpha + 8);
}

CASE(nscc_init, a_small_window_still_holds_two_packets)
{
	cfg.max_cwnd_bytes = 1;
	begin();
	assert_u_eq(cc.cwnd, 2 * MTU);
}

/* REQ(cc.nscc.proportional) REQ(cc.nscc.adjust) */
CASE(nscc_ack, below_target_grows_with_the_distance)
{
	uint64_t inc;

	cc.cwnd = 50000;
	ack(MTU, 8000, false);
	inc = cc.nscc.inc;
	assert_u_between(inc, 23300000, 23360000); /* 4 MTU / 12000 x 4184 x 4000 */
	assert_u_eq(cc.cwnd, 50000);
	for (int i = 0; i < 6; i++)
		ack(MTU, 8000, false);
	assert_u_eq(cc.cwnd, 50000);
	assert_u_eq(cc.nscc.inc, 7 * inc);
	ack(MTU, 8000, false); /* the eighth packet */
	assert_u_eq(cc.cwnd, 50000 + 8 * inc / 50000);
	assert_u_eq(cc.nscc.inc, 0);
}

CASE(nscc_ack, once_a_period_with_a_little_extra)
{
	cc.cwnd = 50000;
	ack(MTU, 8000, false);
	now = cc.nscc.adjust_ns + RTT - 1;
	ack(0, 8000, false);
	assert_u_eq(cc.cwnd,
		    50000 + mt_nscc_amount_of(&cc.nscc, profile.nscc.eta) + 23330000 / 50000);
	assert_u_eq(cc.nscc.adjust_ns, now);
}

/* REQ(cc.nscc.fair) */
CASE(nscc_ack, at_the_target_and_above_grows_evenly)
{
	cc.cwnd = 50000;
	ack(MTU, RTT, false);
	assert_u_eq(cc.nscc.inc, UINT64_C(5) * MTU * MTU);
	ack(MTU, 10 * RTT, false);
	assert_u_eq(cc.nscc.inc, UINT64_C(10) * MTU * MTU);
}

/* REQ(cc.nscc.ecn-alone) REQ(cc.nscc.table) */
CASE(nscc_ack, a_mark_without_delay_changes_nothing)
{
	cc.cwnd = 50000;
	ack(8 * MTU, RTT - 1, true);
	assert_u_eq(cc.cwnd, 50000);
	assert_u_eq(cc.nscc.inc, 0);
}

/* REQ(cc.nscc.decrease) */
CASE(nscc_ack, marked_and_late_shrinks_once_a_round_trip)
{
	uint64_t cwnd;

	settle_average(2 * RTT); /* so that the share is 0.8 / 2 */
	now = cc.nscc.decrease_ns + RTT - 2;
	cc.cwnd = 100000;
	ack(0, 2 * RTT, true);
	assert_u_eq(cc.cwnd, 100000); /* not yet */
	ack(0, 2 * RTT, true);
	assert_u_between(cc.cwnd, 60000, 61500);
	cwnd = cc.cwnd;
	ack(0, 2 * RTT, true);
	assert_u_eq(cc.cwnd, cwnd);
}

/* REQ(cc.nscc.decrease) */
CASE(nscc_ack, a_delay_at_the_target_shrinks_only_if_the_average_is_above)
{
	uint64_t before = cc.nscc.decrease_ns;

	cc.cwnd = 100000;
	cc.nscc.avg_delay_q8 = RTT << 8; /* one more such sample leaves it there */
	now = cc.nscc.adjust_ns = before + RTT;
	ack(0, RTT, true);
	assert_u_eq(cc.nscc.decrease_ns, before);
	cc.nscc.avg_delay_q8 = 2 * RTT << 8;
	ack(0, RTT, true);
	assert_u_eq(cc.nscc.decrease_ns, now);
	assert_u_between(cc.cwnd, 60000, 61500);
}

CASE(nscc_ack, shrinks_by_half_at_most)
{
	settle_average(100 * RTT);
	now = cc.nscc.decrease_ns + RTT;
	cc.nscc.adjust_ns = now;
	cc.cwnd = 100000;
	ack(0, 100 * RTT, true);
	assert_u_eq(cc.cwnd, 50000);
}

CASE(nscc_ack, one_late_packet_is_not_an_average)
{
	now = cc.nscc.decrease_ns + RTT;
	cc.cwnd = 100000;
	ack(0, 2 * RTT, true);
	assert_u_eq(cc.cwnd,
		    100000 + mt_nscc_amount_of(&cc.nscc,
					       profile.nscc.eta)); /* the period's, and no cut */
}

CASE(nscc_ack, a_mark_leaves_the_increase_that_was_gathered)
{
	uint64_t inc;

	cc.cwnd = 50000;
	ack(MTU, 8000, false);
	inc = cc.nscc.inc;
	assert_true(inc > 0);
	ack(MTU, RTT, true);
	assert_u_eq(cc.nscc.inc, inc);
}

/* REQ(cc.nscc.fast) */
CASE(nscc_ack, grows_fast_after_a_window_without_delay)
{
	cc.cwnd = 4 * MTU;
	for (int i = 0; i < 4; i++)
		ack(MTU, 999, false);
	assert_u_eq(cc.cwnd, 4 * MTU);
	ack(MTU, 999, false);
	assert_u_eq(cc.cwnd, 4 * MTU + MTU / 4);
	ack(2 * MTU, 999, false);
	assert_u_eq(cc.cwnd, 4 * MTU + MTU / 4 + MTU / 2);
	ack(MTU, 1000, false); /* the first delay */
	assert_false(cc.nscc.fast);
	assert_u_eq(cc.nscc.fast_bytes, 0);
}

/* Nothing happens for a mark without delay; delay is what ends fast growth. */
CASE(nscc_ack, a_marked_delay_ends_fast_growth)
{
	cc.cwnd = MTU;
	ack(2 * MTU, 0, false);
	assert_true(cc.nscc.fast);
	ack(MTU, 0, true);
	assert_true(cc.nscc.fast);
	ack(MTU, 1000, true);
	assert_false(cc.nscc.fast);
}

CASE(nscc_ack, the_average_becomes_the_delay)
{
	for (int i = 0; i < 5; i++) {
		settle_average((1 + (uint64_t)i) * 30000);
		assert_u_between(cc.nscc.avg_delay_q8 >> 8, (1 + (uint64_t)i) * 30000 - 2,
				 (1 + (uint64_t)i) * 30000 + 2);
	}
}

/* REQ(cc.nscc.base-rtt) */
CASE(nscc_ack, a_shorter_round_trip_lowers_the_base)
{
	struct mt_cc_ack a = {.now_ns = ++now, .rtt_ns = RTT / 2};

	cc.ops->ack(&cc, &a);
	assert_u_eq(cc.nscc.base_rtt_ns, RTT / 2);
	assert_u_eq(mt_nscc_max_wnd(&cc.nscc), MAX_WND / 2);
	assert_u_eq(cc.cwnd, MAX_WND / 2);
	a.rtt_ns = RTT;
	cc.ops->ack(&cc, &a);
	assert_u_eq(cc.nscc.base_rtt_ns, RTT / 2);
}

CASE(nscc_ack, the_base_round_trip_itself_is_no_delay)
{
	struct mt_cc_ack a = {.now_ns = ++now, .rtt_ns = RTT};

	cc.ops->ack(&cc, &a);
	assert_u_eq(cc.nscc.avg_delay_q8, 0);
	a.rtt_ns = RTT / 2;
	cc.ops->ack(&cc, &a);
	assert_u_eq(cc.nscc.avg_delay_q8, 0);
}

/* REQ(cc.nscc.base-rtt-floor) */
CASE(nscc_ack, the_profile_floors_the_base)
{
	struct mt_cc_ack a = {.now_ns = ++now, .rtt_ns = 1};

	cfg.base_rtt_min_ns = RTT * 3 / 4;
	begin();
	cc.ops->ack(&cc, &a);
	assert_u_eq(cc.nscc.base_rtt_ns, RTT * 3 / 4);
	assert_u_eq(cc.cwnd, MAX_WND * 3 / 4);
	cfg.base_rtt_min_ns = RTT;
	begin();
	cc.ops->ack(&cc, &a);
	assert_u_eq(cc.nscc.base_rtt_ns, RTT);
	assert_u_eq(cc.cwnd, MAX_WND);
}

CASE(nscc_ack, without_a_sample_the_average_stands_in)
{
	struct mt_cc_ack a = {.newly_bytes = MTU};
	uint64_t average;

	settle_average(2 * RTT);
	average = cc.nscc.avg_delay_q8;
	cc.cwnd = 50000;
	a.now_ns = ++now;
	cc.ops->ack(&cc, &a);
	assert_u_eq(cc.nscc.inc, UINT64_C(5) * MTU * MTU);
	assert_u_eq(cc.nscc.avg_delay_q8, average);
}

/* REQ(cc.nscc.loss) REQ(cc.nscc.floor) */
CASE(nscc_loss, a_packet_less_down_to_one)
{
	cc.cwnd = 3 * MTU;
	lose(MT_CC_INFERRED);
	assert_u_eq(cc.cwnd, 2 * MTU);
	lose(MT_CC_NACKED);
	assert_u_eq(cc.cwnd, MTU);
	lose(MT_CC_TRIMMED);
	assert_u_eq(cc.cwnd, MTU);
}

/* REQ(cc.nscc.quick-adapt) REQ(cc.nscc.nack) */
CASE(nscc_loss, a_trim_after_a_bad_window_adapts_at_once)
{
	cc.inflight = 30000;
	ack(0, 0, false);
	ack(2 * MTU, 0, false);
	lose(MT_CC_TRIMMED); /* within the window: a packet less */
	assert_u_eq(cc.cwnd, MAX_WND - MTU);
	now = cc.nscc.qa_end_ns - 1;
	lose(MT_CC_TRIMMED);
	assert_u_eq(cc.cwnd, 2 * MTU); /* what got through */
	assert_i_eq(cc.nscc.ignore_bytes, 30000);
	assert_u_eq(cc.nscc.qa_end_ns, now + 2 * RTT);
}

CASE(nscc_loss, not_when_an_eighth_got_through)
{
	ack(0, 0, false);
	ack(MAX_WND / 8, 0, false);
	now = cc.nscc.qa_end_ns;
	lose(MT_CC_TRIMMED);
	assert_u_eq(cc.cwnd, MAX_WND - MTU);
}

CASE(nscc_ack, quick_adapt_at_the_end_of_its_window)
{
	ack(0, 0, false);
	ack(3 * MTU, 0, false);
	lose(MT_CC_INFERRED);
	assert_u_eq(cc.cwnd, MAX_WND - MTU);
	now = cc.nscc.qa_end_ns - 2;
	ack(MTU, 2000, false);
	assert_true(cc.cwnd > MAX_WND / 2);
	ack(MTU, 2000, false);
	assert_u_eq(cc.cwnd, 5 * MTU);
	assert_u_eq(cc.nscc.inc, 0);
	assert_u_eq(cc.nscc.qa_bytes, 0);
	assert_false(cc.nscc.qa_wanted);
}

CASE(nscc_ack, the_first_window_of_quick_adapt_begins_with_what_is_heard_first)
{
	lose(MT_CC_TRIMMED);
	assert_u_eq(cc.cwnd, MAX_WND - MTU);
	assert_u_eq(cc.nscc.qa_end_ns, now + 2 * RTT);
}

CASE(nscc_ack, quick_adapt_never_widens_the_window)
{
	ack(0, 0, false);
	cc.cwnd = 2 * MTU;
	ack(4 * MTU, 2000, false);
	now = cc.nscc.qa_end_ns;
	lose(MT_CC_TRIMMED);
	assert_u_eq(cc.cwnd, 2 * MTU);
}

CASE(nscc_ack, no_quick_adapt_without_a_loss_or_when_disabled)
{
	ack(0, 0, false);
	now = cc.nscc.qa_end_ns;
	ack(MTU, 2000, false);
	assert_true(cc.cwnd > MAX_WND / 2);
	cfg.disable_quick_adapt = true;
	begin();
	ack(0, 0, false);
	lose(MT_CC_TRIMMED);
	now = cc.nscc.qa_end_ns;
	ack(MTU, 2000, false);
	assert_true(cc.cwnd > MAX_WND / 2);
}

CASE(nscc_ack, much_delay_is_as_bad_as_a_loss_where_nothing_is_trimmed)
{
	ack(0, 0, false);
	now = cc.nscc.qa_end_ns;
	ack(MTU, 4 * RTT, false); /* not more than the threshold */
	assert_true(cc.cwnd > MAX_WND / 2);
	now = cc.nscc.qa_end_ns;
	ack(MTU, 4 * RTT + 1, false);
	assert_u_eq(cc.cwnd, MTU);
	cfg.trimming = true;
	begin();
	ack(0, 0, false);
	now = cc.nscc.qa_end_ns;
	ack(MTU, 4 * RTT + 1, false);
	assert_true(cc.cwnd > MAX_WND / 2);
}

CASE(nscc_ack, old_marks_do_not_count_after_quick_adapt)
{
	settle_average(2 * RTT);
	cc.nscc.ignore_bytes = 2 * MTU;
	now = cc.nscc.decrease_ns + RTT;
	cc.cwnd = 100000;
	ack(MTU, 2 * RTT, true);
	assert_u_eq(cc.cwnd, 100000);
	assert_u_eq(cc.nscc.adjust_bytes, 0);
	lose(MT_CC_NACKED); /* what is lost has drained, too */
	assert_i_eq(cc.nscc.ignore_bytes, 0);
	ack(MTU, 2 * RTT, true);
	assert_true(cc.cwnd < 65000);
}

CASE(nscc_ack, marks_count_again_when_the_last_byte_has_drained)
{
	settle_average(2 * RTT);
	ack(MTU, RTT, false);
	assert_true(cc.nscc.inc > 0);
	cc.nscc.ignore_bytes = MTU + 1;
	now = cc.nscc.decrease_ns + RTT;
	cc.nscc.adjust_ns = now;
	cc.cwnd = 100000;
	ack(MTU, 2 * RTT, true); /* a byte is left */
	assert_u_eq(cc.cwnd, 100000);
	assert_u_eq(cc.nscc.inc, 0);
	ack(1, 2 * RTT, true);
	assert_true(cc.cwnd < 65000);
}

/* REQ(cc.nscc.nack) */
CASE(nscc_loss, a_trim_is_a_sample_of_a_base_round_trip)
{
	lose(MT_CC_TRIMMED);
	assert_u_eq(cc.nscc.avg_delay_q8, (RTT << 8) / 80);
	lose(MT_CC_INFERRED);
	assert_u_eq(cc.nscc.avg_delay_q8, (RTT << 8) / 80);
}

/* A standing queue that nobody marks. */
static void queue(uint64_t delay_ns)
{
	for (int i = 0; i < 1000; i++)
		ack(0, delay_ns, false);
	cc.cwnd = 100000;
}

/* REQ(cc.nscc.drop-tail) */
CASE(nscc_loss, without_trims_and_marks_a_late_loss_is_a_mark)
{
	queue(RTT);
	now = cc.nscc.decrease_ns + 2 * RTT - 3;
	lose(MT_CC_INFERRED); /* one event a round trip, with the queue in it */
	assert_u_eq(cc.cwnd, 100000);
	now += 3;
	lose(MT_CC_INFERRED);
	assert_u_between(cc.cwnd, 60000, 60100); /* 0.8 / (1 + 1) */
	lose(MT_CC_INFERRED);
	assert_u_between(cc.cwnd, 60000, 60100);
}

CASE(nscc_loss, a_late_loss_counts_from_the_first_delay_and_at_the_end_of_the_round_trip)
{
	cc.cwnd = 100000;
	cc.nscc.avg_delay_q8 = 1000 << 8; /* as little as is a delay */
	now = cc.nscc.decrease_ns + RTT + 1000 - 2;
	lose(MT_CC_INFERRED);
	assert_u_eq(cc.cwnd, 100000);
	lose(MT_CC_INFERRED);
	assert_u_between(cc.cwnd, 93800, 93900); /* 0.8 x 1 / (1 + 12) */
	assert_u_eq(cc.nscc.decrease_ns, now);
}

CASE(nscc_loss, the_cut_for_a_late_loss_grows_with_the_delay)
{
	queue(RTT / 4);
	now = cc.nscc.decrease_ns + 2 * RTT;
	lose(MT_CC_INFERRED);
	assert_u_between(cc.cwnd, 84000, 84100); /* 0.8 / (1 + 4) */
	queue(10 * RTT);
	now = cc.nscc.decrease_ns + 12 * RTT;
	lose(MT_CC_INFERRED);
	assert_u_eq(cc.cwnd, 50000); /* half at most */
}

CASE(nscc_loss, no_mark_without_delay_or_where_the_fabric_marks_or_trims)
{
	cc.cwnd = 100000;
	lose(MT_CC_INFERRED);
	assert_u_eq(cc.cwnd, 100000 - MTU);
	settle_average(2 * RTT); /* with marks */
	now = cc.nscc.decrease_ns + 5 * RTT;
	cc.cwnd = 100000;
	lose(MT_CC_INFERRED);
	assert_u_eq(cc.cwnd, 100000 - MTU);
	cfg.trimming = true;
	begin();
	queue(5 * RTT);
	now += 10 * RTT;
	lose(MT_CC_INFERRED);
	assert_u_eq(cc.cwnd, 100000 - MTU);
}

/* One SACK with the receiver's word about the window. */
static void penalty(uint64_t newly, uint8_t p, bool restore)
{
	struct mt_cc_ack a = {.now_ns = ++now,
			      .newly_bytes = newly,
			      .rtt_ns = RTT,
			      .penalty = p,
			      .restore = restore};

	cc.ops->ack(&cc, &a);
}

/* REQ(cc.nscc.penalty) */
CASE(nscc_ack, the_receivers_penalty)
{
	cc.inflight = 100000;
	penalty(12800, 64, false);
	assert_u_eq(cc.cwnd, 100000 - 6400); /* not more than is in flight, then half of that */
	penalty(12800, 127, false);
	assert_u_eq(cc.cwnd, 93600 - 12700);
	penalty(0, 127, true);
	assert_u_eq(cc.cwnd, 80900);
	penalty(0, 0, true);
	assert_u_eq(cc.cwnd, MAX_WND);
}

CASE(nscc_ack, a_penalty_bounds_by_what_is_in_flight_if_anything_is)
{
	penalty(0, 1, false);
	assert_u_eq(cc.cwnd, MAX_WND);
	begin();
	cc.inflight = 1;
	penalty(0, 1, false);
	assert_u_eq(cc.cwnd, MTU); /* never below a packet */
}

CASE(nscc_ack, a_penalty_that_ends_without_the_flag)
{
	cc.inflight = 100000;
	penalty(12800, 64, false);
	penalty(0, 0, false);
	assert_u_eq(cc.cwnd, 93600);
	penalty(0, 0, true); /* there is nothing to restore any more */
	assert_u_eq(cc.cwnd, 93600);
}

/* REQ(cc.nscc.integer) */
CASE(nscc_ack, one_sack_counts_for_16_MiB_and_one_delay_for_a_second_at_most)
{
	ack(0, 0, true);
	ack(UINT64_MAX, UINT64_C(1) << 40, true);
	assert_u_eq(cc.nscc.qa_bytes, 1 << 24);
	assert_u_eq(cc.nscc.avg_delay_q8, (UINT64_C(1) << (30 + 8)) / 80);
}

/* REQ(cc.nscc.integer) */
CASE(nscc_ack, what_is_gathered_stops_at_two_to_the_62)
{
	cfg.fair_bytes = UINT64_C(1) << 32;
	cfg.adjust_bytes = UINT64_C(1) << 32;
	cfg.adjust_period_ns = UINT64_C(1) << 36;
	cfg.disable_quick_adapt = true;
	begin();
	for (int i = 0; i < 63; i++)
		ack(1 << 24, RTT, false);
	assert_u_eq(cc.nscc.inc, UINT64_C(63) << 56);
	for (int i = 0; i < 10; i++)
		ack(1 << 24, RTT, false);
	assert_u_eq(cc.nscc.inc, UINT64_C(1) << 62);
}

/* REQ(cc.nscc.integer) */
CASE(nscc_ack, a_product_beyond_64_bits_is_the_most_that_is_gathered)
{
	cfg.link_bps = UINT64_C(8000000000000);
	cfg.base_rtt_ns = 500000000;
	cfg.target_qdelay_ns = UINT64_C(1) << 36;
	cfg.adjust_bytes = UINT64_C(1) << 32;
	begin();
	ack(1 << 24, 500000000, false);
	assert_u_eq(cc.nscc.inc, UINT64_C(1) << 62);
}

/* REQ(cc.nscc.integer) */
CASE(nscc_ack, whatever_comes_in_the_window_keeps_its_bounds)
{
	for (int i = 0; i < 2000; i++) {
		uint64_t huge = test_rand() >> test_rand_below(64);

		cc.inflight = (int64_t)(test_rand() >> (1 + test_rand_below(63)));
		ack(huge, test_rand() >> (1 + test_rand_below(63)), i % 3 == 0);
		if (i % 7 == 0)
			penalty(huge, (uint8_t)test_rand_below(128), i % 2 == 0);
		if (i % 5 == 0)
			lose((enum mt_cc_loss_kind)(i % 3));
		now += test_rand_below(2 * RTT);
		assert_u_between(cc.cwnd, MTU, mt_nscc_max_wnd(&cc.nscc));
	}
}
