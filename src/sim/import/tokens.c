/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of words: see input.h. */
#include "sim/import/input.h"

#include <string.h>

void ms_words_init(struct ms_words *w, const char *text, char separator)
{
	w->rest = text;
	w->separator = separator;
	w->line = 0;
	w->n = 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static void add_word(struct ms_words *w, const char *at, const char *end)
{
	while (at < end && is_blank(*at))
		at++;
	while (at < end && is_blank(end[-1]))
		end--;
	if (w->n < MS_WORDS_MAX)
		w->word[w->n] = (struct ms_word){at, (size_t)(end - at)};
	if (w->n <= MS_WORDS_MAX)
		w->n++;
}

/* split_blanks takes the words of a line that are held apart by blanks. */
static void split_blanks(struct ms_words *w, const char *at, const char *end)
{
	while (at < end) {
		const char *begin;

		while (at < end && is_blank(*at))
			at++;
		begin = at;
		while (at < end && !is_blank(*at))
			at++;
		if (at > begin)
			add_word(w, begin, at);
	}
}

/* split_by takes the words of a line that are held apart by a separator. */
static void split_by(struct ms_words *w, const char *at, const char *end)
{
	for (;;) {
		const char *next = memchr(at, w->separator, (size_t)(end - at));

		add_word(w, at, next ? next : end);
		if (!next)
			return;
		at = next + 1;
	}
}

static bool only_blanks(const char *at, const char *end)
{
	while (at < end && is_blank(*at))
		at++;
	return at == end;
}

bool ms_words_next(struct ms_words *w)
{
	while (*w->rest) {
		const char *at = w->rest, *end = at + strcspn(at, "\n"), *comment;

		w->rest = *end ? end + 1 : end;
		w->line++;
		w->n = 0;
		comment = memchr(at, '#', (size_t)(end - at));
		if (comment)
			end = comment;
		if (only_blanks(at, end))
			continue;
		if (w->separator == ' ')
			split_blanks(w, at, end);
		else
			split_by(w, at, end);
		return true;
	}
	return false;
}

bool ms_word_is(const struct ms_word *word, const char *text)
{
	return strlen(text) == word->len && memcmp(word->at, text, word->len) == 0;
}

static char to_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool ms_word_is_nocase(const struct ms_word *word, const char *text)
{
	if (strlen(text) != word->len)
		return false;
	for (size_t i = 0; i < word->len; i++)
		if (to_lower(word->at[i]) != to_lower(text[i]))
			return false;
	return true;
}

char *ms_word_copy(const struct ms_word *word, char out[MS_WORD_BYTES])
{
	size_t len = word->len < MS_WORD_BYTES - 1 ? word->len : MS_WORD_BYTES - 1;

	memcpy(out, word->at, len);
	out[len] = '\0';
	return out;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool ms_word_u64(const struct ms_word *word, uint64_t min, uint64_t max, uint64_t *out)
{
	uint64_t n = 0;

	if (word->len == 0)
		return false;
	for (size_t i = 0; i < word->len; i++)
		if (!is_digit(word->at[i]) || __builtin_mul_overflow(n, 10u, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(word->at[i] - '0'), &n))
			return false;
	if (n < min || n > max)
		return false;
	*out = n;
	return true;
}

bool ms_word_parts(const struct ms_word *word, uint32_t decimals, uint64_t *out)
{
	const uint64_t limit = UINT64_C(1000000000000000000);
	uint32_t behind = 0;
	uint64_t n = 0;
	bool point = false, digit = false;

	for (size_t i = 0; i < word->len; i++) {
		char c = word->at[i];

		if (c == '.' && !point) {
			point = true;
			continue;
		}
		if (!is_digit(c))
			return false;
		digit = true;
		if (point && behind == decimals)
			continue;
		behind += point;
		n = n * 10 + (uint64_t)(c - '0');
		if (n >= limit)
			return false;
	}
	for (; behind < decimals; behind++) {
		n *= 10;
		if (n >= limit)
			return false;
	}
	*out = n;
	return digit;
}
