/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * endpoint.c - the endpoint itself: answers what others ask it, and asks.
 *
 * Endpoint packets belong to no QP and need none. They are addressed to QPN 2 and carry a number
 * that comes back with the answer. Where several engines share an address, the one that asks names
 * itself: see docs/design/0012-endpoint-number.md.
 */
#include <string.h>

#include "base/assert.h"
#include "core/endpoint/endpoint.h"
#include "core/ev/spray.h"

#define TIMEOUT_MAX_NS (UINT64_C(1) << 36)

/*
 * Which of the engines at its address sent a request: nothing for number 0, as the protocol has it;
 * for the others bit 23 of the PSN, and the number in bits 17:16 and the vendor byte.
 * REQ(ep.endpoint-number)
 */
#define NUMBER_FLAG (1u << 23)
#define NUMBER_HIGH_SHIFT 16u
#define NUMBER_HIGH_MASK 3u

static void store_endpoint(struct mw_packet *request, uint32_t number)
{
	mb_assert(number < MT_ENDPOINTS_MAX);
	if (number == 0)
		return;
	request->bth.psn |= NUMBER_FLAG | number >> 8 << NUMBER_HIGH_SHIFT;
	request->erth.vendor_info = (uint8_t)number;
}

static uint16_t load_endpoint(const struct mw_packet *request)
{
	uint32_t psn = request->bth.psn;

	if (!(psn & NUMBER_FLAG))
		return 0;
	return (uint16_t)((psn >> NUMBER_HIGH_SHIFT & NUMBER_HIGH_MASK) << 8 |
			  request->erth.vendor_info);
}

/* ---- answering ---- */

/*
 * Unknown senders, to whom no QP talks, are answered so often at most. A burst is as many as the
 * processes of a large job may send when it starts; the mean rate is a few per cent of a core.
 */
#define UNKNOWN_GAP_NS 10000u
#define UNKNOWN_BURST 1024u

/* Says whether one more unknown sender may be answered now, and counts it. REQ(ep.unknown-limit) */
static bool admit_unknown(struct mt_engine *e, uint64_t now_ns)
{
	uint64_t due_ns = e->unknown_due_ns > now_ns ? e->unknown_due_ns : now_ns;

	if (due_ns - now_ns > (uint64_t)(UNKNOWN_BURST - 1) * UNKNOWN_GAP_NS)
		return false;
	e->unknown_due_ns = due_ns + UNKNOWN_GAP_NS;
	return true;
}

/* REQ(ep.probe.answer) */
static void rx_request(struct mt_engine *e, const struct mt_rx_meta *meta,
		       const struct mw_packet *pkt, uint64_t now_ns)
{
	struct mt_control answer = {
		.kind = MT_CONTROL_EP_RESPONSE,
		.dst = meta->src,
		.op = pkt->erth.op,
		.endpoint = load_endpoint(pkt),
		.cause =
			{
				.psn = pkt->bth.psn,
				.ev = meta->ev,
				.port = meta->port,
				.tx_timestamp = pkt->erth.ts.tx_timestamp,
				.rx_ns = now_ns,
			},
	};

	if (pkt->erth.op != MW_EP_EV_PROBE && pkt->erth.op != MW_EP_PORT_STATUS) {
		e->stats.drop_endpoint++;
		return;
	}
	if (!mt_ev_sets_next(e, &meta->src, NULL) && !admit_unknown(e, now_ns)) {
		e->stats.drop_unknown_sender++;
		return;
	}
	e->stats.rx_ep_requests++;
	mt_engine_queue_control(e, &answer);
	if (pkt->erth.op == MW_EP_PORT_STATUS)
		mt_port_status_rx(e, &meta->src, pkt->erth.port_status_mask, now_ns);
}

/*
 * An EV of ours for the return path where the destination is one that QPs talk to, another one for
 * each id; of an unknown sender the endpoint knows no better return path than the EV of the
 * request.
 */
static uint32_t response_ev(struct mt_engine *e, const struct mt_control *c, uint8_t port)
{
	const struct mt_ev_set *s = NULL;

	while ((s = mt_ev_sets_next(e, &c->dst, s))) {
		uint16_t ev = mt_reverse_ev_get(s, port);

		if (ev == MT_EV_NONE)
			ev = mt_spray_pick_probe(s, port, (uint16_t)c->cause.psn);
		if (ev != MT_EV_NONE)
			return mt_ev_value(s, ev);
	}
	return c->cause.ev;
}

void mt_endpoint_emit_response(struct mt_engine *e, uint64_t now_ns, const struct mt_control *c,
			       struct mt_tx_desc *d)
{
	uint8_t port = mt_local_ports_nearest(&e->ports, c->cause.port);

	mb_assert(c->kind == MT_CONTROL_EP_RESPONSE);
	*d = (struct mt_tx_desc){
		.pkt =
			{
				.bth =
					{
						.opcode = MW_EP_RESPONSE,
						.p_key = MW_P_KEY_DEFAULT,
						.dqp = MW_QPN_ENDPOINT,
						.psn = (uint32_t)c->cause.psn,
					},
				.eeth = {.op = c->op,
					 .tx_timestamp =
						 mt_reflect_timestamp(e, now_ns, &c->cause)},
			},
		.dst = c->dst,
		.endpoint = c->endpoint,
		.ev = response_ev(e, c, port),
		.port = port,
		.tclass = MW_DSCP_CONTROL,
	};
	e->stats.tx_ep_responses++;
}

/* ---- asking ---- */

