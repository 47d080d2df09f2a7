/* SPDX-License-Identifier: BSD-2-Clause */
/* suggest.h - which known word did they mean? */
#ifndef SOFTMRC_BASE_SUGGEST_H
#define SOFTMRC_BASE_SUGGEST_H

#include <stddef.h>

/* Words longer than this are near to nothing. */
#define MB_SUGGEST_MAX 63u

/*
 * mb_suggest_distance counts the letters to insert, remove, replace or swap with a neighbour that
 * turn one word into the other; MB_SUGGEST_MAX + 1 when one of them is too long.
 */
size_t mb_suggest_distance(const char *a, const char *b);

/*
 * mb_suggest_in_table returns the known word nearest to `word`, or NULL when none resembles it.
 * The known words are a member of n structures that lie `stride` bytes apart; `first` is that
 * member of the first one. mb_suggest_find takes an array of words.
 */
const char *mb_suggest_in_table(const char *word, const char *const *first, size_t n,
				size_t stride);

static inline const char *mb_suggest_find(const char *word, const char *const *known, size_t n)
{
	return mb_suggest_in_table(word, known, n, sizeof(*known));
}

#endif
