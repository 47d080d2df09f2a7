/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packet.c - see packet.h. A header is a list of (field, first bit, bits); what no row covers is
 * reserved. Reading, writing and the check of reserved bits are loops over these lists.
 */
#include "conform/packet.h"

#include <string.h>

#define IP4_BYTES 20u
#define IP6_BYTES 40u
#define UDP_BYTES 8u
#define BTH_BYTES 12u
#define ICRC_BYTES 4u
#define UDP_PROTOCOL 17u
#define HOPS 64u

/* ---- tables ---- */

struct place {
	enum cf_field field;
	uint16_t bit;
	uint8_t bits;
};

struct header {
	const struct place *place;
	size_t n, bytes;
};

/* REQ(wire.bth.layout) and so on: the id of each is that of its header. */
static const struct place bth[] = {
	{CF_F_OPCODE, 0, 8}, {CF_F_SE, 8, 1},	    {CF_F_MIG, 9, 1},	{CF_F_PAD, 10, 2},
	{CF_F_TVER, 12, 4},  {CF_F_PKEY, 16, 16},   {CF_F_DQP, 40, 24}, {CF_F_ACKREQ, 64, 1},
	{CF_F_RTX, 66, 1},   {CF_F_STAMPED, 67, 1}, {CF_F_PSN, 72, 24},
};
static const struct place meth[] = {{CF_F_RQMSN, 0, 16}, {CF_F_MSN, 16, 16}};
static const struct place tseth[] = {{CF_F_TS, 0, 16}, {CF_F_TSR, 16, 1}, {CF_F_TSTYPE, 28, 4}};
static const struct place reth[] = {{CF_F_VA, 0, 64}, {CF_F_RKEY, 64, 32}, {CF_F_DMALEN, 96, 32}};
static const struct place immediate[] = {{CF_F_IMM, 0, 32}};
static const struct place aeth[] = {{CF_F_SYNDROME, 0, 8}, {CF_F_MSN, 8, 24}};
static const struct place seth[] = {
	{CF_F_TYPE, 0, 4},	{CF_F_NEXT, 4, 5},     {CF_F_M, 9, 2},
	{CF_F_PR, 14, 1},	{CF_F_OFFSET, 16, 16}, {CF_F_PROBE_ID, 16, 16},
	{CF_F_ENTROPY, 32, 32}, {CF_F_SPDCID, 64, 16}, {CF_F_DPDCID, 80, 16},
	{CF_F_EXT, 96, 8},	{CF_F_CACK, 104, 24},  {CF_F_CCTYPE, 128, 4},
	{CF_F_CCFLAGS, 132, 4}, {CF_F_MPR, 136, 8},    {CF_F_SACK_OFFSET, 144, 16},
	{CF_F_MAP, 160, 64},	{CF_F_TS, 224, 16},    {CF_F_OOO, 241, 15},
	{CF_F_RESTORE, 256, 1}, {CF_F_PEN, 257, 7},    {CF_F_RCVD, 264, 24},
};
static const struct place neth[] = {
	{CF_F_TYPE, 0, 4},	{CF_F_NEXT, 4, 5},	{CF_F_REASON, 16, 8},  {CF_F_VENDOR, 24, 8},
	{CF_F_ENTROPY, 32, 32}, {CF_F_SPDCID, 64, 16},	{CF_F_DPDCID, 80, 16}, {CF_F_NACK, 104, 24},
	{CF_F_CCTYPE, 128, 4},	{CF_F_CCFLAGS, 132, 4}, {CF_F_TS, 144, 16},
};
static const struct place peth[] = {
	{CF_F_TYPE, 0, 4},  {CF_F_NEXT, 4, 5},	   {CF_F_VENDOR, 24, 8},  {CF_F_PROBE_ID, 32, 16},
	{CF_F_EXT, 56, 8},  {CF_F_SPDCID, 64, 16}, {CF_F_DPDCID, 80, 16}, {CF_F_TS, 96, 16},
	{CF_F_TSR, 112, 1}, {CF_F_TSTYPE, 124, 4},
};
static const struct place erth[] = {
	{CF_F_OP, 14, 2},  {CF_F_VENDOR, 24, 8}, {CF_F_PORTS, 32, 32},
	{CF_F_TS, 96, 16}, {CF_F_TSR, 112, 1},	 {CF_F_TSTYPE, 124, 4},
};
static const struct place eeth[] = {{CF_F_OP_HIGH, 10, 2}, {CF_F_OP, 12, 2}, {CF_F_TS, 224, 16}};

