/* SPDX-License-Identifier: BSD-2-Clause */
/* IPv4, IPv6 and UDP headers; see ip_udp.h. */
#include "conformance/ip_udp.h"

#include <string.h>

#define IPV4_BYTES 20u
#define IPV6_BYTES 40u
#define UDP_BYTES 8u
#define UDP 17u

static uint16_t be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static bool parse_ipv4(const uint8_t *bytes, size_t len, struct ip_udp *out)
{
	if (len < IPV4_BYTES || bytes[0] != 0x45 || bytes[9] != UDP || be16(bytes + 2) != len)
		return false;
	out->carrier.ip_len = be16(bytes + 2);
	out->carrier.ip_id = be16(bytes + 4);
	out->carrier.ip_frag = be16(bytes + 6);
	memcpy(out->carrier.src, bytes + 12, 4);
	memcpy(out->carrier.dst, bytes + 16, 4);
	out->dscp = bytes[1] >> 2;
	out->ecn = bytes[1] & 3;
	return true;
}

static bool parse_ipv6(const uint8_t *bytes, size_t len, struct ip_udp *out)
{
	uint8_t traffic_class;

	if (len < IPV6_BYTES || bytes[6] != UDP || be16(bytes + 4) != len - IPV6_BYTES)
		return false;
	out->carrier.ip_len = be16(bytes + 4);
	memcpy(out->carrier.src, bytes + 8, 16);
	memcpy(out->carrier.dst, bytes + 24, 16);
	traffic_class = (uint8_t)(bytes[0] << 4 | bytes[1] >> 4);
	out->dscp = traffic_class >> 2;
	out->ecn = traffic_class & 3;
	out->flow_label = (uint32_t)(bytes[1] & 0xF) << 16 | be16(bytes + 2);
	return true;
}

bool ip_udp_parse(const uint8_t *bytes, size_t len, struct ip_udp *out)
{
	size_t ip_bytes = len > 0 && bytes[0] >> 4 == 4 ? IPV4_BYTES : IPV6_BYTES;
	const uint8_t *udp = bytes + ip_bytes;

	*out = (struct ip_udp){0};
	if (len < ip_bytes + UDP_BYTES)
		return false;
	out->carrier.ip_version = bytes[0] >> 4;
	if (out->carrier.ip_version == 4
		    ? !parse_ipv4(bytes, len, out)
		    : out->carrier.ip_version != 6 || !parse_ipv6(bytes, len, out))
		return false;
	out->carrier.udp_sport = be16(udp);
	out->carrier.udp_dport = be16(udp + 2);
	out->carrier.udp_len = be16(udp + 4);
	out->payload = udp + UDP_BYTES;
	out->payload_len = len - ip_bytes - UDP_BYTES;
	return out->carrier.udp_len == len - ip_bytes;
}

/* The ones' complement sum of RFC 1071, continued from `sum`. */
static uint32_t sum_of(uint32_t sum, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		sum += i % 2 == 0 ? (uint32_t)bytes[i] << 8 : bytes[i];
	while (sum > 0xFFFF)
		sum = (sum & 0xFFFF) + (sum >> 16);
	return sum;
}

bool ip_udp_checksums_hold(const uint8_t *bytes, size_t len)
{
	bool is_ipv4 = bytes[0] >> 4 == 4;
	size_t ip_bytes = is_ipv4 ? IPV4_BYTES : IPV6_BYTES;
	size_t udp_len = len - ip_bytes;
	uint32_t pseudo;

	if (is_ipv4 && sum_of(0, bytes, IPV4_BYTES) != 0xFFFF)
		return false;
	if (is_ipv4 && be16(bytes + ip_bytes + 6) == 0)
		return true; /* IPv4 may go without one */
	/* Addresses, length and protocol are summed first. */
	pseudo = is_ipv4 ? sum_of(0, bytes + 12, 8) : sum_of(0, bytes + 8, 32);
	return sum_of(pseudo + UDP + (uint32_t)udp_len, bytes + ip_bytes, udp_len) == 0xFFFF;
}
