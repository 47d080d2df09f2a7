/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared receive queues: who gets which receive, what is given back, and the limit. */
#include "support/test.h"

#include "core/ext/ext.h"
#include "core/state/engine_state.h"

#define DEPTH 6u
#define SLOTS 8u
#define SGES 2u

static struct mt_engine engine;
static struct mt_srq *srq;
static struct {
	struct mt_rqe rqes[SLOTS];
	struct rd_sge sges[SLOTS * SGES];
} mem[2];
static struct mt_rq rq[2];

static int fresh(void **state)
{
	static _Alignas(8) uint8_t bytes[4096];
	struct mt_srq_cap cap = {.depth = DEPTH, .max_sge = SGES, .pd = 3};

	(void)state;
	engine = (struct mt_engine){0};
	mb_link_init(&engine.limited);
	assert_true(mt_srq_size(&cap) <= sizeof(bytes));
	assert_i_eq(mt_srq_init(&engine, bytes, &cap, &srq, &srq), MT_OK);
	for (int i = 0; i < 2; i++)
		rq[i] = (struct mt_rq){.rqes = mem[i].rqes,
				       .depth = 5,
				       .mask = SLOTS - 1,
				       .max_sge = SGES,
				       .srq = srq};
	return 0;
}

static int post(uint64_t wr_id)
{
	struct rd_sge sge[SGES] = {{.addr = wr_id, .length = 10, .lkey = 1},
				   {.addr = wr_id + 1, .length = 20, .lkey = 2}};
	struct rd_recv_wr wr = {.wr_id = wr_id, .sge = sge, .n_sge = SGES};

	return mt_srq_post(srq, &wr);
}

static void posts(uint64_t from, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		assert_i_eq(post(from + i), MT_OK);
}

TEST(mt_srq_size, refuses_what_cannot_be)
{
	struct mt_srq_cap cap = {.depth = 0, .max_sge = 1};

	assert_u_eq(mt_srq_size(&cap), 0);
	cap.depth = 32769;
	assert_u_eq(mt_srq_size(&cap), 0);
	cap = (struct mt_srq_cap){.depth = 1, .max_sge = RD_SGE_MAX + 1};
	assert_u_eq(mt_srq_size(&cap), 0);
	assert_i_eq(mt_srq_init(&engine, NULL, &cap, NULL, &srq), MT_ERR_INVALID);
}

TEST(mt_srq_size, the_largest)
{
	struct mt_srq_cap cap = {.depth = 32768, .max_sge = 1};

	assert_true(mt_srq_size(&cap) >= 32768 * sizeof(struct rd_sge));
	cap = (struct mt_srq_cap){.depth = 1, .max_sge = RD_SGE_MAX};
	assert_true(mt_srq_size(&cap) >= RD_SGE_MAX * sizeof(struct rd_sge));
}

/* Nothing is written behind the bytes that it was said to need, whichever slots are used. */
TEST(mt_srq_init, keeps_to_its_memory)
{
	static _Alignas(8) uint8_t bytes[4096];
	struct mt_srq_cap cap = {.depth = SLOTS, .max_sge = SGES};
	size_t size = mt_srq_size(&cap);

	engine = (struct mt_engine){0};
	mb_link_init(&engine.limited);
	memset(bytes, 0xA5, sizeof(bytes));
	assert_i_eq(mt_srq_init(&engine, bytes, &cap, NULL, &srq), MT_OK);
	for (uint64_t i = 0; i < SLOTS; i++)
		assert_i_eq(post(UINT64_MAX - i), MT_OK);
	for (size_t i = size; i < sizeof(bytes); i++)
		assert_u_eq(bytes[i], 0xA5);
}

TEST_WITH(fresh, NULL, mt_srq_post, until_full)
{
	struct rd_sge sge[SGES + 1] = {0};
	struct rd_recv_wr wr = {.sge = sge, .n_sge = SGES + 1};

	assert_i_eq(mt_srq_post(srq, &wr), MT_ERR_INVALID);
	posts(0, DEPTH);
	assert_i_eq(post(99), MT_ERR_FULL);
}

/* REQ(ext.srq.take) */
TEST_WITH(fresh, NULL, mt_recv_find, takes_from_the_srq_in_turn)
{
	struct mt_rqe *rqe = NULL;

	posts(100, 4);
	assert_u_eq(mt_recv_find(&rq[0], 1, &rqe), MT_RECV_POSTED);
	assert_u_eq(rqe->wr_id, 101);
	assert_u_eq(mt_recv_find(&rq[1], 0, &rqe), MT_RECV_POSTED);
	assert_u_eq(rqe->wr_id, 102);
	assert_u_eq(mt_recv_find(&rq[0], 0, &rqe), MT_RECV_POSTED);
	assert_u_eq(rqe->wr_id, 100);
	assert_u_eq(mt_recv_room(&rq[0], rqe), 30);
	assert_u_eq(mt_rq_sges(&rq[0], rqe)[1].addr, 101);
}

