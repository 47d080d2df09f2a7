/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Properties of the packet codec over random packets and random bytes:
 * what goes in comes out, in both directions; every bit of a packet has one meaning; no prefix of a
 * packet is read past its end.
 */
#include "support/test.h"

#include "support/packet.h"

#define ROUNDS 500u
#define BYTES_MAX 512u

static uint8_t random_opcode(void)
{
	return packet_opcodes[test_rand_below(PACKET_OPCODES)];
}

/* Encodes a packet, with payload and pad of random bytes behind it; returns the whole length. */
static size_t bytes_of(const struct mw_packet *pkt, uint8_t bytes[BYTES_MAX])
{
	size_t headers_len = mw_packet_encode(pkt, bytes);
	size_t rest = pkt->payload_len + pkt->bth.pad;

	assert_true(headers_len + rest <= BYTES_MAX);
	test_rand_bytes(bytes + headers_len, rest);
	return headers_len + rest;
}

static void assert_same(const struct mw_packet *a, const struct mw_packet *b)
{
	const char *field = packet_difference(a, b);

	if (field)
		fail_msg("opcode 0x%02x: field %s differs", a->bth.opcode, field);
}

/* REQ(wire.decode.round-trip) */
TEST(mw_packet, struct_to_bytes_to_struct)
{
	for (size_t i = 0; i < test_rounds(ROUNDS) * PACKET_OPCODES; i++) {
		struct mw_packet pkt;
		struct mw_packet decoded;
		uint8_t bytes[BYTES_MAX];
		size_t headers_len = 0;
		size_t len;

		packet_random(&pkt, packet_opcodes[i % PACKET_OPCODES]);
		len = bytes_of(&pkt, bytes);
		assert_u_eq(packet_decode_exact(bytes, len, false, &decoded, &headers_len), MW_OK);
		assert_u_eq(headers_len, packet_headers_len(pkt.bth.opcode, pkt.bth.ts));
		assert_same(&decoded, &pkt);
	}
}

/* Whatever a byte string is decoded to, encoding gives its bytes back but for reserved bits. */
static bool check_bytes_round_trip(const uint8_t *bytes, size_t len)
{
	struct mw_packet pkt;
	uint8_t out[MW_HEADERS_MAX];
	uint8_t used[MW_HEADERS_MAX];
	size_t headers_len;

	if (packet_decode_exact(bytes, len, false, &pkt, &headers_len) != MW_OK)
		return false;
	assert_u_eq(mw_packet_encode(&pkt, out), headers_len);
	assert_u_eq(headers_len + pkt.payload_len + pkt.bth.pad, len);
	packet_used_bits(pkt.bth.opcode, pkt.bth.ts, used);
	for (size_t i = 0; i < headers_len; i++)
		assert_u_eq(out[i], bytes[i] & used[i]);
	return true;
}

/* Random bytes with a known opcode, version and types, without which nearly all are refused. */
static size_t plausible_bytes(uint8_t bytes[BYTES_MAX])
{
	uint8_t opcode = random_opcode();
	size_t len;

	test_rand_bytes(bytes, BYTES_MAX);
	bytes[0] = opcode;
	bytes[1] &= 0xF0;
	len = packet_headers_len(opcode, bytes[8] & 0x10);
	if (packet_is_data(opcode)) {
		bytes[19] = (uint8_t)((bytes[19] & 0xF0) | (bytes[8] & 0x10 ? 1 : bytes[19] & 0xF));
		return len + test_rand_below(BYTES_MAX - len);
	}
	bytes[1] &= 0xC0;
	if (opcode != MW_ACK && opcode != MW_RESPONSE_ACK)
		memcpy(bytes + 12, (uint8_t[]){0, bytes[13] & 0x7F}, 2);
	if (opcode == MW_PROBE || opcode == MW_RESPONSE_PROBE || opcode == MW_EP_REQUEST)
		bytes[27] = (uint8_t)((bytes[27] & 0xF0) | 1);
	return len;
}

