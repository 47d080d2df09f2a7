/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * af_packet_driver.h - a port over AF_PACKET rings: whole Ethernet frames, IPv4 or IPv6, with UDP.
 *
 * On the wire it is the same as a port over UDP sockets, and the two talk to each other. The
 * difference is the cost: one system call sends a burst however it is sprayed over EVs, received
 * frames are read where the kernel put them, and routing and UDP are not asked for each packet.
 *
 * Needs CAP_NET_RAW and an Ethernet interface (the loopback interface is one). The UDP checksum is
 * zero; over IPv6 the peer's sockets must accept that, which those of udp_driver.h do.
 */
#ifndef SOFTMRC_IO_AF_PACKET_DRIVER_H
#define SOFTMRC_IO_AF_PACKET_DRIVER_H

#include "io/io_port.h"

struct mio_af_packet_cfg {
	struct mio_addr local;	  /* of this port; udp_port is where it receives */
	const char *ifname;	  /* the interface with this address */
	uint32_t rx_buffer_bytes; /* of the receiving ring */
};

/*
 * mio_af_packet_open opens the port around the claimed UDP socket (mio_udp_claim), which it takes
 * over if it succeeds: that socket keeps the number and makes the kernel's own UDP drop its copy
 * of each frame. EPERM: no CAP_NET_RAW. ENODEV: no such interface. EPFNOSUPPORT: not Ethernet.
 * error says what to do.
 */
int mio_af_packet_open(const struct mio_af_packet_cfg *cfg, int claimed_fd, struct mio_port **port,
		       struct mio_error *error);

#endif
