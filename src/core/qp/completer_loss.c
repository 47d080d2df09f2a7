/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * completer_loss.c - which of our packets are lost, by what a SACK says and what is known of the
 * peer and the EVs, and whether that is held against the EV.
 */
#include "base/assert.h"
#include "base/serial.h"
#include "core/endpoint/endpoint.h"
#include "core/qp/halves.h"
#include "core/window/window.h"

/*
 * A lost packet leaves the network, so that its bytes are no longer in flight. Congestion control
 * hears of the loss once for each packet.
 */
void mt_completer_mark_lost(struct mt_qp *qp, uint64_t psn, uint64_t now_ns,
			    enum mt_cc_loss_kind kind)
{
	struct mt_requester *req = &qp->req;
	const struct mt_tx_rec *rec = mt_tx_rec(&req->window, psn);

	mt_tx_window_lost(&req->window, psn);
	mt_qp_count_left(qp, rec);
	req->cc.ops->loss(&req->cc, now_ns, kind, rec->nominal);
}

/*
 * A full buffer takes a burst from every path at once, so that of losses close together only one
 * counts. REQ(req.ev.overloaded)
 */
static bool overload_limit_reached(const struct mt_qp *qp, struct mt_ev_fault *c, uint64_t sent_ns)
{
	const struct mt_rtt *rtt = &qp->req.rtt;

	if (!c || sent_ns < c->overload_next_ns)
		return false;
	c->overload_next_ns = sent_ns + (rtt->smoothed_ns ? rtt->smoothed_ns
							  : qp->engine->cfg.timing.reorder_max_ns);
	return ++c->overload_losses >= MT_OVERLOAD_LOSSES;
}

/*
 * Holds a loss against its EV, unless the port of either end or the overload of the receiver
 * explains it: an EV must not be retired for what is no fault of its links. REQ(req.ev.one-loss)
 */
static void attribute_loss(struct mt_qp *qp, const struct mt_tx_rec *rec, uint64_t now_ns)
{
	struct mt_ev_set *ev_set = qp->ev_set;
	uint8_t port = mt_ev_port(ev_set, rec->ev);

	mb_assert(rec->ev < ev_set->n_evs && port < ev_set->n_ports);
	if (mt_local_ports_may_have_lost(&qp->engine->ports, port, rec->sent_ns) ||
	    mt_peer_ports_may_have_lost(&ev_set->peer_ports, port, rec->sent_ns))
		return;
	if (mt_liveness_was_overloaded(&qp->peer->liveness, rec->sent_ns) &&
	    !overload_limit_reached(qp, mt_ev_get_fault(ev_set, rec->ev, now_ns), rec->sent_ns))
		return;
	if (mt_uplink_note_loss(qp->engine, ev_set, port, rec->sent_ns, now_ns))
		return;
	mt_liveness_note_retired(&qp->peer->liveness, rec->sent_ns, port);
	mt_qp_retire_ev_group(qp, rec->ev, now_ns, MT_EV_BY_LOSS);
	mt_ev_note_lost_bytes(ev_set, rec->ev, rec->nominal);
}

/* Whether too little is known of the EV to call its packet lost yet. REQ(req.loss.unknown-ev) */
static bool may_be_slow(const struct mt_qp *qp, const struct mt_loss_report *r,
			const struct mt_tx_rec *rec)
{
	const struct mt_ev_set *ev_set = qp->ev_set;

	return !mt_ev_was_heard(ev_set, rec->ev) &&
	       r->trigger_sent_ns - rec->sent_ns <
		       mt_reorder_window_unknown(&ev_set->reorder, &qp->engine->cfg.timing);
}

/*
 * While it is undecided whether the peer or the path is silent, the packet stays outstanding: the
 * next SACK decides.
 */
static void handle_loss(struct mt_qp *qp, const struct mt_loss_report *r, uint64_t psn,
			uint64_t now_ns)
{
	const struct mt_tx_rec *rec = mt_tx_rec(&qp->req.window, psn);
	const struct mt_lost lost = {
		.psn = psn, .sent_ns = rec->sent_ns, .qpn = mt_qp_lost_key(qp), .ev = rec->ev};
	const struct mt_ev_set *s = qp->ev_set;
	enum mt_loss_cause cause = mt_liveness_attribute_loss(
		&qp->peer->liveness, rec->sent_ns, mt_ev_port(s, rec->ev), r->trigger_sent_ns,
		mt_ev_port(s, r->trigger_ev));

	if (cause == MT_LOSS_UNDECIDED || may_be_slow(qp, r, rec))
		return;
	if (rec->tries == 0)
		mt_lost_log_add(&qp->engine->lost_log, &lost);
	mt_completer_mark_lost(qp, psn, now_ns, MT_CC_INFERRED);
	qp->engine->stats.lost_inferred++;
	if (cause == MT_LOSS_PATH_FAULT)
		attribute_loss(qp, rec, now_ns);
}

/*
 * A report that names all that is missing makes the search go through the whole window, where
 * retransmissions are in no order of time. A peer may send it again and again. So each looks at a
 * part, and the next goes on behind it. REQ(req.loss.search-bound)
 */
static uint64_t search_from(const struct mt_qp *qp, const struct mt_loss_report *report)
{
	const struct mt_tx_window *w = &qp->req.window;
	uint64_t from = mb_serial_extend(w->una, w->search_from, 32);

	return report->complete && from > report->expected && from < w->next ? from
									     : report->expected;
}

/* Looks at each hole that the SACK reports. REQ(req.ev.forward-evidence) */
void mt_completer_find_losses(struct mt_qp *qp, const struct mt_loss_report *report,
			      uint64_t now_ns)
{
	uint64_t window_ns = mt_reorder_window(&qp->ev_set->reorder, &qp->engine->cfg.timing);
	uint64_t psn = search_from(qp, report);
	uint32_t left = MT_LOSS_SEARCH;

	for (; mt_loss_next(&qp->req.window, report, window_ns, &psn, &left); psn++) {
		handle_loss(qp, report, psn, now_ns);
		left -= mt_tx_rec(&qp->req.window, psn)->state == MT_TX_OUTSTANDING;
	}
	if (report->complete)
		qp->req.window.search_from = (uint32_t)(left == 0 ? psn : report->expected);
}
