/* SPDX-License-Identifier: BSD-2-Clause */
/* Queues of control packets: first in first out, and none takes what others need. */
#include "support/test.h"

#include "core/state/engine_state.h"

#define SIZE 32u
#define RESERVE (SIZE / 4)
#define QUEUES 3u

static struct mt_control entries[SIZE];
static struct mt_control_pool pool;
static struct mt_control_queue queues[QUEUES];
/* Only its address counts. */
static char qp;

static int fresh(void **state)
{
	(void)state;
	mt_control_init(&pool, entries, SIZE);
	memset(queues, 0, sizeof(queues));
	return 0;
}

static bool put_kind(unsigned q, enum mt_control_kind kind, uint16_t index)
{
	struct mt_control c = {.kind = (uint8_t)kind,
			       .qp = kind < MT_CONTROL_EP_RESPONSE ? (void *)&qp : NULL,
			       .index = index};

	return mt_control_push(&pool, &queues[q], &c);
}

static bool put(unsigned q, uint16_t index)
{
	return put_kind(q, MT_CONTROL_PROBE, index);
}

static unsigned fill(unsigned q, enum mt_control_kind kind)
{
	unsigned n = 0;

	while (put_kind(q, kind, 0))
		n++;
	return n;
}

static void check_take(unsigned q, uint16_t index)
{
	struct mt_control c;

	assert_true(mt_control_pop(&pool, &queues[q], &c));
	assert_u_eq(c.index, index);
}

static void check_empty(unsigned q)
{
	struct mt_control c;

	assert_false(mt_control_pop(&pool, &queues[q], &c));
}

TEST_WITH(fresh, NULL, mt_control_pop, first_in_first_out_of_each_queue)
{
	check_empty(0);
	for (uint16_t i = 0; i < 3 * SIZE; i++) { /* every entry is used again */
		assert_true(put(0, i));
		assert_true(put(1, (uint16_t)(1000 + i)));
		if (i > 0) {
			check_take(0, (uint16_t)(i - 1));
			check_take(1, (uint16_t)(999 + i));
		}
	}
	check_take(1, 999 + 3 * SIZE);
	check_empty(1);
	check_take(0, 3 * SIZE - 1);
	check_empty(0);
	assert_u_eq(pool.n_free, SIZE);
}

/* REQ(rsp.control.quota) */
TEST_WITH(fresh, NULL, mt_control_push, a_full_queue_leaves_as_much_to_others)
{
	/* The first holds half of what is not kept for NACKs, the second half of the rest. */
	assert_u_eq(fill(0, MT_CONTROL_SACK), (SIZE - RESERVE) / 2);
	assert_u_eq(fill(1, MT_CONTROL_SACK), (SIZE - RESERVE) / 4);
	assert_u_eq(fill(2, MT_CONTROL_SACK), (SIZE - RESERVE) / 8);
	check_take(0, 0);
	assert_true(put(2, 1));
}

/* REQ(rsp.control.quota) */
TEST_WITH(fresh, NULL, mt_control_push, nacks_and_own_requests_have_a_reserve)
{
	fill(0, MT_CONTROL_SACK);
	fill(1, MT_CONTROL_EP_RESPONSE);
	fill(2, MT_CONTROL_PROBE);
	assert_true(put_kind(2, MT_CONTROL_NACK, 7));
	assert_true(put_kind(2, MT_CONTROL_EP_REQUEST, 8));
}

/* REQ(rsp.control.quota) */
TEST_WITH(fresh, NULL, mt_control_push, nacks_of_one_queue_do_not_use_it_up)
{
	assert_u_eq(fill(0, MT_CONTROL_NACK), SIZE / 2);
	assert_u_eq(fill(1, MT_CONTROL_NACK), SIZE / 4);
	assert_true(put_kind(2, MT_CONTROL_NACK, 0));
}

/* REQ(rsp.control.quota) */
TEST_WITH(fresh, NULL, mt_control_push, nothing_else_takes_of_the_reserve)
{
	assert_u_eq(fill(0, MT_CONTROL_NACK) + fill(1, MT_CONTROL_NACK), SIZE - RESERVE);
	assert_false(put(2, 1));
	check_take(1, 0);
	assert_true(put(2, 1));
}

TEST_WITH(fresh, NULL, mt_control_clear, only_that_queue)
{
	put(0, 1);
	put(1, 2);
	put(0, 3);
	put(1, 4);
	mt_control_clear(&pool, &queues[0]);
	check_empty(0);
	check_take(1, 2);
	check_take(1, 4);
	assert_u_eq(pool.n_free, SIZE);
}

TEST_WITH(fresh, NULL, mt_control_init, each_entry_is_free_once_and_nothing_behind_them_is_touched)
{
	struct mt_control more[SIZE + 1], last;
	struct mt_control_queue each[SIZE] = {{0}};
	struct mt_control c = {.kind = MT_CONTROL_EP_REQUEST};

	memset(more, 0xA5, sizeof(more));
	last = more[SIZE];
	mt_control_init(&pool, more, SIZE);
	assert_memory_equal(&more[SIZE], &last, sizeof(last));
	for (uint16_t i = 0; i < SIZE; i++) {
		c.index = i;
		assert_true(mt_control_push(&pool, &each[i], &c));
		assert_true(each[i].first < SIZE);
	}
	assert_u_eq(pool.n_free, 0);
	for (uint16_t i = 0; i < SIZE; i++) {
		assert_true(mt_control_pop(&pool, &each[i], &c));
		assert_u_eq(c.index, i);
	}
}

TEST_WITH(fresh, NULL, mt_control_init, the_largest_pool)
{
	static struct mt_control many[UINT16_MAX + 1];

	mt_control_init(&pool, many, UINT16_MAX + 1);
	assert_u_eq(fill(0, MT_CONTROL_NACK), (UINT16_MAX + 1) / 2);
	mt_control_clear(&pool, &queues[0]);
	assert_u_eq(fill(1, MT_CONTROL_NACK), (UINT16_MAX + 1) / 2);
}
