/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NSCC's integer arithmetic against its rules in floating point. After each random event the
 * window must be what the rules make of the state before it, within what rounding explains; the
 * rules are written here once more, from the published description and not from the code. And
 * whatever happens: one packet <= window <= the largest window.
 */
#include "support/test.h"

#include "core/cc.h"

#define ANY_BYTES UINT64_C(1000000)

static struct mt_cc_profile_cfg cfg;
static struct mt_cc cc;
static uint64_t now;

/* The rules' own constants, for this profile. */
static double mtu, base_rtt, target, max_wnd, alpha, fair, eta, fast_scale, fast_delay;
/* A bandwidth-delay product is a whole number of bytes; its part that rounding takes. */
static double rounding;

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static double smaller(double a, double b)
{
	return a < b ? a : b;
}

static void set_max_wnd(void)
{
	max_wnd = 1.5 * (double)cfg.link_bps / 8e9 * base_rtt;
	if (cfg.max_cwnd_bytes)
		max_wnd = (double)cfg.max_cwnd_bytes;
	max_wnd = larger(max_wnd, 2 * mtu);
}

static void derive(uint32_t path_mtu)
{
	double bdp = (double)cfg.link_bps / 8e9 * (double)cfg.base_rtt_ns;
	double a = bdp / (100e9 / 8 * 12e-6), b;

	mtu = path_mtu + 88;
	base_rtt = (double)cfg.base_rtt_ns;
	/* Times are whole nanoseconds in the rules, too. */
	target = (double)(cfg.trimming ? cfg.base_rtt_ns * 3 / 4 : cfg.base_rtt_ns);
	if (cfg.target_qdelay_ns)
		target = (double)cfg.target_qdelay_ns;
	b = target / 12000;
	alpha = 4 * a * b * mtu / target;
	fair = 5 * mtu * a;
	eta = 0.15 * mtu * a;
	fast_scale = 0.25 * a;
	rounding = 1 / bdp + 1e-6;
	fast_delay = (double)(cfg.base_rtt_ns / 12);
	set_max_wnd();
}

/* What the rules work on; cwnd_slack is how far rounding may have moved the window. */
struct rules {
	double cwnd, inc, avg, inflight, adjust_bytes, fast_bytes, qa_bytes, ignore, saved;
	double adjust, decrease, qa_end;
	bool fast, qa_wanted, close; /* close: a comparison that rounding decides */
	double cwnd_slack, inc_slack;
};

static struct rules state_of(const struct mt_cc *c)
{
	const struct mt_nscc *n = &c->nscc;

	return (struct rules){
		.cwnd = (double)c->cwnd,
		.inc = (double)n->inc,
		.avg = (double)n->avg_delay_ns,
		.inflight = (double)c->inflight,
		.adjust_bytes = (double)n->adjust_bytes,
		.fast_bytes = (double)n->fast_bytes,
		.qa_bytes = (double)n->qa_bytes,
		.ignore = (double)n->ignore_bytes,
		.saved = (double)n->saved_cwnd,
		.adjust = (double)n->adjust_ns,
		.decrease = (double)n->decrease_ns,
		.qa_end = (double)n->qa_end_ns,
		.fast = n->fast,
		.qa_wanted = n->qa_wanted,
		.cwnd_slack = 2,
		.inc_slack = 2,
	};
}

static void set_cwnd(struct rules *r, double cwnd)
{
	r->cwnd = smaller(larger(cwnd, mtu), max_wnd);
}

static bool near(double a, double b)
{
	return a - b < 3 && b - a < 3;
}

/* ---- the rules ---- */

/* A window of base RTT + target in which something was lost and little arrived. */
static bool quick_adapt(struct rules *r, double t, double delay)
{
	double got = r->qa_bytes;
	bool wanted = r->qa_wanted || (!cfg.trimming && delay > 4 * target);

	if (t < r->qa_end)
		return false;
	r->qa_end = t + base_rtt + target;
	r->qa_bytes = 0;
	r->qa_wanted = false;
	r->close |= near(got, max_wnd / 8);
	if (cfg.disable_quick_adapt || !wanted || got >= max_wnd / 8)
		return false;
	set_cwnd(r, got);
	r->inc = 0;
	r->fast = false;
	r->ignore = r->inflight;
	return true;
}

static void decrease(struct rules *r, double t)
{
	r->inc = 0;
	r->close |= near(r->avg, target);
	if (r->avg <= target || t - r->decrease < base_rtt)
		return;
	/* The code divides the window by 1024 before it multiplies. */
	r->cwnd_slack += 1024 + r->cwnd / 512;
	set_cwnd(r, r->cwnd * larger(1 - 0.8 * (r->avg - target) / r->avg, 0.5));
	r->decrease = t;
}

static void increase(struct rules *r, double newly, double delay)
{
	if (delay < fast_delay) {
		r->fast_bytes += newly;
		r->fast |= r->fast_bytes > r->cwnd;
	} else {
		r->fast = false;
	}
	if (r->fast) {
		r->cwnd_slack += 1 + newly / 32768 + fast_scale * newly * rounding;
		set_cwnd(r, r->cwnd + fast_scale * newly);
	} else if (delay < target) {
		r->inc += alpha * newly * (target - delay);
		r->inc_slack += (target - delay) * (1 + newly * (1e-6 + alpha * rounding));
	} else {
		r->inc += fair * newly;
		r->inc_slack += newly * (1 + fair * rounding);
	}
}

static void apply_increase(struct rules *r, double t, double newly)
{
	bool period = t - r->adjust >= base_rtt;

	r->adjust_bytes += newly;
	if (!period && r->adjust_bytes < 8 * mtu)
		return;
	r->cwnd_slack +=
		1 + (r->inc_slack + r->inc * r->cwnd_slack / r->cwnd) / r->cwnd + eta * rounding;
	set_cwnd(r, r->cwnd + r->inc / r->cwnd + (period ? eta : 0));
	r->inc = 0;
}

