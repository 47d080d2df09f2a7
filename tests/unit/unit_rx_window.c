/* SPDX-License-Identifier: BSD-2-Clause */
/* The responder's window: where a PSN stands, what moves it, which 64 PSNs a SACK is about. */
#include "support/test.h"

#include "base/bits.h"
#include "core/window/window.h"
#include "unit/panic.h"

#define FIRST UINT64_C(0x1FFFF80)
#define LIMIT 1024u

static uint64_t words[2 * 1024 / 64];
static struct mt_rx_window w;

static int fresh(void **state)
{
	(void)state;
	memset(words, 0xFF, sizeof(words));
	assert_u_eq(mt_rx_window_size(LIMIT), sizeof(words));
	mt_rx_window_init(&w, LIMIT, FIRST);
	mt_rx_window_attach(&w, words);
	return 0;
}

static uint32_t take(uint64_t i, bool ends)
{
	return mt_rx_window_record(&w, FIRST + i, ends);
}

/* The next report: its map, and where it begins as a distance from FIRST. */
static uint64_t report(uint64_t *from)
{
	uint64_t base, map = mt_rx_window_report(&w, &base);

	*from = base - FIRST;
	return map;
}

TEST(mt_rx_window_size, two_bitmaps_of_two_words_at_least)
{
	assert_u_eq(mt_rx_window_size(1), 2 * 16);
	assert_u_eq(mt_rx_window_size(128), 2 * 16);
	assert_u_eq(mt_rx_window_size(129), 2 * 32);
	assert_u_eq(mt_rx_window_size(255 * 128), 2 * 4096);
}

TEST_WITH(fresh, NULL, mt_rx_window_resize, keeps_what_is_there)
{
	uint64_t larger[2 * 4096 / 64], smaller[2 * 512 / 64];

	memset(larger, 0xFF, sizeof(larger));
	memset(smaller, 0xFF, sizeof(smaller));
	take(0, true);
	take(3, true);
	take(400, false);
	mt_rx_window_resize(&w, larger, 4096);
	assert_int_equal(mt_rx_window_place(&w, FIRST + 3), MT_RX_DUP_AHEAD);
	assert_int_equal(mt_rx_window_place(&w, FIRST + 4), MT_RX_NEW);
	assert_int_equal(mt_rx_window_place(&w, FIRST + 4096), MT_RX_NEW);
	mt_rx_window_resize(&w, smaller, 400);
	assert_int_equal(mt_rx_window_place(&w, FIRST + 400), MT_RX_DUP_AHEAD);
	assert_int_equal(mt_rx_window_place(&w, FIRST + 401), MT_RX_FAR);
	take(1, false);
	assert_u_eq(take(2, true), 2); /* and message ends */
	assert_u_eq(w.expected, FIRST + 4);
	assert_u_eq(w.ahead, 1);
}

TEST_WITH(fresh, NULL, mt_rx_window_resize, needs_no_memory_while_nothing_is_ahead)
{
	take(0, true);
	mt_rx_window_resize(&w, NULL, 128);
	assert_null(w.received);
	assert_int_equal(mt_rx_window_place(&w, FIRST + 128), MT_RX_NEW);
	assert_int_equal(mt_rx_window_place(&w, FIRST + 129), MT_RX_FAR);
}

/* REQ(rsp.window.range) */
TEST_WITH(fresh, NULL, mt_rx_window_place, every_edge)
{
	take(5, false);
	take(0, false);
	assert_u_eq(mt_rx_window_place(&w, FIRST + 1), MT_RX_NEW);
	assert_u_eq(mt_rx_window_place(&w, FIRST + LIMIT), MT_RX_NEW);
	assert_u_eq(mt_rx_window_place(&w, FIRST + LIMIT + 1), MT_RX_FAR);
	assert_u_eq(mt_rx_window_place(&w, FIRST + 5), MT_RX_DUP_AHEAD);
	assert_u_eq(mt_rx_window_place(&w, FIRST), MT_RX_DUP_BEHIND);
	assert_u_eq(mt_rx_window_place(&w, FIRST - 1), MT_RX_BEFORE_START);
	assert_u_eq(mt_rx_window_place(&w, 0), MT_RX_BEFORE_START);
	assert_u_eq(mt_rx_window_place(&w, FIRST + (1 << 23)), MT_RX_FAR);
	assert_u_eq(mt_rx_window_place(&w, UINT64_MAX), MT_RX_FAR);
}

TEST_WITH(fresh, NULL, mt_rx_window_record, only_what_is_new)
{
	take(3, false);
	expect_assert_failure(take(3, false));
	expect_assert_failure(take(LIMIT, false));
	expect_assert_failure(mt_rx_window_record(&w, FIRST - 1, false));
}

TEST_WITH(fresh, NULL, mt_rx_window_record, moves_over_what_is_there)
{
	take(2, false);
	take(1, false);
	assert_u_eq(w.expected, FIRST);
	assert_u_eq(w.ahead, 2);
	take(0, false);
	assert_u_eq(w.expected, FIRST + 3);
	assert_u_eq(w.ahead, 0);
	take(4, false);
	assert_u_eq(w.expected, FIRST + 3);
	assert_u_eq(w.ahead, 1);
}

