/* SPDX-License-Identifier: BSD-2-Clause */
/* capture.c - see capture.h. Whether all could be written the stream knows (ferror). */
#include "capture.h"

#include <string.h>

#include "base/pcapng.h"
#include "support/frame_icrc.h"
#include "wire/headers.h"
#include "wire/ip_udp.h"
#include "wire/packet.h"

#define COMMENT_MAX 2048u
#define OPTION_COMMENT 1u
#define OPTION_BYTES 4u
#define LENGTH_BYTES 4u
#define UDP_PORT 4791u
#define ENGINE 1u
/* What a world sends or delivers at most, with its ICRC. */
#define PACKET_MAX (MW_HEADERS_MAX + 4096u + 3u + MW_ICRC_BYTES)
#define ECT0 2u
#define CE 3u

/* A block of the file: `head`, of which bytes 4 to 7 are the block's length, `body` and `tail`. */
struct block {
	uint8_t *head;
	size_t head_len;
	const uint8_t *body;
	size_t body_len;
	const uint8_t *tail;
	size_t tail_len;
	bool has_options;
};

static size_t padded(size_t len)
{
	return (len + 3) & ~(size_t)3;
}

/* Writes the block with a comment behind its options, and so that much longer. */
static void write_block(FILE *to, const struct block *b, const char *comment)
{
	static const uint8_t zeros[OPTION_BYTES];
	size_t len = strlen(comment), keep = LENGTH_BYTES + (b->has_options ? OPTION_BYTES : 0);
	uint16_t option[2] = {OPTION_COMMENT, (uint16_t)len};
	uint32_t total;

	memcpy(&total, b->head + 4, sizeof(total));
	total += (uint32_t)(OPTION_BYTES + padded(len) + (b->has_options ? 0 : OPTION_BYTES));
	memcpy(b->head + 4, &total, sizeof(total));
	fwrite(b->head, 1, b->head_len, to);
	fwrite(b->body, 1, b->body_len, to);
	fwrite(b->tail, 1, b->tail_len - keep, to);
	fwrite(option, 1, sizeof(option), to);
	fwrite(comment, 1, len, to);
	fwrite(zeros, 1, padded(len) - len, to);
	fwrite(zeros, 1, OPTION_BYTES, to); /* the end of options */
	fwrite(&total, 1, sizeof(total), to);
}

/* The comment lines with which a script begins, without their #. */
static void top_of(const char *script, char out[COMMENT_MAX])
{
	size_t used = 0;

	while (*script == '#') {
		size_t skip = script[1] == ' ' ? 2 : 1, len = strcspn(script, "\n");

		if (len >= skip && used + len < COMMENT_MAX - 1) {
			memcpy(out + used, script + skip, len - skip);
			used += len - skip;
			out[used++] = '\n';
		}
		script += len + (script[len] == '\n');
	}
	out[used ? used - 1 : 0] = '\0';
}

void capture_begin(const struct capture *c, unsigned planes, const char *script)
{
	uint8_t section[MB_PCAPNG_SECTION_BYTES], interface[MB_PCAPNG_INTERFACE_MAX];
	char comment[COMMENT_MAX], name[MB_PCAPNG_NAME_MAX];
	const struct block b = {.head = section,
				.body = section,
				.head_len = sizeof(section) - LENGTH_BYTES,
				.tail = section + sizeof(section) - LENGTH_BYTES,
				.tail_len = LENGTH_BYTES};

	if (!c->to)
		return;
	top_of(script, comment);
	mb_pcapng_section(section);
	write_block(c->to, &b, comment);
	for (unsigned plane = 0; plane < planes; plane++) {
		snprintf(name, sizeof(name), "plane%u", plane);
		fwrite(interface, 1, mb_pcapng_interface(name, interface), c->to);
	}
}

/* Writes IP and UDP in front of what follows; returns their size. */
static size_t write_carrier(const struct capture_packet *p, uint8_t out[MW_IP_UDP_MAX])
{
	const struct mw_dscp_map map = mw_dscp_map_default();
	uint32_t dscp = mw_dscp_encode(&map, p->cls);
	uint32_t ecn = p->cls == MW_DSCP_CONTROL ? 0 : ECT0;
	uint8_t engine[16] = {[10] = 0xFF, 0xFF, 192, 0, 2, ENGINE},
		other[16] = {[10] = 0xFF, 0xFF, 192, 0, 2, p->other};
	struct mw_ip_udp h = {
		.sport = (uint16_t)p->ev,
		.dport = UDP_PORT,
		.len = (uint32_t)(p->len + (p->cut_off ? p->cut_off : MW_ICRC_BYTES)),
		.tos = (uint8_t)(dscp << 2 | (p->ce ? CE : ecn)),
	};

	memcpy(h.src, p->dir == FROM_ENGINE ? engine : other, sizeof(h.src));
	memcpy(h.dst, p->dir == FROM_ENGINE ? other : engine, sizeof(h.dst));
	return mw_ip_udp_write(&h, out);
}

/* The ICRC of a packet whose IP and UDP headers are at `ip`. */
static void write_icrc(const struct capture_packet *p, const uint8_t *ip,
		       uint8_t out[MW_ICRC_BYTES])
{
	const struct frame_ends ends = {true, ip + 12, ip + 16, (uint16_t)p->ev, UDP_PORT};

	frame_icrc(&ends, p->bytes, p->len, out);
	out[0] ^= p->bad_icrc;
}

void capture_add(const struct capture *c, const struct capture_packet *p)
{
	static uint8_t frame[MW_IP_UDP_MAX + PACKET_MAX];
	uint8_t head[MB_PCAPNG_HEAD_BYTES], tail[MB_PCAPNG_TAIL_MAX];
	char comment[COMMENT_MAX] = {p->dir == FROM_ENGINE ? '>' : '<', ' '};
	struct block b = {.head = head,
			  .head_len = sizeof(head),
			  .body = frame,
			  .tail = tail,
			  .has_options = true};
	size_t len;

	if (!c->to)
		return;
	len = write_carrier(p, frame);
	memcpy(frame + len, p->bytes, p->len);
	if (!p->cut_off)
		write_icrc(p, frame, frame + len + p->len);
	b.body_len = len + p->len + (p->cut_off ? 0 : MW_ICRC_BYTES);
	b.tail_len = mb_pcapng_packet(
		p->plane, p->now_ns, (uint32_t)b.body_len, (uint32_t)b.body_len,
		p->dir == FROM_ENGINE ? MB_PCAPNG_OUTBOUND : MB_PCAPNG_INBOUND, head, tail);
	packet_print(p->packet, comment + 2, sizeof(comment) - 2);
	write_block(c->to, &b, comment);
}
