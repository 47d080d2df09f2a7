/* SPDX-License-Identifier: BSD-2-Clause */
/* Rounds of a requester whose peer has no receive posted. */
#include "support/test.h"

#include "core/window/window.h"

static bool refuse_at(struct mt_rnr *r, uint64_t psn, uint64_t sent_ns, uint64_t now_ns,
		      uint8_t retries)
{
	struct mt_rnr_nack f = {.psn = psn,
				.una = 10,
				.sent_ns = sent_ns,
				.now_ns = now_ns,
				.wait_ns = 1000,
				.oldest = true};

	return mt_rnr_nacked(r, &f, retries);
}

/* REQ(ext.rnr.timer) */
TEST(mt_rnr_wait_ns, infinibands_table)
{
	assert_u_eq(mt_rnr_wait_ns(0), 655360000);
	assert_u_eq(mt_rnr_wait_ns(1), 10000);
	assert_u_eq(mt_rnr_wait_ns(12), 640000);
	assert_u_eq(mt_rnr_wait_ns(20), 10240000);
	assert_u_eq(mt_rnr_wait_ns(31), 491520000);
	for (uint8_t code = 2; code < 32; code++)
		assert_true(mt_rnr_wait_ns(code) > mt_rnr_wait_ns((uint8_t)(code - 1)));
	assert_u_eq(mt_rnr_wait_ns(32 + 5), mt_rnr_wait_ns(5));
}

/* REQ(ext.rnr.wait) */
TEST(mt_rnr_nacked, holds_what_lies_behind_the_lowest)
{
	struct mt_rnr r = {0};

	assert_false(mt_rnr_blocks(&r, 10, 100));
	assert_true(refuse_at(&r, 50, 5, 100, 7));
	assert_true(mt_rnr_blocks(&r, 10, 50));
	assert_false(mt_rnr_blocks(&r, 10, 49));
	assert_true(refuse_at(&r, 40, 6, 200, 7));
	assert_true(mt_rnr_blocks(&r, 10, 40));
	assert_u_eq(r.until_ns, 1100);
	assert_false(mt_rnr_end_wait(&r, 1099));
	assert_true(mt_rnr_end_wait(&r, 1100));
	assert_false(mt_rnr_end_wait(&r, 1200));
	assert_false(mt_rnr_blocks(&r, 10, 40));
}

/* REQ(ext.rnr.resume) */
TEST(mt_rnr_blocks, two_for_each_accepted)
{
	struct mt_rnr r = {0};

	assert_false(mt_rnr_blocks(&r, 0, 1)); /* nothing was refused yet */
	assert_true(refuse_at(&r, 50, 5, 100, 7));
	assert_true(mt_rnr_end_wait(&r, 1100));
	for (uint64_t una = 10; una <= 50; una++) {
		assert_false(mt_rnr_blocks(&r, una, 50));
		assert_true(mt_rnr_blocks(&r, una, 51));
	}
	for (uint64_t una = 51; una < 60; una++) {
		assert_false(mt_rnr_blocks(&r, una, 50 + 2 * (una - 50)));
		assert_true(mt_rnr_blocks(&r, una, 51 + 2 * (una - 50)));
	}
	assert_false(mt_rnr_blocks(&r, 49, 49)); /* below what was refused */
}

/* A refusal that was under way when the wait ended. REQ(ext.rnr.resume) */
TEST(mt_rnr_nacked, the_lowest_is_heard_of_late)
{
	struct mt_rnr r = {0};

	assert_true(refuse_at(&r, 50, 5, 100, 7));
	assert_true(mt_rnr_end_wait(&r, 1100));
	assert_true(refuse_at(&r, 40, 6, 1200, 7));
	assert_false(r.waits);
	assert_false(mt_rnr_blocks(&r, 10, 40));
	assert_true(mt_rnr_blocks(&r, 10, 41));
}

/* REQ(ext.rnr.retry) */
TEST(mt_rnr_nacked, what_was_under_way_begins_no_round)
{
	struct mt_rnr r = {0};

	assert_true(refuse_at(&r, 50, 5, 100, 1));
	assert_true(refuse_at(&r, 51, 99, 150, 1));
	assert_true(mt_rnr_end_wait(&r, 1100));
	/* Sent before the round was over, heard of late. */
	assert_true(refuse_at(&r, 52, 1099, 1500, 1));
	assert_false(r.waits);
	assert_false(refuse_at(&r, 50, 1100, 1500, 1));
}

/* REQ(ext.rnr.retry) */
TEST(mt_rnr_nacked, progress_begins_again)
{
	struct mt_rnr r = {0};
	struct mt_rnr_nack f = {.psn = 60,
				.una = 60,
				.sent_ns = 1100,
				.now_ns = 1500,
				.wait_ns = 1000,
				.oldest = true};

	assert_true(refuse_at(&r, 50, 5, 100, 1));
	assert_true(mt_rnr_nacked(&r, &f, 1));
	f.sent_ns = f.now_ns = 2500;
	assert_false(mt_rnr_nacked(&r, &f, 1));
}

TEST(mt_rnr_nacked, only_the_oldest_message_uses_up_patience)
{
	struct mt_rnr r = {0};
	struct mt_rnr_nack f = {.psn = 60, .wait_ns = 1000};

	for (uint64_t now = 0; now < 20000; now += 1000) {
		f.sent_ns = f.now_ns = now;
		assert_true(mt_rnr_nacked(&r, &f, 0));
	}
	f.oldest = true;
	f.sent_ns = f.now_ns = 20000;
	assert_false(mt_rnr_nacked(&r, &f, 0));
}

TEST(mt_rnr_nacked, for_ever)
{
	struct mt_rnr r = {0};

	for (uint64_t now = 0; now < 1000000; now += 1000)
		assert_true(refuse_at(&r, 1, now, now, MT_RNR_FOREVER));
}
