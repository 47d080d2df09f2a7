/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * abi_ctl_layout.c - sizes, offsets and values of the MRC controller API 1.0.1 on x86-64, as a
 * program compiled against the Open Compute Project's own header has them.
 */
#include "support/test.h"

#include <mrc_ctl.h>

#define SIZE(type, bytes, alignment)                             \
	do {                                                     \
		assert_u_eq(sizeof(struct type), (bytes));       \
		assert_u_eq(_Alignof(struct type), (alignment)); \
	} while (0)
#define FIELD(type, field, offset, bytes)                                \
	do {                                                             \
		assert_u_eq(offsetof(struct type, field), (offset));     \
		assert_u_eq(sizeof(((struct type *)0)->field), (bytes)); \
	} while (0)
#define VALUE(name, value) assert_i_eq((int64_t)(name), (value))

TEST(mrc_ctl_device_attr, layout)
{
	SIZE(mrc_ctl_device_attr, 72, 8);
	FIELD(mrc_ctl_device_attr, mrc_ctl_protocol_version, 0, 4);
	FIELD(mrc_ctl_device_attr, ev.ev_max_fmt_profiles, 4, 4);
	FIELD(mrc_ctl_device_attr, ev.ev_max_profiles, 8, 4);
	FIELD(mrc_ctl_device_attr, ev.ev_max_count, 12, 4);
	FIELD(mrc_ctl_device_attr, ev.ev_free_count, 16, 4);
	FIELD(mrc_ctl_device_attr, ev.ev_max_count_profile, 20, 4);
	FIELD(mrc_ctl_device_attr, ev.ev_count_align, 24, 4);
	FIELD(mrc_ctl_device_attr, ev.ev_max_width, 28, 4);
	FIELD(mrc_ctl_device_attr, ev.ev_fmt_mode_mask, 32, 4);
	FIELD(mrc_ctl_device_attr, ev.ev_mode_mask, 36, 4);
	FIELD(mrc_ctl_device_attr, ev.ev_op_max_entries, 40, 4);
	FIELD(mrc_ctl_device_attr, cc.cc_max_profiles, 48, 4);
	FIELD(mrc_ctl_device_attr, cc.algorithms, 56, 8);
	FIELD(mrc_ctl_device_attr, phy_port_mask, 64, 4);
	FIELD(mrc_ctl_device_attr, opt_attr, 68, 4);
}

TEST(mrc_ctl_port_attr, layout)
{
	SIZE(mrc_ctl_port_attr, 4, 4);
	FIELD(mrc_ctl_port_attr, port_admin_state, 0, 4);
}

TEST(mrc_ctl_ev_fmt_field, layout)
{
	SIZE(mrc_ctl_ev_fmt_field, 1, 1);
	FIELD(mrc_ctl_ev_fmt_field, width, 0, 1);
}

TEST(mrc_ctl_ev_fmt_profile_attr, layout)
{
	SIZE(mrc_ctl_ev_fmt_profile_attr, 168, 8);
	FIELD(mrc_ctl_ev_fmt_profile_attr, profile_state, 0, 4);
	FIELD(mrc_ctl_ev_fmt_profile_attr, cur_profile_state, 4, 4);
	FIELD(mrc_ctl_ev_fmt_profile_attr, ev_fmt_mode, 8, 4);
	FIELD(mrc_ctl_ev_fmt_profile_attr, ev_fmt_op.op, 16, 4);
	FIELD(mrc_ctl_ev_fmt_profile_attr, ev_fmt_op.fmt_fields, 24, 8);
	FIELD(mrc_ctl_ev_fmt_profile_attr, ev_fmt_op.fmt_field_count, 32, 4);
	FIELD(mrc_ctl_ev_fmt_profile_attr, vendor_cfg, 40, 128);
}

TEST(mrc_ctl_ev, layout)
{
	SIZE(mrc_ctl_ev, 33, 1);
	FIELD(mrc_ctl_ev, val, 0, 32);
	FIELD(mrc_ctl_ev, port, 32, 1);
}

