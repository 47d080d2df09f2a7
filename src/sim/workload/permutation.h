/* SPDX-License-Identifier: BSD-2-Clause */
/* permutation.h - random permutations that follow from a seed. */
#ifndef SOFTMRC_SIM_WORKLOAD_PERMUTATION_H
#define SOFTMRC_SIM_WORKLOAD_PERMUTATION_H

#include <stdbool.h>
#include <stdint.h>

/* ms_permutation_fill writes a random permutation of n, by the seed, and its inverse, which may be
 * NULL. */
void ms_permutation_fill(uint32_t *to, uint32_t *from, uint32_t n, uint64_t seed);
/*
 * ms_permutation_derange changes it so that no number maps to itself, or to another of the same
 * block of `block` numbers; false when no such permutation was found.
 */
bool ms_permutation_derange(uint32_t *to, uint32_t *from, uint32_t n, uint32_t block,
			    uint64_t seed);

#endif
