/* SPDX-License-Identifier: BSD-2-Clause */
/* udp_socket.c - sockets of a UDP port: options, binding, and errors in words. */
#include "io/udp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/assert.h"
#include "io/drivers.h"
#include "wire/ip_udp.h"

/* From the kernel's in6.h, which does not go together with the C library's. */
#define IPV6_FLOWINFO_SEND 33
#ifndef IPV6_AUTOFLOWLABEL
#define IPV6_AUTOFLOWLABEL 70
#endif

static const uint8_t udp_mapped[12] = {[10] = 0xFF, [11] = 0xFF};

socklen_t mio_udp_sockaddr(const struct mio_addr *addr, union mio_udp_sa *sa)
{
	if (mw_is_ipv4(addr->ip)) {
		sa->in = (struct sockaddr_in){.sin_family = AF_INET,
					      .sin_port = htons(addr->udp_port)};
		memcpy(&sa->in.sin_addr, addr->ip + sizeof(udp_mapped), 4);
		return sizeof(sa->in);
	}
	sa->in6 =
		(struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(addr->udp_port)};
	memcpy(&sa->in6.sin6_addr, addr->ip, 16);
	return sizeof(sa->in6);
}

void mio_udp_from_sockaddr(const union mio_udp_sa *sa, struct mio_addr *addr)
{
	if (sa->any.sa_family == AF_INET) {
		memcpy(addr->ip, udp_mapped, sizeof(udp_mapped));
		memcpy(addr->ip + sizeof(udp_mapped), &sa->in.sin_addr, 4);
		addr->udp_port = ntohs(sa->in.sin_port);
		return;
	}
	memcpy(addr->ip, &sa->in6.sin6_addr, 16);
	addr->udp_port = ntohs(sa->in6.sin6_port);
}

/* udp_hint says what the user may do about the usual reasons for which a socket cannot be had. */
static const char *udp_hint(int code)
{
	switch (code) {
	case EACCES:
		return "; ports this low need CAP_NET_BIND_SERVICE "
		       "(net.ipv4.ip_unprivileged_port_start)";
	case EADDRNOTAVAIL:
		return "; no interface has this address: see MRC_PORTS, MRC_SRV6_GID";
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

	if (mw_is_ipv4(local->ip))
		inet_ntop(AF_INET, local->ip + sizeof(udp_mapped), ip, sizeof(ip));
	else
		inet_ntop(AF_INET6, local->ip, ip, sizeof(ip));
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
static int udp_socket(const struct mio_addr *local, const char *ifname)
{
	int family = mw_is_ipv4(local->ip) ? AF_INET : AF_INET6;
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
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
	union mio_udp_sa sa;
	socklen_t len = mio_udp_sockaddr(local, &sa);

	return bind(fd, &sa.any, len);
}

/* udp_set_rx_options asks for fields of IP headers, which cannot be seen otherwise. */
static int udp_set_rx_options(int fd, bool ipv4)
{
	if (ipv4)
		return udp_option(fd, IPPROTO_IP, IP_RECVTOS, 1);
	return udp_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1) < 0 ||
			       udp_option(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1) < 0
		       ? -1
		       : udp_option(fd, IPPROTO_IPV6, MIO_UDP_FLOWINFO, 1);
}

/*
 * udp_set_tx_options sets don't-fragment, and flow labels as we write them: none of the kernel's
 * own. Packets are made for the MTU of the interface (PROBE): what ICMP says of a path is not
 * obeyed, for anybody can say it of any flow.
 */
static int udp_set_tx_options(int fd, bool ipv4)
{
	if (ipv4)
		return udp_option(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
	return udp_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1) < 0 ||
			       udp_option(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER,
					  IPV6_PMTUDISC_PROBE) < 0 ||
			       udp_option(fd, IPPROTO_IPV6, IPV6_AUTOFLOWLABEL, 0) < 0
		       ? -1
		       : udp_option(fd, IPPROTO_IPV6, IPV6_FLOWINFO_SEND, 1);
}

int mio_udp_claim(const struct mio_addr *local, const char *ifname, int *fd,
		  struct mio_error *error)
{
	int s = udp_socket(local, ifname);

	if (s < 0)
		return udp_fail(s, "socket", local, ifname, error);
	if (udp_set_rx_options(s, mw_is_ipv4(local->ip)) < 0 ||
	    udp_option(s, SOL_SOCKET, SO_RXQ_OVFL, 1) < 0 ||
	    udp_option(s, SOL_SOCKET, SO_TIMESTAMPNS, 1) < 0)
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
	int s = udp_socket(local, ifname);

	source.udp_port = ev;
	if (s < 0)
		return udp_fail(s, "socket", &source, ifname, error);
	/*
	 * No thread reads this socket, so what is sent to it must cost little. REUSEPORT lets other
	 * processes of this user send from the same EV.
	 */
	if (udp_option(s, SOL_SOCKET, SO_RCVBUF, 1) < 0 ||
	    udp_option(s, SOL_SOCKET, SO_REUSEPORT, 1) < 0 ||
	    udp_set_tx_options(s, mw_is_ipv4(local->ip)) < 0)
		return udp_fail(s, "setsockopt", &source, ifname, error);
	if (udp_bind(s, &source) < 0)
		return udp_fail(s, "bind", &source, ifname, error);
	*fd = s;
	return 0;
}

static int udp_set_zero_checksum(int fd, int name, const struct mio_addr *local,
				 struct mio_error *error)
{
	return udp_option(fd, IPPROTO_UDP, name, 1) < 0
		       ? udp_fail(-1, "setsockopt (zero checksums)", local, NULL, error)
		       : 0;
}

int mio_udp_send_zero_checksum(int fd, const struct mio_addr *local, struct mio_error *error)
{
	return udp_set_zero_checksum(fd, UDP_NO_CHECK6_TX, local, error);
}

int mio_udp_accept_zero_checksum(int fd, const struct mio_addr *local, struct mio_error *error)
{
	return udp_set_zero_checksum(fd, UDP_NO_CHECK6_RX, local, error);
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
