/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ip_udp.h - IP and UDP headers as bytes, for drivers and captures that see whole packets.
 *
 * UDP checksums are not made: RoCEv2 sends zero, and the ICRC protects more. Everything read may
 * come from a stranger.
 */
#ifndef SOFTMRC_IO_IP_UDP_H
#define SOFTMRC_IO_IP_UDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIO_IPV4_BYTES 20u
#define MIO_IPV6_BYTES 40u
#define MIO_UDP_BYTES 8u
#define MIO_IP_UDP_MAX (MIO_IPV6_BYTES + MIO_UDP_BYTES)
#define MIO_HOPS 64u

struct mio_ip_udp {
	uint8_t src[16], dst[16]; /* network order; IPv4-mapped addresses make an IPv4 header */
	uint16_t sport, dport;	  /* host order */
	uint32_t flow_label;	  /* 20 bits, IPv6 only */
	uint32_t len;		  /* bytes behind the UDP header */
	uint16_t id;		  /* IPv4 Identification */
	uint8_t tos;
};

/* mio_is_ipv4 says whether an address is IPv4-mapped, ::ffff:a.b.c.d. */
bool mio_is_ipv4(const uint8_t ip[16]);

/*
 * mio_ip_udp_write writes both headers and returns their size, 28 or 48. The packet must be one
 * that IP can carry: len at most 65507 (asserted). IPv4 gets don't-fragment and a header checksum.
 */
size_t mio_ip_udp_write(const struct mio_ip_udp *h, uint8_t out[MIO_IP_UDP_MAX]);

/*
 * mio_ip_encapsulate writes the IPv6 header of a tunnel around an IPv6 packet of `inner` bytes: addresses,
 * traffic class and flow label of h.
 */
void mio_ip_encapsulate(const struct mio_ip_udp *h, size_t inner, uint8_t out[MIO_IPV6_BYTES]);

/*
 * mio_ip_udp_read reads the headers at the start of `size` bytes. h->len is what is there behind
 * them, which is less than the headers promise when a switch trimmed the packet. False: not a UDP
 * packet in one piece, or not even whole headers. IPv6 extension headers are not looked behind,
 * except a routing header that is used up (segments left 0). REQ(srv6.srh)
 */
bool mio_ip_udp_read(const uint8_t *bytes, size_t size, struct mio_ip_udp *h, size_t *headers);

/*
 * mio_ecn_combine returns what the inner traffic class becomes when a tunnel ends, by RFC 6040:
 * congestion experienced on either header counts, and the DSCP is the outer one, because that is
 * where a switch writes that it trimmed. REQ(rsp.ecn.combine)
 */
uint8_t mio_ecn_combine(uint8_t outer_tos, uint8_t inner_tos);

#endif
