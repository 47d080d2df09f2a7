/* SPDX-License-Identifier: BSD-2-Clause */
/* When a SACK is due and what it says. */
#include "support/test.h"

#include "core/window/window.h"

#define FIRST UINT64_C(0x1FFFFFE) /* the PSNs of this file cross the wrap */
#define THRESHOLD 4096u

static uint64_t words[2 * 16];
static struct mt_rx_window w;

static int fresh(void **state)
{
	(void)state;
	mt_rx_window_init(&w, 1024, FIRST);
	mt_rx_window_attach(&w, words);
	return 0;
}

static struct mt_trigger trigger(uint64_t psn)
{
	return (struct mt_trigger){.psn = psn, .ev = 0xE1E2E3E4, .tx_timestamp = 0xBEEF, .port = 3};
}

/* REQ(rsp.sack.trigger.bytes) */
TEST(mt_sacker_packet, more_bytes_than_the_threshold)
{
	struct mt_sacker s = {0};

	assert_false(mt_sacker_packet(&s, 2048, false, THRESHOLD));
	assert_false(mt_sacker_packet(&s, 2048, false, THRESHOLD));
	assert_true(mt_sacker_packet(&s, 1, false, THRESHOLD));
	mt_sacker_sent(&s);
	assert_false(s.due);
	assert_false(mt_sacker_packet(&s, 4096, false, THRESHOLD));
}

TEST(mt_sacker_packet, a_small_packet_counts_1024)
{
	struct mt_sacker s = {0};

	for (int i = 0; i < 4; i++)
		assert_false(mt_sacker_packet(&s, 0, false, THRESHOLD));
	assert_true(mt_sacker_packet(&s, 0, false, THRESHOLD));
}

/* REQ(rsp.sack.trigger.ackreq) REQ(rsp.sack.trigger.rtx) */
TEST(mt_sacker_packet, asked_for)
{
	struct mt_sacker s = {0};

	assert_true(mt_sacker_packet(&s, 1, true, THRESHOLD));
	mt_sacker_sent(&s);
	assert_false(mt_sacker_packet(&s, 1, false, THRESHOLD));
}

/* REQ(rsp.sack.coalesce) */
TEST(mt_sacker_packet, due_until_it_is_sent)
{
	struct mt_sacker s = {0};

	mt_sacker_packet(&s, 1, true, THRESHOLD);
	assert_true(mt_sacker_packet(&s, 1, false, THRESHOLD));
	assert_true(s.due);
}

/* REQ(rsp.sack.reflect-ev) REQ(rsp.sack.reflect-time) REQ(req.mpr.unit) REQ(wire.seth.entropy) */
TEST_WITH(fresh, NULL, mt_sack_build, reflects_its_trigger)
{
	struct mt_trigger t = trigger(FIRST + 5);
	struct mw_seth s;

	mt_sack_build(&w, &t, 0, 8, &s);
	assert_u_eq(s.entropy, 0xE1E2E3E4);
	assert_u_eq(s.tx_timestamp, 0xBEEF);
	assert_u_eq(s.mpr, 8);
	assert_u_eq(s.m, MW_MARK_NONE);
	assert_false(s.pr);
	assert_u_eq(s.cack_psn, 0xFFFFFD);
	assert_i_eq(s.ack_psn_offset, 6);
	assert_i_eq(s.sack_offset, 1);
	assert_u_eq(s.sack_bitmap, 0);
	assert_u_eq(s.ooo_count, 0);
	assert_u_eq(s.cc_type, 0);
	t.psn = FIRST - 3;
	mt_sack_build(&w, &t, 0, 8, &s);
	assert_i_eq(s.ack_psn_offset, -2);
}

TEST_WITH(fresh, NULL, mt_sack_build, offset_of_an_old_trigger_saturates)
{
	struct mt_trigger t = trigger(FIRST - 32767);
	struct mw_seth s;

	mt_sack_build(&w, &t, 0, 8, &s);
	assert_i_eq(s.ack_psn_offset, -32766);
	t.psn = FIRST - 70000;
	mt_sack_build(&w, &t, 0, 8, &s);
	assert_i_eq(s.ack_psn_offset, -32768);
}

/* REQ(rsp.sack.mark) REQ(wire.seth.pr) */
TEST_WITH(fresh, NULL, mt_sack_build, mark_and_probe)
{
	struct mt_trigger t = trigger(FIRST);
	struct mw_seth s;

	t.mark = MW_MARK_SKIP_ONCE;
	mt_sack_build(&w, &t, 0, 8, &s);
	assert_u_eq(s.m, MW_MARK_SKIP_ONCE);
	t.probe = true;
	t.probe_id = 0xABCD;
	mt_sack_build(&w, &t, 0, 8, &s);
	assert_true(s.pr);
	assert_u_eq(s.probe_id, 0xABCD);
	assert_i_eq(s.ack_psn_offset, 0);
}

/* REQ(rsp.sack.ooo-count) REQ(rsp.window.range) REQ(wire.seth.cack) REQ(wire.seth.bitmap-order) */
TEST_WITH(fresh, NULL, mt_sack_build, tells_of_the_window)
{
	struct mt_trigger t = trigger(FIRST + 4);
	struct mw_seth s;

	mt_rx_window_record(&w, FIRST, false);
	mt_rx_window_record(&w, FIRST + 2, false);
	mt_rx_window_record(&w, FIRST + 4, false);
	mt_sack_build(&w, &t, 0, 8, &s);
	assert_u_eq(s.cack_psn, 0xFFFFFE);
	assert_u_eq(s.ooo_count, 2);
	assert_i_eq(s.sack_offset, 1);
	assert_u_eq(s.sack_bitmap, 0xA);
	assert_i_eq(s.ack_psn_offset, 4);
}

/* REQ(rsp.sack.bitmap-slides) */
TEST_WITH(fresh, NULL, mt_sack_build, offset_of_a_slid_map)
{
	struct mt_trigger t = trigger(FIRST + 1000);
	struct mw_seth s;
	unsigned seen = 0;

	mt_rx_window_record(&w, FIRST + 1000, false);
	for (int i = 0; i < 2; i++) {
		mt_sack_build(&w, &t, 0, 8, &s);
		if (s.sack_bitmap == 0)
			continue;
		seen++;
		assert_u_eq(s.sack_bitmap, UINT64_C(1) << (1001 - s.sack_offset));
	}
	assert_u_eq(seen, 1);
	assert_i_eq(s.ack_psn_offset, 1001);
}

/* REQ(rsp.sack.rcvd-bytes) REQ(wire.ccstate.rcvd-bytes) */
TEST_WITH(fresh, NULL, mt_sack_build, bytes_in_units_of_256_rounded_up)
{
	struct mt_trigger t = trigger(FIRST);
	struct mw_seth s;

	mt_sack_build(&w, &t, 1, 8, &s);
	assert_u_eq(s.rcvd_bytes, 1);
	mt_sack_build(&w, &t, 256, 8, &s);
	assert_u_eq(s.rcvd_bytes, 1);
	mt_sack_build(&w, &t, 257, 8, &s);
	assert_u_eq(s.rcvd_bytes, 2);
	mt_sack_build(&w, &t, (UINT64_C(1) << 32) + 512, 8, &s);
	assert_u_eq(s.rcvd_bytes, 2);
	mt_sack_build(&w, &t, (UINT64_C(1) << 32) - 256, 8, &s);
	assert_u_eq(s.rcvd_bytes, 0xFFFFFF);
}
