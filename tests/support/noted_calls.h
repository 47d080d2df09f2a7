/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * noted_calls.h - what wrapped calls were asked, as text that a test compares, and calls that fail
 * or are interrupted as it says.
 */
#ifndef SOFTMRC_TESTS_SUPPORT_NOTED_CALLS_H
#define SOFTMRC_TESTS_SUPPORT_NOTED_CALLS_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "support/test.h"

struct noted_calls {
	const char *failing; /* the call that fails, by what it is for */
	char steps[8192];    /* what came: room for all EVs of a profile */
};

/* note_text adds to what came. */
__attribute__((format(printf, 2, 3))) static inline void note_text(struct noted_calls *c,
								   const char *format, ...)
{
	size_t len = strlen(c->steps), room = sizeof(c->steps) - len;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(c->steps + len, room, format, args);
	va_end(args);
	assert_true(n >= 0 && (size_t)n < room);
}

/* note_call adds a call as a word. -1 with errno where it is to fail, else 0. */
static inline int note_call(struct noted_calls *c, const char *what, int error)
{
	note_text(c, "%s ", what);
	if (!c->failing || strcmp(c->failing, what) != 0)
		return 0;
	errno = error;
	return -1;
}

/* interrupt_call says so many times that a signal came, with errno. */
static inline bool interrupt_call(unsigned int *times)
{
	if (*times == 0)
		return false;
	--*times;
	errno = EINTR;
	return true;
}

#endif
