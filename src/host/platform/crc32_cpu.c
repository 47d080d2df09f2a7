/* SPDX-License-Identifier: BSD-2-Clause */
/* crc32_cpu.c - which of the routines for CRC-32 this CPU has. */
#include "host/platform/platform.h"

uint32_t mh_crc32_all(mw_crc32_fn fn[MH_CRC32_MAX])
{
	fn[0] = mw_crc32_update;
	return mh_crc32_arm(fn, mh_crc32_x86(fn, 1));
}

/*
 * Asked once for each NIC, which keeps the answer: looking at CPUID for each packet would cost more
 * than a short CRC.
 */
mw_crc32_fn mh_crc32_best(void)
{
	mw_crc32_fn fn[MH_CRC32_MAX];

	return fn[mh_crc32_all(fn) - 1];
}
