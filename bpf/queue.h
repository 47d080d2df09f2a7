/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * queue.h - the model of an output queue: two classes, strict priority, a wire of a fixed rate.
 *
 * Nothing waits here. The model keeps how long the wire will be busy with what was admitted, apart
 * for control and data, in picoseconds. Time drains the control class first and data with what is
 * left, which is what strict priority does. A packet finds room when the bytes before it in its
 * class and its own do not exceed the limit. All of it happens under the lock of the port, in which
 * no helper may be called, together with the counting: so the counters always add up.
 */
#ifndef SOFTMRC_BPF_QUEUE_H
#define SOFTMRC_BPF_QUEUE_H

#include <bpf/bpf_helpers.h>

#include "bpf/map.h"
#include "bpf/packet.h"

/* Longest silence that is reckoned with, 104 days; longer ones would overflow in picoseconds. */
#define SWQ_IDLE_MAX_NS (1ull << 53)

/* How a packet came to the queue. */
enum swq_arrival {
	SWQ_OFFERED,
	SWQ_DUPLICATED,
	SWQ_RELEASED, /* was held, and counted as offered then */
};

enum swq_verdict {
	SWQ_DROP,
	SWQ_SEND,
	SWQ_SEND_MARKED,
	SWQ_SEND_CONTROL,
	SWQ_TRIM,
	SWQ_SEND_WHOLE, /* too short to trim */
};

