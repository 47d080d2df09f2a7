/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * opcode.h - what each opcode means, as one table: those of MRC, 0b110 in the high three bits, and
 * those of the extension of docs/protocol.md, 0b111, which a strict MRC endpoint does not know.
 *
 * Decoder, encoder, printer and the protocol core all ask this table, so that there is no second
 * place that knows which headers an opcode carries.
 */
#ifndef SOFTMRC_WIRE_OPCODE_H
#define SOFTMRC_WIRE_OPCODE_H

#include <stdint.h>

enum mw_opcode_flags {
	MW_OP_DATA = 1u << 0,	   /* METH, [TSETH], RETH, payload */
	MW_OP_START = 1u << 1,	   /* first packet of its message */
	MW_OP_END = 1u << 2,	   /* last packet of its message */
	MW_OP_IMM = 1u << 3,	   /* carries immediate data */
	MW_OP_TO_REQ = 1u << 4,	   /* goes to the requester half of a QP: ACK, SACK, NACK */
	MW_OP_TO_RSP = 1u << 5,	   /* goes to the responder half: data and probes */
	MW_OP_ENDPOINT = 1u << 6,  /* belongs to no QP: endpoint request and response */
	MW_OP_EXT = 1u << 15,	   /* data of the extension: no rkey says where payload goes */
	MW_OP_SEND = 1u << 8,	   /* goes to a receive */
	MW_OP_REQUEST = 1u << 9,   /* READ or atomic: it will be answered */
	MW_OP_RESPONSE = 1u << 10, /* in the PSNs of responses: response, or control packet */
	MW_OP_INV = 1u << 11,	   /* carries the rkey of a window that it invalidates */
	MW_OP_EXT_WORD = 1u << 7,  /* 4 bytes behind the RETH: immediate, length of a READ, rkey */
};

/* Which extension header follows the BTH: a member of the union of struct mw_packet. */
enum mw_header_kind {
	MW_HDR_DATA, /* METH, [TSETH], RETH, [immediate] */
	MW_HDR_AETH,
	MW_HDR_SETH,
	MW_HDR_NETH,
	MW_HDR_PETH,
	MW_HDR_ERTH,
	MW_HDR_EETH,
};

struct mw_opcode_info {
	const char *name;
	uint16_t flags;	 /* enum mw_opcode_flags; 0: not an opcode */
	uint8_t ext_len; /* bytes of extension headers after the BTH, TSETH not counted */
	uint8_t kind;	 /* enum mw_header_kind */
};

/* mw_opcode_info returns the row of any byte; flags is 0 where no opcode is defined. */
const struct mw_opcode_info *mw_opcode_info(uint8_t opcode);

#endif
