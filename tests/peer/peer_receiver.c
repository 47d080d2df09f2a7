/* SPDX-License-Identifier: BSD-2-Clause */
/* peer_receiver.c - see peer_receiver.h. */
#include "peer_receiver.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

#define ACK_DELAY_MAX_NS 20000u
#define CE 3u

void peer_receiver_init(struct peer_receiver *r, struct peer *p, bool response, uint32_t first_psn,
			uint32_t window)
{
	*r = (struct peer_receiver){.peer = p,
				    .response = response,
				    .first_psn = first_psn,
				    .window = window,
				    .offered = window,
				    .most_offered = window};
}

void peer_receiver_fini(struct peer_receiver *r)
{
	free(r->packets);
}

static struct peer_rx_packet *packet_at(struct peer_receiver *r, size_t i)
{
	size_t old = r->room;

	if (i < old)
		return &r->packets[i];
	r->room = i * 2 + 256;
	r->packets = realloc(r->packets, r->room * sizeof(*r->packets));
	if (!r->packets)
		abort();
	memset(r->packets + old, 0, (r->room - old) * sizeof(*r->packets));
	return &r->packets[i];
}

static bool have(const struct peer_receiver *r, int64_t i)
{
	return i < (int64_t)r->expected || (i >= 0 && i < (int64_t)r->room && r->packets[i].have);
}

static int64_t index_of(const struct peer_receiver *r, uint32_t psn)
{
	uint32_t at = (r->first_psn + (uint32_t)r->expected) & PEER_PSN_MASK;

	return (int64_t)r->expected + peer_serial_distance(at, psn);
}

static uint32_t psn_at(const struct peer_receiver *r, int64_t i)
{
	return (uint32_t)((int64_t)r->first_psn + i) & PEER_PSN_MASK;
}

static uint8_t opcode_of(const struct peer_receiver *r, enum peer_opcode opcode)
{
	return (uint8_t)(opcode | (r->response ? PEER_RESPONSE_BIT : 0));
}

/* ---- SACK ---- */

static uint32_t counted_bytes(const struct peer *p, const struct peer_packet *pkt)
{
	switch (p->options.rcvd_count) {
	case 0:
		return peer_packet_nominal(pkt);
	case 1:
		return pkt->payload_len;
	default:
		return pkt->payload_len > 1024 ? pkt->payload_len : 1024;
	}
}

/* Where the bitmap begins, for a trigger; REQ(rsp.sack.bitmap-slides) is the first of them. */
static int64_t map_base(struct peer_receiver *r, int64_t trigger)
{
	int64_t base = (int64_t)r->expected, newest = (int64_t)r->highest - 1;

	switch (r->peer->options.sack_map) {
	case 0:
		return newest - 63 > base ? newest - 63 : base;
	case 1:
		return base;
	case 2:
		return trigger - 31 > base ? trigger - 31 : base;
	default:
		if ((int64_t)r->walk < base || (int64_t)r->walk > newest)
			r->walk = (size_t)base;
		r->walk += 64;
		return (int64_t)r->walk - 64;
	}
}

static void fill_map(struct peer_receiver *r, struct peer_packet *sack, int64_t trigger)
{
	int64_t base = map_base(r, trigger) - r->peer->options.sack_from_cack;

	for (int64_t i = 0; i < 64; i++)
		if (have(r, base + i))
			sack->bitmap |= UINT64_C(1) << i;
	sack->sack_offset = (int16_t)(base - ((int64_t)r->expected - 1));
	if (r->peer->options.sack_ooo == 0)
		for (size_t i = r->expected; i < r->highest; i++)
			sack->ooo = (uint16_t)(sack->ooo + have(r, (int64_t)i));
}

static uint8_t mpr_byte(struct peer_receiver *r)
{
	struct peer *p = r->peer;

	if (p->options.dynamic_mpr || r->response) {
		if (p->options.dynamic_mpr && peer_chance(p, 16))
			r->offered = 128 * (1 + (uint32_t)(peer_random(p) % (r->window / 128)));
		return (uint8_t)(r->offered / 128);
	}
	return p->options.mpr_byte == 1 && p->c.extension == 0 ? 0 : (uint8_t)(r->window / 128);
}

/* Fills in all but what the trigger says. */
static struct peer_packet new_sack(struct peer_receiver *r)
{
	struct peer *p = r->peer;
	uint32_t cack = psn_at(r, (int64_t)r->expected - 1);
	struct peer_packet sack = peer_header(p, opcode_of(r, PEER_SACK), cack);

	sack.cack_psn = cack;
	sack.mpr = mpr_byte(r);
	sack.rcvd = (uint32_t)((r->rcvd_bytes + 255) / 256) & 0xFFFFFFu;
	if (p->options.sack_penalty && peer_chance(p, 8))
		sack.penalty = (uint8_t)(1 + peer_random(p) % 127);
	sack.restore = p->options.sack_penalty && sack.penalty == 0;
	return sack;
}

