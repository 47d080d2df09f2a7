/* SPDX-License-Identifier: BSD-2-Clause */
/* Members of requests by kind and range, and EVs as text: src/mrcd/md_args.h. */
#include "mrcd/md_args.h"

#include <errno.h>

#include "support/test.h"

static struct md_error e;

/* Asks for one member of a text with a function of the test's. */
static json_t *object(const char *text)
{
	json_t *o = json_loads(text, JSON_DECODE_ANY, NULL);

	assert_non_null(o);
	e = (struct md_error){0};
	return o;
}

TEST(md_args_u32, takes_what_is_in_range)
{
	json_t *o = object("{\"a\": 7, \"b\": 0}");
	uint32_t n = 99;

	assert_int_equal(md_args_u32(o, "a", 1, 7, &n, &e), 0);
	assert_u_eq(n, 7);
	assert_int_equal(md_args_u32(o, "absent", 1, 7, &n, &e), 0);
	assert_u_eq(n, 7);
	assert_int_equal(md_args_u32(o, "b", 1, 7, &n, &e), EINVAL);
	assert_string_equal(e.text, "b = 0: must be a whole number, 1 to 7");
	assert_string_equal(e.key, "b");
	assert_u_eq(n, 7);
	json_decref(o);
}

TEST(md_args_u32, takes_no_other_kind)
{
	static const char *const wrong[] = {"{\"a\": 8}",     "{\"a\": -1}",	    "{\"a\": 1.0}",
					    "{\"a\": \"1\"}", "{\"a\": true}",	    "{\"a\": null}",
					    "{\"a\": [1]}",   "{\"a\": 4294967297}"};
	uint32_t n = 5;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		json_t *o = object(wrong[i]);

		assert_int_equal(md_args_u32(o, "a", 0, 7, &n, &e), EINVAL);
		assert_u_eq(n, 5);
		json_decref(o);
	}
}

TEST(md_args_real, takes_whole_numbers_too)
{
	json_t *o = object("{\"a\": 0.25, \"b\": 1, \"c\": 1.5, \"d\": -0.1}");
	float f = 9;

	assert_int_equal(md_args_real(o, "a", 1, &f, &e), 0);
	assert_true(f == 0.25f);
	assert_int_equal(md_args_real(o, "b", 1, &f, &e), 0);
	assert_true(f == 1.0f);
	assert_int_equal(md_args_real(o, "c", 1, &f, &e), EINVAL);
	assert_string_equal(e.text, "c = 1.5: must be a number, 0 to 1");
	assert_int_equal(md_args_real(o, "d", 1, &f, &e), EINVAL);
	json_decref(o);
}

TEST(md_args_text, is_printable_and_bounded)
{
	json_t *o = object("{\"a\": \"x y\", \"b\": \"\\u001b[2J\", \"c\": \"12345\"}");
	const char *text = NULL;

	assert_int_equal(md_args_text(o, "a", 4, &text, &e), 0);
	assert_string_equal(text, "x y");
	assert_int_equal(md_args_text(o, "c", 4, &text, &e), EINVAL);
	assert_int_equal(md_args_text(o, "b", 40, &text, &e), EINVAL);
	assert_null(strchr(e.text, '\x1b'));
	json_decref(o);
}

TEST(md_args_word, names_what_is_allowed)
{
	static const char *const words[] = {"one", "two", NULL};
	json_t *o = object("{\"a\": \"two\", \"b\": \"three\", \"c\": 1}");
	uint32_t i = 9;

	assert_int_equal(md_args_word(o, "a", words, &i, &e), 0);
	assert_u_eq(i, 1);
	assert_int_equal(md_args_word(o, "b", words, &i, &e), EINVAL);
	assert_string_equal(e.text, "b = \"three\": must be one of one two");
	assert_int_equal(md_args_word(o, "c", words, &i, &e), EINVAL);
	json_decref(o);
}

TEST(md_args_u32s, takes_a_list_that_fits)
{
	json_t *o = object("{\"a\": [1, 2], \"b\": [], \"c\": [1, 2, 3, 4], \"d\": [1, \"2\"]}");
	uint32_t list[3] = {0}, n = 0;

	assert_int_equal(md_args_u32s(o, "a", 9, list, 3, &n, &e), 0);
	assert_u_eq(n, 2);
	assert_u_eq(list[1], 2);
	assert_int_equal(md_args_u32s(o, "b", 9, list, 3, &n, &e), EINVAL);
	assert_int_equal(md_args_u32s(o, "c", 9, list, 3, &n, &e), EINVAL);
	assert_int_equal(md_args_u32s(o, "d", 9, list, 3, &n, &e), EINVAL);
	assert_int_equal(md_args_u32s(o, "a", 1, list, 3, &n, &e), EINVAL);
	json_decref(o);
}

TEST(md_args_only, names_a_near_one)
{
	static const char *const known[] = {"port", "admin", NULL};
	json_t *o = object("{\"port\": 1, \"admim\": 2}");

	assert_int_equal(md_args_only(o, known, &e), EINVAL);
	assert_string_equal(e.text, "admim: is not known here; did you mean admin?");
	json_decref(o);
}

/* ---- EVs as text ---- */

static void expect_ev(const char *text, const char *again)
{
	char out[MD_EV_TEXT];
	struct mn_ev ev;

	assert_true(md_ev_read(text, &ev));
	assert_string_equal(md_ev_write(&ev, out), again ? again : text);
}

TEST(md_ev_read, is_the_inverse_of_md_ev_write)
{
	expect_ev("1:49152", NULL);
	expect_ev("32:0xc0010003", NULL);
	expect_ev("0:0", NULL);
	expect_ev("2:0xffff", "2:65535");
	expect_ev("1:fd00::1", "1:xfd000000000000000000000000000001");
	expect_ev("1:x0a0b0c0d0e", NULL);
	expect_ev("7:4294967295", "7:0xffffffff");
}

TEST(md_ev_read, refuses_the_rest)
{
	static const char *const wrong[] = {
		"",
		"1",
		"1:",
		":1",
		"33:1",
		"-1:1",
		"1:-1",
		"1:+1",
		"1: 1",
		"1:1 ",
		"1:x",
		"1:x1",
		"1:xzz",
		"1:0x",
		"1:1x",
		"1:fd00",
		"1:fd00::g",
		"0001:1",
		"1:4294967296",
		"1:xAB",
		"a:1",
		"1:0xABCD",
		"99999:1",
		"1:x0000000000000000000000000000000000000000000000000000000000000000ff"};
	struct mn_ev ev;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (md_ev_read(wrong[i], &ev))
			fail_msg("<%s> is taken", wrong[i]);
}
