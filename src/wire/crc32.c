/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crc32.c - CRC-32 of Ethernet (polynomial 0x04C11DB7, reflected), eight bytes a step.
 *
 * table[k][b] is what byte b leaves in the register when k more bytes follow it. Eight bytes are
 * then eight independent look-ups joined by XOR, instead of a chain of eight.
 *
 * The CRC is linear, so table[k][b] is the XOR of the entries of b's single bits, and those 64
 * entries are one sequence: bit 7 of the last byte leaves the polynomial itself, and each bit that
 * entered one place earlier has gone through one more step of the register. Only that sequence is
 * written down; the preprocessor adds the 2048 entries up from it.
 */
#include "wire/icrc.h"

#include "base/bytes.h"

/* What byte b leaves, given what its bits 7, 6, .. 0 leave. */
#define BIT(b, i, left) ((b) >> (i)&1u ? (left) : 0u)
#define BYTE(b, b7, b6, b5, b4, b3, b2, b1, b0)                                          \
	(BIT(b, 7, b7) ^ BIT(b, 6, b6) ^ BIT(b, 5, b5) ^ BIT(b, 4, b4) ^ BIT(b, 3, b3) ^ \
	 BIT(b, 2, b2) ^ BIT(b, 1, b1) ^ BIT(b, 0, b0))

#define BYTES_4(b, ...)                                                                 \
	BYTE(b, __VA_ARGS__), BYTE((b) + 1u, __VA_ARGS__), BYTE((b) + 2u, __VA_ARGS__), \
		BYTE((b) + 3u, __VA_ARGS__)
#define BYTES_16(b, ...)                                                                         \
	BYTES_4(b, __VA_ARGS__), BYTES_4((b) + 4u, __VA_ARGS__), BYTES_4((b) + 8u, __VA_ARGS__), \
		BYTES_4((b) + 12u, __VA_ARGS__)
#define BYTES_64(b, ...)                                            \
	BYTES_16(b, __VA_ARGS__), BYTES_16((b) + 16u, __VA_ARGS__), \
		BYTES_16((b) + 32u, __VA_ARGS__), BYTES_16((b) + 48u, __VA_ARGS__)
#define BYTES_256(...)                                                           \
	{                                                                        \
		BYTES_64(0u, __VA_ARGS__), BYTES_64(64u, __VA_ARGS__),           \
			BYTES_64(128u, __VA_ARGS__), BYTES_64(192u, __VA_ARGS__) \
	}

/* One row a byte position, beginning with the polynomial. */
/* clang-format off */
static const uint32_t table[8][256] = {
	BYTES_256(0xEDB88320, 0x76DC4190, 0x3B6E20C8, 0x1DB71064,
		  0x0EDB8832, 0x076DC419, 0xEE0E612C, 0x77073096),
	BYTES_256(0x3B83984B, 0xF0794F05, 0x958424A2, 0x4AC21251,
		  0xC8D98A08, 0x646CC504, 0x32366282, 0x191B3141),
	BYTES_256(0xE1351B80, 0x709A8DC0, 0x384D46E0, 0x1C26A370,
		  0x0E1351B8, 0x0709A8DC, 0x0384D46E, 0x01C26A37),
	BYTES_256(0xED59B63B, 0x9B14583D, 0xA032AF3E, 0x5019579F,
		  0xC5B428EF, 0x8F629757, 0xAA09C88B, 0xB8BC6765),
	BYTES_256(0xB1E6B092, 0x58F35849, 0xC1C12F04, 0x60E09782,
		  0x30704BC1, 0xF580A6C0, 0x7AC05360, 0x3D6029B0),
	BYTES_256(0x1EB014D8, 0x0F580A6C, 0x07AC0536, 0x03D6029B,
		  0xEC53826D, 0x9B914216, 0x4DC8A10B, 0xCB5CD3A5),
	BYTES_256(0x8816EAF2, 0x440B7579, 0xCFBD399C, 0x67DE9CCE,
		  0x33EF4E67, 0xF44F2413, 0x979F1129, 0xA6770BB4),
	BYTES_256(0x533B85DA, 0x299DC2ED, 0xF9766256, 0x7CBB312B,
		  0xD3E51BB5, 0x844A0EFA, 0x4225077D, 0xCCAA009E),
};
/* clang-format on */

static uint32_t reverse_bytes(uint32_t v)
{
	return v << 24 | (v << 8 & 0xFF0000) | (v >> 8 & 0xFF00) | v >> 24;
}

/* The register is reflected: its low byte meets the first byte in memory. */
static uint32_t update_8(uint32_t crc, const uint8_t *p)
{
	uint64_t v = mb_load_be64(p) ^ (uint64_t)reverse_bytes(crc) << 32;

	return table[7][v >> 56] ^ table[6][v >> 48 & 0xFF] ^ table[5][v >> 40 & 0xFF] ^
	       table[4][v >> 32 & 0xFF] ^ table[3][v >> 24 & 0xFF] ^ table[2][v >> 16 & 0xFF] ^
	       table[1][v >> 8 & 0xFF] ^ table[0][v & 0xFF];
}

uint32_t mw_crc32_update(uint32_t crc, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;

	for (; len >= 8; len -= 8, p += 8)
		crc = update_8(crc, p);
	for (; len > 0; len--, p++)
		crc = table[0][(crc ^ *p) & 0xFF] ^ crc >> 8;
	return crc;
}
