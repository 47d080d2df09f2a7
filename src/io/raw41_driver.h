/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * raw41_driver.h - a port over raw sockets of protocol 41: IPv6 in IPv6, MRC's SRv6 wire form.
 *
 * A frame travels as outer IPv6 | inner IPv6 | UDP | frame. The outer destination is where it goes
 * first: the peer's address on this plane, or a list of uSIDs. The inner one is the peer itself.
 * The EV is in the source port and in both flow labels. The outer header is taken off here and not
 * by the kernel, whose decapsulation loses trims and ECN marks; see mw_ecn_combine.
 * REQ(wire.carrier.srv6) REQ(srv6.decapsulate) REQ(wire.ev.srv6-echo)
 *
 * Needs CAP_NET_RAW. One socket sends for all EVs, so a burst costs one system call however it is
 * sprayed. The inner UDP checksum is zero, as RoCEv2's is; no kernel looks at it.
 */
#ifndef SOFTMRC_IO_RAW41_DRIVER_H
#define SOFTMRC_IO_RAW41_DRIVER_H

#include "io/io_port.h"

struct mio_raw41_cfg {
	struct mio_addr local;	  /* of this port, IPv6: the outer source; and our UDP port */
	uint8_t gid[16];	  /* of this endpoint: the inner source, and where peers send to */
	const char *ifname;	  /* receive from this interface only; NULL: from any */
	uint32_t rx_buffer_bytes; /* asked of the system, which may give less */
};

/*
 * mio_raw41_open opens the port around the claimed UDP socket (mio_udp_claim), which it takes over
 * if it succeeds and keeps so that nobody else gets the number. Only frames to cfg->gid and the UDP
 * port reach it. EPERM: no CAP_NET_RAW. EAFNOSUPPORT: an address is IPv4. error says what to do.
 */
int mio_raw41_open(const struct mio_raw41_cfg *cfg, int claimed_fd, struct mio_port **port,
		   struct mio_error *error);

#endif
