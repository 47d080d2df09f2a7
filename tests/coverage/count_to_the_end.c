/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * count_to_the_end.c - part of every program and library of a coverage build: counts of processes
 * that do not return from main.
 *
 * gcov writes what it counted when destructors run. Children of tests end by _exit, which runs
 * none, or wait in pause until they are killed. Here both write the counts first, those of the
 * program and of each library that it loaded: each has counts of its own, and says so when it
 * comes.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The program, the two libraries, and what tests have them load. */
#define OBJECTS_MAX 16

typedef void (*write_function)(void);

void __gcov_dump(void);
void softmrc_count_to_the_end(write_function of, write_function is);

static write_function objects[OBJECTS_MAX];

/* Of a test, which this stands before (tests/support/whole_run.h); NULL in what is no test. */
__attribute__((weak)) int test_run_judge(int status);

/* Puts one in the place of another; NULL: none. The program's is called, by libraries too. */
__attribute__((visibility("default"))) void softmrc_count_to_the_end(write_function of,
								     write_function is)
{
	for (size_t i = 0; i < OBJECTS_MAX; i++)
		if (objects[i] == of) {
			objects[i] = is;
			return;
		}
}

static void write_all(void)
{
	for (size_t i = 0; i < OBJECTS_MAX; i++)
		if (objects[i])
			objects[i]();
}

/* Programs of others, which may load the libraries too, have nobody to tell. */
static void tell(write_function of, write_function is)
{
	void *address = dlsym(RTLD_DEFAULT, "softmrc_count_to_the_end");
	__typeof__(&softmrc_count_to_the_end) program;

	if (!address)
		return;
	memcpy(&program, &address, sizeof(program));
	program(of, is);
}

__attribute__((constructor)) static void come(void)
{
	tell(NULL, __gcov_dump);
}

/* A library can be closed. */
__attribute__((destructor)) static void leave(void)
{
	tell(__gcov_dump, NULL);
}

__attribute__((visibility("default"))) void _exit(int status)
{
	write_all();
	if (test_run_judge)
		status = test_run_judge(status);
	for (;;)
		syscall(SYS_exit_group, status);
}

__attribute__((visibility("default"))) int pause(void)
{
	write_all();
	return ppoll(NULL, 0, NULL, NULL);
}
