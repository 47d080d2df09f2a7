/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arena.h - the memory of a worker's NICs: blocks of any size out of large pages.
 *
 * Blocks are multiples of a cache line. What is given back is kept by its size, since a run makes
 * the same few kinds of things again and again. An arena belongs to one thread at a time.
 */
#ifndef SOFTMRC_SIM_KERNEL_ARENA_H
#define SOFTMRC_SIM_KERNEL_ARENA_H

#include <stddef.h>
#include <stdint.h>

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
