/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * space.c - network namespaces, as machines would be: two joined by a veth pair, or a fabric's.
 *
 * Without root a user namespace gives the rights. The parent stays in the network it was started
 * in, so that loopback is the machine's own; the ends of a case enter their side.
 */
#include "host/bench_host.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* An MTU that holds a packet of 4096 bytes in IPv6 in IPv6 too. */
#define SETUP                                                                           \
	"ip link set lo up && "                                                         \
	"ip link add mrcb0 mtu 4400 type veth peer name mrcb1 mtu 4400 netns %d && "    \
	"for plane in 0 1 2 3; do ip address add 10.77.$plane.1/24 dev mrcb0; done && " \
	"ip address add fd77::1/64 dev mrcb0 nodad && ip link set mrcb0 up"
#define SETUP_PEER                                                                      \
	"ip link set lo up && "                                                         \
	"for plane in 0 1 2 3; do ip address add 10.77.$plane.2/24 dev mrcb1; done && " \
	"ip address add fd77::2/64 dev mrcb1 nodad && ip link set mrcb1 up"

/* Hosts first: the two of the veth pair; then the fabric's, from one host to the other. */
#define VETH_NODES 2u
#define FABRIC_NODES 5u
#define NODES (VETH_NODES + FABRIC_NODES)

/* What keeps a namespace: its descriptor, and until it has that, a process. */
static struct node {
	int fd;
	pid_t pid;
} nodes[NODES] = {{-1, 0}, {-1, 0}, {-1, 0}, {-1, 0}, {-1, 0}, {-1, 0}, {-1, 0}};

static struct node *node_of(enum hb_net net, int side)
{
	if (net == HB_VETH)
		return &nodes[side];
	return side ? &nodes[NODES - 1] : &nodes[VETH_NODES];
}

static bool set_error(char why[HB_WHY], const char *what)
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
		return set_error(why, "neither root nor user namespaces");
	snprintf(map, sizeof(map), "0 %u 1", uid);
	if (!write_file("/proc/self/setgroups", "deny") || !write_file("/proc/self/uid_map", map))
		return set_error(why, "map of users");
	snprintf(map, sizeof(map), "0 %u 1", gid);
	return write_file("/proc/self/gid_map", map) || set_error(why, "map of groups");
}

/* A process in a network of its own, which lives until it is killed; its pid, or -1. */
static pid_t start_holder(void)
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

static int enter_node(const struct node *node)
{
	if (setns(node->fd, CLONE_NEWNET) == 0)
		return 0;
	perror("host: enter a network namespace");
	return -1;
}

/* Runs a command of the shell on a node; false: it failed, and said why. */
static bool run_there(const struct node *node, const char *command)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (enter_node(node) == 0)
			execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(1);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

bool hb_node_run(uint32_t node, const char *command)
{
	return run_there(&nodes[VETH_NODES + node], command);
}

int hb_node_pid(uint32_t node)
{
	return (int)nodes[VETH_NODES + node].pid;
}

static bool join_namespaces(char why[HB_WHY])
{
	char command[512];

	snprintf(command, sizeof(command), SETUP, (int)nodes[1].pid);
	if (run_there(&nodes[0], command) && run_there(&nodes[1], SETUP_PEER))
		return true;
	snprintf(why, HB_WHY, "ip(8) could not make a veth pair");
	return false;
}

/* Closes all namespaces that `net` has. */
static void leave_net(enum hb_net net)
{
	struct node *end = node_of(net, 1) + 1;

	for (struct node *n = node_of(net, 0); n < end; n++) {
		if (n->fd >= 0)
			close(n->fd);
		n->fd = -1;
	}
}

bool hb_space_open(enum hb_net net, char why[HB_WHY])
{
	struct node *first = node_of(net, 0), *end = node_of(net, 1) + 1;
	bool good = become_root(why);

	for (struct node *n = first; good && n < end; n++) {
		n->pid = start_holder();
		n->fd = n->pid > 0 ? namespace_of(n->pid) : -1;
		if (n->fd < 0)
			good = set_error(why, "a network namespace");
	}
	good = good && (net == HB_VETH ? join_namespaces(why) : hb_fabric_build(why));
	for (struct node *n = first; n < end; n++) {
		if (n->pid <= 0)
			continue;
		kill(n->pid, SIGKILL);
		waitpid(n->pid, NULL, 0);
		n->pid = 0;
	}
	if (!good)
		leave_net(net);
	return good;
}

void hb_space_close(void)
{
	leave_net(HB_VETH);
	leave_net(HB_FABRIC);
}

int hb_space_enter(enum hb_net net, int side)
{
	return net == HB_LO ? 0 : enter_node(node_of(net, side));
}

const char *hb_space_address(enum hb_net net, int side, bool ipv6)
{
	static const char *const address[HB_NETS][2][2] = {
		{{"127.0.0.1", "127.0.0.1"}, {"::1", "::1"}},
		{{"10.77.0.1", "10.77.0.2"}, {"fd77::1", "fd77::2"}},
		{{"", ""}, {"fd77::1", "fd77::2"}},
	};

	return address[net][ipv6][side];
}

const char *hb_space_planes(enum hb_net net, int side, uint32_t planes)
{
	static const char *const list[2][2] = {
		{"127.0.0.1,127.0.1.1,127.0.2.1,127.0.3.1",
		 "127.0.0.1,127.0.1.1,127.0.2.1,127.0.3.1"},
		{"10.77.0.1,10.77.1.1,10.77.2.1,10.77.3.1",
		 "10.77.0.2,10.77.1.2,10.77.2.2,10.77.3.2"},
	};

	return planes == HB_PLANES_MAX ? list[net][side] : hb_space_address(net, side, false);
}

const char *hb_space_interface(enum hb_net net, int side)
{
	static const char *const name[HB_NETS][2] = {
		{"lo", "lo"}, {"mrcb0", "mrcb1"}, {"c0", "c3"}};

	return name[net][side];
}
