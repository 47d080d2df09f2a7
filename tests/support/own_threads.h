/* SPDX-License-Identifier: BSD-2-Clause */
/* own_threads.h - how many threads a process has. */
#ifndef SUPPORT_OWN_THREADS_H
#define SUPPORT_OWN_THREADS_H

#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "support/folder_entries.h"

/*
 * test_threads_are returns whether the process has n threads within a minute: who has been joined
 * may be listed for a moment. ThreadSanitizer adds threads of its own and does not tell how many:
 * with it the answer is yes.
 */
static inline bool test_threads_are(uint32_t n)
{
#ifdef __SANITIZE_THREAD__
	(void)n;
	return true;
#endif
	for (uint32_t ms = 0; ms < 60000; ms++) {
		if (folder_entries("/proc/self/task") == n)
			return true;
		usleep(1000);
	}
	return false;
}

#endif
