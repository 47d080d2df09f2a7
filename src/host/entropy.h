/* SPDX-License-Identifier: BSD-2-Clause */
/* entropy.h - numbers that nobody outside can guess: seeds, keys, first QP numbers. */
#ifndef SOFTMRC_HOST_ENTROPY_H
#define SOFTMRC_HOST_ENTROPY_H

#include <stdint.h>

/* mh_entropy returns 64 bits from the kernel; where it has none yet, of the clock. Never blocks. */
uint64_t mh_entropy(void);

#endif