static bool request_valid(const struct mt_engine *e, const struct mt_ep_request *req)
{
	return (req->op == MW_EP_PORT_STATUS || req->op == MW_EP_EV_PROBE) &&
	       req->ev.port < e->cfg.n_ports && req->tclass < MW_DSCP_CLASSES &&
	       !mw_dscp_is_trimmed(req->tclass) && req->endpoint < MT_ENDPOINTS_MAX &&
	       req->timeout_ns > 0 && req->timeout_ns <= TIMEOUT_MAX_NS;
}

/* REQ(ep.probe.connectionless) */
int mt_engine_ep_request(struct mt_engine *e, uint64_t now_ns, const struct mt_ep_request *req,
			 uint16_t *id)
{
	struct mt_ep_slot *slot;
	int r;

	if (!request_valid(e, req))
		return MT_ERR_INVALID;
	if (!mt_local_port_is_up(&e->ports, req->ev.port))
		return MT_ERR_STATE;
	r = mt_endpoint_request(e, now_ns, req, NULL, &slot);
	if (r == MT_OK && id)
		*id = slot->req.id;
	return r;
}

bool mt_endpoint_emit_request(struct mt_engine *e, uint64_t now_ns, const struct mt_control *c,
			      struct mt_tx_desc *d)
{
	struct mt_ep_slot *slot = &e->ep_table.slots[c->index];
	const struct mt_ep_request *req = &slot->req;
	uint16_t stamp = mt_timestamp(e, now_ns);

	mb_assert(c->kind == MT_CONTROL_EP_REQUEST && c->index <= e->ep_table.mask);
	if (slot->state != MT_EP_QUEUED || !mt_local_port_is_up(&e->ports, req->ev.port))
		return false;
	*d = (struct mt_tx_desc){
		.pkt =
			{
				.bth =
					{
						.opcode = MW_EP_REQUEST,
						.p_key = MW_P_KEY_DEFAULT,
						/* REQ(wire.bth.endpoint-dqp) */
						.dqp = MW_QPN_ENDPOINT,
						.psn = req->id,
					},
				.erth =
					{
						.op = req->op,
						.ts = {.tx_timestamp = stamp,
						       .ftype = MW_FTYPE_TIMESTAMP},
					},
			},
		.dst = req->dst,
		.ev = req->ev.value,
		.port = req->ev.port,
		.tclass = req->tclass,
		.endpoint = req->endpoint,
	};
	if (req->op == MW_EP_PORT_STATUS)
		d->pkt.erth.port_status_mask = req->port_mask;
	store_endpoint(&d->pkt, e->cfg.endpoint);
	mt_ep_sent(slot, now_ns, stamp);
	e->stats.tx_ep_requests++;
	return true;
}

/* A request has ended: the adapter polls it, or the part of the core that asked goes on. */
static void finish_request(struct mt_engine *e, struct mt_ep_slot *slot)
{
	mb_assert(slot->state == MT_EP_ENDED);
	if (slot->owner)
		mt_peer_notify_done(e, slot->owner, slot);
	e->stats.ep_timeouts += slot->status == MT_EP_TIMED_OUT;
	e->stats.rx_ep_responses += slot->status == MT_EP_ANSWERED;
	if (slot->owner)
		mt_ep_release(&e->ep_table, slot, slot->ended_ns, e->cfg.timing.ep_quarantine_ns);
}

static void rx_response(struct mt_engine *e, const struct mt_rx_meta *meta,
			const struct mw_packet *pkt, uint64_t now_ns)
{
	struct mt_ep_response answer = {
		.src = &meta->src,
		.now_ns = now_ns,
		.ts_shift = e->cfg.ts_shift,
		.id = (uint16_t)pkt->bth.psn,
		.stamp = pkt->eeth.tx_timestamp,
		.op = pkt->eeth.op,
		.op_high = pkt->eeth.op_high,
		.port = meta->port,
		.svc_time = e->cfg.svc_time,
	};
	struct mt_ep_slot *slot = mt_ep_match_response(&e->ep_table, &answer);

	if (slot)
		finish_request(e, slot);
	else
		e->stats.drop_ep_response++;
}

void mt_endpoint_rx(struct mt_engine *e, uint64_t now_ns, const struct mt_rx_meta *meta,
		    const struct mw_packet *pkt)
{
	/* REQ(wire.bth.endpoint-dqp) */
	if (pkt->bth.dqp != MW_QPN_ENDPOINT)
		e->stats.drop_endpoint++;
	else if (pkt->bth.opcode == MW_EP_REQUEST)
		rx_request(e, meta, pkt, now_ns);
	else
		rx_response(e, meta, pkt, now_ns);
}

void mt_endpoint_tick(struct mt_engine *e, uint64_t now_ns)
{
	struct mt_ep_slot *slot;

	while ((slot = mt_ep_expire_next(&e->ep_table, now_ns)))
		finish_request(e, slot);
}

bool mt_endpoint_poll(struct mt_engine *e, struct mt_event *ev)
{
	struct mt_ep_slot *slot = mt_ep_next_ended(&e->ep_table);

	if (!slot)
		return false;
	mb_assert(!slot->owner && slot->state == MT_EP_ENDED); /* the core's own are not polled */
	*ev = (struct mt_event){
		.type = MT_EVENT_ENDPOINT,
		.ep_status = slot->status,
		.ep_op = slot->req.op,
		.ep_id = slot->req.id,
		.svc_time_subtracted = slot->status == MT_EP_ANSWERED && slot->svc_time_subtracted,
		.rtt_ns = slot->status == MT_EP_ANSWERED ? slot->rtt_ns : 0,
		.ep_port = slot->answer_port,
		.wr_id = slot->req.user,
		.ev = slot->req.ev,
		.peer = slot->req.dst,
	};
	mt_ep_quarantine(&e->ep_table, slot, slot->ended_ns, e->cfg.timing.ep_quarantine_ns);
	return true;
}
