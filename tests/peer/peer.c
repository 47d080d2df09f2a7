/* SPDX-License-Identifier: BSD-2-Clause */
/* peer.c - see peer.h: the endpoint around the QP, and what all parts need. */
#include "peer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ENDPOINT_QPN 2u /* REQ(wire.bth.endpoint-dqp) */
#define STAMP_UNIT_NS 128u
#define EP_INTERVAL_NS 100000u

void peer_fail(struct peer *p, const char *format, ...)
{
	va_list args;

	if (p->wrong)
		return;
	p->wrong = true;
	va_start(args, format);
	vsnprintf(p->why, sizeof(p->why), format, args);
	va_end(args);
}

/* splitmix64 */
uint64_t peer_random(struct peer *p)
{
	uint64_t z = p->random += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

bool peer_chance(struct peer *p, unsigned one_in)
{
	return peer_random(p) % one_in == 0;
}

/* REQ(req.psn.serial) */
int64_t peer_serial_distance(uint32_t from, uint32_t to)
{
	uint32_t d = (to - from) & PEER_PSN_MASK;

	return d < 0x800000u ? (int64_t)d : (int64_t)d - 0x1000000;
}

/* REQ(wire.tseth.resolution): what tsr = 1 means is ours alone; here it is a microsecond. */
uint16_t peer_stamp(const struct peer *p)
{
	return (uint16_t)(p->now_ns / (p->options.stamp_unit ? 1024 : STAMP_UNIT_NS));
}

uint32_t peer_reflected(const struct peer *p, uint32_t ev)
{
	switch (p->options.sack_entropy) {
	case 0:
		return ev;
	case 1:
		return ev << 16 | ev >> 16;
	default:
		return 0;
	}
}

struct peer_packet peer_header(struct peer *p, uint8_t opcode, uint32_t psn)
{
	struct peer_packet pkt = {.opcode = opcode,
				  .psn = psn,
				  .dqp = p->c.other_qpn,
				  .p_key = p->c.p_key,
				  .dscp = PEER_DSCP_CONTROL,
				  .ecn = 2,
				  .reserved = p->options.reserved_bits,
				  .ev = p->c.evs[peer_random(p) % p->c.n_evs]};

	memcpy(pkt.src, p->c.self, 16);
	memcpy(pkt.dst, p->c.other, 16);
	if (p->options.context_ids == 0) {
		pkt.spdcid = (uint16_t)p->c.qpn;
		pkt.dpdcid = (uint16_t)p->c.other_qpn;
	}
	return pkt;
}

void peer_queue(struct peer *p, const struct peer_packet *pkt)
{
	if (p->queue_tail - p->queue_head < PEER_QUEUE_MAX)
		p->queue[p->queue_tail++ % PEER_QUEUE_MAX] = *pkt;
}

void peer_init(struct peer *p, const struct peer_options *options, const struct peer_connection *c,
	       uint64_t seed)
{
	memset(p, 0, sizeof(*p));
	p->options = *options;
	p->c = *c;
	p->random = seed;
	peer_sender_init(&p->requests, p, false, c->first_psn, c->other_window);
	peer_receiver_init(&p->served, p, false, c->other_first_psn, c->window);
	/* Each space of responses begins where its requests do, with a window of 128. */
	peer_sender_init(&p->answers, p, true, c->other_first_psn, 128);
	peer_receiver_init(&p->answered, p, true, c->first_psn, c->window);
}

void peer_fini(struct peer *p)
{
	peer_sender_fini(&p->requests);
	peer_sender_fini(&p->answers);
	peer_receiver_fini(&p->served);
	peer_receiver_fini(&p->answered);
}

/* ---- endpoint ---- */

static void answer_endpoint(struct peer *p, const struct peer_packet *request)
{
	static const unsigned shift[] = {2, 4, 0};
	struct peer_packet pkt = peer_header(p, PEER_EP_RESPONSE, request->psn);

	if (p->options.endpoint_op == 2)
		return;
	pkt.dqp = ENDPOINT_QPN;
	pkt.op = (uint8_t)(request->op << shift[p->options.endpoint_op]);
	pkt.stamp = request->stamp;
	peer_queue(p, &pkt);
}

/* REQ(ep.probe.answer) */
static void take_endpoint_response(struct peer *p, const struct peer_packet *pkt)
{
	/* REQ(wire.eeth.op) */
	if (pkt->psn >= p->ep_sent || pkt->op != p->ep_ops[pkt->psn] << 2)
		peer_fail(p, "endpoint response %" PRIu32 " with op byte %02x, asked were %u",
			  pkt->psn, pkt->op, p->ep_sent);
	else if (p->ep_stamps[pkt->psn] != pkt->stamp)
		peer_fail(p, "endpoint response %" PRIu32 " with stamp %04x", pkt->psn, pkt->stamp);
	p->ep_answers++;
}

static void probe_endpoint(struct peer *p)
{
	struct peer_packet pkt = peer_header(p, PEER_EP_REQUEST, p->ep_sent);

	if ((p->options.endpoint_probes == 0 && p->options.port_status == 0) ||
	    p->ep_sent == PEER_EP_PROBES_MAX || p->now_ns < p->ep_next_ns)
		return;
	pkt.dqp = ENDPOINT_QPN;
	pkt.op = p->options.port_status == 0 || (p->options.endpoint_probes && peer_chance(p, 2));
	if (pkt.op == 0) /* a word that is not true: REQ(ep.port.suspicion) */
		pkt.port_mask = (uint32_t)peer_random(p);
	p->ep_ops[p->ep_sent] = pkt.op;
	pkt.stamp = peer_stamp(p);
	p->ep_stamps[p->ep_sent++] = pkt.stamp;
	p->ep_next_ns = p->now_ns + EP_INTERVAL_NS;
	peer_queue(p, &pkt);
}

/* ---- arrival ---- */

/* REQ(ext.agreement) */
static void take_extension(struct peer *p, const struct peer_packet *pkt)
{
	uint8_t both = p->c.extension & pkt->extension;
	bool known = (pkt->extension & PEER_EXT_VERSION_MASK) == PEER_EXT_VERSION;

	if (pkt->extension != 0 && (!known || pkt->extension & 0x20))
		peer_fail(p, "extension byte %02x", pkt->extension);
	if ((pkt->opcode & ~PEER_RESPONSE_BIT) == PEER_PROBE) {
		p->offered_extension = known ? both & 0x1F : 0;
		return;
	}
	if (p->c.extension == 0 || p->agreed || !pkt->pr)
		return;
	p->agreed = true;
	p->agreed_extension = known ? both & 0x1F : 0;
	if (pkt->mpr * 128u < p->requests.window)
		p->requests.window = pkt->mpr * 128u;
}

static void take_control(struct peer *p, const struct peer_packet *pkt)
{
	bool response = peer_opcode_is_response(pkt->opcode);
	struct peer_sender *s = response ? &p->answers : &p->requests;
	struct peer_receiver *r = response ? &p->answered : &p->served;

	switch (pkt->opcode & ~PEER_RESPONSE_BIT) {
	case PEER_ACK:
		if (response)
			peer_sender_take_ack(s, pkt);
		else
			peer_requester_take_ack(p, pkt);
		return;
	case PEER_SACK:
		if (!response)
			take_extension(p, pkt);
		peer_sender_take_sack(s, pkt);
		return;
	case PEER_NACK:
		if (pkt->reason != PEER_UNEXP_EVENT) {
			peer_sender_take_nack(s, pkt);
			return;
		}
		if (response) { /* who asked has failed: nobody waits for answers */
			s->una = s->next = s->n;
			return;
		}
		p->state = PEER_FAILED; /* REQ(req.error.fatal-nack) */
		peer_requester_fail(p, PEER_FATAL);
		return;
	default:
		if (!response)
			take_extension(p, pkt);
		peer_receiver_take_probe(r, pkt);
	}
}

/* Fields that every packet of an engine must have right. */
static const char *fault_of(const struct peer *p, const struct peer_packet *pkt)
{
	bool control = !peer_opcode_is_data(pkt->opcode) &&
		       (pkt->opcode & ~PEER_RESPONSE_BIT) != PEER_PROBE &&
		       pkt->opcode != PEER_EP_REQUEST;

	if (pkt->reserved)
		return "reserved bits";
	if (memcmp(pkt->src, p->c.other, 16) != 0 || memcmp(pkt->dst, p->c.self, 16) != 0)
		return "addresses";
	if (pkt->p_key != p->c.p_key)
		return "P_Key";
	if (pkt->opcode == PEER_EP_REQUEST || pkt->opcode == PEER_EP_RESPONSE)
		return pkt->dqp == ENDPOINT_QPN ? NULL : "destination QP of an endpoint packet";
	if (pkt->dqp != p->c.qpn)
		return "destination QP";
	/* REQ(wire.dscp.control-class) REQ(wire.dscp.retransmit-class) */
	if (control && pkt->dscp != PEER_DSCP_CONTROL)
		return "class of a control packet";
	if (peer_opcode_is_data(pkt->opcode) && pkt->dscp < PEER_DSCP_TRIMMED &&
	    pkt->rtx != (pkt->dscp == PEER_DSCP_RETX))
		return "class of a data packet";
	if ((pkt->opcode & ~PEER_RESPONSE_BIT) == PEER_SACK ||
	    (pkt->opcode & ~PEER_RESPONSE_BIT) == PEER_NACK ||
	    (pkt->opcode & ~PEER_RESPONSE_BIT) == PEER_PROBE)
		/* REQ(wire.seth.context-ids) */
		return pkt->spdcid != (uint16_t)p->c.other_qpn || pkt->dpdcid != (uint16_t)p->c.qpn
			       ? "context ids"
			       : NULL;
	return NULL;
}

/* After a refusal what was executed before is still answered. */
static void take_in_error(struct peer *p, const struct peer_packet *pkt)
{
	struct peer_packet nack;

	if (!peer_opcode_is_response(pkt->opcode)) {
		peer_responder_refuse(p, pkt);
	} else if (!peer_opcode_is_data(pkt->opcode) &&
		   pkt->opcode != PEER_PROBE + PEER_RESPONSE_BIT) {
		if (p->state == PEER_REFUSED)
			take_control(p, pkt);
	} else {
		nack = peer_header(p, PEER_NACK + PEER_RESPONSE_BIT, pkt->psn);
		nack.nack_psn = pkt->psn;
		nack.reason = PEER_UNEXP_EVENT;
		nack.entropy = peer_reflected(p, pkt->ev);
		peer_queue(p, &nack);
	}
}

static void take(struct peer *p, const struct peer_packet *pkt, bool cut)
{
	if (pkt->opcode == PEER_EP_REQUEST)
		answer_endpoint(p, pkt);
	else if (pkt->opcode == PEER_EP_RESPONSE)
		take_endpoint_response(p, pkt);
	else if (p->state != PEER_RUNS)
		take_in_error(p, pkt);
	else if (!peer_opcode_is_data(pkt->opcode))
		take_control(p, pkt);
	else if (peer_opcode_is_response(pkt->opcode))
		peer_requester_take_response(p, pkt, cut);
	else
		peer_responder_take(p, pkt, cut);
}

void peer_rx(struct peer *p, uint64_t now_ns, const struct peer_frame *f)
{
	struct peer_packet pkt;
	const char *why, *fault;
	enum peer_verdict verdict;

	p->now_ns = now_ns;
	verdict = peer_packet_decode(f, p->c.extension != 0, &pkt, &why);
	if (verdict == PEER_MALFORMED)
		peer_fail(p, "malformed packet, opcode %02x: %s", pkt.opcode, why);
	if (verdict == PEER_BAD_ICRC || verdict == PEER_MALFORMED)
		return;
	fault = fault_of(p, &pkt);
	if (fault) {
		peer_fail(p, "opcode %02x: %s", pkt.opcode, fault);
		return;
	}
	if (peer_opcode_is_data(pkt.opcode))
		p->data_received++;
	else
		p->control_received++;
	take(p, &pkt, verdict == PEER_CUT);
}

/* ---- departure ---- */

static bool next_data(struct peer *p, struct peer_packet *pkt)
{
	if (p->state != PEER_FAILED && peer_sender_next(&p->answers, pkt))
		return true;
	if (p->state != PEER_RUNS || p->syndrome)
		return false;
	peer_requester_begin(p);
	return peer_sender_next(&p->requests, pkt);
}

static bool next_control(struct peer *p, struct peer_packet *pkt)
{
	if (p->queue_head == p->queue_tail)
		return false;
	*pkt = p->queue[p->queue_head++ % PEER_QUEUE_MAX];
	return true;
}

bool peer_tx(struct peer *p, uint64_t now_ns, struct peer_frame *f)
{
	struct peer_packet pkt;
	bool any;

	p->now_ns = now_ns;
	if (p->options.interleave == 0)
		any = next_control(p, &pkt) || next_data(p, &pkt);
	else
		any = next_data(p, &pkt) || next_control(p, &pkt);
	if (any)
		peer_packet_encode(&pkt, f);
	return any;
}

void peer_tick(struct peer *p, uint64_t now_ns)
{
	p->now_ns = now_ns;
	probe_endpoint(p);
	peer_receiver_tick(&p->served);
	peer_receiver_tick(&p->answered);
	if (p->state != PEER_FAILED)
		peer_sender_tick(&p->answers);
	if (p->state != PEER_RUNS || p->syndrome)
		return;
	peer_requester_begin(p);
	peer_sender_tick(&p->requests);
}

bool peer_is_busy(const struct peer *p)
{
	return p->completed < p->n_ops || peer_sender_is_busy(&p->requests) ||
	       peer_sender_is_busy(&p->answers) || peer_receiver_owes_ack(&p->served) ||
	       peer_receiver_owes_ack(&p->answered) || p->queue_head != p->queue_tail;
}

bool peer_delivered(struct peer *p, const struct peer_packet *pkt, bool whole)
{
	return peer_sender_delivered(
		peer_opcode_is_response(pkt->opcode) ? &p->answers : &p->requests, pkt, whole);
}

/*
 * A copy of what was refused is the first that counts. A trimmed copy refuses no other, and a QP
 * that has failed refuses what it had received.
 */
static void watch_nack(struct peer *p, const struct peer_packet *pkt)
{
	if (pkt->reason != PEER_TRIMMED && pkt->reason != PEER_TRIMMED_LASTHOP &&
	    pkt->reason != PEER_UNEXP_EVENT)
		peer_sender_refused(peer_opcode_is_response(pkt->opcode) ? &p->answers
									 : &p->requests,
				    pkt->nack_psn);
}

void peer_watch(struct peer *p, const struct peer_packet *pkt)
{
	if ((pkt->opcode & ~PEER_RESPONSE_BIT) == PEER_NACK)
		watch_nack(p, pkt);
	if (peer_opcode_is_data(pkt->opcode))
		peer_receiver_watch(
			peer_opcode_is_response(pkt->opcode) ? &p->answered : &p->served, pkt);
}
