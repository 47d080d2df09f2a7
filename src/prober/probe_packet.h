/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_packet.h - what a probe says, in bytes.
 *
 * 	magic (4) : flags (1) : plane (1) : asked at (2) : from (4) : asked (4) : stream (4) :
 * 	sequence number (4) : nonce (8), and then the nonce again and again, each byte with its
 * 	place added
 *
 * Numbers are big-endian. Pure: any thread.
 */
#ifndef SOFTMRC_PROBER_PROBE_PACKET_H
#define SOFTMRC_PROBER_PROBE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROBE_BYTES_MIN 128u
#define PROBE_BYTES_MAX 65536u
/* First bytes of a probe. */
#define PROBE_MAGIC 0x6d727064u
/* IPv6 and UDP. */
#define PROBE_HEADER_BYTES 48u

struct probe_packet {
	uint32_t from;	/* host that waits for it */
	uint32_t asked; /* host that is to send it back, if `asks` */
	uint32_t stream, seq;
	uint64_t nonce;
	uint32_t plane; /* by which it is to be sent back */
	bool asks;
	bool plain; /* without uSIDs */
	bool whole; /* its other bytes are as they were sent, here and where it was asked */
	/* When it came to the one that sends it back: probe_packet_stamp; 0: not known. */
	uint16_t asked_at;
	uint32_t bytes;
	/* Not in it: index of the interface that it came in by, and where it ended otherwise. */
	uint32_t port;
	uint64_t came_ns; /* by the kernel's clock; 0: not known */
	bool looped;	  /* a switch says that its hop limit is over */
};

/*
 * probe_packet_stamp makes of a time, 0 where it is not known, what two bytes have room for: whole
 * microseconds, that begin again after PROBE_STAMP_US, and are never 0 of a time that is known.
 */
#define PROBE_STAMP_US 65535u
uint16_t probe_packet_stamp(uint64_t came_ns);
/* probe_packet_write writes p->bytes bytes, PROBE_BYTES_MIN to PROBE_BYTES_MAX. */
void probe_packet_write(uint8_t *out, const struct probe_packet *p);
/* probe_packet_read reads what UDP carries, all but the port. False: it is no probe. */
bool probe_packet_read(const uint8_t *in, size_t bytes, struct probe_packet *p);

#endif
