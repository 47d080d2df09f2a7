/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * completer.c - takes what the responder says of our packets: SACK and NACK; ACKs are in
 * completer_ack.c, what follows from all of them in completer_done.c.
 *
 * A SACK is checked before it is used: if it names PSNs that were never sent, it is bogus, and
 * nothing of it is used. Bytes in flight are those of the records that are outstanding, and what is
 * newly received are records that become so. rcvd_bytes, the responder's own count, is not used:
 * implementations count headers differently, and who counts too much or too little would open or
 * close our window.
 */
#include "base/assert.h"
#include "base/bits.h"
#include "base/serial.h"
#include "core/endpoint/endpoint.h"
#include "core/ev/spray.h"
#include "core/qp/halves.h"
#include "core/window/window.h"

/* A SACK in 64-bit terms, and what is known of the packet that caused it. */
struct sack {
	const struct mw_seth *seth;
	uint64_t now_ns;
	uint64_t expected; /* lowest PSN the responder does not have */
	uint64_t base;
	uint64_t trigger;   /* its PSN, unless that was a probe */
	uint64_t sent_ns;   /* when the trigger was sent; 0: unknown */
	uint64_t rtt_ns;    /* 0: no valid sample */
	uint16_t ev;	    /* of the trigger, or MT_EV_NONE */
	bool first;	    /* the trigger was no retransmission */
	bool probe_matched; /* the trigger was a probe of ours that waits for its answer */
	bool newest;	    /* it was not overtaken, as far as it tells */
	bool late;	    /* the trigger was found lost before */
	bool progress;
};

/* The bits of a map that begins at psn `from`, as those of one that begins at `to`. */
static uint64_t move_map(uint64_t map, uint64_t from, uint64_t to)
{
	uint64_t up = to - from, down = from - to;

	if (up < MT_SACK_PSNS)
		return map >> up;
	return down < MT_SACK_PSNS ? map << down : 0;
}

/*
 * A SACK repeats most of what the one before it said: only what is new is looked at. What was
 * received once stays so. REQ(req.loss.accumulate)
 */
static void mark_sack_map(struct mt_qp *qp, struct sack *s)
{
	struct mt_tx_window *w = &qp->req.window;
	uint64_t known = move_map(w->sacked, w->sacked_base, s->base);
	uint64_t map = s->seth->sack_bitmap & ~known;

	w->sacked = s->seth->sack_bitmap | known;
	w->sacked_base = s->base;
	for (; map; map &= map - 1) {
		uint64_t psn = s->base + mb_ctz64(map);

		mb_assert_slow(psn < w->next);
		if (psn >= w->una)
			mt_completer_received(qp, psn, s->now_ns, &s->progress);
	}
	mt_tx_window_advance(w);
}

/*
 * The context ids of a SACK or NACK are the low bits of both QPNs. Some peers leave them 0, so they
 * are looked at once the peer has filled them in. REQ(wire.seth.context-ids)
 */
static bool ids_match(const struct mt_qp *qp, uint16_t spdcid, uint16_t dpdcid)
{
	return spdcid == (uint16_t)qp->attr.dest_qpn && dpdcid == (uint16_t)qp->qpn;
}

static bool ids_plausible(const struct mt_qp *qp, uint16_t spdcid, uint16_t dpdcid)
{
	if (!qp->req.peer_fills_ids || ids_match(qp, spdcid, dpdcid))
		return true;
	qp->engine->stats.drop_context_ids++;
	return false;
}

/* Reads the SACK's PSNs; false when they name what was never sent. REQ(req.psn.serial) */
static bool psns_plausible(const struct mt_qp *qp, const struct mw_packet *pkt, struct sack *s)
{
	const struct mt_tx_window *w = &qp->req.window;
	const struct mw_seth *seth = &pkt->seth;
	uint64_t cack = mb_psn_extend(w->una, seth->cack_psn);

	s->seth = seth;
	s->expected = cack + 1;
	s->base = cack + (uint64_t)(int64_t)seth->sack_offset;
	s->trigger = cack + (uint64_t)(int64_t)seth->ack_psn_offset;
	if (s->expected > w->next || pkt->bth.psn != seth->cack_psn)
		return false;
	if (!seth->pr && s->trigger >= w->next)
		return false;
	return seth->sack_bitmap == 0 || s->base + mb_log2(seth->sack_bitmap) < w->next;
}

/*
 * Counts by reason what nothing is taken of: a SACK of more than a window ago has nothing to say.
 * REQ(req.sack.window)
 */
