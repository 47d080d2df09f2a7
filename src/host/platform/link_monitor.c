/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * link_monitor.c - the netlink socket.
 *
 * The progress thread polls it beside the ports, so that a link that comes back is used without
 * waiting for a timer.
 */
#include "host/platform/platform.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

int mh_link_monitor_open(void)
{
	struct sockaddr_nl groups = {
		.nl_family = AF_NETLINK,
		.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR,
	};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
	int code;

	if (fd < 0 || bind(fd, (const struct sockaddr *)&groups, sizeof(groups)) == 0)
		return fd;
	code = errno;
	close(fd);
	errno = code;
	return -1;
}

bool mh_link_monitor_drain(int fd)
{
	bool heard = false;
	/* Messages are not read, only counted: MSG_TRUNC lets one of any length go by. */
	char message[64];

	/* ENOBUFS: there were more than the socket holds; they are gone, but there were some. */
	for (;;) {
		if (recv(fd, message, sizeof(message), MSG_TRUNC) < 0 && errno != ENOBUFS &&
		    errno != EINTR)
			return heard;
		heard = true;
	}
}
