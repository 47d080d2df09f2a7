/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The invariant CRC: exactly the bytes that the rule names, in its order, seen by a CRC routine
 * that keeps them. Whole packets with their ICRC are in the conformance tests.
 */
#include "support/test.h"

#include "unit/panic.h"
#include "wire/icrc.h"

static uint8_t seen[128];
static size_t seen_len;
static uint32_t seen_crc;

static uint32_t keep_bytes(uint32_t crc, const void *bytes, size_t len)
{
	assert_true(len <= sizeof(seen));
	memcpy(seen, bytes, len);
	seen_len = len;
	seen_crc = crc;
	return 0x01020304;
}

static const uint8_t bth[12] = {0xC6, 0x40, 0xFF, 0xFF, 0x5A, 1, 2, 3, 0x80, 4, 5, 6};

static struct mw_icrc_carrier carrier_of(uint8_t ip_version)
{
	struct mw_icrc_carrier carrier = {
		.ip_version = ip_version,
		.ip_len = 0x1112,
		.ip_id = 0x2122,
		.ip_frag = 0x4000,
		.udp_sport = 0x3132,
		.udp_dport = 4791,
		.udp_len = 0x4142,
	};

	for (uint8_t i = 0; i < 16; i++) {
		carrier.src[i] = (uint8_t)(0xA0 + i);
		carrier.dst[i] = (uint8_t)(0xB0 + i);
	}
	return carrier;
}

/* REQ(wire.icrc.ipv4) REQ(wire.icrc.udp-bth) */
TEST(mw_icrc_start, ipv4_bytes)
{
	static const uint8_t want[] = {
		0x45, 0xFF, 0x11, 0x12, 0x21, 0x22, 0x40, 0x00, 0xFF, 17,   0xFF, 0xFF, 0xA0, 0xA1,
		0xA2, 0xA3, 0xB0, 0xB1, 0xB2, 0xB3, 0x31, 0x32, 0x12, 0xB7, 0x41, 0x42, 0xFF, 0xFF,
		0xC6, 0x40, 0xFF, 0xFF, 0xFF, 1,    2,	  3,	0x80, 4,    5,	  6,
	};
	struct mw_icrc_carrier carrier = carrier_of(4);

	assert_u_eq(mw_icrc_start(keep_bytes, &carrier, bth), 0x01020304);
	assert_u_eq(seen_len, sizeof(want));
	assert_bytes_eq(seen, want, sizeof(want));
}

/* REQ(wire.icrc.ipv6) REQ(wire.icrc.udp-bth) */
TEST(mw_icrc_start, ipv6_bytes)
{
	static const uint8_t want[] = {
		0x6F, 0xFF, 0xFF, 0xFF, 0x11, 0x12, 17,	  0xFF, 0xA0, 0xA1, 0xA2, 0xA3,
		0xA4, 0xA5, 0xA6, 0xA7, 0xA8, 0xA9, 0xAA, 0xAB, 0xAC, 0xAD, 0xAE, 0xAF,
		0xB0, 0xB1, 0xB2, 0xB3, 0xB4, 0xB5, 0xB6, 0xB7, 0xB8, 0xB9, 0xBA, 0xBB,
		0xBC, 0xBD, 0xBE, 0xBF, 0x31, 0x32, 0x12, 0xB7, 0x41, 0x42, 0xFF, 0xFF,
		0xC6, 0x40, 0xFF, 0xFF, 0xFF, 1,    2,	  3,	0x80, 4,    5,	  6,
	};
	struct mw_icrc_carrier carrier = carrier_of(6);

	assert_u_eq(mw_icrc_start(keep_bytes, &carrier, bth), 0x01020304);
	assert_u_eq(seen_len, sizeof(want));
	assert_bytes_eq(seen, want, sizeof(want));
}

/* REQ(wire.icrc.polynomial) */
TEST(mw_icrc_start, begins_behind_eight_bytes_of_ones)
{
	static const uint8_t ones[8] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
	struct mw_icrc_carrier carrier = carrier_of(6);

	mw_icrc_start(keep_bytes, &carrier, bth);
	assert_u_eq(seen_crc, mw_crc32_update(0xFFFFFFFF, ones, sizeof(ones)));
}

TEST(mw_icrc_start, other_ip_versions)
{
	struct mw_icrc_carrier carrier = carrier_of(5);

	expect_assert_failure(mw_icrc_start(keep_bytes, &carrier, bth));
}

/* REQ(wire.icrc.polynomial) */
TEST(mw_icrc_finish, inverts_and_puts_the_low_byte_first)
{
	uint8_t out[4];

	mw_icrc_finish(0x04030201, out);
	assert_bytes_eq(out, "\xFE\xFD\xFC\xFB", 4);
}