TEST(mrc_ctl_ev_field, layout)
{
	SIZE(mrc_ctl_ev_field, 20, 4);
	FIELD(mrc_ctl_ev_field, width, 0, 4);
	FIELD(mrc_ctl_ev_field, init_val, 4, 4);
	FIELD(mrc_ctl_ev_field, min_val, 8, 4);
	FIELD(mrc_ctl_ev_field, max_val, 12, 4);
	FIELD(mrc_ctl_ev_field, mask, 16, 4);
}

TEST(mrc_ctl_ev_op_entry, layout)
{
	SIZE(mrc_ctl_ev_op_entry, 76, 4);
	FIELD(mrc_ctl_ev_op_entry, ev, 0, 33);
	FIELD(mrc_ctl_ev_op_entry, ev_new, 33, 33);
	FIELD(mrc_ctl_ev_op_entry, state, 68, 4);
	FIELD(mrc_ctl_ev_op_entry, flags, 72, 4);
}

TEST(mrc_ctl_ev_profile_attr, layout)
{
	SIZE(mrc_ctl_ev_profile_attr, 216, 8);
	FIELD(mrc_ctl_ev_profile_attr, profile_state, 0, 4);
	FIELD(mrc_ctl_ev_profile_attr, cur_profile_state, 4, 4);
	FIELD(mrc_ctl_ev_profile_attr, ev_mode, 8, 4);
	FIELD(mrc_ctl_ev_profile_attr, ev_fmt_profile_id, 16, 8);
	FIELD(mrc_ctl_ev_profile_attr, ev_count, 24, 4);
	FIELD(mrc_ctl_ev_profile_attr, ev_min_active, 28, 4);
	FIELD(mrc_ctl_ev_profile_attr, ev_event_mask, 32, 4);
	FIELD(mrc_ctl_ev_profile_attr, ev_op.op, 40, 4);
	FIELD(mrc_ctl_ev_profile_attr, ev_op.entries, 48, 8);
	FIELD(mrc_ctl_ev_profile_attr, ev_op.entry_count, 56, 4);
	FIELD(mrc_ctl_ev_profile_attr, ev_fields_op.op, 64, 4);
	FIELD(mrc_ctl_ev_profile_attr, ev_fields_op.fields, 72, 8);
	FIELD(mrc_ctl_ev_profile_attr, ev_fields_op.field_count, 80, 4);
	FIELD(mrc_ctl_ev_profile_attr, vendor_cfg, 88, 128);
}

TEST(mrc_ctl_cc_profile_attr, layout)
{
	SIZE(mrc_ctl_cc_profile_attr, 152, 8);
	FIELD(mrc_ctl_cc_profile_attr, profile_state, 0, 4);
	FIELD(mrc_ctl_cc_profile_attr, cur_profile_state, 4, 4);
	FIELD(mrc_ctl_cc_profile_attr, algorithm, 8, 8);
	FIELD(mrc_ctl_cc_profile_attr, cc_config, 16, 8);
	FIELD(mrc_ctl_cc_profile_attr, vendor_cfg, 24, 128);
}

TEST(mrc_ctl_cc_nscc_cfg, layout)
{
	SIZE(mrc_ctl_cc_nscc_cfg, 52, 4);
	FIELD(mrc_ctl_cc_nscc_cfg, disable_qa, 0, 1);
	FIELD(mrc_ctl_cc_nscc_cfg, adjust_bytes_threshold, 4, 4);
	FIELD(mrc_ctl_cc_nscc_cfg, adjust_period_threshold, 8, 4);
	FIELD(mrc_ctl_cc_nscc_cfg, base_rtt, 12, 4);
	FIELD(mrc_ctl_cc_nscc_cfg, eta, 16, 4);
	FIELD(mrc_ctl_cc_nscc_cfg, fi, 20, 4);
	FIELD(mrc_ctl_cc_nscc_cfg, fi_scale, 24, 4);
	FIELD(mrc_ctl_cc_nscc_cfg, gamma, 28, 4);
	FIELD(mrc_ctl_cc_nscc_cfg, max_md_jump, 32, 4);
	FIELD(mrc_ctl_cc_nscc_cfg, max_cwnd, 36, 4);
	FIELD(mrc_ctl_cc_nscc_cfg, qa_gate, 40, 1);
	FIELD(mrc_ctl_cc_nscc_cfg, qa_threshold, 44, 4);
	FIELD(mrc_ctl_cc_nscc_cfg, target_delay, 48, 4);
}

