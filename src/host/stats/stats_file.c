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

#include "stats/stats_files.h"

/* PSNs and the like help to forge packets: they are the user's own business. */
#define DIR_MODE 0700
#define FILE_MODE 0600
/* And that of a group, where the user says so. */
#define DIR_MODE_GROUP 0750
#define FILE_MODE_GROUP 0640

/* errno is taken first: snprintf may change it. */
static int file_fail(struct mio_error *error, const char *call, const char *dir, const char *name)
{
	int code = errno;

	snprintf(error->text, sizeof(error->text), "MRC_STATS_DIR: %s %.120s/%s: %s", call, dir,
		 name, strerror(code));
	return code;
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
static int file_remove_stale(const struct mh_stats_file *file)
{
	uid_t owner = geteuid();
	int fd = stats_file_open(file->dir, file->name, &owner);
	bool locked = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0;

	if (fd >= 0)
		close(fd);
	if (locked) {
		errno = EEXIST;
		return -1;
	}
	return unlinkat(file->dir, file->name, 0) < 0 && errno != ENOENT ? -1 : 0;
}

/*
 * Lets the group read a file or folder, or nobody: what is there may be of a time with another
 * setting. -1 and errno, mostly EPERM: the user is not in the group.
 */
static int file_share(int fd, gid_t group, mode_t alone, mode_t shared)
{
	bool wanted = group != MH_NO_GROUP;
	struct stat st;

	if (fstat(fd, &st) || (wanted && st.st_gid != group && fchown(fd, (uid_t)-1, group)))
		return -1;
	if ((st.st_mode & 0777) == (wanted ? shared : alone))
		return 0;
	return fchmod(fd, wanted ? shared : alone);
}

static int file_create(struct mh_stats_file *file, const char *dir, struct mio_error *error)
{
	if (file_remove_stale(file))
		return file_fail(error, "creating", dir, file->name);
	file->fd = openat(file->dir, file->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
			  FILE_MODE);
	if (file->fd < 0)
		return file_fail(error, "creating", dir, file->name);
	/* A reader may hold it for a moment, to see whether the file is alive. */
	if (flock(file->fd, LOCK_EX) < 0)
		return file_fail(error, "locking", dir, file->name);
	/* Taking the blocks now turns a full disk into an error here instead of a signal later. */
	errno = posix_fallocate(file->fd, 0, sizeof(*file->map));
	if (errno)
		return file_fail(error, "filling", dir, file->name);
	file->map = mmap(NULL, sizeof(*file->map), PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, 0);
	if (file->map == MAP_FAILED) {
		file->map = NULL;
		return file_fail(error, "mapping", dir, file->name);
	}
	return file_share(file->fd, file->group, FILE_MODE, FILE_MODE_GROUP)
		       ? file_fail(error, "giving MRC_STATS_GROUP the right to read", dir,
				   file->name)
		       : 0;
}

/* The folder stays open: the file is removed where it was made, whatever is called so by then. */
static int file_open_in(struct mh_stats_file *file, int fd, const char *dir,
			const struct mh_stats_file_cfg *cfg, struct mio_error *error)
{
	char own[16] = "";
	int err;

	*file = (struct mh_stats_file){.fd = -1, .dir = fd, .owner = getpid(), .group = cfg->group};
	if (cfg->device > 0)
		snprintf(own, sizeof(own), ".%u", cfg->device);
	snprintf(file->name, sizeof(file->name), "%ld%s" MRC_STATS_SUFFIX, (long)file->owner, own);
	err = file_create(file, dir, error);
	if (err)
		mh_stats_file_close(file);
	return err;
}

int mh_stats_file_open(struct mh_stats_file *file, const char *dir,
		       const struct mh_stats_file_cfg *cfg, struct mio_error *error)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return file_fail(error, "opening", dir, "");
	return file_open_in(file, fd, dir, cfg, error);
}

/*
 * A forked child shares the lock's file description: it closes its copy, and the parent's lock
 * stays.
 */
void mh_stats_file_close(struct mh_stats_file *file)
{
	if (file->map)
		munmap(file->map, sizeof(*file->map));
	if (file->fd >= 0) {
		if (file->owner == getpid() && !file->keep)
			unlinkat(file->dir, file->name, 0);
		close(file->fd);
	}
	close(file->dir);
}

/* ---- the folder of the user ---- */

/* A file that is just being made has no magic yet and is left alone. */
static void sweep_file(int dir, const char *name)
{
	uid_t owner = geteuid();
	int fd = stats_file_open(dir, name, &owner);

	if (fd < 0)
		return;
	if (file_is_stale(fd))
		unlinkat(dir, name, 0);
	close(fd);
}

/* Removes what crashed processes left; only names that this library makes are candidates. */
static void sweep_dir(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;
	uint32_t pid, device;

	if (!dir && copy >= 0)
		close(copy);
	while (dir && (entry = readdir(dir)))
		if (stats_file_name(entry->d_name, &pid, &device))
			sweep_file(fd, entry->d_name);
	if (dir)
		closedir(dir);
}

int mh_stats_file_open_own(struct mh_stats_file *file, const char *dir,
			   const struct mh_stats_file_cfg *cfg, struct mio_error *error)
{
	uid_t owner;
	int fd;

	if (mkdir(dir, DIR_MODE) && errno != EEXIST)
		return file_fail(error, "making", dir, "");
	fd = stats_dir_open(AT_FDCWD, dir, &owner);
	if (fd >= 0 && owner == geteuid()) {
		if (file_share(fd, cfg->group, DIR_MODE, DIR_MODE_GROUP)) {
			close(fd);
			return file_fail(error, "giving MRC_STATS_GROUP the right to read", dir,
					 "");
		}
		sweep_dir(fd);
		return file_open_in(file, fd, dir, cfg, error);
	}
	if (fd < 0 && errno != EPERM && errno != ELOOP && errno != ENOTDIR && errno != EACCES)
		return file_fail(error, "opening", dir, "");
	if (fd >= 0)
		close(fd);
	snprintf(error->text, sizeof(error->text),
		 "no statistics: %.100s must be a folder, not a link, of user %u with mode 0700; "
		 "remove it, or name another folder in MRC_STATS_DIR",
		 dir, geteuid());
	return EPERM;
}
