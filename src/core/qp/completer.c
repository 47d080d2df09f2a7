/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * completer.c - takes what the responder says of our packets: SACK and NACK; ACKs are in
 * completer_ack.c.
 *
 * A SACK is checked before it is used: if it names PSNs that were never sent, it is bogus, and
 * nothing of it is used. Bytes in flight follow rcvd_bytes, the responder's count of new bytes,
 * which survives lost SACKs. They are subtracted early when a packet is found lost; if it arrives
 * after all before it was sent again, that is undone. rcvd_bytes is rounded, so a few bytes may
 * remain: when nothing is outstanding nothing is in flight, and when the window is empty both sides
 * have counted the same bytes.
 */
#include "base/assert.h"
#include "base/bits.h"
#include "base/serial.h"
#include "core/endpoint/endpoint.h"
#include "core/ev/spray.h"
#include "core/qp/halves.h"
#include "core/window/window.h"

#define UNITS_MASK 0xFFFFFFu
#define UNITS_HALF 0x800000u

/* A SACK in 64-bit terms, and what is known of the packet that caused it. */
struct sack {
	const struct mw_seth *seth;
	uint64_t now_ns;
	uint64_t expected; /* lowest PSN the responder does not have */
	uint64_t base;
	uint64_t sent_ns;   /* when the trigger was sent; 0: unknown */
	uint64_t rtt_ns;    /* 0: no valid sample */
	uint16_t ev;	    /* of the trigger, or MT_EV_NONE */
	bool first;	    /* the trigger was no retransmission */
	bool probe_matched; /* the trigger was a probe of ours that waits for its answer */
	bool progress;
};

/* Marks what lies below `expected` and in the bitmap as received. */
static void mark_received(struct mt_qp *qp, uint64_t psn, bool *progress)
{
	struct mt_requester *req = &qp->req;
	enum mt_tx_state was = mt_tx_window_received(&req->window, psn);

	if (was == MT_TX_LOST || mt_tx_in_backoff((uint8_t)was))
		req->cc.inflight += mt_tx_rec(&req->window, psn)->nominal;
	if (was != MT_TX_RECEIVED)
		*progress = true;
}

void mt_completer_received_below(struct mt_qp *qp, uint64_t expected, bool *progress)
{
	struct mt_tx_window *w = &qp->req.window;

	mb_assert(expected <= w->next);
	for (uint64_t psn = w->una; psn < expected; psn++)
		mark_received(qp, psn, progress);
	mt_tx_window_advance(w);
	mb_assert(w->una >= expected && w->una <= w->next);
}

/* REQ(req.loss.accumulate) */
static void mark_sack_map(struct mt_qp *qp, struct sack *s)
{
	struct mt_tx_window *w = &qp->req.window;
	uint64_t map = s->seth->sack_bitmap;

	for (; map; map &= map - 1) {
		uint64_t psn = s->base + mb_ctz64(map);

		mb_assert_slow(psn < w->next);
		if (psn >= w->una)
			mark_received(qp, psn, &s->progress);
	}
	mt_tx_window_advance(w);
}

/* Reads the SACK's PSNs; false when they name what was never sent. REQ(req.psn.serial) */
static bool sack_is_plausible(const struct mt_qp *qp, const struct mw_packet *pkt, struct sack *s)
{
	const struct mt_tx_window *w = &qp->req.window;
	const struct mw_seth *seth = &pkt->seth;
	uint64_t cack = mb_psn_extend(w->una, seth->cack_psn);

	s->seth = seth;
	s->expected = cack + 1;
	s->base = cack + (uint64_t)(int64_t)seth->sack_offset;
	if (s->expected > w->next || pkt->bth.psn != seth->cack_psn)
		return false;
	if (seth->sack_bitmap == 0)
		return true;
	return s->base + mb_log2(seth->sack_bitmap) < w->next;
}

/*
 * How long the responder took, which it says by returning the stamp of what left at sent_ns that
 * much later, where it was agreed that it does; false: this is no stamp of ours, or not of then.
 * REQ(rsp.svc-time)
 */
