/* SPDX-License-Identifier: BSD-2-Clause */
/* numbers.c - free numbers, of which one is drawn at a time, and those that are not free yet. */
#include "host/state/nic_context.h"

#include "base/assert.h"

void mh_numbers_init(struct mh_numbers *n, uint32_t first, uint32_t end)
{
	mb_assert(first > 0 && first < end && end <= MH_NUMBERS_END);
	n->n_free = 0;
	for (uint32_t number = first; number < end; number++)
		mh_numbers_return(n, number);
}

uint32_t mh_numbers_take(struct mh_numbers *n, uint32_t random)
{
	uint32_t at = (uint32_t)((uint64_t)random * n->n_free >> 32);
	uint32_t number = n->free[at];

	if (n->n_free == 0)
		return 0;
	n->free[at] = n->free[--n->n_free];
	return number;
}

void mh_numbers_return(struct mh_numbers *n, uint32_t number)
{
	mb_assert(number > 0 && number < MH_NUMBERS_END && n->n_free < MH_NUMBERS_END);
	n->free[n->n_free++] = (uint16_t)number;
}

void mh_rests_begin(struct mh_rests *r, uint32_t number, uint64_t until_ns)
{
	uint32_t at = r->end++ % MH_NUMBERS_END;

	mb_assert(r->end - r->begin <= MH_NUMBERS_END);
	r->number[at] = (uint16_t)number;
	r->until_ns[at] = until_ns;
}

void mh_rests_end(struct mh_rests *r, uint64_t now_ns, struct mh_numbers *n)
{
	for (; r->begin != r->end; r->begin++) {
		uint32_t at = r->begin % MH_NUMBERS_END;

		if (now_ns < r->until_ns[at])
			return;
		mh_numbers_return(n, r->number[at]);
	}
}
