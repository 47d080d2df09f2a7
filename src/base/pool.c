/* SPDX-License-Identifier: BSD-2-Clause */
/* pool.c - blocks of memory from chunks that the owner adds, on free lists by size. */
#include "base/pool.h"

#include "base/assert.h"
#include "base/bits.h"

static unsigned size_class(size_t size)
{
	if (size <= (size_t)1 << MB_POOL_MIN_LOG2)
		return 0;
	return mb_log2(size - 1) + 1 - MB_POOL_MIN_LOG2;
}

size_t mb_pool_block_size(size_t size)
{
	return (size_t)1 << (size_class(size) + MB_POOL_MIN_LOG2);
}

static void push(struct mb_pool *p, unsigned cls, void *block)
{
	*(void **)block = p->free[cls];
	p->free[cls] = block;
}

void mb_pool_init(struct mb_pool *p)
{
	for (unsigned i = 0; i < MB_POOL_CLASSES; i++)
		p->free[i] = NULL;
	p->chunk = NULL;
	p->chunk_left = 0;
	p->in_use = 0;
	p->wanted = 0;
}

/* Cuts what is left of the chunk into the largest blocks that fit. */
static void retire_chunk(struct mb_pool *p)
{
	while (p->chunk_left >= (size_t)1 << MB_POOL_MIN_LOG2) {
		unsigned log2 = mb_log2(p->chunk_left);
		size_t size;

		if (log2 > MB_POOL_MIN_LOG2 + MB_POOL_CLASSES - 1)
			log2 = MB_POOL_MIN_LOG2 + MB_POOL_CLASSES - 1;
		size = (size_t)1 << log2;
		push(p, log2 - MB_POOL_MIN_LOG2, p->chunk);
		p->chunk += size;
		p->chunk_left -= size;
	}
}

void mb_pool_add(struct mb_pool *p, void *chunk, size_t size)
{
	mb_assert(((uintptr_t)chunk & 63) == 0);
	retire_chunk(p);
	p->chunk = chunk;
	p->chunk_left = size;
	p->wanted = 0;
}

void *mb_pool_get(struct mb_pool *p, size_t size)
{
	unsigned cls = size_class(size);
	size_t block_size = mb_pool_block_size(size);
	void *block;

	mb_assert(cls < MB_POOL_CLASSES);
	block = p->free[cls];
	if (block) {
		p->free[cls] = *(void **)block;
	} else if (p->chunk_left >= block_size) {
		block = p->chunk;
		p->chunk += block_size;
		p->chunk_left -= block_size;
	} else {
		p->wanted = block_size;
		return NULL;
	}
	p->in_use += block_size;
	return block;
}

void mb_pool_put(struct mb_pool *p, void *block, size_t size)
{
	if (!block)
		return;
	p->in_use -= mb_pool_block_size(size);
	push(p, size_class(size), block);
}
