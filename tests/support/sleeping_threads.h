/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sleeping_threads.h - waits until all threads of the process but the one that asks sleep. One that
 * is just starting may have a lock of an allocator, which a child of fork then has for ever.
 */
#ifndef SUPPORT_SLEEPING_THREADS_H
#define SUPPORT_SLEEPING_THREADS_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline bool test_thread_sleeps(const char *thread)
{
	char path[300], text[256] = "";
	const char *at;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%s/stat", thread);
	file = fopen(path, "re");
	if (file)
		(void)!fgets(text, sizeof(text), file);
	if (file)
		fclose(file);
	at = strrchr(text, ')');
	return at && at[2] == 'S';
}

static inline void test_wait_for_threads(void)
{
	uint32_t awake = 0;

	while (awake != 1) {
		DIR *all = opendir("/proc/self/task");
		const struct dirent *one;

		if (!all)
			abort();
		for (awake = 0; (one = readdir(all));)
			awake += one->d_name[0] != '.' && !test_thread_sleeps(one->d_name);
		closedir(all);
	}
}

#endif