/* The next random number of a port: a counter, mixed (splitmix64), so that a seed repeats a run. */
static __always_inline __u64 swq_random(const struct swq_config *cfg, struct swq_state *st)
{
	__u64 n = __sync_fetch_and_add(&st->random_draws, 1);
	__u64 z = cfg->seed + (n + 1) * 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* True for ppm of a million random_draws; random_draws nothing where that is none. */
static __always_inline int swq_is_hit(const struct swq_config *cfg, struct swq_state *st, __u64 ppm)
{
	return ppm && (swq_random(cfg, st) >> 32) * SWQ_PPM_MAX >> 32 < ppm;
}

/* Lets the wire work up to `now`. Two processors may read their clocks in either order. */
static __always_inline void swq_drain(struct swq_state *st, __u64 ps_per_byte, __u64 now)
{
	__u64 ns = now > st->last_ns ? now - st->last_ns : 0;
	__u64 ps = (ns < SWQ_IDLE_MAX_NS ? ns : SWQ_IDLE_MAX_NS) * 1000;

	if (st->ps_per_byte != ps_per_byte) {
		/* The rate changed: the bytes that wait stay. */
		__u64 old = st->ps_per_byte;

		st->data_ps = old ? st->data_ps / old * ps_per_byte : 0;
		st->control_ps = old ? st->control_ps / old * ps_per_byte : 0;
		st->ps_per_byte = ps_per_byte;
	}
	st->last_ns += ns;
	if (ps < st->control_ps) {
		st->control_ps -= ps;
		return;
	}
	ps -= st->control_ps;
	st->control_ps = 0;
	st->data_ps = ps < st->data_ps ? st->data_ps - ps : 0;
}

/* RED on the backlog that a packet finds. REQ(switch.ecn.red) REQ(switch.ecn.ect-only) */
static __always_inline int swq_should_mark(const struct swq_config *cfg, struct swq_state *st,
					   const struct swq_packet *p, __u64 backlog)
{
	__u8 ecn = p->tclass & 3;

	if (!(cfg->flags & SWQ_ECN) || !p->family || ecn == 0 || ecn == 3 ||
	    backlog <= cfg->ecn_min_bytes)
		return 0;
	if (backlog >= cfg->ecn_max_bytes)
		return 1;
	return swq_is_hit(cfg, st,
			  (backlog - cfg->ecn_min_bytes) * cfg->ecn_max_ppm /
				  (cfg->ecn_max_bytes - cfg->ecn_min_bytes));
}

/* Room for `bytes` behind `waiting` of them; no rate means no queue. */
static __always_inline int swq_has_room(const struct swq_config *cfg, __u64 waiting, __u32 bytes,
					__u32 limit)
{
	return !cfg->ps_per_byte || waiting + bytes <= limit;
}

/* What the control class does with `bytes` of this or that kind: `sent` or `full` is counted. */
static __always_inline int swq_admit_control(const struct swq_config *cfg, struct swq_state *st,
					     __u32 bytes, __u64 *sent, __u64 *full)
{
	__u64 waiting = cfg->ps_per_byte ? st->control_ps / cfg->ps_per_byte : 0;

	if (!swq_has_room(cfg, waiting, bytes, cfg->control_limit_bytes)) {
		(*full)++;
		return 0;
	}
	(*sent)++;
	st->control_ps += bytes * cfg->ps_per_byte;
	st->count.sent_bytes += bytes;
	return 1;
}

/*
 * Data that found no room.
 * REQ(switch.trim.eligible) REQ(switch.trim.short) REQ(switch.trim.dropped)
 */
static __always_inline enum swq_verdict swq_trim_or_drop(const struct swq_config *cfg,
							 struct swq_state *st,
							 const struct swq_packet *p, int trimmable)
{
	if (!trimmable) {
		st->count.dropped++;
		return SWQ_DROP;
	}
	if (p->bytes <= cfg->trim_bytes)
		return swq_admit_control(cfg, st, p->bytes, &st->count.whole,
					 &st->count.trim_dropped)
			       ? SWQ_SEND_WHOLE
			       : SWQ_DROP;
	return swq_admit_control(cfg, st, cfg->trim_bytes, &st->count.trimmed,
				 &st->count.trim_dropped)
		       ? SWQ_TRIM
		       : SWQ_DROP;
}

static __always_inline void swq_count_arrival(struct swq_state *st, const struct swq_packet *p,
					      enum swq_arrival how)
{
	if (how == SWQ_OFFERED) {
		st->count.offered++;
		st->count.offered_bytes += p->bytes;
	} else if (how == SWQ_DUPLICATED) {
		st->count.duplicated++;
	} else {
		st->count.held--;
		st->count.reordered++;
	}
}

/* REQ(switch.dscp.class) REQ(switch.control.first) */
static __always_inline enum swq_verdict swq_admit_by_class(const struct swq_config *cfg,
							   struct swq_state *st,
							   const struct swq_packet *p,
							   int trimmable)
{
	__u64 waiting = cfg->ps_per_byte ? st->data_ps / cfg->ps_per_byte : 0;

	if (cfg->control >> (p->tclass >> 2) & 1)
		return swq_admit_control(cfg, st, p->bytes, &st->count.control,
					 &st->count.control_dropped)
			       ? SWQ_SEND_CONTROL
			       : SWQ_DROP;
	if (!swq_has_room(cfg, waiting, p->bytes, cfg->limit_bytes))
		return swq_trim_or_drop(cfg, st, p, trimmable);
	st->count.full++;
	st->count.sent_bytes += p->bytes;
	st->data_ps += p->bytes * cfg->ps_per_byte;
	if (!swq_should_mark(cfg, st, p, waiting))
		return SWQ_SEND;
	st->count.marked++;
	return SWQ_SEND_MARKED;
}

/* Decides on one packet and counts it. */
static __always_inline enum swq_verdict swq_admit(struct __sk_buff *skb,
						  const struct swq_config *cfg,
						  struct swq_state *st, const struct swq_packet *p,
						  enum swq_arrival how)
{
	/* What the kernel has yet to cut into segments is not one packet on the wire. */
	int trimmable = cfg->trim_bytes && p->family == 6 && !skb->gso_size &&
			cfg->trimmable >> (p->tclass >> 2) & 1;
	__u64 now = bpf_ktime_get_ns();
	enum swq_verdict fate;

	bpf_spin_lock(&st->lock);
	swq_count_arrival(st, p, how);
	swq_drain(st, cfg->ps_per_byte, now);
	fate = swq_admit_by_class(cfg, st, p, trimmable);
	bpf_spin_unlock(&st->lock);
	return fate;
}

/* A packet that was admitted could not be rewritten and is dropped after all. */
static __always_inline void swq_uncount(struct swq_state *st, __u64 *counted, __u64 bytes)
{
	bpf_spin_lock(&st->lock);
	(*counted)--;
	st->count.dropped++;
	st->count.sent_bytes -= bytes;
	bpf_spin_unlock(&st->lock);
}

#endif
