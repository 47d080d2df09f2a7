/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vq.bpf.c - the egress program of a switch port: faults, a virtual output queue, ECN, trimming.
 *
 * It runs at the clsact egress hook of every port, before the qdisc. Faults come first, then the
 * model of the queue (queue.h) decides: send, mark, trim or drop. HTB below, where it is set up,
 * delays what was admitted; it finds the class in skb->priority. The kernel fixes the length that
 * HTB bills before this hook, so a packet whose length changed is sent to the same port once more
 * and passes the second time by its mark.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_helpers.h>

#include "bpf/fault.h"
#include "bpf/map.h"
#include "bpf/packet.h"
#include "bpf/queue.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct vq_config);
} vq_configs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct vq_state);
} vq_states SEC(".maps");

/* Blackhole and loss. Silent: STOLEN tells the sender that the packet left. */
static __always_inline int vq_lose(const struct vq_config *cfg, struct vq_state *st,
				   const struct vq_packet *p)
{
	if (cfg->flags & VQ_BLACKHOLE) {
		vq_count_gone(st, p, &st->count.blackholed);
		return 1;
	}
	if (vq_chance(cfg, st, cfg->loss_ppm)) {
		vq_count_gone(st, p, &st->count.lost);
		return 1;
	}
	return 0;
}

/* Does what the queue decided. `resized`: HTB would bill another length than the packet has. */
static __always_inline int vq_do(struct __sk_buff *skb, const struct vq_config *cfg,
				 struct vq_state *st, const struct vq_packet *p, enum vq_fate fate,
				 int resized)
{
	if (fate == VQ_DROP)
		return TC_ACT_SHOT;
	skb->priority =
		fate == VQ_SEND || fate == VQ_SEND_MARKED ? VQ_PRIORITY_DATA : VQ_PRIORITY_CONTROL;
	/* Where the mark cannot be written the packet goes without. */
	if (fate == VQ_SEND_MARKED && vq_packet_mark(skb, p))
		__sync_fetch_and_sub(&st->count.marked, 1);
	if (fate == VQ_TRIM) {
		if (vq_packet_trim(skb, p, cfg->trim_bytes, cfg->trim_dscp,
				   cfg->flags & VQ_REPAIR_UDP)) {
			vq_disown(st, &st->count.trimmed, cfg->trim_bytes);
			return TC_ACT_SHOT;
		}
		resized = 1;
	}
	if (fate == VQ_SEND_WHOLE && cfg->flags & VQ_REMARK_SHORT &&
	    vq_packet_remark(skb, p, cfg->trim_dscp)) {
		vq_disown(st, &st->count.whole, p->bytes);
		return TC_ACT_SHOT;
	}
	if (!resized)
		return TC_ACT_OK;
	skb->mark = VQ_MARK_ADMITTED;
	return bpf_redirect(skb->ifindex, 0);
}

/* The faults that leave something to send. *how says what skb is afterwards. 0: nothing is. */
static __always_inline int vq_disturb(struct __sk_buff *skb, const struct vq_config *cfg,
				      struct vq_state *st, struct vq_packet *p,
				      enum vq_arrival *how)
{
	int passed;

	if (vq_chance(cfg, st, cfg->corrupt_ppm)) {
		if (vq_unsummed(skb, p)) {
			vq_count_gone(st, p, &st->count.lost);
			return 0;
		}
		vq_corrupt(skb, cfg, st, p);
	}
	if (vq_chance(cfg, st, cfg->reorder_ppm) && vq_hold_back(skb, p)) {
		vq_count_gone(st, p, &st->count.held);
		return 0;
	}
	if (vq_chance(cfg, st, cfg->duplicate_ppm))
		vq_send_copy(skb, VQ_MARK_COPY);
	if (!st->count.held)
		return 1;
	passed = vq_overtake(skb, p);
	if (passed > 0) {
		vq_packet_read(skb, p);
		*how = VQ_RELEASED;
	}
	if (passed < 0) {
		bpf_spin_lock(&st->lock);
		st->count.held--;
		st->count.dropped++;
		bpf_spin_unlock(&st->lock);
	}
	return passed >= 0;
}

SEC("tc")
int vq_egress(struct __sk_buff *skb)
{
	__u32 port = skb->ifindex, mark = skb->mark;
	enum vq_arrival how = mark == VQ_MARK_COPY ? VQ_DUPLICATED : VQ_OFFERED;
	struct vq_config *cfg;
	struct vq_state *st;
	struct vq_packet p;

	if (mark >= VQ_MARK_ADMITTED && mark <= VQ_MARK_PASSED)
		skb->mark = 0;
	if (mark == VQ_MARK_ADMITTED)
		return TC_ACT_OK;
	cfg = bpf_map_lookup_elem(&vq_configs, &port);
	st = bpf_map_lookup_elem(&vq_states, &port);
	if (!cfg || !st)
		return TC_ACT_OK;
	vq_packet_read(skb, &p);
	if (mark != VQ_MARK_COPY && mark != VQ_MARK_PASSED) {
		if (vq_lose(cfg, st, &p) || !vq_disturb(skb, cfg, st, &p, &how))
			return TC_ACT_STOLEN;
	}
	return vq_do(skb, cfg, st, &p, vq_admit(skb, cfg, st, &p, how), how == VQ_RELEASED);
}

/* No helper here is reserved for GPL programs. */
char vq_license[] SEC("license") = "BSD-2-Clause";
