/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * completer_done.c - what follows from SACKs, ACKs and responses alike: packets are received,
 * messages complete, timers begin again.
 */
#include "base/assert.h"
#include "core/qp/halves.h"

/*
 * A packet that took an EV and arrived says how slow that EV is at most. That is worth knowing of
 * an EV not heard before, and of the slowest. REQ(req.loss.slowest-ev)
 */
static void note_arrival(struct mt_qp *qp, const struct mt_tx_rec *rec, uint64_t now_ns)
{
	struct mt_ev_set *s = qp->ev_set;

	if (rec->tries > 0 || now_ns == 0)
		return;
	if (s->n_unheard > 0 && mt_ev_note_heard(s, rec->ev))
		mt_reorder_sample(&s->reorder, rec->ev, now_ns - rec->sent_ns);
	else if (rec->ev == s->reorder.ev)
		mt_reorder_refresh(&s->reorder, now_ns - rec->sent_ns);
}

/* What is lost or in back-off has left the bytes in flight already. REQ(cc.nscc.inflight) */
void mt_completer_received(struct mt_qp *qp, uint64_t psn, uint64_t now_ns, bool *progress)
{
	struct mt_requester *req = &qp->req;
	const struct mt_tx_rec *rec = mt_tx_rec(&req->window, psn);
	uint16_t nominal = rec->nominal;
	enum mt_tx_state was = mt_tx_window_received(&req->window, psn);

	if (was == MT_TX_RECEIVED)
		return;
	note_arrival(qp, rec, now_ns);
	if (was == MT_TX_OUTSTANDING)
		mt_qp_count_arrived(qp, rec, now_ns);
	req->newly_bytes += nominal;
	*progress = true;
}

void mt_completer_received_below(struct mt_qp *qp, uint64_t expected, uint64_t now_ns,
				 bool *progress)
{
	struct mt_tx_window *w = &qp->req.window;

	mb_assert(expected <= w->next);
	for (uint64_t psn = w->una; psn < expected; psn++)
		mt_completer_received(qp, psn, now_ns, progress);
	mt_tx_window_advance(w);
	mb_assert(w->una >= expected && w->una <= w->next);
}

/* Up to the first that waits for the answer to its request. REQ(ext.response.complete) */
static void complete_below(struct mt_qp *qp, uint64_t below, bool *progress)
{
	struct mt_requester *req = &qp->req;
	uint64_t msn = req->sq.done;

	for (; msn < below; msn++) {
		uint8_t flags = mt_sq_at(&req->sq, msn)->flags;

		if (flags & MT_WQE_AWAITS_RESPONSE)
			break;
		mb_assert(!(flags & RD_SEND_IMM) || req->wimm_inflight > 0);
		req->wimm_inflight = (uint16_t)(req->wimm_inflight - !!(flags & RD_SEND_IMM));
	}
	if (msn == req->sq.done)
		return;
	mt_sq_complete(&req->sq, msn);
	mt_qp_queue_for_poll(qp);
	*progress = true;
}

void mt_completer_complete(struct mt_qp *qp, uint64_t received, bool *progress)
{
	struct mt_requester *req = &qp->req;
	uint64_t below = req->sq.done;

	mb_assert(received <= req->window.next);
	while ((int32_t)(req->acked - (uint32_t)below) > 0 &&
	       mt_wqe_end(mt_sq_at(&req->sq, below)) <= received)
		below++;
	if (below == req->sq.done)
		return;
	mt_completer_received_below(qp, mt_wqe_end(mt_sq_at(&req->sq, below - 1)), 0, progress);
	complete_below(qp, below, progress);
}

void mt_completer_update(struct mt_qp *qp, uint64_t now_ns, bool progress)
{
	struct mt_requester *req = &qp->req;

	mb_assert(req->window.una <= req->window.next);
	mb_assert(req->cc.inflight >= 0 && (req->window.outstanding > 0) == (req->cc.inflight > 0));
	if (progress) {
		mt_rto_restart(&req->rto, now_ns, mt_qp_has_unfinished(qp));
		req->timed_out = false;
	}
	mt_qp_queue_for_tx(qp);
	mt_qp_arm(qp);
}
