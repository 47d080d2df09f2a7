/* SPDX-License-Identifier: BSD-2-Clause */
/* open_fds.h - how many descriptors a test has open: one that is left open shows wherever it is.
 * And which one comes next, for tests in which there are too few. */
#ifndef SUPPORT_OPEN_FDS_H
#define SUPPORT_OPEN_FDS_H

#include "support/test.h"

#include <dirent.h>
#include <unistd.h>

/* test_entries returns how many entries a folder has. */
static inline uint32_t test_entries(const char *path)
{
	DIR *dir = opendir(path);
	uint32_t n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2; /* the folder itself, and the one above it */
}

/* test_open_fds returns a number that is the same when as many descriptors are open. */
static inline uint32_t test_open_fds(void)
{
	return test_entries("/proc/self/fd");
}

/* test_next_fd returns the lowest free descriptor: with RLIMIT_NOFILE of it there is none left. */
static inline int test_next_fd(void)
{
	int fd = dup(STDERR_FILENO);

	assert_true(fd >= 0);
	close(fd);
	return fd;
}

#endif
