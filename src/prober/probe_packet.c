/* SPDX-License-Identifier: BSD-2-Clause */
/* probe_packet.c - see probe_packet.h. */
#include "prober/probe_packet.h"

#include "base/bytes.h"

#define FIXED_BYTES 32u
#define FLAG_ASKS 1u
#define FLAG_DAMAGED 2u /* on the way to the one that sends it back */
#define FLAG_PLAIN 4u

uint16_t probe_packet_stamp(uint64_t came_ns)
{
	return came_ns ? (uint16_t)(came_ns / 1000 % PROBE_STAMP_US + 1) : 0;
}

static uint8_t filler(const struct probe_packet *p, uint32_t at)
{
	return (uint8_t)((p->nonce >> at % 8 * 8) + at);
}

void probe_packet_write(uint8_t *out, const struct probe_packet *p)
{
	mb_store_be32(out, PROBE_MAGIC);
	out[4] = (uint8_t)((p->asks ? FLAG_ASKS : 0) | (p->whole ? 0 : FLAG_DAMAGED) |
			   (p->plain ? FLAG_PLAIN : 0));
	out[5] = (uint8_t)p->plane;
	mb_store_be16(out + 6, p->asked_at);
	mb_store_be32(out + 8, p->from);
	mb_store_be32(out + 12, p->asked);
	mb_store_be32(out + 16, p->stream);
	mb_store_be32(out + 20, p->seq);
	mb_store_be64(out + 24, p->nonce);
	for (uint32_t at = FIXED_BYTES; at < p->bytes; at++)
		out[at] = filler(p, at);
}

bool probe_packet_read(const uint8_t *in, size_t bytes, struct probe_packet *p)
{
	if (bytes < PROBE_BYTES_MIN || bytes > PROBE_BYTES_MAX || mb_load_be32(in) != PROBE_MAGIC)
		return false;
	p->bytes = (uint32_t)bytes;
	p->asks = in[4] & FLAG_ASKS;
	p->plain = in[4] & FLAG_PLAIN;
	p->plane = in[5];
	p->asked_at = mb_load_be16(in + 6);
	p->from = mb_load_be32(in + 8);
	p->asked = mb_load_be32(in + 12);
	p->stream = mb_load_be32(in + 16);
	p->seq = mb_load_be32(in + 20);
	p->nonce = mb_load_be64(in + 24);
	p->whole = !(in[4] & FLAG_DAMAGED);
	for (uint32_t at = FIXED_BYTES; at < bytes && p->whole; at++)
		p->whole = in[at] == filler(p, at);
	return true;
}
