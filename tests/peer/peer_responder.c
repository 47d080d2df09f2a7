/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_responder.c - the responder: checks and places what arrives, in any order, and executes in
 * the order of PSNs what has an order: receives, READs, atomics, refusals.
 */
#include <inttypes.h>
#include <string.h>

#include "peer.h"

/* ---- checks ---- */

static int64_t receive_of(const struct peer *p, const struct peer_packet *pkt)
{
	return (int64_t)p->receives_done + (int16_t)(pkt->rqmsn - (uint16_t)p->receives_done);
}

static bool knows_sends(const struct peer *p)
{
	return p->offered_extension & PEER_EXT_SEND;
}

/* Whether a packet needs a receive to be there: of a WRITE that is the one with the immediate. */
static bool needs_receive(const struct peer_packet *pkt)
{
	return peer_opcode_is_send(pkt->opcode) || peer_opcode_has_imm(pkt->opcode);
}

/* Where the bytes are that a packet names; false: not all of them are in our region. */
static bool find(const struct peer *p, const struct peer_packet *pkt, uint64_t bytes, uint64_t *at)
{
	bool window = p->c.window_key && pkt->rkey == p->c.window_key && !p->window_is_over;
	uint64_t begin = window ? p->c.window_va : p->c.region_va;

	*at = pkt->va - begin;
	return (window || pkt->rkey == p->c.rkey) && pkt->va >= begin &&
	       bytes <= p->c.region_bytes && *at <= p->c.region_bytes - bytes;
}

/* What was found when the packet came holds, whatever became of its key since. */
static uint8_t *memory_of(struct peer *p, const struct peer_packet *pkt)
{
	return p->memory + pkt->va -
	       (p->c.window_key && pkt->rkey == p->c.window_key ? p->c.window_va : p->c.region_va);
}

/* REQ(rsp.place.payload-length) REQ(req.segment): what our engine never sends. */
static const char *fault_of(const struct peer *p, const struct peer_packet *pkt)
{
	bool ends = peer_opcode_ends(pkt->opcode);

	if (pkt->opcode == PEER_READ_REQUEST)
		return pkt->payload_len || pkt->dmalen ? "READ with a payload" : NULL;
	if (peer_opcode_is_request(pkt->opcode))
		return pkt->payload_len != (pkt->opcode == PEER_ATOMIC_WRITE ? 8 : 16) ||
				       pkt->dmalen != pkt->payload_len
			       ? "atomic of another length"
			       : NULL;
	if (pkt->payload_len > p->c.mtu || pkt->payload_len > pkt->dmalen ||
	    (!ends && pkt->payload_len != p->c.mtu) || (pkt->payload_len == 0 && pkt->dmalen > 0))
		return "payload does not fit opcode, MTU and length";
	if (peer_opcode_is_send(pkt->opcode) &&
	    (pkt->rkey != 0 || peer_opcode_begins(pkt->opcode) != (pkt->va == 0) ||
	     pkt->va + pkt->payload_len > pkt->dmalen ||
	     ends != (pkt->va + pkt->payload_len == pkt->dmalen)))
		return "va, length or rkey of a SEND";
	return NULL;
}

/* REQ(rsp.mr.every-packet): the syndrome of the NAK that a packet gets in its turn, or 0. */
static uint8_t refusal_of(const struct peer *p, const struct peer_packet *pkt)
{
	uint64_t bytes = pkt->payload_len, at;

	/* REQ(rsp.wimm.no-receive) */
	if (needs_receive(pkt) && receive_of(p, pkt) >= (int64_t)p->receives_posted)
		return PEER_NAK_INVALID_REQUEST;
	if (peer_opcode_is_send(pkt->opcode)) {
		int64_t n = receive_of(p, pkt);

		return pkt->dmalen > p->receive_bytes[n] ? PEER_NAK_INVALID_REQUEST : 0;
	}
	if (pkt->opcode == PEER_READ_REQUEST)
		bytes = pkt->word;
	else if (peer_opcode_is_request(pkt->opcode))
		bytes = 8;
	if (bytes == 0)
		return 0;
	if (!find(p, pkt, bytes, &at))
		return PEER_NAK_ACCESS;
	return peer_opcode_is_request(pkt->opcode) && pkt->opcode != PEER_READ_REQUEST &&
			       pkt->va % 8
		       ? PEER_NAK_INVALID_REQUEST
		       : 0;
}

