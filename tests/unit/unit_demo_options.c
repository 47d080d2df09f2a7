/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `mrc demo`: src/demo/demo.h. */
#include "demo/demo.h"

#include "support/test.h"

static struct demo_options o;

#define PARSE(...)                                                                      \
	demo_options_parse(&o, (int)(sizeof((char *[]){__VA_ARGS__}) / sizeof(char *)), \
			   (char *[]){__VA_ARGS__})

TEST(demo_options_parse, leaves_size_and_script_open)
{
	assert_int_equal(PARSE("demo"), UI_FLAGS_OK);
	assert_u_eq(o.ranks, 0);
	assert_u_eq(o.pace_bps, 0);
	assert_u_eq(o.steps, 0);
	assert_null(o.script);
	assert_null(o.data);
	assert_u_eq(o.planes, 4);
	assert_u_eq(o.paths, 0);
	assert_int_equal(o.on, DEMO_ON_BEST);
	assert_string_equal(o.out, "result.json");
	assert_false(o.no_tcp || o.plain || o.json);
}

TEST(demo_options_parse, reads_every_flag)
{
	assert_int_equal(PARSE("demo", "--ranks", "4", "--planes", "2", "--paths", "16", "--steps",
			       "9", "--pace", "1G", "--seed", "5", "--data", "/d", "--out", "/o",
			       "--script", "t1", "--on", "lab", "--no-tcp", "--plain", "--json"),
			 UI_FLAGS_OK);
	assert_u_eq(o.ranks, 4);
	assert_u_eq(o.planes, 2);
	assert_u_eq(o.paths, 16);
	assert_u_eq(o.steps, 9);
	assert_u_eq(o.pace_bps, 1000000000);
	assert_u_eq(o.seed, 5);
	assert_string_equal(o.data, "/d");
	assert_string_equal(o.out, "/o");
	assert_string_equal(o.script, "t1");
	assert_true(o.no_tcp && o.plain && o.json);
	assert_int_equal(o.on, DEMO_ON_LAB);
}

TEST(demo_options_parse, refuses_what_is_out_of_range)
{
	assert_int_equal(PARSE("demo", "--ranks", "33"), UI_FLAGS_ERROR);
	assert_int_equal(PARSE("demo", "--planes", "9"), UI_FLAGS_ERROR);
	assert_int_equal(PARSE("demo", "--paths", "0"), UI_FLAGS_ERROR);
	assert_int_equal(PARSE("demo", "--pace", "999k"), UI_FLAGS_ERROR);
	assert_int_equal(PARSE("demo", "--out", ""), UI_FLAGS_ERROR);
	assert_int_equal(PARSE("demo", "--on", "mars"), UI_FLAGS_ERROR);
	assert_int_equal(PARSE("demo", "extra"), UI_FLAGS_ERROR);
}
