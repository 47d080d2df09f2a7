/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * requester.c - turns WQEs into packets, one at a time, when the engine has room for one.
 *
 * Every packet passes two gates: its PSN must lie in the responder's window (MPR), and
 * congestion control must allow its bytes. A third holds back a WRITE_WITH_IMM that would exceed
 * the number in flight. Lost packets go first, oldest first, on another EV. An EV is chosen
 * last, among the ports with room.
 */
#include "base/assert.h"
#include "base/serial.h"
#include "core/ext/ext.h"
#include "core/qp/halves.h"

/* The payload of a packet: each is full but the last, which holds what remains. */
static uint32_t packet_bytes(const struct mt_qp *qp, const struct mt_wqe *wqe, uint32_t index)
{
	uint32_t left = wqe->length - index * qp->attr.path_mtu;

	mb_assert_slow(index < wqe->n_packets && left <= wqe->length);
	return left < qp->attr.path_mtu ? left : qp->attr.path_mtu;
}

_Static_assert(MW_WRITE_MIDDLE == MW_WRITE_FIRST + 1 && MW_SEND_MIDDLE == MW_SEND_FIRST + 1 &&
		       MW_READ_RESPONSE_MIDDLE == MW_READ_RESPONSE_FIRST + 1,
	       "opcodes of first and middle packets");

/*
 * The opcode follows from the place in the message, so that a retransmission carries the same one.
 * REQ(req.segment)
 */
static uint8_t opcode_of(const struct mt_wqe *wqe, uint32_t index)
{
	if (index + 1 == wqe->n_packets)
		return wqe->last_op;
	return (uint8_t)(wqe->first_op + (index > 0));
}

/*
 * A peer's buffers are shared by all QPs that send to it, and what they hold it can only say by
 * losing. So they are taken to hold what ours do: engines of one job are alike. With less than
 * SHARE_MIN packets in flight too few would follow a lost one to reveal its loss.
 */
#define SHARE_MIN 8u

/* REQ(req.gate.share) */
static bool share_is_open(const struct mt_qp *qp)
{
	uint64_t outstanding = qp->req.window.outstanding;
	uint32_t capacity = qp->engine->backpressure.capacity;

	return capacity == 0 || outstanding < SHARE_MIN ||
	       outstanding * qp->peer->liveness.waiting < capacity;
}

/* REQ(cc.pace.window) */
static bool cc_is_open(const struct mt_qp *qp, uint32_t nominal)
{
	const struct mt_requester *req = &qp->req;

	return mt_cc_may_send(&req->cc, nominal) ||
	       mt_pace_replaces(&req->pace, req->cc.cwnd, nominal, req->cc.nscc.base_rtt_ns);
}

/* Whether a peer that had no receive has yet to accept enough for this packet. */
static bool rnr_blocks(const struct mt_qp *qp, uint64_t psn)
{
	return qp->ext && mt_rnr_blocks(&qp->ext->rnr, qp->req.window.una, psn);
}

static bool answers_are_few(const struct mt_timing *t)
{
	return t->sack_in_order_bytes > t->sack_bytes;
}

/*
 * A quarter of the window went out since a packet asked, or as much as a peer like us takes in
 * before it sends a SACK by itself. REQ(req.ask.window)
 */
static bool asked_long_ago(const struct mt_qp *qp)
{
	const struct mt_timing *t = &qp->engine->cfg.timing;
	uint32_t packets = qp->req.unasked + 1u, bytes = packets * qp->attr.path_mtu;

	if (packets > UINT8_MAX)
		return true; /* no more are counted */
	if (bytes < t->sack_bytes)
		return false;
	return bytes >= t->sack_in_order_bytes || packets * UINT64_C(4) >= mt_qp_window_packets(qp);
}

/*
 * The end of a message asks where nothing follows that would. But the transport ACK of a message of
 * one packet before which all has arrived tells as much as a SACK, except how long it took: that is
 * asked for as often as return paths would be tested without. REQ(req.ask.end)
 */
