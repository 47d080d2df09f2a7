/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pool.h - blocks of memory out of chunks that the owner provides.
 *
 * The core allocates nothing. Its adapter gives it chunks, and windows are carved from them when
 * a QP first needs them and returned when it is reset. Blocks are powers of two from 64 bytes;
 * each size has a free list, and what is left of a chunk is handed out from its end.
 */
#ifndef SOFTMRC_BASE_POOL_H
#define SOFTMRC_BASE_POOL_H

#include <stddef.h>
#include <stdint.h>

#define MB_POOL_MIN_LOG2 6u
#define MB_POOL_CLASSES 26u /* up to 2^31 bytes */

struct mb_pool {
	void *free[MB_POOL_CLASSES];
	uint8_t *chunk; /* the unused part of the newest chunk */
	size_t chunk_left;
	size_t in_use; /* bytes handed out */
	size_t wanted; /* what mb_pool_get last found missing since mb_pool_add; 0: nothing */
};

void mb_pool_init(struct mb_pool *p);
/*
 * mb_pool_add gives the pool a chunk, 64-byte aligned, owned by the caller and valid as long as
 * the pool is used. What was left of an older chunk is put on the free lists, not lost.
 */
void mb_pool_add(struct mb_pool *p, void *chunk, size_t size);
/* mb_pool_get returns a 64-byte aligned block of at least size bytes, or NULL: add a chunk
 * first. */
void *mb_pool_get(struct mb_pool *p, size_t size);
/* mb_pool_put returns a block that mb_pool_get gave for the same size; NULL is ignored. */
void mb_pool_put(struct mb_pool *p, void *block, size_t size);
/* mb_pool_block_size returns what a request for size bytes takes out of a chunk. */
size_t mb_pool_block_size(size_t size);

#endif
