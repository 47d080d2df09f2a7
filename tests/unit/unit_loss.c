/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When a hole is a loss. 100 packets were sent 10 ns apart from time 1000 on, on 8 EVs in turn; the
 * reorder window is 400 ns.
 */
#include "support/test.h"

#include "core/window/window.h"

#define FIRST 5000u
#define PACKETS 100u
#define WINDOW 400u

static struct mt_tx_rec recs[128];
static struct mt_tx_window w;
static struct mt_loss_report r;
static unsigned count; /* lost PSNs that the last find met */

static uint64_t sent_at(unsigned i)
{
	return 1000 + 10 * i;
}

static int sent(void **state)
{
	(void)state;
	mt_tx_window_init(&w, FIRST);
	mt_tx_window_attach(&w, recs, 128);
	for (unsigned i = 0; i < PACKETS; i++)
		mt_tx_window_sent(&w, sent_at(i), 0, i % 8, 100);
	/* A SACK of the 60th, on an EV that no other packet took: nothing but it has arrived. */
	mt_tx_window_received(&w, FIRST + 60);
	r = (struct mt_loss_report){
		.expected = FIRST,
		.base = FIRST,
		.trigger_sent_ns = sent_at(60),
		.trigger_ev = 99,
		.trigger_first = true,
	};
	return 0;
}

/* The lost PSNs among the first 64, bit 0 being FIRST. */
static uint64_t find(void)
{
	uint64_t map = 0, psn = r.expected;
	uint32_t left = MT_LOSS_SEARCH;

	for (count = 0; mt_loss_next(&w, &r, WINDOW, &psn, &left); psn++, count++)
		if (psn - FIRST < 64)
			map |= UINT64_C(1) << (psn - FIRST);
	return map;
}

/* Bits 0 to n - 1. */
static uint64_t below(unsigned n)
{
	return (UINT64_C(1) << n) - 1;
}

/* REQ(req.loss.explicit) */
TEST_WITH(sent, NULL, mt_loss_next, one_window_before_the_trigger)
{
	assert_u_eq(find(), below(21)); /* 20 was sent exactly 400 ns before */
	r.trigger_sent_ns--;
	assert_u_eq(find(), below(20));
}

TEST_WITH(sent, NULL, mt_loss_next, only_what_is_outstanding)
{
	mt_tx_window_lost(&w, FIRST);
	mt_tx_window_received(&w, FIRST + 1);
	assert_u_eq(find(), below(21) & ~UINT64_C(3));
}

/* REQ(req.loss.again) */
TEST_WITH(sent, NULL, mt_loss_next, what_was_lost_often_waits_longer)
{
	static const uint64_t windows[] = {1, 1, 1, 1, 2, 4, 8, 16, 16};

	r.base = FIRST + 64; /* of the first PSN alone it says something */
	for (unsigned tries = 0; tries < 9; tries++) {
		r.trigger_sent_ns = mt_tx_rec(&w, FIRST)->sent_ns + windows[tries] * WINDOW - 1;
		assert_u_eq(find(), 0);
		r.trigger_sent_ns++;
		assert_u_eq(find(), 1);
		mt_tx_window_lost(&w, FIRST);
		mt_tx_window_resent(&w, FIRST, r.trigger_sent_ns, 1);
	}
}

/* REQ(req.loss.same-ev) */
TEST_WITH(sent, NULL, mt_loss_next, a_quarter_on_the_same_ev)
{
	r.trigger_ev = 60 % 8;
	/* of EV 4 also those up to 100 ns before the trigger: 28, 36, 44 */
	assert_u_eq(find(), below(21) | UINT64_C(1) << 28 | UINT64_C(1) << 36 | UINT64_C(1) << 44);
}

/* REQ(req.loss.same-ev) */
TEST_WITH(sent, NULL, mt_loss_next, a_quarter_to_the_nanosecond)
{
	r.trigger_ev = 52 % 8;
	r.trigger_sent_ns = sent_at(52) + WINDOW / 4 - 1;
	assert_u_eq(find() >> 52, 0);
	r.trigger_sent_ns++;
	assert_u_eq(find() >> 52, 1);
}

/* REQ(req.loss.search-bound) */
TEST_WITH(sent, NULL, mt_loss_next, looks_no_further_than_the_first_sent_too_late)
{
	uint32_t left = MT_LOSS_SEARCH;
	uint64_t psn = FIRST + 21;

	assert_false(mt_loss_next(&w, &r, WINDOW, &psn, &left));
	/* 50 was sent a quarter of the window before the trigger: on its EV it would be lost. */
	assert_u_eq(psn, FIRST + 51);
	assert_u_eq(MT_LOSS_SEARCH - left, 30);
}

