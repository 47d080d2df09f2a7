/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trim.h - cuts the payload off a packet. queue.h decides which packets are trimmed and accounts
 * for them (swq_trim_or_drop); this header changes the frame: length, DSCP and, on request, the UDP
 * header.
 */
#ifndef SOFTMRC_BPF_TRIM_H
#define SOFTMRC_BPF_TRIM_H

#include "bpf/packet.h"

/* Sums a part of the frame, as checksums do: whole pieces, then what is left. */
static __always_inline int swq_packet_checksum(struct __sk_buff *skb, __u32 at, __u32 end,
					       __u32 *sum)
{
	__u32 piece[SWQ_SUM_PIECE / 4];
	__u32 rest;

	for (int i = 0; i < SWQ_SUM_PIECES && at + sizeof(piece) <= end; i++) {
		if (bpf_skb_load_bytes(skb, at, piece, sizeof(piece)))
			return -1;
		*sum = bpf_csum_diff(NULL, 0, piece, sizeof(piece), *sum);
		at += sizeof(piece);
	}
	rest = end - at;
	if (!rest)
		return 0;
	__builtin_memset(piece, 0, sizeof(piece));
	if (rest > sizeof(piece) || bpf_skb_load_bytes(skb, at, piece, rest))
		return -1;
	*sum = bpf_csum_diff(NULL, 0, piece, sizeof(piece), *sum);
	return 0;
}

/*
 * Gives a cut UDP packet its length and, if it had one, a checksum. Without a routing header the
 * addresses of the outer header are those that the checksum covers; with one they may not be yet,
 * and the packet goes without.
 */
__noinline int swq_packet_repair(struct __sk_buff *skb, __u32 udp, __u32 bytes)
{
	__u32 left = bytes - udp;
	__u32 pseudo[2] = {bpf_htonl(left), bpf_htonl(SWQ_NEXT_UDP)};
	__u32 addresses[8];
	__u8 h[4] = {left >> 8, left, 0, 0};
	__u32 sum = 0;
	__u16 old, new;

	if (bpf_skb_load_bytes(skb, udp + 6, &old, sizeof(old)) ||
	    bpf_skb_store_bytes(skb, udp + 4, h, sizeof(h), BPF_F_RECOMPUTE_CSUM))
		return -1;
	if (!old || udp != SWQ_ETH + SWQ_V6)
		return 0;
	sum = bpf_csum_diff(NULL, 0, pseudo, sizeof(pseudo), 0);
	if (bpf_skb_load_bytes(skb, SWQ_ETH + 8, addresses, sizeof(addresses)))
		return -1;
	sum = bpf_csum_diff(NULL, 0, addresses, sizeof(addresses), sum);
	if (swq_packet_checksum(skb, udp, bytes, &sum))
		return -1;
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	new = ~sum;
	/* 0 would say that there is none. */
	if (!new)
		new = 0xffff;
	return bpf_skb_store_bytes(skb, udp + 6, &new, sizeof(new), BPF_F_RECOMPUTE_CSUM);
}

/*
 * Cuts a frame to `bytes` as switches do: the outer header gets its new length and DSCP, nothing
 * inside is touched. With `repair`, for receivers that are kernel UDP sockets, a UDP header that
 * belongs to the outer header is made right. When it fails the packet must be dropped.
 * REQ(switch.trim.cut) REQ(switch.trim.inner)
 */
static __always_inline int swq_packet_trim(struct __sk_buff *skb, const struct swq_packet *p,
					   __u32 bytes, __u8 dscp, int repair)
{
	__u32 length = bytes - SWQ_ETH - SWQ_V6;
	__u8 h[2] = {length >> 8, length};
	__u32 udp = 0;

	if (repair)
		swq_packet_payload(skb, p, &udp);
	if (bpf_skb_change_tail(skb, bytes, 0) || swq_packet_remark(skb, p, dscp) ||
	    bpf_skb_store_bytes(skb, SWQ_ETH + 4, h, sizeof(h), BPF_F_RECOMPUTE_CSUM))
		return -1;
	return udp && udp + 8 <= bytes ? swq_packet_repair(skb, udp, bytes) : 0;
}

#endif
