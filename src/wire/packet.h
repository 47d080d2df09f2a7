/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packet.h - one MRC packet as a host-order struct, and the way to and from bytes.
 *
 * A packet is decoded once, where it enters, and encoded once, where it leaves. Between the two
 * everything works on struct mw_packet; nothing above wire/ touches byte order. The struct holds
 * the BTH, the headers that the opcode calls for and the length of the payload; the payload
 * itself stays where it is and is never copied by this layer.
 */
#ifndef SOFTMRC_WIRE_PACKET_H
#define SOFTMRC_WIRE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* BTH opcodes (mrc: opcode[7:5] = 0b110). REQ(wire.opcode.values) */
enum mw_opcode {
	MW_WRITE_FIRST = 0xC6,
	MW_WRITE_MIDDLE = 0xC7,
	MW_WRITE_LAST = 0xC8,
	MW_WRITE_LAST_IMM = 0xC9,
	MW_WRITE_ONLY = 0xCA,
	MW_WRITE_ONLY_IMM = 0xCB,
	MW_ACK = 0xD1,
	MW_EP_REQUEST = 0xD8,
	MW_EP_RESPONSE = 0xD9,
	MW_SACK = 0xDC,
	MW_NACK = 0xDD,
	MW_PROBE = 0xDE,
	/* Of the extension, see docs/protocol.md. REQ(ext.opcodes) */
	MW_SEND_FIRST = 0xE0,
	MW_SEND_MIDDLE = 0xE1,
	MW_SEND_LAST = 0xE2,
	MW_SEND_LAST_IMM = 0xE3,
	MW_SEND_ONLY = 0xE4,
	MW_SEND_ONLY_IMM = 0xE5,
	MW_READ_REQUEST = 0xEC,
	MW_READ_RESPONSE_FIRST = 0xED,
	MW_READ_RESPONSE_MIDDLE = 0xEE,
	MW_READ_RESPONSE_LAST = 0xEF,
	MW_READ_RESPONSE_ONLY = 0xF0,
	MW_ATOMIC_RESPONSE = 0xF2,
	MW_COMPARE_SWAP = 0xF3,
	MW_FETCH_ADD = 0xF4,
	MW_ATOMIC_WRITE = 0xF5, /* not as InfiniBand: that value is an answer's */
	MW_SEND_LAST_INV = 0xF6,
	MW_SEND_ONLY_INV = 0xF7,
	/* Of the responses' own PSNs: as MW_ACK, MW_SACK, MW_NACK, MW_PROBE. */
	MW_RESPONSE_ACK = 0xF1,
	MW_RESPONSE_SACK = 0xFC,
	MW_RESPONSE_NACK = 0xFD,
	MW_RESPONSE_PROBE = 0xFE,
};

/* What makes the opcode of a control packet one of the responses' own PSNs. */
#define MW_RESPONSE_BIT 0x20u

/*
 * What an end of a connection knows beyond MRC, in a byte that MRC reserves: of its probes, and of
 * its answers to probes. The version is in the high two bits; 0 there is plain MRC.
 * REQ(ext.agreement)
 */
#define MW_EXT_VERSION_MASK 0xC0u
#define MW_EXT_VERSION 0x40u
enum mw_ext {
	MW_EXT_SEND = 1u << 0,	 /* SEND, and receivers that are not ready may say so */
	MW_EXT_READ = 1u << 1,	 /* READ */
	MW_EXT_ATOMIC = 1u << 2, /* COMPARE_SWAP and FETCH_ADD */
	MW_EXT_INV = 1u << 3,	 /* SEND that invalidates a memory window; with MW_EXT_SEND */
	MW_EXT_ATOMIC_WRITE = 1u << 4,
};

