/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fast_div.h - division by a number that is known once and used often.
 *
 * A multiplication by 2^s / by, rounded up, and a shift by s, give the exact quotient of every
 * number below 2^31: with 2^(L-1) < by <= 2^L and s = 31 + L the rounding adds less than 1 / by.
 * The product stays below 2^64. A simulated packet asks for several quotients at each hop, and a
 * division by a variable costs ten times as much.
 */
#ifndef SOFTMRC_FABRIC_FAST_DIV_H
#define SOFTMRC_FABRIC_FAST_DIV_H

#include <stdint.h>

/* Numbers to be divided are below this. */
#define MF_DIVIDEND_END (UINT32_C(1) << 31)

struct mf_div {
	uint64_t factor;
	uint32_t by;
	uint32_t shift;
};

/* mf_div_of prepares a division by `by`, which is 1 .. 2^31. */
static inline struct mf_div mf_div_of(uint32_t by)
{
	uint32_t log = 0;

	while ((UINT64_C(1) << log) < by)
		log++;
	return (struct mf_div){
		.factor = ((UINT64_C(1) << (31 + log)) + by - 1) / by,
		.by = by,
		.shift = 31 + log,
	};
}

/* mf_div_quotient returns n / by; n is below MF_DIVIDEND_END. */
static inline uint32_t mf_div_quotient(struct mf_div d, uint32_t n)
{
	return (uint32_t)(n * d.factor >> d.shift);
}

/* mf_div_rest returns n % by; n is below MF_DIVIDEND_END. */
static inline uint32_t mf_div_rest(struct mf_div d, uint32_t n)
{
	return n - mf_div_quotient(d, n) * d.by;
}

#endif
