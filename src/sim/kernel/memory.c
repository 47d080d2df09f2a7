/* SPDX-License-Identifier: BSD-2-Clause */
/* memory.c - the memory of workers; see memory.h. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bits.h"
#include "sim/kernel/memory.h"

/* ---- chunks ---- */

/* Mappings begin small, for small nets, and double up to this. */
#define FIRST_MAP (256u << 10)
#define LARGEST_MAP (16u << 20)
#define HUGE_PAGE (2u << 20)

/* Stands at the beginning of a mapping. */
struct ms_map {
	struct ms_map *next;
	size_t bytes;
};

void *ms_map_bytes(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	/* Only a wish: without large pages everything works, more slowly. */
	if (bytes >= (size_t)2 * HUGE_PAGE)
		(void)madvise(p, bytes, MADV_HUGEPAGE);
	return p;
}

void ms_unmap_bytes(void *p, size_t bytes)
{
	if (p)
		(void)munmap(p, bytes);
}

void ms_chunks_init(struct ms_chunks *c, uint32_t owner)
{
	*c = (struct ms_chunks){.owner = owner, .map_bytes = FIRST_MAP};
}

void ms_chunks_fini(struct ms_chunks *c)
{
	while (c->maps) {
		struct ms_map *m = c->maps;

		c->maps = m->next;
		ms_unmap_bytes(m, m->bytes);
	}
}

struct ms_chunk *ms_chunk_alloc_slow(struct ms_chunks *c)
{
	struct ms_chunk *k;

	if (c->fresh_bytes < MS_CHUNK_BYTES) {
		struct ms_map *m = ms_map_bytes(c->map_bytes);

		if (!m)
			return NULL;
		*m = (struct ms_map){c->maps, c->map_bytes};
		c->maps = m;
		c->bytes += c->map_bytes;
		/* Pages are multiples of chunks; the first chunk's place holds the map itself. */
		c->fresh = (uint8_t *)m + MS_CHUNK_BYTES;
		c->fresh_bytes = c->map_bytes - MS_CHUNK_BYTES;
		if (c->map_bytes < LARGEST_MAP)
			c->map_bytes *= 2;
	}
	k = (struct ms_chunk *)(void *)c->fresh;
	c->fresh += MS_CHUNK_BYTES;
	c->fresh_bytes -= MS_CHUNK_BYTES;
	k->owner = c->owner;
	return k;
}

ms_tail ms_tail_extend(struct ms_chunks *c, ms_tail tail)
{
	struct ms_chunk *k = ms_chunk_alloc(c);

	if (!k)
		return 0;
	k->next = tail ? ms_tail_chunk(tail) : NULL;
	k->first = k->next ? k->next->first : k;
	if (k->next)
		k->next->newer = k;
	return (uint64_t)(uintptr_t)k->packet;
}

/* ---- slabs ---- */

#define FIRST_ROOM 1024u
#define LARGEST_STEP (1u << 18)
/* Large pages are worth their size from here on. */
#define HUGE_FROM (4u << 20)

/* Makes pages longer, somewhere else if need be; NULL: no memory. */
static void *grow_pages(void *pages, size_t from, size_t to)
{
#ifdef __SANITIZE_THREAD__
	/* It does not see mremap, and takes what another worker is given next for shared. */
	void *p = ms_map_bytes(to);

	if (!p)
		return NULL;
	memcpy(p, pages, from);
	ms_unmap_bytes(pages, from);
	return p;
#else
	void *p = mremap(pages, from, to, MREMAP_MAYMOVE);

	return p == MAP_FAILED ? NULL : p;
#endif
}

int ms_slab_grow(struct ms_slab *s)
{
	uint32_t step = s->room == 0 ? FIRST_ROOM : s->room < LARGEST_STEP ? s->room : LARGEST_STEP;
	size_t size = sizeof(*s->packet), bytes = (s->room + (size_t)step) * size;
	void *p;

	if (s->room > UINT32_MAX - step)
		return 0;
	if (s->room == 0) {
		p = ms_map_bytes(bytes);
		if (!p)
			return 0;
		s->fresh = 1;
	} else {
		p = grow_pages(s->packet, s->room * size, bytes);
		if (!p)
			return 0;
		if (bytes >= HUGE_FROM)
			(void)madvise(p, bytes, MADV_HUGEPAGE);
	}
	s->packet = p;
	s->room += step;
	return 1;
}

void ms_slab_fini(struct ms_slab *s)
{
	ms_unmap_bytes(s->packet, s->room * sizeof(*s->packet));
}

/* ---- arenas ---- */

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
