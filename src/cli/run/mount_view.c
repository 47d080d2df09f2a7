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

/* Others may write in the folder of a view that is for containers: their links are not followed. */
static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
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

/* Makes the folders of a path. */
static int make_folders(const char *path)
{
	char part[PATH_MAX];

	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		if (mkdir(part, 0755) && errno != EEXIST)
			return -1;
	}
	return 0;
}

int run_view_file(const char *path, const char *text, struct run_view_error *e)
{
	return make_folders(path) || write_text(path, text) ? set_view_error(e, path) : 0;
}

/* Copies the links of a folder of /sys/class, which lead out of it; other entries are few. */
static int copy_links(const char *from, const char *to, struct run_view_error *e)
{
	DIR *dir = opendir(from);
	const struct dirent *entry;
	int rc = 0;

	if (!dir)
		return errno == ENOTDIR || errno == ENOENT ? 0 : set_view_error(e, from);
	if (mkdir(to, 0755) && errno != EEXIST)
		rc = set_view_error(e, to);
	while (!rc && (entry = readdir(dir))) {
		char name[PATH_MAX], target[PATH_MAX];
		ssize_t len = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);

		if (len < 0 ||
		    snprintf(name, sizeof(name), "%s/%s", to, entry->d_name) >= (int)sizeof(name))
			continue;
		target[len] = '\0';
		if (symlink(target, name) && errno != EEXIST)
			rc = set_view_error(e, name);
	}
	closedir(dir);
	return rc;
}

int run_view_copy(const char *folder, const char *root, struct run_view_error *e)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	char to[PATH_MAX];
	int rc = 0;

	if (!dir)
		return set_view_error(e, folder);
	snprintf(to, sizeof(to), "%s%s/", root, folder);
	if (make_folders(to))
		rc = set_view_error(e, to);
	while (!rc && (entry = readdir(dir))) {
		char from[PATH_MAX];

		if (entry->d_name[0] == '.' ||
		    snprintf(from, sizeof(from), "%s/%s", folder, entry->d_name) >=
			    (int)sizeof(from) ||
		    snprintf(to, sizeof(to), "%s%s", root, from) >= (int)sizeof(to))
			continue;
		rc = copy_links(from, to, e);
	}
	closedir(dir);
	return rc;
}

int run_view_node(const char *path, struct run_view_error *e)
{
	const dev_t null_device = makedev(1, 3);
	struct stat st;
	mode_t mask;
	int rc;

	if (make_folders(path))
		return set_view_error(e, path);
	/* The mask of the process is not the node's: who opens it may be another user. */
	mask = umask(0);
	rc = mknod(path, S_IFCHR | 0666, null_device);
	umask(mask);
	/* One of an earlier step is good; another file, or a link, is somebody else's. */
	if (rc && errno == EEXIST && lstat(path, &st) == 0)
		rc = S_ISCHR(st.st_mode) && st.st_rdev == null_device ? 0 : -1;
	return rc ? set_view_error(e, path) : 0;
}

int run_view_bind(const char *path, const char *of, struct run_view_error *e)
{
	if (make_folders(path) || create_file(path) || mount(of, path, NULL, MS_BIND, NULL))
		return set_view_error(e, path);
	return 0;
}
