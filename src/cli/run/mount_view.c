/* SPDX-License-Identifier: BSD-2-Clause */
/* Folders with more in them: see run.h. */
#include "cli/run/run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Where a folder is kept while another is mounted over it; every system has /tmp. */
#define ASIDE "/tmp"

static int set_view_error(struct run_view_error *e, const char *what)
{
	snprintf(e->text, sizeof(e->text), "%.120s: %s", what, strerror(errno));
	return -1;
}

/* To a file of /proc. */
static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	size_t len = strlen(text);
	int rc = fd >= 0 && write(fd, text, len) == (ssize_t)len ? 0 : -1;

	if (fd >= 0)
		close(fd);
	return rc;
}

/* A user namespace in which everybody is who they were. */
static int stay_oneself(struct run_view_error *e, uid_t uid, gid_t gid)
{
	char map[48];

	if (write_text("/proc/self/setgroups", "deny"))
		return set_view_error(e, "/proc/self/setgroups");
	snprintf(map, sizeof(map), "%u %u 1", uid, uid);
	if (write_text("/proc/self/uid_map", map))
		return set_view_error(e, "/proc/self/uid_map");
	snprintf(map, sizeof(map), "%u %u 1", gid, gid);
	if (write_text("/proc/self/gid_map", map))
		return set_view_error(e, "/proc/self/gid_map");
	return 0;
}

int run_view_enter(struct run_view_error *e)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();

	if (unshare(CLONE_NEWNS | (uid ? CLONE_NEWUSER : 0)))
		return set_view_error(e, uid ? "user namespace" : "mount namespace");
	if (uid && stay_oneself(e, uid, gid))
		return -1;
	return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL)
		       ? set_view_error(e, "private mounts")
		       : 0;
}

static int create_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd >= 0)
		close(fd);
	return fd >= 0 ? 0 : -1;
}

/* Makes `to` show what `from` is: a link like it, or the same folder or file. */
static int bind_mount(const char *from, const char *to)
{
	char target[PATH_MAX];
	struct stat st;
	ssize_t len;

	if (lstat(from, &st))
		return errno == ENOENT ? 0 : -1; /* gone meanwhile */
	if (S_ISLNK(st.st_mode)) {
		len = readlink(from, target, sizeof(target) - 1);
		if (len < 0)
			return -1;
		target[len] = '\0';
		return symlink(target, to);
	}
	if (S_ISDIR(st.st_mode) ? mkdir(to, 0755) : create_file(to))
		return -1;
	return mount(from, to, NULL, MS_BIND | MS_REC, NULL);
}

static int show_all(const char *from, const char *to, struct run_view_error *e)
{
	DIR *dir = opendir(from);
	const struct dirent *entry;
	int rc = 0;

	if (!dir)
		return set_view_error(e, from);
	while (!rc && (entry = readdir(dir))) {
		char a[PATH_MAX], b[PATH_MAX];

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (snprintf(a, sizeof(a), "%s/%s", from, entry->d_name) >= (int)sizeof(a) ||
		    snprintf(b, sizeof(b), "%s/%s", to, entry->d_name) >= (int)sizeof(b))
			continue; /* no path is that long */
		rc = bind_mount(a, b) ? set_view_error(e, a) : 0;
	}
	closedir(dir);
	return rc;
}

/* The folder is put aside, memory takes its place, and its entries come back one by one. */
int run_view_open(const char *folder, struct run_view_error *e)
{
	char aside[PATH_MAX];
	int rc;

	if (mount("softmrc", ASIDE, "tmpfs", 0, "mode=755"))
		return set_view_error(e, ASIDE);
	snprintf(aside, sizeof(aside), "%s/was", ASIDE);
	rc = mkdir(aside, 0755) || mount(folder, aside, NULL, MS_BIND | MS_REC, NULL) ||
			     mount("softmrc", folder, "tmpfs", 0, "mode=755")
		     ? set_view_error(e, folder)
		     : show_all(aside, folder, e);
	umount2(ASIDE, MNT_DETACH);
	return rc;
}

/* ---- below a folder in which others may write ---- */

static int set_place_error(struct run_view_error *e, const char *root, const char *path)
{
	char whole[PATH_MAX];

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	return set_view_error(e, whole);
}

