/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * random.c - an exponential distribution without logarithms, after von Neumann (1951): draw
 * numbers from 0 to 1 as long as they fall. That x falls n times in a row has the chance x^n / n!,
 * so that the row is of even length with the chance e^-x. If so the first number is the fraction of
 * the result; if not, 1 is added and all is drawn again.
 */
#include "sim/kernel/random.h"

__extension__ typedef unsigned __int128 wide;

uint64_t ms_exponential_unit(struct mb_prng *r)
{
	for (uint64_t whole = 0;; whole++) {
		uint32_t first = (uint32_t)(mb_prng_u64(r) >> 32), before = first, now;
		uint32_t drawn = 1;

		for (;;) {
			now = (uint32_t)(mb_prng_u64(r) >> 32);
			drawn++;
			if (now > before)
				break;
			before = now;
		}
		if (drawn % 2 == 0)
			return whole << 32 | first;
	}
}

uint64_t ms_exponential(struct mb_prng *r, uint64_t mean)
{
	return (uint64_t)((wide)mean * ms_exponential_unit(r) >> 32);
}
