/* SPDX-License-Identifier: BSD-2-Clause */
/* chunk.c - see memory.h. */
#include "sim/kernel/memory.h"

#include <sys/mman.h>

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