/* ---- placing ---- */

/* REQ(rsp.place.at-once) */
static void place(struct peer *p, const struct peer_packet *pkt)
{
	uint8_t *to;

	if (pkt->payload_len == 0 || peer_opcode_is_request(pkt->opcode))
		return;
	if (peer_opcode_is_send(pkt->opcode))
		to = p->memory + p->receives[receive_of(p, pkt)] + pkt->va;
	else
		to = memory_of(p, pkt);
	memcpy(to, pkt->payload, pkt->payload_len);
}

/* ---- execution ---- */

static void answer_read(struct peer *p, const struct peer_packet *request, struct peer_packet *pkt)
{
	uint32_t bytes = request->word, at = 0;

	do {
		uint32_t left = bytes - at, n = left < p->c.mtu ? left : p->c.mtu;
		bool last = left <= p->c.mtu;

		pkt->opcode = at == 0 && last ? PEER_READ_ONLY
			      : at == 0	      ? PEER_READ_FIRST
			      : last	      ? PEER_READ_LAST
					      : PEER_READ_MIDDLE;
		pkt->va = at;
		pkt->dmalen = bytes;
		pkt->payload_len = n;
		pkt->payload = bytes ? memory_of(p, request) + at : NULL;
		peer_sender_add(&p->answers, pkt, last);
		at += n;
	} while (at < bytes);
}

static uint64_t get_number(const uint8_t *at)
{
	uint64_t value = 0;

	for (int i = 0; i < 8; i++)
		value = value << 8 | at[i];
	return value;
}

/* REQ(ext.atomic.once) */
static void answer_atomic(struct peer *p, const struct peer_rx_packet *k, struct peer_packet *pkt)
{
	uint8_t *word = memory_of(p, &k->pkt);
	uint64_t was, now;

	memcpy(&was, word, 8);
	now = was;
	if (k->pkt.opcode == PEER_FETCH_ADD)
		now = was + get_number(k->operands);
	else if (k->pkt.opcode == PEER_COMPARE_SWAP)
		now = was == get_number(k->operands + 8) ? get_number(k->operands) : was;
	else
		memcpy(&now, k->operands, 8);
	memcpy(word, &now, 8);
	pkt->opcode = PEER_ATOMIC_RESPONSE;
	pkt->va = was;
	peer_sender_add(&p->answers, pkt, true);
}

static size_t answers_sent(const struct peer *p)
{
	size_t n = 0;

	while (n < p->answers.messages && p->answers.ends[n] <= p->answers.next)
		n++;
	return n;
}

static void execute_request(struct peer *p, const struct peer_rx_packet *k)
{
	struct peer_packet pkt = peer_header(p, PEER_READ_ONLY, 0);

	/* REQ(ext.read.limit): nobody can have an answer of which not all was sent. */
	if (++p->requests_executed > answers_sent(p) + p->c.max_requests)
		peer_fail(p, "request %u, answered are %zu, agreed were %u", p->requests_executed,
			  answers_sent(p), p->c.max_requests);
	if (k->pkt.opcode == PEER_READ_REQUEST)
		answer_read(p, &k->pkt, &pkt);
	else
		answer_atomic(p, k, &pkt);
}

static void refuse(struct peer *p, uint8_t syndrome)
{
	p->state = PEER_REFUSED;
	p->syndrome = syndrome;
	peer_receiver_ack(&p->served, syndrome);
	peer_requester_fail(p, PEER_FLUSHED);
}

/* What a SEND names is made invalid when all of it has arrived; false: it is no key. */
static bool invalidate(struct peer *p, const struct peer_packet *pkt)
{
	if (!peer_opcode_has_inv(pkt->opcode))
		return true;
	if (pkt->word != p->c.window_key || p->window_is_over)
		return false;
	p->window_is_over = true;
	return true;
}

