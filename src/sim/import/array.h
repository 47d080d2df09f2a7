/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * array.h - arrays that grow: MS_GROW(type) is one, all zeros is empty.
 *
 *	MS_GROW(uint32_t) lines;
 *	ok = ms_grow_add(&lines, &line);	false: no memory, nothing changed
 *	lines.at[i], i < lines.n
 *	ms_grow_free(&lines);
 */
#ifndef SOFTMRC_SIM_IMPORT_ARRAY_H
#define SOFTMRC_SIM_IMPORT_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

#endif
