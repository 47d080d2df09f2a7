/* SPDX-License-Identifier: BSD-2-Clause */
/* memory.h - the memory of workers: packets on wires, packets in queues, and what NICs need. */
#ifndef SOFTMRC_SIM_KERNEL_MEMORY_H
#define SOFTMRC_SIM_KERNEL_MEMORY_H

#include "sim/kernel/sim_net.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The memory that packets on wires live in: blocks of 2 KiB out of large mappings.
 *
 * A chunk is 2 KiB at an address that is a multiple of 2 KiB, so that the address of the next free
 * place in it says by itself whether the chunk is full, and where it begins. Chunks belong to the
 * worker that took them from the system, not to the one that has read them last.
 */
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

/*
 * Where packets wait in queues: numbered places for one packet each.
 *
 * A queue is a list of numbers; the number of the next packet stands in the place of `at`, which a
 * packet that waits has no use for. The slab of a worker grows as a whole and may move when it
 * does.
 */
struct ms_slab {
	struct ms_packet *packet; /* [0] is never used: number 0 means none */
	uint32_t free;		  /* list of numbers */
	uint32_t fresh;		  /* this one and above were never used */
	uint32_t room;
};

/* ms_slab_grow makes room for more; 0: no memory. */
int ms_slab_grow(struct ms_slab *s);
void ms_slab_fini(struct ms_slab *s);

/* ms_slab_alloc returns a free number; 0: no memory. */
static inline uint32_t ms_slab_alloc(struct ms_slab *s)
{
	uint32_t i = s->free;

	if (i) {
		s->free = s->packet[i].at;
		__builtin_prefetch(&s->packet[s->free], 1);
		return i;
	}
	if (s->fresh == s->room && !ms_slab_grow(s))
		return 0;
	return s->fresh++;
}

static inline void ms_slab_free(struct ms_slab *s, uint32_t i)
{
	s->packet[i].at = s->free;
	s->free = i;
}

/*
 * The memory of a worker's NICs: blocks of any size out of large pages.
 *
 * Blocks are multiples of a cache line. What is given back is kept by its size, since a run makes
 * the same few kinds of things again and again. An arena belongs to one thread at a time.
 */
/* Larger blocks have pages of their own, which go back to the system only with the arena. */
#define MS_ARENA_SMALL 65536u

struct ms_arena {
	void *pages; /* all of them, in a list */
	uint8_t *fresh;
	size_t fresh_bytes;
	size_t bytes; /* taken from the system */
	void *free[MS_ARENA_SMALL / 64 + 1];
};

void ms_arena_init(struct ms_arena *a);
void ms_arena_fini(struct ms_arena *a);
/* ms_arena_alloc returns a block of at least `size` bytes, 64-byte aligned, its contents
 * unspecified; NULL: no memory. */
void *ms_arena_alloc(struct ms_arena *a, size_t size);
/* ms_arena_free takes a block of that size back; NULL is ignored. */
void ms_arena_free(struct ms_arena *a, void *block, size_t size);

#endif