/* Executes what has become the next in order. Returns whether a message is complete by that. */
static bool execute(struct peer *p)
{
	struct peer_receiver *r = &p->served;
	size_t before = r->messages;

	for (; r->executed < r->expected && p->state == PEER_RUNS; r->executed++) {
		const struct peer_rx_packet *k = &r->packets[r->executed];

		if (k->pkt.msn != (uint16_t)r->messages) /* REQ(wire.meth.msn) */
			peer_fail(p, "PSN %06" PRIx32 " has MSN %u, want %zu", k->pkt.psn,
				  k->pkt.msn, r->messages);
		if (k->pkt.rqmsn != (uint16_t)p->receives_done) /* REQ(wire.meth.rqmsn) */
			peer_fail(p, "PSN %06" PRIx32 " has RQMSN %u, want %zu", k->pkt.psn,
				  k->pkt.rqmsn, p->receives_done);
		if (k->refused) {
			refuse(p, k->refused);
			return false;
		}
		if (peer_opcode_is_request(k->pkt.opcode))
			execute_request(p, k);
		if (!peer_opcode_ends(k->pkt.opcode))
			continue;
		if (!invalidate(p, &k->pkt)) {
			refuse(p, PEER_NAK_ACCESS);
			return false;
		}
		r->messages++;
		if (!needs_receive(&k->pkt))
			continue;
		p->on_receive(p->user, p->receives_done,
			      &(struct peer_received){.has_imm = peer_opcode_has_imm(k->pkt.opcode),
						      .has_inv = peer_opcode_has_inv(k->pkt.opcode),
						      .send = peer_opcode_is_send(k->pkt.opcode),
						      .word = k->pkt.word,
						      .bytes = k->pkt.dmalen});
		p->receives_done++; /* REQ(rsp.complete.in-order) REQ(ext.recv.order) */
	}
	return r->messages > before;
}

/* ---- arrival ---- */

/* REQ(req.gate.wimm): more than we stash is a fault of the requester. */
static void check_limit(struct peer *p, const struct peer_packet *pkt)
{
	if (peer_opcode_has_imm(pkt->opcode) && !knows_sends(p) &&
	    receive_of(p, pkt) >= (int64_t)(p->receives_done + p->c.max_wimm))
		peer_fail(p, "WRITE with immediate %" PRId64 ", complete are %zu, agreed were %u",
			  receive_of(p, pkt), p->receives_done, p->c.max_wimm);
}

/* Whether the receive is missing; answered here. REQ(ext.rnr.nack) */
static bool lacks_receive(struct peer *p, const struct peer_packet *pkt)
{
	if (!needs_receive(pkt) || receive_of(p, pkt) < (int64_t)p->receives_posted)
		return false;
	if (!knows_sends(p)) { /* REQ(svc.no-rnr): refused in its turn */
		peer_fail(p, "receive %" PRId64 " was asked for, there are %zu", receive_of(p, pkt),
			  p->receives_posted);
		return false;
	}
	peer_receiver_nack(&p->served, pkt, PEER_RNR, (uint8_t)(1 + peer_random(p) % 12));
	return true;
}

void peer_responder_refuse(struct peer *p, const struct peer_packet *pkt)
{
	/* The NAK may have been lost. REQ(rsp.nack.unexpected) */
	if (p->state == PEER_REFUSED)
		peer_receiver_ack(&p->served, p->syndrome);
	else if (peer_opcode_is_data(pkt->opcode))
		peer_receiver_nack(&p->served, pkt, PEER_UNEXP_EVENT, 0);
}

void peer_responder_take(struct peer *p, const struct peer_packet *pkt, bool cut)
{
	struct peer_receiver *r = &p->served;
	const char *fault;
	size_t index = 0;
	uint8_t refused;

	if (p->offered_extension == 0 && pkt->opcode >= PEER_SEND_FIRST) {
		peer_fail(p, "opcode %02x, which was not agreed", pkt->opcode);
		return;
	}
	if (cut) {
		peer_receiver_trimmed(r, pkt);
		return;
	}
	fault = fault_of(p, pkt);
	if (fault) {
		peer_fail(p, "PSN %06" PRIx32 ": %s", pkt->psn, fault);
		return;
	}
	if (peer_receiver_arrive(r, pkt, &index) != PEER_NEW || lacks_receive(p, pkt))
		return;
	check_limit(p, pkt);
	refused = refusal_of(p, pkt);
	if (!refused)
		place(p, pkt);
	peer_receiver_keep(r, index, pkt, refused);
	if (p->options.ack_when == 2)
		peer_receiver_acknowledge(r, pkt);
	if (execute(p))
		peer_receiver_ack_later(r);
	if (p->options.ack_when != 2)
		peer_receiver_acknowledge(r, pkt);
}
