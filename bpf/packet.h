/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packet.h - what the egress program knows of a packet, and the few bytes that it rewrites.
 *
 * A switch looks at the outer header alone: the class is its DSCP, the mark its ECN field. Frames
 * are read by copies of a few bytes, which works wherever the kernel keeps them; what is cut short
 * or contradicts its own length is taken as "other" and never rewritten.
 */
#ifndef SOFTMRC_BPF_PACKET_H
#define SOFTMRC_BPF_PACKET_H

#include <stddef.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "bpf/map.h"

#define SWQ_ETH 14
#define SWQ_V6 40
#define SWQ_NEXT_TCP 6
#define SWQ_NEXT_UDP 17
#define SWQ_NEXT_V6 41
#define SWQ_NEXT_ROUTING 43
/* Extension and inner headers that are followed: an SRH, an inner IPv6 header, one to spare. */
#define SWQ_NESTING_MAX 3
/* Checksums are made in pieces that the stack holds; so many cover the longest trim length. */
#define SWQ_SUM_PIECE 64
#define SWQ_SUM_PIECES 64

struct swq_packet {
	__u32 bytes;  /* of the frame, Ethernet header included */
	__u32 end;    /* where the IP packet ends in it; behind it is padding */
	__u8 family;  /* 6, 4, or 0 for anything else and for what is malformed */
	__u8 tclass;  /* DSCP and ECN; 0 where there is none */
	__u8 next;    /* protocol behind the IP header */
	__u32 behind; /* and where that begins */
};

static __always_inline void swq_packet_read_v6(struct __sk_buff *skb, struct swq_packet *p)
{
	__u8 h[8];

	if (p->bytes < SWQ_ETH + SWQ_V6 || bpf_skb_load_bytes(skb, SWQ_ETH, h, sizeof(h)))
		return;
	p->end = SWQ_ETH + SWQ_V6 + ((__u32)h[4] << 8 | h[5]);
	/* A length of 0 is a jumbogram, which no link here carries. */
	if (h[0] >> 4 != 6 || p->end == SWQ_ETH + SWQ_V6 || p->end > p->bytes)
		return;
	p->family = 6;
	p->tclass = h[0] << 4 | h[1] >> 4;
	p->next = h[6];
	p->behind = SWQ_ETH + SWQ_V6;
}

static __always_inline void swq_packet_read_v4(struct __sk_buff *skb, struct swq_packet *p)
{
	__u8 h[20];

	if (bpf_skb_load_bytes(skb, SWQ_ETH, h, sizeof(h)))
		return;
	p->end = SWQ_ETH + ((__u32)h[2] << 8 | h[3]);
	p->behind = SWQ_ETH + (h[0] & 0xf) * 4u;
	if (h[0] >> 4 != 4 || p->behind < SWQ_ETH + sizeof(h) || p->behind > p->end ||
	    p->end > p->bytes)
		return;
	p->family = 4;
	p->tclass = h[1];
	p->next = h[9];
}

static __always_inline void swq_packet_read(struct __sk_buff *skb, struct swq_packet *p)
{
	__u8 type[2];

	*p = (struct swq_packet){.bytes = skb->len};
	if (bpf_skb_load_bytes(skb, SWQ_ETH - 2, type, sizeof(type)))
		return;
	if (type[0] == 0x86 && type[1] == 0xdd)
		swq_packet_read_v6(skb, p);
	else if (type[0] == 0x08 && type[1] == 0x00)
		swq_packet_read_v4(skb, p);
}

/* Sets CE. The header was whole when it was read. REQ(switch.ecn.outer) */
static __always_inline int swq_packet_mark(struct __sk_buff *skb, const struct swq_packet *p)
{
	__u8 h[2], ce[2];
	__u16 old, new;

	if (bpf_skb_load_bytes(skb, SWQ_ETH, h, sizeof(h)))
		return -1;
	ce[0] = h[0];
	ce[1] = h[1] | (p->family == 6 ? 0x30 : 0x03);
	if (p->family == 4) {
		__builtin_memcpy(&old, h, sizeof(old));
		__builtin_memcpy(&new, ce, sizeof(new));
		if (bpf_l3_csum_replace(skb, SWQ_ETH + 10, old, new, sizeof(old)))
			return -1;
	}
	return bpf_skb_store_bytes(skb, SWQ_ETH, ce, sizeof(ce), BPF_F_RECOMPUTE_CSUM);
}

/* Writes another DSCP into an IPv6 header; ECN and flow label stay. */
static __always_inline int swq_packet_remark(struct __sk_buff *skb, const struct swq_packet *p,
					     __u8 dscp)
{
	__u8 tclass = dscp << 2 | (p->tclass & 3);
	__u8 h[2];

	if (bpf_skb_load_bytes(skb, SWQ_ETH, h, sizeof(h)))
		return -1;
	h[0] = 0x60 | tclass >> 4;
	h[1] = tclass << 4 | (h[1] & 0xf);
	return bpf_skb_store_bytes(skb, SWQ_ETH, h, sizeof(h), BPF_F_RECOMPUTE_CSUM);
}

/*
 * Finds where the headers end: behind UDP or TCP, through an SRH and one IPv6 header inside the
 * other. What is not understood counts as payload. `udp` gets the place of a UDP header that
 * belongs to the outer IPv6 header, or 0.
 */
static __always_inline __u32 swq_packet_payload(struct __sk_buff *skb, const struct swq_packet *p,
						__u32 *udp)
{
	__u32 at = p->behind;
	__u8 next = p->next, inner = 0;
	__u8 h[8], data_offset;

	*udp = 0;
	for (int i = 0; i < SWQ_NESTING_MAX; i++) {
		if (bpf_skb_load_bytes(skb, at, h, sizeof(h)))
			return at;
		if (next == SWQ_NEXT_ROUTING) {
			next = h[0];
			at += 8 + h[1] * 8u;
		} else if (next == SWQ_NEXT_V6) {
			next = h[6];
			at += SWQ_V6;
			inner = 1;
		} else {
			break;
		}
	}
	if (next == SWQ_NEXT_UDP) {
		if (!inner)
			*udp = at;
		return at + 8;
	}
	if (next == SWQ_NEXT_TCP && !bpf_skb_load_bytes(skb, at + 12, &data_offset, 1))
		return at + (data_offset >> 4) * 4u;
	return at;
}

#endif
