/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs_sysfs.c - reading files below /sys, which some programs do through libibverbs. */
#include "libibverbs/real_library.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define PATH_BYTES 512

const char *ibv_get_sysfs_path(void)
{
	MV_TO_REAL(mv_real(), ibv_get_sysfs_path, ());
	return "/sys";
}

/* Returns how many bytes the text has without its last newline, which becomes a NUL, or -1. */
int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size)
{
	char path[PATH_BYTES];
	ssize_t len;
	int fd;

	if (!dir || !file || !buf || !size)
		return iv_minus_one(EINVAL);
	if (snprintf(path, sizeof(path), "%s/%s", dir, file) >= (int)sizeof(path))
		return iv_minus_one(ENAMETOOLONG);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	len = read(fd, buf, size);
	close(fd);
	if (len > 0 && buf[len - 1] == '\n')
		buf[--len] = '\0';
	else if (len >= 0 && (size_t)len < size)
		buf[len] = '\0';
	return (int)len;
}
