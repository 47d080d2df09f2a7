/* SPDX-License-Identifier: BSD-2-Clause */
/* What is said of ip(8) and tc(8) when they fail: run_tool.c, with scripts in their place. */
#include "lab/netns.h"
#include "support/test.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char tool[64];

/* Makes the tool a script with these lines. */
static void tool_is(const char *lines)
{
	FILE *f;

	snprintf(tool, sizeof(tool), "/tmp/unit_lab_run_tool.%d", (int)getpid());
	f = fopen(tool, "we");
	assert_non_null(f);
	assert_true(fprintf(f, "#!/bin/sh\n%s\n", lines) > 0);
	assert_i_eq(fclose(f), 0);
	assert_i_eq(chmod(tool, 0700), 0);
}

static int teardown(void **state)
{
	(void)state;
	unlink(tool);
	return 0;
}

#define TOOL_TEST(function, name) TEST_WITH(NULL, teardown, function, name)

/* Runs a list, which is to fail with this sentence behind the name of the tool. */
static void batch_says(const char *lines, const char *why)
{
	struct ml_error e = {{0}};
	char want[256];

	assert_i_eq(ml_proc_batch(tool, lines, false, &e), -1);
	snprintf(want, sizeof(want), "%s%s", tool, why);
	assert_string_equal(e.text, want);
}

TOOL_TEST(ml_proc_batch, hands_over_the_list_and_no_empty_one)
{
	struct ml_error e = {{0}};

	tool_is("test \"$*\" = '-batch -' && test \"$(cat)\" = 'one\ntwo'");
	assert_i_eq(ml_proc_batch(tool, "one\ntwo\n", false, &e), 0);
	assert_i_eq(ml_proc_batch(tool, "", false, &e), 0);
	batch_says("two\none\n", " exited with status 1 and no message");
	assert_i_eq(ml_proc_batch(tool, "one\ntwo\n", true, &e), -1);
	tool_is("test \"$*\" = '-force -batch -'");
	assert_i_eq(ml_proc_batch(tool, "one\n", true, &e), 0);
}

TOOL_TEST(ml_proc_batch, names_the_line_that_failed)
{
	tool_is("echo 'No such\ndevice'; echo 'Command failed -:2'; exit 1");
	batch_says("link set a up\nlink set b up\n", " link set b up: No such device");
	batch_says("only one\n", ": No such device");
	tool_is("echo odd >&2; exit 3");
	batch_says("x\n", ": odd");
	tool_is("echo; exit 255");
	batch_says("x\n", " exited with status 255 and no message");
	tool_is("kill -9 $$");
	batch_says("x\n", " exited with status 137 and no message");
}

TEST(ml_proc_run, says_what_is_missing)
{
	static const char *const none[] = {"no-such-tool-of-lab", NULL};
	static const char *const folder[] = {"/tmp", NULL};
	static const char *const there[] = {"true", NULL};
	struct ml_error e = {{0}};

	assert_i_eq(ml_proc_run(none, &e), -1);
	assert_string_equal(e.text, "no-such-tool-of-lab cannot be run: No such file or directory "
				    "(package iproute2)");
	assert_i_eq(ml_proc_run(folder, &e), -1);
	assert_string_equal(e.text, "/tmp cannot be run: Permission denied");
	assert_i_eq(ml_proc_run(there, &e), 0);
}
