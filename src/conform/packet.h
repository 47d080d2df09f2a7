/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packet.h - MRC packets as the kit reads and writes them: IP packets, whole, whose headers are
 * tables of fields. It is written from docs/requirements.toml and docs/protocol.md and shares no
 * code with src/wire, so that a mistake made there in both directions is seen from here.
 */
#ifndef SOFTMRC_CONFORM_PACKET_H
#define SOFTMRC_CONFORM_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(name, opcode, what a script calls it) */
#define CF_KINDS(X)                               \
	X(WRITE_FIRST, 0xC6, "WRITE FIRST")       \
	X(WRITE_MIDDLE, 0xC7, "WRITE MIDDLE")     \
	X(WRITE_LAST_IMM, 0xC9, "WRITE LAST IMM") \
	X(WRITE_LAST, 0xC8, "WRITE LAST")         \
	X(WRITE_ONLY_IMM, 0xCB, "WRITE ONLY IMM") \
	X(WRITE_ONLY, 0xCA, "WRITE ONLY")         \
	X(ACK, 0xD1, "ACK")                       \
	X(EP_REQUEST, 0xD8, "EP_REQUEST")         \
	X(EP_RESPONSE, 0xD9, "EP_RESPONSE")       \
	X(SACK, 0xDC, "SACK")                     \
	X(NACK, 0xDD, "NACK")                     \
	X(PROBE, 0xDE, "PROBE")

enum cf_kind {
#define CF_KIND_NAME(name, opcode, text) CF_##name,
	CF_KINDS(CF_KIND_NAME)
#undef CF_KIND_NAME
		CF_KIND_COUNT,
};

/*
 * X(name, what scripts, messages and reports call it): of the carrier (OVER is the UDP source
 * port), the BTH, METH, TSETH, RETH, immediate and AETH, the headers of control packets, and
 * the payload.
 */
#define CF_FIELDS(X)             \
	X(OVER, "over")          \
	X(DPORT, "dport")        \
	X(DSCP, "dscp")          \
	X(ECN, "ecn")            \
	X(FLOW, "flow")          \
	X(OPCODE, "opcode")      \
	X(SE, "se")              \
	X(MIG, "mig")            \
	X(PAD, "pad")            \
	X(TVER, "tver")          \
	X(PKEY, "pkey")          \
	X(DQP, "dqp")            \
	X(ACKREQ, "ackreq")      \
	X(RTX, "rtx")            \
	X(STAMPED, "stamped")    \
	X(PSN, "psn")            \
	X(RQMSN, "rqmsn")        \
	X(MSN, "msn")            \
	X(TS, "ts")              \
	X(TSR, "tsr")            \
	X(TSTYPE, "tstype")      \
	X(VA, "va")              \
	X(RKEY, "rkey")          \
	X(DMALEN, "dmalen")      \
	X(IMM, "imm")            \
	X(SYNDROME, "syndrome")  \
	X(TYPE, "type")          \
	X(NEXT, "next")          \
	X(M, "mark")             \
	X(PR, "pr")              \
	X(OFFSET, "psn_offset")  \
	X(PROBE_ID, "probe")     \
	X(ENTROPY, "entropy")    \
	X(SPDCID, "spdcid")      \
	X(DPDCID, "dpdcid")      \
	X(EXT, "ext")            \
	X(CACK, "cack")          \
	X(CCTYPE, "cctype")      \
	X(CCFLAGS, "ccflags")    \
	X(MPR, "mpr")            \
	X(SACK_OFFSET, "offset") \
	X(MAP, "map")            \
	X(OOO, "ooo")            \
	X(RESTORE, "restore")    \
	X(PEN, "pen")            \
	X(RCVD, "rcvd")          \
	X(REASON, "reason")      \
	X(VENDOR, "vendor")      \
	X(NACK, "nack")          \
	X(OP, "op")              \
	X(OP_HIGH, "op_high")    \
	X(PORTS, "ports")        \
	X(LEN, "len")

enum cf_field {
#define CF_FIELD_NAME(name, text) CF_F_##name,
	CF_FIELDS(CF_FIELD_NAME)
#undef CF_FIELD_NAME
		CF_FIELD_COUNT,
};

#define CF_PSN_MASK 0xFFFFFFu
#define CF_PAYLOAD_MAX 4608u
#define CF_FRAME_MAX (CF_PAYLOAD_MAX + 192u)
#define CF_ENDPOINT_QPN 2u
#define CF_UDP_PORT 4791u
#define CF_ECN_CE 3u

/* An IP packet without its link header. */
struct cf_frame {
	size_t len;
	uint8_t bytes[CF_FRAME_MAX];
	uint64_t came_ns; /* of one that came, by the link's clock; 0: when it was received */
};

struct cf_packet {
	enum cf_kind kind;
	uint8_t src[16], dst[16]; /* IPv4 as ::ffff:a.b.c.d */
	uint64_t f[CF_FIELD_COUNT];
	const uint8_t *payload; /* f[CF_F_LEN] bytes */
	/* Of one that was read. */
	bool icrc_ok;
	bool reserved_set; /* bits that are reserved are not 0 */
};

const char *cf_kind_name(enum cf_kind kind);
const char *cf_field_name(enum cf_field field);
bool cf_kind_is_data(enum cf_kind kind);
/* cf_kind_has says whether a packet of this kind has the field. */
bool cf_kind_has(enum cf_kind kind, enum cf_field field);
/* cf_field_bits returns how wide the field is in a packet of this kind; 0: it has none. */
unsigned cf_field_bits(enum cf_kind kind, enum cf_field field);

/* cf_address_is_ipv4 says so of ::ffff:a.b.c.d. */
bool cf_address_is_ipv4(const uint8_t address[16]);

/* cf_pad_of returns how many bytes follow a payload to make it a multiple of four. */
size_t cf_pad_of(uint64_t len);
/*
 * cf_packet_encode writes a whole packet with pad bytes and ICRC; the fields OPCODE, PAD, TSTYPE
 * and CCTYPE are written as they are: cf_packet_init has set what belongs there, all but PAD.
 */
void cf_packet_encode(const struct cf_packet *p, struct cf_frame *f);
/* cf_packet_init makes a packet of a kind in which all else is 0. */
void cf_packet_init(struct cf_packet *p, enum cf_kind kind);
/*
 * cf_frame_wrap makes an IP packet of what a UDP socket received: of the packet only addresses and
 * the fields of the carrier count. Returns 0, or -1 when it is too long.
 */
int cf_frame_wrap(struct cf_frame *f, const struct cf_packet *carrier, const void *udp, size_t len);
/* cf_frame_udp returns where the bytes behind the UDP header begin. */
size_t cf_frame_udp(const struct cf_frame *f);
/* cf_frame_spoil makes the ICRC wrong. */
void cf_frame_spoil(struct cf_frame *f);

/*
 * cf_packet_decode reads a packet, whose payload points into the frame. Returns NULL, or what is
 * wrong with it in words; p->kind is then not valid. A wrong ICRC is not among that.
 */
const char *cf_packet_decode(const struct cf_frame *f, struct cf_packet *p);

#endif
