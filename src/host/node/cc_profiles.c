/* SPDX-License-Identifier: BSD-2-Clause */
/* cc_profiles.c - CC profiles of the controller API as the engine takes them. */
#include "host/node/node.h"
#include "host/node/profiles.h"

#define ONE_Q16 65536.0f
/* The reference network of NSCC, whose constants scale with the bandwidth-delay product. */
#define REFERENCE_BDP_BYTES 150000.0

static uint32_t to_q16(float value)
{
	return (uint32_t)(value * ONE_Q16 + 0.5f);
}

/* Packets of the reference network as bytes of this one, at least one where it is not 0. */
static uint64_t packets_to_bytes(const struct mt_cc_profile_cfg *cfg, float packets, uint32_t mtu)
{
	double bdp = (double)cfg->link_bps * (double)cfg->base_rtt_ns / 8e9;
	double bytes = (double)packets * mtu * bdp / REFERENCE_BDP_BYTES;

	if (packets <= 0.0f)
		return 0;
	return bytes < 1.0 ? 1 : bytes > (double)UINT32_MAX ? UINT32_MAX : (uint64_t)bytes;
}

/* What the controller leaves open is as in the device's own profile. REQ(ctl.cc-profile) */
void mh_cc_profile_cfg(const struct mh_nic *nic, const struct mn_cc_profile *p,
		       struct mt_cc_profile_cfg *cfg)
{
	const struct mn_nscc *c = &p->nscc;

	mh_engine_own_cc(&nic->env, cfg);
	cfg->kind = p->algorithm == MN_CC_NSCC ? MT_CC_NSCC : MT_CC_NONE;
	if (p->algorithm != MN_CC_NSCC)
		return;
	/* Without a pace the rate is not known; it is taken to be that of a verbs port. */
	if (cfg->link_bps == 0)
		cfg->link_bps = MH_UNPACED_BPS;
	if (c->base_rtt_ns) {
		cfg->base_rtt_ns = c->base_rtt_ns;
		cfg->base_rtt_min_ns = 0;
	}
	cfg->disable_quick_adapt = c->disable_qa;
	cfg->qa_gate = c->qa_gate;
	cfg->target_qdelay_ns = c->target_delay_ns;
	cfg->max_cwnd_bytes = c->max_cwnd_bytes;
	cfg->qa_threshold_ns = c->qa_threshold_ns;
	cfg->adjust_period_ns = c->adjust_period_threshold_ns;
	cfg->adjust_bytes = c->adjust_bytes_threshold;
	cfg->eta_bytes = packets_to_bytes(cfg, c->eta, nic->env.mtu);
	cfg->fair_bytes = packets_to_bytes(cfg, c->fi, nic->env.mtu);
	cfg->fast_q16 = to_q16(c->fi_scale);
	cfg->gamma_q16 = to_q16(c->gamma);
	cfg->max_md_jump_q16 = to_q16(c->max_md_jump);
}
