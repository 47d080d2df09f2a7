/* SPDX-License-Identifier: BSD-2-Clause */
/* udp_socket.h - making the two kinds of sockets of a UDP port; private to io. */
#ifndef SOFTMRC_IO_UDP_SOCKET_H
#define SOFTMRC_IO_UDP_SOCKET_H

#include <netinet/in.h>

#include "io/io_port.h"

/* IPV6_FLOWINFO of the kernel's in6.h, which does not go together with the C library's header. */
#define MIO_UDP_FLOWINFO 11

/* A socket address of either family. */
union mio_udp_sa {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/* mio_udp_sockaddr converts an address and returns the length of what it wrote. */
socklen_t mio_udp_sockaddr(const struct mio_addr *addr, union mio_udp_sa *sa);
/* mio_udp_from_sockaddr converts back. */
void mio_udp_from_sockaddr(const union mio_udp_sa *sa, struct mio_addr *addr);
/*
 * mio_udp_send_socket makes a socket that sends from local->ip and source port ev, don't-fragment,
 * on IPv6 with the flow label of each message, shared with other processes that do the same; its
 * descriptor in *fd, or an errno value.
 */
int mio_udp_send_socket(const struct mio_addr *local, const char *ifname, uint16_t ev, int *fd,
			struct mio_error *error);
/*
 * mio_udp_send_zero_checksum makes a socket send with zero checksums, mio_udp_accept_zero_checksum
 * take such packets; IPv6 only. An errno value; local is who they are, for error.
 */
int mio_udp_send_zero_checksum(int fd, const struct mio_addr *local, struct mio_error *error);
int mio_udp_accept_zero_checksum(int fd, const struct mio_addr *local, struct mio_error *error);
/* mio_udp_grow_buffer asks for `want` bytes of receive buffer and returns what was granted. */
uint32_t mio_udp_grow_buffer(int fd, uint32_t want);

#endif
