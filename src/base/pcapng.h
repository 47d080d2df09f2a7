/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pcapng.h - the blocks of a pcapng capture file, as bytes in memory.
 *
 * Only what a capture of IP packets needs: a section, an interface for each port, packets with
 * nanosecond stamps. Written in this machine's byte order, which the format allows and readers
 * handle. Source: draft-ietf-opsawg-pcapng.
 */
#ifndef SOFTMRC_BASE_PCAPNG_H
#define SOFTMRC_BASE_PCAPNG_H

#include <stddef.h>
#include <stdint.h>

#define MB_PCAPNG_SECTION_BYTES 28u
#define MB_PCAPNG_NAME_MAX 32u
#define MB_PCAPNG_INTERFACE_MAX (20u + 8u + MB_PCAPNG_NAME_MAX + 8u + 4u)
#define MB_PCAPNG_HEAD_BYTES 28u
#define MB_PCAPNG_TAIL_MAX (3u + 12u + 4u + 4u)

/* What a packet's flags say of its direction. */
enum mb_pcapng_direction {
	MB_PCAPNG_INBOUND = 1,
	MB_PCAPNG_OUTBOUND = 2,
};

/* mb_pcapng_section writes the header with which a file begins; returns its size. */
size_t mb_pcapng_section(uint8_t out[MB_PCAPNG_SECTION_BYTES]);
/*
 * mb_pcapng_interface writes the description of the next interface, the first of which is 0; its
 * packets begin with an IP header. Of the name MB_PCAPNG_NAME_MAX bytes are used. Returns the size.
 */
size_t mb_pcapng_interface(const char *name, uint8_t out[MB_PCAPNG_INTERFACE_MAX]);
/*
 * mb_pcapng_packet writes what stands before (head) and behind (tail) the `len` bytes of a packet
 * that was `original` bytes long, captured at time_ns since 1970; returns the tail's size.
 */
size_t mb_pcapng_packet(uint32_t interface, uint64_t time_ns, uint32_t len, uint32_t original,
			enum mb_pcapng_direction direction, uint8_t head[MB_PCAPNG_HEAD_BYTES],
			uint8_t tail[MB_PCAPNG_TAIL_MAX]);

#endif