enum { BTH, METH, TSETH, RETH, IMMEDIATE, AETH, SETH, NETH, PETH, ERTH, EETH, HEADERS };

#define HEADER(places, bytes)                                       \
	{                                                           \
		places, sizeof(places) / sizeof((places)[0]), bytes \
	}
static const struct header header_of[HEADERS] = {
	[BTH] = HEADER(bth, BTH_BYTES),	    [METH] = HEADER(meth, 4),
	[TSETH] = HEADER(tseth, 4),	    [RETH] = HEADER(reth, 16),
	[IMMEDIATE] = HEADER(immediate, 4), [AETH] = HEADER(aeth, 4),
	[SETH] = HEADER(seth, 36),	    [NETH] = HEADER(neth, 20),
	[PETH] = HEADER(peth, 16),	    [ERTH] = HEADER(erth, 16),
	[EETH] = HEADER(eeth, 36),
};

static const uint8_t opcode_of[CF_KIND_COUNT] = {
#define CF_KIND_OPCODE(name, opcode, text) [CF_##name] = (opcode),
	CF_KINDS(CF_KIND_OPCODE)
#undef CF_KIND_OPCODE
};

const char *cf_kind_name(enum cf_kind kind)
{
	static const char *const names[CF_KIND_COUNT] = {
#define CF_KIND_TEXT(name, opcode, text) [CF_##name] = (text),
		CF_KINDS(CF_KIND_TEXT)
#undef CF_KIND_TEXT
	};

	return names[kind];
}

const char *cf_field_name(enum cf_field field)
{
	static const char *const names[CF_FIELD_COUNT] = {
#define CF_FIELD_TEXT(name, text) [CF_F_##name] = (text),
		CF_FIELDS(CF_FIELD_TEXT)
#undef CF_FIELD_TEXT
	};

	return names[field];
}

bool cf_kind_is_data(enum cf_kind kind)
{
	return kind <= CF_WRITE_ONLY;
}

/*
 * Lists the headers behind the BTH in their order; returns how many. Which a packet has, opcode and
 * TS bit say: REQ(wire.opcode.headers) REQ(wire.tseth.position).
 */
static size_t headers_of(enum cf_kind kind, bool stamped, uint8_t list[4])
{
	static const uint8_t control[CF_KIND_COUNT] = {
		[CF_ACK] = AETH,   [CF_SACK] = SETH,	   [CF_NACK] = NETH,
		[CF_PROBE] = PETH, [CF_EP_REQUEST] = ERTH, [CF_EP_RESPONSE] = EETH,
	};
	size_t n = 0;

	if (!cf_kind_is_data(kind)) {
		list[0] = control[kind];
		return 1;
	}
	list[n++] = METH;
	if (stamped)
		list[n++] = TSETH;
	list[n++] = RETH;
	if (kind == CF_WRITE_LAST_IMM || kind == CF_WRITE_ONLY_IMM)
		list[n++] = IMMEDIATE;
	return n;
}

static unsigned header_bits(const struct header *h, enum cf_field field)
{
	for (size_t i = 0; i < h->n; i++)
		if (h->place[i].field == field)
			return h->place[i].bits;
	return 0;
}

unsigned cf_field_bits(enum cf_kind kind, enum cf_field field)
{
	/* OVER, DPORT, DSCP, ECN, FLOW: of the headers of UDP and IP. */
	static const uint8_t carrier[CF_F_FLOW + 1] = {16, 16, 6, 2, 20};
	uint8_t list[4];
	size_t n = headers_of(kind, true, list);
	unsigned bits = field <= CF_F_FLOW ? carrier[field] : header_bits(&header_of[BTH], field);

	for (size_t i = 0; i < n && !bits; i++)
		bits = header_bits(&header_of[list[i]], field);
	/* No field, but what the UDP length leaves behind the headers. */
	return field == CF_F_LEN && cf_kind_is_data(kind) ? 16 : bits;
}

bool cf_kind_has(enum cf_kind kind, enum cf_field field)
{
	return cf_field_bits(kind, field) > 0;
}

