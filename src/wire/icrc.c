/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * icrc.c - which bytes enter the invariant CRC, and in what order.
 *
 * A switch may change TOS or traffic class, TTL or hop limit, flow label and checksums, and the
 * variant byte of the BTH. Each of them enters as ones. So the headers in front of the payload are
 * written out once more in their masked form, in one buffer, and the CRC runs over that. The eight
 * bytes of ones in the place of an LRH always leave the same value: the CRC starts from it.
 */
#include "wire/icrc.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "wire/headers.h"

#define BTH_VARIANT 4u
#define UDP_BYTES 8u
#define IPV4_BYTES 20u
#define IPV6_BYTES 40u
#define PROTOCOL_UDP 17u

/* The register after all ones and eight bytes of ones. REQ(wire.icrc.polynomial) */
#define AFTER_LRH 0xDEBB20E3u

static size_t put_ipv4(const struct mw_icrc_carrier *c, uint8_t *out)
{
	out[0] = 0x45;
	out[1] = 0xFF; /* TOS */
	mb_store_be16(out + 2, c->ip_len);
	mb_store_be16(out + 4, c->ip_id);
	mb_store_be16(out + 6, c->ip_frag);
	out[8] = 0xFF; /* TTL */
	out[9] = PROTOCOL_UDP;
	mb_store_be16(out + 10, 0xFFFF); /* checksum */
	memcpy(out + 12, c->src, 4);
	memcpy(out + 16, c->dst, 4);
	return IPV4_BYTES;
}

static size_t put_ipv6(const struct mw_icrc_carrier *c, uint8_t *out)
{
	mb_store_be32(out, 0x6FFFFFFF); /* traffic class and flow label */
	mb_store_be16(out + 4, c->ip_len);
	out[6] = PROTOCOL_UDP;
	out[7] = 0xFF; /* hop limit */
	memcpy(out + 8, c->src, 16);
	memcpy(out + 24, c->dst, 16);
	return IPV6_BYTES;
}

static size_t put_udp(const struct mw_icrc_carrier *c, uint8_t *out)
{
	mb_store_be16(out, c->udp_sport);
	mb_store_be16(out + 2, c->udp_dport);
	mb_store_be16(out + 4, c->udp_len);
	mb_store_be16(out + 6, 0xFFFF); /* checksum */
	return UDP_BYTES;
}

static size_t put_bth(const uint8_t *bth, uint8_t *out)
{
	memcpy(out, bth, MW_BTH_BYTES);
	out[BTH_VARIANT] = 0xFF;
	return MW_BTH_BYTES;
}

/* REQ(wire.icrc.udp-bth) */
uint32_t mw_icrc_start(mw_crc32_fn crc, const struct mw_icrc_carrier *carrier,
		       const uint8_t bth[12])
{
	uint8_t masked[IPV6_BYTES + UDP_BYTES + MW_BTH_BYTES];
	size_t n;

	mb_assert(carrier->ip_version == 4 || carrier->ip_version == 6);
	n = carrier->ip_version == 4 ? put_ipv4(carrier, masked) : put_ipv6(carrier, masked);
	n += put_udp(carrier, masked + n);
	n += put_bth(bth, masked + n);
	return crc(AFTER_LRH, masked, n);
}

void mw_icrc_finish(uint32_t running, uint8_t out[4])
{
	uint32_t icrc = ~running;

	out[0] = (uint8_t)icrc;
	out[1] = (uint8_t)(icrc >> 8);
	out[2] = (uint8_t)(icrc >> 16);
	out[3] = (uint8_t)(icrc >> 24);
}
