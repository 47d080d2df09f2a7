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
 * window pass. The constants are UEC's, scaled from its reference (100 Gb/s, 12 us) to the link:
 * a = BDP / (100 Gb/s x 12 us), b = target / 12 us. Everything is in integers; products are
 * ordered and clamped so that 64 bits hold them. REQ(cc.nscc.table)
 */
#include "core/cc.h"

/* The reference network: 100 Gb/s x 12 us. */
#define REF_BDP_BYTES UINT64_C(150000)
#define REF_RTT_NS UINT64_C(12000)

#define ADJUST_PACKETS 8u
#define DELAY_WEIGHT 80 /* an average that takes 1/80 of each new sample: 0.0125 */
#define QA_GATE 3	/* quick adapt fires below max_wnd / 2^3 */
#define QA_DELAY_TARGETS 4

/* gamma 0.8 as a fraction, and the largest cut in one step: half. */
#define GAMMA_NUM UINT64_C(4)
#define GAMMA_DEN UINT64_C(5)

/* Bounds that keep products in 64 bits; no SACK reports and no delay reaches more. */
#define NEWLY_MAX (UINT64_C(1) << 24)
#define DIFF_MAX (UINT64_C(1) << 30)
#define INC_MAX (UINT64_C(1) << 62)

static uint64_t at_least(uint64_t v, uint64_t low)
{
	return v < low ? low : v;
}

static uint64_t at_most(uint64_t v, uint64_t high)
{
	return v < high ? v : high;
}

/* bits/s x ns = bytes, without leaving 64 bits for any rate below 8 Tb/s and RTT below 2 s. */
static uint64_t bdp_bytes(uint64_t bps, uint64_t rtt_ns)
{
	return at_least(bps / 1000 * rtt_ns / 8000000, 1);
}

/* 1.5 BDP, unless the profile says otherwise; never so little that a SACK could not be provoked. */
static void set_max_wnd(struct mt_nscc_param *p)
{
	uint64_t bdp = bdp_bytes(p->link_bps, p->base_rtt_ns);

	p->max_wnd = at_least(p->max_cwnd ? p->max_cwnd : bdp + bdp / 2, 2 * p->mtu);
}

/* REQ(cc.nscc.base-rtt) */
static void lower_base_rtt(struct mt_nscc_param *p, uint64_t rtt_ns)
{
	p->base_rtt_ns = at_least(rtt_ns, 1);
	set_max_wnd(p);
}

/* REQ(cc.nscc.scale) REQ(cc.nscc.target) */
static void derive(struct mt_nscc_param *p, const struct mt_cc_profile_cfg *cfg, uint32_t path_mtu)
{
	uint64_t bdp = bdp_bytes(cfg->link_bps, cfg->base_rtt_ns);

	p->mtu = path_mtu + MT_NOMINAL_HEADER;
	p->base_rtt_ns = cfg->base_rtt_ns;
	p->trimming = cfg->trimming;
	p->quick_adapt = !cfg->disable_quick_adapt;
	p->target_ns = cfg->target_qdelay_ns;
	if (p->target_ns == 0)
		p->target_ns = cfg->trimming ? cfg->base_rtt_ns * 3 / 4 : cfg->base_rtt_ns;
	p->link_bps = cfg->link_bps;
	p->max_cwnd = cfg->max_cwnd_bytes;
	set_max_wnd(p);
	/* alpha = 4 a b MTU / target, in which target cancels; fi = 5 MTU a; eta = 0.15 MTU a. */
	p->alpha_q20 = at_least((p->mtu * bdp << 12) / (REF_BDP_BYTES * REF_RTT_NS >> 10), 1);
	p->fair = at_least(5 * p->mtu * bdp / REF_BDP_BYTES, 1);
	p->eta = 15 * p->mtu * bdp / (100 * REF_BDP_BYTES);
	/* fi_scale = 0.25 a. "No delay" is 1 us on the reference network, a twelfth of its RTT. */
	p->fast_q16 = at_least((bdp << 14) / REF_BDP_BYTES, 1);
	p->fast_delay_ns = at_least(p->base_rtt_ns / 12, 1);
}

