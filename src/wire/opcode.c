/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * opcode.c - the opcode table, indexed by the low six bits. The high three mark MRC, 0b110, or the
 * extension, 0b111; both are among those that InfiniBand leaves to manufacturers.
 */
#include "wire/opcode.h"

#include "wire/headers.h"

#define SEND (MW_OP_EXT | MW_OP_SEND)
#define IMM (MW_OP_IMM | MW_OP_EXT_WORD)
#define INV (MW_OP_INV | MW_OP_EXT_WORD)
#define REQUEST (MW_OP_EXT | MW_OP_REQUEST | MW_OP_START | MW_OP_END)
#define RESPONSE (MW_OP_EXT | MW_OP_RESPONSE)
#define WRITE_BYTES (MW_METH_BYTES + MW_RETH_BYTES)

/* The name of a row is the enumerator without its MW_. */
#define ROW(opcode, flags, ext_len, kind) \
	[(opcode)&MW_OPCODE_ROW_MASK] = {&#opcode[3], flags, ext_len, MW_HDR_##kind}
#define DATA(opcode, flags)                              \
	ROW(opcode, MW_OP_DATA | MW_OP_TO_RSP | (flags), \
	    WRITE_BYTES + ((flags)&MW_OP_EXT_WORD ? MW_IMM_BYTES : 0), DATA)
#define CONTROL(opcode, flags, kind) ROW(opcode, flags, MW_##kind##_BYTES, kind)
#define NO_OPCODE                 \
	{                         \
		.name = "UNKNOWN" \
	}
#define NO_OPCODES_2(i) [i] = NO_OPCODE, [(i) + 1] = NO_OPCODE
#define NO_OPCODES_4(i) NO_OPCODES_2(i), NO_OPCODES_2((i) + 2)

/* REQ(wire.opcode.headers) */
const struct mw_opcode_info mw_opcode_rows[MW_OPCODE_ROW_MASK + 1] = {
	DATA(MW_WRITE_FIRST, MW_OP_START),
	DATA(MW_WRITE_MIDDLE, 0),
	DATA(MW_WRITE_LAST, MW_OP_END),
	DATA(MW_WRITE_LAST_IMM, MW_OP_END | IMM),
	DATA(MW_WRITE_ONLY, MW_OP_START | MW_OP_END),
	DATA(MW_WRITE_ONLY_IMM, MW_OP_START | MW_OP_END | IMM),
	CONTROL(MW_ACK, MW_OP_TO_REQ, AETH),
	CONTROL(MW_EP_REQUEST, MW_OP_ENDPOINT, ERTH),
	CONTROL(MW_EP_RESPONSE, MW_OP_ENDPOINT, EETH),
	CONTROL(MW_SACK, MW_OP_TO_REQ, SETH),
	CONTROL(MW_NACK, MW_OP_TO_REQ, NETH),
	CONTROL(MW_PROBE, MW_OP_TO_RSP, PETH),
	/* REQ(ext.opcodes) */
	DATA(MW_SEND_FIRST, SEND | MW_OP_START),
	DATA(MW_SEND_MIDDLE, SEND),
	DATA(MW_SEND_LAST, SEND | MW_OP_END),
	DATA(MW_SEND_LAST_IMM, SEND | MW_OP_END | IMM),
	DATA(MW_SEND_ONLY, SEND | MW_OP_START | MW_OP_END),
	DATA(MW_SEND_ONLY_IMM, SEND | MW_OP_START | MW_OP_END | IMM),
	DATA(MW_READ_REQUEST, REQUEST | MW_OP_EXT_WORD),
	DATA(MW_READ_RESPONSE_FIRST, RESPONSE | MW_OP_START),
	DATA(MW_READ_RESPONSE_MIDDLE, RESPONSE),
	DATA(MW_READ_RESPONSE_LAST, RESPONSE | MW_OP_END),
	DATA(MW_READ_RESPONSE_ONLY, RESPONSE | MW_OP_START | MW_OP_END),
	DATA(MW_ATOMIC_RESPONSE, RESPONSE | MW_OP_START | MW_OP_END),
	DATA(MW_COMPARE_SWAP, REQUEST),
	DATA(MW_FETCH_ADD, REQUEST),
	DATA(MW_ATOMIC_WRITE, REQUEST),
	DATA(MW_SEND_LAST_INV, SEND | MW_OP_END | INV),
	DATA(MW_SEND_ONLY_INV, SEND | MW_OP_START | MW_OP_END | INV),
	CONTROL(MW_RESPONSE_ACK, MW_OP_TO_REQ | MW_OP_RESPONSE, AETH),
	CONTROL(MW_RESPONSE_SACK, MW_OP_TO_REQ | MW_OP_RESPONSE, SETH),
	CONTROL(MW_RESPONSE_NACK, MW_OP_TO_REQ | MW_OP_RESPONSE, NETH),
	CONTROL(MW_RESPONSE_PROBE, MW_OP_TO_RSP | MW_OP_RESPONSE, PETH),
	NO_OPCODES_4(0x00),
	NO_OPCODES_2(0x04),
	NO_OPCODES_4(0x0C),
	[0x10] = NO_OPCODE,
	NO_OPCODES_4(0x12),
	NO_OPCODES_2(0x16),
	NO_OPCODES_2(0x1A),
	[0x1F] = NO_OPCODE,
	NO_OPCODES_4(0x26),
	NO_OPCODES_2(0x2A),
	NO_OPCODES_4(0x38),
	[0x3F] = NO_OPCODE,
};

const struct mw_opcode_info *mw_opcode_info(uint8_t opcode)
{
	return mw_opcode_row(opcode);
}
