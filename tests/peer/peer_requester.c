/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_requester.c - the requester: operations become messages when all gates are open, answers
 * find their place, completions come in the order of posting.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

/* ---- gates ---- */

/* Reliability probes ask what the other end knows before anything else is sent. */
static bool is_agreed(struct peer *p)
{
	struct peer_sender *s = &p->requests;

	if (p->c.extension == 0 || p->agreed)
		return true;
	if (!p->asked || s->probed_ns + s->timeout_ns < p->now_ns) {
		if (p->asked && s->timeout_ns < 6400000)
			s->timeout_ns *= 2;
		p->asked = true;
		peer_sender_probe(s);
	}
	return false;
}

/* REQ(req.gate.wimm): messages that take a receive and are not acknowledged. */
static uint32_t receives_in_flight(const struct peer *p)
{
	uint32_t n = 0;

	for (size_t i = 0; i < p->begun; i++)
		n += peer_op_takes_receive(&p->ops[i]) &&
		     p->ops[i].message >= p->requests.completed;
	return n;
}

static bool may_begin(struct peer *p, const struct peer_op *op)
{
	if (op->post_at_ns > p->now_ns || !is_agreed(p))
		return false;
	if (op->has_imm && (p->agreed_extension & PEER_EXT_SEND) == 0 &&
	    receives_in_flight(p) >= p->c.other_wimm)
		return false;
	if (peer_op_is_request(op) && p->open_requests >= p->c.other_requests)
		return false;
	return !op->fence || p->open_requests == 0;
}

/* ---- messages ---- */

static uint8_t opcode_at(const struct peer_op *op, bool first, bool last)
{
	bool send = op->kind == PEER_OP_SEND;

	if (last && op->has_inv)
		return first ? PEER_SEND_ONLY_INV : PEER_SEND_LAST_INV;
	if (first && last && op->has_imm)
		return send ? PEER_SEND_ONLY_IMM : PEER_WRITE_ONLY_IMM;
	if (first && last)
		return send ? PEER_SEND_ONLY : PEER_WRITE_ONLY;
	if (first)
		return send ? PEER_SEND_FIRST : PEER_WRITE_FIRST;
	if (last && op->has_imm)
		return send ? PEER_SEND_LAST_IMM : PEER_WRITE_LAST_IMM;
	if (last)
		return send ? PEER_SEND_LAST : PEER_WRITE_LAST;
	return send ? PEER_SEND_MIDDLE : PEER_WRITE_MIDDLE;
}

static struct peer_packet data_header(struct peer *p, uint8_t opcode)
{
	struct peer_packet pkt = peer_header(p, opcode, 0);

	pkt.migration = p->options.migration_bit == 1;
	pkt.rqmsn = (uint16_t)p->began_receives; /* REQ(wire.meth.rqmsn) */
	return pkt;
}

static uint64_t remote_va(const struct peer *p, const struct peer_op *op)
{
	return op->remote + (op->windowed ? p->c.other_window_va : p->c.other_region_va);
}

/* REQ(req.segment) REQ(wire.reth.address) REQ(wire.reth.length) */
static void add_message(struct peer *p, const struct peer_op *op)
{
	uint32_t at = 0;

	do {
		uint32_t left = op->bytes - at, n = left < p->c.mtu ? left : p->c.mtu;
		bool last = left <= p->c.mtu;
		struct peer_packet pkt = data_header(p, opcode_at(op, at == 0, last));

		pkt.va = at + (op->kind == PEER_OP_SEND ? 0 : remote_va(p, op));
		pkt.rkey = op->kind == PEER_OP_SEND ? 0 : op->rkey;
		pkt.dmalen = op->bytes;
		pkt.word = op->imm;
		pkt.solicited = last && op->solicited;
		if (p->options.migration_bit == 2) {
			pkt.migration = pkt.solicited;
			pkt.solicited = false;
		}
		if (p->options.rqmsn == 1 && p->c.extension == 0 && !(last && op->has_imm))
			pkt.rqmsn = 0; /* REQ(wire.meth.rqmsn) is ours; it means nothing there */
		pkt.payload = p->memory + op->local + at;
		pkt.payload_len = n;
		peer_sender_add(&p->requests, &pkt, last);
		at += n;
	} while (at < op->bytes);
}

