/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rank_link.h - how several processes run one net: what it needs of MPI, and nothing else knows of
 * MPI.
 */
#ifndef SOFTMRC_SIM_KERNEL_RANK_LINK_H
#define SOFTMRC_SIM_KERNEL_RANK_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More processes than this are not worth their exchange. */
#define MS_RANKS_MAX 256u

/* Bytes for or from one rank. */
struct ms_bytes {
	const void *at;
	size_t n;
};

/*
 * The other ranks. Each call is made by all ranks, in the same order, by one thread each; false: a
 * rank is lost, and the run with it.
 */
struct ms_ranks {
	void *ctx;
	uint32_t rank, ranks;
	/* Gives out[r] to rank r; in[r] is what rank r gave, valid until the next call. */
	bool (*exchange)(void *ctx, const struct ms_bytes *out, struct ms_bytes *in);
	/* Replaces each of n numbers by the smallest, or by the sum modulo 2^64, over all ranks. */
	bool (*least)(void *ctx, uint64_t *numbers, uint32_t n);
	bool (*sum)(void *ctx, uint64_t *numbers, uint32_t n);
};

#endif