static bool match_service_time(const struct mt_qp *qp, const struct sack *s, uint64_t sent_ns,
			       uint64_t *service_ns)
{
	const struct mt_engine *e = qp->engine;
	uint16_t later = (uint16_t)(s->seth->tx_timestamp - mt_timestamp(e, sent_ns));

	*service_ns = (uint64_t)later << e->cfg.ts_shift;
	return later == 0 || (qp->attr.svc_time_dest && *service_ns <= s->now_ns - sent_ns);
}

/*
 * The answer to a probe: which one, when it was sent, what it says of its path.
 * REQ(req.probe.match)
 */
static void match_probe(struct mt_qp *qp, struct sack *s)
{
	bool marked = s->seth->m == MW_MARK_SKIP_ONCE, revived;
	uint64_t service_ns;

	if (!mt_ev_set_match_probe(qp->ev_set, s->seth->probe_id, s->now_ns, marked, &s->sent_ns,
				   &s->ev, &revived))
		return;
	mb_assert(s->ev < qp->ev_set->n_evs);
	s->probe_matched = true;
	s->rtt_ns = s->now_ns - s->sent_ns;
	if (match_service_time(qp, s, s->sent_ns, &service_ns))
		s->rtt_ns -= service_ns;
	mt_port_status_answered(qp->engine, qp->ev_set, s->ev, s->sent_ns, s->now_ns);
	mt_reverse_ev_set(qp->ev_set, s->ev);
	mt_rto_probe_answered(&qp->req.rto, s->now_ns);
	if (revived)
		mt_qp_ev_group_revived(qp, s->ev, s->now_ns);
	mt_ev_sets_arm_probes(qp->engine, qp->ev_set);
}

/*
 * The record of the trigger, if it still describes the transmission that caused this SACK: the
 * reflected stamp must be that of the last time it was sent. REQ(cc.rtt.validity)
 */
static void match_trigger(struct mt_qp *qp, struct sack *s, bool rtx)
{
	const struct mt_tx_window *w = &qp->req.window;
	uint64_t psn = s->expected - 1 + (uint64_t)(int64_t)s->seth->ack_psn_offset;
	const struct mt_tx_rec *rec;
	uint64_t service_ns;

	if (!mt_tx_has_rec(w, psn))
		return;
	rec = mt_tx_rec(w, psn);
	if (!match_service_time(qp, s, rec->sent_ns, &service_ns))
		return;
	mb_assert(rec->ev < qp->ev_set->n_evs);
	s->ev = rec->ev;
	s->sent_ns = rec->sent_ns;
	s->first = rec->tries == 0;
	mt_port_status_answered(qp->engine, qp->ev_set, s->ev, s->sent_ns, s->now_ns);
	mt_reverse_ev_set(qp->ev_set, s->ev); /* REQ(req.reverse.from-sacks) */
	mt_reverse_ev_postpone(qp->ev_set, &qp->engine->cfg.timing, s->now_ns);
	if (rec->tries == rtx && s->now_ns > rec->sent_ns)
		s->rtt_ns = s->now_ns - rec->sent_ns - service_ns;
}

/*
 * What the mark says of the path that the trigger took. REQ(req.ev.state-machine)
 * REQ(req.ev.skip-on-ecn) REQ(req.ev.always-skip)
 */
static void apply_ev_mark(struct mt_qp *qp, const struct sack *s)
{
	uint16_t ev = s->ev;

	if (s->seth->m == MW_MARK_NONE || s->seth->pr)
		return;
	if (ev == MT_EV_NONE || qp->ev_set->evs[ev].value != s->seth->entropy)
		return;
	if (s->seth->m == MW_MARK_SKIP_ONCE && !(qp->ev_set->ignores & MT_EV_IGNORES_MARKS))
		mt_ev_skip_once(qp->ev_set, ev);
	else if (s->seth->m == MW_MARK_ALWAYS_SKIP) /* the value 3 says nothing. REQ(wire.seth.m) */
		mt_qp_retire_ev_group(qp, ev, s->now_ns, MT_EV_BY_MARK);
}

/*
 * A lost packet leaves the network, so that its bytes are no longer in flight. Congestion control
 * hears of the loss once for each packet.
 */
