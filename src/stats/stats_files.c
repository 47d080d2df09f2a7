/* SPDX-License-Identifier: BSD-2-Clause */
/* Folders and files of statistics: see stats_files.h. */
#include "stats/stats_files.h"

#include <errno.h>
#include <fcntl.h>
#include <mrc/stats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The rows of /proc/self/uid_map: first number inside, first outside, how many. */
static uid_t uid_outside(uid_t uid)
{
	FILE *f = fopen("/proc/self/uid_map", "re");
	unsigned inside, outside, n;
	uid_t found = uid;

	while (f && fscanf(f, "%u %u %u", &inside, &outside, &n) == 3)
		if (uid >= inside && uid - inside < n)
			found = outside + (uid - inside);
	if (f)
		fclose(f);
	return found;
}

char *stats_dir_default(char out[STATS_DIR_MAX])
{
	snprintf(out, STATS_DIR_MAX, MRC_STATS_DIR_PREFIX "%u", uid_outside(geteuid()));
	return out;
}

/* Closes the descriptor and returns -1. */
static int refuse(int fd, int code)
{
	close(fd);
	errno = code;
	return -1;
}

int stats_dir_open(int at, const char *path, uid_t *owner)
{
	int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st))
		return refuse(fd, errno);
	if (st.st_mode & (S_IWGRP | S_IRWXO))
		return refuse(fd, EPERM);
	*owner = st.st_uid;
	return fd;
}

int stats_file_open(int dir, const char *name, uid_t *owner)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st))
		return refuse(fd, errno);
	if (!S_ISREG(st.st_mode) || (*owner != STATS_ANY_OWNER && st.st_uid != *owner))
		return refuse(fd, EPERM);
	*owner = st.st_uid;
	return fd;
}

bool stats_file_name(const char *name, uint32_t *pid, uint32_t *device)
{
	size_t digits = strspn(name, "0123456789");
	const char *rest = name + digits;

	*device = 0;
	if (rest[0] == '.' && rest[1] >= '1' && rest[1] <= '9') {
		*device = (uint32_t)(rest[1] - '0');
		rest += 2;
	}
	if (!digits || digits > 9 || strcmp(rest, MRC_STATS_SUFFIX) != 0)
		return false;
	*pid = (uint32_t)strtoul(name, NULL, 10);
	return *pid != 0;
}
