/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_packet.c - see peer_packet.h. Headers are built in order by a writer that appends big-endian
 * numbers, and taken apart by a reader that knows which bits are reserved.
 */
#include "peer_packet.h"

#include <string.h>

#define UDP_PORT 4791u /* REQ(wire.udp.dport) */
#define ICRC_BYTES 4u
#define ECN_BITS 3u

/* ---- opcodes ---- */

enum { DATA = 1, ENDS = 2, IMM = 4, EXTENSION = 8, RESPONSE = 16, REQUEST = 32, SEND = 64 };

/* REQ(wire.opcode.values) REQ(wire.opcode.prefix) REQ(ext.opcodes) */
static unsigned opcode_flags(uint8_t opcode)
{
	static const struct {
		uint8_t opcode, flags;
	} table[] = {
		{PEER_WRITE_FIRST, DATA},
		{PEER_WRITE_MIDDLE, DATA},
		{PEER_WRITE_LAST, DATA | ENDS},
		{PEER_WRITE_LAST_IMM, DATA | ENDS | IMM},
		{PEER_WRITE_ONLY, DATA | ENDS},
		{PEER_WRITE_ONLY_IMM, DATA | ENDS | IMM},
		{PEER_SEND_FIRST, DATA | EXTENSION | SEND},
		{PEER_SEND_MIDDLE, DATA | EXTENSION | SEND},
		{PEER_SEND_LAST, DATA | EXTENSION | SEND | ENDS},
		{PEER_SEND_LAST_IMM, DATA | EXTENSION | SEND | ENDS | IMM},
		{PEER_SEND_ONLY, DATA | EXTENSION | SEND | ENDS},
		{PEER_SEND_ONLY_IMM, DATA | EXTENSION | SEND | ENDS | IMM},
		{PEER_SEND_LAST_INV, DATA | EXTENSION | SEND | ENDS | IMM},
		{PEER_SEND_ONLY_INV, DATA | EXTENSION | SEND | ENDS | IMM},
		{PEER_READ_REQUEST, DATA | EXTENSION | REQUEST | ENDS | IMM},
		{PEER_COMPARE_SWAP, DATA | EXTENSION | REQUEST | ENDS},
		{PEER_FETCH_ADD, DATA | EXTENSION | REQUEST | ENDS},
		{PEER_ATOMIC_WRITE, DATA | EXTENSION | REQUEST | ENDS},
		{PEER_READ_FIRST, DATA | EXTENSION | RESPONSE},
		{PEER_READ_MIDDLE, DATA | EXTENSION | RESPONSE},
		{PEER_READ_LAST, DATA | EXTENSION | RESPONSE | ENDS},
		{PEER_READ_ONLY, DATA | EXTENSION | RESPONSE | ENDS},
		{PEER_ATOMIC_RESPONSE, DATA | EXTENSION | RESPONSE | ENDS},
		{PEER_ACK + PEER_RESPONSE_BIT, EXTENSION | RESPONSE},
		{PEER_SACK + PEER_RESPONSE_BIT, EXTENSION | RESPONSE},
		{PEER_NACK + PEER_RESPONSE_BIT, EXTENSION | RESPONSE},
		{PEER_PROBE + PEER_RESPONSE_BIT, EXTENSION | RESPONSE},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].opcode == opcode)
			return table[i].flags;
	return 0;
}

bool peer_opcode_is_data(uint8_t opcode)
{
	return opcode_flags(opcode) & DATA;
}

bool peer_opcode_is_response(uint8_t opcode)
{
	return opcode_flags(opcode) & RESPONSE;
}

bool peer_opcode_ends(uint8_t opcode)
{
	return opcode_flags(opcode) & ENDS;
}

bool peer_opcode_begins(uint8_t opcode)
{
	return opcode == PEER_SEND_FIRST || opcode == PEER_SEND_ONLY ||
	       opcode == PEER_SEND_ONLY_IMM || opcode == PEER_SEND_ONLY_INV;
}

