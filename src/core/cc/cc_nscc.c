/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cc_nscc.c - NSCC, the network-signal congestion control of Ultra Ethernet that MRC uses.
 *
 * A window in bytes, moved by two signals of each SACK: was the packet that triggered it marked
 * (ECN), and how long did it queue (RTT minus the RTT of an empty network).
 *
 *	            | delay below target           | delay at or above target
 *	not marked  | proportional increase        | fair (additive) increase
 *	marked      | nothing: balancing's business | multiplicative decrease
 *
 * Increases add up and are applied every base RTT or 8 packets. While there is no delay at all the
 * window grows fast. When packets were trimmed or lost and little got through in a window of base
 * RTT + target, quick adapt sets the window to what did get through and lets the marks of the old
 * window pass. Where a fabric neither trims nor ever marks, a loss is the mark. Constants come from
 * cc_profile.c. Everything is in integers; products are ordered and clamped so that 64 bits hold
 * them. docs/design has a record of where this leaves UEC's letter. REQ(cc.nscc.table)
 */
#include "core/cc/cc.h"
#include "base/assert.h"

#define DELAY_WEIGHT 80 /* an average that takes 1/80 of each new sample: 0.0125 */

/* Bounds that keep products in 64 bits; no SACK reports and no delay reaches more. */
#define NEWLY_MAX (UINT64_C(1) << 24)
#define DELAY_MAX (UINT64_C(1) << 30)
#define INC_MAX (UINT64_C(1) << 62)

static uint64_t at_least(uint64_t v, uint64_t low)
{
	return v < low ? low : v;
}

static uint64_t at_most(uint64_t v, uint64_t high)
{
	return v < high ? v : high;
}

/* 1.5 BDP, unless the profile says otherwise; never so little that a SACK could not be provoked. */
uint64_t mt_nscc_max_wnd(const struct mt_nscc *n)
{
	uint64_t bdp = n->p->link_kbps * n->base_rtt_ns / 8000000;

	return at_least(n->p->max_cwnd ? n->p->max_cwnd : bdp + bdp / 2, UINT64_C(2) * n->mtu);
}

/* REQ(cc.nscc.init) REQ(cc.nscc.per-qp) */
static void nscc_init(struct mt_cc *cc, const struct mt_cc_profile *profile, uint32_t path_mtu,
		      uint64_t now_ns)
{
	struct mt_nscc *n = &cc->nscc;

	mb_assert(path_mtu > 0 && path_mtu + MT_NOMINAL_HEADER <= UINT16_MAX);
	mb_assert(profile->nscc.base_rtt_ns > 0 && profile->nscc.target_ns > 0);
	n->p = &profile->nscc;
	n->mtu = (uint16_t)(path_mtu + MT_NOMINAL_HEADER);
	n->base_rtt_ns = n->p->base_rtt_ns;
	n->adjust_ns = n->decrease_ns = now_ns;
	cc->cwnd = mt_nscc_max_wnd(n);
}

/* REQ(cc.nscc.floor) */
static void set_cwnd(struct mt_cc *cc, uint64_t cwnd)
{
	cc->cwnd = at_most(at_least(cwnd, cc->nscc.mtu), mt_nscc_max_wnd(&cc->nscc));
	mb_assert_slow(cc->cwnd > 0 && cc->cwnd <= mt_nscc_max_wnd(&cc->nscc));
}

static void shrink(struct mt_cc *cc, uint64_t bytes)
{
	set_cwnd(cc, cc->cwnd - at_most(bytes, cc->cwnd));
}

static void add_increase(struct mt_nscc *n, uint64_t amount)
{
	mb_assert(n->inc <= INC_MAX);
	n->inc += at_most(amount, INC_MAX - n->inc);
}

/* ---- delay ---- */

/* REQ(cc.nscc.base-rtt) REQ(cc.nscc.base-rtt-floor) */
static void lower_base_rtt(struct mt_cc *cc, uint64_t rtt_ns)
{
	struct mt_nscc *n = &cc->nscc;

	rtt_ns = at_least(rtt_ns, n->p->base_rtt_min_ns);
	mb_assert(rtt_ns > 0);
	n->base_rtt_ns = (uint32_t)at_most(rtt_ns, n->base_rtt_ns);
	set_cwnd(cc, cc->cwnd);
}

static void average_delay(struct mt_nscc *n, uint64_t delay)
{
	n->avg_delay_q8 -= n->avg_delay_q8 / DELAY_WEIGHT;
	n->avg_delay_q8 += (at_most(delay, DELAY_MAX) << 8) / DELAY_WEIGHT;
}

