/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_link_monitor.c - the socket that tells of changed links, whatever the kernel says:
 * src/host/platform/link_monitor.c.
 */
#include "support/test.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/platform/platform.h"
#include "support/open_fds.h"

static struct {
	int socket_err, bind_err;
	uint32_t binds;
	/* What recv says, one after the other; 0: a message; then there is none. */
	const int *recv_errs;
	uint32_t n, reads;
} t;

__typeof__(socket) __real_socket, __wrap_socket;
int __wrap_socket(int family, int type, int protocol)
{
	assert_true(family == AF_NETLINK && (type & SOCK_NONBLOCK) && (type & SOCK_CLOEXEC));
	errno = t.socket_err;
	return t.socket_err ? -1 : __real_socket(family, type, protocol);
}

int __real_bind(int fd, const struct sockaddr *at, socklen_t len);
int __wrap_bind(int fd, const struct sockaddr *at, socklen_t len);
int __wrap_bind(int fd, const struct sockaddr *at, socklen_t len)
{
	t.binds++;
	errno = t.bind_err;
	return t.bind_err ? -1 : __real_bind(fd, at, len);
}

__typeof__(recv) __real_recv, __wrap_recv;
ssize_t __wrap_recv(int fd, void *bytes, size_t n, int flags)
{
	if (!t.recv_errs)
		return __real_recv(fd, bytes, n, flags);
	errno = t.reads < t.n ? t.recv_errs[t.reads] : EAGAIN;
	t.reads++;
	return errno ? -1 : 1;
}

static int reset(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	return 0;
}

#define MONITOR_TEST(function, name) TEST_WITH(NULL, reset, function, name)

MONITOR_TEST(mh_link_monitor_open, hears_nothing_yet)
{
	int fd = mh_link_monitor_open();
	struct sockaddr_nl at;
	socklen_t len = sizeof(at);

	if (fd < 0)
		test_skip("no netlink socket here");
	assert_i_eq(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	assert_u_eq(at.nl_groups, RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR);
	assert_false(mh_link_monitor_drain(fd));
	close(fd);
}

MONITOR_TEST(mh_link_monitor_open, without_what_it_takes)
{
	uint32_t before = test_open_fds();

	t.socket_err = EMFILE;
	assert_i_eq(mh_link_monitor_open(), -1);
	assert_i_eq(errno, EMFILE);
	assert_u_eq(t.binds, 0);
	t.socket_err = 0;
	t.bind_err = EPERM;
	assert_i_eq(mh_link_monitor_open(), -1);
	assert_i_eq(errno, EPERM);
	assert_u_eq(test_open_fds(), before);
}

static bool drain(const int *errs, uint32_t n)
{
	t.recv_errs = errs;
	t.n = n;
	t.reads = 0;
	return mh_link_monitor_drain(-1);
}

/* A message, or more than there was room for, is news; an interruption may hide one. */
MONITOR_TEST(mh_link_monitor_drain, takes_all_there_is)
{
	static const int none[] = {EAGAIN}, one[] = {0}, lost[] = {ENOBUFS, 0},
			 interrupted[] = {EINTR}, broken[] = {EBADF, 0};

	assert_false(drain(none, 1));
	assert_true(drain(one, 1));
	assert_u_eq(t.reads, 2);
	assert_true(drain(lost, 2));
	assert_u_eq(t.reads, 3);
	assert_true(drain(interrupted, 1));
	assert_u_eq(t.reads, 2);
	assert_false(drain(broken, 2));
	assert_u_eq(t.reads, 1);
}
