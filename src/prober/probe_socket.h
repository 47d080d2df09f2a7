/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_socket.h - the sockets of a host's prober, in the network namespace of the thread that
 * opens them. None of these blocks.
 */
#ifndef SOFTMRC_PROBER_PROBE_SOCKET_H
#define SOFTMRC_PROBER_PROBE_SOCKET_H

#include "prober/probe_packet.h"

/*
 * probe_socket_open opens a UDP socket on a port, in network order; 0 takes one that is free, and
 * *port says which. Needs no rights. A descriptor, or -1 and errno.
 */
int probe_socket_open(uint16_t *port);

/*
 * probe_socket_send sends a packet to a list of uSIDs or an address, by a port (0: by the routes),
 * with a hop limit (0: the usual one). 0; -1: there was no room, it may be tried again. A network
 * that refuses it has lost it.
 */
int probe_socket_send(int fd, const uint8_t to[16], uint16_t to_port, uint32_t by_port,
		      uint32_t hops, const struct probe_packet *packet);

/* probe_socket_receive takes the next packet that waits. 1; 0: none; -1: what came is no probe. */
int probe_socket_receive(int fd, struct probe_packet *packet);

/*
 * stray_socket_open opens a view of the probes that come to a host and are for another one, which
 * the host's kernel drops, and of what switches say about hop limits: so a cable is told from the
 * one that it was exchanged with. own_usid is that which ends a list at this host. Needs
 * CAP_NET_RAW. A descriptor, or -1 and errno.
 */
int stray_socket_open(uint16_t own_usid);
/* stray_socket_receive takes the next packet of one. 1; 0: none; -1: what came is no probe. */
int stray_socket_receive(int fd, struct probe_packet *packet);

#endif
