/* SPDX-License-Identifier: BSD-2-Clause */
/* A program that ends before its last case has failed, whatever it meant: whole_run.c. */
#include "support/run_again.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *end_by(void *how)
{
	const char *word = how;

	if (strcmp(word, "exit") == 0)
		exit(0);
	if (strcmp(word, "_exit") == 0)
		_exit(0);
	if (strcmp(word, "_Exit") == 0)
		_Exit(0);
	if (strcmp(word, "seven") == 0)
		_exit(7);
	return NULL;
}

/* Runs the case again, which then ends as `how` says; its status. */
static int status_of(const char *how, const char *name, char *said, size_t size)
{
	char variable[32], arguments[128];
	int status;

	snprintf(variable, sizeof(variable), "TEST_ENDS_BY=%s", how);
	snprintf(arguments, sizeof(arguments), "%s 2>&1", name);
	status = run_again(variable, arguments, said, size);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void expect_failure(const char *how, const char *name)
{
	char said[2048];

	assert_i_eq(status_of(how, name, said, sizeof(said)), 1);
	assert_non_null(strstr(said, "ended before its last case"));
}

TEST(test_run, fails_if_a_case_ends_the_program)
{
	const char *name = "test_run__fails_if_a_case_ends_the_program";
	char said[2048];
	char *how = getenv("TEST_ENDS_BY");

	if (how)
		end_by(how);
	expect_failure("exit", name);
	expect_failure("_exit", name);
	expect_failure("_Exit", name);
	assert_i_eq(status_of("seven", name, said, sizeof(said)), 7);
}

TEST(test_run, fails_if_a_thread_ends_the_program)
{
	const char *name = "test_run__fails_if_a_thread_ends_the_program";
	char *how = getenv("TEST_ENDS_BY");
	pthread_t thread;

	if (how && pthread_create(&thread, NULL, end_by, how) == 0)
		pthread_exit(NULL);
	expect_failure("exit", name);
	expect_failure("_exit", name);
	/* ThreadSanitizer has a thread of its own, which goes on. */
#ifndef __SANITIZE_THREAD__
	expect_failure("nothing", name);
#endif
}

TEST(test_run, lets_children_end)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	assert_i_eq(waitpid(child, &status, 0), child);
	assert_i_eq(status, 0);
	child = fork();
	if (child == 0)
		exit(0);
	assert_i_eq(waitpid(child, &status, 0), child);
	assert_i_eq(status, 0);
}
