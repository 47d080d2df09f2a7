/* SPDX-License-Identifier: BSD-2-Clause */
/* bits.h - bitmaps over rings of power-of-two size, and integer logarithms. */
#ifndef SOFTMRC_BASE_BITS_H
#define SOFTMRC_BASE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool mb_is_pow2(uint64_t v)
{
	return v != 0 && (v & (v - 1)) == 0;
}

/* mb_pow2_ceil returns the smallest power of two >= v; 1 <= v <= 2^31. */
static inline uint32_t mb_pow2_ceil(uint32_t v)
{
	return v <= 1 ? 1u : 1u << (32 - __builtin_clz(v - 1));
}

/* mb_align64 returns n rounded up to a multiple of 64, the size of a cache line. */
static inline size_t mb_align64(size_t n)
{
	return (n + 63) & ~(size_t)63;
}

/* mb_log2 returns the position of the highest set bit of v; v != 0. */
static inline unsigned mb_log2(uint64_t v)
{
	return 63u - (unsigned)__builtin_clzll(v);
}

static inline unsigned mb_ctz64(uint64_t v)
{
	return (unsigned)__builtin_ctzll(v);
}

static inline unsigned mb_popcount64(uint64_t v)
{
	/* Kernighan's loop would need no table either, but this is branch-free on any CPU. */
	v -= v >> 1 & UINT64_C(0x5555555555555555);
	v = (v & UINT64_C(0x3333333333333333)) + (v >> 2 & UINT64_C(0x3333333333333333));
	v = (v + (v >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
	return (unsigned)(v * UINT64_C(0x0101010101010101) >> 56);
}

/* A ring of `size` bits (a power of two, >= 64) indexed by any 64-bit sequence number. */
static inline bool mb_ring_test(const uint64_t *words, uint32_t size, uint64_t seq)
{
	uint64_t i = seq & (size - 1);

	return words[i / 64] >> (i % 64) & 1;
}

static inline void mb_ring_set(uint64_t *words, uint32_t size, uint64_t seq)
{
	uint64_t i = seq & (size - 1);

	words[i / 64] |= UINT64_C(1) << (i % 64);
}

/* mb_ring_load64 gathers the 64 bits from seq on, bit 0 being seq. */
static inline uint64_t mb_ring_load64(const uint64_t *words, uint32_t size, uint64_t seq)
{
	uint64_t i = seq & (size - 1);
	uint64_t lo = words[i / 64] >> (i % 64);
	uint64_t next = (i / 64 + 1) & (size / 64 - 1);

	return i % 64 ? lo | words[next] << (64 - i % 64) : lo;
}

#endif
