/* SPDX-License-Identifier: BSD-2-Clause */
/* crc32_x86.h - the fastest CRC-32 routine for the ICRC that this CPU has. */
#ifndef SOFTMRC_HOST_CRC32_X86_H
#define SOFTMRC_HOST_CRC32_X86_H

#include "wire/icrc.h"

/*
 * mh_crc32_best returns a routine that computes what mw_crc32_update computes: with carry-less
 * multiplication where the CPU can, else mw_crc32_update itself.
 */
mw_crc32_fn mh_crc32_best(void);

#endif
