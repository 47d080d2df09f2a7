/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chunk.h - the memory that packets on wires live in: blocks of 2 KiB out of large mappings.
 *
 * A chunk is 2 KiB at an address that is a multiple of 2 KiB, so that the address of the next free
 * place in it says by itself whether the chunk is full, and where it begins. Chunks belong to the
 * worker that took them from the system, not to the one that has read them last.
 */
#ifndef SOFTMRC_SIM_KERNEL_CHUNK_H
#define SOFTMRC_SIM_KERNEL_CHUNK_H

#include <stddef.h>
#include <stdint.h>

#include "sim/kernel/sim_packet.h"

#define MS_CHUNK_BYTES 2048u
#define MS_CHUNK_PACKETS (MS_CHUNK_BYTES / sizeof(struct ms_packet) - 1)

struct ms_chunk {
	struct ms_chunk *next;	/* the one filled before it, or the next free one */
	struct ms_chunk *newer; /* the one filled after it; of the newest unspecified */
	struct ms_chunk *first; /* of its list */
	uint64_t owner;		/* worker of this rank */
	uint64_t unused[4];
	union {
		struct ms_packet packet[MS_CHUNK_PACKETS];
		uint32_t number[MS_CHUNK_PACKETS * 16];
	};
};

static_assert(sizeof(struct ms_chunk) == MS_CHUNK_BYTES, "a chunk is what its name says");

/* The chunks of a worker. */
struct ms_chunks {
	struct ms_chunk *free;
	uint8_t *fresh; /* never used yet, of the newest mapping */
	size_t fresh_bytes;
	struct ms_map *maps;
	size_t bytes, map_bytes;
	uint64_t owner;
};

void ms_chunks_init(struct ms_chunks *c, uint32_t owner);
void ms_chunks_fini(struct ms_chunks *c);
/* ms_chunk_alloc_slow maps more; NULL: no memory. */
struct ms_chunk *ms_chunk_alloc_slow(struct ms_chunks *c);

/* ms_chunk_alloc returns a chunk whose `next` is unspecified, or NULL: no memory. */
static inline struct ms_chunk *ms_chunk_alloc(struct ms_chunks *c)
{
	struct ms_chunk *k = c->free;

	if (!k)
		return ms_chunk_alloc_slow(c);
	c->free = k->next;
	return k;
}

static inline void ms_chunk_free(struct ms_chunks *c, struct ms_chunk *k)
{
	k->next = c->free;
	c->free = k;
}

/*
 * A list that grows at its end, as one word: the address of the next free place in its newest
 * chunk, 0 for an empty list. It is read from the first chunk on; all but the newest are full.
 */
typedef uint64_t ms_tail;

/* ms_tail_is_full says whether there is no place left in the newest chunk, or no chunk. */
static inline int ms_tail_is_full(ms_tail tail)
{
	return (tail & (MS_CHUNK_BYTES - 1)) == 0;
}

/* ms_tail_chunk returns the newest chunk; the list is not empty. */
static inline struct ms_chunk *ms_tail_chunk(ms_tail tail)
{
	return (struct ms_chunk *)(uintptr_t)((tail - 1) & ~(uint64_t)(MS_CHUNK_BYTES - 1));
}

/* ms_tail_extend returns the list with a new, empty chunk at its end; 0: no memory. */
ms_tail ms_tail_extend(struct ms_chunks *c, ms_tail tail);

/* ms_map_bytes maps zeroed memory, on large pages where it is large; NULL: none. */
void *ms_map_bytes(size_t bytes);
void ms_unmap_bytes(void *p, size_t bytes);

#endif