/* REQ(cc.nscc.init) */
static void nscc_init(struct mt_cc *cc, const struct mt_cc_profile_cfg *cfg, uint32_t path_mtu,
		      uint64_t now_ns)
{
	struct mt_nscc *n = &cc->nscc;

	derive(&n->p, cfg, path_mtu);
	cc->cwnd = n->p.max_wnd;
	n->adjust_ns = n->decrease_ns = now_ns;
	n->qa_end_ns = now_ns + n->p.base_rtt_ns + n->p.target_ns;
}

/* REQ(cc.nscc.floor) */
static void set_cwnd(struct mt_cc *cc, uint64_t cwnd)
{
	cc->cwnd = at_most(at_least(cwnd, cc->nscc.p.mtu), cc->nscc.p.max_wnd);
}

static void add_increase(struct mt_nscc *n, uint64_t amount)
{
	n->inc = at_most(n->inc + at_most(amount, INC_MAX), INC_MAX);
}

/* REQ(cc.nscc.proportional) REQ(cc.nscc.integer) */
static void proportional_increase(struct mt_nscc *n, uint64_t newly, uint64_t delay)
{
	uint64_t diff = at_most(n->p.target_ns - delay, DIFF_MAX);
	/* Whole and fraction apart, so that no alpha overflows. */
	uint64_t per_ns =
		(n->p.alpha_q20 >> 20) * newly + ((n->p.alpha_q20 & 0xFFFFF) * newly >> 20);

	add_increase(n, per_ns > INC_MAX / DIFF_MAX ? INC_MAX : per_ns * diff);
}

/* Applies what has added up, once a base RTT or every 8 packets. REQ(cc.nscc.adjust) */
static void fulfill(struct mt_cc *cc, const struct mt_cc_ack *ack)
{
	struct mt_nscc *n = &cc->nscc;
	bool period = ack->now_ns - n->adjust_ns >= n->p.base_rtt_ns;

	n->adjust_bytes += ack->newly_bytes;
	if (!period && n->adjust_bytes < ADJUST_PACKETS * n->p.mtu)
		return;
	set_cwnd(cc, cc->cwnd + n->inc / cc->cwnd + (period ? n->p.eta : 0));
	n->inc = 0;
	n->adjust_bytes = 0;
	if (period)
		n->adjust_ns = ack->now_ns;
}

/*
 * Says whether the window grew by the fast rule, which then replaces the others.
 * REQ(cc.nscc.fast)
 */
static bool fast_increase(struct mt_cc *cc, uint64_t newly, uint64_t delay)
{
	struct mt_nscc *n = &cc->nscc;

	if (delay >= n->p.fast_delay_ns) {
		n->fast_bytes = 0;
		n->fast = false;
		return false;
	}
	n->fast_bytes += newly;
	if (n->fast_bytes > cc->cwnd)
		n->fast = true;
	if (n->fast)
		set_cwnd(cc, cc->cwnd + (n->p.fast_q16 * newly >> 16));
	return n->fast;
}

/* REQ(cc.nscc.decrease) */
static void multiplicative_decrease(struct mt_cc *cc, uint64_t now_ns)
{
	struct mt_nscc *n = &cc->nscc;
	uint64_t over, cut;

	n->inc = 0;
	if (n->avg_delay_ns <= n->p.target_ns || now_ns - n->decrease_ns < n->p.base_rtt_ns)
		return;
	over = n->avg_delay_ns - n->p.target_ns;
	cut = cc->cwnd / 1024 *
	      (GAMMA_NUM * at_most(over, DIFF_MAX) * 1024 /
	       (GAMMA_DEN * at_most(n->avg_delay_ns, 2 * DIFF_MAX)));
	set_cwnd(cc, cc->cwnd - at_most(cut, cc->cwnd / 2));
	n->decrease_ns = now_ns;
}

