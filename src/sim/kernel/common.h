/* SPDX-License-Identifier: BSD-2-Clause */
/* common.h - what every part of the simulator uses: arrays, heaps, percentiles, reasons. */
#ifndef SOFTMRC_SIM_KERNEL_COMMON_H
#define SOFTMRC_SIM_KERNEL_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MS_COUNT(array) (sizeof(array) / sizeof((array)[0]))

static inline uint64_t ms_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Arrays that grow: MS_GROW(type) is one, all zeros is empty.
 *
 *	MS_GROW(uint32_t) lines;
 *	ok = ms_grow_add(&lines, &line);	false: no memory, nothing changed
 *	lines.at[i], i < lines.n
 *	ms_grow_free(&lines);
 */
#define MS_GROW(type)           \
	struct {                \
		type *at;       \
		size_t n, room; \
	}

/* ms_grow_room makes room for one more element of `size` bytes; false: there is none. */
static inline bool ms_grow_room(void **at, size_t n, size_t *room, size_t size)
{
	size_t want = *room ? *room * 2 : 64;
	void *grown;

	if (n < *room)
		return true;
	if (want > SIZE_MAX / size)
		return false;
	grown = realloc(*at, want * size);
	if (!grown)
		return false;
	*at = grown;
	*room = want;
	return true;
}

/* ms_grow_place appends an element, not initialised, and returns it; NULL: no memory. */
#define ms_grow_place(array)                                                     \
	(ms_grow_room((void **)(void *)&(array)->at, (array)->n, &(array)->room, \
		      sizeof(*(array)->at))                                      \
		 ? &(array)->at[(array)->n++]                                    \
		 : NULL)

#define ms_grow_add(array, value)                                                \
	(ms_grow_room((void **)(void *)&(array)->at, (array)->n, &(array)->room, \
		      sizeof(*(array)->at)) &&                                   \
	 (memcpy(&(array)->at[(array)->n++], (value), sizeof(*(array)->at)), true))

#define ms_grow_free(array)                     \
	do {                                    \
		free((array)->at);              \
		(array)->at = NULL;             \
		(array)->n = (array)->room = 0; \
	} while (0)

/*
 * Heaps: such arrays, whose elements begin with struct ms_heap_key and have at most MS_HEAP_BYTES.
 * The first element is the one of the smallest key, of equal keys of the smallest number.
 *
 *	ok = ms_heap_add(&heap, &element);	false: no memory
 *	heap.at[0], heap.n > 0
 *	element = *ms_heap_take(&heap);		valid until the next ms_heap_add
 */
struct ms_heap_key {
	uint64_t key, number;
};

#define MS_HEAP_BYTES 64u

static inline bool ms_heap_is_before(const char *heap, size_t a, size_t b, size_t size)
{
	const struct ms_heap_key *x = (const void *)(heap + a * size);
	const struct ms_heap_key *y = (const void *)(heap + b * size);

	return x->key != y->key ? x->key < y->key : x->number < y->number;
}

static inline void ms_heap_swap(char *heap, size_t a, size_t b, size_t size)
{
	char kept[MS_HEAP_BYTES];

	memcpy(kept, heap + a * size, size);
	memcpy(heap + a * size, heap + b * size, size);
	memcpy(heap + b * size, kept, size);
}

/* ms_heap_rise moves the last of n elements to its place. */
static inline void ms_heap_rise(void *heap, size_t n, size_t size)
{
	for (size_t i = n - 1; i > 0 && ms_heap_is_before(heap, i, (i - 1) / 2, size);
	     i = (i - 1) / 2)
		ms_heap_swap(heap, i, (i - 1) / 2, size);
}

/* ms_heap_sink moves the first of n elements behind the others, which are a heap then. */
static inline void ms_heap_sink(void *heap, size_t n, size_t size)
{
	size_t i = 0, child;

	ms_heap_swap(heap, 0, --n, size);
	while ((child = 2 * i + 1) < n) {
		child += child + 1 < n && ms_heap_is_before(heap, child + 1, child, size);
		if (!ms_heap_is_before(heap, child, i, size))
			return;
		ms_heap_swap(heap, i, child, size);
		i = child;
	}
}

#define ms_heap_add(heap, value)     \
	(ms_grow_add(heap, value) && \
	 (ms_heap_rise((heap)->at, (heap)->n, sizeof(*(heap)->at)), true))

#define ms_heap_take(heap) \
	(ms_heap_sink((heap)->at, (heap)->n, sizeof(*(heap)->at)), &(heap)->at[--(heap)->n])

/* ms_compare compares two rows of n numbers as qsort wants it; the first that differs decides. */
int ms_compare(const uint64_t *a, const uint64_t *b, size_t n);
/* ms_sort sorts n numbers. */
void ms_sort(uint64_t *numbers, size_t n);
/* ms_percentile returns the smallest of n sorted numbers, 1 or more, that so many of a thousand are
 * not above. */
uint64_t ms_percentile(const uint64_t *sorted, size_t n, uint32_t per_mille);

/* Why something was refused: room for the text of a reason. */
#define MS_WHY_BYTES 256u

/* ms_refuse writes a reason of at most MS_WHY_BYTES with its end. Returns false. */
__attribute__((format(printf, 2, 3))) bool ms_refuse(char *why, const char *format, ...);

#endif
