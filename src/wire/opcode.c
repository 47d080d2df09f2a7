/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * opcode.c - the opcode table, indexed by the low six bits. The high three mark MRC, 0b110, or the
 * extension, 0b111; both are among those that InfiniBand leaves to manufacturers.
 */
#include "wire/opcode.h"

#include "wire/aeth.h"
#include "wire/data.h"
#include "wire/eeth.h"
#include "wire/erth.h"
#include "wire/neth.h"
#include "wire/packet.h"
#include "wire/peth.h"
#include "wire/seth.h"

/* REQ(wire.opcode.prefix) */
#define PREFIX 0xC0u
#define PREFIX_MASK 0xC0u
#define INDEX_MASK 0x3Fu

#define WRITE (MW_OP_DATA | MW_OP_TO_RSP)
#define SEND (WRITE | MW_OP_EXT | MW_OP_SEND)
#define IMM (MW_OP_IMM | MW_OP_EXT_WORD)
#define INV (MW_OP_INV | MW_OP_EXT_WORD)
#define REQUEST (WRITE | MW_OP_EXT | MW_OP_REQUEST | MW_OP_START | MW_OP_END)
#define RESPONSE (WRITE | MW_OP_EXT | MW_OP_RESPONSE)
#define WRITE_BYTES (MW_METH_BYTES + MW_RETH_BYTES)

/* The name of a row is the enumerator without its MW_. */
#define ROW(opcode, flags, ext_len) [(opcode)&INDEX_MASK] = {&#opcode[3], flags, ext_len}

/* REQ(wire.opcode.headers) */
static const struct mw_opcode_info rows[INDEX_MASK + 1] = {
	ROW(MW_WRITE_FIRST, WRITE | MW_OP_START, WRITE_BYTES),
	ROW(MW_WRITE_MIDDLE, WRITE, WRITE_BYTES),
	ROW(MW_WRITE_LAST, WRITE | MW_OP_END, WRITE_BYTES),
	ROW(MW_WRITE_LAST_IMM, WRITE | MW_OP_END | IMM, WRITE_BYTES + MW_IMM_BYTES),
	ROW(MW_WRITE_ONLY, WRITE | MW_OP_START | MW_OP_END, WRITE_BYTES),
	ROW(MW_WRITE_ONLY_IMM, WRITE | MW_OP_START | MW_OP_END | IMM, WRITE_BYTES + MW_IMM_BYTES),
	ROW(MW_ACK, MW_OP_TO_REQ, MW_AETH_BYTES),
	ROW(MW_EP_REQUEST, MW_OP_ENDPOINT, MW_ERTH_BYTES),
	ROW(MW_EP_RESPONSE, MW_OP_ENDPOINT, MW_EETH_BYTES),
	ROW(MW_SACK, MW_OP_TO_REQ, MW_SETH_BYTES),
	ROW(MW_NACK, MW_OP_TO_REQ, MW_NETH_BYTES),
	ROW(MW_PROBE, MW_OP_TO_RSP, MW_PETH_BYTES),
	/* REQ(ext.opcodes) */
	ROW(MW_SEND_FIRST, SEND | MW_OP_START, WRITE_BYTES),
	ROW(MW_SEND_MIDDLE, SEND, WRITE_BYTES),
	ROW(MW_SEND_LAST, SEND | MW_OP_END, WRITE_BYTES),
	ROW(MW_SEND_LAST_IMM, SEND | MW_OP_END | IMM, WRITE_BYTES + MW_IMM_BYTES),
	ROW(MW_SEND_ONLY, SEND | MW_OP_START | MW_OP_END, WRITE_BYTES),
	ROW(MW_SEND_ONLY_IMM, SEND | MW_OP_START | MW_OP_END | IMM, WRITE_BYTES + MW_IMM_BYTES),
	ROW(MW_READ_REQUEST, REQUEST | MW_OP_EXT_WORD, WRITE_BYTES + MW_IMM_BYTES),
	ROW(MW_READ_RESPONSE_FIRST, RESPONSE | MW_OP_START, WRITE_BYTES),
	ROW(MW_READ_RESPONSE_MIDDLE, RESPONSE, WRITE_BYTES),
	ROW(MW_READ_RESPONSE_LAST, RESPONSE | MW_OP_END, WRITE_BYTES),
	ROW(MW_READ_RESPONSE_ONLY, RESPONSE | MW_OP_START | MW_OP_END, WRITE_BYTES),
	ROW(MW_ATOMIC_RESPONSE, RESPONSE | MW_OP_START | MW_OP_END, WRITE_BYTES),
	ROW(MW_COMPARE_SWAP, REQUEST, WRITE_BYTES),
	ROW(MW_FETCH_ADD, REQUEST, WRITE_BYTES),
	ROW(MW_ATOMIC_WRITE, REQUEST, WRITE_BYTES),
	ROW(MW_SEND_LAST_INV, SEND | MW_OP_END | INV, WRITE_BYTES + MW_IMM_BYTES),
	ROW(MW_SEND_ONLY_INV, SEND | MW_OP_START | MW_OP_END | INV, WRITE_BYTES + MW_IMM_BYTES),
	ROW(MW_RESPONSE_ACK, MW_OP_TO_REQ | MW_OP_RESPONSE, MW_AETH_BYTES),
	ROW(MW_RESPONSE_SACK, MW_OP_TO_REQ | MW_OP_RESPONSE, MW_SETH_BYTES),
	ROW(MW_RESPONSE_NACK, MW_OP_TO_REQ | MW_OP_RESPONSE, MW_NETH_BYTES),
	ROW(MW_RESPONSE_PROBE, MW_OP_TO_RSP | MW_OP_RESPONSE, MW_PETH_BYTES),
};

static const struct mw_opcode_info unknown = {"UNKNOWN", 0, 0};

/* REQ(svc.no-rc-interop) */
const struct mw_opcode_info *mw_opcode_info(uint8_t opcode)
{
	const struct mw_opcode_info *row = &rows[opcode & INDEX_MASK];

	return (opcode & PREFIX_MASK) == PREFIX && row->flags ? row : &unknown;
}
