/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_packet.h - MRC packets as IPv6 frames, written down once more from docs/requirements.toml
 * and docs/protocol.md. Nothing of src/wire is used here.
 */
#ifndef PEER_PACKET_H
#define PEER_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum peer_opcode {
	PEER_WRITE_FIRST = 0xC6,
	PEER_WRITE_MIDDLE = 0xC7,
	PEER_WRITE_LAST = 0xC8,
	PEER_WRITE_LAST_IMM = 0xC9,
	PEER_WRITE_ONLY = 0xCA,
	PEER_WRITE_ONLY_IMM = 0xCB,
	PEER_ACK = 0xD1,
	PEER_EP_REQUEST = 0xD8,
	PEER_EP_RESPONSE = 0xD9,
	PEER_SACK = 0xDC,
	PEER_NACK = 0xDD,
	PEER_PROBE = 0xDE,
	PEER_SEND_FIRST = 0xE0,
	PEER_SEND_MIDDLE = 0xE1,
	PEER_SEND_LAST = 0xE2,
	PEER_SEND_LAST_IMM = 0xE3,
	PEER_SEND_ONLY = 0xE4,
	PEER_SEND_ONLY_IMM = 0xE5,
	PEER_READ_REQUEST = 0xEC,
	PEER_READ_FIRST = 0xED,
	PEER_READ_MIDDLE = 0xEE,
	PEER_READ_LAST = 0xEF,
	PEER_READ_ONLY = 0xF0,
	PEER_ATOMIC_RESPONSE = 0xF2,
	PEER_COMPARE_SWAP = 0xF3,
	PEER_FETCH_ADD = 0xF4,
	PEER_ATOMIC_WRITE = 0xF5,
	PEER_SEND_LAST_INV = 0xF6,
	PEER_SEND_ONLY_INV = 0xF7,
};

/* Added to ACK, SACK, NACK and PROBE in the PSNs of responses. */
#define PEER_RESPONSE_BIT 0x20u

enum peer_nack_reason {
	PEER_TRIMMED = 0x01,
	PEER_TRIMMED_LASTHOP = 0x02,
	PEER_NO_BITMAP = 0x06,
	PEER_NO_PKT_BUFFER = 0x07,
	PEER_NO_RESOURCE = 0x0A,
	PEER_PSN_OOR_WINDOW = 0x0B,
	PEER_UNEXP_EVENT = 0x19,
	PEER_RNR = 0x80,
};

enum peer_syndrome {
	PEER_ACK_POSITIVE = 0x1F,
	PEER_NAK_INVALID_REQUEST = 0x61,
	PEER_NAK_ACCESS = 0x62,
	PEER_NAK_OPERATION = 0x63,
};

enum peer_dscp {
	PEER_DSCP_NO_TRIM = 0,
	PEER_DSCP_TRIMMABLE = 4,
	PEER_DSCP_RETX = 8,
	PEER_DSCP_TRIMMED = 12,
	PEER_DSCP_TRIMMED_LASTHOP = 16,
	PEER_DSCP_CONTROL = 46,
};

#define PEER_PSN_MASK 0xFFFFFFu
#define PEER_CARRIER_BYTES 48u /* IPv6 and UDP */
#define PEER_FRAME_MAX 4352u

/* All fields of all headers; which of them count, the opcode says. */
struct peer_packet {
	/* IPv6, UDP */
	uint8_t src[16], dst[16];
	uint8_t dscp, ecn;
	uint32_t ev; /* UDP source port, then 16 bits of the flow label */
	/* BTH */
	uint8_t opcode, pad;
	bool solicited, migration, ack_request, rtx, has_stamp;
	bool reserved; /* reserved bits are 1, or a field that is fixed has another value */
	uint32_t dqp, psn;
	uint16_t p_key;
	/* METH, TSETH, RETH, and the word behind it: immediate, or length of a READ */
	uint16_t rqmsn, msn, stamp;
	bool tsr;
	uint64_t va;
	uint32_t rkey, dmalen, word;
	const uint8_t *payload;
	uint32_t payload_len;
	/* AETH */
	uint8_t syndrome;
	uint32_t ack_msn;
	/* SETH with congestion state, NETH, PETH, ERTH, EETH */
	uint8_t m, mpr, reason, vendor, op, penalty, extension;
	bool pr, restore;
	int16_t ack_psn_offset, sack_offset;
	uint32_t entropy, cack_psn, nack_psn, rcvd, port_mask;
	uint64_t bitmap;
	uint16_t ooo, probe_id, spdcid, dpdcid;
};

struct peer_frame {
	size_t len;
	uint8_t bytes[PEER_FRAME_MAX];
};

/* What is wrong with a frame. */
enum peer_verdict {
	PEER_OK,
	PEER_CUT,	/* it was trimmed: only what precedes the RETH counts */
	PEER_BAD_ICRC,	/* or too short to have one */
	PEER_MALFORMED, /* a peer that sends this is wrong */
};

bool peer_opcode_is_data(uint8_t opcode);     /* takes a PSN, in either space */
bool peer_opcode_is_response(uint8_t opcode); /* of the PSNs of responses, control packets too */
bool peer_opcode_ends(uint8_t opcode);	      /* the last packet of its message */
bool peer_opcode_begins(uint8_t opcode);      /* the first packet of a SEND */
bool peer_opcode_has_imm(uint8_t opcode);
bool peer_opcode_has_inv(uint8_t opcode); /* names a key that it makes invalid */
bool peer_opcode_is_send(uint8_t opcode);
/* peer_opcode_is_request: a READ or an atomic. */
bool peer_opcode_is_request(uint8_t opcode);

/* peer_packet_encode writes a whole frame with pad and ICRC. */
void peer_packet_encode(const struct peer_packet *p, struct peer_frame *f);
/*
 * peer_packet_decode reads one; payload points into the frame. *why is set with PEER_MALFORMED.
 */
enum peer_verdict peer_packet_decode(const struct peer_frame *f, bool allow_extension,
				     struct peer_packet *p, const char **why);
/* peer_frame_icrc_ok checks the last four bytes of a frame. */
bool peer_frame_icrc_ok(const struct peer_frame *f);
/*
 * Of a data packet: UDP, BTH, the extension without a time stamp, RETH and ICRC, and 40 for IP. So
 * much every one has.
 */
#define PEER_HEADERS_LEAST (8u + 12u + 4u + 16u + 4u + 40u)
/* peer_packet_nominal returns UDP length + 40, the size by which congestion control counts. */
uint32_t peer_packet_nominal(const struct peer_packet *p);

#endif
