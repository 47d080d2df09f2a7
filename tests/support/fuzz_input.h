/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_input.h - the bytes of a fuzz input, taken one after the other. When they are used up every
 * missing byte reads as zero.
 */
#ifndef SUPPORT_FUZZ_INPUT_H
#define SUPPORT_FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct fuzz_input {
	const uint8_t *data;
	size_t left;
};

static inline uint8_t fuzz_u8(struct fuzz_input *in)
{
	if (in->left == 0)
		return 0;
	in->left--;
	return *in->data++;
}

static inline uint16_t fuzz_u16(struct fuzz_input *in)
{
	uint16_t high = fuzz_u8(in);

	return (uint16_t)(high << 8 | fuzz_u8(in));
}

static inline uint32_t fuzz_u32(struct fuzz_input *in)
{
	uint32_t high = fuzz_u16(in);

	return high << 16 | fuzz_u16(in);
}

/* fuzz_below returns a number below n, 1 .. 256. */
static inline uint32_t fuzz_below(struct fuzz_input *in, uint32_t n)
{
	return fuzz_u8(in) % n;
}

/* fuzz_take copies at most n of the bytes that are left to `to`, and returns how many. */
static inline size_t fuzz_take(struct fuzz_input *in, void *to, size_t n)
{
	n = n < in->left ? n : in->left;
	if (n > 0)
		memcpy(to, in->data, n);
	in->data += n;
	in->left -= n;
	return n;
}

#endif
