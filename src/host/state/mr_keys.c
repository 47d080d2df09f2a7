/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mr_keys.c - the keys of MRs and memory windows: a place in the engine's table and random bits
 * around it, see nic_context.h. All of it is under nic->lock, which the caller holds anyway to
 * enter the MR in that table.
 */
#include "host/state/nic_context.h"

#define INDEX_SHIFT 8u
#define INDEX_MASK ((1u << MH_MR_INDEX_BITS) - 1)

uint32_t mh_mr_keys_alloc(struct mh_numbers *indices, uint64_t random)
{
	uint32_t index = mh_numbers_take(indices, (uint32_t)(random >> 32));
	uint32_t around = (uint32_t)random & ~(INDEX_MASK << INDEX_SHIFT);

	return index == 0 ? 0 : around | index << INDEX_SHIFT;
}

/* Indices do not rest: the other bits of the next key are drawn anew. */
void mh_mr_keys_free(struct mh_numbers *indices, uint32_t key)
{
	mh_numbers_return(indices, mh_mr_key_index(key));
}

uint32_t mh_mr_key_index(uint32_t key)
{
	return key >> INDEX_SHIFT & INDEX_MASK;
}