bool peer_opcode_has_imm(uint8_t opcode)
{
	return opcode_flags(opcode) & IMM && opcode != PEER_READ_REQUEST &&
	       !peer_opcode_has_inv(opcode);
}

bool peer_opcode_has_inv(uint8_t opcode)
{
	return opcode == PEER_SEND_LAST_INV || opcode == PEER_SEND_ONLY_INV;
}

bool peer_opcode_is_send(uint8_t opcode)
{
	return opcode_flags(opcode) & SEND;
}

bool peer_opcode_is_request(uint8_t opcode)
{
	return opcode_flags(opcode) & REQUEST;
}

/* ---- ICRC ---- */

/* table[n]: what a byte does to the CRC when n more bytes have followed it. */
static uint32_t table[4][256];

static void make_table(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;

		for (int bit = 0; bit < 8; bit++)
			c = c & 1 ? c >> 1 ^ 0xEDB88320u : c >> 1;
		table[0][i] = c;
	}
	for (uint32_t i = 0; i < 3 * 256; i++) {
		uint32_t c = table[i / 256][i % 256];

		table[i / 256 + 1][i % 256] = c >> 8 ^ table[0][c & 0xFF];
	}
}

/* REQ(wire.icrc.polynomial) */
static uint32_t crc_bytes(uint32_t crc, const uint8_t *bytes, size_t len)
{
	if (table[0][1] == 0)
		make_table();
	for (; len >= 4; len -= 4, bytes += 4) {
		crc ^= (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 |
		       (uint32_t)bytes[1] << 8 | bytes[0];
		crc = table[3][crc & 0xFF] ^ table[2][crc >> 8 & 0xFF] ^
		      table[1][crc >> 16 & 0xFF] ^ table[0][crc >> 24];
	}
	for (size_t i = 0; i < len; i++)
		crc = crc >> 8 ^ table[0][(crc ^ bytes[i]) & 0xFF];
	return crc;
}

/* REQ(wire.icrc.ipv6) REQ(wire.icrc.udp-bth) */
static uint32_t icrc_of(const uint8_t *frame, size_t len)
{
	uint8_t head[8 + PEER_CARRIER_BYTES + 12];
	uint8_t *ip = head + 8, *udp = ip + 40, *bth = udp + 8;

	memset(head, 0xFF, 8);
	memcpy(ip, frame, PEER_CARRIER_BYTES + 12);
	ip[0] |= 0x0F; /* traffic class and flow label */
	ip[1] = ip[2] = ip[3] = 0xFF;
	ip[7] = 0xFF; /* hop limit */
	udp[6] = udp[7] = 0xFF;
	bth[4] = 0xFF;
	return ~crc_bytes(crc_bytes(0xFFFFFFFFu, head, sizeof(head)),
			  frame + PEER_CARRIER_BYTES + 12, len - PEER_CARRIER_BYTES - 12);
}

bool peer_frame_icrc_ok(const struct peer_frame *f)
{
	const uint8_t *at = f->bytes + f->len - ICRC_BYTES;
	uint32_t crc;

	if (f->len < PEER_CARRIER_BYTES + 12 + ICRC_BYTES)
		return false;
	crc = icrc_of(f->bytes, f->len - ICRC_BYTES);
	for (int i = 0; i < 4; i++)
		if (at[i] != (uint8_t)(crc >> 8 * i))
			return false;
	return true;
}

/* ---- writing ---- */

static uint8_t *put(uint8_t *at, unsigned bytes, uint64_t value)
{
	for (unsigned i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
	return at + bytes;
}

/* REQ(wire.tseth.layout) */
static uint8_t *put_stamp(uint8_t *at, const struct peer_packet *p)
{
	return put(put(at, 2, p->stamp), 2,
		   (p->tsr ? 0x8000u : 0) | (p->reserved ? 0x7FF0u : 0) | 1);
}

static uint8_t *put_data(uint8_t *at, const struct peer_packet *p)
{
	at = put(put(at, 2, p->rqmsn), 2, p->msn);
	if (p->has_stamp)
		at = put_stamp(at, p);
	at = put(put(put(at, 8, p->va), 4, p->rkey), 4, p->dmalen);
	return opcode_flags(p->opcode) & IMM ? put(at, 4, p->word) : at;
}

/* REQ(wire.seth.layout) REQ(wire.ccstate.layout) */
static uint8_t *put_sack(uint8_t *at, const struct peer_packet *p)
{
	at = put(at, 1, 0);
	at = put(at, 1, (unsigned)p->m << 5 | (p->pr ? 2u : 0) | (p->reserved ? 0x1Du : 0));
	at = put(at, 2, p->pr ? p->probe_id : (uint16_t)p->ack_psn_offset);
	at = put(put(put(at, 4, p->entropy), 2, p->spdcid), 2, p->dpdcid);
	at = put(put(at, 1, p->extension), 3, p->cack_psn);
	at = put(put(at, 1, 0), 1, p->mpr);
	at = put(put(at, 2, (uint16_t)p->sack_offset), 8, p->bitmap);
	at = put(put(at, 2, p->stamp), 2, (p->reserved ? 0x8000u : 0) | (p->ooo & 0x7FFFu));
	return put(put(at, 1, (p->restore ? 0x80u : 0) | p->penalty), 3, p->rcvd);
}

/* REQ(wire.neth.layout) */
static uint8_t *put_nack(uint8_t *at, const struct peer_packet *p)
{
	at = put(put(put(at, 2, 0), 1, p->reason), 1, p->vendor);
	at = put(put(put(at, 4, p->entropy), 2, p->spdcid), 2, p->dpdcid);
	at = put(put(at, 1, p->reserved ? 0xFFu : 0), 3, p->nack_psn);
	return put(put(put(at, 1, 0x20), 1, p->reserved ? 0xFFu : 0), 2, p->stamp);
}

/* REQ(wire.peth.layout) */
static uint8_t *put_probe(uint8_t *at, const struct peer_packet *p)
{
	uint8_t reserved = p->reserved ? 0xFF : 0;

	at = put(put(put(put(at, 2, 0), 1, reserved), 1, p->vendor), 2, p->probe_id);
	at = put(put(put(put(at, 1, reserved), 1, p->extension), 2, p->spdcid), 2, p->dpdcid);
	return put_stamp(at, p);
}

/* REQ(wire.erth.layout) REQ(wire.erth.op) */
static uint8_t *put_endpoint_request(uint8_t *at, const struct peer_packet *p)
{
	uint32_t reserved = p->reserved ? UINT32_MAX : 0;

	at = put(put(put(put(at, 1, 0), 1, p->op), 1, reserved & 0xFF), 1, p->vendor);
	return put_stamp(put(put(at, 4, p->port_mask), 4, reserved), p);
}

/* REQ(wire.eeth.layout): op comes with its bits in place, because their place is an option. */
static uint8_t *put_endpoint_response(uint8_t *at, const struct peer_packet *p)
{
	memset(at, 0, 36);
	memset(at + 2, p->reserved ? 0xFF : 0, 26);
	at[1] = p->op;
	put(at + 28, 2, p->stamp);
	return at + 36;
}

static uint8_t *put_extension_headers(uint8_t *at, const struct peer_packet *p)
{
	if (peer_opcode_is_data(p->opcode))
		return put_data(at, p);
	if (p->opcode == PEER_EP_REQUEST)
		return put_endpoint_request(at, p);
	if (p->opcode == PEER_EP_RESPONSE)
		return put_endpoint_response(at, p);
	switch (p->opcode & ~PEER_RESPONSE_BIT) {
	case PEER_ACK: /* REQ(wire.aeth.layout) */
		return put(put(at, 1, p->syndrome), 3, p->ack_msn);
	case PEER_SACK:
		return put_sack(at, p);
	case PEER_NACK:
		return put_nack(at, p);
	default:
		return put_probe(at, p);
	}
}

/* REQ(wire.bth.layout) REQ(wire.bth.ackreq) REQ(wire.bth.rtx) REQ(wire.bth.ts) */
static uint8_t *put_bth(uint8_t *at, const struct peer_packet *p)
{
	at = put(at, 1, p->opcode);
	at = put(at, 1,
		 (p->solicited ? 0x80u : 0) | (p->migration ? 0x40u : 0) | (unsigned)p->pad << 4);
	at = put(put(put(at, 2, p->p_key), 1, p->reserved ? 0xFFu : 0), 3, p->dqp);
	at = put(at, 1,
		 (p->reserved ? 0x4Fu : 0) | (p->ack_request ? 0x80u : 0) | (p->rtx ? 0x20u : 0) |
			 (p->has_stamp ? 0x10u : 0));
	return put(at, 3, p->psn);
}

static void put_carrier(uint8_t *at, const struct peer_packet *p, size_t udp_len)
{
	at = put(at, 4,
		 6u << 28 | (uint32_t)p->dscp << 22 | (uint32_t)(p->ecn & ECN_BITS) << 20 |
			 (p->ev & 0xFFFFu)); /* REQ(wire.ev.stev) REQ(wire.ev.halves) */
	at = put(put(put(at, 2, udp_len), 1, 17), 1, 64);
	memcpy(at, p->src, 16);
	memcpy(at + 16, p->dst, 16);
	put(put(put(put(at + 32, 2, p->ev >> 16), 2, UDP_PORT), 2, udp_len), 2, 0);
}

void peer_packet_encode(const struct peer_packet *p, struct peer_frame *f)
{
	uint8_t *at = put_extension_headers(put_bth(f->bytes + PEER_CARRIER_BYTES, p), p);
	uint32_t crc;

	if (p->payload_len)
		memcpy(at, p->payload, p->payload_len);
	at += p->payload_len;
	memset(at, 0, p->pad);
	at += p->pad;
	f->len = (size_t)(at - f->bytes) + ICRC_BYTES;
	put_carrier(f->bytes, p, f->len - 40);
	crc = icrc_of(f->bytes, f->len - ICRC_BYTES);
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(crc >> 8 * i);
}

/* ---- reading ---- */

/* Numbers are taken from the front; what is not there reads as 0 and sets `ended`. */
struct reader {
	const uint8_t *at, *end;
	bool ended, reserved_set;
};

static uint64_t get(struct reader *r, unsigned bytes)
{
	uint64_t value = 0;

	if ((size_t)(r->end - r->at) < bytes) {
		r->ended = true;
		r->at = r->end;
		return 0;
	}
	for (unsigned i = 0; i < bytes; i++)
		value = value << 8 | *r->at++;
	return value;
}

static void get_zero(struct reader *r, unsigned bytes)
{
	if (get(r, bytes) != 0)
		r->reserved_set = true;
}

static void get_stamp(struct reader *r, struct peer_packet *p)
{
	uint32_t flags;

	p->stamp = (uint16_t)get(r, 2);
	flags = (uint32_t)get(r, 2);
	p->tsr = flags >> 15;
	if ((flags & 0x7FFF) != 1 && !r->ended)
		r->reserved_set = true;
}

static void get_data(struct reader *r, struct peer_packet *p)
{
	p->rqmsn = (uint16_t)get(r, 2);
	p->msn = (uint16_t)get(r, 2);
	if (p->has_stamp)
		get_stamp(r, p);
	p->va = get(r, 8);
	p->rkey = (uint32_t)get(r, 4);
	p->dmalen = (uint32_t)get(r, 4);
	if (opcode_flags(p->opcode) & IMM)
		p->word = (uint32_t)get(r, 4);
}

static void get_ids(struct reader *r, struct peer_packet *p)
{
	p->spdcid = (uint16_t)get(r, 2);
	p->dpdcid = (uint16_t)get(r, 2);
}

static void get_sack(struct reader *r, struct peer_packet *p)
{
	uint32_t flags;

	flags = (uint32_t)get(r, 2);
	p->m = flags >> 5 & 3;
	p->pr = flags >> 1 & 1;
	if (flags & ~0x62u)
		r->reserved_set = true;
	p->probe_id = (uint16_t)get(r, 2);
	p->ack_psn_offset = (int16_t)p->probe_id;
	p->entropy = (uint32_t)get(r, 4);
	get_ids(r, p);
	p->extension = (uint8_t)get(r, 1);
	p->cack_psn = (uint32_t)get(r, 3);
	get_zero(r, 1);
	p->mpr = (uint8_t)get(r, 1);
	p->sack_offset = (int16_t)get(r, 2);
	p->bitmap = get(r, 8);
	p->stamp = (uint16_t)get(r, 2);
	p->ooo = (uint16_t)get(r, 2);
	flags = (uint32_t)get(r, 1);
	p->restore = flags >> 7;
	p->penalty = flags & 0x7F;
	p->rcvd = (uint32_t)get(r, 3);
}

static void get_nack(struct reader *r, struct peer_packet *p)
{
	get_zero(r, 2);
	p->reason = (uint8_t)get(r, 1);
	p->vendor = (uint8_t)get(r, 1);
	p->entropy = (uint32_t)get(r, 4);
	get_ids(r, p);
	get_zero(r, 1);
	p->nack_psn = (uint32_t)get(r, 3);
	if (get(r, 2) != 0x2000)
		r->reserved_set = true;
	p->stamp = (uint16_t)get(r, 2);
}

static void get_probe(struct reader *r, struct peer_packet *p)
{
	get_zero(r, 3);
	p->vendor = (uint8_t)get(r, 1);
	p->probe_id = (uint16_t)get(r, 2);
	get_zero(r, 1);
	p->extension = (uint8_t)get(r, 1);
	get_ids(r, p);
	get_stamp(r, p);
}

static void get_endpoint_request(struct reader *r, struct peer_packet *p)
{
	get_zero(r, 1);
	p->op = (uint8_t)get(r, 1);
	if (p->op > 1)
		r->reserved_set = true;
	get_zero(r, 1);
	p->vendor = (uint8_t)get(r, 1);
	p->port_mask = (uint32_t)get(r, 4);
	get_zero(r, 4);
	get_stamp(r, p);
}

static void get_endpoint_response(struct reader *r, struct peer_packet *p)
{
	get_zero(r, 1);
	p->op = (uint8_t)get(r, 1);
	get_zero(r, 8);
	get_zero(r, 8);
	get_zero(r, 8);
	get_zero(r, 2);
	p->stamp = (uint16_t)get(r, 2);
	get_zero(r, 6);
}

/* Returns false when no such opcode is known. */
static bool get_extension_headers(struct reader *r, struct peer_packet *p, bool allow_extension)
{
	unsigned flags = opcode_flags(p->opcode);

	if (flags & EXTENSION && !allow_extension)
		return false;
	if (flags & DATA)
		get_data(r, p);
	else if (p->opcode == PEER_EP_REQUEST)
		get_endpoint_request(r, p);
	else if (p->opcode == PEER_EP_RESPONSE)
		get_endpoint_response(r, p);
	else if ((p->opcode & ~PEER_RESPONSE_BIT) == PEER_ACK) {
		p->syndrome = (uint8_t)get(r, 1);
		p->ack_msn = (uint32_t)get(r, 3);
	} else if ((p->opcode & ~PEER_RESPONSE_BIT) == PEER_SACK)
		get_sack(r, p);
	else if ((p->opcode & ~PEER_RESPONSE_BIT) == PEER_NACK)
		get_nack(r, p);
	else if ((p->opcode & ~PEER_RESPONSE_BIT) == PEER_PROBE)
		get_probe(r, p);
	else
		return false;
	return true;
}

static void get_bth(struct reader *r, struct peer_packet *p)
{
	uint32_t flags;

	p->opcode = (uint8_t)get(r, 1);
	flags = (uint32_t)get(r, 1);
	p->solicited = flags >> 7;
	p->migration = flags >> 6 & 1;
	p->pad = flags >> 4 & 3;
	if (flags & 0x0F) /* REQ(wire.bth.tver) */
		r->reserved_set = true;
	p->p_key = (uint16_t)get(r, 2);
	get(r, 1); /* not covered by the ICRC, so that it may have been changed on its way */
	p->dqp = (uint32_t)get(r, 3);
	flags = (uint32_t)get(r, 1);
	p->ack_request = flags >> 7;
	p->rtx = flags >> 5 & 1;
	p->has_stamp = flags >> 4 & 1;
	if (flags & 0x4F)
		r->reserved_set = true;
	p->psn = (uint32_t)get(r, 3);
}

static bool get_carrier(const struct peer_frame *f, struct peer_packet *p)
{
	struct reader r = {.at = f->bytes, .end = f->bytes + f->len};
	uint32_t first = (uint32_t)get(&r, 4);
	size_t ip_len = (size_t)get(&r, 2), udp_len;
	uint32_t next = (uint32_t)get(&r, 1), port;

	get(&r, 1);
	if (f->len < PEER_CARRIER_BYTES || first >> 28 != 6 || next != 17)
		return false;
	p->dscp = (uint8_t)(first >> 22 & 0x3F);
	p->ecn = (uint8_t)(first >> 20 & ECN_BITS);
	memcpy(p->src, r.at, 16);
	memcpy(p->dst, r.at + 16, 16);
	r.at += 32;
	p->ev = (uint32_t)get(&r, 2) << 16 | (first & 0xFFFFu);
	port = (uint32_t)get(&r, 2);
	udp_len = (size_t)get(&r, 2);
	return ip_len == f->len - 40 && udp_len >= ip_len && port == UDP_PORT;
}

enum peer_verdict peer_packet_decode(const struct peer_frame *f, bool allow_extension,
				     struct peer_packet *p, const char **why)
{
	struct reader r = {.at = f->bytes + PEER_CARRIER_BYTES,
			   .end = f->bytes + f->len - ICRC_BYTES};
	bool cut;

	memset(p, 0, sizeof(*p));
	*why = "IPv6 or UDP header";
	if (f->len < PEER_CARRIER_BYTES + 12 + ICRC_BYTES || !get_carrier(f, p))
		return PEER_MALFORMED;
	/* REQ(rsp.trim.by-dscp) REQ(wire.icrc.trimmed) */
	cut = p->dscp == PEER_DSCP_TRIMMED || p->dscp == PEER_DSCP_TRIMMED_LASTHOP;
	if (!cut && !peer_frame_icrc_ok(f))
		return PEER_BAD_ICRC;
	if (cut)
		r.end = f->bytes + f->len;
	get_bth(&r, p);
	*why = "opcode";
	if (!get_extension_headers(&r, p, allow_extension))
		return PEER_MALFORMED;
	if (cut)
		return PEER_CUT;
	p->reserved = r.reserved_set;
	*why = "length";
	if (r.ended || (size_t)(r.end - r.at) < p->pad)
		return PEER_MALFORMED;
	p->payload = r.at;
	p->payload_len = (uint32_t)((size_t)(r.end - r.at) - p->pad);
	if (p->payload_len && !peer_opcode_is_data(p->opcode))
		return PEER_MALFORMED;
	*why = "pad"; /* REQ(wire.bth.pad) */
	if ((p->payload_len + p->pad) % 4 != 0)
		return PEER_MALFORMED;
	return PEER_OK;
}

uint32_t peer_packet_nominal(const struct peer_packet *p)
{
	return PEER_HEADERS_LEAST + (p->has_stamp ? 4u : 0) +
	       (opcode_flags(p->opcode) & IMM ? 4u : 0) + p->payload_len + p->pad;
}
