/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/kernel/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bits.h"

#define PAGE ((size_t)1 << 21)
/* In front of each page: the next one. */
#define HEAD 64u

void ms_arena_init(struct ms_arena *a)
{
	memset(a, 0, sizeof(*a));
}

void ms_arena_fini(struct ms_arena *a)
{
	for (void *p = a->pages, *next; p; p = next) {
		next = *(void **)p;
		free(p);
	}
	ms_arena_init(a);
}

/* Takes pages for `size` bytes from the system. */
static uint8_t *map_more(struct ms_arena *a, size_t size)
{
	size_t whole = (size + HEAD + PAGE - 1) / PAGE * PAGE;
	uint8_t *p = aligned_alloc(PAGE, whole);

	if (!p)
		return NULL;
	/* A hint: without large pages everything works, only slower. */
	(void)madvise(p, whole, MADV_HUGEPAGE);
	*(void **)(void *)p = a->pages;
	a->pages = p;
	a->bytes += whole;
	return p + HEAD;
}

void *ms_arena_alloc(struct ms_arena *a, size_t size)
{
	size_t whole = mb_align64(size ? size : 1);
	void **place, *block;

	if (whole > MS_ARENA_SMALL)
		return map_more(a, whole);
	place = &a->free[whole / 64];
	if (*place) {
		block = *place;
		*place = *(void **)block;
		return block;
	}
	if (a->fresh_bytes < whole) {
		a->fresh = map_more(a, whole);
		if (!a->fresh) {
			a->fresh_bytes = 0;
			return NULL;
		}
		a->fresh_bytes = PAGE - HEAD;
	}
	block = a->fresh;
	a->fresh += whole;
	a->fresh_bytes -= whole;
	return block;
}

void ms_arena_free(struct ms_arena *a, void *block, size_t size)
{
	size_t whole = mb_align64(size ? size : 1);

	if (!block || whole > MS_ARENA_SMALL)
		return;
	*(void **)block = a->free[whole / 64];
	a->free[whole / 64] = block;
}
