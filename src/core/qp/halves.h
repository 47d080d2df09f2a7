/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * halves.h - the halves of a QP, for this part and the engine: the requester turns WQEs into
 * packets, the responder takes the peer's packets, the completer takes what the peer says of ours.
 */
#ifndef SOFTMRC_CORE_QP_HALVES_H
#define SOFTMRC_CORE_QP_HALVES_H

#include "core/state/qp.h"

/* ---- the QP's own timer ---- */

/* mt_qp_negotiate asks a peer that has not answered yet which extensions it has. */
void mt_qp_negotiate(struct mt_qp *qp, uint64_t now_ns);
/* mt_qp_tick does what the QP's timer fired for. */
void mt_qp_tick(struct mt_qp *qp, uint64_t now_ns);

/* ---- requester, responder, completer ---- */

enum mt_next {
	MT_NEXT_SENT,	   /* *desc is filled in */
	MT_NEXT_BLOCKED,   /* nothing to send, or a window is closed */
	MT_NEXT_NO_ROOM,   /* no port with room has a usable EV */
	MT_NEXT_LOST_TURN, /* those with room lost their turns; one without has the next */
};

enum mt_next mt_requester_next(struct mt_qp *qp, uint64_t now_ns, uint32_t free_ports,
			       struct mt_tx_desc *desc);

void mt_responder_data(struct mt_qp *qp, const struct mt_rx *rx);
void mt_responder_probe(struct mt_qp *qp, const struct mt_rx *rx);
void mt_completer_sack(struct mt_qp *qp, const struct mt_rx *rx);
void mt_completer_nack(struct mt_qp *qp, const struct mt_rx *rx);
void mt_completer_ack(struct mt_qp *qp, const struct mt_rx *rx);
/*
 * mt_completer_response takes that answers to requests of the QP came, which prove that the peer
 * has all messages below `below`; see core/state/qp.h.
 */
void mt_completer_response(struct mt_qp *qp, uint64_t below, uint64_t now_ns);
/* mt_completer_implied_ack takes that the peer has all messages below msn, of which all was
 * sent. */
void mt_completer_implied_ack(struct mt_qp *qp, uint64_t msn, uint64_t now_ns);
/*
 * mt_responder_run_in_order does on a QP with extensions what waited for packets that are there
 * now; `msn`: messages complete in order.
 */
MT_COLD void mt_responder_run_in_order(const struct mt_incoming *c, uint64_t msn);

/* mt_responder_sack_bytes returns after how many bytes the peer gets a SACK now. */
uint32_t mt_responder_sack_bytes(const struct mt_qp *qp);
/*
 * mt_responder_probe_reverse_ev tests an EV of a QP to which a packet came, once reverse_ev_next_ns
 * has passed: a QP that only receives gets no SACKs, so that nothing else shows which EVs reach its
 * peer.
 */
void mt_responder_probe_reverse_ev(struct mt_qp *qp, uint64_t now_ns);
/*
 * mt_responder_doubt_reverse_evs notes that the peer asks, or sends again what we have: it has not
 * heard our answers, and the EVs that were proved may have died since. It has waited before it
 * asked, for a round trip or more: what was proved meanwhile is not what lost them.
 */
void mt_responder_doubt_reverse_evs(struct mt_qp *qp, uint64_t now_ns);

/* ---- what is in flight, in all and, while planes are unlike, on each port ---- */

/*
 * mt_qp_flight_judge has the QP count while planes are unlike, after an RTT sample of this port:
 * see core/ev/flight.h.
 */
void mt_qp_flight_judge(struct mt_qp *qp, uint32_t port);
/* mt_qp_compare_ports takes an RTT sample of a port. */
static inline void mt_qp_compare_ports(struct mt_qp *qp, uint32_t port, uint64_t rtt_ns)
{
	if (!qp->req.spray.ports)
		return; /* it has no records: the answer to a probe */
	if (mt_spray_sample_rtt(&qp->req.spray, qp->ev_set, port, rtt_ns) || qp->req.spray.counts)
		mt_qp_flight_judge(qp, port);
}
/* What the three functions below do of a QP that counts. */
void mt_qp_flight_sent(struct mt_qp *qp, uint16_t ev);
void mt_qp_flight_left(struct mt_qp *qp, const struct mt_tx_rec *rec);
void mt_qp_flight_arrived(struct mt_qp *qp, const struct mt_tx_rec *rec, uint64_t now_ns);

/* mt_qp_window_packets returns what may be in flight, in packets. */
static inline uint64_t mt_qp_window_packets(const struct mt_qp *qp)
{
	uint64_t cwnd = qp->req.cc.cwnd / (qp->attr.path_mtu + MT_NOMINAL_HEADER);
	uint64_t psns = (uint64_t)qp->req.mpr * MT_MPR_UNIT;

	mb_assert_slow(psns > 0 && qp->req.mpr <= qp->attr.mpr);
	return cwnd < psns ? cwnd : psns;
}