/* All or none: a message far ahead leaves what others may take sooner. */
TEST_WITH(fresh, NULL, mt_recv_find, too_few)
{
	struct mt_rqe *rqe;

	assert_u_eq(mt_recv_find(&rq[0], 0, &rqe), MT_RECV_NOT_YET);
	posts(0, 2);
	assert_u_eq(mt_recv_find(&rq[0], 2, &rqe), MT_RECV_NOT_YET);
	assert_u_eq(rq[0].tail, 0);
	assert_u_eq(mt_recv_find(&rq[0], 0xFFFF, &rqe), MT_RECV_PAST);
	assert_u_eq(mt_recv_find(&rq[1], 0, &rqe), MT_RECV_POSTED);
}

/* REQ(ext.srq.share): a peer that invents numbers leaves as many as its QP takes. */
TEST_WITH(fresh, NULL, mt_recv_find, not_more_ahead_than_is_left)
{
	struct mt_rqe *rqe;

	posts(0, DEPTH);
	assert_u_eq(mt_recv_find(&rq[0], 3, &rqe), MT_RECV_NOT_YET);
	assert_u_eq(rq[0].tail, 0);
	assert_u_eq(mt_recv_find(&rq[0], 2, &rqe), MT_RECV_POSTED);
	assert_u_eq(mt_recv_find(&rq[0], 3, &rqe), MT_RECV_NOT_YET);
	assert_u_eq(mt_recv_find(&rq[1], 1, &rqe), MT_RECV_POSTED);
	/* One is left. The oldest message of a QP may always take it. */
	assert_u_eq(mt_recv_find(&rq[1], 2, &rqe), MT_RECV_NOT_YET);
	rq[0].used = 3;
	assert_u_eq(mt_recv_find(&rq[0], 3, &rqe), MT_RECV_POSTED);
}

/* More than the QP may have taken at once, though the SRQ has them. */
TEST_WITH(fresh, NULL, mt_recv_find, no_room)
{
	struct mt_rqe *rqe;

	posts(0, DEPTH);
	for (uint16_t i = 0; i < 5; i++) {
		rq[0].used = i;
		assert_u_eq(mt_recv_find(&rq[0], i, &rqe), MT_RECV_POSTED);
	}
	rq[0].used = 5;
	assert_u_eq(mt_recv_find(&rq[0], 5, &rqe), MT_RECV_NOT_YET);
}

/* A place is free when its completion was polled, not when it was taken. */
TEST_WITH(fresh, NULL, mt_srq_polled, frees_a_place)
{
	posts(0, DEPTH);
	assert_true(mt_srq_fill(&rq[0], 1));
	assert_i_eq(post(9), MT_ERR_FULL);
	mt_srq_polled(srq);
	assert_i_eq(post(9), MT_OK);
	assert_i_eq(post(10), MT_ERR_FULL);
}

/* REQ(ext.srq.take) */
TEST_WITH(fresh, NULL, mt_srq_return, what_was_not_used_comes_first)
{
	struct mt_rqe *rqe = NULL;

	posts(0, DEPTH);
	assert_true(mt_srq_fill(&rq[0], 0));
	rq[0].used = 1; /* complete, and never polled */
	assert_true(mt_srq_fill(&rq[0], 3));
	mt_srq_return(&rq[0]);
	assert_u_eq(rq[0].tail, 1);
	for (uint16_t i = 0; i < 5; i++) {
		rq[1].used = i;
		assert_u_eq(mt_recv_find(&rq[1], i, &rqe), MT_RECV_POSTED);
		assert_u_eq(rqe->wr_id, i + 1);
		assert_u_eq(mt_rq_sges(&rq[1], rqe)[0].addr, i + 1);
	}
	assert_i_eq(post(9), MT_OK);
	assert_i_eq(post(10), MT_ERR_FULL);
}

/* REQ(ext.srq.limit) */
TEST_WITH(fresh, NULL, mt_srq_arm, once_when_it_falls_below)
{
	struct mt_event ev;

	posts(0, 4);
	assert_i_eq(mt_srq_arm(srq, DEPTH + 1), MT_ERR_INVALID);
	assert_i_eq(mt_srq_arm(srq, DEPTH), MT_OK); /* it is below already */
	assert_true(mt_srq_poll(&engine, &ev));
	assert_i_eq(mt_srq_arm(srq, 3), MT_OK);
	assert_u_eq(mt_srq_limit(srq), 3);
	assert_true(mt_srq_fill(&rq[0], 0));
	assert_false(mt_srq_poll(&engine, &ev));
	assert_true(mt_srq_fill(&rq[0], 1));
	assert_true(mt_srq_poll(&engine, &ev));
	assert_u_eq(ev.type, MT_EVENT_SRQ_LIMIT);
	assert_ptr_equal(ev.qp_user, &srq);
	assert_false(mt_srq_poll(&engine, &ev));
	assert_u_eq(mt_srq_limit(srq), 0);
	rq[0].used = 2;
	assert_true(mt_srq_fill(&rq[0], 2));
	assert_false(mt_srq_poll(&engine, &ev));
}