/* Says whether the receiver's penalty is all that happens. */
static bool penalty(struct rules *r, const struct mt_cc_ack *a)
{
	if (a->penalty == 0) {
		if (r->saved > 0 && a->restore)
			set_cwnd(r, r->saved);
		return false;
	}
	if (r->saved == 0 && r->inflight > 0)
		set_cwnd(r, smaller(r->cwnd, r->inflight));
	set_cwnd(r, r->cwnd - a->penalty * (double)a->newly_bytes / 128);
	return true;
}

static void rules_ack(struct rules *r, const struct mt_cc_ack *a)
{
	double newly = (double)a->newly_bytes, t = (double)a->now_ns, delay;
	bool marked = a->marked && r->ignore <= 0;

	r->qa_bytes += newly;
	if (penalty(r, a) || a->rtt_ns == 0)
		return;
	if ((double)a->rtt_ns < base_rtt) {
		base_rtt = (double)a->rtt_ns;
		set_max_wnd();
		set_cwnd(r, r->cwnd);
	}
	delay = (double)a->rtt_ns - base_rtt;
	r->avg += 0.0125 * (delay - r->avg);
	if (quick_adapt(r, t, delay))
		return;
	if (!marked)
		increase(r, newly, delay);
	else if (delay >= target)
		decrease(r, t);
	apply_increase(r, t, newly);
}

static void rules_loss(struct rules *r, enum mt_cc_loss_kind kind, double bytes)
{
	r->qa_wanted = true;
	r->fast = false;
	if (kind == MT_CC_TRIMMED && quick_adapt(r, (double)now, base_rtt))
		return;
	set_cwnd(r, r->cwnd - bytes);
}

/* ---- events ---- */

static void make_profile(void)
{
	static const uint32_t mtus[] = {256, 1024, 4096};
	uint32_t path_mtu = mtus[test_rand_below(3)];

	cfg = (struct mt_cc_profile_cfg){
		.kind = MT_CC_NSCC,
		.trimming = test_rand_chance(1, 2),
		.disable_quick_adapt = test_rand_chance(1, 5),
		.link_bps = UINT64_C(1000000000) << test_rand_below(11),
		.base_rtt_ns = 2000 + test_rand_below(UINT64_C(1000) << test_rand_below(12)),
	};
	if (test_rand_chance(1, 4))
		cfg.target_qdelay_ns = 1000 + test_rand_below(100000);
	if (test_rand_chance(1, 4))
		cfg.max_cwnd_bytes = 1000 + test_rand_below(1000000);
	now = test_rand_below(1000000);
	derive(path_mtu);
	mt_cc_init(&cc, &cfg, path_mtu, now);
}

static struct mt_cc_ack random_ack(void)
{
	uint64_t rtt = cc.nscc.p.base_rtt_ns;
	struct mt_cc_ack a = {
		.now_ns = now,
		.newly_bytes = test_rand_below(test_rand_chance(1, 10) ? ANY_BYTES : 20000),
		.rtt_ns = rtt + test_rand_below(4 * rtt) * test_rand_chance(4, 5),
		.marked = test_rand_chance(1, 2),
		.penalty = (uint8_t)(test_rand_chance(1, 30) ? test_rand_below(128) : 0),
		.restore = test_rand_chance(1, 2),
	};

	if (test_rand_chance(1, 20))
		a.rtt_ns = 0;
	else if (test_rand_chance(1, 200))
		a.rtt_ns = rtt - rtt / 50;
	return a;
}

static void check(const struct rules *want)
{
	double cwnd = (double)cc.cwnd, max = (double)cc.nscc.p.max_wnd;
	double slack = want->cwnd_slack + larger(max_wnd - max, max - max_wnd);

	assert_true(max >= max_wnd * 0.9999 - 2 && max <= max_wnd * 1.0001 + 2);
	assert_true(cwnd >= mtu && cwnd <= max);
	if (!want->close && (cwnd < want->cwnd - slack || cwnd > want->cwnd + slack))
		fail_msg("window %f, want %f within %f", cwnd, want->cwnd, slack);
}

static void event(void)
{
	struct rules want;

	now += test_rand_below(2 * cc.nscc.p.base_rtt_ns) / (test_rand_chance(1, 4) ? 1 : 16);
	cc.inflight = (int64_t)test_rand_below(cc.nscc.p.max_wnd) - 1000;
	want = state_of(&cc);
	if (test_rand_chance(1, 15)) {
		enum mt_cc_loss_kind kind = (enum mt_cc_loss_kind)test_rand_below(3);

		rules_loss(&want, kind, mtu);
		cc.ops->loss(&cc, now, kind, (uint32_t)mtu);
	} else {
		struct mt_cc_ack a = random_ack();

		rules_ack(&want, &a);
		cc.ops->ack(&cc, &a);
		if (a.rtt_ns && !a.penalty)
			assert_u_between(cc.nscc.avg_delay_ns + 3, (uint64_t)want.avg,
					 (uint64_t)want.avg + 6);
	}
	check(&want);
}

/* REQ(cc.nscc.table) REQ(cc.nscc.integer) REQ(cc.nscc.floor) REQ(cc.nscc.scale) */
TEST(mt_cc_nscc, as_the_rules_in_floating_point)
{
	for (size_t life = 0; life < test_rounds(400); life++) {
		make_profile();
		assert_u_between(cc.cwnd, (uint64_t)(max_wnd * 0.9999) - 1,
				 (uint64_t)(max_wnd * 1.0001) + 1);
		for (int i = 0; i < 500; i++)
			event();
	}
}
