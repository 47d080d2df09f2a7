/* SPDX-License-Identifier: BSD-2-Clause */
/* ip_udp.c - IP and UDP headers, written from and read into one structure. */
#include "wire/ip_udp.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"

/* Protocol numbers of IANA. */
#define PROTOCOL_UDP 17u
#define PROTOCOL_IPV6 41u
#define PROTOCOL_ROUTING 43u
#define IPV4_DF 0x4000u
/* First bytes of addresses of groups; those above IPv4's are of nobody. */
#define IPV4_GROUPS 224u
#define IPV6_GROUPS 0xFFu
/* More fragments, or an offset. */
#define IPV4_PIECE 0x3FFFu
#define IP_LEN_MAX 65535u
#define ROUTING_MIN 8u
#define ROUTING_SEGMENTS_LEFT 3u
#define ECN_MASK 3u
#define ECN_CE 3u

static const uint8_t mapped[12] = {[10] = 0xFF, [11] = 0xFF};

bool mw_is_ipv4(const uint8_t ip[16])
{
	return memcmp(ip, mapped, sizeof(mapped)) == 0;
}

/* The one's complement sum, 0xFFFF of what holds its own checksum. */
static uint16_t fold_sum(uint64_t sum)
{
	sum = (sum & UINT32_MAX) + (sum >> 32);
	sum = (sum & 0xFFFF) + (sum >> 16);
	sum = (sum & 0xFFFF) + (sum >> 16);
	return (uint16_t)((sum & 0xFFFF) + (sum >> 16));
}

/*
 * The one's complement sum of 16 bit words, an odd byte filled up with zero; len at most 64 KiB.
 * Words are taken two at a time and in the machine's order, since bytes of the sum change places as
 * those of the words do (RFC 1071, 2): a whole packet is read here. The last four bytes at most go
 * through a copy.
 */
static uint16_t sum_words(const uint8_t *p, size_t len)
{
	uint8_t last[4] = {0}, in_order[2];
	uint64_t sum = 0;
	size_t whole = len & ~(sizeof(last) - 1);
	uint32_t words;
	uint16_t folded;

	for (size_t i = 0; i < whole; i += sizeof(words)) {
		memcpy(&words, p + i, sizeof(words));
		sum += words;
	}
	memcpy(last, p + whole, len - whole);
	memcpy(&words, last, sizeof(words));
	folded = fold_sum(sum + words);
	memcpy(in_order, &folded, sizeof(folded));
	return mb_load_be16(in_order);
}

static size_t write_ipv4(const struct mw_ip_udp *h, uint8_t *p)
{
	memset(p, 0, MW_IPV4_BYTES);
	p[0] = 0x45;
	p[1] = h->tos;
	mb_store_be16(p + 2, (uint16_t)(MW_IPV4_BYTES + MW_UDP_BYTES + h->len));
	mb_store_be16(p + 4, h->id);
	mb_store_be16(p + 6, IPV4_DF);
	p[8] = MW_HOP_LIMIT;
	p[9] = PROTOCOL_UDP;
	memcpy(p + 12, h->src + sizeof(mapped), 4);
	memcpy(p + 16, h->dst + sizeof(mapped), 4);
	mb_store_be16(p + 10, (uint16_t)~fold_sum(sum_words(p, MW_IPV4_BYTES)));
	return MW_IPV4_BYTES;
}

static size_t write_ipv6(const struct mw_ip_udp *h, size_t len, uint8_t next, uint8_t *p)
{
	mb_store_be32(p, 6u << 28 | (uint32_t)h->tos << 20 | (h->flow_label & 0xFFFFF));
	mb_store_be16(p + 4, (uint16_t)len);
	p[6] = next;
	p[7] = MW_HOP_LIMIT;
	memcpy(p + 8, h->src, 16);
	memcpy(p + 24, h->dst, 16);
	return MW_IPV6_BYTES;
}

void mw_ip_encapsulate(const struct mw_ip_udp *h, size_t inner, uint8_t out[MW_IPV6_BYTES])
{
	mb_assert(inner <= IP_LEN_MAX);
	write_ipv6(h, inner, PROTOCOL_IPV6, out);
}

size_t mw_ip_udp_write(const struct mw_ip_udp *h, uint8_t out[MW_IP_UDP_MAX])
{
	bool v4 = mw_is_ipv4(h->dst);
	size_t at;

	mb_assert(v4 == mw_is_ipv4(h->src));
	mb_assert(h->len <= IP_LEN_MAX - MW_IPV4_BYTES - MW_UDP_BYTES);
	at = v4 ? write_ipv4(h, out) : write_ipv6(h, MW_UDP_BYTES + h->len, PROTOCOL_UDP, out);
	mb_store_be16(out + at, h->sport);
	mb_store_be16(out + at + 2, h->dport);
	mb_store_be16(out + at + 4, (uint16_t)(MW_UDP_BYTES + h->len));
	mb_store_be16(out + at + 6, 0);
	return at + MW_UDP_BYTES;
}

/* Returns where the UDP header begins; 0: there is none. */
static size_t read_ipv4(const uint8_t *p, size_t size, struct mw_ip_udp *h)
{
	size_t header = (size_t)(p[0] & 0xF) * 4;

	if (header < MW_IPV4_BYTES || size < header || p[9] != PROTOCOL_UDP ||
	    mb_load_be16(p + 6) & IPV4_PIECE)
		return 0;
	memcpy(h->src, mapped, sizeof(mapped));
	memcpy(h->src + sizeof(mapped), p + 12, 4);
	memcpy(h->dst, mapped, sizeof(mapped));
	memcpy(h->dst + sizeof(mapped), p + 16, 4);
	h->tos = p[1];
	h->id = mb_load_be16(p + 4);
	return header;
}

