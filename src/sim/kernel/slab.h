/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slab.h - where packets wait in queues: numbered places for one packet each.
 *
 * A queue is a list of numbers; the number of the next packet stands in the place of `at`, which a
 * packet that waits has no use for. The slab of a worker grows as a whole and may move when it
 * does.
 */
#ifndef SOFTMRC_SIM_KERNEL_SLAB_H
#define SOFTMRC_SIM_KERNEL_SLAB_H

#include <stddef.h>
#include <stdint.h>

#include "sim/kernel/sim_packet.h"

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

#endif
