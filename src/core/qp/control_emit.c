/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * control_emit.c - makes control packets at the moment when they leave.
 *
 * SACKs and ACKs carry the state of that moment. They return on the plane from which their cause
 * has just come, over an EV of our own that is good as far as we know. While none of the plane is
 * proved, that is the EV of the cause, where we have it too: what is left of a network mostly works
 * in both directions. Where an earlier answer seems not to have arrived, half take any EV of any
 * plane, bad ones included: the plane on which the peer's packets come may be dead on the return
 * path, and two ends that each rely on EVs which have just died would otherwise never hear of each
 * other again. A quarter goes back by the EV of the cause: to find one path of n there and another
 * back by chance takes n times as long.
 * What was proved before the peer stopped hearing us counts no more, see mt_spray_doubt.
 * REQ(req.reverse.per-plane) REQ(req.reverse.unproved) REQ(req.reverse.unheard)
 */
#include "base/assert.h"
#include "base/serial.h"
#include "core/endpoint/endpoint.h"
#include "core/qp/halves.h"

#define CC_TYPE_NACK 2u

/* A control packet has no payload, and switches do not trim it. */
static void set_destination(const struct mt_qp *qp, uint16_t ev, struct mt_tx_desc *d)
{
	mb_assert(ev < qp->ev_set->n_evs);
	d->dst = qp->attr.dest;
	d->sge = NULL;
	d->n_sge = 0;
	d->offset = 0;
	d->ev = mt_ev_value(qp->ev_set, ev);
	d->port = mt_ev_port(qp->ev_set, ev);
	d->tclass = (uint8_t)mw_dscp_class_of_opcode(d->pkt.bth.opcode, false, false);
	d->qp_user = qp->user;
}

/* The BTH of a packet without payload, whose header follows. REQ(wire.bth.control-use) */
static void init_packet(const struct mt_qp *qp, enum mw_opcode op, uint32_t psn,
			struct mt_tx_desc *d)
{
	mb_assert_slow(qp->attr.dest_qpn != 0 && !(op & qp->response_bit));
	d->pkt.payload_len = 0;
	d->pkt.bth = (struct mw_bth){
		.opcode = (uint8_t)(op | qp->response_bit),
		.p_key = qp->attr.p_key,
		.dqp = qp->attr.dest_qpn,
		.psn = psn,
	};
}

/* Our own EV of the port with this value. */
static uint16_t find_ev(const struct mt_ev_set *s, uint8_t port, uint32_t ev)
{
	const struct mt_ev_port *pp = &s->shared->ports[port % s->n_ports];

	mb_assert_slow(pp->first + pp->count <= s->n_evs);
	for (uint16_t k = 0; k < pp->count; k++)
		if (mt_ev_value(s, s->order[pp->first + k]) == ev)
			return s->order[pp->first + k];
	return MT_EV_NONE;
}

/* An EV for an answer, or none in particular: see the head of this file for the shares. */
static uint16_t try_reply_ev(struct mt_qp *qp, uint8_t port, uint32_t ev, bool answer_lost)
{
	struct mb_prng *prng = &qp->req.spray.prng;
	const struct mt_ev_set *s = qp->ev_set;

	if (answer_lost)
		switch (mb_prng_below(prng, 4)) {
		case 0:
		case 1:
			return (uint16_t)mb_prng_below(prng, s->n_evs);
		case 2:
			return find_ev(s, port, ev);
		default:
			break;
		}
	return mt_spray_reverse_ev(&qp->req.spray, s, port % s->n_ports) == MT_EV_NONE
		       ? find_ev(s, port, ev)
		       : MT_EV_NONE;
}

static uint16_t pick_reply_ev(struct mt_qp *qp, uint8_t port, uint32_t ev, bool answer_lost)
{
	const struct mt_ev_set *s = qp->ev_set;
	uint16_t index = try_reply_ev(qp, port, ev, answer_lost);

	if (index != MT_EV_NONE && mt_ev_state_of(s, index) != MT_EV_DENIED &&
	    mt_ev_is_open(s, index))
		return index;
	return mt_spray_pick_control(&qp->req.spray, s, port);
}

/*
 * A lost SACK is made good by the next, a lost NACK by nothing: its packet is taken for one that
 * vanished, and its EV for a dead one. So a NACK goes back by the EV of its cause, where we have
 * it: the packet came by it a moment ago, and most faults are of both directions. The one EV of the
 * plane that was proved may have died since; a receiver learns that late. What is sent again comes
 * by another EV each time, and so does its NACK: it needs no choice by chance, which would send one
 * of n into a dead path. REQ(req.reverse.nack)
 */
static uint16_t pick_nack_ev(struct mt_qp *qp, const struct mt_trigger *cause)
{
	const struct mt_ev_set *s = qp->ev_set;
	uint16_t index = find_ev(s, cause->port, cause->ev);

	if (index != MT_EV_NONE && mt_ev_is_usable(s, index) && mt_ev_is_open(s, index))
		return index;
	return pick_reply_ev(qp, cause->port, cause->ev, cause->answer_lost);
}

