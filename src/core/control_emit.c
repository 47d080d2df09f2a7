/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * control_emit.c - makes control packets at the moment when they leave.
 *
 * SACKs and ACKs carry the state of that moment. They return on the plane from which their cause
 * has just come, over an EV of our own that is good as far as we know. Where an earlier answer
 * seems not to have arrived, half take any EV of any plane, bad ones included: the plane on which
 * the peer's packets come may be dead on the way back, and two ends that each rely on EVs which
 * have just died would otherwise never hear of each other again. A quarter goes back by the EV of
 * the cause, where we have it too: what is left of a network mostly works both ways, and to find
 * one way of n there and another back by chance takes n times as long. REQ(req.reverse.per-plane)
 * REQ(req.reverse.unheard)
 */
#include "base/serial.h"
#include "core/engine_state.h"
#include "core/qp.h"

#define CC_TYPE_NACK 2u

static void address(const struct mt_qp *qp, uint16_t path, struct mt_tx_desc *d)
{
	d->dst = qp->attr.dest;
	d->sge = NULL;
	d->n_sge = 0;
	d->offset = 0;
	d->ev = qp->paths->paths[path].value;
	d->port = qp->paths->paths[path].port;
	d->tclass = MT_CLASS_CONTROL;
	d->qp_user = qp->user;
}

/* An empty packet with its BTH. REQ(wire.bth.control-use) */
static void begin(const struct mt_qp *qp, enum mw_opcode op, uint32_t psn, struct mt_tx_desc *d)
{
	d->pkt = (struct mw_packet){0};
	d->pkt.bth = (struct mw_bth){
		.opcode = (uint8_t)(op | qp->twin),
		.p_key = qp->attr.p_key,
		.dqp = qp->attr.dest_qpn,
		.psn = psn,
	};
}

/* Our own path of the port with this entropy value. */
static uint16_t path_with(const struct mt_path_set *s, uint8_t port, uint32_t ev)
{
	const struct mt_path_port *pp = &s->ports[port % s->n_ports];

	for (uint16_t k = 0; k < pp->count; k++)
		if (s->paths[s->order[pp->first + k]].value == ev)
			return s->order[pp->first + k];
	return MT_PATH_NONE;
}

static uint16_t reply_path(struct mt_qp *qp, uint8_t port, uint32_t ev, bool unheard)
{
	struct mb_prng *prng = &qp->req.spray.prng;
	const struct mt_path_set *s = qp->paths;
	uint16_t path = MT_PATH_NONE;
	uint32_t chance = unheard ? mb_prng_below(prng, 4) : 3;

	if (chance < 2)
		path = (uint16_t)mb_prng_below(prng, s->n_paths);
	else if (chance == 2)
		path = path_with(s, port, ev);
	if (path != MT_PATH_NONE && s->paths[path].state != MT_EV_DENIED && mt_path_open(s, path))
		return path;
	return mt_spray_control(&qp->req.spray, s, port);
}

/*
 * A lost SACK is made good by the next, a lost NACK by nothing: its packet is taken for one that
 * vanished, and its EV for a dead one. So a NACK goes back by the EV of its cause, where we have
 * it: the packet came by it a moment ago, and most faults are of both directions. The one EV of the
 * plane that was proved may have died since; a receiver learns that late. REQ(req.reverse.nack)
 */
static uint16_t nack_path(struct mt_qp *qp, const struct mt_trigger *cause)
{
	const struct mt_path_set *s = qp->paths;
	uint16_t path = cause->unheard ? MT_PATH_NONE : path_with(s, cause->port, cause->ev);

	if (path != MT_PATH_NONE && mt_path_usable(&s->paths[path]) && mt_path_open(s, path))
		return path;
	return reply_path(qp, cause->port, cause->ev, cause->unheard);
}

static uint8_t offered_mpr(const struct mt_qp *qp, uint64_t now_ns)
{
	const struct mt_engine *e = qp->engine;

	if (!mt_qp_dynamic_mpr(qp))
		return qp->attr.mpr_dest;
	return mt_pressure_mpr(&e->pressure, now_ns, e->cfg.timing.pressure_ns, qp->attr.mpr_dest,
			       e->receivers);
}

/* REQ(wire.seth.context-ids) */
static void emit_sack(struct mt_qp *qp, const struct mt_trigger *t, uint64_t now_ns,
		      struct mt_tx_desc *d)
{
	const struct mt_engine *e = qp->engine;
	struct mt_responder *rsp = &qp->rsp;

	begin(qp, MW_SACK, mb_psn_wire(rsp->window.expected - 1), d);
	d->pkt.bth.rtx = t->rtx; /* REQ(wire.bth.sack-rtx) */
	mt_sack_build(&rsp->window, t, rsp->rcvd_bytes, offered_mpr(qp, now_ns), &d->pkt.seth);
	d->pkt.seth.rcv_cwnd_pen = mt_pressure_penalty(&e->pressure, now_ns);
	d->pkt.seth.restore_cwnd =
		mt_pressure_restore(&e->pressure, now_ns, e->cfg.timing.pressure_ns);
	d->pkt.seth.tx_timestamp = mt_reflected(e, now_ns, t);
	d->pkt.seth.ext = t->probe && qp->ext ? mt_agree_said(&qp->ext->agree) : 0;
	d->pkt.seth.spdcid = (uint16_t)qp->qpn;
	d->pkt.seth.dpdcid = (uint16_t)qp->attr.dest_qpn;
	address(qp, reply_path(qp, t->port, t->ev, t->unheard), d);
	qp->engine->stats.tx_sacks++;
}