static void mark_lost(struct mt_qp *qp, uint64_t psn, uint64_t now_ns, enum mt_cc_loss_kind kind)
{
	struct mt_requester *req = &qp->req;
	const struct mt_tx_rec *rec = mt_tx_rec(&req->window, psn);

	mt_tx_window_lost(&req->window, psn);
	req->cc.inflight -= rec->nominal;
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
	c->overload_next_ns =
		sent_ns + (rtt->smoothed_ns ? rtt->smoothed_ns
					    : mt_rtt_silence(rtt, &qp->engine->cfg.timing));
	return ++c->overload_losses >= MT_OVERLOAD_LOSSES;
}

/*
 * Holds a loss against its EV, unless the port of either end or the overload of the receiver
 * explains it: an EV must not be retired for what is no fault of its links. REQ(req.ev.one-loss)
 */
static void attribute_loss(struct mt_qp *qp, const struct mt_tx_rec *rec, uint64_t now_ns)
{
	struct mt_ev_set *ev_set = qp->ev_set;
	uint8_t port = ev_set->evs[rec->ev].port;

	mb_assert(rec->ev < ev_set->n_evs && port < ev_set->n_ports);
	if (mt_local_ports_may_have_lost(&qp->engine->ports, port, rec->sent_ns) ||
	    mt_peer_ports_may_have_lost(&ev_set->peer_ports, port, rec->sent_ns))
		return;
	if (mt_liveness_was_overloaded(&ev_set->liveness, rec->sent_ns) &&
	    !overload_limit_reached(qp, mt_ev_get_fault(ev_set, rec->ev), rec->sent_ns))
		return;
	mt_liveness_note_retired(&ev_set->liveness, rec->sent_ns, port);
	mt_qp_retire_ev_group(qp, rec->ev, now_ns, MT_EV_BY_LOSS);
}

/*
 * While it is undecided whether the peer or the path is silent, the packet stays outstanding: the
 * next SACK decides.
 */
static void handle_loss(struct mt_qp *qp, const struct sack *s, uint64_t psn)
{
	const struct mt_tx_rec *rec = mt_tx_rec(&qp->req.window, psn);
	const struct mt_ev_entry *evs = qp->ev_set->evs;
	enum mt_loss_cause cause =
		mt_liveness_attribute_loss(&qp->ev_set->liveness, rec->sent_ns, evs[rec->ev].port,
					   s->sent_ns, evs[s->ev].port);

	if (cause == MT_LOSS_UNDECIDED)
		return;
	mark_lost(qp, psn, s->now_ns, MT_CC_INFERRED);
	qp->engine->stats.lost_inferred++;
	if (cause == MT_LOSS_PATH_FAULT)
		attribute_loss(qp, rec, s->now_ns);
}

/* It takes a round trip until we send what it has room for, and the queues on the way may be
 * full. */
static void note_peer_overload(struct mt_qp *qp, uint64_t now_ns)
{
	uint64_t silence_ns = mt_rtt_silence(&qp->req.rtt, &qp->engine->cfg.timing);

	mt_liveness_set_overload(&qp->ev_set->liveness, now_ns + silence_ns);
}

/* What the report says of the peer itself. REQ(req.ev.endpoint) */
static void update_peer_liveness(struct mt_qp *qp, struct sack *s)
{
	struct mt_liveness *p = &qp->ev_set->liveness;
	struct mt_rtt *rtt = &qp->req.rtt;

	if (s->ev != MT_EV_NONE) {
		mt_liveness_note_sack(p, s->now_ns, qp->ev_set->evs[s->ev].port, s->sent_ns);
		if (qp->ev_set->faults && mt_liveness_was_overloaded(p, s->sent_ns))
			qp->ev_set->faults[s->ev].overload_losses = 0;
	}
	if (s->seth->rcv_cwnd_pen)
		note_peer_overload(qp, s->now_ns);
	if (s->rtt_ns == 0)
		return;
	if (rtt->smoothed_ns)
		s->rtt_ns = mt_liveness_clamp_rtt(p, s->sent_ns, s->rtt_ns);
	mt_rtt_sample(rtt, s->rtt_ns);
	p->silence_limit_ns = mt_rtt_silence(rtt, &qp->engine->cfg.timing);
}