bool cf_address_is_ipv4(const uint8_t address[16])
{
	static const uint8_t prefix[12] = {[10] = 0xFF, [11] = 0xFF};

	return memcmp(address, prefix, sizeof(prefix)) == 0;
}

/* ---- bits ---- */

static void put_bits(uint8_t *at, unsigned bit, unsigned bits, uint64_t value)
{
	for (unsigned i = 0; i < bits; i++) {
		unsigned b = bit + bits - 1 - i;
		uint8_t mask = (uint8_t)(0x80u >> b % 8);

		at[b / 8] &= (uint8_t)~mask;
		if (value >> i & 1)
			at[b / 8] |= mask;
	}
}

static uint64_t get_bits(const uint8_t *at, unsigned bit, unsigned bits)
{
	uint64_t value = 0;

	for (unsigned b = bit; b < bit + bits; b++)
		value = value << 1 | ((uint64_t)at[b / 8] >> (7 - b % 8) & 1);
	return value;
}

static void put_header(const struct header *h, const uint64_t *f, uint8_t *at)
{
	memset(at, 0, h->bytes);
	for (size_t i = 0; i < h->n; i++) {
		/* One place for two: REQ(wire.seth.probe-id) */
		if ((h->place[i].field == CF_F_OFFSET && f[CF_F_PR]) ||
		    (h->place[i].field == CF_F_PROBE_ID && h == &header_of[SETH] && !f[CF_F_PR]))
			continue;
		put_bits(at, h->place[i].bit, h->place[i].bits, f[h->place[i].field]);
	}
}

static void get_header(const struct header *h, const uint8_t *at, uint64_t *f)
{
	for (size_t i = 0; i < h->n; i++)
		f[h->place[i].field] = get_bits(at, h->place[i].bit, h->place[i].bits);
}

/* ---- ICRC ---- */

/* REQ(wire.icrc.polynomial): bit by bit, as it is defined. */
static uint32_t crc_add(uint32_t crc, uint8_t byte)
{
	crc ^= byte;
	for (int i = 0; i < 8; i++)
		crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
	return crc;
}

/* Whether byte i of an IP packet counts as ones. */
static bool is_masked(bool ipv4, size_t ip_bytes, size_t i)
{
	if (i == ip_bytes + 6 || i == ip_bytes + 7 || i == ip_bytes + UDP_BYTES + 4)
		return true; /* UDP checksum; the reserved byte of the BTH */
	if (ipv4)
		return i == 1 || i == 8 || i == 10 || i == 11;
	return (i >= 1 && i <= 3) || i == 7;
}

/* REQ(wire.icrc.ipv6) REQ(wire.icrc.ipv4) REQ(wire.icrc.udp-bth) */
static uint32_t icrc_of(const uint8_t *bytes, size_t len, bool ipv4)
{
	size_t ip_bytes = ipv4 ? IP4_BYTES : IP6_BYTES;
	uint32_t crc = 0xFFFFFFFFu;

	for (int i = 0; i < 8; i++)
		crc = crc_add(crc, 0xFF);
	for (size_t i = 0; i < len; i++) {
		uint8_t byte = is_masked(ipv4, ip_bytes, i) ? 0xFF : bytes[i];

		if (!ipv4 && i == 0) /* of it the traffic class has four bits */
			byte |= 0x0F;
		crc = crc_add(crc, byte);
	}
	return ~crc;
}

void cf_frame_spoil(struct cf_frame *f)
{
	f->bytes[f->len - 1] ^= 0x5A;
}

/* ---- writing ---- */

static void put_checksum(uint8_t *ip)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < IP4_BYTES; i += 2)
		sum += (uint32_t)get_bits(ip + i, 0, 16);
	sum = (sum & 0xFFFF) + (sum >> 16);
	sum = (sum & 0xFFFF) + (sum >> 16);
	put_bits(ip + 10, 0, 16, ~sum & 0xFFFFu);
}

