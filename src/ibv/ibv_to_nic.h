/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ibv_to_nic.h - libibverbs' structures and the software NIC's, one into the other, where libmrc
 * and the drop-in mean the same by them. Inline, for it lies on the way of every completion and WR.
 * None of these fails, blocks or keeps anything, unless it says so; any thread may call them.
 */
#ifndef SOFTMRC_IBV_IBV_TO_NIC_H
#define SOFTMRC_IBV_IBV_TO_NIC_H

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include <infiniband/verbs.h>

#include "host/nic.h"

/* ---- work requests ---- */

/* The NIC takes the caller's SGE array as it is. */
_Static_assert(sizeof(struct ibv_sge) == sizeof(struct rd_sge), "SGE layout");
_Static_assert(offsetof(struct ibv_sge, addr) == offsetof(struct rd_sge, addr), "SGE layout");
_Static_assert(offsetof(struct ibv_sge, length) == offsetof(struct rd_sge, length), "SGE layout");
_Static_assert(offsetof(struct ibv_sge, lkey) == offsetof(struct rd_sge, lkey), "SGE layout");

/* ---- completions ---- */

static inline enum ibv_wc_status iv_wc_status(enum rd_wc_status status)
{
	static const enum ibv_wc_status statuses[RD_WC_STATUSES] = {
		[RD_WC_SUCCESS] = IBV_WC_SUCCESS,
		[RD_WC_WR_FLUSH_ERR] = IBV_WC_WR_FLUSH_ERR,
		[RD_WC_REM_INV_REQ_ERR] = IBV_WC_REM_INV_REQ_ERR,
		[RD_WC_REM_ACCESS_ERR] = IBV_WC_REM_ACCESS_ERR,
		[RD_WC_REM_OP_ERR] = IBV_WC_REM_OP_ERR,
		[RD_WC_RETRY_EXC_ERR] = IBV_WC_RETRY_EXC_ERR,
		[RD_WC_FATAL_ERR] = IBV_WC_FATAL_ERR,
		[RD_WC_LOC_PROT_ERR] = IBV_WC_LOC_PROT_ERR,
		[RD_WC_LOC_LEN_ERR] = IBV_WC_LOC_LEN_ERR,
		[RD_WC_RNR_RETRY_EXC_ERR] = IBV_WC_RNR_RETRY_EXC_ERR,
		[RD_WC_MW_BIND_ERR] = IBV_WC_MW_BIND_ERR,
		[RD_WC_LOC_QP_OP_ERR] = IBV_WC_LOC_QP_OP_ERR,
	};

	return statuses[status];
}

static inline enum ibv_wc_opcode iv_wc_opcode(enum rd_wc_opcode opcode)
{
	static const enum ibv_wc_opcode opcodes[] = {
		[RD_WC_WRITE] = IBV_WC_RDMA_WRITE,    [RD_WC_SEND] = IBV_WC_SEND,
		[RD_WC_READ] = IBV_WC_RDMA_READ,      [RD_WC_COMPARE_SWAP] = IBV_WC_COMP_SWAP,
		[RD_WC_FETCH_ADD] = IBV_WC_FETCH_ADD, [RD_WC_ATOMIC_WRITE] = IBV_WC_ATOMIC_WRITE,
		[RD_WC_LOCAL_INV] = IBV_WC_LOCAL_INV, [RD_WC_BIND_MW] = IBV_WC_BIND_MW,
		[RD_WC_RECV] = IBV_WC_RECV,	      [RD_WC_RECV_IMM] = IBV_WC_RECV_RDMA_WITH_IMM,
	};

	return opcodes[opcode];
}

/* What programs see of enum rd_wc_flags, whose values are the same. */
#define IV_WC_FLAGS ((unsigned int)(IBV_WC_GRH | IBV_WC_WITH_IMM | IBV_WC_WITH_INV))
_Static_assert((int)RD_WC_GRH == (int)IBV_WC_GRH && (int)RD_WC_WITH_IMM == (int)IBV_WC_WITH_IMM &&
		       (int)RD_WC_WITH_INV == (int)IBV_WC_WITH_INV,
	       "flags of completions");