static void emit_nack(struct mt_qp *qp, const struct mt_control *c, struct mt_tx_desc *d)
{
	begin(qp, MW_NACK, mb_psn_wire(c->cause.psn), d);
	d->pkt.neth = (struct mw_neth){
		.reason = c->reason,
		.entropy = c->cause.ev,
		.spdcid = (uint16_t)qp->qpn,
		.dpdcid = (uint16_t)qp->attr.dest_qpn,
		.vendor_info = c->reason == MW_NACK_RNR ? qp->attr.min_rnr_timer : 0,
		.nack_psn = mb_psn_wire(c->cause.psn),
		.cc_type = CC_TYPE_NACK,
		.tx_timestamp = c->cause.tx_timestamp,
	};
	address(qp, nack_path(qp, &c->cause), d);
	qp->engine->stats.tx_nacks++;
}

/* REQ(req.probe.reliability) REQ(req.probe.no-psn) REQ(ext.agreement) */
static void emit_probe(struct mt_qp *qp, const struct mt_control *c, uint64_t now_ns,
		       struct mt_tx_desc *d)
{
	uint16_t id = c->cause.probe_id;

	begin(qp, MW_PROBE, 0, d);
	d->pkt.peth = (struct mw_peth){
		.probe_id = id,
		.ext = qp->ext ? mt_agree_said(&qp->ext->agree) : 0,
		.spdcid = (uint16_t)qp->qpn,
		.dpdcid = (uint16_t)qp->attr.dest_qpn,
		.ts =
			{
				.tx_timestamp = mt_timestamp(qp->engine, now_ns),
				.ftype = MW_FTYPE_TIMESTAMP,
			},
	};
	address(qp, c->path, d);
	d->tclass = MT_CLASS_DATA; /* it must take the way that data take. */
	mt_path_set_probe_sent(qp->paths, c->path, id, now_ns);
	qp->engine->stats.tx_probes++;
}

static bool may_probe(const struct mt_control *c)
{
	return mt_qp_may_send(c->qp) &&
	       mt_ports_up(&c->qp->engine->ports, c->qp->paths->paths[c->path].port);
}

/* A QP that is in ERR has one thing left to say. */
static bool still_meant(const struct mt_control *c)
{
	if (c->kind == MT_CONTROL_PROBE)
		return may_probe(c);
	if (!mt_path_set_reachable(c->qp->paths))
		return false;
	if (c->kind == MT_CONTROL_NACK && c->reason == MW_NACK_UNEXP_EVENT)
		return c->qp->state == MT_QPS_ERR;
	return mt_qp_may_receive(c->qp);
}

bool mt_control_emit(struct mt_engine *e, uint64_t now_ns, const struct mt_control *c,
		     struct mt_tx_desc *desc)
{
	if (c->kind == MT_CONTROL_EP_RESPONSE) {
		mt_endpoint_emit_response(e, now_ns, c, desc);
		return true;
	}
	if (c->kind == MT_CONTROL_EP_REQUEST)
		return mt_endpoint_emit_request(e, now_ns, c, desc);
	if (!still_meant(c))
		return false;
	if (c->kind == MT_CONTROL_SACK)
		emit_sack(c->qp, &c->cause, now_ns, desc);
	else if (c->kind == MT_CONTROL_NACK)
		emit_nack(c->qp, c, desc);
	else
		emit_probe(c->qp, c, now_ns, desc);
	return true;
}

/* REQ(wire.aeth.no-credit) */
static uint8_t syndrome(const struct mt_responder *rsp)
{
	return rsp->refused ? rsp->refusal.syndrome : MW_ACK_NO_CREDIT;
}

/* REQ(rsp.ack.transport) */
static void emit_ack(struct mt_qp *qp, struct mt_tx_desc *d)
{
	struct mt_responder *rsp = &qp->rsp;

	begin(qp, MW_ACK, mb_psn_wire(rsp->window.expected - 1), d);
	d->pkt.aeth = (struct mw_aeth){.syndrome = syndrome(rsp), .msn = mb_psn_wire(rsp->msn)};
	address(qp, reply_path(qp, rsp->ack_port, rsp->ack_ev, rsp->ack_unheard), d);
	rsp->ack_due = rsp->ack_unheard = false;
	qp->engine->stats.tx_acks++;
}

bool mt_control_owed(struct mt_qp *qp, uint64_t now_ns, struct mt_tx_desc *desc)
{
	struct mt_responder *rsp = &qp->rsp;

	if (!qp->paths || !mt_path_set_reachable(qp->paths))
		return false;
	if (rsp->sacker.due && mt_qp_may_receive(qp)) {
		emit_sack(qp, &rsp->sacker.trigger, now_ns, desc);
		mt_sacker_sent(&rsp->sacker);
		return true;
	}
	if (rsp->ack_due && (mt_qp_may_receive(qp) || rsp->refused)) {
		emit_ack(qp, desc);
		return true;
	}
	return false;
}
