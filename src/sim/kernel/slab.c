/* SPDX-License-Identifier: BSD-2-Clause */
/* slab.c - see memory.h. */
#include "sim/kernel/memory.h"

#include <string.h>
#include <sys/mman.h>

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