/* The queueing delay that a SACK shows; the average replaces it where there is no sample. */
static uint64_t delay_of(struct mt_cc *cc, uint64_t rtt_ns)
{
	struct mt_nscc *n = &cc->nscc;
	uint64_t delay;

	if (rtt_ns == 0)
		return n->avg_delay_q8 >> 8;
	lower_base_rtt(cc, rtt_ns);
	delay = rtt_ns > n->base_rtt_ns ? rtt_ns - n->base_rtt_ns : 0;
	average_delay(n, delay);
	return delay;
}

/* ---- up ---- */

static void end_fast(struct mt_nscc *n)
{
	n->fast_bytes = 0;
	n->fast = false;
}

/* REQ(cc.nscc.proportional) REQ(cc.nscc.integer) */
static void proportional_increase(struct mt_nscc *n, uint64_t newly, uint64_t delay)
{
	uint64_t alpha_q20 = n->p->alpha_q30 * n->mtu >> 10;
	/* Whole and fraction apart, so that no alpha overflows. */
	uint64_t per_ns = (alpha_q20 >> 20) * newly + ((alpha_q20 & 0xFFFFF) * newly >> 20);
	uint64_t amount;

	mb_assert(delay < n->p->target_ns);
	if (__builtin_mul_overflow(per_ns, n->p->target_ns - delay, &amount))
		amount = UINT64_MAX;
	add_increase(n, amount);
}

/*
 * Says whether the window grew by the fast rule, which then replaces the others. REQ(cc.nscc.fast)
 */
static bool fast_increase(struct mt_cc *cc, uint64_t newly, uint64_t delay)
{
	struct mt_nscc *n = &cc->nscc;

	if (delay >= n->p->fast_delay_ns)
		return false;
	n->fast_bytes += newly;
	if (n->fast_bytes > cc->cwnd)
		n->fast = true;
	if (n->fast)
		set_cwnd(cc, cc->cwnd + (n->p->fast_q16 * newly >> 16));
	return n->fast;
}

/* REQ(cc.nscc.fair) */
static void increase(struct mt_cc *cc, uint64_t newly, uint64_t delay)
{
	struct mt_nscc *n = &cc->nscc;

	if (delay >= n->p->target_ns)
		add_increase(n, mt_nscc_amount_of(n, n->p->fair) * newly);
	else if (!fast_increase(cc, newly, delay))
		proportional_increase(n, newly, delay);
}

/* Applies what has added up, once a period or every few packets. REQ(cc.nscc.adjust) */
static void fulfill(struct mt_cc *cc, uint64_t now_ns)
{
	struct mt_nscc *n = &cc->nscc;
	bool period = now_ns - n->adjust_ns >= n->p->adjust_period_ns;

	if (!period && n->adjust_bytes < mt_nscc_amount_of(n, n->p->adjust))
		return;
	mb_assert(cc->cwnd > 0);
	set_cwnd(cc, cc->cwnd + n->inc / cc->cwnd + (period ? mt_nscc_amount_of(n, n->p->eta) : 0));
	n->inc = 0;
	n->adjust_bytes = 0;
	if (period)
		n->adjust_ns = now_ns;
}

/* ---- down ---- */

static void shrink_by_part(struct mt_cc *cc, uint64_t now_ns, uint64_t part_q16)
{
	mb_assert(cc->nscc.p->max_md_jump_q16 <= UINT64_C(1) << 16);
	shrink(cc, cc->cwnd * at_most(part_q16, cc->nscc.p->max_md_jump_q16) >> 16);
	cc->nscc.decrease_ns = now_ns;
}

/* At most once in a base RTT, and only when delay is the rule. REQ(cc.nscc.decrease) */
static void multiplicative_decrease(struct mt_cc *cc, uint64_t now_ns)
{
	struct mt_nscc *n = &cc->nscc;
	uint64_t avg_q8 = n->avg_delay_q8, target_q8 = n->p->target_ns << 8;

	if (avg_q8 <= target_q8 || now_ns - n->decrease_ns < n->base_rtt_ns)
		return;
	shrink_by_part(cc, now_ns, n->p->gamma_q16 * (avg_q8 - target_q8) / avg_q8);
}

/*
 * A loss where nothing is trimmed or marked: with delay it is the mark. How deep the queue is that
 * overflowed no signal says, so the cut grows with the delay, whether or not it reaches the target.
 * One overflow throws away many packets: it counts once in a round trip, queueing included, and
 * not a packet for each. Without delay the loss was no queue's doing. REQ(cc.nscc.drop-tail)
 */
static bool loss_marks(struct mt_cc *cc, uint64_t now_ns)
{
	struct mt_nscc *n = &cc->nscc;
	uint64_t avg_ns = n->avg_delay_q8 >> 8;

	if (n->p->trimming || n->marks || avg_ns < n->p->fast_delay_ns)
		return false;
	if (now_ns - n->decrease_ns >= n->base_rtt_ns + avg_ns)
		shrink_by_part(cc, now_ns, n->p->gamma_q16 * avg_ns / (avg_ns + n->p->target_ns));
	return true;
}

