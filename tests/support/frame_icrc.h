/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frame_icrc.h - the ICRC of a frame as a UDP socket sends it, by the portable routine: what IP and
 * UDP have of it is written down here once more, not taken from the host's code.
 */
#ifndef SUPPORT_FRAME_ICRC_H
#define SUPPORT_FRAME_ICRC_H

#include <stdbool.h>
#include <string.h>

#include "wire/headers.h"
#include "wire/icrc.h"

/* From whom to whom: addresses of 4 bytes or 16. */
struct frame_ends {
	bool is_ipv4;
	const uint8_t *src, *dst;
	uint16_t sport, dport;
};

/* frame_icrc computes the one of a frame that has `body` bytes, from its BTH on, before it. */
static inline void frame_icrc(const struct frame_ends *ends, const uint8_t *bytes, size_t body,
			      uint8_t out[4])
{
	size_t address = ends->is_ipv4 ? 4 : 16, udp_len = 8 + body + 4;
	struct mw_icrc_carrier carrier = {
		.ip_version = ends->is_ipv4 ? 4 : 6,
		.ip_len = (uint16_t)(udp_len + (ends->is_ipv4 ? 20 : 0)),
		.ip_frag = 0x4000,
		.udp_sport = ends->sport,
		.udp_dport = ends->dport,
		.udp_len = (uint16_t)udp_len,
	};
	uint32_t crc;

	memcpy(carrier.src, ends->src, address);
	memcpy(carrier.dst, ends->dst, address);
	crc = mw_icrc_start(mw_crc32_update, &carrier, bytes);
	mw_icrc_finish(mw_crc32_update(crc, bytes + 12, body - 12), out);
}

#endif
