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
#ifndef SOFTMRC_HOST_MR_TABLE_H
#define SOFTMRC_HOST_MR_TABLE_H

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
	uint32_t access; /* enum rd_access */
	bool null;	 /* of no bytes: reads as zeros, and what is written is gone */
};

struct mh_mr_table {
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
 * mh_mr_table_insert gives the region an index and a key; false: all are in use. `random` is of 64
 * fresh random bits: a peer that knows one key must not know the others.
 */
bool mh_mr_table_insert(struct mh_mr_table *mem, struct mh_mr *mr, uint64_t random);
void mh_mr_table_remove(struct mh_mr_table *mem, struct mh_mr *mr);
/* mh_mr_table_set_key says that an index goes by this key now, which is not given again at once. */
void mh_mr_table_set_key(struct mh_mr_table *mem, uint32_t key);

static inline uint32_t mh_mr_table_index(uint32_t key)
{
	return key >> 8;
}

/*
 * mh_mr_table_resolve returns the pointer for bytes [addr, addr + len) of the region with this key,
 * or NULL when the key is no longer valid or the bytes are outside.
 */
static inline void *mh_mr_table_resolve(const struct mh_mr_table *mem, uint32_t key, uint64_t addr,
					uint32_t len)
{
	const struct mh_mr *mr = key >> 8 <= MH_MRS_MAX ? mem->mr[key >> 8] : NULL;

	if (!mr || mr->key != key || addr - mr->iova > mr->length ||
	    len > mr->length - (addr - mr->iova))
		return NULL;
	return mr->base + (addr - mr->iova);
}

/* What one packet can take of memory that is not there. */
#define MH_MR_TABLE_ZEROS 4096u

/*
 * mh_mr_table_zeros returns len bytes of zeros, len <= MH_MR_TABLE_ZEROS, for the key of a null
 * region; NULL: the key names none.
 */
const void *mh_mr_table_zeros(const struct mh_mr_table *mem, uint32_t key, uint32_t len);

/* mh_mr_table_find is mh_mr_table_resolve for an MR of this PD that grants these rights; else
 * NULL. */
static inline void *mh_mr_table_find(const struct mh_mr_table *mem, const struct mh_pd *pd,
				     uint32_t access, uint32_t key, uint64_t addr, uint32_t len)
{
	void *at = mh_mr_table_resolve(mem, key, addr, len);
	const struct mh_mr *mr = at ? mem->mr[mh_mr_table_index(key)] : NULL;

	return mr && mr->pd == pd && (mr->access & access) == access ? at : NULL;
}

#endif