/* iv_wc_from_nic fills in a completion. */
static inline void iv_wc_from_nic(const struct mh_wc *nic, struct ibv_wc *wc)
{
	*wc = (struct ibv_wc){
		.wr_id = nic->wr_id,
		.status = iv_wc_status(nic->status),
		.opcode = iv_wc_opcode(nic->opcode),
		.byte_len = nic->byte_len,
		.imm_data = nic->flags & RD_WC_WITH_IMM ? htobe32(nic->imm) : 0,
		.qp_num = nic->qpn,
		.src_qp = nic->src_qpn,
		.wc_flags = nic->flags & IV_WC_FLAGS,
	};
	if (nic->flags & RD_WC_WITH_INV)
		wc->invalidated_rkey = nic->imm;
}

/* ---- states of a QP ---- */

/* By enum rd_qp_state. */
static const enum ibv_qp_state iv_states[RD_QPS_COUNT] = {
	[RD_QPS_RESET] = IBV_QPS_RESET, [RD_QPS_INIT] = IBV_QPS_INIT, [RD_QPS_RTR] = IBV_QPS_RTR,
	[RD_QPS_RTS] = IBV_QPS_RTS,	[RD_QPS_SQD] = IBV_QPS_SQD,   [RD_QPS_ERR] = IBV_QPS_ERR,
};

/* iv_state_to_nic: EINVAL: a state that no QP of ours has; *out is as it was. */
static inline int iv_state_to_nic(enum ibv_qp_state state, enum rd_qp_state *out)
{
	for (unsigned int i = 0; i < RD_QPS_COUNT; i++) {
		if (iv_states[i] == state) {
			*out = (enum rd_qp_state)i;
			return 0;
		}
	}
	return EINVAL;
}

static inline enum ibv_qp_state iv_state_from_nic(enum rd_qp_state state)
{
	return iv_states[state];
}

/* ---- rights ---- */

/* Rights have the values of verbs. */
_Static_assert((int)RD_ACCESS_LOCAL_WRITE == (int)IBV_ACCESS_LOCAL_WRITE &&
		       (int)RD_ACCESS_REMOTE_WRITE == (int)IBV_ACCESS_REMOTE_WRITE &&
		       (int)RD_ACCESS_REMOTE_READ == (int)IBV_ACCESS_REMOTE_READ &&
		       (int)RD_ACCESS_REMOTE_ATOMIC == (int)IBV_ACCESS_REMOTE_ATOMIC &&
		       (int)RD_ACCESS_MW_BIND == (int)IBV_ACCESS_MW_BIND,
	       "access rights");

/* ---- asynchronous events ---- */

/* A responder fails by what its peer asked for; IBTA has an event for each of the two cases. */
static inline enum ibv_event_type iv_qp_event(enum rd_wc_status status)
{
	if (status == RD_WC_REM_ACCESS_ERR)
		return IBV_EVENT_QP_ACCESS_ERR;
	if (status == RD_WC_REM_INV_REQ_ERR)
		return IBV_EVENT_QP_REQ_ERR;
	return IBV_EVENT_QP_FATAL;
}

/* iv_is_qp_event says whether an event names a QP, whose destruction waits for it. */
static inline bool iv_is_qp_event(enum ibv_event_type type)
{
	return type == IBV_EVENT_QP_FATAL || type == IBV_EVENT_QP_REQ_ERR ||
	       type == IBV_EVENT_QP_ACCESS_ERR || type == IBV_EVENT_SQ_DRAINED ||
	       type == IBV_EVENT_QP_LAST_WQE_REACHED;
}

/* iv_qp_event_to_nic is the NIC's type of such an event. */
static inline enum mh_async_type iv_qp_event_to_nic(enum ibv_event_type type)
{
	if (type == IBV_EVENT_SQ_DRAINED)
		return MH_ASYNC_SQ_DRAINED;
	return type == IBV_EVENT_QP_LAST_WQE_REACHED ? MH_ASYNC_LAST_WQE : MH_ASYNC_QP_FATAL;
}

/* iv_event_is_reported: a QP that failed as requester said so by a completion; verbs has no
 * event. */
static inline bool iv_event_is_reported(const struct mh_async_event *nic)
{
	return nic->type == MH_ASYNC_QP_FATAL && !nic->responder;
}

#endif
