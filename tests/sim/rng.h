/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rng.h - randomness of simulated worlds: PCG (RXS-M-XS, 64 bits), one stream a world.
 *
 * It is not the generator of the code under test, and a world draws from nothing else, so that a
 * world repeats exactly from its seed.
 */
#ifndef SIM_RNG_H
#define SIM_RNG_H

#include <stdbool.h>
#include <stdint.h>

struct sim_rng {
	uint64_t state;
};

static inline uint64_t sim_rand(struct sim_rng *r)
{
	uint64_t s = r->state;
	uint64_t w = ((s >> ((s >> 59) + 5)) ^ s) * UINT64_C(12605985483714917081);

	r->state = s * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return w >> 43 ^ w;
}

static inline void sim_rng_init(struct sim_rng *r, uint64_t seed)
{
	r->state = seed ^ UINT64_C(0x5851F42D4C957F2D);
	/* Neighbouring seeds part ways within two steps. */
	sim_rand(r);
	sim_rand(r);
}

/* sim_below returns a number in [0, n); n >= 1. */
static inline uint64_t sim_below(struct sim_rng *r, uint64_t n)
{
	return sim_rand(r) % n;
}

/* sim_between returns a number in [low, high]. */
static inline uint64_t sim_between(struct sim_rng *r, uint64_t low, uint64_t high)
{
	return low + sim_below(r, high - low + 1);
}

/* sim_chance is true ppm times in a million; it draws nothing when ppm is 0. */
static inline bool sim_chance(struct sim_rng *r, uint32_t ppm)
{
	return ppm != 0 && sim_below(r, 1000000) < ppm;
}

#endif