/* mt_qp_count_sent counts a packet of so many nominal bytes that leaves on an EV. */
static inline void mt_qp_count_sent(struct mt_qp *qp, uint16_t ev, uint32_t nominal)
{
	qp->req.cc.inflight += nominal;
	if (qp->req.spray.counts)
		mt_qp_flight_sent(qp, ev);
}

/* mt_qp_count_left counts one that is no more outstanding and did not arrive. */
static inline void mt_qp_count_left(struct mt_qp *qp, const struct mt_tx_rec *rec)
{
	qp->req.cc.inflight -= rec->nominal;
	if (qp->req.spray.counts)
		mt_qp_flight_left(qp, rec);
}

/* mt_qp_count_arrived counts one that did; now_ns: as mt_completer_received has it. */
static inline void mt_qp_count_arrived(struct mt_qp *qp, const struct mt_tx_rec *rec,
				       uint64_t now_ns)
{
	qp->req.cc.inflight -= rec->nominal;
	if (qp->req.spray.counts)
		mt_qp_flight_arrived(qp, rec, now_ns);
}

/* ---- what the parts of the completer share ---- */

/*
 * mt_completer_received marks a PSN of the window received; true in *progress: it was news. now_ns:
 * when a SACK said so, 0: it was none.
 */
void mt_completer_received(struct mt_qp *qp, uint64_t psn, uint64_t now_ns, bool *progress);
/* mt_completer_received_below does so with all below `expected`. */
void mt_completer_received_below(struct mt_qp *qp, uint64_t expected, uint64_t now_ns,
				 bool *progress);
/*
 * mt_completer_complete completes what is acknowledged, of the messages that end at or below
 * `received`, below which all packets are there; true in *progress: it was news.
 * REQ(req.complete.acked)
 */
void mt_completer_complete(struct mt_qp *qp, uint64_t received, bool *progress);
/* mt_completer_update follows whatever was learnt: timers, and sending goes on. */
void mt_completer_update(struct mt_qp *qp, uint64_t now_ns, bool progress);
/* mt_qp_lost_key names a QP in the engine's log of losses; one of answers has the same QPN. */
static inline uint32_t mt_qp_lost_key(const struct mt_qp *qp)
{
	return qp->qpn | (uint32_t)qp->response_bit << 24;
}
/* mt_completer_mark_lost takes an outstanding packet out of the network, and tells congestion
 * control. */
void mt_completer_mark_lost(struct mt_qp *qp, uint64_t psn, uint64_t now_ns,
			    enum mt_cc_loss_kind kind);
/* mt_completer_find_losses takes what a SACK says of holes, when its trigger is known. */
void mt_completer_find_losses(struct mt_qp *qp, const struct mt_loss_report *report,
			      uint64_t now_ns);
/*
 * mt_completer_set_gap takes what a NACK says of the gap between packets; true: it names one.
 * mt_completer_shorten_gap takes that one arrived in rtt_ns, 0: that is not certain.
 */
bool mt_completer_set_gap(struct mt_qp *qp, const struct mw_neth *neth, uint64_t now_ns);
void mt_completer_shorten_gap(struct mt_qp *qp, uint64_t rtt_ns);
/*
 * mt_qp_retire_ev_group marks an EV bad in its set, counts it and reports it by an event, with all
 * EVs that lead over it; mt_qp_ev_group_revived that one which the set has revived is well again.
 */
void mt_qp_ev_group_revived(struct mt_qp *qp, uint16_t ev, uint64_t now_ns, enum mt_ev_cause cause);
/*
 * mt_qp_ev_late notes that what was found lost on an EV has arrived after all. In time: the reorder
 * window has learnt it, and the EV is used again. Else the EV is left, or stays so.
 */
void mt_qp_ev_late(struct mt_qp *qp, uint16_t ev, uint64_t now_ns, bool in_time);
/* mt_qp_longest_rtt_ns returns the longest RTT for which the reorder window can wait. */
uint64_t mt_qp_longest_rtt_ns(const struct mt_qp *qp);
/*
 * mt_qp_ev_is_left_behind says whether an EV was left and is later than that: how late it is tells
 * nothing of the peer.
 */
bool mt_qp_ev_is_left_behind(const struct mt_qp *qp, uint16_t ev, uint64_t rtt_ns);
void mt_qp_retire_ev_group(struct mt_qp *qp, uint16_t ev, uint64_t now_ns, enum mt_ev_cause cause);

/* ---- control packets ---- */

/* mt_control_emit makes the packet of a queued control entry; false: its time has passed. */
bool mt_control_emit(struct mt_engine *e, uint64_t now_ns, const struct mt_control *c,
		     struct mt_tx_desc *desc);
/*
 * mt_control_emit_next makes the next control packet of a QP: what names a packet before the SACK
 * and the transport ACK that are pending; false when there is none.
 */
bool mt_control_emit_next(struct mt_qp *qp, uint64_t now_ns, struct mt_tx_desc *desc);

#endif
