/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Edit distance (optimal string alignment): a table whose cell (i, j) is the distance between the
 * first i letters of one word and the first j of the other; three rows of it are kept.
 */
#include "base/suggest.h"

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t m = a < b ? a : b;

	return m < c ? m : c;
}

/* clamped_length counts letters, one more than are looked at at most. */
static size_t clamped_length(const char *word)
{
	size_t n = 0;

	while (n <= MB_SUGGEST_MAX && word[n])
		n++;
	return n;
}

size_t mb_suggest_distance(const char *a, const char *b)
{
	size_t len_a = clamped_length(a), len_b = clamped_length(b);
	size_t row[3][MB_SUGGEST_MAX + 1];

	if (len_a > MB_SUGGEST_MAX || len_b > MB_SUGGEST_MAX)
		return MB_SUGGEST_MAX + 1;
	for (size_t j = 0; j <= len_b; j++)
		row[0][j] = j;
	for (size_t i = 1; i <= len_a; i++) {
		size_t *now = row[i % 3];
		const size_t *above = row[(i + 2) % 3];

		now[0] = i;
		for (size_t j = 1; j <= len_b; j++) {
			size_t replace = above[j - 1] + (a[i - 1] != b[j - 1]);

			now[j] = min3(above[j] + 1, now[j - 1] + 1, replace);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    row[(i + 1) % 3][j - 2] + 1 < now[j])
				now[j] = row[(i + 1) % 3][j - 2] + 1;
		}
	}
	return row[len_a % 3][len_b];
}

const char *mb_suggest_in_table(const char *word, const char *const *first, size_t n, size_t stride)
{
	const char *best = NULL;
	size_t best_distance = 0;

	for (size_t i = 0; i < n; i++) {
		const char *known = *(const char *const *)((const char *)first + i * stride);
		size_t distance = mb_suggest_distance(word, known);

		/* At least half of the letters must be right. */
		if (distance * 2 > clamped_length(known))
			continue;
		if (!best || distance < best_distance) {
			best = known;
			best_distance = distance;
		}
	}
	return best;
}