static bool end_asks(const struct mt_qp *qp, const struct mt_wqe *wqe, uint64_t msn,
		     uint64_t now_ns)
{
	const struct mt_timing *t = &qp->engine->cfg.timing;
	const struct mt_requester *req = &qp->req;

	if (!answers_are_few(t) || qp->response_bit || req->acks_if_asked)
		return true;
	if (msn + 1 < req->sq.tail)
		return false;
	return wqe->n_packets > 1 || req->window.una < wqe->first_psn ||
	       req->rtt.smoothed_ns == 0 || qp->peer->liveness.state != MT_PEER_ALIVE ||
	       mt_reverse_ev_is_due_soon(qp->ev_set, t, now_ns);
}

/*
 * AckReq: the end of a message, a window that only a SACK opens again, or packets so far apart that
 * each has to tell. REQ(cc.nscc.ack-request)
 */
static bool wants_ack(const struct mt_qp *qp, const struct mt_wqe *wqe, uint32_t index,
		      uint64_t msn, uint64_t now_ns)
{
	const struct mt_requester *req = &qp->req;

	return (index + 1 == wqe->n_packets && end_asks(qp, wqe, msn, now_ns)) ||
	       (answers_are_few(&qp->engine->cfg.timing) && asked_long_ago(qp)) ||
	       rnr_blocks(qp, wqe->first_psn + index + 1) ||
	       req->window.next - req->window.una >= (uint64_t)req->mpr * MT_MPR_UNIT ||
	       !mt_cc_may_send(&req->cc, qp->attr.path_mtu + MT_NOMINAL_HEADER) ||
	       req->pace.gap_ns > 0 || !share_is_open(qp);
}

/*
 * Fills in the descriptor of one packet. All but EV, stamp and flags follow from the WQE and the
 * PSN, so that a retransmission equals the first transmission. REQ(req.rtx.same-packet)
 * REQ(wire.reth.address) REQ(wire.meth.msn) REQ(wire.meth.rqmsn) REQ(wire.reth.length)
 */
static void fill_descriptor(const struct mt_qp *qp, const struct mt_wqe *wqe, uint64_t msn,
			    uint64_t psn, bool rtx, uint16_t ev, uint64_t now_ns,
			    struct mt_tx_desc *d)
{
	uint32_t index = (uint32_t)(psn - wqe->first_psn);
	uint32_t offset = index * qp->attr.path_mtu;
	bool last = index + 1 == wqe->n_packets;

	mb_assert_slow(psn >= wqe->first_psn && psn < wqe->first_psn + wqe->n_packets);
	mb_assert_slow(ev < qp->ev_set->n_evs && mt_ev_port(qp->ev_set, ev) < qp->ev_set->n_ports);
	d->pkt.payload_len = packet_bytes(qp, wqe, index);
	d->pkt.bth = (struct mw_bth){
		.opcode = opcode_of(wqe, index),
		.se = last && wqe->flags & RD_SEND_SOLICITED,
		.pad = (uint8_t)(-d->pkt.payload_len & 3),
		.p_key = qp->attr.p_key,
		.dqp = qp->attr.dest_qpn,
		.a = rtx || wants_ack(qp, wqe, index, msn, now_ns),
		.rtx = rtx,
		.ts = true,
		.psn = mb_psn_wire(psn),
	};
	d->pkt.data = (struct mw_data_ext){
		.meth = {.rqmsn = wqe->rqmsn, .msn = (uint16_t)msn},
		.tseth = {.tx_timestamp = mt_timestamp(qp->engine, now_ns),
			  .ftype = MW_FTYPE_TIMESTAMP},
		.reth = {.va = wqe->remote_addr + offset, .rkey = wqe->rkey, .dmalen = wqe->length},
		.imm = wqe->imm,
	};
	d->dst = qp->attr.dest;
	d->sge = mt_sq_sges(&qp->req.sq, wqe);
	d->n_sge = wqe->n_sge;
	d->offset = offset;
	d->ev = mt_ev_value(qp->ev_set, ev);
	d->port = mt_ev_port(qp->ev_set, ev);
	/* REQ(rsp.nack.capability) */
	d->tclass = (uint8_t)mw_dscp_class_of_data(rtx, qp->attr.trim_nack_dest);
	d->qp_user = qp->user;
}

/* The rounds to come are as wide as the window is now. */
static void set_round_width(struct mt_qp *qp)
{
	if (qp->req.spray.round_began)
		mt_spray_set_width(&qp->req.spray, mt_qp_window_packets(qp), qp->ev_set->n_ports);
}

