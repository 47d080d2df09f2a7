/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * qp_attr.h - the states and attributes of a QP, for the core, the software NIC and the APIs.
 *
 * An attribute is a row of RD_QP_ATTRS and a bit of enum rd_qp_attr_mask. The row makes the field
 * of struct rd_qp_attr, its value after RESET, its check and its copy in modify.
 */
#ifndef SOFTMRC_RDMA_QP_ATTR_H
#define SOFTMRC_RDMA_QP_ATTR_H

#include "rdma/rdma.h"

/* In IBTA's order. */
enum rd_qp_state {
	RD_QPS_RESET,
	RD_QPS_INIT,
	RD_QPS_RTR,
	RD_QPS_RTS,
	RD_QPS_SQD,
	RD_QPS_ERR,
	RD_QPS_COUNT,
};

enum rd_qp_attr_mask {
	RD_QP_STATE = 1u << 0,
	RD_QP_DEST = 1u << 1, /* dest and dest_qpn */
	RD_QP_RQ_PSN = 1u << 2,
	RD_QP_SQ_PSN = 1u << 3,
	RD_QP_PATH_MTU = 1u << 4,
	RD_QP_ACCESS = 1u << 5,
	RD_QP_MPR = 1u << 6,
	RD_QP_MPR_DEST = 1u << 7,
	RD_QP_MAX_WIMM = 1u << 8,
	RD_QP_MAX_WIMM_DEST = 1u << 9,
	RD_QP_TIMEOUT = 1u << 10,
	RD_QP_RETRY = 1u << 11, /* retry_linear and retry_exp */
	RD_QP_EV_PROFILE = 1u << 12,
	RD_QP_CC_PROFILE = 1u << 13,
	RD_QP_P_KEY = 1u << 14,
	RD_QP_TRIM_NACK_DEST = 1u << 15,
	RD_QP_DYNAMIC_MPR = 1u << 16,
	RD_QP_SVC_TIME_DEST = 1u << 17,
	RD_QP_RNR_RETRY = 1u << 18,
	RD_QP_MIN_RNR_TIMER = 1u << 19,
	RD_QP_SQD_NOTIFY = 1u << 20, /* of the software NIC; only with a move to SQD */
	RD_QP_MAX_RD_ATOMIC = 1u << 21,
	RD_QP_MAX_DEST_RD_ATOMIC = 1u << 22,
	RD_QP_Q_KEY = 1u << 23, /* of a UD QP */
	RD_QP_ALL = (1u << 24) - 1,
};

#define RD_BITS_24 0xffffffu
#define RD_MPR_MAX 255u
#define RD_WIMM_DEST_MAX 1024u
#define RD_TIMEOUT_MAX 24u
#define RD_RETRY_LINEAR_MAX 7u
/* This many exponential retries mean "never give up". */
#define RD_RETRY_EXP_FOREVER 25u
#define RD_RNR_RETRY_MAX 7u
#define RD_RNR_TIMER_MAX 31u
/* READs and atomics of a QP outstanding in each direction: what devices usually have. */
#define RD_ATOMIC_MAX 16u

#define RD_QP_ACCESS_ALL                                                                    \
	((uint32_t)RD_ACCESS_LOCAL_WRITE | RD_ACCESS_REMOTE_WRITE | RD_ACCESS_REMOTE_READ | \
	 RD_ACCESS_REMOTE_ATOMIC)
#define RD_QP_ACCESS_DEFAULT ((uint32_t)RD_ACCESS_LOCAL_WRITE | RD_ACCESS_REMOTE_WRITE)

/*
 * X(bit of the mask, type, field, value after RESET, least, most). Where not every value between
 * least and most is one, mt_qp_modify knows which.
 */
