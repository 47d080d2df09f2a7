/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serial.h - numbers that are 64 bits inside and fewer on the wire.
 *
 * A PSN travels as 24 bits and an MSN as 16. The receiver of such a number knows about where it
 * must be; extending picks the 64-bit number with those low bits that lies nearest to that
 * reference. Nothing above this file ever compares truncated numbers.
 */
#ifndef SOFTMRC_BASE_SERIAL_H
#define SOFTMRC_BASE_SERIAL_H

#include <stdint.h>

#define MB_PSN_BITS 24u
#define MB_PSN_MASK 0xFFFFFFu

/*
 * mb_serial_extend returns the number congruent to `low` modulo 2^bits within [-2^(bits-1),
 * 2^(bits-1)) of near; 1 <= bits <= 32. Where that would be below zero the result wraps like any
 * unsigned number, and is therefore enormous: callers that check an upper bound reject it.
 */
static inline uint64_t mb_serial_extend(uint64_t near, uint32_t low, unsigned bits)
{
	uint64_t half = UINT64_C(1) << (bits - 1);
	uint64_t mask = (UINT64_C(1) << bits) - 1;
	uint64_t delta = ((uint64_t)low - near) & mask;

	return delta < half ? near + delta : near + delta - mask - 1;
}

static inline uint64_t mb_psn_extend(uint64_t near, uint32_t psn24)
{
	return mb_serial_extend(near, psn24, MB_PSN_BITS);
}

static inline uint32_t mb_psn_wire(uint64_t psn)
{
	return (uint32_t)psn & MB_PSN_MASK;
}

#endif
