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
 * The PSN above the one that the ACK names, which is one that the responder had: the last in order,
 * or that of the packet it answers. Some leave it 0; until the peer has filled it once, 0 says
 * nothing, and counts as what SACKs have said. In a NAK it is the PSN where that is outstanding,
 * and else says nothing only after a timeout, to which it comes with a peer that has failed: who
 * knows the QPN could end a QP that works. REQ(req.ack.psn)
 */
static uint64_t named_by_ack(const struct mt_qp *qp, uint8_t kind, uint32_t psn)
{
	const struct mt_tx_window *w = &qp->req.window;
	uint64_t named = mb_psn_extend(w->una, psn) + 1;
	bool outstanding = named > w->una && named <= w->next;

	if (psn != 0 || qp->req.acks_have_psn)
		return named;
	if (kind == MW_SYNDROME_NAK && (outstanding || qp->req.rto.timeouts == 0))
		return named;
	return w->una;
}

/* The PSN was sent, and where the ACK refuses a message, it does not lie before that. */
static bool psn_plausible(const struct mt_qp *qp, uint8_t kind, uint64_t msn, uint64_t named)
{
	const struct mt_tx_window *w = &qp->req.window;
	const struct mt_sq *sq = &qp->req.sq;

	if (named > w->next)
		return false;
	return kind == MW_SYNDROME_ACK || msn < sq->done || mt_sq_at(sq, msn)->first_psn <= named;
}

/* Notes that all messages below msn are acknowledged, and says whether that is new. */
static bool note_acked(struct mt_requester *req, uint64_t msn)
{
	mb_assert(msn <= req->sq.next);
	if ((int32_t)((uint32_t)msn - req->acked) <= 0)
		return false;
	req->acked = (uint32_t)msn;
	return true;
}

/*
 * Takes an AETH. An ACK may acknowledge several messages and may come late. It completes those of
 * which its own PSN or SACKs say that they have arrived, and the others when SACKs do: one from a
 * former connection, or from a host that knows only the QPN, must not complete what never came. A
 * NAK acknowledges all messages before its own. REQ(req.error.nak) REQ(req.ack.psn)
 */
void mt_completer_ack(struct mt_qp *qp, const struct mt_rx *rx)
{
	struct mt_requester *req = &qp->req;
	const struct mw_aeth *aeth = &rx->pkt->aeth;
	uint8_t kind = aeth->syndrome >> MW_SYNDROME_KIND_SHIFT;
	uint64_t msn = mb_psn_extend(req->sq.done, aeth->msn);
	uint64_t named = named_by_ack(qp, kind, rx->pkt->bth.psn);
	bool progress;

	if (!mt_qp_may_send(qp) || (kind != MW_SYNDROME_ACK && kind != MW_SYNDROME_NAK) ||
	    !ack_plausible(qp, kind, msn) || !psn_plausible(qp, kind, msn, named)) {
		qp->engine->stats.drop_bogus_ack++;
		return;
	}
	qp->engine->stats.rx_acks++;
	if (named + (uint64_t)qp->attr.mpr * MT_MPR_UNIT < req->window.una) {
		qp->engine->stats.acks_stale++;
		return;
	}
	req->acks_have_psn |= rx->pkt->bth.psn != 0;
	progress = note_acked(req, msn);
	mt_completer_complete(qp, named > req->window.una ? named : req->window.una, &progress);
	if (kind == MW_SYNDROME_NAK && msn >= req->sq.done) {
		handle_nak(qp, msn, aeth->syndrome);
		return;
	}
	mt_completer_update(qp, rx->now_ns, progress);
}

/*
 * What proves that all messages below msn have arrived, without a PSN of theirs; says whether that
 * is progress.
 */
static bool complete_proved(struct mt_qp *qp, uint64_t msn)
{
	struct mt_requester *req = &qp->req;
	uint64_t received = req->window.una;
	bool progress = false;

	note_acked(req, msn);
	if (msn > req->sq.done)
		received = mt_wqe_end(mt_sq_at(&req->sq, msn - 1));
	mt_completer_complete(qp, received > req->window.una ? received : req->window.una,
			      &progress);
	return progress;
}

/*
 * The responses that came may release ACKs and a NAK which were kept until the requests before
 * them were answered.
 */
void mt_completer_response(struct mt_qp *qp, uint64_t below, uint64_t now_ns)
{
	struct mt_rd_atomic *r = qp->ext->rd_atomic;

	mb_assert(r && r->n_completed <= r->n_requested);
	complete_proved(qp, below);
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
	mt_completer_update(qp, now_ns, complete_proved(qp, msn));
}
