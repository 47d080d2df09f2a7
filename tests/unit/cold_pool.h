/* SPDX-License-Identifier: BSD-2-Clause */
/* cold_pool.h - a pool for path sets that are tested without an engine. */
#ifndef UNIT_COLD_POOL_H
#define UNIT_COLD_POOL_H

#include "base/pool.h"

static _Alignas(64) uint8_t cold_memory[1 << 17];
static struct mb_pool cold_blocks;

/* cold_pool returns a pool in which nothing is in use: for one path set at a time. */
static inline struct mb_pool *cold_pool(void)
{
	mb_pool_init(&cold_blocks);
	mb_pool_add(&cold_blocks, cold_memory, sizeof(cold_memory));
	return &cold_blocks;
}

#endif