/*
 * Looks at each hole that the SACK reports. Without the time at which the trigger was sent nothing
 * is older than it, and no loss follows. REQ(req.loss.outside-bitmap) REQ(req.ev.forward-evidence)
 */
static void find_losses(struct mt_qp *qp, const struct sack *s)
{
	struct mt_requester *req = &qp->req;
	struct mt_loss_report report = {
		.expected = s->expected,
		.base = s->base,
		.complete = mb_popcount64(s->seth->sack_bitmap) == s->seth->ooo_count,
		.trigger_first = s->first,
		.trigger_ev = s->ev,
		.trigger_sent_ns = s->sent_ns,
	};
	uint64_t window_ns = mt_rtt_reorder_window(&req->rtt, &qp->engine->cfg.timing);
	uint64_t psn = s->expected;

	if (s->sent_ns == 0)
		return;
	mb_assert(s->ev != MT_EV_NONE);
	for (; mt_loss_next(&req->window, &report, window_ns, &psn); psn++)
		handle_loss(qp, s, psn);
}

/* How many bytes the responder has newly received, by its own count. REQ(cc.nscc.inflight) */
static uint64_t newly_received_bytes(struct mt_qp *qp, uint32_t units)
{
	struct mt_requester *req = &qp->req;
	uint32_t delta = (units - req->rcvd_units) & UNITS_MASK;

	if (delta == 0 || delta >= UNITS_HALF)
		return 0; /* nothing new, or a SACK that was overtaken */
	if ((uint64_t)delta * 256 > req->sent_bytes + 256)
		return 0; /* more than was ever sent */
	req->rcvd_units = units;
	return (uint64_t)delta * 256;
}

/*
 * Congestion control gets what the SACK says in one struct. The bytes in flight follow the count
 * of the responder, not the map, since SACKs may be lost.
 */
static void update_cc(struct mt_qp *qp, const struct sack *s)
{
	struct mt_requester *req = &qp->req;
	struct mt_cc_ack ack = {
		.now_ns = s->now_ns,
		.newly_bytes = newly_received_bytes(qp, s->seth->rcvd_bytes),
		.rtt_ns = s->rtt_ns,
		.marked = s->seth->m == MW_MARK_SKIP_ONCE,
		.penalty = s->seth->rcv_cwnd_pen,
		.restore = s->seth->restore_cwnd,
	};

	req->cc.inflight -= (int64_t)ack.newly_bytes;
	req->cc.ops->ack(&req->cc, &ack);
}

/*
 * The window follows what the responder offers now, but never grows beyond what was agreed. None at
 * all is no offer, and what an overtaken SACK offers is old. REQ(req.mpr.dynamic)
 */
static void update_mpr(struct mt_qp *qp, const struct mw_seth *seth)
{
	struct mt_requester *req = &qp->req;

	if (!mt_qp_uses_dynamic_mpr(qp) || seth->mpr == 0 ||
	    ((seth->rcvd_bytes - req->rcvd_units) & UNITS_MASK) >= UNITS_HALF)
		return;
	req->mpr = seth->mpr < qp->attr.mpr ? seth->mpr : qp->attr.mpr;
	mb_assert(req->mpr > 0 && req->mpr <= qp->attr.mpr);
}

/* After anything was learnt: timers, the byte count when nothing is left, and sending goes on. */
void mt_completer_update(struct mt_qp *qp, uint64_t now_ns, bool progress)
{
	struct mt_requester *req = &qp->req;

	mb_assert(req->window.una <= req->window.next);
	if (req->window.outstanding == 0)
		req->cc.inflight = 0;
	if (mt_tx_is_empty(&req->window))
		req->rcvd_units = (uint32_t)((req->sent_bytes + 255) >> 8) & UNITS_MASK;
	if (progress) {
		mt_rto_restart(&req->rto, now_ns, mt_qp_has_unfinished(qp));
		req->timed_out = false;
	}
	mt_qp_queue_for_tx(qp);
	mt_qp_arm(qp);
}

