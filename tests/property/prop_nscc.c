/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NSCC's integer arithmetic against its rules in floating point. The rules are written here once
 * more, from the published description and not from the code: constants from the profile, then
 * what a SACK and what a loss does to each variable. Random profiles live through random events;
 * each event starts both from the same state, and afterwards every variable must be what the rules
 * make of it. Tolerances: times, byte counts and flags agree exactly; the average delay within 2
 * ns; the gathered increase and the window within what whole numbers explain, which each rule adds
 * up as it goes (about 10^-5 of a step plus 2 bytes); where a comparison hangs on such a rest, that
 * step is not judged. And whatever happens: one packet <= window <= the largest window.
 */
#include "support/test.h"

#include "core/cc/cc.h"
#include "core/engine.h"

static struct mt_cc_profile profile;
static struct mt_cc cc;
static uint64_t now;

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static double smaller(double a, double b)
{
	return a < b ? a : b;
}

/* ---- the rules' constants ---- */

static struct {
	double mtu, base_rtt, base_min, rate; /* bytes, ns, bytes/ns */
	double target, alpha, fi, eta, fi_scale, no_delay;
	double gamma, max_jump, qa_gate, qa_threshold, period, period_bytes;
	double coarse; /* relative: the scale is a whole number of bytes */
} k;

static double stated_or(double stated, double derived)
{
	return stated > 0 ? stated : derived;
}

static void make_constants(const struct mt_cc_profile_cfg *c, double path_mtu)
{
	double bdp = (double)c->link_bps / 8e9 * (double)c->base_rtt_ns;
	double a = bdp / (100e9 / 8 * 12e-6), b;

	k.mtu = path_mtu + 88;
	k.rate = (double)c->link_bps / 8e9;
	k.base_rtt = (double)c->base_rtt_ns;
	k.base_min = stated_or((double)c->base_rtt_min_ns, 1);
	k.target = stated_or((double)c->target_qdelay_ns,
			     (double)(c->trimming ? c->base_rtt_ns * 3 / 4 : c->base_rtt_ns));
	b = k.target / 12000;
	k.alpha = 4 * a * b * k.mtu / k.target;
	k.fi = stated_or((double)c->fair_bytes, 5 * k.mtu * a);
	k.eta = stated_or((double)c->eta_bytes, 0.15 * k.mtu * a);
	k.fi_scale = stated_or(c->fast_q16 / 65536.0, 0.25 * a);
	k.no_delay = (double)(c->base_rtt_ns / 12);
	k.gamma = stated_or(c->gamma_q16 / 65536.0, 0.8);
	k.max_jump = stated_or(c->max_md_jump_q16 / 65536.0, 0.5);
	k.qa_gate = stated_or(c->qa_gate, 3);
	k.qa_threshold = stated_or((double)c->qa_threshold_ns, 4 * k.target);
	k.period = stated_or((double)c->adjust_period_ns, (double)c->base_rtt_ns);
	k.period_bytes = stated_or((double)c->adjust_bytes, 8 * k.mtu);
	k.coarse = 2 / bdp + 2e-5;
}

/* ---- the rules' variables ---- */

struct rules {
	double cwnd, inc, avg, base_rtt, inflight, saved;
	double period_bytes, fast_bytes, qa_bytes, ignore;
	double adjusted, decreased, qa_end;
	bool fast, qa_wanted, marks;
	bool close;		      /* a comparison that rounding decides */
	double cwnd_slack, inc_slack; /* what rounding may have done */
};

static struct rules state_of(const struct mt_cc *c)
{
	const struct mt_nscc *n = &c->nscc;

	return (struct rules){
		.cwnd = (double)c->cwnd,
		.inc = (double)n->inc,
		.avg = (double)n->avg_delay_q8 / 256,
		.base_rtt = n->base_rtt_ns,
		.inflight = (double)c->inflight,
		.saved = (double)n->saved_cwnd,
		.period_bytes = (double)n->adjust_bytes,
		.fast_bytes = (double)n->fast_bytes,
		.qa_bytes = (double)n->qa_bytes,
		.ignore = (double)n->ignore_bytes,
		.adjusted = (double)n->adjust_ns,
		.decreased = (double)n->decrease_ns,
		.qa_end = (double)n->qa_end_ns,
		.fast = n->fast,
		.qa_wanted = n->qa_wanted,
		.marks = n->marks,
		.cwnd_slack = 2,
		.inc_slack = 2,
	};
}