static uint8_t *put_number(uint8_t *at, uint64_t value)
{
	for (int i = 0; i < 8; i++)
		at[i] = (uint8_t)(value >> (56 - 8 * i));
	return at + 8;
}

static void add_request(struct peer *p, struct peer_op *op)
{
	static const uint8_t opcodes[PEER_OP_KINDS] = {
		[PEER_OP_READ] = PEER_READ_REQUEST,
		[PEER_OP_COMPARE_SWAP] = PEER_COMPARE_SWAP,
		[PEER_OP_FETCH_ADD] = PEER_FETCH_ADD,
		[PEER_OP_ATOMIC_WRITE] = PEER_ATOMIC_WRITE,
	};
	struct peer_packet pkt = data_header(p, opcodes[op->kind]);
	uint8_t *operands = op->operands;

	pkt.va = remote_va(p, op);
	pkt.rkey = op->rkey;
	if (op->kind == PEER_OP_READ) {
		pkt.word = op->bytes;
	} else {
		if (op->kind == PEER_OP_ATOMIC_WRITE) {
			memcpy(operands, &op->operand, 8);
			pkt.payload_len = 8;
		} else {
			put_number(put_number(operands, op->operand),
				   op->kind == PEER_OP_COMPARE_SWAP ? op->compare : 0);
			pkt.payload_len = 16;
		}
		pkt.payload = operands;
		pkt.dmalen = pkt.payload_len;
	}
	peer_sender_add(&p->requests, &pkt, true);
}

void peer_requester_begin(struct peer *p)
{
	while (p->begun < p->n_ops && p->state == PEER_RUNS) {
		struct peer_op *op = &p->ops[p->begun];

		if (!may_begin(p, op))
			return;
		op->message = p->requests.messages;
		if (peer_op_is_request(op)) {
			op->request = p->began_requests++;
			p->open_requests++;
			add_request(p, op);
		} else {
			add_message(p, op);
			p->began_receives += peer_op_takes_receive(op);
		}
		op->begun = true;
		p->begun++;
	}
}

/* ---- completion ---- */

static void complete(struct peer *p, struct peer_op *op, enum peer_status status)
{
	op->done = true;
	op->status = status;
	p->open_requests -= op->begun && peer_op_is_request(op);
	p->completed++;
	p->on_complete(p->user, op);
}

/* REQ(req.error.flush) */
void peer_requester_fail(struct peer *p, enum peer_status status)
{
	for (size_t i = p->completed; i < p->n_ops; i++) {
		complete(p, &p->ops[i], status);
		status = PEER_FLUSHED;
	}
	p->requests.una = p->requests.next = p->requests.n;
	p->requests.completed = p->requests.messages;
}

/* The NAK waited until what was asked before was answered. REQ(ext.response.nak) */
static void end_refused(struct peer *p)
{
	p->state = PEER_FAILED;
	peer_requester_fail(p, p->syndrome == PEER_NAK_INVALID_REQUEST ? PEER_INVALID_REQUEST
			       : p->syndrome == PEER_NAK_ACCESS	       ? PEER_ACCESS_ERROR
								       : PEER_OPERATION_ERROR);
}

/* The responses that arrived whole, in order. */
static size_t responses_complete(const struct peer *p)
{
	return p->answered.messages;
}

/* REQ(req.complete.order) REQ(req.complete.acked) REQ(ext.response.complete) */
void peer_requester_progress(struct peer *p)
{
	while (p->completed < p->begun && p->state == PEER_RUNS) {
		struct peer_op *op = &p->ops[p->completed];

		if (p->syndrome && op->message == p->refused_message) {
			end_refused(p);
			return;
		}
		if (peer_op_is_request(op) ? op->request >= responses_complete(p)
					   : op->message >= p->requests.completed)
			return;
		complete(p, op, PEER_SUCCESS);
	}
}

