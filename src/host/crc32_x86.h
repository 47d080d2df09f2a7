/* SPDX-License-Identifier: BSD-2-Clause */
/* crc32_x86.h - the fastest CRC-32 routine for the ICRC that this CPU has. */
#ifndef SOFTMRC_HOST_CRC32_X86_H
#define SOFTMRC_HOST_CRC32_X86_H

#include "wire/icrc.h"

#define MH_CRC32_MAX 3u

/*
 * mh_crc32_all puts into fn the routines of this CPU that compute what mw_crc32_update computes,
 * the slowest, which is that one, first. Returns how many there are, at least 1.
 */
uint32_t mh_crc32_all(mw_crc32_fn fn[MH_CRC32_MAX]);

/* mh_crc32_best returns the fastest of them. */
mw_crc32_fn mh_crc32_best(void);

#endif
