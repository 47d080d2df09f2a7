/* SPDX-License-Identifier: BSD-2-Clause */
/* store_dir.c - which folders and files a store may be in. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/store_format.h"

#define OTHERS_WRITE (S_IWGRP | S_IWOTH)

static int refuse(int fd, int code)
{
	close(fd);
	errno = code;
	return -1;
}

/*
 * In a user namespace root of the host is a number that stands for all users who are not in it.
 * What lies below / then belongs to whom / does: only the folder of the default path counts so,
 * for nobody but root can make that.
 */
static bool is_root_of_host(const char *path, uid_t uid)
{
	struct stat st;

	return strcmp(path, STORE_DIR_DEFAULT) == 0 && stat("/", &st) == 0 && st.st_uid == uid;
}

int store_dir_open(const char *path, uid_t *owner)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st))
		return refuse(fd, errno);
	if (st.st_mode & OTHERS_WRITE)
		return refuse(fd, EPERM);
	if (st.st_uid != 0 && st.st_uid != geteuid() && !is_root_of_host(path, st.st_uid))
		return refuse(fd, EPERM);
	*owner = st.st_uid;
	return fd;
}

/* Root may write to the folder of another, but what lies there must be its owner's or root's. */
int store_file_open(int dir, const char *name, uid_t *owner, uint64_t *bytes)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st, folder;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) || fstat(dir, &folder))
		return refuse(fd, errno);
	if (!S_ISREG(st.st_mode) || st.st_mode & OTHERS_WRITE ||
	    (st.st_uid != 0 && st.st_uid != folder.st_uid))
		return refuse(fd, EPERM);
	*owner = st.st_uid;
	*bytes = (uint64_t)st.st_size;
	return fd;
}

bool store_name(const char *device, const char *suffix, char name[STORE_NAME_MAX])
{
	size_t len = strnlen(device, STORE_DEVICE_MAX);

	if (len == 0 || len == STORE_DEVICE_MAX)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)device[i]))
			return false;
	snprintf(name, STORE_NAME_MAX, "%s%s", device, suffix);
	return true;
}

int store_fail(struct store_error *error, const char *dir, const char *name, int code,
	       const char *why)
{
	/* Those of rights and kind are the store's own rule more often than the kernel's. */
	if (!why && (code == EPERM || code == ELOOP))
		why = "must be a folder or regular file, no link, of root or of this user, to "
		      "which nobody else can write";
	snprintf(error->text, sizeof(error->text), "%.200s%s%s: %s", dir, *name ? "/" : "", name,
		 why ? why : strerror(code));
	return code;
}
