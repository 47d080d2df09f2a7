/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_dcqcn.c - the sender's rate, step by step, against values worked out by hand. */
#include "support/test.h"

#include "sim/roce/roce_nic.h"

#define GBPS UINT64_C(1000000000)
#define MBPS UINT64_C(1000000)
#define US UINT64_C(1000)

static struct ms_dcqcn_cfg cfg;
static struct ms_dcqcn c;

/* As published, for 40G. */
static void begin(void)
{
	ms_dcqcn_defaults(&cfg, 40 * GBPS);
	assert_true(ms_dcqcn_valid(&cfg));
	ms_dcqcn_init(&c, &cfg);
}

TEST(ms_dcqcn_init, line_rate_until_the_first_cnp)
{
	begin();
	assert_u_eq(ms_dcqcn_rate(&c, &cfg, 0), 40 * GBPS);
	for (unsigned i = 0; i < 10; i++)
		ms_dcqcn_sent(&c, &cfg, i * US, 5000000);
	assert_u_eq(ms_dcqcn_rate(&c, &cfg, 1000000 * US), 40 * GBPS);
}

/* REQ(sim.dcqcn.cut): alpha is 1 at first, so the first cut is a half. */
TEST(ms_dcqcn_cnp, halves_first)
{
	begin();
	ms_dcqcn_cnp(&c, &cfg, 100 * US);
	assert_u_eq(c.rate_bps, 20 * GBPS);
	assert_u_eq(c.target_bps, 40 * GBPS);
	assert_u_eq(c.alpha, MS_DCQCN_ONE);
	ms_dcqcn_cnp(&c, &cfg, 150 * US);
	assert_u_eq(c.rate_bps, 10 * GBPS);
	assert_u_eq(c.target_bps, 20 * GBPS);
}

/* REQ(sim.dcqcn.cut): 255/256 of alpha are left after 55 us without a CNP. */
TEST(ms_dcqcn_cnp, alpha_sinks)
{
	begin();
	ms_dcqcn_cnp(&c, &cfg, 0);
	ms_dcqcn_rate(&c, &cfg, 54 * US);
	assert_u_eq(c.alpha, 1048576);
	ms_dcqcn_rate(&c, &cfg, 55 * US);
	assert_u_eq(c.alpha, 1044480);
	ms_dcqcn_rate(&c, &cfg, 110 * US);
	assert_u_eq(c.alpha, 1040400);
	/* The second CNP cuts by half of that and adds 1/256 of what is missing. */
	assert_u_eq(c.rate_bps, 35 * GBPS);
	ms_dcqcn_cnp(&c, &cfg, 120 * US);
	assert_u_eq(c.rate_bps, 35 * GBPS - 35 * GBPS / 2 * 1040400 / 1048576);
	assert_u_eq(c.alpha, 1040400 + (1048576 - 1040400) / 256);
}

/* REQ(sim.dcqcn.increase): five halves of the way, then 40 Mb/s more of a target. */
TEST(ms_dcqcn_rate, fast_recovery_then_additive)
{
	const uint64_t want[] = {30000 * MBPS, 35000 * MBPS, 37500 * MBPS, 38750 * MBPS,
				 39375 * MBPS};

	begin();
	cfg.line_bps = 100 * GBPS;
	c.rate_bps = 40 * GBPS;
	ms_dcqcn_cnp(&c, &cfg, 0);
	for (unsigned i = 0; i < 5; i++)
		assert_u_eq(ms_dcqcn_rate(&c, &cfg, (i + 1) * 55 * US), want[i]);
	assert_u_eq(c.target_bps, 40 * GBPS);
	assert_u_eq(ms_dcqcn_rate(&c, &cfg, 6 * 55 * US), (39375 * MBPS + 40040 * MBPS) / 2);
	assert_u_eq(c.target_bps, 40040 * MBPS);
}

/* REQ(sim.dcqcn.increase): when timer and bytes have both passed five rounds, i R_HAI each. */
TEST(ms_dcqcn_sent, hyper_increase)
{
	begin();
	cfg.line_bps = 100 * GBPS;
	c.rate_bps = 40 * GBPS;
	ms_dcqcn_cnp(&c, &cfg, 0);
	for (unsigned i = 0; i < 5; i++)
		ms_dcqcn_sent(&c, &cfg, US, 10000000);
	assert_u_eq(c.byte_rounds, 5);
	assert_u_eq(c.rate_bps, 39375 * MBPS);
	ms_dcqcn_rate(&c, &cfg, 6 * 55 * US); /* six by the timer: the last of them is additive */
	assert_u_eq(c.target_bps, 40040 * MBPS);
	ms_dcqcn_sent(&c, &cfg, 6 * 55 * US, 10000000); /* both are at six now */
	assert_u_eq(c.target_bps, 40440 * MBPS);
	ms_dcqcn_sent(&c, &cfg, 6 * 55 * US, 9999999);
	assert_u_eq(c.target_bps, 40440 * MBPS);
}

TEST(ms_dcqcn_rate, comes_to_rest)
{
	begin();
	for (unsigned i = 0; i < 1000; i++)
		ms_dcqcn_cnp(&c, &cfg, i * 50 * US);
	assert_u_eq(c.rate_bps, cfg.min_bps);
	assert_u_eq(ms_dcqcn_rate(&c, &cfg, UINT64_C(10000000000)), 40 * GBPS);
	assert_false(c.limited);
	assert_u_eq(c.alpha, 0);
}

TEST(ms_dcqcn_valid, ranges)
{
	begin();
	cfg.g_shift = 0;
	assert_false(ms_dcqcn_valid(&cfg));
	begin();
	cfg.min_bps = 41 * GBPS;
	assert_false(ms_dcqcn_valid(&cfg));
	begin();
	cfg.rate_timer_ns = 0;
	assert_false(ms_dcqcn_valid(&cfg));
}