/* A QP without dynamic MPR keeps the window that was configured, so that both ends agree on it. */
static uint8_t offered_mpr(const struct mt_qp *qp, uint64_t now_ns)
{
	const struct mt_engine *e = qp->engine;

	if (!mt_qp_uses_dynamic_mpr(qp))
		return qp->attr.mpr_dest;
	return mt_backpressure_mpr(&e->backpressure, now_ns, e->cfg.timing.backpressure_ns,
				   qp->attr.mpr_dest, e->receivers);
}

/*
 * A SACK carries the state of this moment, not that of its trigger: what came in between needs no
 * SACK of its own. REQ(wire.seth.context-ids)
 */
static void emit_sack(struct mt_qp *qp, const struct mt_trigger *t, uint64_t now_ns,
		      struct mt_tx_desc *d)
{
	const struct mt_engine *e = qp->engine;
	struct mt_responder *rsp = &qp->rsp;

	mb_assert(rsp->window.expected >= rsp->window.first);
	init_packet(qp, MW_SACK, mb_psn_wire(rsp->window.expected - 1), d);
	d->pkt.bth.rtx = t->rtx; /* REQ(wire.bth.sack-rtx) */
	mt_sack_build(&rsp->window, t, rsp->rcvd_bytes, offered_mpr(qp, now_ns), &d->pkt.seth);
	d->pkt.seth.rcv_cwnd_pen = mt_backpressure_penalty(&e->backpressure, now_ns);
	d->pkt.seth.restore_cwnd =
		mt_backpressure_restore(&e->backpressure, now_ns, e->cfg.timing.backpressure_ns);
	d->pkt.seth.tx_timestamp = mt_reflect_timestamp(e, now_ns, t);
	d->pkt.seth.ext = t->probe && qp->ext ? mt_negotiation_offer(&qp->ext->negotiation) : 0;
	d->pkt.seth.spdcid = (uint16_t)qp->qpn;
	d->pkt.seth.dpdcid = (uint16_t)qp->attr.dest_qpn;
	set_destination(qp, pick_reply_ev(qp, t->port, t->ev, t->answer_lost), d);
	qp->engine->stats.tx_sacks++;
}

/*
 * Of packets that the last hop trims the NACK says how far apart those of each sender are to be. A
 * sender that is alone is a matter of its window. REQ(rsp.senders) REQ(ext.rnr.timer)
 */
static uint8_t vendor_info(const struct mt_qp *qp, uint8_t reason)
{
	uint32_t senders = mt_senders_count(&qp->engine->senders);
	uint64_t packet_ns = mt_qp_packet_ns(qp);

	if (reason == MW_NACK_RNR)
		return qp->attr.min_rnr_timer;
	if (reason != MW_NACK_TRIMMED_LASTHOP || senders < 2 || packet_ns == 0)
		return 0;
	return mt_pace_encode(senders * packet_ns);
}

/*
 * A NACK names one PSN and the EV on which it came, so that the sender can tell which transmission
 * it concerns.
 */
static void emit_nack(struct mt_qp *qp, const struct mt_control *c, struct mt_tx_desc *d)
{
	init_packet(qp, MW_NACK, mb_psn_wire(c->cause.psn), d);
	d->pkt.neth = (struct mw_neth){
		.reason = c->reason,
		.entropy = c->cause.ev,
		.spdcid = (uint16_t)qp->qpn,
		.dpdcid = (uint16_t)qp->attr.dest_qpn,
		.vendor_info = vendor_info(qp, c->reason),
		.nack_psn = mb_psn_wire(c->cause.psn),
		.cc_type = CC_TYPE_NACK,
		.tx_timestamp = c->cause.tx_timestamp,
	};
	set_destination(qp, pick_nack_ev(qp, &c->cause), d);
	qp->engine->stats.tx_nacks++;
}

/*
 * A probe is not part of the PSN space: it can be sent when the window is closed and is never sent
 * again. REQ(req.probe.reliability) REQ(req.probe.no-psn) REQ(ext.agreement)
 */
static bool emit_probe(struct mt_qp *qp, const struct mt_control *c, uint64_t now_ns,
		       struct mt_tx_desc *d)
{
	struct mt_probe probe = {
		.qp = qp, .sent_ns = now_ns, .ev = c->index, .purpose = c->purpose};
	uint16_t id;

	if (!mt_probe_add(&qp->engine->probes, &probe, &id)) {
		qp->engine->stats.probes_refused++;
		return false;
	}
	init_packet(qp, MW_PROBE, 0, d);
	d->pkt.peth = (struct mw_peth){
		.probe_id = id,
		.ext = qp->ext ? mt_negotiation_offer(&qp->ext->negotiation) : 0,
		.spdcid = (uint16_t)qp->qpn,
		.dpdcid = (uint16_t)qp->attr.dest_qpn,
		.ts =
			{
				.tx_timestamp = mt_timestamp(qp->engine, now_ns),
				.ftype = MW_FTYPE_TIMESTAMP,
			},
	};
	set_destination(qp, c->index, d);
	mt_ev_probe_sent(qp->ev_set, c->index);
	qp->engine->stats.tx_probes++;
	return true;
}

