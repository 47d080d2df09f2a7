/* SPDX-License-Identifier: BSD-2-Clause */
/* The portable CRC-32, against its published check value and against one bit at a time. */
#include "support/test.h"

#include "wire/icrc.h"

/* The definition: one shift of the register for each bit. */
static uint32_t bitwise(uint32_t crc, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
	}
	return crc;
}

/* REQ(wire.icrc.polynomial) */
TEST(mw_crc32_update, check_value)
{
	assert_u_eq(~mw_crc32_update(0xFFFFFFFF, "123456789", 9), 0xCBF43926);
}

TEST(mw_crc32_update, nothing_changes_nothing)
{
	assert_u_eq(mw_crc32_update(0x12345678, "", 0), 0x12345678);
}

/* Every table entry: each byte value at each of the eight places of a step. */
TEST(mw_crc32_update, each_byte_at_each_place)
{
	for (unsigned place = 0; place < 8; place++) {
		for (unsigned value = 0; value < 256; value++) {
			uint8_t bytes[8] = {0};

			bytes[place] = (uint8_t)value;
			assert_u_eq(mw_crc32_update(0, bytes, 8), bitwise(0, bytes, 8));
		}
	}
}

TEST(mw_crc32_update, any_length_and_alignment)
{
	uint8_t bytes[80];

	test_rand_bytes(bytes, sizeof(bytes));
	for (size_t from = 0; from < 8; from++) {
		for (size_t len = 0; from + len <= sizeof(bytes); len++) {
			uint32_t crc = (uint32_t)test_rand();

			assert_u_eq(mw_crc32_update(crc, bytes + from, len),
				    bitwise(crc, bytes + from, len));
		}
	}
}

TEST(mw_crc32_update, continues_where_it_stopped)
{
	uint8_t bytes[61];
	uint32_t whole;

	test_rand_bytes(bytes, sizeof(bytes));
	whole = mw_crc32_update(1, bytes, sizeof(bytes));
	for (size_t cut = 0; cut <= sizeof(bytes); cut++) {
		uint32_t crc = mw_crc32_update(1, bytes, cut);

		assert_u_eq(mw_crc32_update(crc, bytes + cut, sizeof(bytes) - cut), whole);
	}
}
