/* SPDX-License-Identifier: BSD-2-Clause */
/* A case whose setup skips is skipped, and nothing is taken down: main.c, run by itself. */
#include "support/run_again.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AS_TAP "CMOCKA_MESSAGE_OUTPUT=TAP"

static int skip_setup(void **state)
{
	(void)state;
	if (getenv("TEST_SETUP_SKIPS"))
		test_skip("asked to");
	return getenv("TEST_SETUP_FAILS") ? -1 : 0;
}

static int skip_teardown(void **state)
{
	(void)state;
	puts("taken down");
	return 0;
}

TEST_WITH(skip_setup, skip_teardown, test_skip, in_a_setup_skips_the_case)
{
	char said[1024];

	(void)state;
	assert_i_eq(run_again("TEST_SETUP_SKIPS=1 " AS_TAP, "", said, sizeof(said)), 0);
	assert_non_null(strstr(said, "# skip: asked to"));
	assert_non_null(strstr(said, "# SKIP test_skip__in_a_setup_skips_the_case"));
	assert_null(strstr(said, "taken down"));
	assert_true(run_again("TEST_SETUP_FAILS=1 " AS_TAP, "", said, sizeof(said)) != 0);
	assert_non_null(strstr(said, "not ok 1 - test_skip__in_a_setup_skips_the_case"));
	assert_null(strstr(said, "taken down"));
}
