/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * abi_layout.c - sizes, offsets and values of the MRC API 1.0.1 on x86-64, as a program compiled
 * against the Open Compute Project's own header has them. A change here breaks such programs.
 */
#include "support/test.h"

#include <mrc.h>
#include <mrc/meet.h>

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

TEST(mrc_device_attr, layout)
{
	SIZE(mrc_device_attr, 20, 4);
	FIELD(mrc_device_attr, mrc_protocol_version, 0, 4);
	FIELD(mrc_device_attr, wimm_attr.max_wimm, 4, 2);
	FIELD(mrc_device_attr, wimm_attr.max_wimm_dest, 6, 2);
	FIELD(mrc_device_attr, mpr_attr.max_mpr, 8, 1);
	FIELD(mrc_device_attr, mpr_attr.mpr_resolution, 9, 1);
	FIELD(mrc_device_attr, qp_attr.max_qp_hint, 12, 4);
	FIELD(mrc_device_attr, cap, 16, 4);
}

TEST(mrc_context_attr, layout)
{
	SIZE(mrc_context_attr, 8, 4);
	FIELD(mrc_context_attr, mrc_api_version_used, 0, 4);
	FIELD(mrc_context_attr, mrc_vendor_api_version_used, 4, 4);
}

TEST(mrc_qp_hint_attr, layout)
{
	SIZE(mrc_qp_hint_attr, 140, 4);
	FIELD(mrc_qp_hint_attr, num_qps_per_peer, 0, 4);
	FIELD(mrc_qp_hint_attr, num_send_peers, 4, 4);
	FIELD(mrc_qp_hint_attr, num_remote_recv_peers, 8, 4);
	FIELD(mrc_qp_hint_attr, vendor_cfg, 12, 128);
}

TEST(mrc_qp_hint_init_attr, layout)
{
	SIZE(mrc_qp_hint_init_attr, 140, 4);
	FIELD(mrc_qp_hint_init_attr, attr, 0, 140);
}

TEST(mrc_qp_init_attr, layout)
{
	SIZE(mrc_qp_init_attr, 72, 8);
	FIELD(mrc_qp_init_attr, qp_context, 0, 8);
	FIELD(mrc_qp_init_attr, send_cq, 8, 8);
	FIELD(mrc_qp_init_attr, recv_cq, 16, 8);
	FIELD(mrc_qp_init_attr, cap, 24, 20);
	FIELD(mrc_qp_init_attr, sq_sig_all, 44, 4);
	FIELD(mrc_qp_init_attr, pd, 48, 8);
	FIELD(mrc_qp_init_attr, send_ops_flags, 56, 8);
	FIELD(mrc_qp_init_attr, protocol_version, 64, 4);
}

TEST(mrc_qp_attr, layout)
{
	SIZE(mrc_qp_attr, 176, 8);
	FIELD(mrc_qp_attr, mpr.mpr, 0, 1);
	FIELD(mrc_qp_attr, mpr.mpr_dest, 1, 1);
	FIELD(mrc_qp_attr, wimm.max_wimm, 2, 2);
	FIELD(mrc_qp_attr, wimm.max_wimm_dest, 4, 2);
	FIELD(mrc_qp_attr, timeout, 6, 1);
	FIELD(mrc_qp_attr, profile.ev_profile_id, 8, 8);
	FIELD(mrc_qp_attr, profile.cc_profile_id, 16, 8);
	FIELD(mrc_qp_attr, retry.linear_cnt, 24, 1);
	FIELD(mrc_qp_attr, retry.exp_cnt, 25, 1);
	FIELD(mrc_qp_attr, qp_hint, 32, 8);
	FIELD(mrc_qp_attr, cap, 40, 4);
	FIELD(mrc_qp_attr, vendor_cfg, 44, 128);
}

TEST(mrc_async_event, layout)
{
	SIZE(mrc_async_event, 16, 8);
	FIELD(mrc_async_event, element, 0, 8);
	FIELD(mrc_async_event, element.cq, 0, 8);
	FIELD(mrc_async_event, element.qp, 0, 8);
	FIELD(mrc_async_event, element.port_num, 0, 4);
	FIELD(mrc_async_event, event_type, 8, 4);
}

