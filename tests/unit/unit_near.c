/* SPDX-License-Identifier: BSD-2-Clause */
/* Which word did they mean: src/base/near.h. */
#include "base/near.h"

#include "support/test.h"

TEST(mb_near_distance, counts_edits)
{
	assert_u_eq(mb_near_distance("", ""), 0);
	assert_u_eq(mb_near_distance("demo", "demo"), 0);
	assert_u_eq(mb_near_distance("", "abc"), 3);
	assert_u_eq(mb_near_distance("kitten", "sitting"), 3);
}

TEST(mb_near_distance, a_swap_of_neighbours_is_one_edit)
{
	assert_u_eq(mb_near_distance("dmeo", "demo"), 1);
	assert_u_eq(mb_near_distance("ab", "ba"), 1);
}

TEST(mb_near_distance, is_symmetric)
{
	for (size_t i = 0; i < test_rounds(200); i++) {
		char a[9] = "", b[9] = "";

		for (size_t k = 0; k < test_rand_below(8); k++)
			a[k] = (char)('a' + test_rand_below(3));
		for (size_t k = 0; k < test_rand_below(8); k++)
			b[k] = (char)('a' + test_rand_below(3));
		assert_u_eq(mb_near_distance(a, b), mb_near_distance(b, a));
	}
}

TEST(mb_near_distance, refuses_long_words)
{
	char word[100];

	memset(word, 'x', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	assert_u_eq(mb_near_distance(word, "demo"), MB_NEAR_MAX + 1);
	assert_u_eq(mb_near_distance("demo", word), MB_NEAR_MAX + 1);
}

TEST(mb_near_find, finds_the_nearest)
{
	static const char *const known[] = {"demo", "lab", "plan"};

	assert_string_equal(mb_near_find("dem", known, 3), "demo");
	assert_string_equal(mb_near_find("plam", known, 3), "plan");
	assert_null(mb_near_find("quux", known, 3));
	assert_null(mb_near_find("x", known, 0));
}
