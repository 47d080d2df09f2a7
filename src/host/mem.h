/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mem.h - the memory regions of the process: which bytes a key names.
 *
 * The engine checks keys, bounds and rights of what packets and WRs ask for. This table holds the
 * pointers: it chooses the keys (index << 8 | tag, both at random, indices at long intervals and
 * never with the tag they had last), checks at registration that the memory is there, and turns
 * (lkey, address) into a pointer when a packet is built. Nothing is pinned. Guarded by the NIC's
 * lock.
 */
#ifndef SOFTMRC_HOST_MEM_H
#define SOFTMRC_HOST_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MH_MRS_MAX 16384u

struct mh_pd;

struct mh_mr {
	struct mh_pd *pd;
	uint8_t *base;
	uint64_t length;
	uint64_t iova; /* of base */
	uint32_t key;
	uint32_t access; /* enum mh_access */
	bool null;	 /* of no bytes: reads as zeros, and what is written is gone */
};

struct mh_mem {
	struct mh_mr *mr[MH_MRS_MAX + 1]; /* by index; 0 is no index */
	uint8_t tag[MH_MRS_MAX + 1];	  /* of the last key of each index */
	uint32_t newest;		  /* index given last; the search begins behind it */
	uint32_t count;
};

/*
 * mh_mem_check returns 0 when every page of [addr, addr + length) can be read, and written if
 * `write`; else EFAULT. Pages are faulted in on the way, as pinning would do. Takes no lock.
 */
int mh_mem_check(void *addr, size_t length, bool write);
/*
 * mh_mem_insert gives the region an index and a key; false: all are in use. `random` is of 64 fresh
 * random bits: a peer that knows one key must not know the others.
 */
bool mh_mem_insert(struct mh_mem *mem, struct mh_mr *mr, uint64_t random);
void mh_mem_remove(struct mh_mem *mem, struct mh_mr *mr);
/* mh_mem_retag says that an index goes by this key now, which is not given again at once. */
void mh_mem_retag(struct mh_mem *mem, uint32_t key);

static inline uint32_t mh_mem_index(uint32_t key)
{
	return key >> 8;
}

/*
 * mh_mem_resolve returns the pointer for bytes [addr, addr + len) of the region with this key, or
 * NULL when the key is no longer valid or the bytes are outside.
 */
static inline void *mh_mem_resolve(const struct mh_mem *mem, uint32_t key, uint64_t addr,
				   uint32_t len)
{
	const struct mh_mr *mr = key >> 8 <= MH_MRS_MAX ? mem->mr[key >> 8] : NULL;

	if (!mr || mr->key != key || addr - mr->iova > mr->length ||
	    len > mr->length - (addr - mr->iova))
		return NULL;
	return mr->base + (addr - mr->iova);
}

/* What one packet can take of memory that is not there. */
#define MH_MEM_ZEROS 4096u

/*
 * mh_mem_zeros returns len bytes of zeros, len <= MH_MEM_ZEROS, for the key of a null region; NULL:
 * the key names none.
 */
const void *mh_mem_zeros(const struct mh_mem *mem, uint32_t key, uint32_t len);

/* mh_mem_find is mh_mem_resolve for an MR of this PD that grants these rights; else NULL. */
static inline void *mh_mem_find(const struct mh_mem *mem, const struct mh_pd *pd, uint32_t access,
				uint32_t key, uint64_t addr, uint32_t len)
{
	void *at = mh_mem_resolve(mem, key, addr, len);
	const struct mh_mr *mr = at ? mem->mr[mh_mem_index(key)] : NULL;

	return mr && mr->pd == pd && (mr->access & access) == access ? at : NULL;
}

#endif
