/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crc32_x86.c - CRC-32 by carry-less multiplication (PCLMULQDQ).
 *
 * A CRC is the remainder of the message, read as a polynomial over GF(2), divided by P. Replacing a
 * leading part of the message by anything congruent to it modulo P leaves the remainder the same.
 * So 128 bits A that stand n bits before the next 128 are "folded" onto them: with A = H x^64 + L,
 *
 *	A x^n = H x^(n+64) + L x^n = H (x^(n+64) mod P) + L (x^n mod P)   (modulo P)
 *
 * which is two 64 x 32 bit multiplications and fits in 128 bits again. Four accumulators fold over
 * 64 bytes at a time, which hides the latency of the multiplier; then they fold onto one another
 * 16 bytes at a time. What is left, 16 bytes congruent to all that was read, is handed to the
 * portable routine as a message of its own: that replaces the usual reduction at the end, costs
 * nothing that shows, and needs no further constants.
 *
 * All is bit-reflected (the lowest bit of a byte comes first), and the product of two reflected
 * 64-bit numbers comes out one bit too low, so the constants are the reflected 32-bit remainders
 * of x^(n-32) mod P shifted left by one: fold distance n = 512+64, 512, 128+64, 128, each minus 32.
 *
 * Where the multiplier takes four pairs at once (VPCLMULQDQ on 512 bits) each accumulator is four
 * of these side by side: they fold over 256 bytes at a time, n = 2048+64 and 2048, then onto one
 * another by 512 bits, and the last one is the four accumulators of the narrow way.
 */
#include "host/platform/platform.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <stdbool.h>

/* Below this the set-up costs more than it saves. */
#define CRC_FOLD_MIN 64u
#define CRC_WIDE_MIN 256u

#define CRC_X2080 0x11542778A /* x^(2048+64-32) */
#define CRC_X2016 0x1322D1430 /* x^(2048-32) */
#define CRC_X544 0x154442BD4  /* x^(512+64-32), goes with the half that comes first */
#define CRC_X480 0x1C6E41596  /* x^(512-32) */
#define CRC_X160 0x1751997D0  /* x^(128+64-32) */
#define CRC_X96 0x0CCAA009E   /* x^(128-32) */

#define CRC_TARGET __attribute__((target("pclmul,sse4.1")))
#define CRC_WIDE __attribute__((target("pclmul,sse4.1,avx512f,vpclmulqdq")))