TEST_WITH(fresh, NULL, mt_rx_window_record, counts_messages_in_order)
{
	assert_u_eq(take(1, true), 0);
	assert_u_eq(take(3, true), 0);
	assert_u_eq(take(4, true), 0);
	assert_u_eq(take(0, false), 1); /* 0 and 1 */
	assert_u_eq(take(5, false), 0);
	assert_u_eq(take(2, false), 2); /* 2 and 3, 4; 5 is a message that goes on */
	assert_u_eq(take(6, true), 1);
	assert_u_eq(w.expected, FIRST + 7);
}

TEST_WITH(fresh, NULL, mt_rx_window_record, runs_longer_than_a_word)
{
	for (uint64_t pass_no = 0; pass_no < 5; pass_no++) {
		for (uint64_t i = LIMIT - 1; i > 0; i--)
			assert_u_eq(take(pass_no * LIMIT + i, i % 3 == 0), 0);
		assert_u_eq(w.ahead, LIMIT - 1);
		assert_u_eq(take(pass_no * LIMIT, true), 1 + (LIMIT - 1) / 3);
		assert_u_eq(w.expected, FIRST + (pass_no + 1) * LIMIT);
	}
	for (size_t i = 0; i < sizeof(words) / 8; i++)
		assert_u_eq(words[i], 0);
}

TEST_WITH(fresh, NULL, mt_rx_window_report, begins_at_expected_while_it_fits)
{
	uint64_t from;

	assert_u_eq(report(&from), 0);
	assert_u_eq(from, 0);
	take(1, false);
	take(63, false);
	assert_u_eq(report(&from), UINT64_C(1) << 63 | 2);
	assert_u_eq(from, 0);
	take(0, false);
	assert_u_eq(report(&from), UINT64_C(1) << 61);
	assert_u_eq(from, 2);
}

/* REQ(rsp.sack.bitmap-slides) */
TEST_WITH(fresh, NULL, mt_rx_window_report, one_of_two_walks_over_all_holes)
{
	uint64_t from, walked = 0;

	take(500, false);
	for (uint64_t i = 0; i < 40; i++) {
		uint64_t map = report(&from);

		if (mb_popcount64(i) % 2 == 0) /* 0, 3, 5, 6: no rhythm of losses takes them all */
			assert_u_eq(from, walked++ % 8 * 64);
		if (from <= 500 && 500 < from + 64)
			assert_u_eq(map, UINT64_C(1) << (500 - from));
		else
			assert_u_eq(map, 0);
	}
	assert_u_eq(walked, 20);
}

TEST_WITH(fresh, NULL, mt_rx_window_report, newest_within_two)
{
	uint64_t from;

	for (uint64_t newest = 100; newest < LIMIT; newest += 101) { /* each leaves a wide gap */
		bool told = false;

		take(newest, false);
		for (int i = 0; i < 2; i++) {
			uint64_t map = report(&from);

			told |= from <= newest && newest < from + 64 && map >> (newest - from) & 1;
		}
		assert_true(told);
	}
}

TEST_WITH(fresh, NULL, mt_rx_window_report, says_nothing_above_the_newest)
{
	uint64_t from;

	/* Bits of a whole window: those above `top` belong to PSNs a round behind. */
	for (uint64_t i = 1; i < LIMIT; i++)
		take(i, false);
	for (int i = 0; i < 64; i++) {
		uint64_t map = report(&from);

		for (uint64_t k = 0; k < 64; k++)
			assert_u_eq(map >> k & 1, from + k >= 1 && from + k < LIMIT);
	}
}

TEST_WITH(fresh, NULL, mt_rx_window_report, the_walk_begins_when_not_all_fits)
{
	uint64_t from;

	take(63, false);
	assert_u_eq(report(&from), UINT64_C(1) << 63);
	assert_u_eq(from, 0);
	take(500, false);
	report(&from); /* the first of the walk */
	assert_u_eq(from, 0);
	report(&from);
	assert_u_eq(from, 501 - 64);
}

/* One more than the map holds: one SACK looks back, the next names the newest. */
TEST_WITH(fresh, NULL, mt_rx_window_report, the_65th_is_named)
{
	uint64_t from;

	take(64, false);
	assert_u_eq(report(&from), 0);
	assert_u_eq(from, 0);
	assert_u_eq(report(&from), UINT64_C(1) << 63);
	assert_u_eq(from, 1);
}

TEST_WITH(fresh, NULL, mt_rx_window_report, what_the_map_left_out_is_named_next)
{
	uint64_t from;

	take(2, false);
	take(64, false);
	assert_u_eq(report(&from), 4);
	assert_u_eq(from, 0);
	take(200, false);
	assert_u_eq(report(&from),
		    UINT64_C(1) << 32); /* 64, and the same number of PSNs on both sides */
	assert_u_eq(from, 64 - 32);
}

TEST_WITH(fresh, NULL, mt_rx_window_report, what_was_named_is_not_the_newest_again)
{
	uint64_t from;

	take(0, false);
	take(2, false);
	assert_u_eq(report(&from), 2);
	assert_u_eq(from, 1); /* the first that is not known to be named */
	take(400, false);
	assert_u_eq(report(&from), 2); /* the walk */
	assert_u_eq(report(&from), UINT64_C(1) << 63);
	assert_u_eq(from, 401 - 64);
}