/*
 * Says whether quick adapt fired; evaluated at the end of each of its windows.
 * REQ(cc.nscc.quick-adapt)
 */
static bool quick_adapt(struct mt_cc *cc, uint64_t now_ns, uint64_t delay)
{
	struct mt_nscc *n = &cc->nscc;
	uint64_t got = n->qa_bytes;
	bool wanted = n->qa_wanted || (!n->p.trimming && delay > QA_DELAY_TARGETS * n->p.target_ns);

	if (now_ns < n->qa_end_ns)
		return false;
	n->qa_end_ns = now_ns + n->p.base_rtt_ns + n->p.target_ns;
	n->qa_bytes = 0;
	n->qa_wanted = false;
	if (!n->p.quick_adapt || !wanted || got >= n->p.max_wnd >> QA_GATE)
		return false;
	set_cwnd(cc, got);
	n->inc = 0;
	n->fast_bytes = 0;
	n->fast = false;
	n->ignore_bytes = cc->inflight;
	return true;
}

/*
 * The responder asks for less: hold still, and shrink by p/128 of what arrives.
 * REQ(cc.nscc.penalty)
 */
static bool receiver_penalty(struct mt_cc *cc, const struct mt_cc_ack *ack)
{
	struct mt_nscc *n = &cc->nscc;
	uint64_t cut;

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
	cut = ack->penalty * at_most(ack->newly_bytes, NEWLY_MAX) / 128;
	set_cwnd(cc, cc->cwnd > cut ? cc->cwnd - cut : 0);
	return true;
}

/* REQ(cc.nscc.fair) REQ(cc.nscc.ecn-alone) */
static void nscc_ack(struct mt_cc *cc, const struct mt_cc_ack *ack)
{
	struct mt_nscc *n = &cc->nscc;
	uint64_t newly = at_most(ack->newly_bytes, NEWLY_MAX), delay;
	bool marked = ack->marked;

	n->qa_bytes += newly;
	if (n->ignore_bytes > 0) {
		n->ignore_bytes -= (int64_t)newly;
		marked = false;
	}
	if (receiver_penalty(cc, ack) || ack->rtt_ns == 0)
		return;
	if (ack->rtt_ns < n->p.base_rtt_ns) {
		lower_base_rtt(&n->p, ack->rtt_ns);
		set_cwnd(cc, cc->cwnd);
	}
	delay = ack->rtt_ns - n->p.base_rtt_ns;
	n->avg_delay_ns -= n->avg_delay_ns / DELAY_WEIGHT;
	n->avg_delay_ns += delay / DELAY_WEIGHT;
	if (quick_adapt(cc, ack->now_ns, delay))
		return;
	if (marked) {
		n->fast_bytes = 0;
		n->fast = false;
		if (delay >= n->p.target_ns)
			multiplicative_decrease(cc, ack->now_ns);
	} else if (!fast_increase(cc, newly, delay)) {
		if (delay < n->p.target_ns)
			proportional_increase(n, newly, delay);
		else
			add_increase(n, n->p.fair * newly);
	}
	fulfill(cc, ack);
}

/* REQ(cc.nscc.nack) REQ(cc.nscc.loss) */
static void nscc_loss(struct mt_cc *cc, uint64_t now_ns, enum mt_cc_loss_kind kind, uint32_t bytes)
{
	struct mt_nscc *n = &cc->nscc;

	n->qa_wanted = true;
	n->fast_bytes = 0;
	n->fast = false;
	if (kind == MT_CC_TRIMMED && quick_adapt(cc, now_ns, n->p.base_rtt_ns))
		return;
	set_cwnd(cc, cc->cwnd > bytes ? cc->cwnd - bytes : 0);
}

const struct mt_cc_ops mt_cc_nscc = {
	.name = "uet-1.0-nscc",
	.init = nscc_init,
	.ack = nscc_ack,
	.loss = nscc_loss,
};
