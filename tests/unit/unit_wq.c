/* SPDX-License-Identifier: BSD-2-Clause */
/* Send and receive queues, which hold their completions themselves. */
#include "support/test.h"

#include "core/window/wq.h"
#include "unit/panic.h"

#define DEPTH 3u /* not a power of two: there are 4 slots, of which 3 may be taken */

static struct mt_wqe wqes[4];
static struct rd_sge sges[4 * 2];
static struct mt_rqe rqes[4];
static struct mt_sq sq;
static struct mt_rq rq;

static int fresh(void **state)
{
	(void)state;
	sq = (struct mt_sq){.wqes = wqes, .sges = sges, .depth = DEPTH, .mask = 3, .max_sge = 2};
	rq = (struct mt_rq){.rqes = rqes, .depth = DEPTH, .mask = 3};
	return 0;
}

/* Queues a WR and counts it as sent in full. */
static void post(uint64_t wr_id, uint8_t flags)
{
	struct mt_wqe *wqe = mt_sq_alloc(&sq);

	assert_non_null(wqe);
	*wqe = (struct mt_wqe){.wr_id = wr_id, .flags = flags, .length = 100};
	sq.tail++;
	sq.next = sq.tail;
}

static void check_poll(uint64_t wr_id, enum rd_wc_status status)
{
	struct mt_event ev;

	assert_true(mt_sq_poll(&sq, UINT64_MAX, &ev));
	assert_u_eq(ev.type, MT_EVENT_SEND);
	assert_u_eq(ev.wr_id, wr_id);
	assert_u_eq(ev.status, status);
}

static void check_none(void)
{
	struct mt_event ev;

	assert_false(mt_sq_poll(&sq, UINT64_MAX, &ev));
}

/* REQ(req.complete.order) REQ(req.complete.once) */
TEST_WITH(fresh, NULL, mt_sq_poll, in_order_and_once)
{
	for (uint64_t id = 10; id < 13; id++)
		post(id, RD_SEND_SIGNALED);
	check_none();
	mt_sq_complete(&sq, 2);
	check_poll(10, RD_WC_SUCCESS);
	check_poll(11, RD_WC_SUCCESS);
	check_none();
	mt_sq_complete(&sq, 2);
	check_none();
	mt_sq_complete(&sq, 3);
	check_poll(12, RD_WC_SUCCESS);
	check_none();
}

TEST_WITH(fresh, NULL, mt_sq_poll, tells_of_the_request)
{
	struct mt_event ev;

	post(1, RD_SEND_SIGNALED | RD_SEND_IMM);
	post(2, RD_SEND_SIGNALED);
	mt_sq_complete(&sq, 2);
	assert_true(mt_sq_poll(&sq, UINT64_MAX, &ev));
	assert_true(ev.with_imm);
	assert_u_eq(ev.byte_len, 100);
	assert_true(mt_sq_poll(&sq, UINT64_MAX, &ev));
	assert_false(ev.with_imm);
}

TEST_WITH(fresh, NULL, mt_sq_poll, unsignalled_success_is_silent)
{
	post(1, 0);
	post(2, RD_SEND_SIGNALED);
	post(3, 0);
	mt_sq_complete(&sq, 3);
	check_poll(2, RD_WC_SUCCESS);
	check_none();
	sq.signal_all = true;
	post(4, 0);
	mt_sq_complete(&sq, 4);
	check_poll(4, RD_WC_SUCCESS);
}

TEST_WITH(fresh, NULL, mt_sq_alloc, depth_bounds_the_unpolled)
{
	for (uint64_t id = 0; id < DEPTH; id++)
		post(id, RD_SEND_SIGNALED);
	assert_null(mt_sq_alloc(&sq));
	mt_sq_complete(&sq, 2);
	assert_null(mt_sq_alloc(&sq)); /* complete, but nobody has polled */
	check_poll(0, RD_WC_SUCCESS);
	assert_ptr_equal(mt_sq_alloc(&sq), &wqes[3]);
	post(3, RD_SEND_SIGNALED);
	assert_null(mt_sq_alloc(&sq));
}

