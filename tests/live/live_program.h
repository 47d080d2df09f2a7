/* SPDX-License-Identifier: BSD-2-Clause */
/* live_program.h - the program mrc, as a user runs it: words go in, and it says something. */
#ifndef LIVE_LIVE_PROGRAM_H
#define LIVE_LIVE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define LIVE_PROGRAM_SAID (1 << 17)
#define LIVE_PROGRAM_WORDS 20 /* at most */

/* A running mrc, and all that it has said on stdout and stderr. */
struct live_program {
	pid_t pid;
	int out;
	size_t have; /* bytes of said */
	char said[LIVE_PROGRAM_SAID];
};

/*
 * live_program_start starts the test's first argument with the words up to NULL. `prepare`, unless
 * NULL, runs in the new process before; if it returns false, the program ends with status 77.
 */
void live_program_start(struct live_program *p, char *const *words, bool (*prepare)(void));

#define START(p, ...) live_program_start((p), (char *[]){__VA_ARGS__, NULL}, NULL)

/* live_program_hear waits and reads more of what is said; false: that was all. */
bool live_program_hear(struct live_program *p);

/* live_program_wait_said waits until this is said; a program that ends without fails the case. */
void live_program_wait_said(struct live_program *p, const char *part);

/* live_program_finish waits for the end. Returns the exit status, or a signal's number below 0. */
int live_program_finish(struct live_program *p);

/* live_program_assert_said fails the case unless the program has said this. */
void live_program_assert_said(const struct live_program *p, const char *part);

#endif
