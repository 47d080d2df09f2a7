/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mr_keys.c - the keys of MRs and memory windows.
 *
 * Keys are what a peer presents, so they are made hard to guess: the index advances by a random
 * step and the tag by another. All of it is under nic->lock, which the caller holds anyway to enter
 * the MR in the engine's table.
 */
#include "host/state/nic_context.h"

#include "base/assert.h"

/* Indices are given in order from a random one on, this many at most left out at a time. */
#define KEYS_STEP_MAX 16u

uint32_t mh_mr_keys_alloc(struct mh_mr_keys *keys, uint64_t random)
{
	uint32_t step = (uint32_t)(random % KEYS_STEP_MAX);
	uint32_t tag_step = 1 + (uint32_t)(random >> 8 & 0xFF) % 255;

	if (keys->count == MH_MRS_MAX)
		return 0;
	/*
	 * The first index is anywhere, so that keys of two processes, or of two runs, differ from
	 * the start.
	 */
	if (keys->newest == 0)
		step = (uint32_t)(random >> 32);
	keys->newest = (keys->newest + step % MH_MRS_MAX) % MH_MRS_MAX;
	do {
		keys->newest = keys->newest % MH_MRS_MAX + 1;
	} while (keys->used[keys->newest]);
	keys->used[keys->newest] = true;
	keys->tag[keys->newest] = (uint8_t)(keys->tag[keys->newest] + tag_step);
	keys->count++;
	return keys->newest << 8 | keys->tag[keys->newest];
}

void mh_mr_keys_free(struct mh_mr_keys *keys, uint32_t key)
{
	uint32_t index = mh_mr_key_index(key);

	mb_assert(keys->used[index]);
	keys->used[index] = false;
	keys->tag[index] = (uint8_t)key; /* binds of a window have changed it */
	keys->count--;
}
