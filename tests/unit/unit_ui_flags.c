/* SPDX-License-Identifier: BSD-2-Clause */
/* Command lines as tables: src/ui/verb.h. */
#include "ui/verb.h"

#include "support/test.h"

#include <stdio.h>

static struct options {
	bool quiet;
	uint32_t ranks;
	uint64_t seed, pace;
	const char *out, *json;
	struct ui_flag_texts set;
} o;

static const struct ui_flag flags[] = {
	{"--quiet", UI_FLAG_SWITCH, NULL, "say less", offsetof(struct options, quiet), 0, 0},
	{"--ranks", UI_FLAG_U32, "N", "processes", offsetof(struct options, ranks), 2, 32},
	{"--seed", UI_FLAG_U64, "N", "seed", offsetof(struct options, seed), 0, UINT64_MAX},
	{"--pace", UI_FLAG_RATE, "RATE", "pace", offsetof(struct options, pace), 1000000,
	 1000000000},
	{"--out", UI_FLAG_TEXT, "FILE", "result", offsetof(struct options, out), 0, 0},
	{"--json", UI_FLAG_MAYBE, "FILE", "as JSON", offsetof(struct options, json), 0, 0},
	{"--set", UI_FLAG_TEXTS, "KEY=VALUE", "a change", offsetof(struct options, set), 0, 0},
};
static const struct ui_flag_table table = {"prog", flags, sizeof(flags) / sizeof(flags[0])};

/* Parses words; stderr ends up in `said`. */
static enum ui_flags_result parse(char *said, size_t size, int argc, char **argv)
{
	FILE *catcher = tmpfile(), *real = stderr;
	enum ui_flags_result rc;
	size_t n;

	assert_non_null(catcher);
	memset(&o, 0, sizeof(o));
	stderr = catcher;
	rc = ui_flags_parse(&table, &o, argc, argv, NULL, 0, NULL);
	stderr = real;
	rewind(catcher);
	n = fread(said, 1, size - 1, catcher);
	said[n] = '\0';
	fclose(catcher);
	return rc;
}

#define PARSE(said, ...)                                                                   \
	parse(said, sizeof(said), (int)(sizeof((char *[]){__VA_ARGS__}) / sizeof(char *)), \
	      (char *[]){__VA_ARGS__})

TEST(ui_flags_parse, takes_values_after_a_space_or_an_equals_sign)
{
	char said[500];

	assert_int_equal(PARSE(said, "x", "--ranks", "4", "--seed=18446744073709551615", "--quiet",
			       "--pace=50M", "--out", "a=b"),
			 UI_FLAGS_OK);
	assert_string_equal(said, "");
	assert_true(o.quiet);
	assert_u_eq(o.ranks, 4);
	assert_u_eq(o.seed, UINT64_MAX);
	assert_u_eq(o.pace, 50000000);
	assert_string_equal(o.out, "a=b");
	assert_int_equal(PARSE(said, "x", "--ranks", "0x4", "--seed=0xc0010003"), UI_FLAGS_OK);
	assert_u_eq(o.ranks, 4);
	assert_u_eq(o.seed, 0xC0010003);
}

TEST(ui_flags_parse, names_flag_value_and_range)
{
	char said[500];

	assert_int_equal(PARSE(said, "x", "--ranks", "33"), UI_FLAGS_ERROR);
	assert_string_equal(said, "prog: --ranks 33: want a number from 2 to 32\n");
	assert_int_equal(PARSE(said, "x", "--ranks=4x"), UI_FLAGS_ERROR);
	assert_string_equal(said, "prog: --ranks 4x: want a number from 2 to 32\n");
	assert_int_equal(PARSE(said, "x", "--ranks", "-4"), UI_FLAGS_ERROR);
	assert_int_equal(PARSE(said, "x", "--seed", "18446744073709551616"), UI_FLAGS_ERROR);
	assert_int_equal(PARSE(said, "x", "--pace", "50m"), UI_FLAGS_ERROR);
	assert_string_equal(said,
			    "prog: --pace 50m: want bits per second such as 50M, from 1M to 1G\n");
}

