/* SPDX-License-Identifier: BSD-2-Clause */
/* folder_entries.h - how many descriptors, threads or files there are: for programs, too, that are
 * no tests of their own. */
#ifndef SUPPORT_FOLDER_ENTRIES_H
#define SUPPORT_FOLDER_ENTRIES_H

#include <dirent.h>
#include <stdint.h>

/* folder_entries returns how many entries a folder has; UINT32_MAX: it cannot be read. */
static inline uint32_t folder_entries(const char *path)
{
	DIR *dir = opendir(path);
	uint32_t n = 0;

	if (!dir)
		return UINT32_MAX;
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2; /* the folder itself, and the one above it */
}

#endif