/* QPNs are 24 bits; 0 and 1 are IBTA's, 2 is the endpoint itself. */
#define MW_QPN_ENDPOINT 2u
#define MW_QPN_FIRST 3u
#define MW_QPN_MAX 0xFFFFFFu
#define MW_P_KEY_DEFAULT 0xFFFFu
/* The only frame type of a TSETH that is defined. */
#define MW_FTYPE_TIMESTAMP 1u

/* Base Transport Header, 12 bytes. */
struct mw_bth {
	uint8_t opcode;	 /* enum mw_opcode */
	bool se;	 /* solicited event */
	bool m;		 /* migration state; MRC ignores it */
	uint8_t pad;	 /* pad bytes after the payload, 0..3 */
	uint8_t tver;	 /* transport header version, 0 */
	uint16_t p_key;	 /* 0xFFFF: the default partition */
	uint8_t var_res; /* variant reserved byte; outside the ICRC */
	uint32_t dqp;	 /* destination QP number, 24 bits */
	bool a;		 /* AckReq: a SACK is wanted at once */
	bool r;		 /* reserved bit 6 */
	bool rtx;	 /* this packet is a retransmission (in a SACK: its trigger was) */
	bool ts;	 /* a TSETH follows the METH */
	uint8_t inv_res; /* invariant reserved, 4 bits */
	uint32_t psn;	 /* 24 bits */
};

/* MRC extended header: message numbers, 4 bytes, in every data packet. */
struct mw_meth {
	uint16_t rqmsn; /* number of messages before this one that take a receive: WRITE_WITH_IMM,
			   and SEND of the extension */
	uint16_t msn;	/* number of messages before this one */
};

/* Timestamp header, 4 bytes, present when bth.ts is set; also the tail of PETH and ERTH. */
struct mw_tseth {
	uint16_t tx_timestamp; /* in units of 128 ns when tsr is 0 */
	bool tsr;	       /* 1: another, implementation-defined resolution */
	uint8_t ftype;	       /* 1: timestamp */
};

/* RDMA header, 16 bytes, in every data packet. */
struct mw_reth {
	/*
	 * Where this packet's payload goes; SEND, READ RESPONSE: its offset in the message. READ
	 * REQUEST, atomics: what is read or changed. ATOMIC RESPONSE: the value that was there.
	 */
	uint64_t va;
	uint32_t rkey;	 /* SEND, responses: 0 */
	uint32_t dmalen; /* length of the whole message in bytes, the same in all its packets */
};

/*
 * AETH syndromes: what it is in the upper three bits, credits or an error code in the others. An
 * RNR NAK, kind 1, does not exist in MRC. REQ(wire.aeth.layout)
 */
#define MW_SYNDROME_KIND_SHIFT 5u
#define MW_SYNDROME_ACK 0u /* kind */
#define MW_SYNDROME_NAK 3u /* kind */
enum mw_syndrome {
	MW_ACK_NO_CREDIT = 0x1F,
	MW_NAK_INVALID_REQUEST = 0x61,
	MW_NAK_REMOTE_ACCESS = 0x62,
	MW_NAK_REMOTE_OP = 0x63,
};

/* ACK header, 4 bytes. */
struct mw_aeth {
	uint8_t syndrome;
	uint32_t msn; /* 24 bits */
};

/* What a SACK says of the path that its trigger took. REQ(wire.seth.m) */
enum mw_path_mark {
	MW_MARK_NONE = 0,
	MW_MARK_SKIP_ONCE = 1,	 /* the trigger was ECN-marked */
	MW_MARK_ALWAYS_SKIP = 2, /* the responder holds the path for persistently bad */
};

