/* SPDX-License-Identifier: BSD-2-Clause */
/* The requester's records: what each call does to a PSN, and which misuse trips. */
#include "support/test.h"

#include "core/window/window.h"
#include "unit/panic.h"

#define SIZE 16u
#define FIRST 1000u

static struct mt_tx_rec recs[SIZE];
static struct mt_tx_window w;

static int fresh(void **state)
{
	(void)state;
	memset(recs, 0xFF, sizeof(recs));
	mt_tx_window_init(&w, FIRST);
	mt_tx_window_attach(&w, recs, SIZE);
	return 0;
}

static void send(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		mt_tx_window_sent(&w, 100 + i, (uint16_t)i, (uint16_t)(10 + i), 500);
}

TEST_WITH(fresh, NULL, mt_tx_window_sent, fills_the_record)
{
	assert_true(mt_tx_is_empty(&w));
	send(2);
	assert_false(mt_tx_is_empty(&w));
	assert_u_eq(w.una, FIRST);
	assert_u_eq(w.next, FIRST + 2);
	assert_u_eq(mt_tx_rec(&w, FIRST + 1)->sent_ns, 101);
	assert_u_eq(mt_tx_rec(&w, FIRST + 1)->slot, 1);
	assert_u_eq(mt_tx_rec(&w, FIRST + 1)->ev, 11);
	assert_u_eq(mt_tx_rec(&w, FIRST + 1)->nominal, 500);
	assert_u_eq(mt_tx_rec(&w, FIRST + 1)->state, MT_TX_OUTSTANDING);
	assert_u_eq(mt_tx_rec(&w, FIRST + 1)->tries, 0);
}

TEST_WITH(fresh, NULL, mt_tx_window_sent, full_ring_trips)
{
	send(SIZE);
	expect_assert_failure(send(1));
	mt_tx_window_received(&w, FIRST);
	mt_tx_window_advance(&w);
	send(1);
	assert_u_eq(w.next - w.una, SIZE);
}

TEST_WITH(fresh, NULL, mt_tx_window_received, says_what_it_was)
{
	send(3);
	mt_tx_window_lost(&w, FIRST + 1);
	assert_u_eq(mt_tx_window_received(&w, FIRST), MT_TX_OUTSTANDING);
	assert_u_eq(mt_tx_window_received(&w, FIRST), MT_TX_RECEIVED);
	assert_u_eq(w.lost, 1);
	assert_u_eq(mt_tx_window_received(&w, FIRST + 1), MT_TX_LOST);
	assert_u_eq(w.lost, 0);
}

TEST_WITH(fresh, NULL, mt_tx_window, counts_what_is_outstanding)
{
	send(4);
	assert_u_eq(w.outstanding, 4);
	mt_tx_window_lost(&w, FIRST);
	mt_tx_window_lost(&w, FIRST + 1);
	mt_tx_window_received(&w, FIRST + 2);
	assert_u_eq(w.outstanding, 1);
	mt_tx_window_received(&w, FIRST + 2);
	mt_tx_window_received(&w, FIRST + 1); /* was lost: not outstanding any more */
	assert_u_eq(w.outstanding, 1);
	mt_tx_window_resent(&w, FIRST, 500, 0);
	assert_u_eq(w.outstanding, 2);
}

TEST_WITH(fresh, NULL, mt_tx_window_advance, over_what_is_there)
{
	send(4);
	mt_tx_window_received(&w, FIRST + 1);
	mt_tx_window_received(&w, FIRST + 3);
	mt_tx_window_advance(&w);
	assert_u_eq(w.una, FIRST);
	mt_tx_window_received(&w, FIRST);
	mt_tx_window_advance(&w);
	assert_u_eq(w.una, FIRST + 2);
	mt_tx_window_received(&w, FIRST + 2);
	mt_tx_window_advance(&w);
	assert_true(mt_tx_is_empty(&w));
}

TEST_WITH(fresh, NULL, mt_tx_window_resent, counts_tries_up_to_255)
{
	send(1);
	for (unsigned i = 1; i <= 300; i++) {
		mt_tx_window_lost(&w, FIRST);
		mt_tx_window_resent(&w, FIRST, 1000 + i, 3);
		assert_u_eq(mt_tx_rec(&w, FIRST)->tries, i < 255 ? i : 255);
	}
	assert_u_eq(mt_tx_rec(&w, FIRST)->state, MT_TX_OUTSTANDING);
	assert_u_eq(mt_tx_rec(&w, FIRST)->sent_ns, 1300);
	assert_u_eq(mt_tx_rec(&w, FIRST)->ev, 3);
	assert_u_eq(w.lost, 0);
}

