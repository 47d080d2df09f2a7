/* SPDX-License-Identifier: BSD-2-Clause */
/* delay_queue.c - frame copies in slots, a heap of slot numbers over them, free slots behind the
 * heap. */
#include "io/backlog.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

#define DELAYQ_SLOTS_MAX 65536u

struct delayq_slot {
	struct mio_tx frame;
	struct iovec iov;
	uint64_t due_ns;
	uint64_t order; /* breaks ties between equal dues */
	uint8_t bytes[MIO_FRAME_MAX];
};

struct mio_delayq {
	struct delayq_slot *slots;
	uint32_t n_slots;
	uint32_t count;
	uint64_t puts;
	uint32_t heap[]; /* a permutation of all slots: [0, count) is the heap, the rest is free */
};

struct mio_delayq *mio_delayq_create(uint32_t slots)
{
	struct mio_delayq *hold;

	mb_assert(slots >= 1 && slots <= DELAYQ_SLOTS_MAX);
	hold = calloc(1, sizeof(*hold) + slots * sizeof(hold->heap[0]));
	if (!hold)
		return NULL;
	hold->slots = calloc(slots, sizeof(*hold->slots));
	if (!hold->slots) {
		free(hold);
		return NULL;
	}
	hold->n_slots = slots;
	for (uint32_t i = 0; i < slots; i++)
		hold->heap[i] = i;
	return hold;
}

void mio_delayq_destroy(struct mio_delayq *hold)
{
	if (!hold)
		return;
	free(hold->slots);
	free(hold);
}

static bool delayq_is_earlier(const struct mio_delayq *hold, uint32_t a, uint32_t b)
{
	const struct delayq_slot *x = &hold->slots[hold->heap[a]];
	const struct delayq_slot *y = &hold->slots[hold->heap[b]];

	return x->due_ns != y->due_ns ? x->due_ns < y->due_ns : x->order < y->order;
}

static void delayq_swap(struct mio_delayq *hold, uint32_t a, uint32_t b)
{
	uint32_t slot = hold->heap[a];

	hold->heap[a] = hold->heap[b];
	hold->heap[b] = slot;
}

static void delayq_sift_up(struct mio_delayq *hold, uint32_t i)
{
	while (i > 0 && delayq_is_earlier(hold, i, (i - 1) / 2)) {
		delayq_swap(hold, i, (i - 1) / 2);
		i = (i - 1) / 2;
	}
}

static void delayq_sift_down(struct mio_delayq *hold, uint32_t i)
{
	for (;;) {
		uint32_t first = i;

		for (uint32_t child = 2 * i + 1; child <= 2 * i + 2; child++)
			if (child < hold->count && delayq_is_earlier(hold, child, first))
				first = child;
		if (first == i)
			return;
		delayq_swap(hold, i, first);
		i = first;
	}
}

bool mio_delayq_put(struct mio_delayq *hold, const struct mio_tx *frame, uint64_t due_ns)
{
	struct delayq_slot *slot;

	mb_assert(frame->len <= MIO_FRAME_MAX);
	if (hold->count == hold->n_slots)
		return false;
	slot = &hold->slots[hold->heap[hold->count]];
	if (!mio_tx_gather(frame, slot->bytes))
		return false;
	slot->iov = (struct iovec){slot->bytes, frame->len};
	slot->frame = *frame;
	slot->frame.iov = &slot->iov;
	slot->frame.n_iov = 1;
	slot->due_ns = due_ns;
	slot->order = hold->puts++;
	delayq_sift_up(hold, hold->count++);
	return true;
}

uint32_t mio_delayq_count(const struct mio_delayq *hold)
{
	return hold->count;
}

uint64_t mio_delayq_deadline(const struct mio_delayq *hold)
{
	return hold->count ? hold->slots[hold->heap[0]].due_ns : MIO_NEVER;
}

const struct mio_tx *mio_delayq_first(const struct mio_delayq *hold)
{
	return hold->count ? &hold->slots[hold->heap[0]].frame : NULL;
}

void mio_delayq_pop(struct mio_delayq *hold)
{
	mb_assert(hold->count > 0);
	delayq_swap(hold, 0, --hold->count);
	delayq_sift_down(hold, 0);
}
