/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nexthop.h - which Ethernet address a packet to an IP address has to carry on an interface.
 *
 * Asked of the kernel: its routes name the gateway, its neighbour table the address. Answers are
 * kept for a second; a port asks for the same few peers millions of times.
 */
#ifndef SOFTMRC_IO_NEXTHOP_H
#define SOFTMRC_IO_NEXTHOP_H

#include "io/io_port.h"

#define MIO_MAC_BYTES 6u

struct mio_nexthop;

/*
 * mio_nexthop_open prepares to ask about the interface `ifindex`; an errno value, and error says
 * which call failed. On one without neighbours (`no_arp`: a loopback interface) every address is
 * zero.
 */
int mio_nexthop_open(unsigned ifindex, bool no_arp, struct mio_nexthop **nexthop,
		     struct mio_error *error);
void mio_nexthop_close(struct mio_nexthop *nexthop);

/*
 * mio_nexthop_find writes the Ethernet address for packets to ip and returns 0. ENETUNREACH: no
 * route over this interface. EHOSTUNREACH: the neighbour is not known; the kernel has been made to
 * look for it, so a later call may succeed. Takes some system calls when the answer is not at hand,
 * waits for nothing.
 */
int mio_nexthop_find(struct mio_nexthop *nexthop, uint64_t now_ns, const uint8_t ip[16],
		     uint8_t mac[MIO_MAC_BYTES]);

#endif
