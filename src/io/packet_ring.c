/* SPDX-License-Identifier: BSD-2-Clause */
/* packet_ring.c - maps AF_PACKET rings and finds their slots. */
#include "io/af_packet.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>

int mio_ring_map(struct mio_ring *ring, int fd, int which, uint32_t bytes)
{
	struct tpacket_req req = {
		.tp_block_size = MIO_RING_BLOCK,
		.tp_block_nr = bytes < MIO_RING_BLOCK ? 1 : bytes / MIO_RING_BLOCK,
		.tp_frame_size = MIO_RING_SLOT,
	};
	int version = TPACKET_V2;
	void *memory;

	req.tp_frame_nr = req.tp_block_nr * MIO_RING_SLOTS_A_BLOCK;
	if (setsockopt(fd, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) < 0 ||
	    setsockopt(fd, SOL_PACKET, which, &req, sizeof(req)) < 0)
		return errno;
	memory = mmap(NULL, (size_t)req.tp_block_nr * MIO_RING_BLOCK, PROT_READ | PROT_WRITE,
		      MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return errno;
	*ring = (struct mio_ring){
		.memory = memory, .blocks = req.tp_block_nr, .slots = req.tp_frame_nr};
	return 0;
}

void mio_ring_unmap(struct mio_ring *ring)
{
	if (ring->memory)
		munmap(ring->memory, (size_t)ring->blocks * MIO_RING_BLOCK);
	ring->memory = NULL;
}

struct tpacket2_hdr *mio_ring_slot(const struct mio_ring *ring, uint32_t i)
{
	size_t block = i / MIO_RING_SLOTS_A_BLOCK, at = i % MIO_RING_SLOTS_A_BLOCK;

	return (void *)(ring->memory + block * MIO_RING_BLOCK + at * MIO_RING_SLOT);
}

uint32_t mio_ring_status(const struct tpacket2_hdr *slot)
{
	return __atomic_load_n(&slot->tp_status, __ATOMIC_ACQUIRE);
}

void mio_ring_release(struct tpacket2_hdr *slot, uint32_t status)
{
	__atomic_store_n(&slot->tp_status, status, __ATOMIC_RELEASE);
}
