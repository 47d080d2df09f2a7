/* SPDX-License-Identifier: BSD-2-Clause */
/* wrapped_sockets.h - what stands for the sockets of a prober in a test; in one source file. */
#ifndef SUPPORT_WRAPPED_SOCKETS_H
#define SUPPORT_WRAPPED_SOCKETS_H

#include <unistd.h>

#include "prober/probe_socket.h"

int __wrap_probe_socket_open(uint16_t *port);
int __wrap_stray_socket_open(uint16_t own_usid);
int __wrap_probe_socket_send(int fd, const uint8_t to[16], uint16_t to_port, uint32_t by_port,
			     uint32_t hops, const struct probe_packet *packet);
int __wrap_probe_socket_receive(int fd, struct probe_packet *packet);
int __wrap_stray_socket_receive(int fd, struct probe_packet *packet);

/* A descriptor that may be closed. */
int __wrap_probe_socket_open(uint16_t *port)
{
	*port = 9;
	return dup(0);
}

#endif