static bool sack_is_plausible(const struct mt_qp *qp, const struct mw_packet *pkt, struct sack *s)
{
	struct mt_stats *st = &qp->engine->stats;

	if (!mt_qp_may_send(qp) || !psns_plausible(qp, pkt, s)) {
		st->drop_bogus_ack++;
		return false;
	}
	if (!ids_plausible(qp, pkt->seth.spdcid, pkt->seth.dpdcid))
		return false;
	st->rx_sacks++;
	if (s->expected + (uint64_t)qp->attr.mpr * MT_MPR_UNIT >= qp->req.window.una)
		return true;
	st->acks_stale++;
	return false;
}

/*
 * How long the responder took, which it says by returning the stamp of what left at sent_ns that
 * much later, where it was agreed that it does; false: this is no stamp of ours, or not of then.
 * Stamps of 16 bits come again, so that after a round of them any would do. REQ(rsp.svc-time)
 */
static bool match_service_time(const struct mt_qp *qp, const struct sack *s, uint64_t sent_ns,
			       uint64_t *service_ns)
{
	const struct mt_engine *e = qp->engine;
	uint16_t later = (uint16_t)(s->seth->tx_timestamp - mt_timestamp(e, sent_ns));
	uint64_t age_ns = s->now_ns > sent_ns ? s->now_ns - sent_ns : 0;

	*service_ns = (uint64_t)later << e->cfg.ts_shift;
	return later == 0 || (qp->attr.svc_time_dest && *service_ns <= age_ns &&
			      age_ns >> e->cfg.ts_shift <= UINT16_MAX);
}

/* What was sent then on this EV was answered: its ports at both ends work. */
static void note_answered(struct mt_qp *qp, const struct sack *s)
{
	struct mt_ev_set *ev_set = qp->ev_set;

	mb_assert(s->ev < ev_set->n_evs);
	mt_port_status_answered(qp->engine, ev_set, s->ev, s->sent_ns, s->now_ns);
	mt_uplink_answered(qp->engine, ev_set, mt_ev_port(ev_set, s->ev), s->sent_ns, s->now_ns);
	mt_reverse_ev_set(ev_set, s->ev, s->now_ns); /* REQ(req.reverse.from-sacks) */
}

/*
 * The answer to a probe: which one, when it was sent, what it says of its path.
 * REQ(req.probe.match)
 */
static void match_probe(struct mt_qp *qp, struct sack *s)
{
	struct mt_probe probe;
	uint64_t service_ns;
	bool revived = false;

	if (!mt_probe_match(&qp->engine->probes, s->seth->probe_id, qp, qp->first_probe, &probe))
		return;
	mb_assert(probe.ev < qp->ev_set->n_evs);
	s->probe_matched = true;
	s->ev = probe.ev;
	s->sent_ns = probe.sent_ns;
	s->rtt_ns = s->now_ns - s->sent_ns;
	if (match_service_time(qp, s, s->sent_ns, &service_ns))
		s->rtt_ns -= service_ns;
	note_answered(qp, s);
	/* Where only responses are waited for, more answers tell no more. REQ(req.probe.tail) */
	if (!mt_tx_is_empty(&qp->req.window))
		mt_rto_probe_answered(&qp->req.rto, s->now_ns);
	if (s->rtt_ns > mt_qp_longest_rtt_ns(qp))
		mt_ev_probe_late(qp->ev_set, s->ev, s->now_ns);
	else
		revived = mt_ev_probe_answered(qp->ev_set, s->ev, s->sent_ns, s->now_ns);
	if (revived)
		mt_qp_ev_group_revived(qp, s->ev, s->now_ns, MT_EV_BY_PROBE);
	if (revived && s->seth->m == MW_MARK_SKIP_ONCE) /* REQ(req.ev.revive-marked) */
		mt_spray_skip_once(&qp->req.spray, qp->ev_set, s->ev);
	mt_ev_sets_arm_probes(qp->engine, qp->ev_set);
}

/*
 * A first transmission that was found lost, and may have been sent again since, is the trigger: it
 * was late, and how late is an RTT sample like any. REQ(req.loss.late)
 */
static bool match_late(struct mt_qp *qp, struct sack *s)
{
	struct mt_lost *lost =
		mt_lost_log_find(&qp->engine->lost_log, mt_qp_lost_key(qp), s->trigger);
	uint64_t service_ns;

	/* It may be of a former life of the QP, to another destination. */
	if (!lost || lost->ev >= qp->ev_set->n_evs ||
	    !match_service_time(qp, s, lost->sent_ns, &service_ns))
		return false;
	s->ev = lost->ev;
	s->sent_ns = lost->sent_ns;
	s->rtt_ns = s->now_ns - lost->sent_ns - service_ns;
	s->first = s->late = true;
	mt_lost_log_remove(lost);
	return true;
}

