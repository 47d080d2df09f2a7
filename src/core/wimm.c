/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/wimm.h"

#include "base/assert.h"
#include "base/bits.h"
#include "base/serial.h"

size_t mt_wimm_stash_size(uint32_t limit)
{
	return mb_pow2_ceil(limit) * sizeof(struct mt_wimm);
}

void mt_wimm_stash_init(struct mt_wimm_stash *st, uint32_t limit)
{
	*st = (struct mt_wimm_stash){.size = mb_pow2_ceil(limit), .limit = limit};
}

void mt_wimm_stash_attach(struct mt_wimm_stash *st, void *mem)
{
	mb_assert(st->filled == 0);
	st->places = mem;
	for (uint32_t i = 0; i < st->size; i++)
		st->places[i].valid = false;
}

uint32_t mt_wimm_stash_span(const struct mt_wimm_stash *st)
{
	uint32_t span = 0;

	for (uint32_t i = 0; st->filled > 0 && i < st->limit; i++)
		if (st->places[(st->next + i) & (st->size - 1)].valid)
			span = i + 1;
	return span;
}

void mt_wimm_stash_move(struct mt_wimm_stash *st, void *mem, uint32_t limit)
{
	struct mt_wimm_stash old = *st;
	uint32_t span = mt_wimm_stash_span(st);

	mb_assert(limit >= span && (mem || span == 0));
	st->limit = limit;
	st->size = mb_pow2_ceil(limit);
	st->places = NULL;
	if (!mem)
		return;
	st->filled = 0;
	mt_wimm_stash_attach(st, mem);
	st->filled = old.filled;
	for (uint32_t i = 0; i < span; i++)
		st->places[(st->next + i) & (st->size - 1)] =
			old.places[(old.next + i) & (old.size - 1)];
}

bool mt_wimm_put(struct mt_wimm_stash *st, uint16_t rqmsn, const struct mt_wimm *w)
{
	uint64_t n = mb_serial_extend(st->next, rqmsn, 16);
	struct mt_wimm *place = &st->places[n & (st->size - 1)];

	if (n - st->next >= st->limit || place->valid)
		return false;
	*place = *w;
	place->valid = true;
	st->filled++;
	return true;
}

bool mt_wimm_take(struct mt_wimm_stash *st, uint64_t expected, uint64_t msn, struct mt_wimm *w)
{
	struct mt_wimm *place;

	if (st->filled == 0)
		return false;
	place = &st->places[st->next & (st->size - 1)];
	if (!place->valid || place->psn >= expected || place->msn >= msn)
		return false;
	*w = *place;
	place->valid = false;
	st->filled--;
	st->next++;
	return true;
}
