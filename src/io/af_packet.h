/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * af_packet.h - an AF_PACKET port: its interface, sockets and rings, and the Ethernet addresses of
 * next hops; private to io.
 */
#ifndef SOFTMRC_IO_AF_PACKET_H
#define SOFTMRC_IO_AF_PACKET_H

#include <linux/if_packet.h>

#include "io/io_port.h"

/*
 * A ring of frames that an AF_PACKET socket shares with the kernel (version 2).
 *
 * Each slot has a header whose status says whose it is. Slots lie in blocks of memory and do not
 * cross them, so that slot i is not simply i times the slot size from the start.
 */

/* Ethernet, IPv6 and UDP headers, a frame, and the kernel's own header before it. */
#define MIO_RING_SLOT 4608u
#define MIO_RING_BLOCK 65536u
#define MIO_RING_SLOTS_A_BLOCK (MIO_RING_BLOCK / MIO_RING_SLOT)
/* Where a frame to be sent begins in its slot: behind the kernel's header, aligned to 16. */
#define MIO_RING_TX_AT ((sizeof(struct tpacket2_hdr) + 15) / 16 * 16)
_Static_assert(MIO_RING_TX_AT + sizeof(struct sockaddr_ll) + 14 + 48 + MIO_FRAME_MAX <=
		       MIO_RING_SLOT,
	       "a frame fits a slot, sent or received");

struct mio_ring {
	uint8_t *memory;
	uint32_t blocks;
	uint32_t slots;
	uint32_t next; /* the slot to look at */
};

/*
 * mio_ring_map makes the receiving (PACKET_RX_RING) or sending (PACKET_TX_RING) ring of a socket,
 * of about `bytes`; an errno value when the system refuses.
 */
int mio_ring_map(struct mio_ring *ring, int fd, int which, uint32_t bytes);
void mio_ring_unmap(struct mio_ring *ring);

/* mio_ring_slot returns the header of slot i. */
struct tpacket2_hdr *mio_ring_slot(const struct mio_ring *ring, uint32_t i);
/* mio_ring_status reads a slot's status before anything else of the slot is read. */
uint32_t mio_ring_status(const struct tpacket2_hdr *slot);
/* mio_ring_release hands the slot to the kernel with this status, after all that was written to
 * it. */
void mio_ring_release(struct tpacket2_hdr *slot, uint32_t status);

static inline uint32_t mio_ring_next(const struct mio_ring *ring, uint32_t i)
{
	return i + 1 == ring->slots ? 0 : i + 1;
}

/*
 * Which Ethernet address a packet to an IP address has to carry on an interface.
 *
 * Asked of the kernel: its routes name the gateway, its neighbour table the address. Answers are
 * kept for a second; a port asks for the same few peers millions of times.
 */

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
/* mio_nexthop_close_inherited closes the socket and frees nothing, for a forked child. */
void mio_nexthop_close_inherited(struct mio_nexthop *nexthop);

/*
 * mio_nexthop_find writes the Ethernet address for packets to ip and returns 0. ENETUNREACH: no
 * route over this interface; over IPv4 the kernel takes an address to which no route leads to be on
 * the link. EHOSTUNREACH: the neighbour is not known; the kernel has been made to look for it, so a
 * later call may succeed. Takes some system calls when the answer is not at hand, waits for
 * nothing.
 */
int mio_nexthop_find(struct mio_nexthop *nexthop, uint64_t now_ns, const uint8_t ip[16],
		     uint8_t mac[MIO_MAC_BYTES]);

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