static double max_wnd(const struct rules *r)
{
	double stated = (double)profile.cfg.max_cwnd_bytes;

	return larger(stated_or(stated, 1.5 * k.rate * r->base_rtt), 2 * k.mtu);
}

static void set_cwnd(struct rules *r, double cwnd)
{
	r->cwnd = smaller(larger(cwnd, k.mtu), max_wnd(r));
}

static bool near(double a, double b, double by)
{
	return a - b < by && b - a < by;
}

/* ---- the rules ---- */

static void average(struct rules *r, double delay)
{
	r->avg += 0.0125 * (delay - r->avg);
}

static void end_fast(struct rules *r)
{
	r->fast = false;
	r->fast_bytes = 0;
}

/* A window of base RTT + target in which something was lost and little arrived. */
static bool quick_adapt(struct rules *r, double t, bool awful_delay)
{
	bool begun = r->qa_end > 0, wanted = r->qa_wanted || awful_delay, little;
	double got = r->qa_bytes, gate = max_wnd(r);

	if (t < r->qa_end)
		return false;
	for (int i = 0; i < (int)k.qa_gate; i++)
		gate /= 2;
	little = got < gate;
	r->close |= near(got, gate, 3);
	r->qa_end = t + r->base_rtt + k.target;
	r->qa_bytes = 0;
	r->qa_wanted = false;
	if (profile.cfg.disable_quick_adapt || !begun || !wanted || !little)
		return false;
	set_cwnd(r, smaller(got, r->cwnd));
	r->inc = r->period_bytes = 0;
	end_fast(r);
	r->ignore = r->inflight;
	return true;
}

static void cut(struct rules *r, double t, double part)
{
	r->cwnd_slack += 2 + r->cwnd * (2 / 65536.0 + 2 / k.target);
	set_cwnd(r, r->cwnd * (1 - smaller(part, k.max_jump)));
	r->decreased = t;
}

static void decrease(struct rules *r, double t)
{
	r->close |= near(r->avg, k.target, 1);
	if (r->avg > k.target && t - r->decreased >= r->base_rtt)
		cut(r, t, k.gamma * (r->avg - k.target) / r->avg);
}

/* Neither trims nor marks: a loss with delay is both, once a round trip with the queue in it. */
static void overflow(struct rules *r, double t)
{
	double apart = r->base_rtt + r->avg;

	r->close |= near(t - r->decreased, apart, 2);
	if (t - r->decreased >= apart)
		cut(r, t, k.gamma * r->avg / (r->avg + k.target));
}

/* Unmarked: fast without any delay, in proportion below target, evenly from there on. */
static void increase(struct rules *r, double newly, double delay)
{
	if (delay >= k.target) {
		r->inc += k.fi * newly;
		r->inc_slack += newly * (2 + k.fi * k.coarse);
		return;
	}
	if (delay < k.no_delay) {
		r->fast_bytes += newly;
		r->fast |= r->fast_bytes > r->cwnd;
	}
	if (r->fast) {
		r->cwnd_slack += 2 + newly * (1 / 65536.0 + k.fi_scale * k.coarse);
		set_cwnd(r, r->cwnd + k.fi_scale * newly);
		return;
	}
	r->inc += k.alpha * newly * (k.target - delay);
	/* Delay without a sample is the average, in whole ns; alpha has twenty bits of fraction. */
	r->inc_slack += k.alpha * newly;
	r->inc_slack += (k.target - delay) * (1 + newly * (1e-6 + k.alpha * k.coarse));
}

static void apply_increase(struct rules *r, double t)
{
	bool period = t - r->adjusted >= k.period;

	if (!period && r->period_bytes < k.period_bytes)
		return;
	r->cwnd_slack +=
		2 + (r->inc_slack + r->inc * r->cwnd_slack / r->cwnd) / r->cwnd + k.eta * k.coarse;
	set_cwnd(r, r->cwnd + r->inc / r->cwnd + (period ? k.eta : 0));
	r->inc = r->inc_slack = r->period_bytes = 0;
	if (period)
		r->adjusted = t;
}

/* The receiver asks for less; says whether it does. */
static bool penalty(struct rules *r, const struct mt_cc_ack *a)
{
	if (a->penalty == 0) {
		if (r->saved > 0 && a->restore)
			set_cwnd(r, r->saved);
		r->saved = 0;
		return false;
	}
	if (r->saved == 0) {
		r->saved = r->cwnd;
		if (r->inflight > 0)
			set_cwnd(r, smaller(r->cwnd, r->inflight));
	}
	set_cwnd(r, r->cwnd - a->penalty * (double)a->newly_bytes / 128);
	return true;
}