/*
 * A QP with extensions learns from the answer to its first probe what the peer knows and has room
 * for. An answer that matches no probe is of a former connection. REQ(ext.agreement)
 */
static void finish_negotiation(struct mt_qp *qp, struct sack *s)
{
	struct mt_requester *req = &qp->req;

	if (!s->probe_matched || !mt_negotiation_done(&qp->ext->negotiation))
		return;
	mt_negotiation_rx(&qp->ext->negotiation, s->seth->ext);
	if (s->seth->mpr != 0 && s->seth->mpr < req->mpr)
		req->mpr = s->seth->mpr;
	s->progress = true;
}

/*
 * What must hold of the requester after a SACK, for mb_assert_slow: all PSNs before the WR that is
 * being sent belong to WRs that are sent in full, and no packet is in flight beyond the widest
 * window that was agreed on.
 */
static bool req_is_consistent(const struct mt_qp *qp)
{
	const struct mt_requester *req = &qp->req;
	const struct mt_sq *sq = &req->sq;

	if (sq->done < sq->next && mt_sq_at(sq, sq->done)->first_psn > req->window.next)
		return false;
	return req->window.next - req->window.una <= (uint64_t)qp->attr.mpr * MT_MPR_UNIT &&
	       req->window.next <= req->post_psn && req->wimm_inflight <= sq->next - sq->done + 1;
}

/*
 * The order matters: the window must know what was received before losses are looked for, and the
 * RTT sample must be taken before congestion control uses it.
 */
void mt_completer_sack(struct mt_qp *qp, const struct mt_rx *rx)
{
	struct sack s = {.now_ns = rx->now_ns, .ev = MT_EV_NONE};

	if (!mt_qp_may_send(qp) || !sack_is_plausible(qp, rx->pkt, &s)) {
		qp->engine->stats.drop_bogus_ack++;
		return;
	}
	mb_assert(qp->ev_set);
	qp->engine->stats.rx_sacks++;
	if (s.seth->pr)
		match_probe(qp, &s);
	else
		match_trigger(qp, &s, rx->pkt->bth.rtx);
	mt_completer_received_below(qp, s.expected, &s.progress);
	mark_sack_map(qp, &s);
	update_peer_liveness(qp, &s);
	apply_ev_mark(qp, &s);
	find_losses(qp, &s);
	update_cc(qp, &s);
	update_mpr(qp, s.seth);
	if (qp->ext)
		finish_negotiation(qp, &s);
	mb_assert_slow(req_is_consistent(qp));
	mt_completer_update(qp, s.now_ns, s.progress);
}

/* A NACK is about one transmission: the outstanding one, on the EV that it names. */
static bool nack_matches(const struct mt_qp *qp, uint64_t psn, uint32_t entropy)
{
	const struct mt_tx_window *w = &qp->req.window;
	const struct mt_tx_rec *rec;

	mb_assert(psn < w->next);
	if (psn < w->una)
		return false;
	rec = mt_tx_rec(w, psn);
	return rec->state == MT_TX_OUTSTANDING && qp->ev_set->evs[rec->ev].value == entropy;
}

/*
 * A packet that is trimmed goes again at once: another path may be free. At the last hop there is
 * no other, and in the fabric it has tried enough of them after a while: then, as when the
 * responder has no room, it waits; else sender and NACKs would feed each other for as long as it
 * lasts. Queues are soon empty; only for want of memory it waits longer each time.
 * REQ(req.loss.nack) REQ(req.loss.nack-wait)
 */
#define TRIMS_AT_ONCE 3u

static bool resends_at_once(const struct mt_tx_rec *rec, uint8_t reason)
{
	if (reason == MW_NACK_TRIMMED)
		return rec->tries < TRIMS_AT_ONCE;
	return reason == MW_NACK_TRIMMED_LASTHOP && rec->tries == 0;
}

