/* SPDX-License-Identifier: BSD-2-Clause */
/* cold_pool.h - an EV set that is tested without an engine, and its pool. */
#ifndef UNIT_COLD_POOL_H
#define UNIT_COLD_POOL_H

#include "base/pool.h"
#include "core/ev/ev_set.h"
#include "support/test.h"

static _Alignas(64) uint8_t cold_memory[1 << 17];
static _Alignas(64) uint8_t cold_shared[1 << 15], cold_set[1 << 14];
static struct mb_pool cold_blocks;

/* cold_pool returns a pool in which nothing is in use: for one EV set at a time. */
static inline struct mb_pool *cold_pool(void)
{
	mb_pool_init(&cold_blocks);
	mb_pool_add(&cold_blocks, cold_memory, sizeof(cold_memory));
	return &cold_blocks;
}

/* cold_ev_set makes the one EV set that there is, whose memory was in use before. */
static inline struct mt_ev_set *cold_ev_set(const struct mt_ev_profile_cfg *cfg, uint32_t ports)
{
	assert_true(mt_ev_shared_size(cfg, ports) <= sizeof(cold_shared));
	assert_true(mt_ev_set_size(cfg->n_evs, ports) <= sizeof(cold_set));
	memset(cold_shared, 0xAA, sizeof(cold_shared));
	memset(cold_set, 0xAA, sizeof(cold_set));
	return mt_ev_set_init(cold_set, mt_ev_shared_init(cold_shared, cfg, ports),
			      &(struct rd_gid){{9}}, cold_pool());
}

#endif
