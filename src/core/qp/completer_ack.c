/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * completer_ack.c - takes the responder's transport ACKs and NAKs, and what answers to requests say
 * in their place: which messages are complete.
 */
#include "base/assert.h"
#include "base/serial.h"
#include "core/qp/halves.h"
#include "core/state/qp.h"

/*
 * A request that is not answered holds up what the peer has beyond it, up to `acked`.
 * REQ(ext.response.complete)
 */
static void complete_up_to_response(struct mt_qp *qp, uint64_t msn, uint64_t acked, bool *progress)
{
	struct mt_rd_atomic *r = qp->ext->rd_atomic;

	mb_assert(r && msn >= qp->req.sq.done && msn < acked);
	*progress |= acked > r->acked || msn > qp->req.sq.done;
	if (acked > r->acked)
		r->acked = acked;
	if (msn == qp->req.sq.done)
		return;
	mt_sq_complete(&qp->req.sq, msn);
	mt_qp_queue_for_poll(qp);
}

/* Completes every WQE below msn; all their packets have then arrived. REQ(req.complete.acked) */
static inline void complete_below(struct mt_qp *qp, uint64_t msn, bool *progress)
{
	struct mt_requester *req = &qp->req;
	const struct mt_wqe *last;

	mb_assert(msn >= req->sq.done && msn <= req->sq.next);
	if (msn == req->sq.done)
		return;
	last = mt_sq_at(&req->sq, msn - 1);
	mt_completer_received_below(qp, last->first_psn + last->n_packets, progress);
	for (uint64_t i = req->sq.done; i < msn; i++) {
		uint8_t flags = mt_sq_at(&req->sq, i)->flags;

		if (!(flags & (RD_SEND_IMM | MT_WQE_AWAITS_RESPONSE)))
			continue;
		if (flags & MT_WQE_AWAITS_RESPONSE) {
			complete_up_to_response(qp, i, msn, progress);
			return;
		}
		mb_assert(req->wimm_inflight > 0);
		req->wimm_inflight--;
	}
	mt_sq_complete(&req->sq, msn);
	mt_qp_queue_for_poll(qp);
	*progress = true;
}

/*
 * The status of the WR that a NAK ends. A syndrome that is unknown ends it, too: the peer does not
 * continue the QP.
 */
static enum rd_wc_status nak_status(uint8_t syndrome)
{
	switch (syndrome) {
	case MW_NAK_INVALID_REQUEST:
		return RD_WC_REM_INV_REQ_ERR;
	case MW_NAK_REMOTE_ACCESS:
		return RD_WC_REM_ACCESS_ERR;
	case MW_NAK_REMOTE_OP:
		return RD_WC_REM_OP_ERR;
	default:
		return RD_WC_FATAL_ERR;
	}
}

/*
 * Answers to earlier requests may still be outstanding: then the NAK waits for them, as
 * long as retries do. REQ(ext.response.nak)
 */
static void handle_nak(struct mt_qp *qp, uint64_t msn, uint8_t syndrome)
{
	if (msn > qp->req.sq.done) {
		mb_assert(qp->ext && qp->ext->rd_atomic);
		qp->ext->rd_atomic->nak_msn = msn;
		qp->ext->rd_atomic->nak = syndrome;
		return;
	}
	mt_qp_fail(qp, nak_status(syndrome), nak_status(syndrome));
}

/* An ACK counts messages sent in full; a NAK refuses one of which something was sent. */
static bool ack_plausible(const struct mt_qp *qp, uint8_t kind, uint64_t msn)
{
	const struct mt_sq *sq = &qp->req.sq;

	if (kind == MW_SYNDROME_ACK || msn < sq->next)
		return msn <= sq->next;
	return kind == MW_SYNDROME_NAK && msn == sq->next && msn < sq->tail &&
	       mt_sq_at(sq, msn)->first_psn < qp->req.window.next;
}

/*
 * Takes an AETH. An ACK may acknowledge several messages and may come late; a NAK acknowledges all
 * messages before its own. REQ(req.error.nak)
 */
void mt_completer_ack(struct mt_qp *qp, const struct mt_rx *rx)
{
	const struct mw_aeth *aeth = &rx->pkt->aeth;
	uint8_t kind = aeth->syndrome >> MW_SYNDROME_KIND_SHIFT;
	uint64_t msn = mb_psn_extend(qp->req.sq.done, aeth->msn);
	bool progress = false;

	if (!mt_qp_may_send(qp) || (kind != MW_SYNDROME_ACK && kind != MW_SYNDROME_NAK) ||
	    !ack_plausible(qp, kind, msn)) {
		qp->engine->stats.drop_bogus_ack++;
		return;
	}
	qp->engine->stats.rx_acks++;
	if (msn > qp->req.sq.done)
		complete_below(qp, msn, &progress);
	if (kind == MW_SYNDROME_NAK && msn >= qp->req.sq.done) {
		handle_nak(qp, msn, aeth->syndrome);
		return;
	}
	mt_completer_update(qp, rx->now_ns, progress);
}

/*
 * The responses that came may release ACKs and a NAK which were kept until the requests before
 * them were answered.
 */
void mt_completer_response(struct mt_qp *qp, uint64_t now_ns)
{
	struct mt_rd_atomic *r = qp->ext->rd_atomic;
	bool progress = false;

	mb_assert(r && r->n_completed <= r->n_requested);
	if (r->acked > qp->req.sq.done)
		complete_below(qp, r->acked, &progress);
	if (r->nak != 0 && qp->req.sq.done >= r->nak_msn)
		handle_nak(qp, r->nak_msn, r->nak);
	else
		mt_completer_update(qp, now_ns, true);
}

/*
 * The peer may ask for another READ or atomic only after it had the oldest response, so its
 * request acknowledges that response.
 */
void mt_completer_implied_ack(struct mt_qp *qp, uint64_t msn, uint64_t now_ns)
{
	bool progress = false;

	if (msn > qp->req.sq.done)
		complete_below(qp, msn, &progress);
	mt_completer_update(qp, now_ns, progress);
}
