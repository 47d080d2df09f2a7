/* SPDX-License-Identifier: BSD-2-Clause */
/* whole_run.c - a program that ends before its last case: see whole_run.h. */
#include "support/whole_run.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static pid_t running; /* the process whose cases have not all run; 0: none */
static __typeof__(&_exit) next_exit;

/* Found at once: a child of a process with threads, or a handler of a signal, may not look. */
__attribute__((constructor)) static void find_next(void)
{
	void *found = dlsym(RTLD_NEXT, "_exit"); /* a sanitizer's, which judges as well */

	memcpy(&next_exit, &found, sizeof(found));
}

int test_run_judge(int status)
{
	static const char text[] = "the program ended before its last case\n";

	if (status || getpid() != running)
		return status;
	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	return 1;
}

/*
 * It stands before that of the C library for all that the test links; weak, for a build that counts
 * lines has one of its own in each program.
 */
__attribute__((weak, visibility("default"))) void _exit(int status)
{
	if (next_exit)
		next_exit(test_run_judge(status));
	for (;;)
		syscall(SYS_exit_group, test_run_judge(status));
}

__attribute__((weak, visibility("default"))) void _Exit(int status)
{
	_exit(status);
}

/* exit(0), and the end of the last thread. */
static void judge_exit(void)
{
	if (test_run_judge(0))
		_exit(1);
}

void test_run_begins(void)
{
	running = getpid();
	if (atexit(judge_exit))
		abort();
}

void test_run_ends(void)
{
	running = 0;
}