/* Counts what was skipped; what follows where no EV was picked. */
static enum mt_next count_skipped(struct mt_qp *qp, uint32_t skipped)
{
	qp->engine->stats.evs_skipped += skipped;
	return skipped > 0 ? MT_NEXT_LOST_TURN : MT_NEXT_NO_ROOM;
}

/* Of these ports those that may have more in flight. REQ(req.spray.flight) */
static uint32_t ports_not_full(const struct mt_qp *qp, uint32_t free_ports)
{
	return qp->req.spray.counts ? mt_spray_not_full(&qp->req.spray, qp->ev_set, free_ports)
				    : free_ports;
}

/* For what was sent before: an EV of another group than `avoid`; MT_EV_NONE: *unsent says why. */
static uint16_t pick_other_ev(struct mt_qp *qp, uint32_t free_ports, uint16_t avoid,
			      enum mt_next *unsent)
{
	uint32_t skipped = 0, tried, ports = ports_not_full(qp, free_ports);
	uint16_t ev;

	set_round_width(qp);
	do {
		tried = ports;
		ev = mt_spray_pick(&qp->req.spray, qp->ev_set, ports, avoid, &skipped);
		/* All that is in flight may be lost, too: what was lost does not wait for it. */
		ports = free_ports;
	} while (ev == MT_EV_NONE && tried != ports);
	*unsent = count_skipped(qp, skipped);
	return ev;
}

/*
 * The EV of what is sent again. After every second timeout it is one that waits for its trial, if
 * there is one: the usable EVs may be those that are dead. Where a probe was answered and nothing
 * else was, it is the EV by which the peer was reached last. REQ(req.ev.trial)
 * REQ(req.rtx.proved-ev)
 */
static uint16_t pick_resend_ev(struct mt_qp *qp, uint32_t free_ports, uint16_t avoid,
			       enum mt_next *unsent)
{
	const uint32_t timeouts = qp->req.rto.timeouts;
	uint16_t ev = MT_EV_NONE;

	if (timeouts > 0 && timeouts % 2 == 0)
		ev = mt_ev_take_trial(qp->ev_set, free_ports, UINT32_MAX);
	if (ev == MT_EV_NONE && qp->req.rto.answers > 0)
		ev = mt_reverse_ev_newest(qp->ev_set, free_ports, avoid);
	return ev != MT_EV_NONE ? ev : pick_other_ev(qp, free_ports, avoid, unsent);
}

/*
 * Picks the EV of a first transmission: the next of the rotation, or the same one again within a
 * run; MT_EV_NONE: *unsent says why.
 */
static uint16_t pick_new_ev(struct mt_qp *qp, uint32_t free_ports, enum mt_next *unsent)
{
	uint32_t skipped = 0;
	uint16_t ev;

	set_round_width(qp);
	ev = mt_spray_pick_run(&qp->req.spray, qp->ev_set, ports_not_full(qp, free_ports),
			       qp->engine->cfg.max_run, &skipped);
	*unsent = count_skipped(qp, skipped);
	return ev;
}

/* Counts the packet, and starts the timers when it is the first that is outstanding. */
static void count_sent(struct mt_qp *qp, const struct mt_tx_desc *d, uint64_t now_ns)
{
	struct mt_stats *st = &qp->engine->stats;

	st->tx_data_packets++;
	st->tx_data_bytes += d->pkt.payload_len;
	st->tx_retransmits += d->pkt.bth.rtx;
	qp->req.unasked = d->pkt.bth.a ? 0 : (uint8_t)(qp->req.unasked + 1);
	mt_pace_sent(&qp->req.pace, now_ns);
	if (mt_rto_start(&qp->req.rto, now_ns))
		mt_qp_arm(qp);
}

/* The MSN of the WQE in a slot: the one with these low bits at or behind the oldest unfinished. */
static uint64_t msn_of_slot(const struct mt_sq *sq, uint16_t slot)
{
	return sq->done + ((slot - (uint32_t)sq->done) & sq->mask);
}

/*
 * Stamps of 16 bits come round every 8.4 ms, and timeouts are multiples of that. A packet that
 * would carry the stamp of its last transmission is sent as if a unit of time later, so that a SACK
 * of the one is not taken for that of the other. REQ(req.stamp.unique)
 */
