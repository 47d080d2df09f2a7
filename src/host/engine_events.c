/* SPDX-License-Identifier: BSD-2-Clause */
/* events.c - delivers the engine's events. */
#include "host/engine_events.h"

#include "base/assert.h"
#include "host/ep_probe.h"
#include "host/nic_cq.h"
#include "host/nic_qp.h"
#include "host/nic_srq.h"
#include "host/stats_segment.h"

#define EVENTS_BATCH 64u

static enum mh_wc_status wc_status_from_core(uint8_t status)
{
	switch ((enum mt_wc_status)status) {
	case MT_WC_SUCCESS:
		return MH_WC_SUCCESS;
	case MT_WC_WR_FLUSH_ERR:
		return MH_WC_WR_FLUSH_ERR;
	case MT_WC_REM_INV_REQ_ERR:
		return MH_WC_REM_INV_REQ_ERR;
	case MT_WC_REM_ACCESS_ERR:
		return MH_WC_REM_ACCESS_ERR;
	case MT_WC_REM_OP_ERR:
		return MH_WC_REM_OP_ERR;
	case MT_WC_RETRY_EXC_ERR:
		return MH_WC_RETRY_EXC_ERR;
	case MT_WC_FATAL_ERR:
		return MH_WC_FATAL_ERR;
	case MT_WC_LOC_LEN_ERR:
		return MH_WC_LOC_LEN_ERR;
	case MT_WC_LOC_PROT_ERR:
		return MH_WC_LOC_PROT_ERR;
	case MT_WC_RNR_RETRY_EXC_ERR:
		return MH_WC_RNR_RETRY_EXC_ERR;
	case MT_WC_MW_BIND_ERR:
		return MH_WC_MW_BIND_ERR;
	case MT_WC_LOC_QP_OP_ERR:
		return MH_WC_LOC_QP_OP_ERR;
	}
	mb_unreachable();
}

void mh_completion_push(struct mh_nic *nic, struct mh_cq *cq, const struct mh_cqe *cqe)
{
	if (mh_cq_add(cq, cqe))
		return;
	nic->counts.cq_overruns++;
	nic->cq_overran = true;
}

/*
 * send_wrs_completed returns up to which send WR a completion speaks. Success is reported by
 * signalled WRs only, and for the unsignalled ones before them; an error by every WR on its own.
 */
static uint64_t send_wrs_completed(struct mh_qp *qp, bool success)
{
	struct mh_wr_count *send = &qp->send;
	uint32_t depth = qp->init.cap.max_send_wr;

	while (success && send->reported < send->posted && !qp->signaled[send->reported % depth])
		send->reported++;
	if (send->reported < send->posted)
		send->reported++;
	return send->reported;
}

static enum mh_wc_opcode wc_opcode_from_event(const struct mt_event *event)
{
	switch ((enum mt_wr_opcode)event->opcode) {
	case MT_WR_SEND:
		return MH_WC_SEND;
	case MT_WR_READ:
		return MH_WC_READ;
	case MT_WR_COMPARE_SWAP:
		return MH_WC_COMPARE_SWAP;
	case MT_WR_FETCH_ADD:
		return MH_WC_FETCH_ADD;
	case MT_WR_ATOMIC_WRITE:
		return MH_WC_ATOMIC_WRITE;
	case MT_WR_LOCAL_INV:
		return MH_WC_LOCAL_INV;
	case MT_WR_BIND_MW:
		return MH_WC_BIND_MW;
	case MT_WR_WRITE:
	case MT_WR_OPCODES:
		break;
	}
	return event->with_imm ? MH_WC_WRITE_IMM : MH_WC_WRITE;
}

static void complete_send(struct mh_nic *nic, const struct mt_event *event)
{
	struct mh_qp *qp = event->qp_user;
	struct mh_cqe cqe = {.qp = qp};

	cqe.wc = (struct mh_wc){
		.wr_id = event->wr_id,
		.status = wc_status_from_core(event->status),
		.opcode = wc_opcode_from_event(event),
		.byte_len = event->byte_len,
		.qpn = qp->number,
		.qp_owner = qp->init.owner,
	};
	cqe.wr = send_wrs_completed(qp, cqe.wc.status == MH_WC_SUCCESS);
	if (cqe.wc.status == MH_WC_WR_FLUSH_ERR && qp->memory_gone && !qp->send_failed)
		cqe.wc.status = MH_WC_LOC_PROT_ERR;
	if (cqe.wc.status != MH_WC_SUCCESS && cqe.wc.status != MH_WC_WR_FLUSH_ERR)
		qp->send_failed = true;
	mh_completion_push(nic, qp->init.send_cq, &cqe);
}

static void complete_recv(struct mh_nic *nic, const struct mt_event *event)
{
	struct mh_qp *qp = event->qp_user;
	struct mh_cqe cqe = {.qp = qp, .wr = ++qp->recv.reported};

	cqe.wc = (struct mh_wc){
		.wr_id = event->wr_id,
		.status = wc_status_from_core(event->status),
		.opcode = event->opcode == MT_WR_SEND ? MH_WC_RECV : MH_WC_RECV_IMM,
		.byte_len = event->byte_len,
		.imm = event->imm,
		.qpn = qp->number,
		.flags = (event->imm_valid ? (uint32_t)MH_WC_WITH_IMM : 0) |
			 (event->invalidated ? (uint32_t)MH_WC_WITH_INV : 0) |
			 (event->solicited ? (uint32_t)MH_WC_SOLICITED : 0),
		.qp_owner = qp->init.owner,
	};

	mh_completion_push(nic, qp->init.recv_cq, &cqe);
}

static void deliver_event(struct mh_nic *nic, const struct mt_event *event, uint64_t now_ns)
{
	switch ((enum mt_event_type)event->type) {
	case MT_EVENT_SEND:
		complete_send(nic, event);
		return;
	case MT_EVENT_RECV:
		complete_recv(nic, event);
		return;
	case MT_EVENT_QP:
		mh_qp_raise_fatal(event->qp_user, wc_status_from_core(event->status));
		return;
	case MT_EVENT_SQ_DRAINED:
		mh_qp_raise_sq_drained(event->qp_user);
		return;
	case MT_EVENT_LAST_WQE:
		mh_qp_raise_last_wqe(event->qp_user);
		return;
	case MT_EVENT_SRQ_LIMIT:
		mh_srq_limit_reached(event->qp_user);
		return;
	case MT_EVENT_EV:
	case MT_EVENT_PORT:
		mh_segment_event(nic->segment, event, now_ns);
		return;
	case MT_EVENT_ENDPOINT:
		if (!mh_ud_peers_deliver(nic, event, now_ns))
			mh_endpoint_deliver(event);
		return;
	}
	mb_unreachable();
}

uint32_t mh_engine_events_drain(struct mh_nic *nic, uint64_t now_ns)
{
	struct mt_event events[EVENTS_BATCH];
	uint32_t all = 0;
	uint32_t n;

	do {
		n = mt_engine_poll(nic->engine, events, EVENTS_BATCH);
		for (uint32_t i = 0; i < n; i++)
			deliver_event(nic, &events[i], now_ns);
		all += n;
		/* Failing QPs flushes them, which makes events in turn, and ends with the last
		 * WR. */
		if (nic->cq_overran)
			mh_qp_fail_on_cq_overrun(nic, now_ns);
		nic->cq_overran = false;
	} while (n > 0);
	return all;
}
