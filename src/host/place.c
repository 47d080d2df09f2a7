/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * place.c - an ascending copy at the speed of memcpy.
 *
 * memcpy may write in any order, and usually writes both ends early. So all but the last word go
 * by memcpy; the last word, eight bytes so that a flag or counter at the end of a buffer changes as
 * a whole, follows in one store behind a release fence, which on x86 costs nothing.
 */
#include "host/place.h"

#include <string.h>

#define PLACE_WORD 8u

void mh_place(void *to, const void *from, uint32_t len)
{
	uint32_t tail = len < PLACE_WORD ? len : PLACE_WORD;
	uint8_t *out = to;
	const uint8_t *in = from;

	if (len == 0)
		return;
	memcpy(out, in, len - tail);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	if (tail == PLACE_WORD)
		memcpy(out + len - PLACE_WORD, in + len - PLACE_WORD, PLACE_WORD);
	else
		memcpy(out + len - tail, in + len - tail, tail);
}