static uint64_t resend_time_ns(const struct mt_engine *e, const struct mt_tx_rec *rec,
			       uint64_t now_ns)
{
	bool same = mt_timestamp(e, now_ns) == mt_timestamp(e, rec->sent_ns);

	return now_ns + ((uint64_t)same << e->cfg.ts_shift);
}

/*
 * Sends a lost packet again. After a timeout it does so whatever congestion control says: what is
 * in flight after such a silence is lost as well.
 */
static enum mt_next send_lost(struct mt_qp *qp, uint64_t psn, uint64_t now_ns, uint32_t free_ports,
			      struct mt_tx_desc *d)
{
	struct mt_requester *req = &qp->req;
	struct mt_tx_rec *rec = mt_tx_rec(&req->window, psn);
	enum mt_next unsent;
	uint16_t ev;

	if (!req->timed_out && !(cc_is_open(qp, rec->nominal) && share_is_open(qp) &&
				 mt_pace_may_send(&req->pace, now_ns)))
		return MT_NEXT_BLOCKED;
	ev = pick_resend_ev(qp, free_ports, rec->ev, &unsent); /* REQ(req.rtx.other-ev) */
	if (ev == MT_EV_NONE)
		return unsent;
	mb_assert_slow(msn_of_slot(&req->sq, rec->slot) <= req->sq.next);
	req->timed_out = false;
	now_ns = resend_time_ns(qp->engine, rec, now_ns);
	mt_tx_window_resent(&req->window, psn, now_ns, ev);
	mt_qp_count_sent(qp, ev, rec->nominal);
	fill_descriptor(qp, &req->sq.wqes[rec->slot], msn_of_slot(&req->sq, rec->slot), psn, true,
			ev, now_ns, d); /* REQ(req.rtx.flag) */
	count_sent(qp, d, now_ns);
	return MT_NEXT_SENT;
}

/*
 * Where receivers can say that they are not ready, no limit of immediates is needed.
 * REQ(req.gate.wimm) REQ(req.sqd)
 */
static bool can_begin(struct mt_qp *qp, const struct mt_wqe *wqe)
{
	if (qp->state != RD_QPS_RTS)
		return false; /* SQD: what has begun is finished, nothing new begins */
	if (qp->ext && !mt_ext_may_begin(qp, wqe))
		return false;
	return !(wqe->flags & RD_SEND_IMM) || qp->req.wimm_inflight < qp->attr.max_wimm ||
	       mt_qp_has_ext(qp, MW_EXT_SEND);
}

/*
 * Whether the next new packet may be sent: its WQE may begin, its PSN lies in the window, and its
 * bytes fit. REQ(req.gate.mpr)
 */
static bool gates_are_open(struct mt_qp *qp, const struct mt_wqe *wqe, uint32_t nominal,
			   uint64_t now_ns)
{
	struct mt_requester *req = &qp->req;

	if (req->window.next == wqe->first_psn && !can_begin(qp, wqe))
		return false;
	return req->window.next - req->window.una < (uint64_t)req->mpr * MT_MPR_UNIT &&
	       !rnr_blocks(qp, req->window.next) && cc_is_open(qp, nominal) && share_is_open(qp) &&
	       mt_pace_may_send(&req->pace, now_ns);
}

/* Counts what may be in flight only a limited number of times: immediates, READs and atomics. */
static void count_begun(struct mt_qp *qp, const struct mt_wqe *wqe, uint64_t msn)
{
	mb_assert_slow(wqe == mt_sq_at(&qp->req.sq, msn) && msn < qp->req.sq.tail);
	if (wqe->flags & RD_SEND_IMM)
		qp->req.wimm_inflight++;
	else
		mt_rd_atomic_begin(qp, msn);
}

/*
 * An EV of which nothing was heard counts for as slow as the first SACK that names it is late, so
 * that every second packet asks for one. REQ(req.ask.window)
 */
static bool asks_for_ev(const struct mt_qp *qp, uint16_t ev)
{
	return answers_are_few(&qp->engine->cfg.timing) && qp->req.unasked > 0 &&
	       qp->ev_set->n_unheard > 0 && !mt_ev_was_heard(qp->ev_set, ev);
}

/*
 * Sends the next new packet of the WQE that is being sent. State changes only after an EV is found,
 * so that a call that does not return SENT has no effect on the window. REQ(req.gate.cwnd)
 */