static double sample(struct rules *r, double rtt)
{
	double delay;

	if (rtt == 0)
		return r->avg;
	if (rtt < r->base_rtt) {
		r->base_rtt = smaller(r->base_rtt, larger(rtt, k.base_min));
		set_cwnd(r, r->cwnd);
	}
	delay = larger(rtt - r->base_rtt, 0);
	average(r, delay);
	return delay;
}

static void rules_ack(struct rules *r, const struct mt_cc_ack *a)
{
	double newly = (double)a->newly_bytes, t = (double)a->now_ns, delay;
	bool held;

	r->qa_bytes += newly;
	r->period_bytes += newly;
	r->marks |= a->marked;
	if (r->ignore > 0)
		r->ignore -= newly;
	held = penalty(r, a);
	delay = sample(r, (double)a->rtt_ns);
	if (a->rtt_ns == 0)
		r->close |= near(delay, k.target, 2) || near(delay, k.no_delay, 2) ||
			    near(delay, k.qa_threshold, 2);
	if (delay >= k.no_delay) /* the first delay */
		end_fast(r);
	if (a->marked && r->ignore > 0) { /* of the window before quick adapt */
		r->inc = r->period_bytes = 0;
		return;
	}
	if (quick_adapt(r, t, !profile.cfg.trimming && delay > k.qa_threshold))
		return;
	if (a->marked && delay >= k.target)
		decrease(r, t);
	if (held)
		return;
	if (!a->marked)
		increase(r, newly, delay);
	apply_increase(r, t);
}

static void rules_loss(struct rules *r, enum mt_cc_loss_kind kind, double bytes)
{
	double t = (double)now;

	r->qa_wanted = true;
	if (r->ignore > 0)
		r->ignore -= bytes;
	if (kind == MT_CC_TRIMMED) {
		average(r, r->base_rtt);
		end_fast(r);
		if (quick_adapt(r, t, false))
			return;
	}
	r->close |= near(r->avg, k.no_delay, 2);
	if (kind == MT_CC_INFERRED && !profile.cfg.trimming && !r->marks && r->avg >= k.no_delay)
		overflow(r, t);
	else
		set_cwnd(r, r->cwnd - bytes);
}

/* ---- profiles and events ---- */

/* Fields that most profiles leave to be derived. */
static void state_some(struct mt_cc_profile_cfg *c)
{
	if (test_rand_chance(1, 4))
		c->base_rtt_min_ns = 1 + test_rand_below(c->base_rtt_ns);
	if (test_rand_chance(1, 4))
		c->target_qdelay_ns = 1000 + test_rand_below(100000);
	if (test_rand_chance(1, 4))
		c->max_cwnd_bytes = 1000 + test_rand_below(1000000);
	if (test_rand_chance(1, 4))
		c->qa_gate = (uint8_t)(1 + test_rand_below(31));
	if (test_rand_chance(1, 4))
		c->qa_threshold_ns = 1000 + test_rand_below(1000000);
	if (test_rand_chance(1, 4))
		c->adjust_period_ns = 1 + test_rand_below(100000);
	if (test_rand_chance(1, 4))
		c->adjust_bytes = 1 + test_rand_below(200000);
	if (test_rand_chance(1, 4))
		c->eta_bytes = 1 + test_rand_below(100000);
	if (test_rand_chance(1, 4))
		c->fair_bytes = 1 + test_rand_below(1000000);
	if (test_rand_chance(1, 4))
		c->fast_q16 = (uint32_t)(1 + test_rand_below(1 << 20));
	if (test_rand_chance(1, 4))
		c->gamma_q16 = (uint32_t)(1 + test_rand_below(65536));
	if (test_rand_chance(1, 4))
		c->max_md_jump_q16 = (uint32_t)(1 + test_rand_below(65536));
}

static void start_life(void)
{
	static const uint32_t mtus[] = {256, 1024, 4096};
	uint32_t path_mtu = mtus[test_rand_below(3)];
	struct mt_range_error fault;
	struct mt_cc_profile_cfg c = {
		.kind = MT_CC_NSCC,
		.trimming = test_rand_chance(1, 2),
		.disable_quick_adapt = test_rand_chance(1, 5),
		.link_bps = UINT64_C(1000000000) << test_rand_below(11),
		.base_rtt_ns = 2000 + test_rand_below(UINT64_C(1000) << test_rand_below(12)),
	};

	state_some(&c);
	assert_true(mt_cc_profile_check(&c, &fault));
	now = test_rand_below(1000000);
	mt_cc_profile_define(&profile, &c);
	make_constants(&c, path_mtu);
	mt_cc_init(&cc, &profile, path_mtu, now);
}

