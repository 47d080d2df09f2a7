/* SPDX-License-Identifier: BSD-2-Clause */
/* heap.c - a binary heap in an array: the children of item i are items 2i + 1 and 2i + 2. */
#include "heap.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static bool before(const struct sim_heap_item *a, const struct sim_heap_item *b)
{
	return a->when != b->when ? a->when < b->when : a->order < b->order;
}

static void make_room(struct sim_heap *h)
{
	if (h->n < h->room)
		return;
	h->room = h->room ? 2 * h->room : 64;
	h->items = realloc(h->items, h->room * sizeof(*h->items));
	if (!h->items) {
		perror("sim heap");
		abort();
	}
}

void sim_heap_push(struct sim_heap *h, uint64_t when, void *what)
{
	struct sim_heap_item item = {.when = when, .order = h->pushed++, .what = what};
	size_t i;

	make_room(h);
	for (i = h->n++; i > 0 && before(&item, &h->items[(i - 1) / 2]); i = (i - 1) / 2)
		h->items[i] = h->items[(i - 1) / 2];
	h->items[i] = item;
}

uint64_t sim_heap_next(const struct sim_heap *h)
{
	return h->n ? h->items[0].when : SIM_NEVER;
}

void *sim_heap_pop(struct sim_heap *h)
{
	struct sim_heap_item last;
	void *what;
	size_t i = 0;

	if (h->n == 0)
		return NULL;
	what = h->items[0].what;
	last = h->items[--h->n];
	for (size_t child; (child = 2 * i + 1) < h->n; i = child) {
		if (child + 1 < h->n && before(&h->items[child + 1], &h->items[child]))
			child++;
		if (!before(&h->items[child], &last))
			break;
		h->items[i] = h->items[child];
	}
	h->items[i] = last;
	return what;
}

void sim_heap_fini(struct sim_heap *h)
{
	free(h->items);
	*h = (struct sim_heap){0};
}
