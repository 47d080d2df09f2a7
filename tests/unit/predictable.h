/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * predictable.h - whether one who knows the numbers given so far knows something of the next.
 *
 * For a number and the one given 1, 2, 4, ... before it: no eight bits of their difference, or of
 * their XOR, may be more frequent than others. That finds steps, counters with random bits
 * around them, and Feistel networks of one and two rounds over a counter, as unit_numbers.c shows.
 */
#ifndef UNIT_PREDICTABLE_H
#define UNIT_PREDICTABLE_H

#include <stdbool.h>
#include <stdint.h>

/* Of chi square with 255 degrees of freedom: the mean and nine standard deviations. */
#define PREDICTABLE_CHI (255 + 9 * 22.6)

/* predictable_bits returns chi square of the eight bits from `shift` on, over all pairs. */
static inline double predictable_bits(const uint32_t *v, uint32_t n, uint32_t lag, uint32_t shift,
				      bool by_xor)
{
	double expected = (n - lag) / 256.0, chi = 0;
	uint32_t count[256] = {0};

	for (uint32_t i = lag; i < n; i++)
		count[(by_xor ? v[i] ^ v[i - lag] : v[i] - v[i - lag]) >> shift & 0xFF]++;
	for (uint32_t i = 0; i < 256; i++)
		chi += (count[i] - expected) * (count[i] - expected) / expected;
	return chi;
}

/* predictable looks at n numbers of `bits` bits (8 .. 32), in the order of their giving. */
static inline bool predictable(const uint32_t *v, uint32_t n, uint32_t bits)
{
	for (uint32_t lag = 1; lag <= n / 2; lag *= 2)
		for (uint32_t shift = 0; shift <= bits - 8; shift++)
			if (predictable_bits(v, n, lag, shift, false) > PREDICTABLE_CHI ||
			    predictable_bits(v, n, lag, shift, true) > PREDICTABLE_CHI)
				return true;
	return false;
}

#endif