TEST_WITH(fresh, NULL, mt_sq_alloc, silent_ones_make_room)
{
	for (uint64_t id = 0; id < DEPTH; id++)
		post(id, id == 1 ? RD_SEND_SIGNALED : 0);
	assert_null(mt_sq_alloc(&sq)); /* not complete */
	mt_sq_complete(&sq, 3);
	assert_non_null(mt_sq_alloc(&sq));
	post(3, 0);
	assert_null(mt_sq_alloc(&sq)); /* the one in the middle waits for its poll */
	check_poll(1, RD_WC_SUCCESS);
	assert_non_null(mt_sq_alloc(&sq));
}

/* REQ(req.error.flush) */
TEST_WITH(fresh, NULL, mt_sq_flush, oldest_unfinished_gets_the_reason)
{
	for (uint64_t id = 0; id < DEPTH; id++)
		post(id, 0);
	sq.next = 2;
	mt_sq_complete(&sq, 1);
	mt_sq_flush(&sq, RD_WC_RETRY_EXC_ERR);
	assert_u_eq(sq.next, sq.tail);
	check_poll(1, RD_WC_RETRY_EXC_ERR); /* 0 was unsignalled and is silent */
	check_poll(2, RD_WC_WR_FLUSH_ERR);
	check_none();
}

TEST_WITH(fresh, NULL, mt_sq_flush, nothing_unfinished)
{
	post(7, RD_SEND_SIGNALED);
	mt_sq_complete(&sq, 1);
	mt_sq_flush(&sq, RD_WC_FATAL_ERR);
	check_poll(7, RD_WC_SUCCESS);
	check_none();
}

TEST_WITH(fresh, NULL, mt_sq_complete, beyond_what_was_sent_trips)
{
	post(1, 0);
	expect_assert_failure(mt_sq_complete(&sq, 2));
}

TEST_WITH(fresh, NULL, mt_sq_sges, each_slot_has_its_own)
{
	assert_ptr_equal(mt_sq_sges(&sq, mt_sq_at(&sq, 1)), &sges[2]);
	assert_ptr_equal(mt_sq_sges(&sq, mt_sq_at(&sq, 7)), &sges[6]);
}

TEST_WITH(fresh, NULL, mt_sq_reset, empties)
{
	post(1, RD_SEND_SIGNALED);
	mt_sq_complete(&sq, 1);
	mt_sq_reset(&sq);
	check_none();
	assert_ptr_equal(mt_sq_alloc(&sq), &wqes[0]);
}

static void receive(uint64_t wr_id)
{
	*mt_rq_at(&rq, rq.tail++) = (struct mt_rqe){.wr_id = wr_id};
}

TEST_WITH(fresh, NULL, mt_rq_poll, what_arrived_in_order)
{
	struct mt_event ev;

	receive(5);
	receive(6);
	assert_false(mt_rq_poll(&rq, &ev));
	rqes[0].imm = 0xABCD;
	rqes[0].byte_len = 77;
	rqes[0].solicited = rqes[0].with_imm = true;
	rq.used = 1;
	assert_true(mt_rq_poll(&rq, &ev));
	assert_u_eq(ev.type, MT_EVENT_RECV);
	assert_u_eq(ev.status, RD_WC_SUCCESS);
	assert_u_eq(ev.wr_id, 5);
	assert_true(ev.imm_valid && ev.solicited);
	assert_u_eq(ev.imm, 0xABCD);
	assert_u_eq(ev.byte_len, 77);
	assert_false(mt_rq_poll(&rq, &ev));
}

TEST_WITH(fresh, NULL, mt_rq_flush, unused_ones_have_no_immediate)
{
	struct mt_event ev;

	receive(5);
	receive(6);
	rq.used = 1;
	mt_rq_flush(&rq, RD_WC_WR_FLUSH_ERR);
	assert_true(mt_rq_poll(&rq, &ev));
	assert_u_eq(ev.status, RD_WC_SUCCESS);
	assert_true(mt_rq_poll(&rq, &ev));
	assert_u_eq(ev.wr_id, 6);
	assert_u_eq(ev.status, RD_WC_WR_FLUSH_ERR);
	assert_false(ev.imm_valid);
	mt_rq_reset(&rq);
	assert_u_eq(rq.tail, 0);
	assert_false(mt_rq_poll(&rq, &ev));
}
