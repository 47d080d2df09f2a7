/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packet_ring.h - a ring of frames that an AF_PACKET socket shares with the kernel (version 2).
 *
 * Each slot has a header whose status says whose it is. Slots lie in blocks of memory and do not
 * cross them, so that slot i is not simply i times the slot size from the start.
 */
#ifndef SOFTMRC_IO_PACKET_RING_H
#define SOFTMRC_IO_PACKET_RING_H

#include <linux/if_packet.h>

#include "io/io_port.h"

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

#endif