/* Writes IP and UDP; returns how long the IP header is. */
static size_t put_carrier(const struct cf_packet *p, size_t udp_len, uint8_t *at)
{
	uint64_t tclass = p->f[CF_F_DSCP] << 2 | p->f[CF_F_ECN];
	size_t ip_bytes = cf_address_is_ipv4(p->dst) ? IP4_BYTES : IP6_BYTES;
	uint8_t *udp = at + ip_bytes;

	memset(at, 0, ip_bytes + UDP_BYTES);
	if (ip_bytes == IP4_BYTES) {
		put_bits(at, 0, 16, 0x4500u | tclass);
		put_bits(at, 16, 16, IP4_BYTES + udp_len);
		at[6] = 0x40; /* REQ(wire.icrc.ipv4-socket) */
		at[8] = HOPS;
		at[9] = UDP_PROTOCOL;
		memcpy(at + 12, p->src + 12, 4);
		memcpy(at + 16, p->dst + 12, 4);
		put_checksum(at);
	} else {
		put_bits(at, 0, 32, UINT64_C(6) << 28 | tclass << 20 | p->f[CF_F_FLOW]);
		put_bits(at, 32, 16, udp_len);
		at[6] = UDP_PROTOCOL;
		at[7] = HOPS;
		memcpy(at + 8, p->src, 16);
		memcpy(at + 24, p->dst, 16);
	}
	put_bits(udp, 0, 16, p->f[CF_F_OVER]);
	put_bits(udp, 16, 16, p->f[CF_F_DPORT]);
	put_bits(udp, 32, 16, udp_len);
	return ip_bytes;
}

int cf_frame_wrap(struct cf_frame *f, const struct cf_packet *carrier, const void *udp, size_t len)
{
	size_t head = UDP_BYTES + (cf_address_is_ipv4(carrier->dst) ? IP4_BYTES : IP6_BYTES);

	if (len > sizeof(f->bytes) - head)
		return -1;
	put_carrier(carrier, UDP_BYTES + len, f->bytes);
	memcpy(f->bytes + head, udp, len);
	f->len = head + len;
	return 0;
}

size_t cf_frame_udp(const struct cf_frame *f)
{
	return UDP_BYTES + (f->bytes[0] >> 4 == 4 ? IP4_BYTES : IP6_BYTES);
}

static size_t headers_bytes(const struct cf_packet *p)
{
	uint8_t list[4];
	size_t n = headers_of(p->kind, p->f[CF_F_STAMPED], list), bytes = BTH_BYTES;

	for (size_t i = 0; i < n; i++)
		bytes += header_of[list[i]].bytes;
	return bytes;
}

static uint8_t *put_headers(const struct cf_packet *p, uint8_t *at)
{
	uint8_t list[4];
	size_t n = headers_of(p->kind, p->f[CF_F_STAMPED], list);

	put_header(&header_of[BTH], p->f, at);
	at += BTH_BYTES;
	for (size_t i = 0; i < n; i++) {
		put_header(&header_of[list[i]], p->f, at);
		at += header_of[list[i]].bytes;
	}
	return at;
}

void cf_packet_init(struct cf_packet *p, enum cf_kind kind)
{
	memset(p, 0, sizeof(*p));
	p->kind = kind;
	p->f[CF_F_OPCODE] = opcode_of[kind];
	p->f[CF_F_DPORT] = CF_UDP_PORT;
	p->f[CF_F_PKEY] = 0xFFFF;
	p->f[CF_F_TSTYPE] = 1;
	p->f[CF_F_STAMPED] = cf_kind_is_data(kind);
	p->f[CF_F_CCTYPE] = kind == CF_NACK ? 2 : 0;
}

size_t cf_pad_of(uint64_t len)
{
	return (size_t)(-len & 3);
}

void cf_packet_encode(const struct cf_packet *p, struct cf_frame *f)
{
	size_t pad = cf_pad_of(p->f[CF_F_LEN]);
	size_t udp_len = UDP_BYTES + headers_bytes(p) + p->f[CF_F_LEN] + pad + ICRC_BYTES;
	size_t ip_bytes = put_carrier(p, udp_len, f->bytes);
	uint8_t *at = put_headers(p, f->bytes + ip_bytes + UDP_BYTES);
	uint32_t crc;

	if (p->f[CF_F_LEN] > 0)
		memcpy(at, p->payload, p->f[CF_F_LEN]);
	at += p->f[CF_F_LEN];
	memset(at, 0, pad);
	at += pad;
	f->len = ip_bytes + udp_len;
	crc = icrc_of(f->bytes, f->len - ICRC_BYTES, ip_bytes == IP4_BYTES);
	for (unsigned i = 0; i < ICRC_BYTES; i++)
		at[i] = (uint8_t)(crc >> 8 * i);
}

/* ---- reading ---- */

