/* SPDX-License-Identifier: BSD-2-Clause */
/* cc_profile.c - CC profiles: ranges, NSCC's constants, and starting a QP with one. */
#include "base/assert.h"
#include "core/cc/cc.h"
#include "core/engine.h"

/* Ten times the fastest NIC, and a base RTT around the world: NSCC's products stay in 64 bits. */
#define LINK_BPS_MIN UINT64_C(1000000)
#define LINK_BPS_MAX UINT64_C(8000000000000)
#define BASE_RTT_MIN_NS 100u
#define BASE_RTT_MAX_NS UINT64_C(500000000)
/* Longer than the longest ACK timeout; no packet is that late. */
#define TIME_MAX_NS (UINT64_C(1) << 36)
/* A terabyte in flight is beyond every link and RTT above. */
#define CWND_MAX (UINT64_C(1) << 40)
#define AMOUNT_MAX (UINT64_C(1) << 32)
#define QA_GATE_MAX 31u
#define ONE_Q16 65536u
#define HALF_Q16 32768u
#define FAST_MAX_Q16 (UINT64_C(256) * ONE_Q16)

/* The reference network: 100 Gb/s x 12 us. */
#define REF_BDP_BYTES UINT64_C(150000)
#define REF_RTT_NS UINT64_C(12000)

static bool derived_or(struct mt_range_error *error, const char *field, uint64_t value,
		       uint64_t low, uint64_t high)
{
	return value == 0 || mt_in_range(error, field, value, low, high);
}

/* REQ(cc.profile.ranges) */
bool mt_cc_profile_check(const struct mt_cc_profile_cfg *c, struct mt_range_error *e)
{
	if (!mt_in_range(e, "kind", c->kind, MT_CC_NONE, MT_CC_NSCC))
		return false;
	return c->kind == MT_CC_NONE ||
	       (mt_in_range(e, "link_bps", c->link_bps, LINK_BPS_MIN, LINK_BPS_MAX) &&
		mt_in_range(e, "base_rtt", c->base_rtt_ns, BASE_RTT_MIN_NS, BASE_RTT_MAX_NS) &&
		derived_or(e, "base_rtt_min", c->base_rtt_min_ns, 1, c->base_rtt_ns) &&
		derived_or(e, "target_delay", c->target_qdelay_ns, 1, TIME_MAX_NS) &&
		derived_or(e, "max_cwnd", c->max_cwnd_bytes, 1, CWND_MAX) &&
		derived_or(e, "qa_gate", c->qa_gate, 1, QA_GATE_MAX) &&
		derived_or(e, "qa_threshold", c->qa_threshold_ns, 1, TIME_MAX_NS) &&
		derived_or(e, "adjust_period_threshold", c->adjust_period_ns, 1, TIME_MAX_NS) &&
		derived_or(e, "adjust_bytes_threshold", c->adjust_bytes, 1, AMOUNT_MAX) &&
		derived_or(e, "eta", c->eta_bytes, 1, AMOUNT_MAX) &&
		derived_or(e, "fi", c->fair_bytes, 1, AMOUNT_MAX) &&
		derived_or(e, "fi_scale", c->fast_q16, 1, FAST_MAX_Q16) &&
		derived_or(e, "gamma", c->gamma_q16, 1, ONE_Q16) &&
		derived_or(e, "max_md_jump", c->max_md_jump_q16, 1, ONE_Q16));
}

static uint64_t or_derived(uint64_t stated, uint64_t derived)
{
	if (stated)
		return stated;
	return derived ? derived : 1;
}

/*
 * a = BDP / (100 Gb/s x 12 us) and b = target / 12 us scale UEC's constants. In alpha = 4 a b MTU /
 * target the target cancels. REQ(cc.nscc.scale) REQ(cc.nscc.target)
 */
void mt_nscc_derive(struct mt_nscc_param *p, const struct mt_cc_profile_cfg *c)
{
	uint64_t bdp = or_derived(0, c->link_bps / 1000 * c->base_rtt_ns / 8000000);
	uint64_t target = or_derived(c->target_qdelay_ns,
				     c->trimming ? c->base_rtt_ns * 3 / 4 : c->base_rtt_ns);

	*p = (struct mt_nscc_param){
		.link_kbps = c->link_bps / 1000,
		.max_cwnd = c->max_cwnd_bytes,
		/* 4 BDP 2^30 / (150000 x 12000), with 2^10 of it taken from below the line. */
		.alpha_q30 = or_derived(0, (bdp << 22) / (REF_BDP_BYTES * REF_RTT_NS >> 10)),
		.fair = {c->fair_bytes, or_derived(0, (5 * bdp << 16) / REF_BDP_BYTES)},
		.eta = {c->eta_bytes, (15 * bdp << 16) / (100 * REF_BDP_BYTES)},
		.adjust = {c->adjust_bytes, 8 << 16},
		.fast_q16 = or_derived(c->fast_q16, (bdp << 14) / REF_BDP_BYTES),
		.target_ns = target,
		.qa_threshold_ns = or_derived(c->qa_threshold_ns, 4 * target),
		.adjust_period_ns = or_derived(c->adjust_period_ns, c->base_rtt_ns),
		.base_rtt_ns = (uint32_t)c->base_rtt_ns,
		.base_rtt_min_ns = (uint32_t)or_derived(c->base_rtt_min_ns, 1),
		/* "No delay" is 1 us on the reference network, a twelfth of its RTT. */
		.fast_delay_ns = (uint32_t)or_derived(0, c->base_rtt_ns / 12),
		.gamma_q16 = (uint32_t)or_derived(c->gamma_q16, ONE_Q16 * 4 / 5),
		.max_md_jump_q16 = (uint32_t)or_derived(c->max_md_jump_q16, HALF_Q16),
		.qa_gate = (uint8_t)or_derived(c->qa_gate, 3),
		.quick_adapt = !c->disable_quick_adapt,
		.trimming = c->trimming,
	};
	mb_assert(p->target_ns > 0 && p->alpha_q30 > 0 && p->adjust_period_ns > 0);
	mb_assert(p->base_rtt_min_ns <= p->base_rtt_ns && p->fast_delay_ns <= p->base_rtt_ns);
	mb_assert(p->qa_gate <= QA_GATE_MAX && p->max_md_jump_q16 <= ONE_Q16);
}

/* A profile that no longer asks for NSCC keeps its constants: QPs may still go by them. */
void mt_cc_profile_define(struct mt_cc_profile *profile, const struct mt_cc_profile_cfg *cfg)
{
	profile->cfg = *cfg;
	profile->set = true;
	if (cfg->kind == MT_CC_NSCC)
		mt_nscc_derive(&profile->nscc, cfg);
}

void mt_cc_init(struct mt_cc *cc, const struct mt_cc_profile *profile, uint32_t path_mtu,
		uint64_t now_ns)
{
	*cc = (struct mt_cc){.ops = profile->cfg.kind == MT_CC_NSCC ? &mt_cc_nscc : &mt_cc_none};
	cc->ops->init(cc, profile, path_mtu, now_ns);
	mb_assert(cc->cwnd >= path_mtu && cc->inflight == 0);
}
