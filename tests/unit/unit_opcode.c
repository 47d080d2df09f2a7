/* SPDX-License-Identifier: BSD-2-Clause */
/* The opcode table, row by row. */
#include "support/test.h"

#include "wire/packet.h"

#define WRITE (MW_OP_DATA | MW_OP_TO_RSP)
#define SEND (WRITE | MW_OP_EXT | MW_OP_SEND)
#define ONE (MW_OP_START | MW_OP_END)
#define IMM (MW_OP_IMM | MW_OP_EXT_WORD)
#define INV (MW_OP_INV | MW_OP_EXT_WORD)
#define REQUEST (WRITE | MW_OP_EXT | MW_OP_REQUEST | ONE)
#define RESPONSE (WRITE | MW_OP_EXT | MW_OP_RESPONSE)

static const struct {
	uint8_t opcode;
	const char *name;
	unsigned flags;
	unsigned ext_len;
} rows[] = {
	{0xC6, "WRITE_FIRST", WRITE | MW_OP_START, 20},
	{0xC7, "WRITE_MIDDLE", WRITE, 20},
	{0xC8, "WRITE_LAST", WRITE | MW_OP_END, 20},
	{0xC9, "WRITE_LAST_IMM", WRITE | MW_OP_END | IMM, 24},
	{0xCA, "WRITE_ONLY", WRITE | MW_OP_START | MW_OP_END, 20},
	{0xCB, "WRITE_ONLY_IMM", WRITE | ONE | IMM, 24},
	{0xD1, "ACK", MW_OP_TO_REQ, 4},
	{0xD8, "EP_REQUEST", MW_OP_ENDPOINT, 16},
	{0xD9, "EP_RESPONSE", MW_OP_ENDPOINT, 36},
	{0xDC, "SACK", MW_OP_TO_REQ, 36},
	{0xDD, "NACK", MW_OP_TO_REQ, 20},
	{0xDE, "PROBE", MW_OP_TO_RSP, 16},
	{0xE0, "SEND_FIRST", SEND | MW_OP_START, 20},
	{0xE1, "SEND_MIDDLE", SEND, 20},
	{0xE2, "SEND_LAST", SEND | MW_OP_END, 20},
	{0xE3, "SEND_LAST_IMM", SEND | MW_OP_END | IMM, 24},
	{0xE4, "SEND_ONLY", SEND | MW_OP_START | MW_OP_END, 20},
	{0xE5, "SEND_ONLY_IMM", SEND | ONE | IMM, 24},
	{0xEC, "READ_REQUEST", REQUEST | MW_OP_EXT_WORD, 24},
	{0xED, "READ_RESPONSE_FIRST", RESPONSE | MW_OP_START, 20},
	{0xEE, "READ_RESPONSE_MIDDLE", RESPONSE, 20},
	{0xEF, "READ_RESPONSE_LAST", RESPONSE | MW_OP_END, 20},
	{0xF0, "READ_RESPONSE_ONLY", RESPONSE | ONE, 20},
	{0xF1, "RESPONSE_ACK", MW_OP_TO_REQ | MW_OP_RESPONSE, 4},
	{0xF2, "ATOMIC_RESPONSE", RESPONSE | ONE, 20},
	{0xF3, "COMPARE_SWAP", REQUEST, 20},
	{0xF4, "FETCH_ADD", REQUEST, 20},
	{0xF5, "ATOMIC_WRITE", REQUEST, 20},
	{0xF6, "SEND_LAST_INV", SEND | MW_OP_END | INV, 24},
	{0xF7, "SEND_ONLY_INV", SEND | ONE | INV, 24},
	{0xFC, "RESPONSE_SACK", MW_OP_TO_REQ | MW_OP_RESPONSE, 36},
	{0xFD, "RESPONSE_NACK", MW_OP_TO_REQ | MW_OP_RESPONSE, 20},
	{0xFE, "RESPONSE_PROBE", MW_OP_TO_RSP | MW_OP_RESPONSE, 16},
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
