/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rng.h - randomness of simulated worlds: PCG (RXS-M-XS, 64 bits), one stream a world.
 *
 * It is not the generator of the code under test, and a world draws from nothing else, so that a
 * world repeats exactly from its seed.
 */
#ifndef SUPPORT_RNG_H
#define SUPPORT_RNG_H

#include <stdbool.h>
#include <stdint.h>

struct rng {
	uint64_t state;
};

static inline uint64_t rng_rand(struct rng *r)
{
	uint64_t s = r->state;
	uint64_t w = ((s >> ((s >> 59) + 5)) ^ s) * UINT64_C(12605985483714917081);

	r->state = s * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return w >> 43 ^ w;
}

static inline void rng_init(struct rng *r, uint64_t seed)
{
	r->state = seed ^ UINT64_C(0x5851F42D4C957F2D);
	/* Neighbouring seeds part ways within two steps. */
	rng_rand(r);
	rng_rand(r);
}

/* rng_below returns a number in [0, n); n >= 1. */
static inline uint64_t rng_below(struct rng *r, uint64_t n)
{
	return rng_rand(r) % n;
}

/* rng_between returns a number in [low, high]. */
static inline uint64_t rng_between(struct rng *r, uint64_t low, uint64_t high)
{
	return low + rng_below(r, high - low + 1);
}

/* rng_chance is true ppm times in a million; it draws nothing when ppm is 0. */
static inline bool rng_chance(struct rng *r, uint32_t ppm)
{
	return ppm != 0 && rng_below(r, 1000000) < ppm;
}

#endif