TEST(mrc_ctl_ev_event, layout)
{
	SIZE(mrc_ctl_ev_event, 56, 8);
	FIELD(mrc_ctl_ev_event, profile_id, 0, 8);
	FIELD(mrc_ctl_ev_event, ev, 8, 33);
	FIELD(mrc_ctl_ev_event, drop_count, 44, 4);
	FIELD(mrc_ctl_ev_event, state, 48, 4);
}

TEST(mrc_ctl_ep_req, layout)
{
	SIZE(mrc_ctl_ep_req, 88, 8);
	FIELD(mrc_ctl_ep_req, req_id, 0, 2);
	FIELD(mrc_ctl_ep_req, sgid, 8, 16);
	FIELD(mrc_ctl_ep_req, dgid, 24, 16);
	FIELD(mrc_ctl_ep_req, ev_fmt_mode, 40, 4);
	FIELD(mrc_ctl_ep_req, req_ev, 44, 33);
	FIELD(mrc_ctl_ep_req, op.port_status_update.port_status, 80, 4);
}

TEST(mrc_ctl_ep_rsp, layout)
{
	SIZE(mrc_ctl_ep_rsp, 12, 4);
	FIELD(mrc_ctl_ep_rsp, req_id, 0, 2);
	FIELD(mrc_ctl_ep_rsp, port, 2, 1);
	FIELD(mrc_ctl_ep_rsp, rtt, 4, 4);
	FIELD(mrc_ctl_ep_rsp, adj_svc_time, 8, 1);
}

TEST(mrc_ctl_cc_profile, values)
{
	VALUE(MRC_CTL_CC_PROFILE_ALGORITHM, 4);
	VALUE(MRC_CTL_CC_PROFILE_CONFIG, 8);
	VALUE(MRC_CTL_CC_PROFILE_CUR_STATE, 2);
	VALUE(MRC_CTL_CC_PROFILE_STATE, 1);
	VALUE(MRC_CTL_CC_PROFILE_VENDOR_CFG, INT32_MIN);
}

TEST(mrc_ctl_others, values)
{
	VALUE(MRC_CTL_EP_OP_EV_PROBE, 0);
	VALUE(MRC_CTL_EP_OP_PORT_STATUS_UPDATE, 1);
	VALUE(MRC_CTL_PORT_ADMIN_DISABLED, 0);
	VALUE(MRC_CTL_PORT_ADMIN_ENABLED, 1);
	VALUE(MRC_CTL_PORT_ADMIN_STATE, 1);
	VALUE(MRC_CTL_PROFILE_INIT, 0);
	VALUE(MRC_CTL_PROFILE_OFFLINE, 1);
	VALUE(MRC_CTL_PROFILE_ONLINE, 2);
	VALUE(MRC_CTL_PROTOCOL_VERSION_0, 0);
	VALUE(MRC_CTL_PROTOCOL_VERSION_1, 1);
	VALUE(MRC_CTL_MAX_VENDOR_CFG_SIZE, 128);
}