/* Returns how long the IP header is; 0: it is none that carries UDP, or lengths do not agree. */
static size_t get_carrier(const struct cf_frame *f, struct cf_packet *p)
{
	const uint8_t *at = f->bytes, *udp;
	bool ipv4 = f->len > 0 && at[0] == 0x45;
	size_t ip_bytes = ipv4 ? IP4_BYTES : IP6_BYTES;
	uint64_t tclass, total;

	if (f->len < ip_bytes + UDP_BYTES || (!ipv4 && at[0] >> 4 != 6))
		return 0;
	tclass = ipv4 ? at[1] : get_bits(at, 4, 8);
	total = ipv4 ? get_bits(at, 16, 16) : IP6_BYTES + get_bits(at, 32, 16);
	if (at[ipv4 ? 9 : 6] != UDP_PROTOCOL || total != f->len)
		return 0;
	if (ipv4) {
		p->src[10] = p->src[11] = p->dst[10] = p->dst[11] = 0xFF;
		memcpy(p->src + 12, at + 12, 4);
		memcpy(p->dst + 12, at + 16, 4);
	} else {
		memcpy(p->src, at + 8, 16);
		memcpy(p->dst, at + 24, 16);
		p->f[CF_F_FLOW] = get_bits(at, 12, 20);
	}
	udp = at + ip_bytes;
	p->f[CF_F_DSCP] = tclass >> 2;
	p->f[CF_F_ECN] = tclass & 3;
	p->f[CF_F_OVER] = get_bits(udp, 0, 16);
	p->f[CF_F_DPORT] = get_bits(udp, 16, 16);
	return get_bits(udp, 32, 16) == total - ip_bytes ? ip_bytes : 0;
}

static bool find_kind(uint64_t opcode, enum cf_kind *kind)
{
	for (unsigned i = 0; i < CF_KIND_COUNT; i++)
		if (opcode_of[i] == opcode) {
			*kind = (enum cf_kind)i;
			return true;
		}
	return false;
}

/* Reserved bits are those that are lost when what was read is written again. */
static bool has_reserved(const struct cf_packet *p, const uint8_t *headers, size_t bytes)
{
	uint8_t again[128];

	put_headers(p, again);
	again[4] = headers[4]; /* not covered by the ICRC: any hop may have changed it */
	return memcmp(again, headers, bytes) != 0;
}

const char *cf_packet_decode(const struct cf_frame *f, struct cf_packet *p)
{
	const uint8_t *at, *end = f->bytes + f->len - ICRC_BYTES;
	uint8_t list[4];
	size_t ip_bytes, n, bytes;
	uint32_t crc;

	memset(p, 0, sizeof(*p));
	ip_bytes = get_carrier(f, p);
	if (ip_bytes == 0)
		return "it is no UDP packet";
	at = f->bytes + ip_bytes + UDP_BYTES;
	if (f->len < ip_bytes + UDP_BYTES + BTH_BYTES + ICRC_BYTES)
		return "it is shorter than BTH and ICRC";
	get_header(&header_of[BTH], at, p->f);
	if (!find_kind(p->f[CF_F_OPCODE], &p->kind))
		return "its opcode is none of MRC's";
	bytes = headers_bytes(p);
	if ((size_t)(end - at) < bytes)
		return "it is shorter than its headers";
	n = headers_of(p->kind, p->f[CF_F_STAMPED], list);
	bytes = BTH_BYTES;
	for (size_t i = 0; i < n; i++) {
		get_header(&header_of[list[i]], at + bytes, p->f);
		bytes += header_of[list[i]].bytes;
	}
	p->payload = at + bytes;
	p->reserved_set = has_reserved(p, at, bytes);
	if ((size_t)(end - p->payload) < p->f[CF_F_PAD])
		return "its pad is longer than what follows the headers";
	p->f[CF_F_LEN] = (uint64_t)(end - p->payload) - p->f[CF_F_PAD];
	if (p->f[CF_F_LEN] > 0 && !cf_kind_is_data(p->kind))
		return "a control packet has a payload";
	crc = icrc_of(f->bytes, f->len - ICRC_BYTES, ip_bytes == IP4_BYTES);
	p->icrc_ok = true;
	for (unsigned i = 0; i < ICRC_BYTES; i++)
		p->icrc_ok = p->icrc_ok && end[i] == (uint8_t)(crc >> 8 * i);
	return NULL;
}
