/* SPDX-License-Identifier: BSD-2-Clause */
/* A case whose setup skips is skipped, and nothing is taken down: main.c, run by itself. */
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Runs the case below in another process; what it says. */
static int run_again(const char *variable, char *said, size_t size)
{
	char path[512], command[640];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	size_t len;
	FILE *pipe;

	assert_true(n > 0);
	path[n] = '\0';
	snprintf(command, sizeof(command), "%s=1 CMOCKA_MESSAGE_OUTPUT=TAP '%s'", variable, path);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	len = fread(said, 1, size - 1, pipe);
	said[len] = '\0';
	return pclose(pipe);
}

TEST_WITH(skip_setup, skip_teardown, test_skip, in_a_setup_skips_the_case)
{
	char said[1024];

	(void)state;
	assert_i_eq(run_again("TEST_SETUP_SKIPS", said, sizeof(said)), 0);
	assert_non_null(strstr(said, "# skip: asked to"));
	assert_non_null(strstr(said, "# SKIP test_skip__in_a_setup_skips_the_case"));
	assert_null(strstr(said, "taken down"));
	assert_true(run_again("TEST_SETUP_FAILS", said, sizeof(said)) != 0);
	assert_non_null(strstr(said, "not ok 1 - test_skip__in_a_setup_skips_the_case"));
	assert_null(strstr(said, "taken down"));
}
