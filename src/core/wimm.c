/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/wimm.h"

#include "base/bits.h"
#include "base/serial.h"

size_t mt_wimm_stash_size(uint32_t limit)
{
	return mb_pow2_ceil(limit) * sizeof(struct mt_wimm);
}

void mt_wimm_stash_init(struct mt_wimm_stash *st, void *mem, uint32_t limit)
{
	*st = (struct mt_wimm_stash){.places = mem, .size = mb_pow2_ceil(limit), .limit = limit};
	for (uint32_t i = 0; i < st->size; i++)
		st->places[i].valid = false;
}

bool mt_wimm_put(struct mt_wimm_stash *st, uint16_t rqmsn, const struct mt_wimm *w)
{
	uint64_t n = mb_serial_extend(st->next, rqmsn, 16);
	struct mt_wimm *place = &st->places[n & (st->size - 1)];

	if (n - st->next >= st->limit || place->valid)
		return false;
	*place = *w;
	place->valid = true;
	return true;
}

bool mt_wimm_take(struct mt_wimm_stash *st, uint64_t expected, uint64_t msn, struct mt_wimm *w)
{
	struct mt_wimm *place = &st->places[st->next & (st->size - 1)];

	if (!place->valid || place->psn >= expected || place->msn >= msn)
		return false;
	*w = *place;
	place->valid = false;
	st->next++;
	return true;
}
