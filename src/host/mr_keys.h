/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mr_keys.h - the keys of MRs and memory windows, and the check that their memory is there.
 *
 * A key is index << 8 | tag. Both are random: a peer that knows one key must not know the others.
 * An index comes again after a long time only, and never with the tag it had last. The engine has
 * the table of what the keys name. Nothing is pinned. Guarded by the NIC's lock.
 */
#ifndef SOFTMRC_HOST_MR_KEYS_H
#define SOFTMRC_HOST_MR_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* MRs and windows together. */
#define MH_MRS_MAX 16384u

struct mh_mr_keys {
	bool used[MH_MRS_MAX + 1];   /* by index; 0 is no index */
	uint8_t tag[MH_MRS_MAX + 1]; /* of the last key of each index */
	uint32_t newest;	     /* index given last; the search begins behind it */
	uint32_t count;
};

/*
 * mh_mem_check returns 0 when every page of [addr, addr + length) can be read, and written if
 * `write`; else EFAULT. Pages are faulted in on the way, as pinning would do. Takes no lock.
 */
int mh_mem_check(void *addr, size_t length, bool write);

/*
 * mh_mr_keys_alloc returns a key whose index is free; 0: all are in use. `random` is of 64 fresh
 * random bits.
 */
uint32_t mh_mr_keys_alloc(struct mh_mr_keys *keys, uint64_t random);
/* mh_mr_keys_free makes the index of a key free; its next key has another tag than this one. */
void mh_mr_keys_free(struct mh_mr_keys *keys, uint32_t key);

static inline uint32_t mh_mr_key_index(uint32_t key)
{
	return key >> 8;
}

#endif
