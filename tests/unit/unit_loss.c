/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When a hole is a loss. 100 packets were sent 10 ns apart from time 1000 on, on 8 EVs in turn; the
 * reorder window is 400 ns.
 */
#include "support/test.h"

#include "core/loss.h"

#define FIRST 5000u
#define PACKETS 100u
#define WINDOW 400u

static struct mt_tx_rec recs[128];
static struct mt_tx_window w;
static struct mt_loss_report r;
static bool head;

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
	r = (struct mt_loss_report){
		.expected = FIRST,
		.base = FIRST,
		.bitmap = UINT64_C(1) << 60,
		.trigger_sent_ns = sent_at(60),
		.trigger_ev = 99,
		.trigger_first = true,
	};
	return 0;
}

static uint64_t find(void)
{
	return mt_loss_find(&w, &r, WINDOW, &head);
}

/* Bits 0 to n - 1. */
static uint64_t below(unsigned n)
{
	return (UINT64_C(1) << n) - 1;
}

/* REQ(req.loss.explicit) */
TEST_WITH(sent, NULL, mt_loss_find, one_window_before_the_trigger)
{
	assert_u_eq(find(), below(21)); /* 20 was sent exactly 400 ns before */
	assert_true(head);
	r.trigger_sent_ns--;
	assert_u_eq(find(), below(20));
}

TEST_WITH(sent, NULL, mt_loss_find, what_is_reported_is_not_lost)
{
	r.bitmap |= 0xF0;
	assert_u_eq(find(), below(21) & ~UINT64_C(0xF0));
}

TEST_WITH(sent, NULL, mt_loss_find, only_what_is_outstanding)
{
	mt_tx_window_lost(&w, FIRST);
	mt_tx_window_received(&w, FIRST + 1);
	assert_u_eq(find(), below(21) & ~UINT64_C(3));
	assert_false(head);
}

/* REQ(req.loss.same-ev) */
TEST_WITH(sent, NULL, mt_loss_find, a_quarter_on_the_same_ev)
{
	r.trigger_ev = 60 % 8;
	/* of EV 4 also those up to 100 ns before the trigger: 28, 36, 44 */
	assert_u_eq(find(), below(21) | UINT64_C(1) << 28 | UINT64_C(1) << 36 | UINT64_C(1) << 44);
}

TEST_WITH(sent, NULL, mt_loss_find, same_ev_holds_only_for_first_transmissions)
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
TEST_WITH(sent, NULL, mt_loss_find, silence_about_what_is_outside)
{
	r.base = FIRST + 5;
	assert_u_eq(find(), below(16)); /* 5 .. 20 */
	assert_true(head);
	r.expected = FIRST + 3;
	find();
	assert_true(head);
	r.expected = FIRST + 30;
	find();
	assert_false(head);
}

TEST_WITH(sent, NULL, mt_loss_find, map_beyond_either_end_of_the_window)
{
	r.trigger_sent_ns = 100000;
	r.base = FIRST - 10;
	r.bitmap = 0;
	assert_u_eq(find(), UINT64_MAX << 10);
	r.base = FIRST + PACKETS - 3;
	assert_u_eq(find(), 7);
	r.base = FIRST + PACKETS;
	assert_u_eq(find(), 0);
	r.base = FIRST - 64;
	assert_u_eq(find(), 0);
	r.base = FIRST - 63;
	assert_u_eq(find(), UINT64_C(1) << 63);
	r.base = FIRST + PACKETS - 64;
	assert_u_eq(find(), UINT64_MAX);
}

TEST_WITH(sent, NULL, mt_loss_find, expected_outside_the_window)
{
	r.trigger_sent_ns = 100000;
	r.expected = FIRST - 1;
	find();
	assert_false(head);
	r.expected = FIRST + PACKETS;
	find();
	assert_false(head);
	r.expected = FIRST + PACKETS - 1;
	find();
	assert_true(head);
}

TEST_WITH(sent, NULL, mt_loss_find, looks_behind_a_late_retransmission)
{
	mt_tx_window_lost(&w, FIRST);
	mt_tx_window_resent(&w, FIRST, 5000, 3);
	assert_u_eq(find(), below(21) & ~UINT64_C(1));
	assert_false(head);
}

TEST_WITH(sent, NULL, mt_loss_find, changes_nothing)
{
	struct mt_tx_window before = w;
	struct mt_tx_rec copy[128];

	memcpy(copy, recs, sizeof(copy));
	find();
	assert_memory_equal(copy, recs, sizeof(copy));
	assert_memory_equal(&before, &w, sizeof(w));
}
