/* SPDX-License-Identifier: BSD-2-Clause */
/* live_ctl.c - the controller API: limits, ports, and how what is not there says so. */
#include "live/live_rig.h"

#include <errno.h>
#include <mrc_ctl.h>

#define assert_minus_one(call, err)             \
	do {                                    \
		errno = 0;                      \
		assert_int_equal((call), -1);   \
		assert_int_equal(errno, (err)); \
	} while (0)

TEST(mrc_ctl_query_version, tells_the_header)
{
	uint32_t current, oldest, vendor, vendor_oldest;

	mrc_ctl_query_version(&current, &oldest, &vendor, &vendor_oldest);
	assert_u_eq(current, MRC_CTL_API_CURRENT_VERSION);
	assert_u_eq(oldest, MRC_CTL_API_LAST_SUPPORTED_VERSION);
	assert_u_eq(vendor, MRC_CTL_VENDOR_API_CURRENT_VERSION);
	assert_u_eq(vendor_oldest, MRC_CTL_VENDOR_API_LAST_SUPPORTED_VERSION);
	mrc_ctl_query_version(NULL, NULL, NULL, NULL);
}

TEST_WITH(rig_setup, rig_teardown, mrc_ctl_query_device, tells_limits)
{
	struct rig *r = *state;
	struct mrc_ctl_device_attr attr, attr_ex;
	int supported = 0;

	assert_int_equal(mrc_ctl_query_device(r->verbs, &attr), 0);
	assert_int_equal(mrc_ctl_query_device_ex(r->verbs, r->ctx, &attr_ex, &supported), 0);
	assert_int_equal(supported, 1);
	assert_memory_equal(&attr, &attr_ex, sizeof(attr));
	assert_true(attr.mrc_ctl_protocol_version & MRC_CTL_PROTOCOL_VERSION_1);
	assert_true(attr.phy_port_mask & 2);
	assert_false(attr.phy_port_mask & 1);
	assert_u_eq(attr.ev.ev_max_profiles, 0);
	assert_string_equal(attr.cc.algorithms[0], "uet-1.0-nscc");
	assert_null(attr.cc.algorithms[1]);
}

TEST_WITH(rig_setup, rig_teardown, mrc_ctl_query_device, foreign_context)
{
	struct rig *r = *state;
	struct ibv_context foreign = {0};
	struct mrc_ctl_device_attr attr;
	int supported = 1;

	assert_minus_one(mrc_ctl_query_device(&foreign, &attr), EOPNOTSUPP);
	assert_int_equal(mrc_ctl_query_device_ex(&foreign, NULL, &attr, &supported), 0);
	assert_int_equal(supported, 0);
	assert_minus_one(mrc_ctl_query_device_ex(&foreign, r->ctx, &attr, &supported), EINVAL);
	assert_minus_one(mrc_ctl_query_device(NULL, &attr), EINVAL);
	assert_minus_one(mrc_ctl_query_device(r->verbs, NULL), EINVAL);
}

TEST_WITH(rig_setup, rig_teardown, mrc_ctl_query_port, enabled_from_one_on)
{
	struct rig *r = *state;
	struct mrc_ctl_port_attr attr = {.port_admin_state = MRC_CTL_PORT_ADMIN_DISABLED};
	const int mask = MRC_CTL_PORT_ADMIN_STATE;

	assert_int_equal(mrc_ctl_query_port(r->ctx, 1, &attr, 0), 0);
	assert_int_equal(attr.port_admin_state, MRC_CTL_PORT_ADMIN_DISABLED);
	assert_int_equal(mrc_ctl_query_port(r->ctx, 1, &attr, mask), 0);
	assert_int_equal(attr.port_admin_state, MRC_CTL_PORT_ADMIN_ENABLED);
	assert_minus_one(mrc_ctl_query_port(r->ctx, 0, &attr, mask), EINVAL);
	assert_minus_one(mrc_ctl_query_port(r->ctx, 255, &attr, mask), EINVAL);
	assert_minus_one(mrc_ctl_query_port(r->ctx, 1, &attr, mask | 2), EINVAL);
	assert_minus_one(mrc_ctl_query_port(NULL, 1, &attr, mask), EINVAL);
	assert_minus_one(mrc_ctl_query_port(r->ctx, 1, NULL, mask), EINVAL);
}

TEST_WITH(rig_setup, rig_teardown, mrc_ctl_modify_port, is_refused)
{
	struct rig *r = *state;
	struct mrc_ctl_port_attr attr = {.port_admin_state = MRC_CTL_PORT_ADMIN_DISABLED};
	const int mask = MRC_CTL_PORT_ADMIN_STATE;

	assert_minus_one(mrc_ctl_modify_port(r->ctx, 1, &attr, mask), ENOTSUP);
	assert_minus_one(mrc_ctl_modify_port(r->ctx, 0, &attr, mask), EINVAL);
	attr.port_admin_state = (enum mrc_ctl_port_admin_state)2;
	assert_minus_one(mrc_ctl_modify_port(r->ctx, 1, &attr, mask), EINVAL);
}

TEST_WITH(rig_setup, rig_teardown, mrc_ctl_profiles, are_refused)
{
	struct rig *r = *state;
	struct mrc_ctl_ev_fmt_profile_attr fmt = {0};
	struct mrc_ctl_ev_profile_attr ev = {0};
	struct mrc_ctl_cc_profile_attr cc = {0};
	const int both = MRC_CTL_EV_PROFILE_EV_OP | MRC_CTL_EV_PROFILE_EV_FIELDS_OP;

	assert_minus_one(mrc_ctl_modify_ev_fmt_profile(r->ctx, 0, &fmt, 0), ENOTSUP);
	assert_minus_one(mrc_ctl_query_ev_fmt_profile(r->ctx, 0, &fmt, 0), ENOTSUP);
	assert_minus_one(mrc_ctl_modify_ev_profile(r->ctx, 0, &ev, 0), ENOTSUP);
	assert_minus_one(mrc_ctl_query_ev_profile(r->ctx, 0, &ev, 0), ENOTSUP);
	assert_minus_one(mrc_ctl_modify_ev_profile(r->ctx, 0, &ev, both), EINVAL);
	assert_minus_one(mrc_ctl_modify_cc_profile(r->ctx, 0, &cc, 0), ENOTSUP);
	assert_minus_one(mrc_ctl_query_cc_profile(r->ctx, 0, &cc, 0), ENOTSUP);
	assert_minus_one(mrc_ctl_query_cc_profile(r->ctx, 0, NULL, 0), EINVAL);
	assert_minus_one(mrc_ctl_query_cc_profile(NULL, 0, &cc, 0), EINVAL);
}

TEST_WITH(rig_setup, rig_teardown, mrc_ctl_ev_events, are_refused)
{
	struct rig *r = *state;
	struct mrc_cq *cq = mrc_create_cq(r->ctx, 1, NULL, NULL, 0);
	struct mrc_ctl_ev_event event;

	assert_non_null(cq);
	errno = 0;
	assert_null(mrc_ctl_create_ev_event_cq(r->ctx, 1, NULL, NULL, 0));
	assert_int_equal(errno, ENOTSUP);
	assert_null(mrc_ctl_create_ev_event_cq(r->ctx, 0, NULL, NULL, 0));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(mrc_ctl_poll_ev_event(cq, 1, &event), -ENOTSUP);
	assert_int_equal(mrc_ctl_poll_ev_event(cq, -1, &event), -EINVAL);
	assert_int_equal(mrc_ctl_poll_ev_event(NULL, 1, &event), -EINVAL);
	assert_int_equal(mrc_destroy_cq(cq), 0);
}