static inline CRC_TARGET __m128i crc_load(const uint8_t *p)
{
	return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* crc_fold moves a forward by the distance of the constants k and adds what stands there. */
static inline CRC_TARGET __m128i crc_fold(__m128i a, __m128i k, __m128i next)
{
	__m128i first = _mm_clmulepi64_si128(a, k, 0x00);
	__m128i second = _mm_clmulepi64_si128(a, k, 0x11);

	return _mm_xor_si128(_mm_xor_si128(first, second), next);
}

/* crc_reduce ends a computation: x stands for all that was folded, p[0..len) is not read yet. */
static inline CRC_TARGET uint32_t crc_reduce(__m128i x, const uint8_t *p, size_t len)
{
	uint8_t rest[16];
	uint32_t crc;

	_mm_storeu_si128((__m128i *)(void *)rest, x);
	crc = mw_crc32_update(0, rest, sizeof(rest));
	return mw_crc32_update(crc, p, len);
}

/* crc_end folds x0 to x3, which follow each other, and the len bytes at p behind them. */
static inline CRC_TARGET uint32_t crc_end(__m128i x0, __m128i x1, __m128i x2, __m128i x3,
					  const uint8_t *p, size_t len)
{
	const __m128i near = _mm_set_epi64x(CRC_X96, CRC_X160);

	x1 = crc_fold(x0, near, x1);
	x2 = crc_fold(x1, near, x2);
	x3 = crc_fold(x2, near, x3);
	for (; len >= 16; p += 16, len -= 16)
		x3 = crc_fold(x3, near, crc_load(p));
	return crc_reduce(x3, p, len);
}

static CRC_TARGET uint32_t crc_clmul(uint32_t crc, const void *bytes, size_t len)
{
	const __m128i far = _mm_set_epi64x(CRC_X480, CRC_X544);
	const uint8_t *p = bytes;
	__m128i x0, x1, x2, x3;

	if (len < CRC_FOLD_MIN)
		return mw_crc32_update(crc, bytes, len);
	/* A running CRC is what the next 32 bits are to be changed by. */
	x0 = _mm_xor_si128(crc_load(p), _mm_cvtsi32_si128((int)crc));
	x1 = crc_load(p + 16);
	x2 = crc_load(p + 32);
	x3 = crc_load(p + 48);
	for (p += 64, len -= 64; len >= 64; p += 64, len -= 64) {
		x0 = crc_fold(x0, far, crc_load(p));
		x1 = crc_fold(x1, far, crc_load(p + 16));
		x2 = crc_fold(x2, far, crc_load(p + 32));
		x3 = crc_fold(x3, far, crc_load(p + 48));
	}
	return crc_end(x0, x1, x2, x3, p, len);
}

static inline CRC_WIDE __m512i crc_wide_load(const uint8_t *p)
{
	return _mm512_loadu_si512((const void *)p);
}

static inline CRC_WIDE __m512i crc_wide_fold(__m512i a, __m512i k, __m512i next)
{
	__m512i first = _mm512_clmulepi64_epi128(a, k, 0x00);
	__m512i second = _mm512_clmulepi64_epi128(a, k, 0x11);

	return _mm512_xor_si512(_mm512_xor_si512(first, second), next);
}

static CRC_WIDE uint32_t crc_clmul_wide(uint32_t crc, const void *bytes, size_t len)
{
	const __m512i far = _mm512_broadcast_i32x4(_mm_set_epi64x(CRC_X2016, CRC_X2080));
	const __m512i near = _mm512_broadcast_i32x4(_mm_set_epi64x(CRC_X480, CRC_X544));
	const uint8_t *p = bytes;
	__m512i z0, z1, z2, z3;

	if (len < CRC_WIDE_MIN)
		return crc_clmul(crc, bytes, len);
	z0 = _mm512_xor_si512(crc_wide_load(p),
			      _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)crc)));
	z1 = crc_wide_load(p + 64);
	z2 = crc_wide_load(p + 128);
	z3 = crc_wide_load(p + 192);
	for (p += 256, len -= 256; len >= 256; p += 256, len -= 256) {
		z0 = crc_wide_fold(z0, far, crc_wide_load(p));
		z1 = crc_wide_fold(z1, far, crc_wide_load(p + 64));
		z2 = crc_wide_fold(z2, far, crc_wide_load(p + 128));
		z3 = crc_wide_fold(z3, far, crc_wide_load(p + 192));
	}
	z1 = crc_wide_fold(z0, near, z1);
	z2 = crc_wide_fold(z1, near, z2);
	z3 = crc_wide_fold(z2, near, z3);
	for (; len >= 64; p += 64, len -= 64)
		z3 = crc_wide_fold(z3, near, crc_wide_load(p));
	return crc_end(_mm512_extracti32x4_epi32(z3, 0), _mm512_extracti32x4_epi32(z3, 1),
		       _mm512_extracti32x4_epi32(z3, 2), _mm512_extracti32x4_epi32(z3, 3), p, len);
}

uint32_t mh_crc32_x86(mw_crc32_fn fn[MH_CRC32_MAX], uint32_t n)
{
	if (!__builtin_cpu_supports("pclmul") || !__builtin_cpu_supports("sse4.1"))
		return n;
	fn[n++] = crc_clmul;
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("vpclmulqdq"))
		fn[n++] = crc_clmul_wide;
	return n;
}

#else

uint32_t mh_crc32_x86(mw_crc32_fn fn[MH_CRC32_MAX], uint32_t n)
{
	(void)fn;
	return n;
}

#endif
