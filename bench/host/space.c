/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * space.c - two network namespaces joined by a veth pair, as two machines would be.
 *
 * Without root a user namespace gives the rights. The parent stays in the network it was started
 * in, so that loopback is the machine's own; the ends of a case enter their side.
 */
#include "host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* An MTU that just holds a packet of 4096 bytes, as ports of that path MTU have it. */
#define SETUP                                                                        \
	"ip link set lo up && "                                                      \
	"ip link add mrcb0 mtu 4200 type veth peer name mrcb1 mtu 4200 netns %d && " \
	"ip address add 10.77.0.1/24 dev mrcb0 && "                                  \
	"ip address add fd77::1/64 dev mrcb0 nodad && ip link set mrcb0 up"
#define SETUP_PEER                                                       \
	"ip link set lo up && ip address add 10.77.0.2/24 dev mrcb1 && " \
	"ip address add fd77::2/64 dev mrcb1 nodad && ip link set mrcb1 up"

/* What keeps a namespace: its descriptor. */
static int space_fd[2] = {-1, -1};

static bool fail(char why[HB_WHY], const char *what)
{
	snprintf(why, HB_WHY, "%s: %s", what, strerror(errno));
	return false;
}

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return good;
}

/* become_root makes a user namespace, where this process may make networks. */
static bool become_root(char why[HB_WHY])
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	char map[64];

	if (uid == 0)
		return true;
	if (unshare(CLONE_NEWUSER))
		return fail(why, "neither root nor user namespaces");
	snprintf(map, sizeof(map), "0 %u 1", uid);
	if (!write_file("/proc/self/setgroups", "deny") || !write_file("/proc/self/uid_map", map))
		return fail(why, "map of users");
	snprintf(map, sizeof(map), "0 %u 1", gid);
	return write_file("/proc/self/gid_map", map) || fail(why, "map of groups");
}

/* A process in a network of its own, which lives until it is killed; its pid, or -1. */
static pid_t keeper(void)
{
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready))
		return -1;
	pid = fork();
	if (pid == 0) {
		close(ready[0]);
		if (unshare(CLONE_NEWNET))
			_exit(1);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (pid > 0 && read(ready[0], &byte, 1) != 1) {
		waitpid(pid, NULL, 0);
		errno = EPERM;
		pid = -1;
	}
	close(ready[0]);
	return pid;
}

static int namespace_of(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Runs a command of the shell on one side; false: it failed, and said why. */
static bool run_there(int side, const char *command)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (hb_space_enter(HB_VETH, side) == 0)
			execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(1);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static bool join(pid_t peer, char why[HB_WHY])
{
	char command[512];

	snprintf(command, sizeof(command), SETUP, (int)peer);
	if (run_there(0, command) && run_there(1, SETUP_PEER))
		return true;
	snprintf(why, HB_WHY, "ip(8) could not make a veth pair");
	return false;
}

bool hb_space_open(char why[HB_WHY])
{
	pid_t pid[2] = {-1, -1};
	bool good = become_root(why);

	for (int i = 0; good && i < 2; i++) {
		pid[i] = keeper();
		space_fd[i] = pid[i] > 0 ? namespace_of(pid[i]) : -1;
		if (space_fd[i] < 0)
			good = fail(why, "a network namespace");
	}
	good = good && join(pid[1], why);
	for (int i = 0; i < 2; i++) {
		if (pid[i] <= 0)
			continue;
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
	if (!good)
		hb_space_close();
	return good;
}

void hb_space_close(void)
{
	for (int i = 0; i < 2; i++) {
		if (space_fd[i] >= 0)
			close(space_fd[i]);
		space_fd[i] = -1;
	}
}

int hb_space_enter(enum hb_net net, int side)
{
	if (net == HB_LO)
		return 0;
	if (setns(space_fd[side], CLONE_NEWNET) == 0)
		return 0;
	perror("host: enter a network namespace");
	return -1;
}

const char *hb_space_address(enum hb_net net, int side, bool ipv6)
{
	static const char *const address[HB_NETS][2][2] = {
		{{"127.0.0.1", "127.0.0.1"}, {"::1", "::1"}},
		{{"10.77.0.1", "10.77.0.2"}, {"fd77::1", "fd77::2"}},
	};

	return address[net][ipv6][side];
}

const char *hb_space_interface(enum hb_net net, int side)
{
	return net == HB_LO ? "lo" : side ? "mrcb1" : "mrcb0";
}