/* REQ(req.error.nak) REQ(wire.aeth.no-credit) */
void peer_requester_take_ack(struct peer *p, const struct peer_packet *pkt)
{
	if (!peer_sender_take_ack(&p->requests, pkt))
		return;
	peer_requester_progress(p);
	switch (pkt->syndrome) {
	case PEER_ACK_POSITIVE:
		return;
	case PEER_NAK_INVALID_REQUEST:
	case PEER_NAK_ACCESS:
	case PEER_NAK_OPERATION:
		break;
	default:
		peer_fail(p, "transport ACK with syndrome %02x", pkt->syndrome);
		return;
	}
	if (p->syndrome)
		return;
	p->syndrome = pkt->syndrome;
	p->refused_message = pkt->ack_msn;
	peer_requester_progress(p);
}

/* ---- responses ---- */

static struct peer_op *op_of_request(struct peer *p, uint16_t msn)
{
	for (size_t i = 0; i < p->begun; i++)
		if (peer_op_is_request(&p->ops[i]) && (uint16_t)p->ops[i].request == msn)
			return &p->ops[i];
	return NULL;
}

/* REQ(ext.response.place): what answers nothing that was asked is wrong. */
static const char *fault_of(const struct peer *p, const struct peer_op *op,
			    const struct peer_packet *pkt)
{
	uint64_t at = pkt->va;
	bool last;

	if (!op)
		return "answers nothing";
	if (pkt->rqmsn != 0 || pkt->rkey != 0)
		return "has an RQMSN or rkey";
	if (op->kind != PEER_OP_READ)
		return pkt->opcode != PEER_ATOMIC_RESPONSE ? "is of another kind"
		       : pkt->dmalen || pkt->payload_len   ? "has a length"
							   : NULL;
	if (pkt->opcode == PEER_ATOMIC_RESPONSE)
		return "is of another kind";
	if (pkt->dmalen != op->bytes)
		return "is of another length";
	if (at % p->c.mtu || at + pkt->payload_len > op->bytes)
		return "reaches beyond its end";
	last = at + pkt->payload_len == op->bytes;
	if (!last && pkt->payload_len != p->c.mtu)
		return "is shorter than the MTU";
	if (pkt->opcode != (at == 0 && last ? PEER_READ_ONLY
			    : at == 0	    ? PEER_READ_FIRST
			    : last	    ? PEER_READ_LAST
					    : PEER_READ_MIDDLE))
		return "has the wrong opcode";
	return NULL;
}

/* A response says that its request, and all messages before it, were executed. */
static void take_as_ack(struct peer *p, const struct peer_op *op)
{
	struct peer_sender *s = &p->requests;

	/* REQ(ext.request.order) */
	for (size_t i = 0; i < s->ends[op->message]; i++)
		if (s->packets[i].delivered == 0)
			peer_fail(p, "request %u was executed, and PSN %06" PRIx32 " is missing",
				  op->request, s->packets[i].pkt.psn);
	if (op->message + 1 > s->completed)
		s->completed = op->message + 1;
}

static void place_response(struct peer *p, struct peer_op *op, const struct peer_packet *pkt)
{
	if (op->kind == PEER_OP_READ && pkt->payload_len)
		memcpy(p->memory + op->local + pkt->va, pkt->payload, pkt->payload_len);
	else if (op->kind == PEER_OP_COMPARE_SWAP || op->kind == PEER_OP_FETCH_ADD)
		memcpy(p->memory + op->local, &pkt->va, 8);
	take_as_ack(p, op);
}

void peer_requester_take_response(struct peer *p, const struct peer_packet *pkt, bool cut)
{
	struct peer_receiver *r = &p->answered;
	size_t index = 0, before = r->messages;
	struct peer_op *op;
	const char *fault;

	if (cut) {
		peer_receiver_trimmed(r, pkt);
		return;
	}
	if (peer_receiver_arrive(r, pkt, &index) != PEER_NEW)
		return;
	op = op_of_request(p, pkt->msn);
	fault = fault_of(p, op, pkt);
	if (fault) {
		peer_fail(p, "response %u at %" PRIu64 " %s", pkt->msn, pkt->va, fault);
		return;
	}
	place_response(p, op, pkt);
	peer_receiver_keep(r, index, pkt, 0);
	for (; r->executed < r->expected; r->executed++)
		r->messages += peer_opcode_ends(r->packets[r->executed].pkt.opcode);
	peer_receiver_acknowledge(r, pkt);
	if (r->messages > before)
		peer_receiver_ack_later(r);
	peer_requester_progress(p);
}
