/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * random.h - chance that does not depend on who asks first.
 *
 * Port and time name a decision, and the random bits for it are a function of these and of the
 * seed. Packets that come to a port at the same picosecond share their luck.
 */
#ifndef SOFTMRC_SIM_KERNEL_RANDOM_H
#define SOFTMRC_SIM_KERNEL_RANDOM_H

#include "base/prng.h"

#include <stdbool.h>
#include <stdint.h>

enum ms_draw {
	MS_DRAW_ECN,
	MS_DRAW_LOSS,
	MS_DRAW_CORRUPT,
};

/* ms_mix spreads the bits of a number; a bijection. */
static inline uint64_t ms_mix(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return z ^ z >> 31;
}

/* ms_draw_bits returns 32 random bits for what a port decides at a time. REQ(sim.same-bits) */
static inline uint32_t ms_draw_bits(uint64_t seed, uint32_t port, uint64_t t_ps, enum ms_draw what)
{
	uint64_t when = ms_mix(t_ps * 8 + (uint64_t)what);

	return (uint32_t)(ms_mix(seed ^ when ^ port * UINT64_C(0x9E3779B97F4A7C15)) >> 32);
}

/* ms_draw_ppm is true with probability ppm / 10^6. */
static inline bool ms_draw_ppm(uint64_t seed, uint32_t port, uint64_t t_ps, enum ms_draw what,
			       uint32_t ppm)
{
	return ppm && (uint64_t)ms_draw_bits(seed, port, t_ps, what) * 1000000 >> 32 < ppm;
}

/*
 * The exponential distribution in integers: the same numbers on every machine, from the same
 * generator.
 */
/* ms_exponential_unit draws from the exponential distribution of mean 1, in parts of 2^32. */
uint64_t ms_exponential_unit(struct mb_prng *r);
/* ms_exponential draws from the exponential distribution of a mean below 2^55; rounded down. */
uint64_t ms_exponential(struct mb_prng *r, uint64_t mean);

#endif
