/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The codec against wire vectors that an encoder made which shares nothing with this project. Each
 * vector is five cases: its bytes decode to its fields; its fields encode to its bytes; the whole
 * IP packet around it holds together, ICRC included; the ICRC covers what it must and no more; no
 * prefix is read past its end.
 */
#include "support/test.h"

#include <stdio.h>

#include "conformance/fields.h"
#include "conformance/ip_udp.h"
#include "conformance/vectors.h"
#include "support/packet.h"
#include "wire/ev_fmt.h"
#include "wire/icrc.h"
#include "wire/packet.h"

#define ICRC MW_ICRC_BYTES

static struct vectors vectors;

TEST(vectors, all_are_there)
{
	unsigned seen[256] = {0};
	unsigned opcodes = 0;

	assert_u_eq(vectors.n, 48);
	for (size_t i = 0; i < vectors.n; i++)
		seen[vectors.list[i].head.at[0]]++;
	for (unsigned opcode = 0; opcode < 256; opcode++) {
		opcodes += seen[opcode] > 0;
		assert_true(seen[opcode] == 0 || seen[opcode] == 4);
	}
	assert_u_eq(opcodes, 12);
}

static void decodes(void **state)
{
	const struct vector *v = *state;
	struct mw_packet pkt;
	size_t headers_len = 0;

	assert_u_eq(mw_packet_decode(v->head.at, v->head.len, false, &pkt, &headers_len), MW_OK);
	assert_u_eq(headers_len, v->head.len);
	assert_u_eq(pkt.payload_len, 0);
	fields_check(&pkt, v->headers);
}

static void encodes(void **state)
{
	const struct vector *v = *state;
	struct mw_packet pkt = {0};
	uint8_t out[MW_HEADERS_MAX];

	fields_fill(&pkt, v->headers);
	assert_u_eq(mw_packet_encode(&pkt, out), v->head.len);
	assert_bytes_eq(out, v->head.at, v->head.len);
}

/* The ICRC of a parsed packet, over the UDP payload without its last four bytes. */
static void compute_icrc(const struct ip_udp *ip, uint8_t out[ICRC])
{
	uint32_t crc = mw_icrc_start(mw_crc32_update, &ip->carrier, ip->payload);

	crc = mw_crc32_update(crc, ip->payload + 12, ip->payload_len - 12 - ICRC);
	mw_icrc_finish(crc, out);
}

static void check_ev(const struct vector *v, const struct ip_udp *ip)
{
	enum mw_ev_format fmt = v->ip_version == 4 ? MW_EV_UDP : MW_EV_STEV;
	struct mw_ev_bits bits = {.udp_sport = ip->carrier.udp_sport, .flow_label = ip->flow_label};
	uint32_t ev = mw_ev_decode(fmt, bits);
	struct mw_ev_bits again = mw_ev_encode(fmt, ev);

	if (v->ip_version == 4)
		assert_u_eq(ev, v->udp_sport);
	else
		assert_u_eq(ev, v->udp_sport << 16 | v->flow_label);
	assert_u_eq(again.udp_sport, bits.udp_sport);
	assert_u_eq(again.flow_label, bits.flow_label);
}

static void check_carrier(const struct vector *v, const struct ip_udp *ip)
{
	assert_u_eq(ip->carrier.ip_version, v->ip_version);
	assert_u_eq(ip->dscp, v->dscp);
	assert_u_eq(ip->ecn, v->ecn);
	assert_u_eq(ip->carrier.udp_sport, v->udp_sport);
	assert_u_eq(ip->carrier.udp_dport, 4791);
	assert_u_eq(ip->flow_label, v->flow_label);
	assert_true(ip_udp_checksums_hold(v->packet.at, v->packet.len));
	check_ev(v, ip);
}

