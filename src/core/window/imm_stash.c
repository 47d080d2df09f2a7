/* SPDX-License-Identifier: BSD-2-Clause */
/* imm_stash.c - a ring of early immediates, indexed by RQMSN. See the header. */
#include "core/window/window.h"

#include "base/assert.h"
#include "base/bits.h"
#include "base/serial.h"

size_t mt_imm_stash_size(uint32_t limit)
{
	return mb_pow2_ceil(limit) * sizeof(struct mt_imm);
}

void mt_imm_stash_init(struct mt_imm_stash *st, uint32_t limit)
{
	mb_assert(limit > 0);
	*st = (struct mt_imm_stash){.size = mb_pow2_ceil(limit), .limit = limit};
}

void mt_imm_stash_attach(struct mt_imm_stash *st, void *mem)
{
	mb_assert(mem && st->filled == 0);
	st->slots = mem;
	for (uint32_t i = 0; i < st->size; i++)
		st->slots[i].valid = false;
}

uint32_t mt_imm_stash_span(const struct mt_imm_stash *st)
{
	uint32_t span = 0;

	mb_assert(st->filled <= st->limit);
	for (uint32_t i = 0; st->filled > 0 && i < st->limit; i++)
		if (st->slots[(st->next + i) & (st->size - 1)].valid)
			span = i + 1;
	return span;
}

void mt_imm_stash_resize(struct mt_imm_stash *st, void *mem, uint32_t limit)
{
	struct mt_imm_stash old = *st;
	uint32_t span = mt_imm_stash_span(st);

	mb_assert(limit >= span && (mem || span == 0));
	st->limit = limit;
	st->size = mb_pow2_ceil(limit);
	st->slots = NULL;
	if (!mem)
		return;
	st->filled = 0;
	mt_imm_stash_attach(st, mem);
	st->filled = old.filled;
	for (uint32_t i = 0; i < span; i++)
		st->slots[(st->next + i) & (st->size - 1)] =
			old.slots[(old.next + i) & (old.size - 1)];
}

bool mt_imm_stash_insert(struct mt_imm_stash *st, uint16_t rqmsn, const struct mt_imm *w)
{
	uint64_t n = mb_serial_extend(st->next, rqmsn, 16);
	struct mt_imm *place = &st->slots[n & (st->size - 1)];

	mb_assert(st->slots);
	if (n - st->next >= st->limit || place->valid)
		return false;
	*place = *w;
	place->valid = true;
	st->filled++;
	mb_assert_slow(st->filled <= st->limit && mt_imm_stash_span(st) >= st->filled);
	return true;
}

bool mt_imm_stash_pop(struct mt_imm_stash *st, uint64_t expected, uint64_t msn, struct mt_imm *w)
{
	struct mt_imm *place;

	if (st->filled == 0)
		return false;
	mb_assert(st->slots);
	place = &st->slots[st->next & (st->size - 1)];
	if (!place->valid || place->psn >= expected || place->msn >= msn)
		return false;
	*w = *place;
	place->valid = false;
	st->filled--;
	st->next++;
	mb_assert_slow(mt_imm_stash_span(st) >= st->filled);
	return true;
}
