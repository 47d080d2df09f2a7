/* SPDX-License-Identifier: BSD-2-Clause */
/* Which word did they mean: src/base/suggest.h. */
#include "base/suggest.h"

#include "support/test.h"

TEST(mb_suggest_distance, counts_edits)
{
	assert_u_eq(mb_suggest_distance("", ""), 0);
	assert_u_eq(mb_suggest_distance("demo", "demo"), 0);
	assert_u_eq(mb_suggest_distance("", "abc"), 3);
	assert_u_eq(mb_suggest_distance("kitten", "sitting"), 3);
}

TEST(mb_suggest_distance, a_swap_of_neighbours_is_one_edit)
{
	assert_u_eq(mb_suggest_distance("dmeo", "demo"), 1);
	assert_u_eq(mb_suggest_distance("ab", "ba"), 1);
}

TEST(mb_suggest_distance, is_symmetric)
{
	for (size_t i = 0; i < test_rounds(200); i++) {
		char a[9] = "", b[9] = "";

		for (size_t k = 0; k < test_rand_below(8); k++)
			a[k] = (char)('a' + test_rand_below(3));
		for (size_t k = 0; k < test_rand_below(8); k++)
			b[k] = (char)('a' + test_rand_below(3));
		assert_u_eq(mb_suggest_distance(a, b), mb_suggest_distance(b, a));
	}
}

TEST(mb_suggest_distance, refuses_long_words)
{
	char word[100];

	memset(word, 'x', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	assert_u_eq(mb_suggest_distance(word, "demo"), MB_SUGGEST_MAX + 1);
	assert_u_eq(mb_suggest_distance("demo", word), MB_SUGGEST_MAX + 1);
}

TEST(mb_suggest_find, finds_the_nearest)
{
	static const char *const known[] = {"demo", "lab", "plan"};

	assert_string_equal(mb_suggest_find("dem", known, 3), "demo");
	assert_string_equal(mb_suggest_find("plam", known, 3), "plan");
	assert_null(mb_suggest_find("quux", known, 3));
	assert_null(mb_suggest_find("x", known, 0));
}