/*
 * A probe on a port that went down meanwhile would be lost, and that loss would say nothing of the
 * EV.
 */
static bool can_probe(const struct mt_control *c)
{
	mb_assert(c->index < c->qp->ev_set->n_evs);
	return mt_qp_may_send(c->qp) &&
	       mt_local_port_is_up(&c->qp->engine->ports, mt_ev_port(c->qp->ev_set, c->index));
}

/*
 * Between queueing and sending the QP may have changed its state. In ERR only the NACK that reports
 * it is still sent.
 */
static bool control_is_valid(const struct mt_control *c)
{
	mb_assert(c->qp && c->qp->ev_set);
	if (c->kind == MT_CONTROL_PROBE)
		return can_probe(c);
	if (!mt_ev_set_is_reachable(c->qp->ev_set))
		return false;
	if (c->kind == MT_CONTROL_NACK && c->reason == MW_NACK_UNEXP_EVENT)
		return c->qp->state == RD_QPS_ERR;
	return mt_qp_may_receive(c->qp);
}

/*
 * Makes the packet of one entry. Entries of endpoints belong to no QP, and the
 * endpoint part makes them.
 */
bool mt_control_emit(struct mt_engine *e, uint64_t now_ns, const struct mt_control *c,
		     struct mt_tx_desc *desc)
{
	if (c->kind == MT_CONTROL_EP_RESPONSE) {
		mt_endpoint_emit_response(e, now_ns, c, desc);
		return true;
	}
	if (c->kind == MT_CONTROL_EP_REQUEST)
		return mt_endpoint_emit_request(e, now_ns, c, desc);
	if (!control_is_valid(c))
		return false;
	if (c->kind == MT_CONTROL_SACK)
		emit_sack(c->qp, &c->cause, now_ns, desc);
	else if (c->kind == MT_CONTROL_NACK)
		emit_nack(c->qp, c, desc);
	else
		return emit_probe(c->qp, c, now_ns, desc);
	return true;
}

/*
 * A NAK that is due is repeated in each ACK: the QP has failed, and the peer may not have received
 * the first one. REQ(wire.aeth.no-credit)
 */
static uint8_t ack_syndrome(const struct mt_responder *rsp)
{
	mb_assert(!rsp->nak_due || rsp->pending_nak.syndrome != 0);
	return rsp->nak_due ? rsp->pending_nak.syndrome : MW_ACK_NO_CREDIT;
}

/*
 * A transport ACK counts whole messages. It is separate from the SACK, so that a message of many
 * packets costs one ACK. REQ(rsp.ack.transport)
 */
static void emit_ack(struct mt_qp *qp, struct mt_tx_desc *d)
{
	struct mt_responder *rsp = &qp->rsp;

	init_packet(qp, MW_ACK, mb_psn_wire(rsp->window.expected - 1), d);
	d->pkt.aeth = (struct mw_aeth){.syndrome = ack_syndrome(rsp), .msn = mb_psn_wire(rsp->msn)};
	set_destination(qp, pick_reply_ev(qp, rsp->ack_port, rsp->ack_ev, rsp->ack_lost_hint), d);
	rsp->ack_due = rsp->ack_lost_hint = false;
	qp->engine->stats.tx_acks++;
}

/* Of a pending SACK and a pending ACK the SACK goes first: it opens the window of the sender. */
static bool emit_pending(struct mt_qp *qp, uint64_t now_ns, struct mt_tx_desc *desc)
{
	struct mt_responder *rsp = &qp->rsp;

	if (!qp->ev_set || !mt_ev_set_is_reachable(qp->ev_set))
		return false;
	if (rsp->sacker.due && mt_qp_may_receive(qp) &&
	    mt_sacker_is_due(&rsp->sacker, mt_responder_sack_bytes(qp))) {
		emit_sack(qp, &rsp->sacker.trigger, now_ns, desc);
		mt_sacker_sent(&rsp->sacker);
		return true;
	}
	if (rsp->ack_due && (mt_qp_may_receive(qp) || rsp->nak_due)) {
		emit_ack(qp, desc);
		return true;
	}
	return false;
}

bool mt_control_emit_next(struct mt_qp *qp, uint64_t now_ns, struct mt_tx_desc *desc)
{
	struct mt_engine *e = qp->engine;
	struct mt_control c;

	while (qp->named_control.count > 0 && mt_control_pop(&e->controls, &qp->named_control, &c))
		if (mt_control_emit(e, now_ns, &c, desc))
			return true;
	return emit_pending(qp, now_ns, desc);
}