/* REQ(rsp.sack.mark) REQ(req.ev.always-skip) */
static uint8_t mark_for(const struct peer *p, const struct peer_packet *trigger)
{
	if (p->options.always_skip && trigger->ev % 8 == 3)
		return 2;
	if (p->options.always_skip == 2 && trigger->ev % 8 == 5)
		return 3;
	return trigger->ecn == CE;
}

static void send_sack(struct peer_receiver *r, const struct peer_packet *trigger)
{
	struct peer *p = r->peer;
	struct peer_packet sack = new_sack(r);
	int64_t at = index_of(r, trigger->psn);

	sack.m = mark_for(p, trigger);
	sack.ack_psn_offset = (int16_t)(at - ((int64_t)r->expected - 1));
	sack.entropy = peer_reflected(p, trigger->ev);
	sack.rtx = p->options.sack_rtx == 0 && trigger->rtx;
	sack.stamp = p->options.sack_stamp == 0 ? trigger->stamp : 0;
	fill_map(r, &sack, at);
	r->since_sack = 0;
	peer_queue(p, &sack);
}

void peer_receiver_acknowledge(struct peer_receiver *r, const struct peer_packet *trigger)
{
	static const uint32_t thresholds[] = {4096, 0, 65536, UINT32_MAX};
	uint32_t size = trigger->payload_len > 1024 ? trigger->payload_len : 1024;

	/* REQ(rsp.sack.trigger.bytes) .ackreq .ecn .rtx */
	r->since_sack += size;
	if (r->since_sack > thresholds[r->peer->options.sack_bytes] || trigger->ack_request ||
	    trigger->ecn == CE || trigger->rtx)
		send_sack(r, trigger);
}

void peer_receiver_take_probe(struct peer_receiver *r, const struct peer_packet *pkt)
{
	struct peer *p = r->peer;
	struct peer_packet sack = new_sack(r);

	r->started = true;
	if (pkt->psn != 0 || pkt->vendor != 0) /* REQ(wire.bth.control-use) */
		peer_fail(p, "probe with PSN %06" PRIx32 ", vendor byte %u", pkt->psn, pkt->vendor);
	sack.pr = true;
	sack.probe_id = pkt->probe_id;
	sack.entropy = peer_reflected(p, pkt->ev);
	sack.stamp = p->options.sack_stamp == 0 ? pkt->stamp : 0;
	sack.m = mark_for(p, pkt);
	sack.extension = r->response ? 0 : p->c.extension;
	fill_map(r, &sack, (int64_t)r->highest - 1);
	peer_queue(p, &sack);
	if (p->options.ack_probe == 0 && r->messages > 0)
		peer_receiver_ack_later(r);
}

/* ---- NACK ---- */

void peer_receiver_nack(struct peer_receiver *r, const struct peer_packet *pkt, uint8_t reason,
			uint8_t vendor)
{
	struct peer *p = r->peer;
	struct peer_packet nack = peer_header(p, opcode_of(r, PEER_NACK), pkt->psn);

	nack.reason = reason;
	nack.vendor = vendor;
	nack.entropy = peer_reflected(p, pkt->ev);
	nack.nack_psn = pkt->psn;
	nack.stamp = p->options.sack_stamp == 0 ? pkt->stamp : 0;
	nack.rtx = pkt->rtx;
	peer_queue(p, &nack);
}

void peer_receiver_trimmed(struct peer_receiver *r, const struct peer_packet *pkt)
{
	struct peer *p = r->peer;
	int64_t i = index_of(r, pkt->psn);
	bool last_hop = pkt->dscp == PEER_DSCP_TRIMMED_LASTHOP;

	if (p->options.trim == 1 || i < 0 || i >= (int64_t)(r->expected + r->window))
		return;
	/* REQ(rsp.nack.trim-duplicate) REQ(rsp.nack.trim-last-hop) */
	if (have(r, i) && p->options.trim_duplicate == 0)
		send_sack(r, pkt);
	else
		peer_receiver_nack(r, pkt, last_hop ? PEER_TRIMMED_LASTHOP : PEER_TRIMMED, 0);
}

/* ---- arrival ---- */

static uint32_t sum_of(const struct peer_packet *pkt)
{
	const uint64_t fields[] = {pkt->opcode, pkt->rqmsn,  pkt->msn,	       pkt->va,
				   pkt->rkey,	pkt->dmalen, pkt->payload_len, pkt->word};
	uint32_t sum = 2166136261u;

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		sum = (sum ^ (uint32_t)(fields[i] ^ fields[i] >> 32)) * 16777619u;
	for (uint32_t i = 0; i < pkt->payload_len; i++)
		sum = (sum ^ pkt->payload[i]) * 16777619u;
	return sum;
}

