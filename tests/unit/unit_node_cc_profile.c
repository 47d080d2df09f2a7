/* SPDX-License-Identifier: BSD-2-Clause */
/* CC profiles. REQ(ctl.cc-profile) REQ(ctl.profile-states) */
#include "unit/state_fixture.h"

#define CASE(name) TEST_WITH(fresh, sound, mn_cc_modify, name)

static int modify(uint64_t id, struct mn_cc_change c)
{
	return mn_cc_modify(&node, &device, id, &c);
}

static int move(uint32_t to)
{
	return modify(2, (struct mn_cc_change){.mask = MN_CC_STATE, .state = to});
}

static int configure(struct mn_nscc nscc)
{
	return modify(2, (struct mn_cc_change){.mask = MN_CC_CONFIG, .nscc = &nscc});
}

static void offline(uint32_t algorithm)
{
	assert_i_eq(modify(2, (struct mn_cc_change){.mask = MN_CC_STATE | MN_CC_ALGORITHM,
						    .state = MN_OFFLINE,
						    .algorithm = algorithm}),
		    0);
}

CASE(nscc_wants_its_parameters)
{
	offline(MN_CC_NSCC);
	assert_i_eq(move(MN_ONLINE), EINVAL);
	assert_i_eq(configure((struct mn_nscc){.base_rtt_ns = 12000, .gamma = 0.5f}), 0);
	assert_i_eq(move(MN_ONLINE), 0);
	assert_u_eq(node.cc[2].nscc.base_rtt_ns, 12000);
}

CASE(no_congestion_control_has_none)
{
	offline(MN_CC_NONE);
	assert_i_eq(configure((struct mn_nscc){0}), EINVAL);
	assert_i_eq(move(MN_ONLINE), 0);
}

CASE(online_the_parameters_change)
{
	offline(MN_CC_NSCC);
	assert_i_eq(configure((struct mn_nscc){0}), 0);
	assert_i_eq(move(MN_ONLINE), 0);
	assert_i_eq(configure((struct mn_nscc){.max_cwnd_bytes = 1 << 20}), 0);
	assert_i_eq(
		modify(2, (struct mn_cc_change){.mask = MN_CC_ALGORITHM, .algorithm = MN_CC_NONE}),
		EINVAL);
	assert_u_eq(node.cc[2].nscc.max_cwnd_bytes, 1 << 20);
}

CASE(busy_while_qps_use_it)
{
	offline(MN_CC_NONE);
	assert_i_eq(move(MN_ONLINE), 0);
	device.cc_in_use = 1u << 2;
	assert_i_eq(move(MN_OFFLINE), EBUSY);
	device.cc_in_use = 1u << 3;
	assert_i_eq(move(MN_OFFLINE), 0);
	assert_i_eq(move(MN_INIT), 0);
}

CASE(parameters_that_are_no_numbers)
{
	offline(MN_CC_NSCC);
	assert_i_eq(configure((struct mn_nscc){.gamma = 1.5f}), EINVAL);
	assert_i_eq(configure((struct mn_nscc){.gamma = -0.5f}), EINVAL);
	assert_i_eq(configure((struct mn_nscc){.eta = 0.0f / (float)node.cc[2].zero}), EINVAL);
	assert_i_eq(configure((struct mn_nscc){.qa_gate = 32}), EINVAL);
	assert_u_eq(node.cc[2].has_config, 0);
}

CASE(no_such_profile)
{
	struct mn_cc_change c = {.mask = MN_CC_STATE | MN_CC_ALGORITHM, .state = MN_OFFLINE};

	assert_i_eq(modify(0, c), EINVAL);
	assert_i_eq(modify(MN_CC_PROFILES, c), EINVAL);
	c.algorithm = MN_CC_ALGORITHMS;
	assert_i_eq(modify(2, c), EINVAL);
	c.mask = MN_CC_STATE;
	assert_i_eq(modify(2, c), EINVAL);
}
