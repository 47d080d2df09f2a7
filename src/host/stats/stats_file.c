/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stats_file.c - makes, locks, maps and removes the file of statistics. It belongs to a living
 * process as long as its lock is taken: the kernel gives that up for a process that crashes.
 */
#include "host/stats/stats.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* PSNs and the like help to forge packets: they are the user's own business. */
#define FILE_MODE 0600

/* errno is taken first: snprintf may change it. */
static int file_fail(struct mio_error *error, const char *call, const char *path)
{
	int code = errno;

	snprintf(error->text, sizeof(error->text), "MRC_STATS_DIR: %s %.150s: %s", call, path,
		 strerror(code));
	return code;
}

/*
 * Opens what lies there if it is a regular file of this user; -1: it is not, or errno. The folder
 * is open to all: a FIFO or a lease of another user must not make us wait, nor a link make us lock
 * or remove a file elsewhere.
 */
static int open_own(int dir, const char *path)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid()))
		return fd;
	close(fd);
	return -1;
}

/* Is it the complete file of a process that is no more? */
static bool file_is_stale(int fd)
{
	char magic[sizeof(((struct mrc_stats_segment *)0)->magic)];

	return flock(fd, LOCK_EX | LOCK_NB) == 0 &&
	       pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
	       memcmp(magic, MRC_STATS_MAGIC, sizeof(magic)) == 0;
}

/* Makes room for a file of our name, which may be of a process that had our number and crashed. */
static int file_remove_stale(const char *path, struct mio_error *error)
{
	int fd = open_own(AT_FDCWD, path);
	bool locked = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0;

	if (fd >= 0)
		close(fd);
	if (locked) {
		errno = EEXIST;
		return file_fail(error, "creating", path);
	}
	if (unlink(path) < 0 && errno != ENOENT)
		return file_fail(error, "removing", path);
	return 0;
}

static int file_create(struct mh_stats_file *file, struct mio_error *error)
{
	int err = file_remove_stale(file->path, error);

	if (err)
		return err;
	file->fd = open(file->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
	if (file->fd < 0)
		return file_fail(error, "creating", file->path);
	/* A reader may hold it for a moment, to see whether the file is alive. */
	if (flock(file->fd, LOCK_EX) < 0)
		return file_fail(error, "locking", file->path);
	/* Taking the blocks now turns a full disk into an error here instead of a signal later. */
	errno = posix_fallocate(file->fd, 0, sizeof(*file->map));
	if (errno)
		return file_fail(error, "filling", file->path);
	file->map = mmap(NULL, sizeof(*file->map), PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, 0);
	if (file->map == MAP_FAILED) {
		file->map = NULL;
		return file_fail(error, "mapping", file->path);
	}
	return 0;
}

int mh_stats_file_open(struct mh_stats_file *file, const char *dir, uint32_t device,
		       struct mio_error *error)
{
	char own[16] = "";
	int err;

	*file = (struct mh_stats_file){.fd = -1, .owner = getpid()};
	if (device > 0)
		snprintf(own, sizeof(own), ".%u", device);
	if (snprintf(file->path, sizeof(file->path), "%s/%ld%s" MRC_STATS_SUFFIX, dir,
		     (long)file->owner, own) >= (int)sizeof(file->path)) {
		errno = ENAMETOOLONG;
		return file_fail(error, "creating", dir);
	}
	err = file_create(file, error);
	if (err)
		mh_stats_file_close(file);
	return err;
}

/*
 * A forked child shares the lock's file description: it closes its copy, and the parent's lock
 * stays.
 */
void mh_stats_file_close(struct mh_stats_file *file)
{
	if (file->map)
		munmap(file->map, sizeof(*file->map));
	if (file->fd < 0)
		return;
	if (file->owner == getpid() && !file->keep)
		unlink(file->path);
	close(file->fd);
}

/* Only names that this library makes are candidates: the folder is open to every user. */
static bool is_stats_name(const char *name)
{
	size_t digits = strspn(name, "0123456789");
	const char *rest = name + digits;

	if (rest[0] == '.' && rest[1] >= '1' && rest[1] <= '9')
		rest += 2;
	return digits && strcmp(rest, MRC_STATS_SUFFIX) == 0;
}

/* A file that is just being made has no magic yet and is left alone. */
static void sweep_file(int dir, const char *name)
{
	int fd = open_own(dir, name);

	if (fd < 0)
		return;
	if (file_is_stale(fd))
		unlinkat(dir, name, 0);
	close(fd);
}

/* Sticky, as /tmp is: every user may put files in, none may remove another's. */
const char *mh_stats_file_default(void)
{
	const struct dirent *entry;
	DIR *dir;

	/* The mode that mkdir takes is cut by the umask. */
	if (mkdir(MRC_STATS_DEFAULT_DIR, 0700) == 0)
		chmod(MRC_STATS_DEFAULT_DIR, 01777);
	dir = opendir(MRC_STATS_DEFAULT_DIR);
	if (!dir)
		return MRC_STATS_DEFAULT_DIR;
	while ((entry = readdir(dir)))
		if (is_stats_name(entry->d_name))
			sweep_file(dirfd(dir), entry->d_name);
	closedir(dir);
	return MRC_STATS_DEFAULT_DIR;
}