/* REQ(req.rtx.same-packet) REQ(req.rtx.flag) */
static void check_copy(struct peer_receiver *r, const struct peer_packet *pkt, int64_t i)
{
	struct peer_rx_packet *k = packet_at(r, (size_t)i);

	if (k->seen && k->sum != sum_of(pkt))
		peer_fail(r->peer, "PSN %06" PRIx32 " came with other contents", pkt->psn);
	k->seen = true;
	k->sum = sum_of(pkt);
}

/* REQ(req.rtx.flag) REQ(wire.bth.rtx): a PSN that was sent before has it, a new one is the next. */
void peer_receiver_watch(struct peer_receiver *r, const struct peer_packet *pkt)
{
	uint32_t at = (r->first_psn + (uint32_t)r->sent) & PEER_PSN_MASK;
	int64_t i = (int64_t)r->sent + peer_serial_distance(at, pkt->psn);

	if (i < 0 || i > (int64_t)r->sent || pkt->rtx != (i < (int64_t)r->sent))
		peer_fail(r->peer, "index %" PRId64 " is sent with rtx %d, so far %zu were", i,
			  pkt->rtx, r->sent);
	else if (i == (int64_t)r->sent)
		r->sent++;
}

/* Whether a shortage is to be played; never for ever, so that all ends. */
static bool is_short(struct peer *p)
{
	return p->options.shortage > 0 && peer_chance(p, 12);
}

enum peer_arrival peer_receiver_arrive(struct peer_receiver *r, const struct peer_packet *pkt,
				       size_t *index)
{
	static const uint8_t reasons[] = {0, PEER_NO_BITMAP, PEER_NO_PKT_BUFFER, PEER_NO_RESOURCE,
					  0x08};
	struct peer *p = r->peer;
	int64_t i = index_of(r, pkt->psn);

	r->started = true;
	if (i < 0 || i >= (int64_t)(r->expected + r->window)) {
		/* REQ(req.gate.mpr): no offer of ours was ever larger. */
		peer_fail(p, "PSN %06" PRIx32 " is outside [%06" PRIx32 " + %u)", pkt->psn,
			  psn_at(r, (int64_t)r->expected), r->window);
		return PEER_OUTSIDE;
	}
	check_copy(r, pkt, i);
	r->asked |= pkt->ack_request;
	if (have(r, i)) { /* REQ(rsp.window.duplicate-below) REQ(rsp.window.duplicate-above) */
		send_sack(r, pkt);
		if (i < (int64_t)r->expected && r->messages > 0)
			peer_receiver_ack_later(r);
		return PEER_DUPLICATE;
	}
	if (is_short(p)) { /* REQ(rsp.nack.shortage) */
		peer_receiver_nack(r, pkt, reasons[p->options.shortage], 0);
		return PEER_OUTSIDE;
	}
	*index = (size_t)i;
	return PEER_NEW;
}

void peer_receiver_keep(struct peer_receiver *r, size_t index, const struct peer_packet *pkt,
			uint8_t refused)
{
	struct peer_rx_packet *k = packet_at(r, index);

	k->have = true;
	k->refused = refused;
	k->pkt = *pkt;
	k->pkt.payload = NULL;
	if (pkt->payload_len <= sizeof(k->operands) && pkt->payload_len > 0)
		memcpy(k->operands, pkt->payload, pkt->payload_len);
	r->rcvd_bytes += counted_bytes(r->peer, pkt);
	if (index >= r->highest)
		r->highest = index + 1;
	while (r->expected < r->room && r->packets[r->expected].have)
		r->expected++;
}

/* ---- transport ACK ---- */

void peer_receiver_ack(struct peer_receiver *r, uint8_t syndrome)
{
	struct peer *p = r->peer;
	bool named = p->options.ack_psn == 0 || syndrome != PEER_ACK_POSITIVE;
	uint32_t psn = named ? psn_at(r, (int64_t)r->executed - 1) : 0;
	struct peer_packet ack = peer_header(p, opcode_of(r, PEER_ACK), psn);

	ack.syndrome = syndrome;
	ack.ack_msn = (uint32_t)r->messages & 0xFFFFFFu;
	r->ack_due = r->asked = false;
	peer_queue(p, &ack);
}

void peer_receiver_ack_later(struct peer_receiver *r)
{
	struct peer *p = r->peer;

	if (p->options.ack_when == 0) {
		peer_receiver_ack(r, PEER_ACK_POSITIVE);
		return;
	}
	if (!r->ack_due)
		r->ack_at_ns = p->now_ns +
			       (p->options.ack_when == 1 ? peer_random(p) % ACK_DELAY_MAX_NS : 0);
	r->ack_due = true;
}

bool peer_receiver_owes_ack(const struct peer_receiver *r)
{
	return r->ack_due && (r->asked || r->peer->options.ack_when != 3);
}

void peer_receiver_tick(struct peer_receiver *r)
{
	if (peer_receiver_owes_ack(r) && r->ack_at_ns <= r->peer->now_ns)
		peer_receiver_ack(r, PEER_ACK_POSITIVE);
}
