/* SPDX-License-Identifier: BSD-2-Clause */
/* CC profiles: what is refused, and how it is named. unit_cc_nscc.c has the constants. */
#include "support/test.h"

#include "core/cc/cc.h"
#include "core/engine.h"

static struct mt_cc_profile_cfg cfg;
static struct mt_range_error fault;

static int good(void **state)
{
	(void)state;
	cfg = (struct mt_cc_profile_cfg){
		.kind = MT_CC_NSCC, .link_bps = 100000000000, .base_rtt_ns = 12000};
	return 0;
}

#define CASE(function, name) TEST_WITH(good, NULL, function, name)

/* Both ends of a field's range are taken, and what lies beyond is named with the range. */
#define RANGE(member, name, lowest, highest)                       \
	do {                                                       \
		struct mt_cc_profile_cfg kept = cfg;               \
                                                                   \
		cfg.member = (lowest);                             \
		assert_true(mt_cc_profile_check(&cfg, &fault));    \
		cfg.member = (highest);                            \
		assert_true(mt_cc_profile_check(&cfg, &fault));    \
		cfg.member = (highest) + 1;                        \
		assert_false(mt_cc_profile_check(&cfg, &fault));   \
		assert_string_equal(fault.field, name);            \
		assert_u_eq(fault.value, (highest) + UINT64_C(1)); \
		assert_u_eq(fault.low, (lowest));                  \
		assert_u_eq(fault.high, (highest));                \
		cfg = kept;                                        \
	} while (0)

/* REQ(cc.profile.ranges) */
CASE(mt_cc_profile_check, every_field_has_its_range_and_name)
{
	RANGE(link_bps, "link_bps", 1000000, UINT64_C(8000000000000));
	RANGE(base_rtt_ns, "base_rtt", 100, UINT64_C(500000000));
	RANGE(base_rtt_min_ns, "base_rtt_min", 1, UINT64_C(12000));
	RANGE(target_qdelay_ns, "target_delay", 1, UINT64_C(1) << 36);
	RANGE(max_cwnd_bytes, "max_cwnd", 1, UINT64_C(1) << 40);
	RANGE(qa_gate, "qa_gate", 1, 31);
	RANGE(qa_threshold_ns, "qa_threshold", 1, UINT64_C(1) << 36);
	RANGE(adjust_period_ns, "adjust_period_threshold", 1, UINT64_C(1) << 36);
	RANGE(adjust_bytes, "adjust_bytes_threshold", 1, UINT64_C(1) << 32);
	RANGE(eta_bytes, "eta", 1, UINT64_C(1) << 32);
	RANGE(fair_bytes, "fi", 1, UINT64_C(1) << 32);
	RANGE(fast_q16, "fi_scale", 1, 1u << 24);
	RANGE(gamma_q16, "gamma", 1, 65536);
	RANGE(max_md_jump_q16, "max_md_jump", 1, 65536);
}

CASE(mt_cc_profile_check, link_and_base_rtt_have_no_derived_value)
{
	cfg.link_bps = 0;
	assert_false(mt_cc_profile_check(&cfg, &fault));
	assert_string_equal(fault.field, "link_bps");
	good(NULL);
	cfg.base_rtt_ns = 99;
	assert_false(mt_cc_profile_check(&cfg, &fault));
	assert_string_equal(fault.field, "base_rtt");
	assert_u_eq(fault.value, 99);
}

CASE(mt_cc_profile_check, kinds)
{
	cfg.kind = MT_CC_NSCC + 1;
	assert_false(mt_cc_profile_check(&cfg, &fault));
	assert_string_equal(fault.field, "kind");
	/* No congestion control has no constants to be wrong. */
	cfg = (struct mt_cc_profile_cfg){.kind = MT_CC_NONE, .gamma_q16 = UINT32_MAX};
	assert_true(mt_cc_profile_check(&cfg, &fault));
}

/* REQ(cc.nscc.scale) */
CASE(mt_cc_profile_define, constants_of_the_smallest_network_are_not_zero)
{
	struct mt_cc_profile profile;
	const struct mt_nscc_param *p = &profile.nscc;

	cfg.link_bps = 1000000;
	cfg.base_rtt_ns = 100;
	mt_cc_profile_define(&profile, &cfg);
	assert_u_eq(p->fast_q16, 1);
	assert_u_eq(p->alpha_q30, 2);	      /* of one byte: 4 x 2^30 / (150000 x 12000) */
	assert_u_eq(p->fair.per_byte_q16, 2); /* 5 x 2^16 / 150000 */
	assert_u_eq(p->base_rtt_min_ns, 1);
}

/* REQ(cc.nscc.scale) */
CASE(mt_cc_profile_define, constants_of_the_largest_network_are_exact)
{
	struct mt_cc_profile profile;
	uint64_t bdp = UINT64_C(500000000000);

	cfg.link_bps = UINT64_C(8000000000000);
	cfg.base_rtt_ns = 500000000;
	mt_cc_profile_define(&profile, &cfg);
	assert_u_eq(profile.nscc.eta.per_byte_q16, bdp / 1000000 * 65536); /* 0.15 / 150000 */
	assert_u_eq(profile.nscc.fair.per_byte_q16, bdp * 65536 / 30000);  /* 5 / 150000 */
}

CASE(mt_cc_profile_define, new_constants_reach_the_qps_that_use_it)
{
	struct mt_cc_profile profile;
	struct mt_cc cc;

	mt_cc_profile_define(&profile, &cfg);
	mt_cc_init(&cc, &profile, 4096, 0);
	cfg.max_cwnd_bytes = 50000;
	mt_cc_profile_define(&profile, &cfg);
	cc.ops->loss(&cc, 1, MT_CC_NACKED, 1);
	assert_u_eq(cc.cwnd, 50000);
}

CASE(mt_cc_profile_define, qps_keep_their_algorithm)
{
	struct mt_cc_profile profile;
	struct mt_cc cc, later;

	mt_cc_profile_define(&profile, &cfg);
	mt_cc_init(&cc, &profile, 4096, 0);
	cfg.kind = MT_CC_NONE;
	mt_cc_profile_define(&profile, &cfg);
	mt_cc_init(&later, &profile, 4096, 0);
	cc.ops->loss(&cc, 1, MT_CC_NACKED, 1000);
	assert_u_eq(cc.cwnd, 225000 - 1000);
	assert_string_equal(later.ops->name, "none");
}