TEST(mrc_qp_hint_attr_mask, values)
{
	VALUE(MRC_QP_HINT_NUM_QPS_PER_PEER, 1);
	VALUE(MRC_QP_HINT_NUM_REMOTE_RECV_PEERS, 4);
	VALUE(MRC_QP_HINT_NUM_SEND_PEERS, 2);
	VALUE(MRC_QP_HINT_VENDOR_CFG, INT32_MIN);
}

TEST(mrc_qp_cap, values)
{
	VALUE(MRC_QP_CAP_DYNAMIC_MPR, 2);
	VALUE(MRC_QP_CAP_SVC_TIME_DEST_UNSUPPORTED, 4);
	VALUE(MRC_QP_CAP_TRIM_NACK_DEST_UNSUPPORTED, 1);
}

TEST(mrc_qp_attr_mask, values)
{
	VALUE(MRC_QP_CAP, 512);
	VALUE(MRC_QP_CC_PROFILE_ID, 64);
	VALUE(MRC_QP_EV_PROFILE_ID, 32);
	VALUE(MRC_QP_HINT, 128);
	VALUE(MRC_QP_MAX_WIMM, 1);
	VALUE(MRC_QP_MAX_WIMM_DEST, 2);
	VALUE(MRC_QP_MPR, 4);
	VALUE(MRC_QP_MPR_DEST, 8);
	VALUE(MRC_QP_RETRY_CNT, 256);
	VALUE(MRC_QP_TIMEOUT, 16);
	VALUE(MRC_QP_VENDOR_CFG, INT32_MIN);
}

TEST(mrc_device_cap, values)
{
	VALUE(MRC_DEVICE_CAP_DYNAMIC_MPR, 2);
	VALUE(MRC_DEVICE_CAP_SVC_TIME, 4);
	VALUE(MRC_DEVICE_CAP_TRIM_NACK, 1);
}

TEST(mrc_protocol_version, values)
{
	VALUE(MRC_PROTOCOL_VERSION_0, 0);
	VALUE(MRC_PROTOCOL_VERSION_1, 1);
}

TEST(mrc_api_ver, packing)
{
	VALUE(MRC_API_VER(1, 2, 3), 0x01020003);
	VALUE(MRC_API_VER_USED, MRC_API_CURRENT_VERSION);
	VALUE(MRC_VENDOR_API_VER_USED, MRC_VENDOR_API_CURRENT_VERSION);
}

/* REQ(api.version) */
TEST(mrc_api_ver, values)
{
	VALUE(MRC_API_CURRENT_VERSION, 16777217);
	VALUE(MRC_API_LAST_SUPPORTED_VERSION, 0);
	VALUE((uint32_t)MRC_API_VER_LATEST, UINT32_MAX);
	VALUE(MRC_API_VER_MAJOR_OFFSET, 24);
	VALUE(MRC_API_VER_MINOR_OFFSET, 16);
	VALUE(MRC_API_VER_SUBMINOR_OFFSET, 0);
	VALUE(MRC_MAX_VENDOR_CFG_SIZE, 128);
	VALUE(MRC_VENDOR_API_CURRENT_VERSION, 16777216);
	VALUE(MRC_VENDOR_API_LAST_SUPPORTED_VERSION, 0);
}

/* The enumerations are passed as int and uint32_t. */
TEST(enums, size)
{
	assert_u_eq(sizeof(enum mrc_qp_attr_mask), sizeof(int));
	assert_u_eq(sizeof(enum mrc_qp_hint_attr_mask), sizeof(int));
	assert_u_eq(sizeof(enum mrc_protocol_version), sizeof(uint32_t));
}

TEST(mrc_meet_end, layout)
{
	SIZE(mrc_meet_end, 48, 8);
	FIELD(mrc_meet_end, gid, 0, 16);
	FIELD(mrc_meet_end, qpn, 16, 4);
	FIELD(mrc_meet_end, psn, 20, 4);
	FIELD(mrc_meet_end, mtu, 24, 1);
	FIELD(mrc_meet_end, mpr_dest, 25, 1);
	FIELD(mrc_meet_end, max_wimm_dest, 26, 2);
	FIELD(mrc_meet_end, rkey, 28, 4);
	FIELD(mrc_meet_end, address, 32, 8);
	FIELD(mrc_meet_end, bytes, 40, 8);
	VALUE(MRC_MEET_FOREVER, -1);
	VALUE(MRC_MEET_LINE_BYTES, 109);
}
