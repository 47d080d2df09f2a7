/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * icrc.h - the invariant CRC of RoCEv2, which MRC keeps.
 *
 * CRC-32 over what no switch may change: eight bytes of ones in the place of an LRH, the IP and
 * UDP headers and the BTH with their mutable fields read as ones, the extension headers, payload
 * and pad. The routine that runs the CRC over bytes is passed in, so that a host may use its CPU's
 * carry-less multiply; mw_crc32_update is the portable one.
 */
#ifndef SOFTMRC_WIRE_ICRC_H
#define SOFTMRC_WIRE_ICRC_H

#include <stddef.h>
#include <stdint.h>

/* A running reflected CRC-32 (polynomial 0x04C11DB7), neither inverted before nor after. */
typedef uint32_t (*mw_crc32_fn)(uint32_t crc, const void *bytes, size_t len);

/* mw_crc32_update is the portable routine (slicing by 8, constant tables). */
uint32_t mw_crc32_update(uint32_t crc, const void *bytes, size_t len);

/*
 * The fields of the carrying packet that enter the ICRC. Addresses in network order; an IPv4
 * address occupies the first 4 bytes.
 */
struct mw_icrc_carrier {
	uint8_t ip_version; /* 4 or 6 */
	uint8_t src[16];
	uint8_t dst[16];
	uint16_t
		ip_len; /* IPv4: total length; IPv6: payload length (UDP header and what follows) */
	uint16_t ip_id; /* IPv4 Identification; a UDP socket cannot know it and says 0 */
	uint16_t ip_frag; /* IPv4 flags and fragment offset: 0x4000 when DF is set */
	uint16_t udp_sport;
	uint16_t udp_dport;
	uint16_t udp_len;
};

/*
 * mw_icrc_start runs the CRC over the masked IP and UDP headers and the BTH with its variant byte
 * masked; bth points to the 12 bytes as they are on the wire. Continue with crc over everything
 * after the BTH up to and including the pad, then mw_icrc_finish. Pure; any thread.
 * REQ(wire.icrc.ipv4) REQ(wire.icrc.ipv6)
 */
uint32_t mw_icrc_start(mw_crc32_fn crc, const struct mw_icrc_carrier *carrier,
		       const uint8_t bth[12]);

/* mw_icrc_finish inverts a running value and writes it in the byte order of the wire. */
void mw_icrc_finish(uint32_t running, uint8_t out[4]);

#endif
