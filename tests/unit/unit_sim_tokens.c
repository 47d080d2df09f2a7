/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_sim_words.c - lines of words, and the numbers in them. */
#include "support/test.h"

#include <stdio.h>

#include "sim/import/input.h"

/* Lines are gathered as "line word|word;". */
static void words_are(const char *text, char separator, const char *want)
{
	char got[400] = "", word[MS_WORD_BYTES];
	struct ms_words w;

	ms_words_init(&w, "text", text, separator, NULL);
	while (ms_words_next(&w)) {
		size_t at = strlen(got);

		at += (size_t)snprintf(got + at, sizeof(got) - at, "%u ", w.line);
		for (uint32_t i = 0; i < w.n; i++)
			at += (size_t)snprintf(got + at, sizeof(got) - at, "%s%c",
					       ms_word_copy(&w.word[i], word),
					       i + 1 < w.n ? '|' : ';');
	}
	assert_string_equal(got, want);
}

TEST(ms_words_next, blanks)
{
	words_are("a  b\tc\r\n\n \t\n# all of it\nd # rest\ne", ' ', "1 a|b|c;5 d;6 e;");
	words_are("", ' ', "");
	words_are("\n\n", ' ', "");
}

TEST(ms_words_next, commas)
{
	words_are("a,b c , d\r\n,,\n\nx", ',', "1 a|b c|d;2 ||;4 x;");
}

TEST(ms_words_next, counts_one_beyond_the_most)
{
	char text[2 * MS_WORDS_MAX + 20] = "";
	struct ms_words w;

	for (uint32_t i = 0; i < MS_WORDS_MAX + 5; i++)
		memcpy(text + 2 * i, "x ", 3);
	ms_words_init(&w, "text", text, ' ', NULL);
	assert_true(ms_words_next(&w));
	assert_u_eq(w.n, MS_WORDS_MAX + 1);
}

TEST(ms_word_is, takes_case_as_asked)
{
	const struct ms_word word = {"Nodes", 5};

	assert_true(ms_word_is(&word, "Nodes"));
	assert_false(ms_word_is(&word, "nodes"));
	assert_false(ms_word_is(&word, "Node"));
	assert_true(ms_word_is_nocase(&word, "nODES"));
	assert_false(ms_word_is_nocase(&word, "node"));
}

static bool u64(const char *text, uint64_t min, uint64_t max, uint64_t *n)
{
	const struct ms_word word = {text, strlen(text)};

	return ms_word_u64(&word, min, max, n);
}

TEST(ms_word_u64, ranges_and_what_is_no_number)
{
	static const char *const bad[] = {"", "-1", "1x", "4", "11", "18446744073709551616"};
	uint64_t n = 7;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(u64(bad[i], 5, 10, &n));
	assert_u_eq(n, 7);
	assert_true(u64("010", 5, 10, &n));
	assert_u_eq(n, 10);
	assert_true(u64("18446744073709551615", 0, UINT64_MAX, &n));
	assert_u_eq(n, UINT64_MAX);
}

static uint64_t parts(const char *text, uint32_t decimals)
{
	const struct ms_word word = {text, strlen(text)};
	uint64_t n = 0;

	return ms_word_parts(&word, decimals, &n) ? n : UINT64_MAX;
}

TEST(ms_word_parts, fractions)
{
	assert_u_eq(parts("0.25", 6), 250000);
	assert_u_eq(parts("1", 3), 1000);
	assert_u_eq(parts(".5", 1), 5);
	assert_u_eq(parts("0.123456789", 3), 123);
	assert_u_eq(parts("12.7", 0), 12);
}

TEST(ms_word_parts, what_is_none)
{
	static const char *const bad[] = {"", ".", "1e5", "-1", "1.2.3", "1234567890123", "x"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_u_eq(parts(bad[i], 9), UINT64_MAX);
}
