/* SPDX-License-Identifier: BSD-2-Clause */
/* open_fds.h - how many descriptors a test has open: one that is left open shows wherever it is.
 * And which one comes next, for tests in which there are too few. */
#ifndef SUPPORT_OPEN_FDS_H
#define SUPPORT_OPEN_FDS_H

#include "support/folder_entries.h"
#include "support/test.h"

#include <unistd.h>

/* test_open_fds returns a number that is the same when as many descriptors are open. */
static inline uint32_t test_open_fds(void)
{
	uint32_t n = folder_entries("/proc/self/fd");

	assert_true(n != UINT32_MAX);
	return n;
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