/*
 * The record of the trigger, if it still describes the transmission that caused this SACK: the
 * reflected stamp must be that of the last time it was sent. A later one, by service time, could
 * be of any transmission, and is believed where there was no other, or one that had no rtx.
 * REQ(cc.rtt.validity) REQ(req.stamp.unique)
 */
static bool match_record(struct mt_qp *qp, struct sack *s, bool rtx)
{
	const struct mt_tx_rec *rec = mt_tx_rec(&qp->req.window, s->trigger);
	uint64_t service_ns;

	if (!rtx && (rec->tries > 0 || rec->state == MT_TX_LOST) && match_late(qp, s))
		return true;
	if (!match_service_time(qp, s, rec->sent_ns, &service_ns) ||
	    (service_ns > 0 && rec->tries > rtx))
		return false;
	s->ev = rec->ev;
	s->sent_ns = rec->sent_ns;
	s->first = rec->tries == 0;
	if (rec->tries == rtx && s->now_ns > rec->sent_ns)
		s->rtt_ns = s->now_ns - rec->sent_ns - service_ns;
	return true;
}

/* What caused this SACK, and what follows for the EV that brought it. */
static void match_trigger(struct mt_qp *qp, struct sack *s, bool rtx)
{
	if (!mt_tx_has_rec(&qp->req.window, s->trigger) || !match_record(qp, s, rtx))
		return;
	note_answered(qp, s);
	mt_reverse_ev_postpone(qp->ev_set, &qp->engine->cfg.timing, s->now_ns);
	if (!mt_ev_is_usable(qp->ev_set, s->ev) &&
	    mt_ev_pass_trial(qp->ev_set, s->ev, s->sent_ns, s->now_ns))
		mt_qp_ev_group_revived(qp, s->ev, s->now_ns, MT_EV_BY_PROBE);
}

/*
 * What the mark says of the path that the trigger took: for this QP, whose peer says so. That an EV
 * is bad for all is believed only of a peer that is alone behind its address: among several
 * processes none may take paths away from the others, so that ALWAYS_SKIP skips the EV once each
 * time. REQ(req.ev.state-machine) REQ(req.ev.skip-on-ecn) REQ(req.ev.always-skip)
 */
static void apply_ev_mark(struct mt_qp *qp, const struct sack *s)
{
	uint16_t ev = s->ev;

	if (s->seth->m == MW_MARK_NONE || s->seth->pr)
		return;
	if (ev == MT_EV_NONE || mt_ev_value(qp->ev_set, ev) != s->seth->entropy)
		return;
	if (s->seth->m > MW_MARK_ALWAYS_SKIP || qp->ev_set->shared->ignores & MT_EV_IGNORES_MARKS)
		return; /* the value 3 says nothing. REQ(wire.seth.m) */
	if (s->seth->m == MW_MARK_ALWAYS_SKIP && mt_ev_set_has_one_peer(qp->ev_set))
		mt_qp_retire_ev_group(qp, ev, s->now_ns, MT_EV_BY_MARK);
	else
		mt_spray_skip_once(&qp->req.spray, qp->ev_set, ev);
}

static uint64_t reorder_window(const struct mt_qp *qp)
{
	return mt_reorder_window(&qp->ev_set->reorder, &qp->engine->cfg.timing);
}

/* It takes a round trip until we send what it has room for, and the queues on the way may be
 * full. */
static void note_peer_overload(struct mt_qp *qp, uint64_t now_ns)
{
	uint64_t silence_ns = mt_rtt_silence(&qp->req.rtt, reorder_window(qp));

	mt_liveness_set_overload(&qp->peer->liveness, now_ns + silence_ns);
}

/*
 * What the RTT of the trigger says of how far EVs are apart. One that is left behind is not waited
 * for, and the others are not judged by it.
 */
static void learn_rtt(struct mt_qp *qp, struct sack *s)
{
	struct mt_rtt *rtt = &qp->req.rtt;

	if (mt_qp_ev_is_left_behind(qp, s->ev, s->rtt_ns)) {
		s->rtt_ns = 0;
		return;
	}
	mt_slowest_sample(&qp->peer->slowest, s->now_ns, s->now_ns - s->sent_ns);
	if (rtt->smoothed_ns)
		s->rtt_ns = mt_liveness_clamp_rtt(&qp->peer->liveness, s->sent_ns, s->rtt_ns);
	mt_rtt_sample(rtt, s->rtt_ns);
	mt_reorder_sample(&qp->ev_set->reorder, s->ev, s->rtt_ns);
	mt_qp_compare_ports(qp, mt_ev_port(qp->ev_set, s->ev), s->rtt_ns);
}

