/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ip_udp.h - IP and UDP headers as bytes, for drivers and captures that see whole packets.
 *
 * UDP checksums are made for captures only: RoCEv2 sends zero, and the ICRC protects more.
 * Everything read may come from an unknown sender.
 */
#ifndef SOFTMRC_WIRE_IP_UDP_H
#define SOFTMRC_WIRE_IP_UDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MW_IPV4_BYTES 20u
#define MW_IPV6_BYTES 40u
#define MW_UDP_BYTES 8u
#define MW_IP_UDP_MAX (MW_IPV6_BYTES + MW_UDP_BYTES)
#define MW_HOP_LIMIT 64u

struct mw_ip_udp {
	uint8_t src[16], dst[16]; /* network order; IPv4-mapped addresses make an IPv4 header */
	uint16_t sport, dport;	  /* host order */
	uint32_t flow_label;	  /* 20 bits, IPv6 only */
	uint32_t len;		  /* bytes behind the UDP header */
	uint16_t id;		  /* IPv4 Identification */
	uint8_t tos;
};

/* mw_is_ipv4 says whether an address is IPv4-mapped, ::ffff:a.b.c.d. */
bool mw_is_ipv4(const uint8_t ip[16]);

/*
 * mw_ip_udp_write writes both headers and returns their size, 28 or 48. The packet must be one
 * that IP can carry: len at most 65507 (asserted). IPv4 gets don't-fragment and a header checksum.
 */
size_t mw_ip_udp_write(const struct mw_ip_udp *h, uint8_t out[MW_IP_UDP_MAX]);

/*
 * mw_ip_udp_write_sum writes the checksum into the UDP header at `udp`, which mw_ip_udp_write made
 * from h, over h->len bytes of payload: what a socket's packets have. RFC 768, RFC 8200 8.1.
 */
void mw_ip_udp_write_sum(const struct mw_ip_udp *h, const uint8_t *payload, uint8_t *udp);

/*
 * mw_ip_encapsulate writes the IPv6 header of a tunnel around an IPv6 packet of `inner` bytes:
 * addresses, traffic class and flow label of h.
 */
void mw_ip_encapsulate(const struct mw_ip_udp *h, size_t inner, uint8_t out[MW_IPV6_BYTES]);

/*
 * mw_ip_udp_read reads the headers at the start of `size` bytes. h->len is what is there behind
 * them, which is less than the headers promise when a switch trimmed the packet. False: not a UDP
 * packet in one piece, or not even whole headers, or IPv4-mapped addresses in an IPv6 header, which
 * no host has (RFC 4291, 2.5.5.2). IPv6 extension headers are not looked behind,
 * except a routing header that is used up (segments left 0). REQ(srv6.srh)
 */
bool mw_ip_udp_read(const uint8_t *bytes, size_t size, struct mw_ip_udp *h, size_t *headers);

/*
 * mw_ip_udp_is_sound looks at what a kernel looks at before a socket gets a packet, where no kernel
 * did: bytes, h and headers are those of a mw_ip_udp_read that returned true. The source is an
 * address that a host may have, the IPv4 header checksum is right, the UDP length is not less than
 * what is there, and if nothing was trimmed, the UDP checksum is right or zero. sums: the UDP
 * checksum is there; false of packets on their way inside of a host. Pure; any thread.
 */
bool mw_ip_udp_is_sound(const uint8_t *bytes, const struct mw_ip_udp *h, size_t headers, bool sums);

/*
 * mw_ecn_combine returns what the inner traffic class becomes when a tunnel ends, by RFC 6040:
 * congestion experienced on either header counts, and the DSCP is the outer one, because that is
 * where a switch writes that it trimmed. REQ(rsp.ecn.combine)
 */
uint8_t mw_ecn_combine(uint8_t outer_tos, uint8_t inner_tos);

#endif