TEST_WITH(fresh, NULL, mt_srq_arm, at_once_when_it_is_below)
{
	struct mt_event ev;

	assert_i_eq(mt_srq_arm(srq, 0), MT_OK);
	assert_false(mt_srq_poll(&engine, &ev));
	assert_i_eq(mt_srq_arm(srq, 1), MT_OK);
	assert_true(mt_srq_poll(&engine, &ev));
	assert_i_eq(mt_srq_arm(srq, 1), MT_OK);
	mt_srq_fini(srq);
	assert_false(mt_srq_poll(&engine, &ev));
}

/* For messages of others: one after the other, and each counts until it was polled. */
TEST_WITH(fresh, NULL, mt_srq_pop, the_oldest)
{
	struct rd_recv_wr wr;

	assert_false(mt_srq_pop(srq, &wr));
	assert_false(mt_srq_peek(srq, &wr));
	posts(5, DEPTH);
	assert_true(mt_srq_pop(srq, &wr));
	assert_u_eq(wr.wr_id, 5);
	assert_u_eq(wr.n_sge, SGES);
	assert_u_eq(wr.sge[1].addr, 6);
	assert_i_eq(post(20), MT_ERR_FULL);
	mt_srq_polled(srq);
	assert_i_eq(post(20), MT_OK);
	assert_true(mt_srq_pop(srq, &wr));
	assert_u_eq(wr.wr_id, 6);
}

/* REQ(ext.srq.limit) */
TEST_WITH(fresh, NULL, mt_srq_pop, tells_of_the_limit)
{
	struct rd_recv_wr wr;
	struct mt_event ev;

	posts(0, 3);
	assert_i_eq(mt_srq_arm(srq, 2), MT_OK);
	assert_true(mt_srq_pop(srq, &wr));
	assert_false(mt_srq_poll(&engine, &ev));
	assert_true(mt_srq_pop(srq, &wr));
	assert_true(mt_srq_poll(&engine, &ev));
}

/* What it holds keeps its order, and QPs what they took. REQ(api.srq.resize) */
TEST_WITH(fresh, NULL, mt_srq_resize, larger_and_smaller)
{
	static _Alignas(8) uint8_t large[4096], small[4096];
	struct rd_recv_wr wr;

	posts(10, DEPTH);
	assert_true(mt_srq_fill(&rq[0], 1));
	assert_i_eq(mt_srq_resize(srq, large, 20), MT_OK);
	posts(16, 20 - DEPTH);
	assert_i_eq(post(99), MT_ERR_FULL);
	assert_i_eq(mt_srq_resize(srq, small, 19), MT_ERR_INVALID);
	assert_i_eq(mt_srq_resize(srq, small, 0), MT_ERR_INVALID);
	mt_srq_return(&rq[0]);
	for (uint64_t id = 10; id < 27; id++) {
		assert_true(mt_srq_pop(srq, &wr));
		assert_u_eq(wr.wr_id, id);
		assert_u_eq(wr.sge[1].addr, id + 1);
		mt_srq_polled(srq);
	}
	assert_i_eq(mt_srq_arm(srq, 3), MT_OK);
	assert_i_eq(mt_srq_resize(srq, small, 2), MT_ERR_INVALID);
	assert_i_eq(mt_srq_resize(srq, small, 3), MT_OK);
	assert_true(mt_srq_pop(srq, &wr));
	assert_u_eq(wr.wr_id, 27);
}

/* REQ(api.srq.resize) */
TEST_WITH(fresh, NULL, mt_srq_resize, to_one_and_to_as_many_as_there_may_be)
{
	static _Alignas(8) uint8_t one[256];
	const uint32_t most = 32768;
	struct mt_srq_cap cap = {.depth = most, .max_sge = SGES};
	void *all = malloc(mt_srq_size(&cap));

	assert_i_eq(mt_srq_resize(srq, one, 1), MT_OK);
	posts(0, 1);
	assert_i_eq(post(1), MT_ERR_FULL);
	assert_i_eq(mt_srq_resize(srq, all, most + 1), MT_ERR_INVALID);
	assert_i_eq(mt_srq_resize(srq, all, most), MT_OK);
	posts(1, most - 1);
	assert_i_eq(post(most), MT_ERR_FULL);
	free(all);
}