TEST_WITH(sent, NULL, mt_loss_next, same_ev_holds_only_for_first_transmissions)
{
	r.trigger_ev = 60 % 8;
	r.trigger_first = false;
	assert_u_eq(find(), below(21));
	r.trigger_first = true;
	mt_tx_window_lost(&w, FIRST + 44);
	mt_tx_window_resent(&w, FIRST + 44, sent_at(44), 4);
	assert_u_eq(find(), below(21) | UINT64_C(1) << 28 | UINT64_C(1) << 36);
}

/* REQ(req.loss.outside-bitmap) */
TEST_WITH(sent, NULL, mt_loss_next, silence_about_what_is_outside)
{
	r.base = FIRST + 5;
	assert_u_eq(find(), (below(21) & ~below(5)) | 1); /* expected, and what the map covers */
	r.expected = FIRST + 3;
	assert_u_eq(find(), (below(21) & ~below(5)) | 8);
	r.expected = FIRST + 30;
	assert_u_eq(find(), 0);
}

TEST_WITH(sent, NULL, mt_loss_next, map_beyond_either_end_of_the_window)
{
	r.trigger_sent_ns = 100000;
	r.base = FIRST + PACKETS - 3;
	find();
	assert_u_eq(count, 1 + 3);
	r.base = FIRST + PACKETS;
	find();
	assert_u_eq(count, 1);
	r.base = r.expected = FIRST - 64;
	find();
	assert_u_eq(count, 0);
	r.base = r.expected = FIRST - 63;
	assert_u_eq(find(), 1);
	r.base = r.expected = FIRST + PACKETS - 64;
	find();
	assert_u_eq(count, 63); /* 60 has arrived */
}

TEST_WITH(sent, NULL, mt_loss_next, a_complete_map_speaks_of_all_psns)
{
	r.trigger_sent_ns = 100000;
	find();
	assert_u_eq(count, 63);
	r.complete = true;
	find();
	assert_u_eq(count, PACKETS - 1);
	r.base = FIRST + 40;
	find();
	assert_u_eq(count, PACKETS - 1);
}

TEST_WITH(sent, NULL, mt_loss_next, expected_outside_the_window)
{
	r.trigger_sent_ns = 100000;
	r.base = FIRST + PACKETS;
	r.expected = FIRST + PACKETS;
	find();
	assert_u_eq(count, 0);
	r.expected = FIRST + PACKETS - 1;
	find();
	assert_u_eq(count, 1);
}

TEST_WITH(sent, NULL, mt_loss_next, looks_behind_a_late_retransmission)
{
	mt_tx_window_lost(&w, FIRST);
	mt_tx_window_resent(&w, FIRST, 5000, 3);
	assert_u_eq(find(), below(21) & ~UINT64_C(1));
}

TEST_WITH(sent, NULL, mt_loss_next, changes_nothing)
{
	struct mt_tx_window before = w;
	struct mt_tx_rec copy[128];

	memcpy(copy, recs, sizeof(copy));
	find();
	assert_memory_equal(copy, recs, sizeof(copy));
	assert_memory_equal(&before, &w, sizeof(w));
}

/* Of what is looked at in vain at most *left, and the next search goes on there. */
static void check_search(uint64_t from, uint32_t left, bool found, uint64_t at, uint32_t then_left)
{
	uint64_t psn = FIRST + from;

	assert_i_eq(mt_loss_next(&w, &r, WINDOW, &psn, &left), found);
	assert_u_eq(psn, FIRST + at);
	assert_u_eq(left, then_left);
}

/* REQ(req.loss.search-bound) */
TEST_WITH(sent, NULL, mt_loss_next, looks_at_a_bounded_number_in_vain)
{
	/* All but the last are younger than the trigger, and in no order of time. */
	r.complete = true;
	for (unsigned i = 0; i < 50; i++) {
		mt_tx_window_lost(&w, FIRST + i);
		mt_tx_window_resent(&w, FIRST + i, i < 49 ? sent_at(60) : sent_at(0), 3);
	}
	check_search(0, 50, true, 49, 1);
	check_search(0, 30, false, 30, 0);
	check_search(30, 30, true, 49, 11);
	check_search(50, 0, false, 50, 0);
}
