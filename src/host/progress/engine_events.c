/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_events.c - delivers the engine's events: completions to CQs, the others to event queues,
 * the statistics and the thread that asked for a probe; and puts QPs to ERR that the host, not the
 * engine, found to have failed. Runs under the lock of the NIC.
 *
 * Putting a QP to ERR flushes it, which makes events, so it is done here only, between two batches:
 * elsewhere a call may stand between two events of the same QP. Other files mark a QP or its CQ.
 */
#include "host/progress/progress.h"

#include "base/assert.h"
#include "host/node/node.h"
#include "host/stats/stats.h"

#define EVENTS_BATCH 64u

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

/*
 * The first WR that fails because local memory is gone says so; the engine only knows that the QP
 * was put to ERR and reports all as flushed.
 */
static void complete_send(struct mh_nic *nic, const struct mt_event *event, uint64_t now_ns)
{
	struct mh_qp *qp = event->qp_user;
	struct mh_cqe cqe = {.qp = qp};

	cqe.wc = (struct mh_wc){
		.wr_id = event->wr_id,
		.status = (enum rd_wc_status)event->status,
		.opcode = (enum rd_wc_opcode)event->opcode,
		.byte_len = event->byte_len,
		.qpn = qp->number,
		.qp_owner = qp->init.owner,
	};
	cqe.wr = send_wrs_completed(qp, cqe.wc.status == RD_WC_SUCCESS);
	if (cqe.wc.status == RD_WC_WR_FLUSH_ERR && qp->memory_gone && !qp->send_failed)
		cqe.wc.status = RD_WC_LOC_PROT_ERR;
	if (cqe.wc.status == RD_WC_RETRY_EXC_ERR)
		mh_report_retries(nic, qp, now_ns);
	if (cqe.wc.status != RD_WC_SUCCESS && cqe.wc.status != RD_WC_WR_FLUSH_ERR)
		qp->send_failed = true;
	mh_completion_push(nic, qp->init.send_cq, &cqe);
}

/* Receives complete in the order of posting, so their number is a count. */
static void complete_recv(struct mh_nic *nic, const struct mt_event *event)
{
	struct mh_qp *qp = event->qp_user;
	struct mh_cqe cqe = {.qp = qp, .wr = ++qp->recv.reported};

	cqe.wc = (struct mh_wc){
		.wr_id = event->wr_id,
		.status = (enum rd_wc_status)event->status,
		.opcode = event->opcode == RD_WR_SEND ? RD_WC_RECV : RD_WC_RECV_IMM,
		.byte_len = event->byte_len,
		.imm = event->imm,
		.qpn = qp->number,
		.flags = (event->imm_valid ? (uint32_t)RD_WC_WITH_IMM : 0) |
			 (event->invalidated ? (uint32_t)RD_WC_WITH_INV : 0) |
			 (event->solicited ? (uint32_t)RD_WC_SOLICITED : 0),
		.qp_owner = qp->init.owner,
	};

	mh_completion_push(nic, qp->init.recv_cq, &cqe);
}

/*
 * The peer is blamed if nothing of ours had failed: no send completion said so, and no memory was
 * gone. The program reads both from the event when it takes it; until then a later failure of the
 * same QP does not raise another.
 */
static void raise_fatal(struct mh_qp *qp, enum rd_wc_status why)
{
	qp->why = why;
	qp->responder = !qp->send_failed && !qp->memory_gone;
	mh_event_raise(&qp->dev->events, &qp->fatal, true);
}

static void deliver_event(struct mh_nic *nic, const struct mt_event *event, uint64_t now_ns)
{
	struct mh_srq *srq;

	switch ((enum mt_event_type)event->type) {
	case MT_EVENT_SEND:
		complete_send(nic, event, now_ns);
		return;
	case MT_EVENT_RECV:
		complete_recv(nic, event);
		return;
	case MT_EVENT_QP:
		raise_fatal(event->qp_user, (enum rd_wc_status)event->status);
		return;
	case MT_EVENT_SQ_DRAINED:
		mh_qp_raise_sq_drained(event->qp_user);
		return;
	case MT_EVENT_LAST_WQE:
		mh_qp_raise_last_wqe(event->qp_user);
		return;
	case MT_EVENT_SRQ_LIMIT:
		srq = event->qp_user;
		mh_event_raise(&srq->dev->events, &srq->limit, true);
		return;
	case MT_EVENT_EV:
		mh_node_report_ev(nic, event);
		mh_segment_event(nic->first->segment, event, now_ns);
		return;
	case MT_EVENT_PORT:
		mh_segment_event(nic->first->segment, event, now_ns);
		mh_event_log(event);
		return;
	case MT_EVENT_ENDPOINT:
		if (!mu_deliver_probe(nic->ud, event, now_ns))
			mh_ep_batch_deliver(event);
		return;
	}
	mb_unreachable();
}

/* qp_to_err puts a QP to ERR, unless it is there or has nothing that could fail. */
static void qp_to_err(struct mh_qp *qp, uint64_t now_ns)
{
	struct rd_qp_attr attr;
	int result;

	if (qp->ud) {
		mu_qp_to_err(qp->ud);
		return;
	}
	mt_qp_query(qp->mt, &attr);
	if (attr.state == RD_QPS_ERR || attr.state == RD_QPS_RESET)
		return;
	attr.state = RD_QPS_ERR;
	result = mt_qp_modify(qp->mt, now_ns, &attr, RD_QP_STATE);
	mb_assert(result == MT_OK);
}

void mh_engine_fail_marked_qps(struct mh_nic *nic, uint64_t now_ns)
{
	while (!mb_link_is_empty(&nic->failed)) {
		struct mh_qp *qp = mb_container_of(nic->failed.next, struct mh_qp, failed);

		mb_link_remove(&qp->failed);
		qp->memory_gone = true;
		qp_to_err(qp, now_ns);
		raise_fatal(qp, RD_WC_LOC_PROT_ERR);
	}
}

/*
 * All QPs are looked through: an overrun ends a CQ for good, so it happens once in its life, and a
 * list of its QPs would be kept for nothing else.
 */
static void fail_qps_of_overrun_cqs(struct mh_nic *nic, uint64_t now_ns)
{
	/* Before the CQs are looked at: another shard may find one to have overrun meanwhile. */
	atomic_store(&nic->cq_overran, false);
	for (struct mb_link *l = nic->qps.next; l != &nic->qps; l = l->next) {
		struct mh_qp *qp = mb_container_of(l, struct mh_qp, link);

		if (qp->init.send_cq->overran || qp->init.recv_cq->overran)
			qp_to_err(qp, now_ns);
	}
}

/*
 * Batches bound the stack, not the work: what the engine holds when it is drained is bounded by its
 * ring. A flush may fill that ring again, hence the loop until it is empty.
 */
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
		if (atomic_load_explicit(&nic->cq_overran, memory_order_relaxed))
			fail_qps_of_overrun_cqs(nic, now_ns);
	} while (n > 0);
	return all;
}