static struct mt_cc_ack random_ack(unsigned marks_per_8)
{
	uint64_t rtt = cc.nscc.base_rtt_ns;
	struct mt_cc_ack a = {
		.now_ns = now,
		.newly_bytes = test_rand_below(test_rand_chance(1, 10) ? 1000000 : 20000),
		.rtt_ns = rtt + test_rand_below(4 * rtt) * test_rand_chance(4, 5),
		.marked = test_rand_chance(marks_per_8, 8),
		.penalty = (uint8_t)(test_rand_chance(1, 30) ? test_rand_below(128) : 0),
		.restore = test_rand_chance(1, 2),
	};

	if (test_rand_chance(1, 20))
		a.rtt_ns = 0;
	else if (test_rand_chance(1, 200) && rtt > 100)
		a.rtt_ns = rtt - rtt / 50;
	return a;
}

static void check_within(const char *what, double got, double want, double by)
{
	if (got < want - by || got > want + by)
		fail_msg("%s %.2f, want %.2f within %.2f", what, got, want, by);
}

static void check(const struct rules *want)
{
	struct rules got = state_of(&cc);
	double top = (double)mt_nscc_max_wnd(&cc.nscc), edge = max_wnd(want) - top;

	check_within("largest window", top, max_wnd(want), 3 + max_wnd(want) * 1e-5);
	assert_true(got.cwnd >= k.mtu && got.cwnd <= top);
	if (want->close)
		return;
	check_within("window", got.cwnd, want->cwnd, want->cwnd_slack + larger(edge, -edge));
	check_within("increase", got.inc, want->inc, want->inc_slack);
	check_within("average delay", got.avg, want->avg, 2);
	check_within("base RTT", got.base_rtt, want->base_rtt, 0);
	check_within("saved window", got.saved, want->saved, 0);
	check_within("bytes of the period", got.period_bytes, want->period_bytes, 0);
	check_within("bytes without delay", got.fast_bytes, want->fast_bytes, 0);
	check_within("bytes for quick adapt", got.qa_bytes, want->qa_bytes, 0);
	check_within("bytes to ignore", got.ignore, want->ignore, 0);
	check_within("last period", got.adjusted, want->adjusted, 0);
	check_within("last decrease", got.decreased, want->decreased, 0);
	check_within("end of quick adapt", got.qa_end, want->qa_end, 0);
	assert_int_equal(got.fast, want->fast);
	assert_int_equal(got.qa_wanted, want->qa_wanted);
	assert_int_equal(got.marks, want->marks);
}

/* Says whether the step could be judged. */
static bool event(unsigned marks_per_8)
{
	struct rules want;

	now += test_rand_below(2u * cc.nscc.base_rtt_ns) / (test_rand_chance(1, 4) ? 1 : 16);
	cc.inflight = (int64_t)test_rand_below(mt_nscc_max_wnd(&cc.nscc)) - 1000;
	want = state_of(&cc);
	if (test_rand_chance(1, 15)) {
		enum mt_cc_loss_kind kind = (enum mt_cc_loss_kind)test_rand_below(3);

		rules_loss(&want, kind, k.mtu);
		cc.ops->loss(&cc, now, kind, (uint32_t)k.mtu);
	} else {
		struct mt_cc_ack a = random_ack(marks_per_8);

		rules_ack(&want, &a);
		cc.ops->ack(&cc, &a);
	}
	check(&want);
	return !want.close;
}

/*
 * REQ(cc.nscc.table) REQ(cc.nscc.integer) REQ(cc.nscc.floor) REQ(cc.nscc.scale)
 * REQ(cc.nscc.drop-tail) REQ(cc.nscc.base-rtt-floor)
 */
TEST(mt_cc_nscc, as_the_rules_in_floating_point)
{
	size_t judged = 0, all = 0;

	for (size_t life = 0; life < test_rounds(400); life++) {
		unsigned marks_per_8 = (unsigned)test_rand_below(5);

		start_life();
		check_within("first window", (double)cc.cwnd, (double)mt_nscc_max_wnd(&cc.nscc), 0);
		for (int i = 0; i < 500; i++, all++)
			judged += event(marks_per_8);
	}
	assert_true(judged > all / 10 * 9);
}