TEST(mrc_ctl_ev, values)
{
	VALUE(MRC_CTL_EV_ASSUMED_BAD, 2);
	VALUE(MRC_CTL_EV_DENIED, 4);
	VALUE(MRC_CTL_EV_FIELDS_OP_MODIFY_FIELDS, 0);
	VALUE(MRC_CTL_EV_FIELDS_OP_QUERY_FIELDS, 1);
	VALUE(MRC_CTL_EV_GOOD, 1);
	VALUE(MRC_CTL_EV_MODE_AUTO, 1);
	VALUE(MRC_CTL_EV_MODE_EXP, 2);
	VALUE(MRC_CTL_EV_MODE_GEN, 4);
	VALUE(MRC_CTL_EV_OP_F_ALL_COPIES, 1);
	VALUE(MRC_CTL_EV_OP_MODIFY_EV_STATE, 1);
	VALUE(MRC_CTL_EV_OP_QUERY_EV_ARRAY, 3);
	VALUE(MRC_CTL_EV_OP_QUERY_EV_STATE, 2);
	VALUE(MRC_CTL_EV_OP_REPLACE_EV, 0);
	VALUE(MRC_CTL_EV_UNKNOWN, INT32_MIN);
	VALUE(MRC_CTL_EV_MAX_BYTES, 32);
}

TEST(mrc_ctl_ev_fmt, values)
{
	VALUE(MRC_CTL_EV_FMT_MODE_SRV6, 2);
	VALUE(MRC_CTL_EV_FMT_MODE_STEV, 1);
	VALUE(MRC_CTL_EV_FMT_MODE_UDP, 4);
	VALUE(MRC_CTL_EV_FMT_OP_MODIFY_FIELDS, 0);
	VALUE(MRC_CTL_EV_FMT_OP_QUERY_FIELDS, 1);
	VALUE(MRC_CTL_EV_FMT_PROFILE_CUR_STATE, 2);
	VALUE(MRC_CTL_EV_FMT_PROFILE_MODE, 4);
	VALUE(MRC_CTL_EV_FMT_PROFILE_OP, 8);
	VALUE(MRC_CTL_EV_FMT_PROFILE_STATE, 1);
	VALUE(MRC_CTL_EV_FMT_VENDOR_CFG, INT32_MIN);
}

TEST(mrc_ctl_ev_profile, values)
{
	VALUE(MRC_CTL_EV_PROFILE_COUNT, 16);
	VALUE(MRC_CTL_EV_PROFILE_CUR_STATE, 2);
	VALUE(MRC_CTL_EV_PROFILE_EVENT_MASK, 64);
	VALUE(MRC_CTL_EV_PROFILE_EV_FIELDS_OP, 256);
	VALUE(MRC_CTL_EV_PROFILE_EV_OP, 128);
	VALUE(MRC_CTL_EV_PROFILE_FMT_ID, 8);
	VALUE(MRC_CTL_EV_PROFILE_MIN_ACTIVE, 32);
	VALUE(MRC_CTL_EV_PROFILE_MODE, 4);
	VALUE(MRC_CTL_EV_PROFILE_STATE, 1);
	VALUE(MRC_CTL_EV_PROFILE_VENDOR_CFG, INT32_MIN);
}

TEST(mrc_ctl_attr_opt, values)
{
	VALUE(MRC_CTL_OPT_CAP_CC_PROFILE_MODIFY_ONLINE, 2);
	VALUE(MRC_CTL_OPT_CAP_EP_OP_EV_PROBE, 32);
	VALUE(MRC_CTL_OPT_CAP_EV_EVENT, 4);
	VALUE(MRC_CTL_OPT_CAP_EV_EVENT_PRECISE_DROP_CNT, 16);
	VALUE(MRC_CTL_OPT_CAP_EV_EXPLICIT_RANGE, 8);
	VALUE(MRC_CTL_OPT_CAP_EV_PROFILE_MODIFY_ONLINE, 1);
}

/* REQ(api.version) */
TEST(mrc_ctl_api_ver, values)
{
	VALUE(MRC_CTL_API_CURRENT_VERSION, 16777217);
	VALUE(MRC_CTL_API_LAST_SUPPORTED_VERSION, 0);
	VALUE((uint32_t)MRC_CTL_API_VER_LATEST, UINT32_MAX);
	VALUE(MRC_CTL_VENDOR_API_CURRENT_VERSION, 16777216);
	VALUE(MRC_CTL_VENDOR_API_LAST_SUPPORTED_VERSION, 0);
	VALUE(MRC_CTL_API_VER_USED, 16777217);
}
