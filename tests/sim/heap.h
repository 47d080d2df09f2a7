/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heap.h - what will happen, earliest first. Things due at the same time come out in the order in
 * which they went in, which makes a simulation repeatable.
 */
#ifndef SIM_HEAP_H
#define SIM_HEAP_H

#include <stddef.h>
#include <stdint.h>

#define SIM_NEVER UINT64_MAX

struct sim_heap_item {
	uint64_t when;
	uint64_t order;
	void *what;
};

struct sim_heap {
	struct sim_heap_item *items;
	size_t n, room;
	uint64_t pushed;
};

/* sim_heap_push adds `what`, due at `when`. */
void sim_heap_push(struct sim_heap *h, uint64_t when, void *what);
/* sim_heap_next returns when the first thing is due, SIM_NEVER when there is none. */
uint64_t sim_heap_next(const struct sim_heap *h);
/* sim_heap_pop takes the first thing out; NULL when there is none. */
void *sim_heap_pop(struct sim_heap *h);
/* sim_heap_fini frees the heap; what is still in it must have been popped. */
void sim_heap_fini(struct sim_heap *h);

#endif
