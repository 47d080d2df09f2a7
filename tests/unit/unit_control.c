/* SPDX-License-Identifier: BSD-2-Clause */
/* The ring of control packets: first in first out, bounded, forgetful of QPs that are gone. */
#include "support/test.h"

#include "core/state/engine_state.h"

#define SIZE 8u

static struct mt_control entries[SIZE];
static struct mt_control_ring ring;
/* Only their addresses count. */
static char qps[2];

static int fresh(void **state)
{
	(void)state;
	mt_control_init(&ring, entries, SIZE);
	return 0;
}

static struct mt_qp *qp(int i)
{
	return (struct mt_qp *)(void *)&qps[i];
}

static bool put(int i, uint16_t path)
{
	struct mt_control c = {.kind = MT_CONTROL_PROBE, .qp = qp(i), .index = path};

	return mt_control_push(&ring, &c);
}

static void check_take(uint16_t path)
{
	struct mt_control c;

	assert_true(mt_control_pop(&ring, &c));
	assert_u_eq(c.index, path);
}

static void check_empty(void)
{
	struct mt_control c;

	assert_false(mt_control_pop(&ring, &c));
}

TEST_WITH(fresh, NULL, mt_control_pop, first_in_first_out)
{
	check_empty();
	for (uint16_t i = 0; i < 3 * SIZE; i++) { /* the ring comes round */
		assert_true(put(0, i));
		if (i > 0)
			check_take((uint16_t)(i - 1));
	}
	check_take(3 * SIZE - 1);
	check_empty();
}

TEST_WITH(fresh, NULL, mt_control_push, refuses_when_full)
{
	for (uint16_t i = 0; i < SIZE; i++)
		assert_true(put(0, i));
	assert_false(put(0, 99));
	check_take(0);
	assert_true(put(0, SIZE));
	for (uint16_t i = 1; i <= SIZE; i++)
		check_take(i);
	check_empty();
}

TEST_WITH(fresh, NULL, mt_control_drop_qp, only_that_qp)
{
	put(0, 1);
	put(1, 2);
	put(0, 3);
	put(1, 4);
	mt_control_drop_qp(&ring, qp(0));
	check_take(2);
	check_take(4);
	check_empty();
}

TEST_WITH(fresh, NULL, mt_control_drop_qp, endpoint_responses_have_no_qp)
{
	struct mt_control answer = {.kind = MT_CONTROL_EP_RESPONSE, .index = 5};

	put(0, 1);
	assert_true(mt_control_push(&ring, &answer));
	mt_control_drop_qp(&ring, qp(0));
	check_take(5);
	check_empty();
}

TEST_WITH(fresh, NULL, mt_control_push, counters_wrap)
{
	ring.head = ring.tail = UINT32_MAX - 2;
	for (uint16_t i = 0; i < SIZE; i++)
		assert_true(put(i & 1, i));
	assert_false(put(0, 99));
	mt_control_drop_qp(&ring, qp(1));
	for (uint16_t i = 0; i < SIZE; i += 2)
		check_take(i);
	check_empty();
}