/* What the report says of the peer itself. REQ(req.ev.endpoint) */
static void update_peer_liveness(struct mt_qp *qp, struct sack *s)
{
	struct mt_liveness *p = &qp->peer->liveness;

	if (s->ev != MT_EV_NONE) {
		if (!mt_qp_ev_is_left_behind(qp, s->ev, s->rtt_ns))
			mt_liveness_note_sack(p, s->now_ns, mt_ev_port(qp->ev_set, s->ev),
					      s->sent_ns);
		if (mt_liveness_was_overloaded(p, s->sent_ns))
			mt_ev_forget_overload(qp->ev_set, s->ev);
	}
	if (s->newest && s->seth->rcv_cwnd_pen)
		note_peer_overload(qp, s->now_ns);
	if (s->rtt_ns == 0)
		return;
	if (s->late) {
		qp->engine->stats.losses_spurious++;
		mt_qp_ev_late(qp, s->ev, s->now_ns, s->rtt_ns <= mt_qp_longest_rtt_ns(qp));
	}
	learn_rtt(qp, s);
	p->silence_limit_ns = mt_rtt_silence(&qp->req.rtt, reorder_window(qp));
}

/*
 * Without the time at which the trigger was sent nothing is older than it, and no loss follows.
 * REQ(req.loss.outside-bitmap)
 */
static void report_losses(struct mt_qp *qp, const struct sack *s)
{
	struct mt_loss_report report = {
		.expected = s->expected,
		.base = s->base,
		.complete = mb_popcount64(s->seth->sack_bitmap) == s->seth->ooo_count,
		.trigger_first = s->first,
		.trigger_ev = s->ev,
		.trigger_sent_ns = s->sent_ns,
	};

	mb_assert(s->ev != MT_EV_NONE);
	mt_completer_find_losses(qp, &report, s->now_ns);
}

/*
 * SACKs take different paths, so that one may be overtaken. What it says arrived did; what the
 * responder asks for was said before what is known already. The PSNs that a responder has received
 * only become more. They order SACKs without any count of bytes. REQ(req.sack.overtaken)
 */
static void note_order(struct mt_qp *qp, struct sack *s)
{
	uint64_t received = s->expected + s->seth->ooo_count;

	if (received > qp->req.window.next)
		received = qp->req.window.next;
	s->newest = (int32_t)((uint32_t)received - qp->req.sack_order) >= 0;
	if (!s->newest)
		return;
	qp->req.sack_order = (uint32_t)received;
	qp->req.penalty = s->seth->rcv_cwnd_pen;
}

/* Congestion control gets what the SACK says in one struct, and what ACKs have said before it. */
static void update_cc(struct mt_qp *qp, const struct sack *s)
{
	struct mt_requester *req = &qp->req;
	struct mt_cc_ack ack = {
		.now_ns = s->now_ns,
		.newly_bytes = req->newly_bytes,
		.rtt_ns = s->rtt_ns,
		.marked = s->seth->m == MW_MARK_SKIP_ONCE,
		.penalty = req->penalty,
		.restore = s->newest && s->seth->restore_cwnd,
	};

	if (req->pace.gap_ns > 0 && ack.newly_bytes > 0)
		mt_completer_shorten_gap(qp, s->rtt_ns);
	req->newly_bytes = 0;
	req->cc.ops->ack(&req->cc, &ack);
}

/*
 * The window follows what the responder offers now, but never grows beyond what was agreed, and
 * what an overtaken SACK offers is old. A peer without dynamic MPR leaves the byte 0: for one that
 * never offered anything, what was agreed applies. REQ(req.mpr.dynamic)
 */
