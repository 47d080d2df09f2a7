/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * place_payload.c - an ascending copy at the speed of memcpy.
 *
 * memcpy may write in any order, and usually writes both ends early. So all but the end go by
 * memcpy, and the end follows in one store with release order, which on x86 costs nothing. The end
 * is a word of eight bytes where it is aligned like one, so that a flag or counter at the end of a
 * buffer changes as a whole; else it is the last byte.
 *
 * What is short and aligned goes word by word, each with release order: a thread that sees a word
 * sees all that lies before it. NCCL's records for the sender have such a word in their midst.
 */
#include "host/platform/platform.h"

#include <string.h>

/* A word of the user's memory, whatever the user takes it for. */
typedef uint64_t __attribute__((may_alias)) place_word;

/* Longer than any record that is watched, short enough that words cost nothing. */
#define WORDS_MAX_BYTES 512u

/* Returns how much it has copied: all whole words. */
static uint32_t place_words(uint8_t *to, const uint8_t *from, uint32_t len)
{
	uint32_t at = 0;

	for (; len - at >= sizeof(place_word); at += (uint32_t)sizeof(place_word)) {
		place_word word;

		memcpy(&word, from + at, sizeof(word));
		__atomic_store_n((place_word *)(void *)(to + at), word, __ATOMIC_RELEASE);
	}
	return at;
}

void mh_place_payload(void *to, const void *from, uint32_t len)
{
	uint8_t *end = (uint8_t *)to + len;
	const uint8_t *from_end = (const uint8_t *)from + len;

	if (len <= WORDS_MAX_BYTES && (uintptr_t)to % sizeof(place_word) == 0) {
		uint32_t done = place_words(to, from, len);

		to = (uint8_t *)to + done;
		from = (const uint8_t *)from + done;
		len -= done;
	}
	if (len == 0)
		return;
	if (len >= sizeof(place_word) && (uintptr_t)end % sizeof(place_word) == 0) {
		place_word word;

		memcpy(&word, from_end - sizeof(word), sizeof(word));
		memcpy(to, from, len - sizeof(word));
		__atomic_store_n((place_word *)(void *)end - 1, word, __ATOMIC_RELEASE);
		return;
	}
	memcpy(to, from, len - 1);
	__atomic_store_n(end - 1, from_end[-1], __ATOMIC_RELEASE);
}
