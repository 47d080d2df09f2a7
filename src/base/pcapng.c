/* SPDX-License-Identifier: BSD-2-Clause */
/* pcapng.c - blocks of a pcapng file, written into the caller's buffers. */
#include "base/pcapng.h"

#include <string.h>

#define BLOCK_SECTION 0x0A0D0D0Au
#define BLOCK_INTERFACE 1u
#define BLOCK_PACKET 6u
#define BYTE_ORDER_MAGIC 0x1A2B3C4Du
#define LINKTYPE_RAW 101u /* begins with an IP header of either version */
#define OPTION_END 0u
#define OPTION_FLAGS 2u
#define OPTION_NAME 2u
#define OPTION_RESOLUTION 9u
#define RESOLUTION_NS 9u

struct writer {
	uint8_t *at;
};

static void put16(struct writer *w, uint32_t v)
{
	uint16_t half = (uint16_t)v;

	memcpy(w->at, &half, sizeof(half));
	w->at += sizeof(half);
}

static void put32(struct writer *w, uint32_t v)
{
	memcpy(w->at, &v, sizeof(v));
	w->at += sizeof(v);
}

static uint32_t padding(uint32_t len)
{
	return -len & 3;
}

static void put_padded(struct writer *w, const void *bytes, uint32_t len)
{
	memset(w->at, 0, len + padding(len));
	memcpy(w->at, bytes, len);
	w->at += len + padding(len);
}

static void put_option(struct writer *w, uint32_t code, const void *bytes, uint32_t len)
{
	put16(w, code);
	put16(w, len);
	put_padded(w, bytes, len);
}

size_t mb_pcapng_section(uint8_t out[MB_PCAPNG_SECTION_BYTES])
{
	struct writer w = {out};

	put32(&w, BLOCK_SECTION);
	put32(&w, MB_PCAPNG_SECTION_BYTES);
	put32(&w, BYTE_ORDER_MAGIC);
	put16(&w, 1); /* version 1.0 */
	put16(&w, 0);
	put32(&w, UINT32_MAX); /* the length of the section is not said */
	put32(&w, UINT32_MAX);
	put32(&w, MB_PCAPNG_SECTION_BYTES);
	return MB_PCAPNG_SECTION_BYTES;
}

size_t mb_pcapng_interface(const char *name, uint8_t out[MB_PCAPNG_INTERFACE_MAX])
{
	uint32_t len = 0, total;
	uint8_t resolution = RESOLUTION_NS;
	struct writer w = {out + 8}; /* type and length come last */

	while (len < MB_PCAPNG_NAME_MAX && name[len] != '\0')
		len++;
	put16(&w, LINKTYPE_RAW);
	put16(&w, 0);
	put32(&w, 0); /* packets are not cut */
	put_option(&w, OPTION_NAME, name, len);
	put_option(&w, OPTION_RESOLUTION, &resolution, 1);
	put32(&w, OPTION_END);
	total = (uint32_t)(w.at - out) + 4;
	put32(&w, total);
	w.at = out;
	put32(&w, BLOCK_INTERFACE);
	put32(&w, total);
	return total;
}

size_t mb_pcapng_packet(uint32_t interface, uint64_t time_ns, uint32_t len, uint32_t original,
			enum mb_pcapng_direction direction, uint8_t head[MB_PCAPNG_HEAD_BYTES],
			uint8_t tail[MB_PCAPNG_TAIL_MAX])
{
	uint32_t flags = (uint32_t)direction;
	/* Padding, the option of 8 bytes, its end, and the length once more. */
	uint32_t behind = padding(len) + 8 + 4 + 4;
	uint32_t total = MB_PCAPNG_HEAD_BYTES + len + behind;
	struct writer w = {head};

	put32(&w, BLOCK_PACKET);
	put32(&w, total);
	put32(&w, interface);
	put32(&w, (uint32_t)(time_ns >> 32));
	put32(&w, (uint32_t)time_ns);
	put32(&w, len);
	put32(&w, original);
	w.at = tail;
	memset(tail, 0, padding(len));
	w.at += padding(len);
	put_option(&w, OPTION_FLAGS, &flags, sizeof(flags));
	put32(&w, OPTION_END);
	put32(&w, total);
	return behind;
}