static void update_mpr(struct mt_qp *qp, const struct sack *s)
{
	struct mt_requester *req = &qp->req;
	uint8_t offer = s->seth->mpr;

	if (!mt_qp_uses_dynamic_mpr(qp) || !s->newest)
		return;
	if (offer == 0 && (req->mpr_offered || qp->response_bit))
		return;
	req->mpr_offered = offer != 0;
	req->mpr = offer != 0 && offer < qp->attr.mpr ? offer : qp->attr.mpr;
	mb_assert(req->mpr > 0 && req->mpr <= qp->attr.mpr);
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

	if (!sack_is_plausible(qp, rx->pkt, &s))
		return;
	mb_assert(qp->ev_set);
	if (s.seth->pr)
		match_probe(qp, &s);
	else
		match_trigger(qp, &s, rx->pkt->bth.rtx);
	if (s.sent_ns != 0)
		qp->req.peer_fills_ids |= ids_match(qp, s.seth->spdcid, s.seth->dpdcid);
	mt_completer_received_below(qp, s.expected, s.now_ns, &s.progress);
	mark_sack_map(qp, &s);
	if (s.progress)
		mt_completer_complete(qp, qp->req.window.una, &s.progress);
	note_order(qp, &s);
	update_peer_liveness(qp, &s);
	apply_ev_mark(qp, &s);
	if (s.sent_ns != 0)
		report_losses(qp, &s);
	update_cc(qp, &s);
	update_mpr(qp, &s);
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
	return rec->state == MT_TX_OUTSTANDING && mt_ev_value(qp->ev_set, rec->ev) == entropy;
}

/*
 * A packet that is trimmed goes again at once: another path may be free. At the last hop there is
 * no other, and in the fabric it has tried enough of them after a while: then, as when the
 * responder has no room, it waits; else sender and NACKs would feed each other for as long as it
 * lasts. Queues are soon empty; for want of memory it waits longer each time, and behind a queue at
 * the last hop that no congestion control makes shorter. REQ(req.loss.nack) REQ(req.loss.nack-wait)
 */
#define TRIMS_AT_ONCE 3u
/* A gap follows from the receiver's link: it is too short behind a slower one. REQ(cc.pace.gap) */
#define TRIMS_PACED 16u

static bool resends_at_once(const struct mt_tx_rec *rec, uint8_t reason, bool paced)
{
	if (paced)
		return rec->tries < TRIMS_PACED;
	if (reason == MW_NACK_TRIMMED)
		return rec->tries < TRIMS_AT_ONCE;
	return reason == MW_NACK_TRIMMED_LASTHOP && rec->tries == 0;
}

static enum mt_tx_state backoff_state(const struct mt_cc *cc, uint8_t reason)
{
	if (reason == MW_NACK_TRIMMED)
		return MT_TX_BACKOFF_PATH;
	if (reason == MW_NACK_TRIMMED_LASTHOP && cc->ops->shrinks)
		return MT_TX_BACKOFF_SHORT;
	return MT_TX_BACKOFF;
}

/* A NACKed packet has left the network, whether it is sent again at once or after the back-off. */
static void retract_packet(struct mt_qp *qp, uint64_t psn, uint64_t now_ns, uint8_t reason,
			   bool paced)
{
	bool trimmed = reason == MW_NACK_TRIMMED || reason == MW_NACK_TRIMMED_LASTHOP;
	enum mt_cc_loss_kind kind = trimmed ? MT_CC_TRIMMED : MT_CC_NACKED;
	struct mt_requester *req = &qp->req;
	const struct mt_tx_rec *rec = mt_tx_rec(&req->window, psn);

	if (resends_at_once(rec, reason, paced)) {
		mt_completer_mark_lost(qp, psn, now_ns, kind);
		return;
	}
	mt_tx_window_nack_backoff(&req->window, psn, mt_qp_nack_backoff_ns(qp),
				  backoff_state(&req->cc, reason));
	mt_qp_count_left(qp, rec);
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
	mt_qp_count_left(qp, rec);
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
 * REQ(req.error.fatal-nack) REQ(req.ev.trim-skips)
 */
void mt_completer_nack(struct mt_qp *qp, const struct mt_rx *rx)
{
	const struct mw_neth *neth = &rx->pkt->neth;
	uint64_t psn = mb_psn_extend(qp->req.window.una, neth->nack_psn);

	if (!mt_qp_may_send(qp) || psn >= qp->req.window.next) {
		qp->engine->stats.drop_bogus_ack++;
		return;
	}
	if (!ids_plausible(qp, neth->spdcid, neth->dpdcid))
		return;
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
		if (!(qp->ev_set->shared->ignores & MT_EV_IGNORES_TRIMS))
			mt_spray_skip_once(&qp->req.spray, qp->ev_set,
					   mt_tx_rec(&qp->req.window, psn)->ev);
	} else if (neth->reason == MW_NACK_TRIMMED_LASTHOP) {
		mt_spray_leave_order(&qp->req.spray);
	} else if (neth->reason != MW_NACK_PSN_OOR_WINDOW) {
		note_peer_overload(qp, rx->now_ns);
	}
	retract_packet(qp, psn, rx->now_ns, neth->reason,
		       mt_completer_set_gap(qp, neth, rx->now_ns));
	mt_completer_update(qp, rx->now_ns, false);
}
