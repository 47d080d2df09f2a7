/* SPDX-License-Identifier: BSD-2-Clause */
/* No congestion control, and the gate that all algorithms share. */
#include "support/test.h"

#include "core/cc/cc.h"

/* REQ(cc.nscc.null) */
TEST(mt_cc_none, nothing_of_the_network_moves_the_window)
{
	struct mt_cc_profile profile = {.cfg = {.kind = MT_CC_NONE, .max_cwnd_bytes = 5000}};
	struct mt_cc_ack bad = {.newly_bytes = 1, .rtt_ns = 1 << 30, .marked = true};
	struct mt_cc cc;

	mt_cc_init(&cc, &profile, 4096, 0);
	assert_string_equal(cc.ops->name, "none");
	cc.inflight = 1 << 30;
	cc.ops->ack(&cc, &bad);
	cc.ops->loss(&cc, 1, MT_CC_TRIMMED, 4096);
	cc.ops->loss(&cc, 1, MT_CC_INFERRED, 4096);
	assert_u_eq(cc.cwnd, UINT64_MAX);
	assert_true(mt_cc_may_send(&cc, 4096));
}

static struct mt_cc loaded(int64_t inflight)
{
	struct mt_cc_profile profile = {.cfg = {.kind = MT_CC_NONE}};
	struct mt_cc cc;

	mt_cc_init(&cc, &profile, 4096, 0);
	cc.inflight = inflight;
	return cc;
}

/* REQ(cc.none.penalty) */
TEST(mt_cc_none, a_penalty_in_every_sack_of_an_rtt_halves_what_is_in_flight)
{
	struct mt_cc cc = loaded(1 << 20);
	struct mt_cc_ack ack = {.newly_bytes = 1 << 14, .penalty = 64};

	for (int i = 0; i < 64; i++)
		cc.ops->ack(&cc, &ack);
	assert_u_eq(cc.cwnd, 1 << 19);
	assert_false(mt_cc_may_send(&cc, 4184));
	for (int i = 0; i < 64; i++)
		cc.ops->ack(&cc, &ack);
	assert_u_eq(cc.cwnd, 4096 + MT_NOMINAL_HEADER); /* one packet, not none */
}

/* REQ(cc.none.penalty) */
TEST(mt_cc_none, the_window_is_gone_at_once_when_told_so)
{
	struct mt_cc cc = loaded(1 << 20);
	struct mt_cc_ack less = {.newly_bytes = 1 << 14, .penalty = 64};
	struct mt_cc_ack both = {.newly_bytes = 0, .penalty = 64, .restore = true};
	struct mt_cc_ack back = {.newly_bytes = 0, .restore = true};

	cc.ops->ack(&cc, &less);
	cc.ops->ack(&cc, &both);
	assert_true(cc.cwnd < 1 << 20);
	cc.ops->ack(&cc, &back);
	assert_u_eq(cc.cwnd, UINT64_MAX);
}

/* REQ(cc.none.penalty) */
TEST(mt_cc_none, without_being_told_the_window_grows_away)
{
	struct mt_cc cc = loaded(1 << 20);
	struct mt_cc_ack ack = {.newly_bytes = 1 << 14, .penalty = 64};
	uint64_t before;

	cc.ops->ack(&cc, &ack);
	before = cc.cwnd;
	ack.penalty = 0;
	cc.ops->ack(&cc, &ack);
	assert_u_eq(cc.cwnd, before + (1 << 12));
	ack.newly_bytes = UINT64_C(1) << 30;
	cc.ops->ack(&cc, &ack);
	assert_u_eq(cc.cwnd, UINT64_MAX);
}

/* REQ(cc.none.penalty) */
TEST(mt_cc_none, the_window_goes_away_when_it_holds_the_widest_mpr)
{
	uint64_t widest = (uint64_t)RD_MPR_MAX * MT_MPR_UNIT * (4096 + MT_NOMINAL_HEADER);
	struct mt_cc cc = loaded((int64_t)widest - 2);
	struct mt_cc_ack asks = {.newly_bytes = 0, .penalty = 1}, grows = {.newly_bytes = 4};

	cc.ops->ack(&cc, &asks);
	assert_u_eq(cc.cwnd, widest - 2);
	cc.ops->ack(&cc, &grows);
	assert_u_eq(cc.cwnd, widest - 1);
	cc.ops->ack(&cc, &grows);
	assert_u_eq(cc.cwnd, UINT64_MAX);
}

TEST(mt_cc_init, starts_with_nothing_in_flight)
{
	struct mt_cc_profile profile = {.cfg = {.kind = MT_CC_NONE}};
	struct mt_cc cc;

	memset(&cc, 0xFF, sizeof(cc));
	mt_cc_init(&cc, &profile, 4096, 0);
	assert_i_eq(cc.inflight, 0);
}

/* REQ(req.gate.cwnd) REQ(cc.nscc.can-send) */
TEST(mt_cc_may_send, as_much_as_fits)
{
	struct mt_cc cc = {.cwnd = 1000, .inflight = 600};

	assert_true(mt_cc_may_send(&cc, 400));
	assert_false(mt_cc_may_send(&cc, 401));
}

TEST(mt_cc_may_send, one_packet_when_nothing_is_in_flight)
{
	struct mt_cc cc = {.cwnd = 100, .inflight = 0};

	assert_true(mt_cc_may_send(&cc, 4184));
	cc.inflight = -5000;
	assert_true(mt_cc_may_send(&cc, 4184));
	cc.inflight = 1;
	assert_false(mt_cc_may_send(&cc, 4184));
}
