/* SPDX-License-Identifier: BSD-2-Clause */
/* Which receive a message takes, its memory, and when it completes. */
#include "support/test.h"

#include "core/ext/ext.h"

#define SLOTS 8u
#define SGES 3u

static struct {
	struct mt_rqe rqes[SLOTS];
	struct rd_sge sges[SLOTS * SGES];
} mem;
static struct mt_rq rq;

static int fresh(void **state)
{
	(void)state;
	memset(&mem, 0, sizeof(mem));
	rq = (struct mt_rq){.rqes = mem.rqes, .depth = SLOTS, .mask = SLOTS - 1, .max_sge = SGES};
	return 0;
}

static struct mt_rqe *post(uint32_t a, uint32_t b, uint32_t c)
{
	struct mt_rqe *rqe = mt_rq_at(&rq, rq.tail++);
	struct rd_sge *s = mt_rq_sges(&rq, rqe);

	*rqe = (struct mt_rqe){.n_sge = SGES};
	s[0] = (struct rd_sge){.addr = 1000, .length = a, .lkey = 1};
	s[1] = (struct rd_sge){.addr = 2000, .length = b, .lkey = 2};
	s[2] = (struct rd_sge){.addr = 3000, .length = c, .lkey = 3};
	return rqe;
}

/* REQ(ext.recv.match) */
TEST_WITH(fresh, NULL, mt_recv_find, by_number)
{
	struct mt_rqe *rqe = NULL;

	rq.head = rq.used = rq.tail = 65534;
	assert_u_eq(mt_recv_find(&rq, 65534, &rqe), MT_RECV_NOT_YET);
	for (int i = 0; i < 4; i++)
		post(1, 1, 1);
	assert_u_eq(mt_recv_find(&rq, 65534, &rqe), MT_RECV_POSTED);
	assert_ptr_equal(rqe, mt_rq_at(&rq, 65534));
	assert_u_eq(mt_recv_find(&rq, 1, &rqe), MT_RECV_POSTED);
	assert_ptr_equal(rqe, mt_rq_at(&rq, 65537));
	assert_u_eq(mt_recv_find(&rq, 2, &rqe), MT_RECV_NOT_YET);
	assert_u_eq(mt_recv_find(&rq, 65533, &rqe), MT_RECV_PAST);
}

TEST_WITH(fresh, NULL, mt_recv_find, before_the_first_one)
{
	struct mt_rqe *rqe;

	post(1, 1, 1);
	assert_u_eq(mt_recv_find(&rq, 0xFFFF, &rqe), MT_RECV_PAST);
	assert_u_eq(mt_recv_find(&rq, 0x8000, &rqe), MT_RECV_PAST);
	assert_u_eq(mt_recv_find(&rq, 0x7FFF, &rqe), MT_RECV_NOT_YET);
}

/* REQ(ext.recv.order) */
TEST_WITH(fresh, NULL, mt_recv_complete_below, in_order_and_not_before_the_message)
{
	struct mt_rqe *first = post(1, 0, 0), *second = post(1, 0, 0);
	bool torn;

	second->arrived = true;
	second->msn = 5;
	assert_false(mt_recv_complete_below(&rq, 100, 256, &torn));
	first->arrived = true;
	first->msn = 3;
	assert_false(mt_recv_complete_below(&rq, 3, 256, &torn));
	assert_true(mt_recv_complete_below(&rq, 4, 256, &torn));
	assert_u_eq(rq.used, 1);
	assert_true(mt_recv_complete_below(&rq, 6, 256, &torn));
	assert_u_eq(rq.used, 2);
	assert_false(mt_recv_complete_below(&rq, 7, 256, &torn));
}

/* REQ(rsp.complete.whole) */
TEST_WITH(fresh, NULL, mt_recv_complete_below, not_what_ended_without_all_its_packets)
{
	struct mt_rqe *rqe = post(1000, 0, 0);
	bool torn = false;

	rqe->arrived = true;
	rqe->opcode = RD_WR_SEND;
	rqe->byte_len = 513;
	rqe->parts.count = 2; /* of three */
	assert_false(mt_recv_complete_below(&rq, 1, 256, &torn));
	assert_true(torn);
	rqe->parts.count = 3;
	assert_true(mt_recv_complete_below(&rq, 1, 256, &torn));
	assert_false(torn);
}

TEST_WITH(fresh, NULL, mt_recv_room, all_pieces)
{
	assert_u_eq(mt_recv_room(&rq, post(1, 0, 7)), 8);
	assert_u_eq(mt_recv_room(&rq, post(UINT32_MAX, UINT32_MAX, 1)),
		    2 * (uint64_t)UINT32_MAX + 1);
}

/* Every part of every message, against a walk byte by byte. REQ(ext.recv.scatter) */
TEST_WITH(fresh, NULL, rd_sge_next, every_part)
{
	static const uint32_t shapes[][3] = {{3, 0, 4}, {0, 0, 5}, {2, 2, 2}, {7, 0, 0}, {0, 6, 0}};

	for (size_t k = 0; k < 5; k++) {
		struct mt_rqe *rqe = post(shapes[k][0], shapes[k][1], shapes[k][2]);
		uint64_t addr[8], room = 0;

		for (uint32_t i = 0; i < 3; i++)
			for (uint32_t n = 0; n < shapes[k][i]; n++)
				addr[room++] = (i + 1) * 1000 + n;
		for (uint32_t from = 0; from <= room; from++)
			for (uint32_t len = 0; len <= room - from; len++) {
				struct rd_sge_walk w =
					rd_sge_walk(mt_rq_sges(&rq, rqe), rqe->n_sge, from, len);
				struct rd_sge p;
				uint32_t at = from;

				while (rd_sge_next(&w, &p))
					for (uint32_t n = 0; n < p.length; n++) {
						assert_u_eq(p.lkey, addr[at] / 1000);
						assert_u_eq(p.addr + n, addr[at++]);
					}
				assert_u_eq(at, from + len);
			}
	}
}
