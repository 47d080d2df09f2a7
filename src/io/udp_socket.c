/* SPDX-License-Identifier: BSD-2-Clause */
/* udp_socket.c - sockets of a UDP port: options, binding, and errors in words. */
#include "io/udp_socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/assert.h"
#include "io/udp.h"

bool mio_udp_sockaddr(const struct mio_addr *addr, struct sockaddr_in *sa)
{
	static const uint8_t mapped[12] = {[10] = 0xFF, [11] = 0xFF};

	if (memcmp(addr->ip, mapped, sizeof(mapped)) != 0)
		return false;
	*sa = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(addr->udp_port)};
	memcpy(&sa->sin_addr, addr->ip + sizeof(mapped), 4);
	return true;
}

/* udp_hint says what the user may do about the usual reasons for which a socket cannot be had. */
static const char *udp_hint(int code)
{
	switch (code) {
	case EADDRNOTAVAIL:
		return "; no interface has this address: see MRC_PORTS";
	case EADDRINUSE:
		return "; another program has this port: see MRC_EV_BASE";
	case EMFILE:
		return "; raise the limit of open files (ulimit -n)";
	case ENODEV:
		return "; there is no such interface: see MRC_PORTS";
	case EPERM:
		return "; binding to an interface needs CAP_NET_RAW here";
	default:
		return "";
	}
}

static int udp_fail(int fd, const char *call, const struct mio_addr *local, const char *ifname,
		    struct mio_error *error)
{
	int code = errno;
	char ip[INET6_ADDRSTRLEN] = "?";

	inet_ntop(AF_INET, local->ip + 12, ip, sizeof(ip));
	snprintf(error->text, sizeof(error->text), "%s for UDP %s%s%s port %u: %s%s", call, ip,
		 ifname ? "%" : "", ifname ? ifname : "", local->udp_port, strerror(code),
		 udp_hint(code));
	if (fd >= 0)
		close(fd);
	return code;
}

static int udp_option(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value));
}

/* udp_socket returns a non-blocking socket on the interface; -1 and errno. */
static int udp_socket(const char *ifname)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int code;

	if (fd < 0 || !ifname)
		return fd;
	if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, ifname, (socklen_t)strlen(ifname)) == 0)
		return fd;
	code = errno;
	close(fd);
	errno = code;
	return -1;
}

static int udp_bind(int fd, const struct mio_addr *local)
{
	struct sockaddr_in sa;

	if (!mio_udp_sockaddr(local, &sa)) {
		errno = EAFNOSUPPORT;
		return -1;
	}
	return bind(fd, (const struct sockaddr *)&sa, sizeof(sa));
}

int mio_udp_claim(const struct mio_addr *local, const char *ifname, int *fd,
		  struct mio_error *error)
{
	int s = udp_socket(ifname);

	if (s < 0)
		return udp_fail(s, "socket", local, ifname, error);
	if (udp_option(s, IPPROTO_IP, IP_RECVTOS, 1) < 0 ||
	    udp_option(s, SOL_SOCKET, SO_RXQ_OVFL, 1) < 0)
		return udp_fail(s, "setsockopt", local, ifname, error);
	if (udp_bind(s, local) < 0)
		return udp_fail(s, "bind", local, ifname, error);
	*fd = s;
	return 0;
}

int mio_udp_send_socket(const struct mio_addr *local, const char *ifname, uint16_t ev, int *fd,
			struct mio_error *error)
{
	struct mio_addr source = *local;
	int s = udp_socket(ifname);

	source.udp_port = ev;
	if (s < 0)
		return udp_fail(s, "socket", &source, ifname, error);
	/*
	 * Nobody reads this socket; whatever is sent to it must cost little. REUSEPORT lets other
	 * processes of this user send from the same EV.
	 */
	if (udp_option(s, SOL_SOCKET, SO_RCVBUF, 1) < 0 ||
	    udp_option(s, SOL_SOCKET, SO_REUSEPORT, 1) < 0 ||
	    udp_option(s, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO) < 0)
		return udp_fail(s, "setsockopt", &source, ifname, error);
	if (udp_bind(s, &source) < 0)
		return udp_fail(s, "bind", &source, ifname, error);
	*fd = s;
	return 0;
}

uint32_t mio_udp_grow_buffer(int fd, uint32_t want)
{
	int bytes = (int)want;
	socklen_t len = sizeof(bytes);

	mb_assert(want <= INT32_MAX);
	/* FORCE is for root and ignores rmem_max; who may not use it takes what there is. */
	if (udp_option(fd, SOL_SOCKET, SO_RCVBUFFORCE, bytes) < 0 &&
	    udp_option(fd, SOL_SOCKET, SO_RCVBUF, bytes) < 0)
		return 0;
	if (getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, &len) < 0)
		return 0;
	return (uint32_t)bytes /
	       2; /* the kernel books twice what it grants, for its own overhead */
}
