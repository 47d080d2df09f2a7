/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_pcapng.c - blocks have the layout that the format lays down, whole and padded. */
#include "support/test.h"

#include "base/pcapng.h"

static uint32_t word(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint16_t half(const uint8_t *at)
{
	uint16_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

TEST(mb_pcapng_section, names_byte_order_and_version)
{
	uint8_t b[MB_PCAPNG_SECTION_BYTES];

	assert_u_eq(mb_pcapng_section(b), 28);
	assert_u_eq(word(b), 0x0A0D0D0A);
	assert_u_eq(word(b + 4), 28);
	assert_u_eq(word(b + 8), 0x1A2B3C4D);
	assert_u_eq(word(b + 24), 28);
}

TEST(mb_pcapng_interface, lengths_at_both_ends_agree)
{
	uint8_t b[MB_PCAPNG_INTERFACE_MAX];

	for (size_t n = 0; n <= 40; n++) {
		char name[41] = "";
		size_t len;

		memset(name, 'x', n);
		len = mb_pcapng_interface(name, b);
		assert_true(len <= sizeof(b) && len % 4 == 0);
		assert_u_eq(word(b), 1);
		assert_u_eq(word(b + 4), len);
		assert_u_eq(word(b + len - 4), len);
		assert_u_eq(half(b + 18), n < MB_PCAPNG_NAME_MAX ? n : MB_PCAPNG_NAME_MAX);
	}
}

TEST(mb_pcapng_interface, stamps_are_nanoseconds)
{
	uint8_t b[MB_PCAPNG_INTERFACE_MAX];

	mb_pcapng_interface("p0", b);
	assert_u_eq(half(b + 24), 9); /* behind the name of two bytes, padded to four */
	assert_u_eq(b[28], 9);
}

TEST(mb_pcapng_packet, pads_to_words_and_says_the_direction)
{
	uint8_t head[MB_PCAPNG_HEAD_BYTES], tail[MB_PCAPNG_TAIL_MAX];

	for (uint32_t len = 0; len < 9; len++) {
		size_t behind = mb_pcapng_packet(3, UINT64_C(0x123456789A), len, 100,
						 MB_PCAPNG_OUTBOUND, head, tail);
		size_t total = sizeof(head) + len + behind;

		assert_u_eq(total % 4, 0);
		assert_u_eq(word(head), 6);
		assert_u_eq(word(head + 4), total);
		assert_u_eq(word(head + 8), 3);
		assert_u_eq(word(head + 12), 0x12);
		assert_u_eq(word(head + 16), 0x3456789A);
		assert_u_eq(word(head + 20), len);
		assert_u_eq(word(head + 24), 100);
		assert_u_eq(word(tail + behind - 12), MB_PCAPNG_OUTBOUND);
		assert_u_eq(word(tail + behind - 4), total);
	}
}
