/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exponential.h - the exponential distribution in integers: the same numbers on every machine, from
 * the same generator.
 */
#ifndef SOFTMRC_SIM_KERNEL_EXPONENTIAL_H
#define SOFTMRC_SIM_KERNEL_EXPONENTIAL_H

#include <stdint.h>

#include "base/prng.h"

/* ms_exponential_unit draws from the exponential distribution of mean 1, in parts of 2^32. */
uint64_t ms_exponential_unit(struct mb_prng *r);
/* ms_exponential draws from the exponential distribution of a mean below 2^55; rounded down. */
uint64_t ms_exponential(struct mb_prng *r, uint64_t mean);

#endif