/* A NACKed packet has left the network, whether it is sent again at once or after the back-off. */
static void retract_packet(struct mt_qp *qp, uint64_t psn, uint64_t now_ns, uint8_t reason)
{
	bool trimmed = reason == MW_NACK_TRIMMED || reason == MW_NACK_TRIMMED_LASTHOP;
	enum mt_cc_loss_kind kind = trimmed ? MT_CC_TRIMMED : MT_CC_NACKED;
	struct mt_requester *req = &qp->req;
	const struct mt_tx_rec *rec = mt_tx_rec(&req->window, psn);

	if (resends_at_once(rec, reason)) {
		mark_lost(qp, psn, now_ns, kind);
		return;
	}
	mt_tx_window_nack_backoff(&req->window, psn, mt_qp_nack_backoff_ns(qp), trimmed);
	req->cc.inflight -= rec->nominal;
	req->cc.ops->loss(&req->cc, now_ns, kind, rec->nominal);
	qp->engine->stats.nack_backoffs++;
}

/*
 * The peer has no receive for this packet's message. It is no loss, and no fault of a path: it goes
 * again when the peer may have one. REQ(ext.rnr.wait)
 */
static void handle_rnr_nack(struct mt_qp *qp, uint64_t psn, const struct mt_rx *rx)
{
	struct mt_requester *req = &qp->req;
	const struct mt_tx_rec *rec = mt_tx_rec(&req->window, psn);
	struct mt_rnr_nack nack = {
		.psn = psn,
		.una = req->window.una,
		.sent_ns = rec->sent_ns,
		.now_ns = rx->now_ns,
		.wait_ns = mt_rnr_wait_ns(rx->pkt->neth.vendor_info),
		.oldest = rec->slot == (req->sq.done & req->sq.mask),
	};

	mb_assert(qp->ext);
	mt_tx_window_lost(&req->window, psn);
	req->cc.inflight -= rec->nominal;
	qp->engine->stats.rnr_waits++;
	if (psn ==
	    req->window.una) /* else the oldest packet, of which nothing is heard, may be lost */
		mt_rto_restart(&req->rto, rx->now_ns, true);
	if (mt_rnr_nacked(&qp->ext->rnr, &nack, qp->attr.rnr_retry))
		mt_completer_update(qp, rx->now_ns, false);
	else
		mt_qp_fail(qp, RD_WC_RNR_RETRY_EXC_ERR, RD_WC_RNR_RETRY_EXC_ERR);
}

/*
 * A NACK counts if it names a transmission that is outstanding: one from a former connection, or
 * from a host that knows only the QPN, changes nothing. That of a peer's QP in ERR ends the QP; any
 * other concerns one packet and is no proof of a fault of its path. REQ(req.ev.last-hop-trim)
 * REQ(req.error.fatal-nack)
 */
void mt_completer_nack(struct mt_qp *qp, const struct mt_rx *rx)
{
	const struct mw_neth *neth = &rx->pkt->neth;
	uint64_t psn = mb_psn_extend(qp->req.window.una, neth->nack_psn);

	if (!mt_qp_may_send(qp) || psn >= qp->req.window.next) {
		qp->engine->stats.drop_bogus_ack++;
		return;
	}
	qp->engine->stats.rx_nacks++;
	if (!nack_matches(qp, psn, neth->entropy)) {
		qp->engine->stats.nacks_stale++;
		return;
	}
	if (neth->reason == MW_NACK_UNEXP_EVENT) {
		mt_qp_fail(qp, RD_WC_REM_OP_ERR, RD_WC_REM_OP_ERR);
		return;
	}
	if (neth->reason == MW_NACK_RNR && mt_qp_has_ext(qp, MW_EXT_SEND)) {
		handle_rnr_nack(qp, psn, rx);
		return;
	}
	if (neth->reason == MW_NACK_TRIMMED) {
		if (!(qp->ev_set->ignores & MT_EV_IGNORES_TRIMS)) /* REQ(req.ev.trim-skips) */
			mt_ev_skip_once(qp->ev_set, mt_tx_rec(&qp->req.window, psn)->ev);
	} else if (neth->reason != MW_NACK_TRIMMED_LASTHOP &&
		   neth->reason != MW_NACK_PSN_OOR_WINDOW) {
		note_peer_overload(qp, rx->now_ns);
	}
	retract_packet(qp, psn, rx->now_ns, neth->reason);
	mt_completer_update(qp, rx->now_ns, false);
}
