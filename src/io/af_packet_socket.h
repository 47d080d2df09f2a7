/* SPDX-License-Identifier: BSD-2-Clause */
/* af_packet_socket.h - interface, sockets and rings of an AF_PACKET port; private to io. */
#ifndef SOFTMRC_IO_AF_PACKET_SOCKET_H
#define SOFTMRC_IO_AF_PACKET_SOCKET_H

#include "io/nexthop.h"
#include "io/packet_ring.h"

/* An Ethernet interface. */
struct mio_afp_iface {
	const char *name;
	unsigned index;
	uint32_t mtu; /* when the port was opened */
	uint8_t mac[MIO_MAC_BYTES];
	bool no_arp;
};

/* Each returns 0 or an errno value, and error says what may be done. */
int mio_afp_iface(const char *name, struct mio_afp_iface *iface, struct mio_error *error);
/* mio_afp_tx_socket makes a socket that only sends. */
int mio_afp_tx_socket(const struct mio_afp_iface *iface, int *fd, struct mio_error *error);
/* mio_afp_rx_socket makes a socket that will hear UDP to local and nothing else, once bound. */
int mio_afp_rx_socket(const struct mio_afp_iface *iface, const struct mio_addr *local, int *fd,
		      struct mio_error *error);
int mio_afp_rings(int tx_fd, struct mio_ring *tx, uint32_t tx_bytes, int rx_fd, struct mio_ring *rx,
		  uint32_t rx_bytes, struct mio_error *error);
/*
 * mio_afp_bind lets frames in, and makes the UDP socket `claimed_fd` (-1: none) deaf, which gets
 * them too.
 */
int mio_afp_bind(const struct mio_afp_iface *iface, int rx_fd, int claimed_fd,
		 struct mio_error *error);

#endif
