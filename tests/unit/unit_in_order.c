/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets that wait come out by PSN, and not before their time. */
#include "support/test.h"

#include "core/window/window.h"

#define N 100u

static struct mt_buffered waiters[N];

/* REQ(ext.order.wait) */
TEST(mt_in_order_pop, whatever_the_order_of_arrival)
{
	for (unsigned round = 0; round < 50; round++) {
		uint64_t psns[N], next = 0;
		struct mt_in_order o;

		mt_in_order_init(&o);
		for (unsigned i = 0; i < N; i++)
			psns[i] = i * 3;
		for (unsigned i = N; i-- > 0;) {
			unsigned k = (unsigned)test_rand_below(i + 1);
			uint64_t psn = psns[k];

			psns[k] = psns[i];
			waiters[i].psn = psn;
			mt_in_order_insert(&o, &waiters[i]);
		}
		assert_u_eq(o.count, N);
		for (uint64_t expected = 0; expected <= 3 * N; expected++) {
			struct mt_buffered *w;

			while ((w = mt_in_order_pop(&o, expected, UINT64_MAX))) {
				assert_u_eq(w->psn, next);
				assert_true(w->psn < expected);
				next += 3;
			}
			assert_true(next >= expected);
		}
		assert_u_eq(o.count, 0);
	}
}

TEST(mt_in_order_pop, nothing_waits)
{
	struct mt_in_order o;

	mt_in_order_init(&o);
	assert_null(mt_in_order_pop(&o, UINT64_MAX, UINT64_MAX));
}

TEST(mt_in_order_pop, not_before_the_messages_in_front_are_complete)
{
	struct mt_buffered w = {.psn = 10, .msn = 3};
	struct mt_in_order o;

	mt_in_order_init(&o);
	mt_in_order_insert(&o, &w);
	assert_null(mt_in_order_pop(&o, 11, 3));
	assert_u_eq(o.count, 1);
	assert_true(mt_in_order_pop(&o, 11, 4) == &w);
}
