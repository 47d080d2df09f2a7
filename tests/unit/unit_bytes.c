/* SPDX-License-Identifier: BSD-2-Clause */
/* Big-endian numbers against bytes written by hand, at every alignment. */
#include "support/test.h"

#include "base/bytes.h"

static const uint8_t digits[] = {0x81, 0x92, 0xA3, 0xB4, 0xC5, 0xD6, 0xE7, 0xF8};

/* The digits at an offset of a buffer of 0x55. */
static uint8_t *at(size_t offset)
{
	static uint8_t buf[24];

	memset(buf, 0x55, sizeof(buf));
	memcpy(buf + offset, digits, sizeof(digits));
	return buf + offset;
}

TEST(mb_load_be16, every_alignment)
{
	for (size_t i = 0; i < 8; i++)
		assert_u_eq(mb_load_be16(at(i)), 0x8192);
}

TEST(mb_load_be24, every_alignment)
{
	for (size_t i = 0; i < 8; i++)
		assert_u_eq(mb_load_be24(at(i)), 0x8192A3);
}

TEST(mb_load_be32, every_alignment)
{
	for (size_t i = 0; i < 8; i++)
		assert_u_eq(mb_load_be32(at(i)), 0x8192A3B4);
}

TEST(mb_load_be64, every_alignment)
{
	for (size_t i = 0; i < 8; i++)
		assert_u_eq(mb_load_be64(at(i)), 0x8192A3B4C5D6E7F8);
}

/* A buffer of 0x55 in which only the first `len` digits behind one byte were stored. */
static void check_stored(const uint8_t *buf, size_t len)
{
	uint8_t want[16];

	memset(want, 0x55, sizeof(want));
	memcpy(want + 1, digits, len);
	assert_bytes_eq(buf, want, sizeof(want));
}

TEST(mb_store_be, neighbours_stay)
{
	uint8_t buf[16];

	memset(buf, 0x55, sizeof(buf));
	mb_store_be16(buf + 1, 0x8192);
	check_stored(buf, 2);
	mb_store_be24(buf + 1, 0x8192A3);
	check_stored(buf, 3);
	mb_store_be32(buf + 1, 0x8192A3B4);
	check_stored(buf, 4);
	mb_store_be64(buf + 1, 0x8192A3B4C5D6E7F8);
	check_stored(buf, 8);
}

TEST(mb_store_be24, drops_the_high_byte)
{
	uint8_t buf[3];

	mb_store_be24(buf, 0xFF010203);
	assert_u_eq(mb_load_be24(buf), 0x010203);
}
