/* SPDX-License-Identifier: BSD-2-Clause */
/* Rights of our own: see rootless.h. */
#include "lab/rootless.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok;
}

int ml_rootless_enter(struct ml_error *e)
{
	char uid[40], gid[40];

	snprintf(uid, sizeof(uid), "0 %u 1", geteuid());
	snprintf(gid, sizeof(gid), "0 %u 1", getegid());
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET) != 0)
		return ml_error_set(e,
				    "a user namespace cannot be made: %s (sysctls user.max_user_"
				    "namespaces, kernel.unprivileged_userns_clone)",
				    strerror(errno));
	if (!write_file("/proc/self/setgroups", "deny") || !write_file("/proc/self/uid_map", uid) ||
	    !write_file("/proc/self/gid_map", gid))
		return ml_error_set(e, "user namespace: writing its maps: %s", strerror(errno));
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("softmrc-lab", "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") != 0 ||
	    mkdir("/run/netns", 0755) != 0)
		return ml_error_set(e, "user namespace: a /run of its own: %s", strerror(errno));
	return 0;
}

int ml_rootless_join(pid_t pid, struct ml_error *e)
{
	static const struct {
		const char *name;
		int type;
	} spaces[] = {{"user", CLONE_NEWUSER}, {"net", CLONE_NEWNET}, {"mnt", CLONE_NEWNS}};
	int fd[3];

	/* All are opened first: the new mount namespace may show another /proc. */
	for (size_t i = 0; i < 3; i++) {
		char path[64];

		snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, spaces[i].name);
		fd[i] = open(path, O_RDONLY | O_CLOEXEC);
	}
	for (size_t i = 0; i < 3; i++) {
		if (fd[i] < 0 || setns(fd[i], spaces[i].type) != 0)
			return ml_error_set(e, "entering the %s namespace of process %d: %s",
					    spaces[i].name, (int)pid, strerror(errno));
		close(fd[i]);
	}
	return 0;
}
