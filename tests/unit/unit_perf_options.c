/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `mrc perf`: src/cli/perf/perf.h. */
#include "cli/perf/perf.h"

#include "support/test.h"

#include <stdio.h>

static struct perf_options o;
static char said[500];

/* Parses words; stderr ends up in `said`. */
static enum ui_flags_result parse(int argc, char **argv)
{
	FILE *catcher = tmpfile(), *real = stderr;
	enum ui_flags_result rc;

	assert_non_null(catcher);
	stderr = catcher;
	rc = perf_options_parse(&o, argc, argv);
	stderr = real;
	rewind(catcher);
	said[fread(said, 1, sizeof(said) - 1, catcher)] = '\0';
	fclose(catcher);
	return rc;
}

#define PARSE(...) \
	parse((int)(sizeof((char *[]){__VA_ARGS__}) / sizeof(char *)), (char *[]){__VA_ARGS__})

TEST(perf_options_parse, client_with_defaults)
{
	assert_int_equal(PARSE("perf", "host"), UI_FLAGS_OK);
	assert_string_equal(o.host, "host");
	assert_u_eq(o.plan.min, 1);
	assert_u_eq(o.plan.max, 64 << 20);
	assert_true(o.plan.latency && o.plan.bandwidth && !o.plan.imm);
}

TEST(perf_options_parse, server)
{
	assert_int_equal(PARSE("perf", "--server", "--once"), UI_FLAGS_OK);
	assert_null(o.host);
	assert_true(o.once);
}

TEST(perf_options_parse, one_size)
{
	assert_int_equal(PARSE("perf", "h", "--size", "64k", "--imm", "--both"), UI_FLAGS_OK);
	assert_u_eq(o.plan.min, 65536);
	assert_u_eq(o.plan.max, 65536);
	assert_true(o.plan.imm && o.plan.bidirectional);
}

TEST(perf_options_parse, says_what_does_not_fit)
{
	assert_int_equal(PARSE("perf"), UI_FLAGS_ERROR);
	assert_non_null(strstr(said, "want a HOST to measure to, or --server"));
	assert_int_equal(PARSE("perf", "--server", "h"), UI_FLAGS_ERROR);
	assert_string_equal(said, "mrc perf: --server has no HOST\n");
	assert_int_equal(PARSE("perf", "h", "--min", "2k", "--max", "1k"), UI_FLAGS_ERROR);
	assert_string_equal(said, "mrc perf: --min: want at most --max\n");
	assert_int_equal(PARSE("perf", "h", "--no-latency", "--no-bandwidth"), UI_FLAGS_ERROR);
	assert_int_equal(PARSE("perf", "h", "--qps", "65"), UI_FLAGS_ERROR);
	assert_string_equal(said, "mrc perf: --qps 65: want a number from 1 to 64\n");
	assert_int_equal(PARSE("perf", "h", "--dept", "6"), UI_FLAGS_ERROR);
	assert_non_null(strstr(said, "did you mean --depth?"));
}
