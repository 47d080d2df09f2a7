/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * translate.h - libibverbs' structures and the software NIC's, one into the other, where libmrc and
 * the drop-in mean the same by them. Inline, for it lies on the way of every completion and WR.
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
_Static_assert(sizeof(struct ibv_sge) == sizeof(struct mh_sge), "SGE layout");
_Static_assert(offsetof(struct ibv_sge, addr) == offsetof(struct mh_sge, addr), "SGE layout");
_Static_assert(offsetof(struct ibv_sge, length) == offsetof(struct mh_sge, length), "SGE layout");
_Static_assert(offsetof(struct ibv_sge, lkey) == offsetof(struct mh_sge, lkey), "SGE layout");

/* ---- completions ---- */

static inline enum ibv_wc_status iv_wc_status(enum mh_wc_status status)
{
	switch (status) {
	case MH_WC_SUCCESS:
		return IBV_WC_SUCCESS;
	case MH_WC_LOC_PROT_ERR:
		return IBV_WC_LOC_PROT_ERR;
	case MH_WC_WR_FLUSH_ERR:
		return IBV_WC_WR_FLUSH_ERR;
	case MH_WC_REM_INV_REQ_ERR:
		return IBV_WC_REM_INV_REQ_ERR;
	case MH_WC_REM_ACCESS_ERR:
		return IBV_WC_REM_ACCESS_ERR;
	case MH_WC_REM_OP_ERR:
		return IBV_WC_REM_OP_ERR;
	case MH_WC_RETRY_EXC_ERR:
		return IBV_WC_RETRY_EXC_ERR;
	case MH_WC_FATAL_ERR:
		return IBV_WC_FATAL_ERR;
	case MH_WC_LOC_LEN_ERR:
		return IBV_WC_LOC_LEN_ERR;
	case MH_WC_RNR_RETRY_EXC_ERR:
		return IBV_WC_RNR_RETRY_EXC_ERR;
	case MH_WC_MW_BIND_ERR:
		return IBV_WC_MW_BIND_ERR;
	case MH_WC_LOC_QP_OP_ERR:
		return IBV_WC_LOC_QP_OP_ERR;
	}
	return IBV_WC_GENERAL_ERR;
}

static inline enum ibv_wc_opcode iv_wc_opcode(enum mh_wc_opcode opcode)
{
	switch (opcode) {
	case MH_WC_RECV_IMM:
		return IBV_WC_RECV_RDMA_WITH_IMM;
	case MH_WC_RECV:
		return IBV_WC_RECV;
	case MH_WC_SEND:
		return IBV_WC_SEND;
	case MH_WC_READ:
		return IBV_WC_RDMA_READ;
	case MH_WC_COMPARE_SWAP:
		return IBV_WC_COMP_SWAP;
	case MH_WC_FETCH_ADD:
		return IBV_WC_FETCH_ADD;
	case MH_WC_ATOMIC_WRITE:
		return IBV_WC_ATOMIC_WRITE;
	case MH_WC_LOCAL_INV:
		return IBV_WC_LOCAL_INV;
	case MH_WC_BIND_MW:
		return IBV_WC_BIND_MW;
	case MH_WC_WRITE:
	case MH_WC_WRITE_IMM:
		break;
	}
	return IBV_WC_RDMA_WRITE;
}

/* iv_wc_from_nic fills in a completion. */
static inline void iv_wc_from_nic(const struct mh_wc *nic, struct ibv_wc *wc)
{
	bool imm = (nic->flags & MH_WC_WITH_IMM) != 0;
	bool inv = (nic->flags & MH_WC_WITH_INV) != 0;

	*wc = (struct ibv_wc){
		.wr_id = nic->wr_id,
		.status = iv_wc_status(nic->status),
		.opcode = iv_wc_opcode(nic->opcode),
		.byte_len = nic->byte_len,
		.imm_data = imm ? htobe32(nic->imm) : 0,
		.qp_num = nic->qpn,
		.src_qp = nic->src_qpn,
		.wc_flags = (imm ? (unsigned int)IBV_WC_WITH_IMM : 0) |
			    (inv ? (unsigned int)IBV_WC_WITH_INV : 0) |
			    (nic->flags & MH_WC_GRH ? (unsigned int)IBV_WC_GRH : 0),
	};
	if (inv)
		wc->invalidated_rkey = nic->imm;
}

/* ---- states of a QP ---- */

/* iv_state_to_nic: EINVAL: a state that no QP of ours has; *out is as it was. */
static inline int iv_state_to_nic(enum ibv_qp_state state, enum mh_qp_state *out)
{
	static const enum mh_qp_state states[] = {
		[IBV_QPS_RESET] = MH_QPS_RESET, [IBV_QPS_INIT] = MH_QPS_INIT,
		[IBV_QPS_RTR] = MH_QPS_RTR,	[IBV_QPS_RTS] = MH_QPS_RTS,
		[IBV_QPS_SQD] = MH_QPS_SQD,
	};

	if (state == IBV_QPS_ERR)
		*out = MH_QPS_ERR;
	else if ((unsigned int)state < sizeof(states) / sizeof(states[0]))
		*out = states[state];
	else
		return EINVAL;
	return 0;
}

static inline enum ibv_qp_state iv_state_from_nic(enum mh_qp_state state)
{
	switch (state) {
	case MH_QPS_RESET:
		return IBV_QPS_RESET;
	case MH_QPS_INIT:
		return IBV_QPS_INIT;
	case MH_QPS_RTR:
		return IBV_QPS_RTR;
	case MH_QPS_RTS:
		return IBV_QPS_RTS;
	case MH_QPS_SQD:
		return IBV_QPS_SQD;
	case MH_QPS_ERR:
		return IBV_QPS_ERR;
	}
	return IBV_QPS_UNKNOWN;
}

/* ---- asynchronous events ---- */

/* A responder fails by what its peer asked for; IBTA has an event for each of the two cases. */
static inline enum ibv_event_type iv_qp_event(enum mh_wc_status status)
{
	if (status == MH_WC_REM_ACCESS_ERR)
		return IBV_EVENT_QP_ACCESS_ERR;
	if (status == MH_WC_REM_INV_REQ_ERR)
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

/* iv_event_is_reported: a QP that failed as requester said so by a completion; verbs has no event. */
static inline bool iv_event_is_reported(const struct mh_async_event *nic)
{
	return nic->type == MH_ASYNC_QP_FATAL && !nic->responder;
}

#endif
