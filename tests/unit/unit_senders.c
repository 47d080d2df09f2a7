/* SPDX-License-Identifier: BSD-2-Clause */
/* How many QPs send: each once a period, while a last hop trims. */
#include "support/test.h"

#include "core/state/senders.h"

#define PACKET 40u
#define LEAST 20000u
#define START 1000000u

static struct mt_senders s;
static uint32_t qps[1000];

/* A first packet was trimmed: a period of the least length has begun. */
static int began(void **state)
{
	(void)state;
	s = (struct mt_senders){0};
	memset(qps, 0, sizeof(qps));
	mt_senders_trimmed(&s, START, PACKET, LEAST);
	return 0;
}

#define CASE(function, name) TEST_WITH(began, NULL, function, name)

static void hear(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		mt_senders_note(&s, &qps[i]);
}

/* REQ(rsp.senders) */
CASE(mt_senders_count, each_once_in_a_period)
{
	assert_u_eq(mt_senders_count(&s), 0);
	hear(7);
	hear(5);
	assert_u_eq(mt_senders_count(&s), 7);
	mt_senders_trimmed(&s, START + LEAST - 1, PACKET, LEAST);
	assert_u_eq(s.heard, 7);
}

/* REQ(rsp.senders) */
CASE(mt_senders_count, that_of_the_last_period_or_more)
{
	hear(7);
	mt_senders_trimmed(&s, START + LEAST, PACKET, LEAST);
	assert_u_eq(s.heard, 0);
	hear(3);
	assert_u_eq(mt_senders_count(&s), 7);
	hear(9);
	assert_u_eq(mt_senders_count(&s), 9);
	mt_senders_trimmed(&s, START + 2 * LEAST, PACKET, LEAST);
	mt_senders_trimmed(&s, START + 3 * LEAST, PACKET, LEAST);
	assert_u_eq(mt_senders_count(&s), 0);
}

/* REQ(rsp.senders) All of 1,000 senders have sent twice before it ends. */
CASE(mt_senders_trimmed, a_period_is_long_enough_for_all)
{
	uint64_t length = 2u * PACKET * 1000;

	hear(1000);
	mt_senders_trimmed(&s, START + LEAST, PACKET, LEAST);
	hear(10);
	mt_senders_trimmed(&s, START + LEAST + length - 1, PACKET, LEAST);
	assert_u_eq(s.heard, 10);
	mt_senders_trimmed(&s, START + LEAST + length, PACKET, LEAST);
	assert_u_eq(s.heard, 0);
	assert_u_eq(mt_senders_count(&s), 10);
}

/* REQ(rsp.senders) Nothing was trimmed for long: who was heard meanwhile says nothing of now. */
CASE(mt_senders_trimmed, what_is_old_does_not_count)
{
	hear(7);
	mt_senders_trimmed(&s, START + LEAST + LEAST - 1, PACKET, LEAST);
	assert_u_eq(mt_senders_count(&s), 7);
	hear(8);
	mt_senders_trimmed(&s, START + 4 * LEAST - 1, PACKET, LEAST);
	assert_u_eq(mt_senders_count(&s), 0);
}