/* REQ(req.rtx.oldest-first) */
TEST_WITH(fresh, NULL, mt_tx_window_oldest_lost, whatever_the_order_of_loss)
{
	uint64_t psn = 0;

	send(8);
	assert_false(mt_tx_window_oldest_lost(&w, &psn));
	mt_tx_window_lost(&w, FIRST + 5);
	assert_true(mt_tx_window_oldest_lost(&w, &psn));
	assert_u_eq(psn, FIRST + 5);
	mt_tx_window_lost(&w, FIRST + 2);
	mt_tx_window_lost(&w, FIRST + 7);
	assert_true(mt_tx_window_oldest_lost(&w, &psn));
	assert_u_eq(psn, FIRST + 2);
	mt_tx_window_resent(&w, FIRST + 2, 500, 0);
	mt_tx_window_received(&w, FIRST + 5);
	assert_true(mt_tx_window_oldest_lost(&w, &psn));
	assert_u_eq(psn, FIRST + 7);
}

TEST_WITH(fresh, NULL, mt_tx_window_lost, only_what_is_outstanding)
{
	send(2);
	mt_tx_window_lost(&w, FIRST);
	expect_assert_failure(mt_tx_window_lost(&w, FIRST));
	mt_tx_window_received(&w, FIRST);
	mt_tx_window_advance(&w);
	expect_assert_failure(mt_tx_window_lost(&w, FIRST));
	expect_assert_failure(mt_tx_window_lost(&w, FIRST + 2));
}

TEST_WITH(fresh, NULL, mt_tx_window_resent, only_what_is_lost)
{
	send(1);
	expect_assert_failure(mt_tx_window_resent(&w, FIRST, 1, 0));
}

/* REQ(req.loss.nack-wait) */
TEST_WITH(fresh, NULL, mt_tx_window_nack_backoff, until_its_time_has_come)
{
	uint64_t psn = 0;

	send(8);
	for (unsigned i = 2; i < 6; i++)
		mt_tx_window_nack_backoff(&w, FIRST + i, 1000, MT_TX_BACKOFF);
	assert_u_eq(w.n_backoff, 4);
	assert_u_eq(w.outstanding, 4);
	assert_true(w.backoff_due_ns >= 1102 && w.backoff_due_ns < 2106);
	mt_tx_window_end_backoff(&w, 851, 1000);
	assert_u_eq(w.n_backoff, 4);
	assert_false(mt_tx_window_oldest_lost(&w, &psn));
	mt_tx_window_received(&w, FIRST + 3);
	assert_u_eq(w.n_backoff, 3);
	mt_tx_window_end_backoff(&w, 2106, 1000);
	assert_u_eq(w.n_backoff, 0);
	assert_u_eq(w.lost, 3);
	assert_true(mt_tx_window_oldest_lost(&w, &psn));
	assert_u_eq(psn, FIRST + 2);
}

/* REQ(req.loss.nack-wait) */
TEST_WITH(fresh, NULL, mt_tx_window_nack_backoff, as_long_as_the_cause_lasts)
{
	/* Sent again four times: eight units and more; or two; or half a one. */
	static const struct {
		enum mt_tx_state state;
		uint64_t wait_ns;
	} waits[] = {{MT_TX_BACKOFF, 8000}, {MT_TX_BACKOFF_SHORT, 2000}, {MT_TX_BACKOFF_PATH, 500}};

	for (unsigned i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		fresh(state);
		send(1);
		for (uint64_t now = 200; now < 5 * 200; now += 200) {
			mt_tx_window_lost(&w, FIRST);
			mt_tx_window_resent(&w, FIRST, now, 1);
		}
		mt_tx_window_nack_backoff(&w, FIRST, 1000, waits[i].state);
		assert_u_eq(w.n_backoff, 1);
		assert_u_between(w.backoff_due_ns, 800 + waits[i].wait_ns,
				 800 + 2 * waits[i].wait_ns);
		mt_tx_window_received(&w, FIRST);
		assert_u_eq(w.n_backoff, 0);
	}
}