/* The folder of a view itself is where its user says, over whichever links. */
static int open_root(const char *root)
{
	char part[PATH_MAX];

	for (const char *at = root; *at; at += strspn(at, "/")) {
		at += strcspn(at, "/");
		snprintf(part, sizeof(part), "%.*s", (int)(at - root), root);
		if (*part && mkdir(part, 0755) && errno != EEXIST)
			return -1;
	}
	return open(*root ? root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* A folder in one, made where it is not there. Gives up `in`. */
static int descend(int in, const char *name)
{
	int failed = mkdirat(in, name, 0755) && errno != EEXIST, err;
	/* Of a link it says ENOTDIR. */
	int fd = failed ? -1 : openat(in, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	err = errno;
	close(in);
	errno = err;
	return fd;
}

/*
 * Opens the folder that root/path is in, path beginning with a slash; *name is the rest of path.
 * Links in place of its folders would lead a process with rights to others' files.
 */
static int open_folder(const char *root, const char *path, const char **name)
{
	char part[NAME_MAX + 1];
	int fd = open_root(root);

	*name = path + 1;
	for (const char *slash = strchr(*name, '/'); fd >= 0 && slash; slash = strchr(*name, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - *name), *name);
		fd = descend(fd, part);
		*name = slash + 1;
	}
	return fd;
}

static int close_and_say(int folder, int rc, const char *root, const char *path,
			 struct run_view_error *e)
{
	if (rc)
		set_place_error(e, root, path);
	if (folder >= 0)
		close(folder);
	return rc ? -1 : 0;
}

/* A file of its own, or one of an earlier step: no link, no pipe, no other name of a file. */
static int replace_text(int folder, const char *name, const char *text)
{
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
			0644);
	size_t len = strlen(text);
	struct stat st;
	int rc = -1;

	if (fd < 0 || fstat(fd, &st))
		rc = -1;
	else if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
		errno = EEXIST;
	else if (ftruncate(fd, 0) == 0 && write(fd, text, len) == (ssize_t)len)
		rc = 0;
	if (fd >= 0)
		close(fd);
	return rc;
}

int run_view_file(const char *root, const char *path, const char *text, struct run_view_error *e)
{
	const char *name;
	int folder = open_folder(root, path, &name);
	int rc = folder < 0 || replace_text(folder, name, text);

	return close_and_say(folder, rc, root, path, e);
}

/*
 * Copies the links of a folder of /sys/class, `from` with a slash behind it, which lead out of it;
 * other entries are few.
 */
static int copy_links(const char *from, const char *root, struct run_view_error *e)
{
	DIR *dir = opendir(from);
	const struct dirent *entry;
	const char *rest;
	int rc, to;

	if (!dir)
		return errno == ENOTDIR || errno == ENOENT ? 0 : set_view_error(e, from);
	to = open_folder(root, from, &rest);
	rc = to < 0;
	while (!rc && (entry = readdir(dir))) {
		char target[PATH_MAX];
		ssize_t len = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);

		if (len < 0)
			continue;
		target[len] = '\0';
		rc = symlinkat(target, to, entry->d_name) && errno != EEXIST;
	}
	rc = close_and_say(to, rc, root, from, e);
	closedir(dir);
	return rc;
}

int run_view_copy(const char *folder, const char *root, struct run_view_error *e)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	char from[PATH_MAX];
	const char *rest;
	int rc, to;

	if (!dir)
		return set_view_error(e, folder);
	snprintf(from, sizeof(from), "%s/", folder);
	to = open_folder(root, from, &rest);
	rc = close_and_say(to, to < 0, root, from, e);
	while (!rc && (entry = readdir(dir))) {
		if (entry->d_name[0] != '.' && snprintf(from, sizeof(from), "%s/%s/", folder,
							entry->d_name) < (int)sizeof(from))
			rc = copy_links(from, root, e);
	}
	closedir(dir);
	return rc;
}

int run_view_node(const char *root, const char *path, struct run_view_error *e)
{
	const dev_t null_device = makedev(1, 3);
	const char *name;
	int folder = open_folder(root, path, &name), rc = folder < 0;
	struct stat st;
	mode_t mask;

	if (!rc) {
		/* The mask of the process is not the node's: who opens it may be another user. */
		mask = umask(0);
		rc = mknodat(folder, name, S_IFCHR | 0666, null_device);
		umask(mask);
	}
	/* One of an earlier step is good; another file, or a link, is somebody else's. */
	if (rc && errno == EEXIST && fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISCHR(st.st_mode) && st.st_rdev == null_device)
		rc = 0;
	return close_and_say(folder, rc, root, path, e);
}

int run_view_bind(const char *path, const char *of, struct run_view_error *e)
{
	const char *name;
	int folder = open_folder("", path, &name);
	int rc = folder < 0 || create_file(path) || mount(of, path, NULL, MS_BIND, NULL);

	return close_and_say(folder, rc, "", path, e);
}
