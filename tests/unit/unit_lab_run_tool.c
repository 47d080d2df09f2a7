/* SPDX-License-Identifier: BSD-2-Clause */
/* What is said of ip(8) and tc(8) when they fail: run_tool.c, with scripts in their place. */
#include "lab/netns.h"
#include "support/open_fds.h"
#include "support/test.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
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

static bool no_memory;

__typeof__(open_memstream) __real_open_memstream, __wrap_open_memstream;
FILE *__wrap_open_memstream(char **text, size_t *len)
{
	return no_memory ? NULL : __real_open_memstream(text, len);
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

/* Users that are not root seldom have the folders of ip(8) in PATH. */
TEST(ml_proc_run, finds_a_tool_that_is_not_in_path)
{
	static const char *const there[] = {"true", NULL};
	char *path = strdup(getenv("PATH"));
	struct ml_error e = {{0}};

	assert_i_eq(setenv("PATH", "/nowhere", 1), 0);
	assert_i_eq(ml_proc_run(there, &e), 0);
	assert_i_eq(setenv("PATH", path, 1), 0);
	free(path);
}

/* Ctrl-C at a terminal is for the group in front, which is ours. */
TOOL_TEST(ml_proc_batch, leads_a_process_group_of_its_own)
{
	struct ml_error e = {{0}};

	tool_is("read -r pid name state parent group rest </proc/$$/stat && test $group = $$");
	assert_i_eq(ml_proc_batch(tool, "x\n", false, &e), 0);
}

static void nothing(int number)
{
	(void)number;
}

TOOL_TEST(ml_proc_batch, waits_on_when_a_signal_comes)
{
	static const struct itimerval soon = {.it_interval.tv_usec = 10000,
					      .it_value.tv_usec = 10000},
				      never;
	struct sigaction on = {.sa_handler = nothing}, before;
	struct ml_error e = {{0}};

	tool_is("sleep 0.1");
	assert_i_eq(sigaction(SIGALRM, &on, &before), 0);
	assert_i_eq(setitimer(ITIMER_REAL, &soon, NULL), 0);
	assert_i_eq(ml_proc_batch(tool, "x\n", false, &e), 0);
	assert_i_eq(setitimer(ITIMER_REAL, &never, NULL), 0);
	assert_i_eq(sigaction(SIGALRM, &before, NULL), 0);
}

TOOL_TEST(ml_proc_batch, says_that_nobody_can_know_how_it_ended)
{
	tool_is("exit 0");
	signal(SIGCHLD, SIG_IGN);
	batch_says("x\n", " cannot be run: No child processes");
	signal(SIGCHLD, SIG_DFL);
}

/* Descriptors are given back, also where a list cannot be written or there are none left. */
TOOL_TEST(ml_proc_batch, leaves_no_descriptor_open)
{
	uint32_t open_before = test_open_fds();
	struct ml_error e = {{0}};
	struct rlimit before, few;

	tool_is("exit 0");
	assert_i_eq(ml_proc_batch(tool, "x\n", false, &e), 0);
	assert_i_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	few = (struct rlimit){0, before.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	assert_i_eq(setrlimit(RLIMIT_FSIZE, &few), 0);
	batch_says("x\n", " cannot be run: File too large");
	assert_i_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_i_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	for (rlim_t free = 0; free < 2; free++) {
		few = (struct rlimit){(rlim_t)test_next_fd() + free, before.rlim_max};
		assert_i_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
		batch_says("x\n", " cannot be run: Too many open files");
		assert_i_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	}
	assert_u_eq(test_open_fds(), open_before);
}

TEST(ml_list_open, ends_the_process_without_memory)
{
	struct ml_list list;
	char said[80] = "";
	int ends[2], status;
	pid_t child;

	assert_i_eq(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		dup2(ends[1], STDERR_FILENO);
		signal(SIGABRT, SIG_DFL);
		no_memory = true;
		ml_list_open(&list);
		_exit(0);
	}
	close(ends[1]);
	assert_i_eq(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	assert_true(read(ends[0], said, sizeof(said) - 1) > 0);
	assert_string_equal(said, "softmrc: no memory for a list of commands\n");
	close(ends[0]);
}
