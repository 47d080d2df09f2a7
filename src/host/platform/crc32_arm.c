/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crc32_arm.c - CRC-32 by carry-less multiplication (PMULL), on 64-bit Arm.
 *
 * The folding is that of crc32_x86.c, which explains it, with the same constants: a vector of Arm
 * holds the bytes in the same order, as long as the machine is little-endian. Before release 16
 * clang has the instruction only where everything is compiled for it: the portable routine then.
 */
#include "host/platform/platform.h"

#if defined(__aarch64__) && !defined(__AARCH64EB__) && \
	(!defined(__clang__) || __clang_major__ >= 16)

#include <arm_neon.h>
#include <sys/auxv.h>

#define CRC_HWCAP_PMULL (1ul << 4) /* of AT_HWCAP, fixed by the kernel's interface */

/* Below this the set-up costs more than it saves. */
#define CRC_FOLD_MIN 64u

#define CRC_X544 0x154442BD4 /* x^(512+64-32), goes with the half that comes first */
#define CRC_X480 0x1C6E41596 /* x^(512-32) */
#define CRC_X160 0x1751997D0 /* x^(128+64-32) */
#define CRC_X96 0x0CCAA009E  /* x^(128-32) */

#define CRC_TARGET __attribute__((target("+crypto")))

static inline CRC_TARGET poly64x2_t crc_constants(uint64_t first, uint64_t second)
{
	return vreinterpretq_p64_u64(vcombine_u64(vcreate_u64(first), vcreate_u64(second)));
}

/* crc_fold moves a forward by the distance of the constants k and adds what stands there. */
static inline CRC_TARGET uint8x16_t crc_fold(uint8x16_t a, poly64x2_t k, uint8x16_t next)
{
	poly64x2_t halves = vreinterpretq_p64_u8(a);
	poly128_t first = vmull_p64(vgetq_lane_p64(halves, 0), vgetq_lane_p64(k, 0));
	poly128_t second = vmull_high_p64(halves, k);

	return veorq_u8(veorq_u8(vreinterpretq_u8_p128(first), vreinterpretq_u8_p128(second)),
			next);
}

/* crc_end folds x[0] to x[3], which follow each other, and the len bytes at p behind them. */
static inline CRC_TARGET uint32_t crc_end(const uint8x16_t x[4], const uint8_t *p, size_t len)
{
	const poly64x2_t near = crc_constants(CRC_X160, CRC_X96);
	uint8x16_t sum = crc_fold(x[0], near, x[1]);
	uint8_t rest[16];
	uint32_t crc;

	sum = crc_fold(sum, near, x[2]);
	sum = crc_fold(sum, near, x[3]);
	for (; len >= 16; p += 16, len -= 16)
		sum = crc_fold(sum, near, vld1q_u8(p));
	vst1q_u8(rest, sum);
	crc = mw_crc32_update(0, rest, sizeof(rest));
	return mw_crc32_update(crc, p, len);
}

static CRC_TARGET uint32_t crc_pmull(uint32_t crc, const void *bytes, size_t len)
{
	const poly64x2_t far = crc_constants(CRC_X544, CRC_X480);
	const uint8_t *p = bytes;
	uint8x16_t x[4];

	if (len < CRC_FOLD_MIN)
		return mw_crc32_update(crc, bytes, len);
	for (uint32_t i = 0; i < 4; i++)
		x[i] = vld1q_u8(p + (size_t)16 * i);
	/* A running CRC is what the next 32 bits are to be changed by. */
	x[0] = veorq_u8(x[0], vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(crc), vcreate_u64(0))));
	for (p += 64, len -= 64; len >= 64; p += 64, len -= 64)
		for (uint32_t i = 0; i < 4; i++)
			x[i] = crc_fold(x[i], far, vld1q_u8(p + (size_t)16 * i));
	return crc_end(x, p, len);
}

uint32_t mh_crc32_arm(mw_crc32_fn fn[MH_CRC32_MAX], uint32_t n)
{
	if (getauxval(AT_HWCAP) & CRC_HWCAP_PMULL)
		fn[n++] = crc_pmull;
	return n;
}

#else

uint32_t mh_crc32_arm(mw_crc32_fn fn[MH_CRC32_MAX], uint32_t n)
{
	(void)fn;
	return n;
}

#endif
