/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_cc_profiles.c - CC profiles of a controller as the engine takes them:
 * src/host/node/cc_profiles.c.
 */
#include "support/test.h"

#include "host/node/profiles.h"

#define MTU 4096u
#define GBPS UINT64_C(1000000000)
#define OWN_RTT_NS 40000u

static struct mh_nic nic;

static int setup(void **state)
{
	(void)state;
	nic.env = (struct mh_env){.n_ports = 2,
				  .shards = 1,
				  .mtu = MTU,
				  .pace_bps = 5 * GBPS,
				  .cc = MT_CC_NSCC,
				  .base_rtt_ns = OWN_RTT_NS};
	return 0;
}

#define CC_TEST(name) TEST_WITH(setup, NULL, mh_cc_profile_cfg, name)

/* At 10 Gbit/s and 120 us a network has the bandwidth-delay product of NSCC's reference. */
static struct mt_cc_profile_cfg cfg_of(struct mn_nscc nscc)
{
	const struct mn_cc_profile p = {.algorithm = MN_CC_NSCC, .nscc = nscc};
	struct mt_cc_profile_cfg cfg;

	mh_cc_profile_cfg(&nic, &p, &cfg);
	return cfg;
}

CC_TEST(takes_what_the_controller_says)
{
	struct mt_cc_profile_cfg cfg = cfg_of((struct mn_nscc){.disable_qa = 1,
							       .qa_gate = 2,
							       .adjust_bytes_threshold = 3,
							       .adjust_period_threshold_ns = 4,
							       .base_rtt_ns = 120000,
							       .max_cwnd_bytes = 6,
							       .qa_threshold_ns = 7,
							       .target_delay_ns = 8,
							       .fi_scale = 0.25f,
							       .gamma = 0.75f,
							       .max_md_jump = 0.5f});

	assert_u_eq(cfg.kind, MT_CC_NSCC);
	assert_true(cfg.disable_quick_adapt);
	assert_u_eq(cfg.qa_gate, 2);
	assert_u_eq(cfg.adjust_bytes, 3);
	assert_u_eq(cfg.adjust_period_ns, 4);
	assert_u_eq(cfg.base_rtt_ns, 120000);
	assert_u_eq(cfg.base_rtt_min_ns, 0);
	assert_u_eq(cfg.max_cwnd_bytes, 6);
	assert_u_eq(cfg.qa_threshold_ns, 7);
	assert_u_eq(cfg.target_qdelay_ns, 8);
	assert_u_eq(cfg.fast_q16, 16384);
	assert_u_eq(cfg.gamma_q16, 49152);
	assert_u_eq(cfg.max_md_jump_q16, 32768);
	assert_u_eq(cfg.link_bps, 10 * GBPS);
}

/* Packets of the reference network are as many bytes as that scales to, at least one. */
CC_TEST(scales_packets)
{
	struct mt_cc_profile_cfg cfg =
		cfg_of((struct mn_nscc){.base_rtt_ns = 120000, .eta = 0.25f, .fi = 5.0f});

	assert_u_eq(cfg.eta_bytes, MTU / 4);
	assert_u_eq(cfg.fair_bytes, UINT64_C(5) * MTU);
	cfg = cfg_of((struct mn_nscc){.base_rtt_ns = 240000, .eta = 1e-9f, .fi = 1.0f});
	assert_u_eq(cfg.eta_bytes, 1);
	assert_u_eq(cfg.fair_bytes, UINT64_C(2) * MTU);
	cfg = cfg_of((struct mn_nscc){.base_rtt_ns = 120000, .eta = 1e9f});
	assert_u_eq(cfg.eta_bytes, UINT32_MAX);
	assert_u_eq(cfg.fair_bytes, 0);
}

/* What is left open is as in the device's own profile. */
CC_TEST(leaves_the_base_rtt)
{
	struct mt_cc_profile_cfg cfg = cfg_of((struct mn_nscc){0});

	assert_u_eq(cfg.base_rtt_ns, OWN_RTT_NS);
	assert_u_eq(cfg.base_rtt_min_ns, OWN_RTT_NS);
}

/* Without a pace the rate is not known. */
CC_TEST(without_a_pace)
{
	nic.env.pace_bps = 0;
	assert_u_eq(cfg_of((struct mn_nscc){0}).link_bps, MH_UNPACED_BPS);
}

CC_TEST(of_no_congestion_control)
{
	const struct mn_cc_profile p = {.algorithm = MN_CC_NONE, .nscc = {.qa_gate = 2}};
	struct mt_cc_profile_cfg cfg;

	nic.env.pace_bps = 0;
	mh_cc_profile_cfg(&nic, &p, &cfg);
	assert_u_eq(cfg.kind, MT_CC_NONE);
	assert_u_eq(cfg.link_bps, 0);
	assert_u_eq(cfg.qa_gate, 0);
}