static enum mt_next send_new(struct mt_qp *qp, uint64_t now_ns, uint32_t free_ports,
			     struct mt_tx_desc *d)
{
	struct mt_requester *req = &qp->req;
	uint64_t msn = req->sq.next, psn = req->window.next;
	struct mt_wqe *wqe = mt_sq_at(&req->sq, msn);
	enum mt_next unsent = MT_NEXT_NO_ROOM;
	uint32_t nominal;
	uint16_t ev;
	bool trial;

	if (msn == req->sq.tail) {
		if (mt_local_wr_pending(qp))
			mt_local_wr_execute(qp);
		return MT_NEXT_BLOCKED;
	}
	mb_assert_slow(psn >= wqe->first_psn && psn - wqe->first_psn < wqe->n_packets);
	nominal = packet_bytes(qp, wqe, (uint32_t)(psn - wqe->first_psn)) + MT_NOMINAL_HEADER;
	if (!gates_are_open(qp, wqe, nominal, now_ns))
		return MT_NEXT_BLOCKED;
	ev = mt_ev_take_trial(qp->ev_set, free_ports, nominal);
	trial = ev != MT_EV_NONE;
	if (!trial)
		ev = pick_new_ev(qp, free_ports, &unsent);
	if (ev == MT_EV_NONE)
		return unsent;
	if (psn == wqe->first_psn && wqe->flags & (RD_SEND_IMM | MT_WQE_AWAITS_RESPONSE))
		count_begun(qp, wqe, msn);
	mt_tx_window_sent(&req->window, now_ns, (uint16_t)(msn & req->sq.mask), ev,
			  (uint16_t)nominal);
	mt_qp_count_sent(qp, ev, nominal);
	fill_descriptor(qp, wqe, msn, psn, false, ev, now_ns, d);
	/* Only the SACK that it causes tells, or how slow the EV is. */
	d->pkt.bth.a |= trial || asks_for_ev(qp, ev);
	if (psn + 1 == wqe->first_psn + wqe->n_packets)
		req->sq.next++;
	mb_assert_slow(req->sq.next <= req->sq.tail && req->window.next <= req->post_psn);
	count_sent(qp, d, now_ns);
	return MT_NEXT_SENT;
}

/*
 * Every packet of the oldest unfinished WQE has arrived, but its transport ACK has not: the last
 * packet once more makes the responder repeat it. REQ(req.complete.acked)
 */
static enum mt_next send_repeat(struct mt_qp *qp, uint64_t now_ns, uint32_t free_ports,
				struct mt_tx_desc *d)
{
	struct mt_requester *req = &qp->req;
	const struct mt_wqe *wqe = mt_sq_at(&req->sq, req->sq.done);
	enum mt_next unsent;
	uint16_t ev;

	if (req->sq.done == req->sq.next) {
		req->repeat_last = false;
		return MT_NEXT_BLOCKED;
	}
	ev = pick_resend_ev(qp, free_ports, MT_EV_NONE, &unsent);
	if (ev == MT_EV_NONE)
		return unsent;
	req->repeat_last = false;
	fill_descriptor(qp, wqe, req->sq.done, wqe->first_psn + wqe->n_packets - 1, true, ev,
			now_ns, d);
	count_sent(qp, d, now_ns);
	return MT_NEXT_SENT;
}

/*
 * Retransmissions go before new packets: the receiver can complete no message behind a hole.
 * REQ(req.rtx.selective)
 */
enum mt_next mt_requester_next(struct mt_qp *qp, uint64_t now_ns, uint32_t free_ports,
			       struct mt_tx_desc *desc)
{
	uint64_t psn;

	if (!mt_qp_may_send(qp))
		return MT_NEXT_BLOCKED;
	mb_assert_slow(qp->ev_set && qp->req.window.una <= qp->req.window.next);
	if (mt_tx_window_oldest_lost(&qp->req.window, &psn)) {
		if (rnr_blocks(qp, psn))
			return MT_NEXT_BLOCKED;
		return send_lost(qp, psn, now_ns, free_ports, desc);
	}
	if (qp->ext && qp->ext->rnr.waits)
		return MT_NEXT_BLOCKED;
	if (qp->req.repeat_last) {
		enum mt_next r = send_repeat(qp, now_ns, free_ports, desc);

		if (r != MT_NEXT_BLOCKED)
			return r;
	}
	return send_new(qp, now_ns, free_ports, desc);
}