/* REQ(wire.decode.round-trip) */
TEST(mw_packet, bytes_to_struct_to_bytes)
{
	size_t accepted = 0;
	size_t rounds = test_rounds(ROUNDS) * PACKET_OPCODES;

	for (size_t i = 0; i < rounds; i++) {
		uint8_t bytes[BYTES_MAX];
		size_t len = plausible_bytes(bytes);

		accepted += check_bytes_round_trip(bytes, len);
	}
	/* Refused may be only a data packet whose pad does not fit into one to three bytes. */
	assert_u_between(accepted, rounds - rounds / 50, rounds);
}

TEST(mw_packet, random_bytes)
{
	for (size_t i = 0; i < test_rounds(ROUNDS) * 20; i++) {
		uint8_t bytes[BYTES_MAX];
		size_t len = test_rand_below(96);

		test_rand_bytes(bytes, len);
		check_bytes_round_trip(bytes, len);
		if (len > 0 && test_rand_chance(9, 10))
			bytes[0] = random_opcode();
		check_bytes_round_trip(bytes, len);
	}
}

/* Decodes with one bit inverted and says whether that made a difference. */
static bool bit_matters(const struct mw_packet *pkt, uint8_t *bytes, size_t len, size_t bit)
{
	struct mw_packet other;
	size_t headers_len;
	enum mw_verdict verdict;

	bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	verdict = packet_decode_exact(bytes, len, false, &other, &headers_len);
	bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	return verdict != MW_OK || packet_difference(&other, pkt);
}

/* Each bit of the headers changes what is decoded, or is reserved and changes nothing. */
TEST(mw_packet, every_bit_is_used_or_reserved)
{
	for (size_t i = 0; i < 20u * PACKET_OPCODES; i++) {
		struct mw_packet pkt;
		uint8_t bytes[BYTES_MAX];
		uint8_t used[MW_HEADERS_MAX];
		size_t headers_len;
		size_t len;

		packet_random(&pkt, packet_opcodes[i % PACKET_OPCODES]);
		len = bytes_of(&pkt, bytes);
		headers_len = packet_headers_len(pkt.bth.opcode, pkt.bth.ts);
		packet_used_bits(pkt.bth.opcode, pkt.bth.ts, used);
		for (size_t bit = 0; bit < headers_len * 8; bit++)
			assert_u_eq(bit_matters(&pkt, bytes, len, bit),
				    used[bit / 8] >> bit % 8 & 1);
	}
}

/* REQ(wire.decode.total) */
TEST(mw_packet, no_prefix_is_read_past_its_end)
{
	for (size_t i = 0; i < 5u * PACKET_OPCODES; i++) {
		struct mw_packet pkt;
		struct mw_packet other;
		uint8_t bytes[BYTES_MAX];
		size_t headers_len;
		size_t len;

		packet_random(&pkt, packet_opcodes[i % PACKET_OPCODES]);
		len = bytes_of(&pkt, bytes);
		for (size_t n = 0; n < len; n++) {
			size_t whole = packet_headers_len(pkt.bth.opcode, pkt.bth.ts);
			enum mw_verdict want = n < whole		 ? MW_SHORT
					       : n < whole + pkt.bth.pad ? MW_PAD
									 : MW_OK;

			assert_u_eq(packet_decode_exact(bytes, n, false, &other, &headers_len),
				    want);
			want = packet_is_data(pkt.bth.opcode) && n >= 16 ? MW_OK : MW_SHORT;
			assert_u_eq(packet_decode_exact(bytes, n, true, &other, &headers_len),
				    want);
		}
	}
}

/* A cut packet that lost nothing but payload says what the whole one said. */
TEST(mw_packet, cut_behind_the_headers)
{
	for (size_t i = 0; i < test_rounds(ROUNDS); i++) {
		struct mw_packet pkt;
		struct mw_packet cut;
		uint8_t bytes[BYTES_MAX];
		size_t headers_len;
		size_t len;
		size_t kept;

		packet_random(&pkt, MW_WRITE_FIRST + (uint8_t)test_rand_below(6));
		len = bytes_of(&pkt, bytes);
		kept = test_rand_below(pkt.payload_len + 1u);
		len -= pkt.payload_len + pkt.bth.pad - kept;
		assert_u_eq(packet_decode_exact(bytes, len, true, &cut, &headers_len), MW_OK);
		assert_u_eq(headers_len, packet_headers_len(pkt.bth.opcode, pkt.bth.ts));
		pkt.payload_len = (uint32_t)kept;
		assert_same(&cut, &pkt);
	}
}