TEST(ui_flags_parse, misses_a_value)
{
	char said[500];

	assert_int_equal(PARSE(said, "x", "--out"), UI_FLAGS_ERROR);
	assert_string_equal(said, "prog: --out (no value): want FILE\n");
	assert_int_equal(PARSE(said, "x", "--out="), UI_FLAGS_ERROR);
	assert_int_equal(PARSE(said, "x", "--quiet=1"), UI_FLAGS_ERROR);
	assert_string_equal(said, "prog: --quiet=1: want no value\n");
}

TEST(ui_flags_parse, a_value_that_may_be_left_out)
{
	char said[500];

	assert_int_equal(PARSE(said, "x", "--json", "--ranks", "4"), UI_FLAGS_OK);
	assert_string_equal(o.json, "");
	assert_int_equal(PARSE(said, "x", "--json=f"), UI_FLAGS_OK);
	assert_string_equal(o.json, "f");
	assert_int_equal(PARSE(said, "x", "--json=-"), UI_FLAGS_OK);
	assert_string_equal(o.json, "");
	assert_int_equal(PARSE(said, "x"), UI_FLAGS_OK);
	assert_null(o.json);
}

TEST(ui_flags_parse, a_flag_that_may_be_repeated)
{
	char said[500];

	assert_int_equal(PARSE(said, "x", "--set", "a=1", "--set=b=2"), UI_FLAGS_OK);
	assert_u_eq(o.set.n, 2);
	assert_string_equal(o.set.text[0], "a=1");
	assert_string_equal(o.set.text[1], "b=2");
	assert_int_equal(PARSE(said, "x", "--set="), UI_FLAGS_ERROR);
	assert_string_equal(said, "prog: --set : want KEY=VALUE, at most 64 times\n");
}

TEST(ui_flags_parse, suggests_a_flag)
{
	char said[500];

	assert_int_equal(PARSE(said, "x", "--rnaks", "4"), UI_FLAGS_ERROR);
	assert_non_null(strstr(said, "--rnaks: no such flag; did you mean --ranks?"));
	assert_int_equal(PARSE(said, "x", "word"), UI_FLAGS_ERROR);
	assert_null(strstr(said, "did you mean"));
}

TEST(ui_flags_parse, hears_help_anywhere)
{
	char said[500];

	assert_int_equal(PARSE(said, "x", "--ranks", "4", "--help"), UI_FLAGS_HELP);
	assert_int_equal(PARSE(said, "x", "-h"), UI_FLAGS_HELP);
}

TEST(ui_flags_parse, operands_words_between_flags)
{
	const char *operand[2];
	char *argv[] = {"x", "a", "--ranks", "4", "b"};
	size_t n;

	assert_int_equal(ui_flags_parse(&table, &o, 5, argv, operand, 2, &n), UI_FLAGS_OK);
	assert_u_eq(n, 2);
	assert_string_equal(operand[0], "a");
	assert_string_equal(operand[1], "b");
	assert_u_eq(o.ranks, 4);
}

TEST(ui_flags_parse, operands_a_dash_alone)
{
	char *argv[] = {"x", "-"};
	const char *operand[1];
	size_t n = 0;

	assert_int_equal(ui_flags_parse(&table, &o, 2, argv, operand, 1, &n), UI_FLAGS_OK);
	assert_u_eq(n, 1);
	assert_string_equal(operand[0], "-");
}

TEST(ui_flags_parse, operands_one_too_many)
{
	const char *operand[1];
	char *argv[] = {"x", "a", "b"};
	FILE *catcher = tmpfile(), *real = stderr;
	char said[200];
	size_t n;

	stderr = catcher;
	assert_int_equal(ui_flags_parse(&table, &o, 3, argv, operand, 1, &n), UI_FLAGS_ERROR);
	stderr = real;
	rewind(catcher);
	said[fread(said, 1, sizeof(said) - 1, catcher)] = '\0';
	fclose(catcher);
	assert_string_equal(said, "prog: b: unexpected argument\n");
}