/* REQ(wire.icrc.ipv4) REQ(wire.icrc.ipv6) REQ(wire.icrc.polynomial) REQ(wire.ev.stev) */
static void whole_packet(void **state)
{
	const struct vector *v = *state;
	struct ip_udp ip;
	struct mw_packet pkt;
	uint8_t out[MW_HEADERS_MAX];
	uint8_t icrc[ICRC];
	size_t head = 0;

	assert_true(ip_udp_parse(v->packet.at, v->packet.len, &ip));
	check_carrier(v, &ip);

	compute_icrc(&ip, icrc);
	assert_bytes_eq(icrc, v->icrc.at, ICRC);
	assert_bytes_eq(ip.payload + ip.payload_len - ICRC, icrc, ICRC);

	assert_u_eq(mw_packet_decode(ip.payload, ip.payload_len - ICRC, false, &pkt, &head), MW_OK);
	fields_check(&pkt, v->headers);
	assert_u_eq(pkt.payload_len, v->payload.len);
	assert_bytes_eq(ip.payload + head, v->payload.at, v->payload.len);

	assert_u_eq(mw_packet_encode(&pkt, out), head);
	assert_bytes_eq(out, ip.payload, head);
}

/* Bits that a switch may change on the way, by their place in the IP packet. */
static uint8_t mutable_bits(uint32_t ip_version, size_t at)
{
	if (ip_version == 4) /* TOS, TTL, header checksum, UDP checksum, BTH variant */
		return at == 1 || at == 8 || at == 10 || at == 11 || at == 26 || at == 27 ||
				       at == 32
			       ? 0xFF
			       : 0;
	if (at == 0) /* traffic class */
		return 0x0F;
	/* Traffic class and flow label, hop limit, UDP checksum, BTH variant. */
	return (at >= 1 && at <= 3) || at == 7 || at == 46 || at == 47 || at == 52 ? 0xFF : 0;
}

/* Whether inverting one bit of the packet goes unnoticed by its ICRC. */
static bool icrc_still_holds(const struct vector *v, size_t bit)
{
	struct vector_bytes changed = v->packet;
	struct ip_udp ip;
	uint8_t icrc[ICRC];

	changed.at[bit / 8] ^= (uint8_t)(1u << bit % 8);
	if (!ip_udp_parse(changed.at, changed.len, &ip))
		return false;
	compute_icrc(&ip, icrc);
	return memcmp(icrc, ip.payload + ip.payload_len - ICRC, ICRC) == 0;
}

/* REQ(wire.icrc.udp-bth) */
static void icrc_covers_what_is_invariant(void **state)
{
	const struct vector *v = *state;

	for (size_t bit = 0; bit < v->packet.len * 8; bit++)
		assert_u_eq(icrc_still_holds(v, bit),
			    mutable_bits(v->ip_version, bit / 8) >> bit % 8 & 1);
}

/* REQ(wire.decode.total) */
static void prefixes(void **state)
{
	const struct vector *v = *state;
	const uint8_t *head = v->head.at;

	for (size_t len = 0; len <= v->head.len; len++) {
		enum mw_verdict whole = len < v->head.len ? MW_SHORT : MW_OK;
		enum mw_verdict cut = packet_is_data(head[0]) && len >= 16 ? MW_OK : whole;
		struct mw_packet pkt;
		size_t headers_len;

		assert_u_eq(packet_decode_exact(head, len, false, &pkt, &headers_len), whole);
		assert_u_eq(packet_decode_exact(head, len, true, &pkt, &headers_len), cut);
	}
}

static void add_case(const struct vector *v, const char *what, CMUnitTestFunction run)
{
	size_t size = strlen(v->name) + strlen(what) + 3;
	char *name = malloc(size); /* lives as long as the process, as test_register wants */

	if (!name)
		abort();
	snprintf(name, size, "%s__%s", v->name, what);
	test_register(name, run, NULL, NULL, (void *)(uintptr_t)v);
}

__attribute__((constructor)) static void register_vectors(void)
{
	vectors = vectors_load(VECTORS_FILE);
	for (size_t i = 0; i < vectors.n; i++) {
		const struct vector *v = &vectors.list[i];

		add_case(v, "decodes", decodes);
		add_case(v, "encodes", encodes);
		add_case(v, "whole_packet", whole_packet);
		add_case(v, "icrc_covers_what_is_invariant", icrc_covers_what_is_invariant);
		add_case(v, "prefixes", prefixes);
	}
}

__attribute__((destructor)) static void free_vectors(void)
{
	vectors_free(&vectors);
}
