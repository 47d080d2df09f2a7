/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prng.h - a small deterministic random source (splitmix64).
 *
 * Every user owns one and seeds it with what it was given, so that a run replays from its seed.
 * Not for secrets.
 */
#ifndef SOFTMRC_BASE_PRNG_H
#define SOFTMRC_BASE_PRNG_H

#include <stdint.h>

struct mb_prng {
	uint64_t state;
};

static inline void mb_prng_init(struct mb_prng *r, uint64_t seed)
{
	r->state = seed;
}

static inline uint64_t mb_prng_u64(struct mb_prng *r)
{
	uint64_t z = (r->state += UINT64_C(0x9E3779B97F4A7C15));

	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return z ^ z >> 31;
}

/* mb_prng_below returns a number in [0, n); n >= 1. The bias is below 2^-32 for 32-bit n. */
static inline uint32_t mb_prng_below(struct mb_prng *r, uint32_t n)
{
	return (uint32_t)((mb_prng_u64(r) >> 32) * n >> 32);
}

/* mb_prng_chance is true with probability parts_per_million / 10^6. */
static inline int mb_prng_chance(struct mb_prng *r, uint32_t parts_per_million)
{
	return mb_prng_below(r, 1000000) < parts_per_million;
}

#endif
