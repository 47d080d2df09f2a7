/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/frame.h"

#include <string.h>

#include "support/test.h"
#include "wire/packet.h"

#define V4 20u
#define TCP 20u

static void put16(uint8_t *at, size_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static uint8_t tclass_of(const uint8_t *bytes)
{
	if (bytes[12] == 0x08 && bytes[13] == 0x00)
		return bytes[FRAME_ETH + 1];
	return (uint8_t)(bytes[FRAME_ETH] << 4 | bytes[FRAME_ETH + 1] >> 4);
}

uint8_t frame_dscp(const uint8_t *bytes)
{
	return tclass_of(bytes) >> 2;
}

uint8_t frame_ecn(const uint8_t *bytes)
{
	return tclass_of(bytes) & 3;
}

static uint16_t v4_sum(const uint8_t *header)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < V4; i += 2)
		sum += (uint32_t)header[i] << 8 | header[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

bool frame_v4_sum_ok(const uint8_t *bytes)
{
	return v4_sum(bytes + FRAME_ETH) == 0xffff;
}

static void set_tclass(uint8_t *header, uint8_t tclass)
{
	header[0] = (uint8_t)(0x60 | tclass >> 4);
	header[1] = (uint8_t)((header[1] & 0xf) | tclass << 4);
}

/* One IPv6 header, from fc00::1 or an address of `last` to uSIDs; flow label 0xabcde. */
static size_t put_v6(uint8_t *at, size_t left, uint8_t next, uint8_t tclass)
{
	static const uint8_t carrier[] = {0xfc, 0xbb, 0xbb, 0x00, 0xa0, 0x01, 0xb0, 0x00,
					  0xa0, 0x02, 0x00, 0x08, 0,	0,    0,    0};

	at[1] = 0xa;
	set_tclass(at, tclass);
	put16(at + 2, 0xbcde);
	put16(at + 4, left - FRAME_V6);
	at[6] = next;
	at[7] = 64;
	at[8] = 0xfd;
	at[23] = 1;
	memcpy(at + 24, carrier, sizeof(carrier));
	return FRAME_V6;
}

static size_t put_srh(uint8_t *at, uint8_t next)
{
	at[0] = next;
	at[1] = (FRAME_SRH - 8) / 8;
	at[2] = 4; /* segment routing */
	at[3] = 0; /* segments left */
	at[8] = 0xfd;
	return FRAME_SRH;
}

static size_t put_v4(uint8_t *at, size_t left, uint8_t tclass)
{
	at[0] = 0x45;
	at[1] = tclass;
	put16(at + 2, left);
	at[8] = 64;
	at[9] = 17;
	at[12] = at[16] = 10;
	put16(at + 10, (uint16_t)~v4_sum(at));
	return V4;
}

static size_t put_udp(uint8_t *at, size_t left)
{
	put16(at, 0xc001);
	put16(at + 2, 4791);
	put16(at + 4, left);
	put16(at + 6, 0xbeef);
	return FRAME_UDP;
}

static void put_packet(uint8_t *at, size_t left, uint32_t psn)
{
	struct mw_packet pkt = {
		.bth = {.opcode = MW_WRITE_MIDDLE, .p_key = 0xffff, .dqp = 77, .psn = psn}};
	uint8_t head[MW_HEADERS_MAX];
	size_t n;

	pkt.data.reth.va = 0x1000;
	pkt.data.meth.msn = 9;
	n = mw_packet_encode(&pkt, head);
	for (size_t i = 0; i < left; i++)
		at[i] = i < n ? head[i] : (uint8_t)(psn + i * 7);
}

bool frame_outer_v6(enum frame_form form)
{
	return form != FRAME_V4 && form != FRAME_ARP;
}

static bool with_srh(enum frame_form form)
{
	return form == FRAME_SRH_DIRECT || form == FRAME_SRH_INNER;
}

static bool with_inner(enum frame_form form)
{
	return form == FRAME_INNER || form == FRAME_SRH_INNER;
}

size_t frame_headers(enum frame_form form)
{
	if (form == FRAME_ARP)
		return 42;
	if (form == FRAME_V4)
		return FRAME_ETH + V4 + FRAME_UDP;
	return FRAME_ETH + FRAME_V6 + (with_srh(form) ? FRAME_SRH : 0) +
	       (with_inner(form) ? FRAME_V6 : 0) + (form == FRAME_TCP ? TCP : FRAME_UDP);
}

static size_t put_headers(struct frame *f, enum frame_form form, uint8_t tclass)
{
	uint8_t *b = f->bytes;
	uint8_t transport = form == FRAME_TCP ? 6 : 17;
	uint8_t behind = with_inner(form) ? 41 : transport;
	size_t at = FRAME_ETH;

	if (form == FRAME_V4) {
		at += put_v4(b + at, f->len - at, tclass);
		return at + put_udp(b + at, f->len - at);
	}
	at += put_v6(b + at, f->len - at, with_srh(form) ? 43 : behind, tclass);
	if (with_srh(form))
		at += put_srh(b + at, behind);
	/* The inner header has marks of its own, so that a mix-up shows. */
	if (with_inner(form))
		at += put_v6(b + at, f->len - at, transport, 0x55);
	if (form == FRAME_TCP) {
		b[at + 12] = TCP / 4 << 4;
		return at + TCP;
	}
	return at + put_udp(b + at, f->len - at);
}

void frame_make(struct frame *f, enum frame_form form, size_t len, uint8_t dscp, uint8_t ecn,
		uint32_t psn)
{
	assert_true(len >= frame_headers(form) && len <= FRAME_MAX);
	memset(f, 0, sizeof(*f));
	f->len = len;
	memset(f->bytes, 0xff, 6);
	f->bytes[6] = 2;
	if (form == FRAME_ARP) {
		put16(f->bytes + 12, 0x0806);
		return;
	}
	put16(f->bytes + 12, form == FRAME_V4 ? 0x0800 : 0x86dd);
	f->bth = put_headers(f, form, (uint8_t)(dscp << 2 | ecn));
	put_packet(f->bytes + f->bth, len - f->bth, psn);
}

/* What a UDP packet in an IPv6 header must have as checksum; its own field counts as 0. */
static uint16_t udp_sum(const struct frame *f, size_t udp)
{
	size_t len = f->len - udp;
	uint32_t sum = (uint32_t)len + 17;

	for (size_t i = FRAME_ETH + 8; i < FRAME_ETH + FRAME_V6; i += 2)
		sum += (uint32_t)f->bytes[i] << 8 | f->bytes[i + 1];
	for (size_t i = udp; i < f->len; i++) {
		if (i != udp + 6 && i != udp + 7)
			sum += (uint32_t)f->bytes[i] << ((i - udp) % 2 ? 0 : 8);
	}
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff ? 0xffff : (uint16_t)~sum;
}

void frame_trimmed(struct frame *f, enum frame_form form, size_t bytes, uint8_t dscp, bool repair)
{
	size_t udp = f->bth - FRAME_UDP;

	f->len = bytes;
	set_tclass(f->bytes + FRAME_ETH, (uint8_t)(dscp << 2 | frame_ecn(f->bytes)));
	put16(f->bytes + FRAME_ETH + 4, bytes - FRAME_ETH - FRAME_V6);
	if (repair && (form == FRAME_DIRECT || form == FRAME_SRH_DIRECT) && udp + 8 <= bytes) {
		bool summed = f->bytes[udp + 6] || f->bytes[udp + 7];

		put16(f->bytes + udp + 4, bytes - udp);
		put16(f->bytes + udp + 6, summed && form == FRAME_DIRECT ? udp_sum(f, udp) : 0);
	}
}
