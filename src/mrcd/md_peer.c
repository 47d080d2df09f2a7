/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * md_peer.c - who is at the other end of a socket: see md_node.h.
 *
 * The kernel says which user and process connected. Capabilities are those of the process as /proc
 * has them now, and count only if it is of that user still and in the user namespace of mrcd: in
 * one of its own everybody has all of them. And only if its files in /proc are that user's: of a
 * program that was given capabilities by its file, or of another user's, they are root's. Else who
 * may start such a program could connect first, and have it speak for him.
 */
#include "mrcd/md_node.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/capability.h>

static const char *find_line(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at && (at == text || at[-1] == '\n') ? at + strlen(name) : NULL;
}

bool md_peer_caps_allow(const char *status, uint32_t uid)
{
	const char *of = find_line(status, "Uid:"), *caps = find_line(status, "CapEff:");
	unsigned long long set;
	unsigned int effective;

	if (!of || !caps || sscanf(of, " %*u %u", &effective) != 1 ||
	    sscanf(caps, " %llx", &set) != 1)
		return false;
	return effective == uid && (set >> CAP_NET_ADMIN & 1);
}

static bool is_of_our_namespace(uint32_t pid)
{
	struct stat theirs, ours;
	char path[48];

	snprintf(path, sizeof(path), "/proc/%u/ns/user", pid);
	return stat(path, &theirs) == 0 && stat("/proc/self/ns/user", &ours) == 0 &&
	       theirs.st_ino == ours.st_ino && theirs.st_dev == ours.st_dev;
}

static bool has_net_admin(const struct md_peer *peer)
{
	char path[48], text[4096];
	struct stat st;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/status", peer->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	if (fstat(fd, &st))
		n = -1;
	close(fd);
	if (n <= 0 || st.st_uid != peer->uid)
		return false;
	text[n] = '\0';
	return md_peer_caps_allow(text, peer->uid) && is_of_our_namespace(peer->pid);
}

/* When a process began, in ticks since the boot; 0: it is not there. */
static uint64_t started_of(uint32_t pid)
{
	char path[48], text[1024];
	const char *at;
	ssize_t n;
	int fd;
	unsigned long long ticks;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	/* Its name, in brackets, may have any characters: fields count from the last one on. */
	at = strrchr(text, ')');
	if (!at || sscanf(at + 1,
			  " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			  "%*s %*s %llu",
			  &ticks) != 1)
		return 0;
	return ticks;
}

bool md_peer_lives(const struct md_peer *peer)
{
	return peer->started && started_of(peer->pid) == peer->started;
}

int md_peer_find(int fd, struct md_peer *peer)
{
	struct ucred who;
	socklen_t len = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len))
		return errno;
	*peer = (struct md_peer){.uid = who.uid,
				 .pid = (uint32_t)who.pid,
				 .started = started_of((uint32_t)who.pid),
				 .passed_fd = -1};
	peer->is_privileged = peer->uid == 0 || has_net_admin(peer);
	return 0;
}