/* Steps over a routing header that has nothing left to say; returns where the next header is. */
static size_t skip_routing(const uint8_t *p, size_t size, size_t at, uint8_t *next)
{
	size_t len;

	if (size < at + ROUTING_MIN || p[at + ROUTING_SEGMENTS_LEFT] != 0)
		return 0;
	*next = p[at];
	len = ((size_t)p[at + 1] + 1) * 8;
	return size < at + len ? 0 : at + len;
}

static size_t read_ipv6(const uint8_t *p, size_t size, struct mw_ip_udp *h)
{
	uint32_t word = mb_load_be32(p);
	size_t at = MW_IPV6_BYTES;
	uint8_t next;

	if (size < MW_IPV6_BYTES)
		return 0;
	next = p[6];
	if (next == PROTOCOL_ROUTING)
		at = skip_routing(p, size, at, &next);
	if (at == 0 || next != PROTOCOL_UDP)
		return 0;
	memcpy(h->src, p + 8, 16);
	memcpy(h->dst, p + 24, 16);
	/* The mapped form is how we keep addresses of IPv4; on the wire it says nothing. */
	if (mw_is_ipv4(h->src) || mw_is_ipv4(h->dst))
		return 0;
	h->tos = (uint8_t)(word >> 20);
	h->flow_label = word & 0xFFFFF;
	return at;
}

/* How many bytes the IP header says there are in all. */
static size_t ip_total_length(const uint8_t *p)
{
	return p[0] >> 4 == 4 ? mb_load_be16(p + 2) : MW_IPV6_BYTES + mb_load_be16(p + 4);
}

bool mw_ip_udp_read(const uint8_t *bytes, size_t size, struct mw_ip_udp *h, size_t *headers)
{
	size_t at = 0;

	*h = (struct mw_ip_udp){.len = 0};
	if (size < MW_IPV4_BYTES)
		return false;
	if (size > ip_total_length(bytes))
		size = ip_total_length(bytes); /* the rest pads a short Ethernet frame */
	if (size < MW_IPV4_BYTES)
		return false;
	if (bytes[0] >> 4 == 4)
		at = read_ipv4(bytes, size, h);
	else if (bytes[0] >> 4 == 6)
		at = read_ipv6(bytes, size, h);
	if (at == 0 || size < at + MW_UDP_BYTES)
		return false;
	h->sport = mb_load_be16(bytes + at);
	h->dport = mb_load_be16(bytes + at + 2);
	*headers = at + MW_UDP_BYTES;
	h->len = (uint32_t)(size - *headers);
	return true;
}

/* Neither a group, nor everybody, nor nobody. */
static bool is_source(const uint8_t ip[16])
{
	static const uint8_t nobody[16];

	if (mw_is_ipv4(ip))
		return ip[12] != 0 && ip[12] < IPV4_GROUPS;
	return ip[0] != IPV6_GROUPS && memcmp(ip, nobody, sizeof(nobody)) != 0;
}

/* The pseudo header of a UDP packet of len bytes. */
static uint64_t sum_pseudo(const struct mw_ip_udp *h, uint32_t len)
{
	uint64_t sum = (uint64_t)PROTOCOL_UDP + len;

	/* The mark of a mapped address is no part of it. */
	if (mw_is_ipv4(h->src))
		return sum + sum_words(h->src + sizeof(mapped), 4) +
		       sum_words(h->dst + sizeof(mapped), 4);
	return sum + sum_words(h->src, 16) + sum_words(h->dst, 16);
}

static bool is_udp_sum_right(const uint8_t *udp, const struct mw_ip_udp *h)
{
	uint32_t len = MW_UDP_BYTES + h->len;

	return fold_sum(sum_pseudo(h, len) + sum_words(udp, len)) == 0xFFFF;
}

void mw_ip_udp_write_sum(const struct mw_ip_udp *h, const uint8_t *payload, uint8_t *udp)
{
	uint64_t sum = sum_pseudo(h, MW_UDP_BYTES + h->len);
	uint16_t checksum;

	mb_store_be16(udp + 6, 0);
	sum = sum + sum_words(udp, MW_UDP_BYTES) + sum_words(payload, h->len);
	checksum = (uint16_t)~fold_sum(sum);
	mb_store_be16(udp + 6, checksum ? checksum : 0xFFFF); /* 0 says that there is none */
}

bool mw_ip_udp_is_sound(const uint8_t *bytes, const struct mw_ip_udp *h, size_t headers, bool sums)
{
	const uint8_t *udp = bytes + headers - MW_UDP_BYTES;
	uint32_t len = mb_load_be16(udp + 4);

	if (!is_source(h->src) || len < MW_UDP_BYTES + h->len)
		return false;
	if (mw_is_ipv4(h->src) && fold_sum(sum_words(bytes, headers - MW_UDP_BYTES)) != 0xFFFF)
		return false;
	if (!sums || len > MW_UDP_BYTES + h->len || mb_load_be16(udp + 6) == 0)
		return true;
	return is_udp_sum_right(udp, h);
}

uint8_t mw_ecn_combine(uint8_t outer_tos, uint8_t inner_tos)
{
	uint8_t ecn = inner_tos & ECN_MASK;

	/* A mark on a packet whose sender did not offer to be marked says nothing to it. */
	if ((outer_tos & ECN_MASK) == ECN_CE && ecn != 0)
		ecn = ECN_CE;
	return (uint8_t)((outer_tos & ~ECN_MASK) | ecn);
}