/* Reliability SACK header with CC_STATE, 36 bytes. REQ(wire.seth.layout) */
struct mw_seth {
	uint8_t m;		/* enum mw_path_mark, 2 bits */
	bool pr;		/* this SACK answers a reliability probe */
	int16_t ack_psn_offset; /* pr = 0: PSN of the trigger minus cack_psn */
	uint16_t probe_id;	/* pr = 1: takes the place of ack_psn_offset */
	uint32_t entropy;	/* EV of the trigger, reflected */
	uint16_t spdcid;
	uint16_t dpdcid;
	uint8_t ext;	   /* pr = 1: what the responder knows beyond MRC, enum mw_ext; else 0 */
	uint32_t cack_psn; /* highest PSN with no gap below it, 24 bits */
	uint8_t cc_type;   /* 0 in a SACK */
	uint8_t cc_fl;
	uint8_t mpr;	       /* responder's window, in units of 128 PSNs */
	int16_t sack_offset;   /* PSN of bitmap bit 0 minus cack_psn */
	uint64_t sack_bitmap;  /* bit i: PSN cack_psn + sack_offset + i was received */
	uint16_t tx_timestamp; /* reflected */
	uint16_t ooo_count;    /* packets received above cack_psn, 15 bits */
	bool restore_cwnd;
	uint8_t rcv_cwnd_pen; /* 7 bits */
	uint32_t rcvd_bytes;  /* new bytes received since the start, in units of 256, 24 bits */
};

/* Why a NACK was sent. REQ(wire.neth.reasons) */
enum mw_nack_reason {
	MW_NACK_TRIMMED = 0x01,
	MW_NACK_TRIMMED_LASTHOP = 0x02,
	MW_NACK_NO_BITMAP = 0x06,
	MW_NACK_NO_PKT_BUFFER = 0x07,
	MW_NACK_NO_RESOURCE = 0x0A,
	MW_NACK_PSN_OOR_WINDOW = 0x0B,
	MW_NACK_UNEXP_EVENT = 0x19,
	/* Of the extension: no receive is posted for the message; vendor_info says how long. */
	MW_NACK_RNR = 0x80,
};

/* Reliability NACK header, 20 bytes. */
struct mw_neth {
	uint8_t reason; /* enum mw_nack_reason; unknown values are kept */
	uint8_t vendor_info;
	uint32_t entropy;
	uint16_t spdcid;
	uint16_t dpdcid;
	uint32_t nack_psn; /* 24 bits */
	uint8_t cc_type;   /* 2 in a NACK */
	uint8_t cc_fl;
	uint16_t tx_timestamp;
};

/* Reliability probe header, 16 bytes. */
struct mw_peth {
	uint8_t vendor_info;
	uint16_t probe_id;
	uint8_t ext; /* what the requester knows beyond MRC, enum mw_ext */
	uint16_t spdcid;
	uint16_t dpdcid;
	struct mw_tseth ts;
};

enum mw_ep_op {
	MW_EP_PORT_STATUS = 0,
	MW_EP_EV_PROBE = 1,
};

/* Endpoint request header, 16 bytes. */
struct mw_erth {
	uint8_t op; /* enum mw_ep_op, 2 bits */
	uint8_t vendor_info;
	uint32_t port_status_mask; /* bit set: port reachable; op PORT_STATUS only */
	struct mw_tseth ts;
};

/* Endpoint response header, 36 bytes. */
struct mw_eeth {
	uint8_t op;	 /* enum mw_ep_op, 2 bits */
	uint8_t op_high; /* the two bits above it, where some responders put it; ours do not */
	uint16_t tx_timestamp;
};

/* Extension headers of the data packets. */
struct mw_data_ext {
	struct mw_meth meth;
	struct mw_tseth tseth; /* valid when bth.ts */
	struct mw_reth reth;
	/* The 4 bytes behind the RETH as a big-endian number: immediate data of the IMM opcodes,
	 * how much a READ REQUEST is for. */
	uint32_t imm;
};

/* Payload of an atomic: swap or add, then compare, 8 bytes each. */
#define MW_ATOMIC_BYTES 16u