/* REQ(req.loss.nack-wait) */
TEST_WITH(fresh, NULL, mt_tx_window_nack_backoff, doubles_from_the_second_resend_to_16_units)
{
	static const uint64_t units[] = {1, 1, 2, 4, 8, 16, 16};

	for (unsigned tries = 0; tries < 7; tries++) {
		uint64_t sent = 1000 * (tries + 1), wait;

		fresh(state);
		mt_tx_window_sent(&w, sent, 0, 0, 0);
		for (unsigned i = 0; i < tries; i++) {
			mt_tx_window_lost(&w, FIRST);
			mt_tx_window_resent(&w, FIRST, sent, 0);
		}
		mt_tx_window_nack_backoff(&w, FIRST, 1000, MT_TX_BACKOFF);
		wait = w.backoff_due_ns - sent;
		assert_true(wait >= 1000 * units[tries] && wait < 2 * 1000 * units[tries]);
	}
}

TEST_WITH(fresh, NULL, mt_tx_window_end_backoff, a_quarter_of_a_unit_early)
{
	uint64_t due;

	send(1);
	mt_tx_window_nack_backoff(&w, FIRST, 1000, MT_TX_BACKOFF);
	due = w.backoff_due_ns;
	mt_tx_window_end_backoff(&w, due - 251, 1000);
	assert_u_eq(w.n_backoff, 1);
	assert_u_eq(w.backoff_due_ns, due);
	mt_tx_window_end_backoff(&w, due - 250, 1000);
	assert_u_eq(w.n_backoff, 0);
	assert_u_eq(w.lost, 1);
}

/* REQ(req.loss.nack-wait) */
TEST_WITH(fresh, NULL, mt_tx_window_end_backoff, not_all_at_the_same_time)
{
	unsigned rounds = 0;

	send(SIZE);
	for (unsigned i = 0; i < SIZE; i++)
		mt_tx_window_nack_backoff(&w, FIRST + i, 100000, MT_TX_BACKOFF);
	for (; w.n_backoff > 0; rounds++)
		mt_tx_window_end_backoff(&w, w.backoff_due_ns, 100000);
	assert_true(rounds >= 3 && rounds <= 5);
	assert_u_eq(w.lost, SIZE);
}

TEST_WITH(fresh, NULL, mt_tx_window_nack_backoff, only_what_is_outstanding)
{
	send(1);
	mt_tx_window_nack_backoff(&w, FIRST, 10, MT_TX_BACKOFF);
	expect_assert_failure(mt_tx_window_nack_backoff(&w, FIRST, 10, MT_TX_BACKOFF));
	expect_assert_failure(mt_tx_window_lost(&w, FIRST));
}

TEST_WITH(fresh, NULL, mt_tx_window_received, only_in_the_window)
{
	send(1);
	expect_assert_failure(mt_tx_window_received(&w, FIRST - 1));
	expect_assert_failure(mt_tx_window_received(&w, FIRST + 1));
}

TEST_WITH(fresh, NULL, mt_tx_has_rec, until_the_ring_comes_round)
{
	send(SIZE);
	for (unsigned i = 0; i < SIZE; i++)
		mt_tx_window_received(&w, FIRST + i);
	mt_tx_window_advance(&w);
	assert_true(mt_tx_has_rec(&w, FIRST));
	assert_false(mt_tx_has_rec(&w, FIRST + SIZE));
	send(1);
	assert_false(mt_tx_has_rec(&w, FIRST));
	assert_true(mt_tx_has_rec(&w, FIRST + 1));
	assert_true(mt_tx_has_rec(&w, FIRST + SIZE));
}

TEST_WITH(fresh, NULL, mt_tx_has_rec, not_what_was_never_sent)
{
	send(2);
	assert_false(mt_tx_has_rec(&w, FIRST - 1));
	assert_true(mt_tx_has_rec(&w, FIRST));
	assert_false(mt_tx_has_rec(&w, FIRST + 2));
}

TEST(mt_tx_has_rec, nothing_without_records)
{
	struct mt_tx_window empty;

	mt_tx_window_init(&empty, FIRST);
	assert_false(mt_tx_has_rec(&empty, FIRST - 1));
	assert_false(mt_tx_has_rec(&empty, FIRST));
}

TEST_WITH(fresh, NULL, mt_tx_window_attach, no_record_is_in_use)
{
	for (unsigned i = 0; i < SIZE; i++)
		assert_u_eq(recs[i].state, MT_TX_UNUSED);
}

TEST_WITH(fresh, NULL, mt_tx_window_attach, misuse_trips)
{
	expect_assert_failure(mt_tx_window_attach(&w, recs, 12));
	send(1);
	expect_assert_failure(mt_tx_window_attach(&w, recs, SIZE));
}
