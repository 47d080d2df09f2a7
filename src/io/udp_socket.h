/* SPDX-License-Identifier: BSD-2-Clause */
/* udp_socket.h - making the two kinds of sockets of a UDP port; private to io. */
#ifndef SOFTMRC_IO_UDP_SOCKET_H
#define SOFTMRC_IO_UDP_SOCKET_H

#include <netinet/in.h>

#include "io/port.h"

/* mio_udp_sockaddr converts an IPv4-mapped address; false: it is none. */
bool mio_udp_sockaddr(const struct mio_addr *addr, struct sockaddr_in *sa);
/*
 * mio_udp_send_socket makes a socket that sends from local->ip and source port ev, don't-fragment,
 * shared with other processes that do the same; its descriptor in *fd, or an errno value.
 */
int mio_udp_send_socket(const struct mio_addr *local, const char *ifname, uint16_t ev, int *fd,
			struct mio_error *error);
/* mio_udp_grow_buffer asks for `want` bytes of receive buffer and returns what was granted. */
uint32_t mio_udp_grow_buffer(int fd, uint32_t want);

#endif
