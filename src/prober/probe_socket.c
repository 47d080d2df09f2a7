/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_socket.c - probes as UDP packets, without rights and without UDP checksum: switches change
 * the destination, and what was changed on the way is to be seen, not thrown away.
 */
#include "prober/probe_socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Several rounds of full-size probes; the kernel may give less. */
#define BUFFER_BYTES (4 << 20)

static int prepare(int fd, uint16_t *port)
{
	struct sockaddr_in6 own = {.sin6_family = AF_INET6, .sin6_port = *port};
	int on = 1, bytes = BUFFER_BYTES;
	socklen_t size = sizeof(own);

	if (setsockopt(fd, IPPROTO_UDP, UDP_NO_CHECK6_TX, &on, sizeof(on)) ||
	    setsockopt(fd, IPPROTO_UDP, UDP_NO_CHECK6_RX, &on, sizeof(on)) ||
	    setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof(on)) ||
	    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes)) ||
	    bind(fd, (struct sockaddr *)&own, sizeof(own)) ||
	    getsockname(fd, (struct sockaddr *)&own, &size))
		return -1;
	/* Root in a user namespace may not; then it is what the machine allows. */
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes));
	*port = own.sin6_port;
	return 0;
}

int probe_socket_open(uint16_t *port)
{
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err;

	if (fd < 0 || prepare(fd, port) == 0)
		return fd;
	err = errno;
	close(fd);
	errno = err;
	return -1;
}

/* Room for what goes with a packet: the port, and the hop limit or when it came. */
union control {
	struct cmsghdr align;
	uint8_t bytes[CMSG_SPACE(sizeof(struct in6_pktinfo)) + CMSG_SPACE(sizeof(struct timespec))];
};

static void put(struct msghdr *m, union control *control, int type, const void *value, size_t bytes)
{
	struct cmsghdr *c = (struct cmsghdr *)(control->bytes + m->msg_controllen);

	m->msg_control = control->bytes;
	c->cmsg_level = IPPROTO_IPV6;
	c->cmsg_type = type;
	c->cmsg_len = CMSG_LEN(bytes);
	memcpy(CMSG_DATA(c), value, bytes);
	m->msg_controllen += CMSG_SPACE(bytes);
}

int probe_socket_send(int fd, const uint8_t to[16], uint16_t to_port, uint32_t by_port,
		      uint32_t hops, const struct probe_packet *packet)
{
	struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = to_port};
	struct in6_pktinfo port = {.ipi6_ifindex = by_port};
	uint8_t bytes[PROBE_BYTES_MAX];
	struct iovec iov = {bytes, packet->bytes};
	struct msghdr m = {.msg_name = &address,
			   .msg_namelen = sizeof(address),
			   .msg_iov = &iov,
			   .msg_iovlen = 1};
	union control control = {.bytes = {0}};
	int limit = (int)hops;

	memcpy(&address.sin6_addr, to, sizeof(address.sin6_addr));
	probe_packet_write(bytes, packet);
	if (by_port)
		put(&m, &control, IPV6_PKTINFO, &port, sizeof(port));
	if (hops)
		put(&m, &control, IPV6_HOPLIMIT, &limit, sizeof(limit));
	return sendmsg(fd, &m, 0) < 0 && (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM)
		       ? -1
		       : 0;
}

static void take_control(struct msghdr *m, struct probe_packet *packet)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		struct in6_pktinfo info;
		struct timespec at;

		if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
			memcpy(&info, CMSG_DATA(c), sizeof(info));
			packet->port = info.ipi6_ifindex;
		}
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
			memcpy(&at, CMSG_DATA(c), sizeof(at));
			packet->came_ns = (uint64_t)at.tv_sec * 1000000000 + (uint64_t)at.tv_nsec;
		}
	}
}

int probe_socket_receive(int fd, struct probe_packet *packet)
{
	uint8_t bytes[PROBE_BYTES_MAX];
	union control control;
	struct iovec iov = {bytes, sizeof(bytes)};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control.bytes)};
	ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT);

	/* An error that waits at the socket is about a packet that counts as lost anyway. */
	if (n < 0)
		return errno == EAGAIN ? 0 : -1;
	*packet = (struct probe_packet){0};
	take_control(&m, packet);
	return probe_packet_read(bytes, (size_t)n, packet) ? 1 : -1;
}
