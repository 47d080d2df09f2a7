/* SPDX-License-Identifier: BSD-2-Clause */
/* Text that grows: src/cli/text.h. */
#include "cli/text.h"

#include "support/test.h"

TEST(cli_text_add, appends_and_terminates)
{
	struct cli_text t = {0};

	cli_text_add(&t, "%s-%d", "a", 7);
	cli_text_add(&t, "!");
	assert_string_equal(t.data, "a-7!");
	assert_u_eq(t.len, 4);
	cli_text_fini(&t);
	assert_null(t.data);
}

TEST(cli_text_add, grows_beyond_any_first_size)
{
	struct cli_text t = {0};

	for (int i = 0; i < 5000; i++)
		cli_text_add(&t, "0123456789");
	assert_u_eq(t.len, 50000);
	assert_u_eq(strlen(t.data), 50000);
	cli_text_fini(&t);
}

TEST(cli_text_clear, keeps_nothing)
{
	struct cli_text t = {0};

	cli_text_clear(&t);
	cli_text_add(&t, "old");
	cli_text_clear(&t);
	cli_text_add(&t, "new");
	assert_string_equal(t.data, "new");
	cli_text_fini(&t);
}

TEST(cli_text_width, counts_characters_not_bytes)
{
	assert_u_eq(cli_text_width(""), 0);
	assert_u_eq(cli_text_width("abc"), 3);
	assert_u_eq(cli_text_width("▁█●"), 3);
}

TEST(cli_text_width, skips_escape_sequences)
{
	assert_u_eq(cli_text_width("\033[31mred\033[0m"), 3);
	assert_u_eq(cli_text_width("\033[1;32m"), 0);
	assert_u_eq(cli_text_width("\033[31"), 0);
}

TEST(cli_text_pad, fills_and_cuts_by_column)
{
	struct cli_text t = {0};

	cli_text_pad(&t, "ab", 4);
	cli_text_pad(&t, "●●●", 2);
	cli_text_add(&t, "|");
	assert_string_equal(t.data, "ab  ●●|");
	cli_text_fini(&t);
}

TEST(cli_text_pad, keeps_the_escape_behind_the_last_column)
{
	struct cli_text t = {0};

	cli_text_pad(&t, "\033[31mab\033[0m", 2);
	assert_string_equal(t.data, "\033[31mab\033[0m");
	cli_text_fini(&t);
}

TEST(cli_text_pad_left, puts_blanks_first)
{
	struct cli_text t = {0};

	cli_text_pad_left(&t, "7", 3);
	cli_text_pad_left(&t, "long", 2);
	assert_string_equal(t.data, "  7long");
	cli_text_fini(&t);
}