/* So much delay says what a loss does, where no trim would. */
static bool is_late_as_loss(const struct mt_nscc *n, uint64_t delay)
{
	return !n->p->trimming && delay > n->p->qa_threshold_ns;
}

/*
 * Says whether quick adapt fired; evaluated at the end of each of its windows.
 * REQ(cc.nscc.quick-adapt)
 */
static bool quick_adapt(struct mt_cc *cc, uint64_t now_ns, bool wanted)
{
	struct mt_nscc *n = &cc->nscc;
	bool first = n->qa_end_ns == 0;
	uint64_t got = n->qa_bytes;

	if (now_ns < n->qa_end_ns)
		return false;
	n->qa_end_ns = now_ns + n->base_rtt_ns + n->p->target_ns;
	n->qa_bytes = 0;
	n->qa_wanted = false;
	if (first || !n->p->quick_adapt || !wanted || got >= mt_nscc_max_wnd(n) >> n->p->qa_gate)
		return false;
	set_cwnd(cc, at_most(got, cc->cwnd));
	n->inc = 0;
	n->adjust_bytes = 0;
	end_fast(n);
	n->ignore_bytes = cc->inflight;
	return true;
}

/*
 * The responder asks for less: shrink by p/128 of what arrives, and grow no more until it stops.
 * REQ(cc.nscc.penalty)
 */
static bool receiver_penalty(struct mt_cc *cc, const struct mt_cc_ack *ack, uint64_t newly)
{
	struct mt_nscc *n = &cc->nscc;

	if (ack->penalty == 0) {
		if (n->saved_cwnd && ack->restore)
			set_cwnd(cc, n->saved_cwnd);
		n->saved_cwnd = 0;
		return false;
	}
	if (n->saved_cwnd == 0) {
		n->saved_cwnd = cc->cwnd;
		if (cc->inflight > 0)
			set_cwnd(cc, at_most(cc->cwnd, (uint64_t)cc->inflight));
	}
	shrink(cc, ack->penalty * newly / 128);
	return true;
}

/* ---- events ---- */

/* Bytes that left the network, received or lost; marks of theirs are of an older window. */
static void drain(struct mt_nscc *n, uint64_t bytes)
{
	if (n->ignore_bytes > 0)
		n->ignore_bytes -= (int64_t)bytes;
}

/* REQ(cc.nscc.ecn-alone) */
static void nscc_ack(struct mt_cc *cc, const struct mt_cc_ack *ack)
{
	struct mt_nscc *n = &cc->nscc;
	uint64_t newly = at_most(ack->newly_bytes, NEWLY_MAX), delay;
	bool penalised;

	mb_assert_slow(n->p && n->base_rtt_ns > 0);
	n->qa_bytes += newly;
	n->adjust_bytes += newly;
	n->marks |= ack->marked;
	drain(n, newly);
	penalised = receiver_penalty(cc, ack, newly);
	delay = delay_of(cc, ack->rtt_ns);
	if (delay >= n->p->fast_delay_ns)
		end_fast(n);
	if (ack->marked && n->ignore_bytes > 0) {
		n->inc = 0;
		n->adjust_bytes = 0;
		return;
	}
	if (quick_adapt(cc, ack->now_ns, n->qa_wanted || is_late_as_loss(n, delay)))
		return;
	if (ack->marked && delay >= n->p->target_ns)
		multiplicative_decrease(cc, ack->now_ns);
	if (penalised)
		return;
	if (!ack->marked)
		increase(cc, newly, delay);
	fulfill(cc, ack->now_ns);
}

/* A trimmed packet queued for a base RTT at least. REQ(cc.nscc.nack) REQ(cc.nscc.loss) */
static void nscc_loss(struct mt_cc *cc, uint64_t now_ns, enum mt_cc_loss_kind kind, uint32_t bytes)
{
	struct mt_nscc *n = &cc->nscc;

	n->qa_wanted = true;
	drain(n, bytes);
	if (kind == MT_CC_TRIMMED) {
		average_delay(n, n->base_rtt_ns);
		end_fast(n);
		if (quick_adapt(cc, now_ns, true))
			return;
	}
	if (kind == MT_CC_INFERRED && loss_marks(cc, now_ns))
		return;
	shrink(cc, bytes);
}

const struct mt_cc_ops mt_cc_nscc = {
	.name = "uet-1.0-nscc",
	.shrinks = true,
	.init = nscc_init,
	.ack = nscc_ack,
	.loss = nscc_loss,
};