#define RD_QP_ATTRS(X)                                                                        \
	X(DEST, uint32_t, dest_qpn, 0, 1, RD_BITS_24)                                         \
	/* First PSN expected, first PSN sent. */                                             \
	X(RQ_PSN, uint32_t, rq_psn, 0, 0, RD_BITS_24)                                         \
	X(SQ_PSN, uint32_t, sq_psn, 0, 0, RD_BITS_24)                                         \
	/* Payload bytes: 256, 512, 1024, 2048 or 4096. */                                    \
	X(PATH_MTU, uint32_t, path_mtu, 4096, 256, 4096)                                      \
	/* enum rd_access: what peers may do through this QP. */                              \
	X(ACCESS, uint32_t, access, RD_QP_ACCESS_DEFAULT, 0, RD_QP_ACCESS_ALL)                \
	/* PSNs in flight as requester, and the window as responder; units of 128. */         \
	X(MPR, uint8_t, mpr, 8, 1, RD_MPR_MAX)                                                \
	X(MPR_DEST, uint8_t, mpr_dest, 8, 1, RD_MPR_MAX)                                      \
	/* WRITE_WITH_IMM in flight as requester, and stashed as responder. */                \
	X(MAX_WIMM, uint16_t, max_wimm, 32, 1, UINT16_MAX)                                    \
	X(MAX_WIMM_DEST, uint16_t, max_wimm_dest, 32, 1, RD_WIMM_DEST_MAX)                    \
	/* 1.024 us x 2^timeout. */                                                           \
	X(TIMEOUT, uint8_t, timeout, 8, 0, RD_TIMEOUT_MAX)                                    \
	X(RETRY, uint8_t, retry_linear, 7, 0, RD_RETRY_LINEAR_MAX)                            \
	X(RETRY, uint8_t, retry_exp, 7, 0, RD_RETRY_EXP_FOREVER)                              \
	/* Extended: retries after RNR NAKs, the largest for ever; */                         \
	X(RNR_RETRY, uint8_t, rnr_retry, 0, 0, RD_RNR_RETRY_MAX)                              \
	/* how long a peer is asked to wait, a code of mt_rnr_wait_ns; */                     \
	X(MIN_RNR_TIMER, uint8_t, min_rnr_timer, 0, 0, RD_RNR_TIMER_MAX)                      \
	/* READs and atomics under way as requester, and taken as responder. More are kept */ \
	/* back here; more from the peer are refused as an invalid request. */                \
	X(MAX_RD_ATOMIC, uint8_t, max_rd_atomic, 0, 0, RD_ATOMIC_MAX)                         \
	X(MAX_DEST_RD_ATOMIC, uint8_t, max_dest_rd_atomic, 0, 0, RD_ATOMIC_MAX)               \
	X(P_KEY, uint16_t, p_key, 0xFFFF, 0, UINT16_MAX)                                      \
	X(EV_PROFILE, uint32_t, ev_profile, 0, 0, UINT32_MAX)                                 \
	X(CC_PROFILE, uint32_t, cc_profile, 0, 0, UINT32_MAX)                                 \
	/* UD: a datagram with another one is dropped. */                                     \
	X(Q_KEY, uint32_t, q_key, 0, 0, UINT32_MAX)                                           \
	/* The peer answers trimmed packets with a NACK. */                                   \
	X(TRIM_NACK_DEST, bool, trim_nack_dest, true, 0, 1)                                   \
	/* Both ends agreed: windows follow the MPR field of SACKs. */                        \
	X(DYNAMIC_MPR, bool, dynamic_mpr, false, 0, 1)                                        \
	/* The peer returns stamps later by the time its answer took. */                      \
	X(SVC_TIME_DEST, bool, svc_time_dest, false, 0, 1)                                    \
	/* Of the software NIC: raise its event SQ_DRAINED; reads as false. */                \
	X(SQD_NOTIFY, bool, sqd_notify, false, 0, 1)

/* What modify sets of a QP, and what query returns. */
struct rd_qp_attr {
	enum rd_qp_state state;
	struct rd_gid dest; /* the peer's GID */
#define RD_QP_ATTR_FIELD(bit, type, field, value, least, most) type field;
	RD_QP_ATTRS(RD_QP_ATTR_FIELD)
#undef RD_QP_ATTR_FIELD
	bool draining; /* read only: in SQD, and a send WR that has begun is not complete */
};

#endif
