/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault.h - what goes wrong with packets on purpose, before they come to the queue.
 *
 * Lost packets are taken silently: to the sender they went out, as on a bad cable. A packet can be
 * held back in a map, one a port, until the next has overtaken it; the program cannot keep a packet
 * itself, so it keeps the bytes and writes them over a copy of the one that overtook.
 *
 * TCP that this very host sends is a case of its own: the kernel writes its checksum behind this
 * hook. A flipped bit would get a checksum that fits, and bytes moved to another packet one that
 * does not. So such a packet, corrupted, is lost here as the receiver would have had it, and none
 * is held back.
 */
#ifndef SOFTMRC_BPF_FAULT_H
#define SOFTMRC_BPF_FAULT_H

#include <bpf/bpf_helpers.h>

#include "bpf/map.h"
#include "bpf/packet.h"
#include "bpf/queue.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct swq_hold);
} swq_holds SEC(".maps");

/* Counts a packet that goes no further, in `what` and as offered. */
static __always_inline void swq_count_fault_loss(struct swq_state *st, const struct swq_packet *p,
						 __u64 *what)
{
	bpf_spin_lock(&st->lock);
	swq_count_arrival(st, p, SWQ_OFFERED);
	(*what)++;
	bpf_spin_unlock(&st->lock);
}

/* Whether the kernel has yet to write the checksum: see above. */
static __always_inline int swq_has_no_udp_checksum(struct __sk_buff *skb,
						   const struct swq_packet *p)
{
	return !skb->ingress_ifindex && p->family && p->next == SWQ_NEXT_TCP;
}

/* Flips one bit behind the headers; a packet without payload stays whole. */
static __always_inline void swq_corrupt(struct __sk_buff *skb, const struct swq_config *cfg,
					struct swq_state *st, const struct swq_packet *p)
{
	__u64 draw = swq_random(cfg, st);
	__u32 udp, at;
	__u8 byte;

	if (!p->family)
		return;
	at = swq_packet_payload(skb, p, &udp);
	if (at >= p->end)
		return;
	at += (draw >> 8 & 0xffffff) % (p->end - at);
	if (bpf_skb_load_bytes(skb, at, &byte, 1))
		return;
	byte ^= 1 << (draw & 7);
	if (!bpf_skb_store_bytes(skb, at, &byte, 1, 0))
		__sync_fetch_and_add(&st->count.corrupted, 1);
}

/* Sends a copy of the packet through the port by itself, past the faults. Negative: did not. */
static __always_inline long swq_send_copy(struct __sk_buff *skb, __u32 mark)
{
	__u32 own = skb->mark;
	long sent;

	skb->mark = mark;
	sent = bpf_clone_redirect(skb, skb->ifindex, 0);
	skb->mark = own;
	return sent;
}

/* Keeps the bytes of a packet to be overtaken. 0: the place is taken, or it does not fit. */
static __always_inline int swq_hold_packet(struct __sk_buff *skb, const struct swq_packet *p)
{
	__u32 port = skb->ifindex, bytes = skb->len;
	struct swq_hold *hold = bpf_map_lookup_elem(&swq_holds, &port);
	__u32 state = SWQ_HOLD_EMPTY;

	if (!hold || p->family != 6 || swq_has_no_udp_checksum(skb, p) || bytes > SWQ_HOLD_MAX ||
	    bytes < SWQ_ETH || skb->gso_size ||
	    __sync_val_compare_and_swap(&hold->state, SWQ_HOLD_EMPTY, SWQ_HOLD_BUSY))
		return 0;
	if (!bpf_skb_load_bytes(skb, 0, hold->frame, bytes)) {
		hold->bytes = bytes;
		state = SWQ_HOLD_FULL;
	}
	__sync_lock_test_and_set(&hold->state, state);
	return state == SWQ_HOLD_FULL;
}

/*
 * The packet overtakes the one that is held: it leaves as a copy, and its own buffer becomes the
 * held packet. 0: nothing happened. 1: skb is the held packet now. -1: the held packet is lost, and
 * with it the buffer.
 */
static __always_inline int swq_release_held(struct __sk_buff *skb, const struct swq_packet *p)
{
	__u32 port = skb->ifindex, bytes;
	struct swq_hold *hold = bpf_map_lookup_elem(&swq_holds, &port);
	__u32 state = SWQ_HOLD_FULL;
	int done = 0;

	if (!hold || p->family != 6 || swq_has_no_udp_checksum(skb, p) || skb->gso_size ||
	    __sync_val_compare_and_swap(&hold->state, SWQ_HOLD_FULL, SWQ_HOLD_BUSY) !=
		    SWQ_HOLD_FULL)
		return 0;
	bytes = hold->bytes;
	if (bytes >= SWQ_ETH && bytes <= SWQ_HOLD_MAX &&
	    swq_send_copy(skb, SWQ_MARK_OVERTAKING) >= 0) {
		done = bpf_skb_change_tail(skb, bytes, 0) ||
				       bpf_skb_store_bytes(skb, 0, hold->frame, bytes, 0)
			       ? -1
			       : 1;
		state = SWQ_HOLD_EMPTY;
	}
	__sync_lock_test_and_set(&hold->state, state);
	return done;
}

#endif
