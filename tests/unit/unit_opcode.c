/* SPDX-License-Identifier: BSD-2-Clause */
/* The opcode table, row by row. */
#include "support/test.h"

#include "wire/opcode.h"
#include "wire/packet.h"

#define WRITE (MW_OP_DATA | MW_OP_TO_RSP)
#define SEND (WRITE | MW_OP_SEND)

static const struct {
	uint8_t opcode;
	const char *name;
	unsigned flags;
	unsigned ext_len;
} rows[] = {
	{0xC6, "WRITE_FIRST", WRITE | MW_OP_START, 20},
	{0xC7, "WRITE_MIDDLE", WRITE, 20},
	{0xC8, "WRITE_LAST", WRITE | MW_OP_END, 20},
	{0xC9, "WRITE_LAST_IMM", WRITE | MW_OP_END | MW_OP_IMM, 24},
	{0xCA, "WRITE_ONLY", WRITE | MW_OP_START | MW_OP_END, 20},
	{0xCB, "WRITE_ONLY_IMM", WRITE | MW_OP_START | MW_OP_END | MW_OP_IMM, 24},
	{0xD1, "ACK", MW_OP_TO_REQ, 4},
	{0xD8, "EP_REQUEST", MW_OP_ENDPOINT, 16},
	{0xD9, "EP_RESPONSE", MW_OP_ENDPOINT, 36},
	{0xDC, "SACK", MW_OP_TO_REQ, 36},
	{0xDD, "NACK", MW_OP_TO_REQ, 20},
	{0xDE, "PROBE", MW_OP_TO_RSP, 16},
	{0xE0, "SEND_FIRST", SEND | MW_OP_START, 20},
	{0xE1, "SEND_MIDDLE", SEND, 20},
	{0xE2, "SEND_LAST", SEND | MW_OP_END, 20},
	{0xE3, "SEND_LAST_IMM", SEND | MW_OP_END | MW_OP_IMM, 24},
	{0xE4, "SEND_ONLY", SEND | MW_OP_START | MW_OP_END, 20},
	{0xE5, "SEND_ONLY_IMM", SEND | MW_OP_START | MW_OP_END | MW_OP_IMM, 24},
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* REQ(wire.opcode.values) REQ(wire.opcode.headers) REQ(ext.opcodes) */
TEST(mw_opcode_info, rows)
{
	for (size_t i = 0; i < ROWS; i++) {
		const struct mw_opcode_info *info = mw_opcode_info(rows[i].opcode);

		assert_string_equal(info->name, rows[i].name);
		assert_u_eq(info->flags, rows[i].flags);
		assert_u_eq(info->ext_len, rows[i].ext_len);
	}
}

/* REQ(wire.opcode.prefix) REQ(wire.opcode.unknown) REQ(svc.no-rc-interop) */
TEST(mw_opcode_info, every_other_byte_is_unknown)
{
	size_t known = 0;

	for (unsigned opcode = 0; opcode < 256; opcode++) {
		const struct mw_opcode_info *info = mw_opcode_info((uint8_t)opcode);

		known += info->flags != 0;
		if (info->flags == 0) {
			assert_string_equal(info->name, "UNKNOWN");
			assert_u_eq(info->ext_len, 0);
		}
	}
	assert_u_eq(known, ROWS);
}
