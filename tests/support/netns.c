/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/netns.h"
#include "support/test.h"

#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static bool loopback_up(void)
{
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING | IFF_LOOPBACK};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool ok = fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &lo) == 0;

	if (fd >= 0)
		close(fd);
	return ok;
}

static bool write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");
	bool ok = f && fputs(text, f) >= 0;

	return f && fclose(f) == 0 && ok;
}

/* A user namespace in which we are root, so that the programs we start keep our rights. */
static bool own_user_namespace(void)
{
	char uid[40], gid[40];

	snprintf(uid, sizeof(uid), "0 %u 1", getuid());
	snprintf(gid, sizeof(gid), "0 %u 1", getgid());
	return unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 &&
	       write_file("/proc/self/setgroups", "deny") &&
	       write_file("/proc/self/uid_map", uid) && write_file("/proc/self/gid_map", gid);
}

bool test_netns(const char **why)
{
	static bool entered;

	if (entered)
		return true;
	if (unshare(CLONE_NEWNET) != 0 && !own_user_namespace()) {
		*why = "neither privileged nor allowed to make user namespaces";
		return false;
	}
	if (!loopback_up()) {
		*why = "the loopback interface of a new network namespace does not come up";
		return false;
	}
	entered = true;
	return true;
}

pid_t test_netns_hold(void)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		/* A test that fails must not leave it behind. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (unshare(CLONE_NEWNET) == 0 && write(ready[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

void test_ip(const char *arguments)
{
	char command[256];

	snprintf(command, sizeof(command), "PATH=$PATH:/usr/sbin:/sbin ip %s", arguments);
	if (system(command) != 0)
		fail_msg("failed: %s", command);
}

void test_sysctl(const char *name, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), "/proc/sys/%s", name);
	if (!write_file(path, value))
		fail_msg("cannot write %s to %s", value, path);
}
