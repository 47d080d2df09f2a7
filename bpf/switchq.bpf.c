/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * switchq.bpf.c - the egress program of a switch port: faults, a virtual output queue, ECN,
 * trimming.
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
#include "bpf/trim.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct swq_config);
} swq_configs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct swq_state);
} swq_states SEC(".maps");

/* Blackhole and loss. Silent: STOLEN tells the sender that the packet left. */
static __always_inline int swq_drop_at_random(const struct swq_config *cfg, struct swq_state *st,
					      const struct swq_packet *p)
{
	if (cfg->flags & SWQ_BLACKHOLE) {
		swq_count_fault_loss(st, p, &st->count.blackholed);
		return 1;
	}
	if (swq_is_hit(cfg, st, cfg->loss_ppm)) {
		swq_count_fault_loss(st, p, &st->count.lost);
		return 1;
	}
	return 0;
}

/* Does what the queue decided. `resized`: HTB would bill another length than the packet has. */
static __always_inline int swq_execute(struct __sk_buff *skb, const struct swq_config *cfg,
				       struct swq_state *st, const struct swq_packet *p,
				       enum swq_verdict fate, int resized)
{
	if (fate == SWQ_DROP)
		return TC_ACT_SHOT;
	skb->priority = fate == SWQ_SEND || fate == SWQ_SEND_MARKED ? SWQ_PRIORITY_DATA
								    : SWQ_PRIORITY_CONTROL;
	/* Where the mark cannot be written the packet goes without. */
	if (fate == SWQ_SEND_MARKED && swq_packet_mark(skb, p))
		__sync_fetch_and_sub(&st->count.marked, 1);
	if (fate == SWQ_TRIM) {
		if (swq_packet_trim(skb, p, cfg->trim_bytes, cfg->trim_dscp,
				    cfg->flags & SWQ_REPAIR_UDP)) {
			swq_uncount(st, &st->count.trimmed, cfg->trim_bytes);
			return TC_ACT_SHOT;
		}
		resized = 1;
	}
	if (fate == SWQ_SEND_WHOLE && cfg->flags & SWQ_REMARK_SHORT &&
	    swq_packet_remark(skb, p, cfg->trim_dscp)) {
		swq_uncount(st, &st->count.whole, p->bytes);
		return TC_ACT_SHOT;
	}
	if (!resized)
		return TC_ACT_OK;
	skb->mark = SWQ_MARK_ADMITTED;
	return bpf_redirect(skb->ifindex, 0);
}

/* The faults that leave something to send. *how says what skb is afterwards. 0: nothing is. */
static __always_inline int swq_apply_faults(struct __sk_buff *skb, const struct swq_config *cfg,
					    struct swq_state *st, struct swq_packet *p,
					    enum swq_arrival *how)
{
	int passed;

	if (swq_is_hit(cfg, st, cfg->corrupt_ppm)) {
		if (swq_has_no_udp_checksum(skb, p)) {
			swq_count_fault_loss(st, p, &st->count.lost);
			return 0;
		}
		swq_corrupt(skb, cfg, st, p);
	}
	if (swq_is_hit(cfg, st, cfg->reorder_ppm) && swq_hold_packet(skb, p)) {
		swq_count_fault_loss(st, p, &st->count.held);
		return 0;
	}
	if (swq_is_hit(cfg, st, cfg->duplicate_ppm))
		swq_send_copy(skb, SWQ_MARK_COPY);
	if (!st->count.held)
		return 1;
	passed = swq_release_held(skb, p);
	if (passed > 0) {
		swq_packet_read(skb, p);
		*how = SWQ_RELEASED;
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
int swq_egress(struct __sk_buff *skb)
{
	__u32 port = skb->ifindex, mark = skb->mark;
	enum swq_arrival how = mark == SWQ_MARK_COPY ? SWQ_DUPLICATED : SWQ_OFFERED;
	struct swq_config *cfg;
	struct swq_state *st;
	struct swq_packet p;

	if (mark >= SWQ_MARK_ADMITTED && mark <= SWQ_MARK_OVERTAKING)
		skb->mark = 0;
	if (mark == SWQ_MARK_ADMITTED)
		return TC_ACT_OK;
	cfg = bpf_map_lookup_elem(&swq_configs, &port);
	st = bpf_map_lookup_elem(&swq_states, &port);
	if (!cfg || !st)
		return TC_ACT_OK;
	swq_packet_read(skb, &p);
	if (mark != SWQ_MARK_COPY && mark != SWQ_MARK_OVERTAKING) {
		if (swq_drop_at_random(cfg, st, &p) || !swq_apply_faults(skb, cfg, st, &p, &how))
			return TC_ACT_STOLEN;
	}
	return swq_execute(skb, cfg, st, &p, swq_admit(skb, cfg, st, &p, how), how == SWQ_RELEASED);
}

/* No helper here is reserved for GPL programs. */
char swq_license[] SEC("license") = "BSD-2-Clause";