/* A whole packet: BTH, the extension header of its opcode, and how much payload there is. */
struct mw_packet {
	struct mw_bth bth;
	union {
		struct mw_data_ext data; /* all with MW_OP_DATA */
		struct mw_aeth aeth;	 /* MW_ACK, MW_RESPONSE_ACK */
		struct mw_seth seth;	 /* MW_SACK, ... */
		struct mw_neth neth;	 /* MW_NACK, ... */
		struct mw_peth peth;	 /* MW_PROBE, ... */
		struct mw_erth erth;	 /* MW_EP_REQUEST */
		struct mw_eeth eeth;	 /* MW_EP_RESPONSE */
	};
	uint32_t payload_len; /* bytes, pad excluded */
};

/* The longest BTH plus extension headers: a SACK (48), or a data packet with TSETH and IMM (40). */
#define MW_HEADERS_MAX 48u
/* Bytes of the ICRC that ends every packet. */
#define MW_ICRC_BYTES 4u

/* What decoding found; everything but MW_OK is a packet to count and drop. */
enum mw_verdict {
	MW_OK = 0,
	MW_SHORT,  /* ends inside its headers */
	MW_OPCODE, /* not an opcode of MRC */
	MW_TVER,   /* transport header version is not 0 */
	MW_PAD,	   /* pad count larger than what follows the headers */
	MW_LENGTH, /* a control packet with bytes after its headers */
	MW_HEADER, /* type, nh or ftype field has a value that MRC does not define */
	MW_VERDICTS,
};

/*
 * mw_packet_decode reads BTH, extension headers and payload length from bytes[0..len), which is
 * what follows the UDP header, without the ICRC. On MW_OK *pkt is complete and *headers_len is the
 * offset of the payload; on any other verdict *pkt is unspecified. Reserved bits are ignored.
 *
 * `cut` says that the packet was trimmed by a switch: a data packet is then accepted as soon as BTH
 * and METH are there. A header of which only a part is left reads as zero, *headers_len is then len
 * and payload_len 0; behind whole headers payload_len is what is left, and the pad counts as gone.
 * A control packet must be whole, cut or not.
 *
 * Never reads outside bytes[0..len); len is at most UINT32_MAX (asserted). Pure; any thread.
 * REQ(wire.decode.total) REQ(wire.decode.round-trip)
 */
enum mw_verdict mw_packet_decode(const uint8_t *bytes, size_t len, bool cut, struct mw_packet *pkt,
				 size_t *headers_len);

/*
 * mw_packet_encode writes BTH and extension headers of *pkt to out, which has room for
 * MW_HEADERS_MAX bytes, and returns how many were written. Fields wider in the struct than on the
 * wire must fit (asserted). The payload, its pad (pkt->bth.pad zero bytes) and the ICRC follow it
 * on the wire and are the caller's. Pure; any thread.
 */
size_t mw_packet_encode(const struct mw_packet *pkt, uint8_t *out);

/* mw_verdict_name returns a constant lower-case name for counters and traces. */
const char *mw_verdict_name(enum mw_verdict v);

/*
 * What each opcode means, as one table: those of MRC, 0b110 in the high three bits, and those of
 * the extension of docs/protocol.md, 0b111, which a strict MRC endpoint does not know. Decoder,
 * encoder, printer and the protocol core all ask this table, so that no second place knows which
 * headers an opcode carries.
 */
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

/* The headers of control packets, each with its member of that union. */
#define MW_CONTROL_HEADERS(X) \
	X(AETH, aeth)         \
	X(SETH, seth)         \
	X(NETH, neth)         \
	X(PETH, peth)         \
	X(ERTH, erth)         \
	X(EETH, eeth)

struct mw_opcode_info {
	const char *name;
	uint16_t flags;	 /* enum mw_opcode_flags; 0: not an opcode */
	uint8_t ext_len; /* bytes of extension headers after the BTH, TSETH not counted */
	uint8_t kind;	 /* enum mw_header_kind */
};

/* mw_opcode_info returns the row of any byte; flags is 0 where no opcode is defined. */
const struct mw_opcode_info *mw_opcode_info(uint8_t opcode);

#endif
