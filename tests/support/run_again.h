/* SPDX-License-Identifier: BSD-2-Clause */
/* run_again.h - for tests of what runs tests: this program once more. */
#ifndef SUPPORT_RUN_AGAIN_H
#define SUPPORT_RUN_AGAIN_H

#include "support/test.h"

#include <stdio.h>
#include <unistd.h>

/*
 * Runs this program with variables of the shell before its name and with arguments behind it; what
 * it says, and its status as of wait().
 */
static inline int run_again(const char *variables, const char *arguments, char *said, size_t size)
{
	char path[512], command[1024];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	size_t len;
	FILE *pipe;

	assert_true(n > 0);
	path[n] = '\0';
	snprintf(command, sizeof(command), "%s '%s' %s", variables, path, arguments);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	len = fread(said, 1, size - 1, pipe);
	said[len] = '\0';
	return pclose(pipe);
}

#endif
