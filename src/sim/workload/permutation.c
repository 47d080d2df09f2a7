/* SPDX-License-Identifier: BSD-2-Clause */
/* permutation.c - random permutations: of placed hosts, and of destinations. */
#include "sim/workload/workload.h"

#include "base/prng.h"

void ms_permutation_fill(uint32_t *to, uint32_t *from, uint32_t n, uint64_t seed)
{
	struct mb_prng prng;

	mb_prng_init(&prng, seed);
	for (uint32_t i = 0; i < n; i++)
		to[i] = i;
	for (uint32_t i = n - 1; i > 0; i--) {
		uint32_t j = mb_prng_below(&prng, i + 1), t = to[i];

		to[i] = to[j];
		to[j] = t;
	}
	for (uint32_t i = 0; from && i < n; i++)
		from[to[i]] = i;
}

/* Tries before a permutation counts as impossible; a single one mostly does. */
#define SWAPS_MAX 1000u

static bool same_block(uint32_t a, uint32_t b, uint32_t block)
{
	return a / block == b / block;
}

bool ms_permutation_derange(uint32_t *to, uint32_t *from, uint32_t n, uint32_t block, uint64_t seed)
{
	struct mb_prng prng;

	mb_prng_init(&prng, seed + 1);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t tries = 0; same_block(i, to[i], block); tries++) {
			uint32_t j = mb_prng_below(&prng, n), t = to[i];

			if (tries == SWAPS_MAX)
				return false;
			if (same_block(i, to[j], block) || same_block(j, t, block))
				continue;
			to[i] = to[j];
			to[j] = t;
			from[to[i]] = i;
			from[to[j]] = j;
		}
	return true;
}
