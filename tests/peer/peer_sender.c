/* SPDX-License-Identifier: BSD-2-Clause */
/* peer_sender.c - see peer_sender.h. */
#include "peer_sender.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

#define TIMEOUT_MIN_NS 400000u
#define TIMEOUT_MAX_NS 6400000u
/* A hole is a loss when something that left so much later has arrived. */
#define REORDER_NS 60000u
#define PROBE_AFTER_NS 150000u
#define REFUSED_WAIT_NS 30000u
#define UNIT_NS 128u

static void *grow(void *block, size_t *room, size_t want, size_t size)
{
	size_t old = *room;

	if (want <= old)
		return block;
	*room = want * 2 + 64;
	block = realloc(block, *room * size);
	if (!block)
		abort();
	memset((uint8_t *)block + old * size, 0, (*room - old) * size);
	return block;
}

static uint64_t first_timeout(const struct peer *p)
{
	return p->c.timeout_ns ? p->c.timeout_ns : TIMEOUT_MIN_NS;
}

void peer_sender_init(struct peer_sender *s, struct peer *p, bool response, uint32_t first_psn,
		      uint32_t window)
{
	*s = (struct peer_sender){.peer = p,
				  .response = response,
				  .first_psn = first_psn,
				  .window = window,
				  .timeout_ns = first_timeout(p)};
	s->probes = calloc(PEER_PROBES_MAX, sizeof(*s->probes));
	if (!s->probes)
		abort();
}

void peer_sender_fini(struct peer_sender *s)
{
	free(s->packets);
	free(s->ends);
	free(s->probes);
}

void peer_sender_add(struct peer_sender *s, const struct peer_packet *pkt, bool ends)
{
	struct peer_tx_packet *t;

	s->packets = grow(s->packets, &s->room, s->n + 1, sizeof(*s->packets));
	s->ends = grow(s->ends, &s->ends_room, s->messages + 1, sizeof(*s->ends));
	t = &s->packets[s->n];
	t->pkt = *pkt;
	t->pkt.psn = (s->first_psn + (uint32_t)s->n) & PEER_PSN_MASK;
	t->pkt.msn = (uint16_t)s->messages; /* REQ(wire.meth.msn) */
	t->pkt.pad = (uint8_t)(-pkt->payload_len & 3);
	s->n++;
	if (ends)
		s->ends[s->messages++] = s->n;
	if (s->una == s->next)
		s->heard_ns = s->peer->now_ns;
}

static int64_t index_of(const struct peer_sender *s, uint32_t psn)
{
	uint32_t at = (s->first_psn + (uint32_t)s->una) & PEER_PSN_MASK;

	return (int64_t)s->una + peer_serial_distance(at, psn);
}

/* ---- sending ---- */

static uint32_t choose_ev(struct peer_sender *s, const struct peer_tx_packet *t)
{
	struct peer *p = s->peer;
	uint32_t ev = p->c.evs[peer_random(p) % p->c.n_evs];

	/* REQ(req.rtx.other-ev) */
	while (t && t->sent > 0 && p->c.n_evs > 1 &&
	       ev == t->sendings[(t->sent - 1) % PEER_SENDS_KEPT].ev)
		ev = p->c.evs[peer_random(p) % p->c.n_evs];
	return ev;
}

static bool wants_stamp(struct peer *p)
{
	return p->options.stamps == 0 || (p->options.stamps == 1 && peer_chance(p, 2));
}

static bool wants_ack(struct peer *p, const struct peer_sender *s, size_t i)
{
	switch (p->options.ack_request) {
	case 0:
		return peer_opcode_ends(s->packets[i].pkt.opcode) || i + 1 == s->una + s->window;
	case 1:
		return true;
	case 2:
		return false;
	default:
		return peer_chance(p, 5);
	}
}

static void send_packet(struct peer_sender *s, size_t i, struct peer_packet *pkt)
{
	struct peer *p = s->peer;
	struct peer_tx_packet *t = &s->packets[i];

	*pkt = t->pkt;
	pkt->rtx = t->sent > 0; /* REQ(req.rtx.flag) */
	pkt->dscp = pkt->rtx ? PEER_DSCP_RETX : PEER_DSCP_TRIMMABLE;
	pkt->ev = choose_ev(s, t);
	pkt->has_stamp = wants_stamp(p);
	pkt->stamp = peer_stamp(p);
	pkt->tsr = p->options.stamp_unit;
	pkt->ack_request = wants_ack(p, s, i);
	t->sendings[t->sent++ % PEER_SENDS_KEPT] =
		(struct peer_sending){.at_ns = p->now_ns,
				      .ev = pkt->ev,
				      .stamp = pkt->has_stamp ? pkt->stamp : 0,
				      .rtx = pkt->rtx};
	t->lost = false;
	s->retransmits += pkt->rtx;
}

static bool is_held(const struct peer_sender *s, size_t i)
{
	return i >= s->rnr_from && s->peer->now_ns < s->rnr_until_ns;
}

static size_t in_flight(const struct peer_sender *s)
{
	size_t n = 0;

	for (size_t i = s->una; i < s->next; i++)
		n += !s->packets[i].acked && !s->packets[i].lost;
	return n;
}

bool peer_sender_next(struct peer_sender *s, struct peer_packet *pkt)
{
	static const size_t limits[] = {SIZE_MAX, 64, 4};
	size_t limit = limits[s->peer->options.flight];

	for (size_t i = s->una; i < s->next; i++) { /* REQ(req.rtx.oldest-first) */
		struct peer_tx_packet *t = &s->packets[i];

		if (t->lost && !t->acked && t->not_before_ns <= s->peer->now_ns && !is_held(s, i)) {
			send_packet(s, i, pkt);
			return true;
		}
	}
	/* REQ(req.gate.mpr) */
	if (s->next == s->n || s->next >= s->una + s->window || is_held(s, s->next) ||
	    in_flight(s) >= limit)
		return false;
	send_packet(s, s->next++, pkt);
	return true;
}

void peer_sender_probe(struct peer_sender *s)
{
	struct peer *p = s->peer;
	struct peer_packet pkt = peer_header(p, PEER_PROBE, 0);

	if (s->n_probes == PEER_PROBES_MAX)
		return;
	if (s->response)
		pkt.opcode |= PEER_RESPONSE_BIT;
	pkt.dscp = PEER_DSCP_NO_TRIM;
	pkt.ev = choose_ev(s, NULL);
	pkt.probe_id = (uint16_t)s->n_probes;
	pkt.stamp = peer_stamp(p);
	pkt.tsr = p->options.stamp_unit;
	pkt.extension = s->response ? 0 : p->c.extension;
	s->probes[s->n_probes++] = (struct peer_probe){.sent_ns = p->now_ns, .ev = pkt.ev};
	s->probed_ns = p->now_ns;
	peer_queue(p, &pkt);
}

/* ---- what comes back ---- */

/* Returns whether a packet was unacknowledged so far. */
static bool mark_acked(struct peer_sender *s, int64_t i)
{
	struct peer_tx_packet *t = &s->packets[i];

	if (t->delivered == 0)
		peer_fail(s->peer, "PSN %06" PRIx32 " is acknowledged, and never arrived",
			  t->pkt.psn);
	if (t->acked)
		return false;
	t->acked = true;
	return true;
}

static void infer_losses(struct peer_sender *s, uint64_t newest_ns)
{
	for (size_t i = s->una; i < s->next; i++) {
		struct peer_tx_packet *t = &s->packets[i];

		if (!t->acked && !t->lost &&
		    t->sendings[(t->sent - 1) % PEER_SENDS_KEPT].at_ns + REORDER_NS < newest_ns)
			t->lost = true;
	}
}

/* REQ(wire.seth.entropy) REQ(rsp.sack.reflect-ev) REQ(rsp.sack.reflect-time)
 * REQ(wire.bth.sack-rtx) */
static void check_reflection(struct peer_sender *s, const struct peer_packet *pkt, int64_t i)
{
	const struct peer_tx_packet *t;

	if (i < 0 || i >= (int64_t)s->next) {
		peer_fail(s->peer, "a SACK was triggered by index %" PRId64 ", sent are %zu", i,
			  s->next);
		return;
	}
	t = &s->packets[i];
	if (pkt->m == 1 && t->marked == 0) /* REQ(rsp.sack.mark) */
		peer_fail(s->peer, "PSN %06" PRIx32 " was not marked", t->pkt.psn);
	for (unsigned k = 0; k < PEER_SENDS_KEPT && k < t->sent; k++)
		if (t->sendings[k].ev == pkt->entropy && t->sendings[k].stamp == pkt->stamp &&
		    t->sendings[k].rtx == pkt->rtx)
			return;
	if (t->sent <= PEER_SENDS_KEPT)
		peer_fail(s->peer,
			  "PSN %06" PRIx32 " was not sent with EV %08" PRIx32 ", stamp %04x, "
			  "rtx %d, as its SACK or NACK says",
			  t->pkt.psn, pkt->entropy, pkt->stamp, pkt->rtx);
}

static void check_probe_answer(struct peer_sender *s, const struct peer_packet *pkt)
{
	/* REQ(req.probe.reliability) REQ(wire.seth.probe-id) */
	if (pkt->probe_id >= s->n_probes)
		peer_fail(s->peer, "answer to probe %u, sent were %u", pkt->probe_id, s->n_probes);
	else if (s->probes[pkt->probe_id].ev != pkt->entropy)
		peer_fail(s->peer, "answer to probe %u names EV %08" PRIx32, pkt->probe_id,
			  pkt->entropy);
	else
		s->probes[pkt->probe_id].answered = true;
}

/*
 * REQ(rsp.sack.rcvd-bytes): each packet that is acknowledged counts, and no packet twice. Nominal
 * is a size with the headers of this packet or with those that every packet has; a time stamp, an
 * immediate and the pad are between the two.
 */
static void check_received_bytes(struct peer_sender *s, const struct peer_packet *pkt, int64_t cack)
{
	uint64_t least = 0, most = 0;

	for (int64_t i = 0; i < (int64_t)s->next; i++) {
		uint64_t size = peer_packet_nominal(&s->packets[i].pkt);

		if (i < cack)
			least += PEER_HEADERS_LEAST + s->packets[i].pkt.payload_len;
		if (s->packets[i].delivered > 0)
			most += size + 4;
	}
	if ((uint64_t)pkt->rcvd * 256 < least || (uint64_t)pkt->rcvd * 256 > most + 255)
		peer_fail(s->peer,
			  "rcvd_bytes %" PRIu32 " x 256, want between %" PRIu64 " and %" PRIu64,
			  pkt->rcvd, least, most);
}

static void advance(struct peer_sender *s, bool news)
{
	while (s->una < s->next && s->packets[s->una].acked)
		s->una++;
	if (!news)
		return;
	s->heard_ns = s->peer->now_ns;
	s->timeout_ns = first_timeout(s->peer);
}

/* Takes what a SACK says arrived; returns when the newest of that was sent, if only once. */
static uint64_t take_map(struct peer_sender *s, const struct peer_packet *pkt, int64_t end,
			 bool *news)
{
	uint64_t newest_ns = 0;
	int64_t base = end - 1 + pkt->sack_offset;

	for (int64_t i = 0; i < (int64_t)s->next; i++) {
		struct peer_tx_packet *t = &s->packets[i];
		bool in_map = i >= base && i < base + 64 && pkt->bitmap >> (i - base) & 1;

		if ((i >= end && !in_map) || !mark_acked(s, i))
			continue;
		*news = true;
		if (t->sent == 1 && t->sendings[0].at_ns > newest_ns)
			newest_ns = t->sendings[0].at_ns;
	}
	for (int64_t i = 0; i < 64; i++)
		if (pkt->bitmap >> i & 1 && (base + i >= (int64_t)s->next || base + i < -1))
			peer_fail(s->peer, "a SACK's bitmap names index %" PRId64 ", sent are %zu",
				  base + i, s->next);
	return newest_ns;
}

void peer_sender_take_sack(struct peer_sender *s, const struct peer_packet *pkt)
{
	struct peer *p = s->peer;
	int64_t end = index_of(s, pkt->cack_psn) + 1;
	uint64_t newest_ns;
	bool news = false;

	if (end < 0 || end > (int64_t)s->next) {
		peer_fail(p, "cack_psn %06" PRIx32 " was never sent", pkt->cack_psn);
		return;
	}
	if (pkt->psn != pkt->cack_psn) /* REQ(wire.bth.control-use) */
		peer_fail(p, "SACK with PSN %06" PRIx32 " and cack_psn %06" PRIx32, pkt->psn,
			  pkt->cack_psn);
	if (pkt->pr)
		check_probe_answer(s, pkt);
	else
		check_reflection(s, pkt, end - 1 + pkt->ack_psn_offset);
	check_received_bytes(s, pkt, end);
	newest_ns = take_map(s, pkt, end, &news);
	if (pkt->m == 1 && p->options.infer == 1)
		newest_ns = 0;
	advance(s, news);
	if (p->options.infer == 0)
		infer_losses(s, newest_ns);
	/* REQ(req.mpr.dynamic) */
	if ((s->response || p->options.dynamic_mpr) && pkt->mpr > 0)
		s->window = pkt->mpr * 128u;
	if (!s->response && !p->options.dynamic_mpr && pkt->mpr * 128u != p->c.other_window)
		peer_fail(p, "SACK with MPR %u, window is %u", pkt->mpr, p->c.other_window);
}

static void take_rnr(struct peer_sender *s, struct peer_tx_packet *t, size_t i, uint8_t code)
{
	/* InfiniBand's code, in units of 10 us. */
	static const uint32_t waits[32] = {65536, 1,	2,    3,     4,	    6,	   8,	  12,
					   16,	  24,	32,   48,    64,    96,	   128,	  192,
					   256,	  384,	512,  768,   1024,  1536,  2048,  3072,
					   4096,  6144, 8192, 12288, 16384, 24576, 32768, 49152};
	uint64_t now = s->peer->now_ns;

	if (now >= s->rnr_until_ns) {
		s->rnr_until_ns = now + waits[code & 31] * UINT64_C(10000);
		s->rnr_from = i;
	} else if (i < s->rnr_from) {
		s->rnr_from = i;
	}
	t->lost = true;
	s->heard_ns = now;
}

void peer_sender_take_nack(struct peer_sender *s, const struct peer_packet *pkt)
{
	struct peer *p = s->peer;
	int64_t i = index_of(s, pkt->nack_psn);
	struct peer_tx_packet *t;

	if (i < 0 || i >= (int64_t)s->next) {
		peer_fail(p, "NACK for PSN %06" PRIx32 ", which was never sent", pkt->nack_psn);
		return;
	}
	if (pkt->psn != pkt->nack_psn)
		peer_fail(p, "NACK with PSN %06" PRIx32 " and nack_psn %06" PRIx32, pkt->psn,
			  pkt->nack_psn);
	t = &s->packets[i];
	if (t->acked)
		return;
	switch (pkt->reason) {
	case PEER_TRIMMED:
	case PEER_TRIMMED_LASTHOP: /* REQ(rsp.nack.trim) REQ(rsp.nack.trim-last-hop) */
		if ((pkt->reason == PEER_TRIMMED ? t->cut : t->cut_last) == 0)
			peer_fail(p, "NACK says trimmed: PSN %06" PRIx32, pkt->nack_psn);
		t->lost = true;
		t->not_before_ns = t->sent > 2 ? p->now_ns + REFUSED_WAIT_NS : 0;
		return;
	case PEER_NO_BITMAP:
	case PEER_NO_PKT_BUFFER:
	case PEER_NO_RESOURCE:
		t->lost = true;
		t->not_before_ns = p->now_ns + REFUSED_WAIT_NS;
		return;
	case PEER_PSN_OOR_WINDOW:
		if (!p->options.dynamic_mpr)
			peer_fail(p, "PSN %06" PRIx32 " was inside the window", pkt->nack_psn);
		t->lost = true;
		t->not_before_ns = p->now_ns + REFUSED_WAIT_NS;
		return;
	case PEER_RNR: /* REQ(ext.rnr.wait) */
		take_rnr(s, t, (size_t)i, pkt->vendor);
		return;
	default:
		peer_fail(p, "NACK of reason %02x", pkt->reason);
	}
}

bool peer_sender_take_ack(struct peer_sender *s, const struct peer_packet *pkt)
{
	size_t done = pkt->ack_msn;
	size_t end;

	if (done > s->messages) {
		peer_fail(s->peer, "ACK for %zu messages, sent were %zu", done, s->messages);
		return false;
	}
	if (done <= s->completed)
		return true;
	end = s->ends[done - 1];
	for (size_t i = 0; i < end; i++)
		if (s->packets[i].delivered == 0) {
			peer_fail(s->peer, "ACK for %zu messages, and PSN %06" PRIx32 " is missing",
				  done, s->packets[i].pkt.psn);
			return false;
		}
	s->completed = done;
	s->heard_ns = s->peer->now_ns;
	return true;
}

/* ---- timers ---- */

bool peer_sender_is_busy(const struct peer_sender *s)
{
	return s->una < s->n || (!s->response && s->completed < s->messages);
}

/* Everything has arrived, and the transport ACK that says so is lost: a copy brings another. */
static void nudge(struct peer_sender *s)
{
	struct peer_tx_packet *t = &s->packets[s->ends[s->completed] - 1];
	struct peer_packet pkt;

	send_packet(s, (size_t)(t - s->packets), &pkt);
	pkt.ack_request = true;
	peer_queue(s->peer, &pkt);
	s->nudged_ns = s->peer->now_ns;
}

void peer_sender_tick(struct peer_sender *s)
{
	uint64_t now = s->peer->now_ns;
	bool expired = false;

	if (!peer_sender_is_busy(s) || now < s->rnr_until_ns)
		return;
	for (size_t i = s->una; i < s->next; i++) {
		struct peer_tx_packet *t = &s->packets[i];

		if (t->acked || t->lost ||
		    t->sendings[(t->sent - 1) % PEER_SENDS_KEPT].at_ns + s->timeout_ns > now)
			continue;
		t->lost = true;
		expired = true;
	}
	if (expired && s->timeout_ns < TIMEOUT_MAX_NS)
		s->timeout_ns *= 2;
	if (!s->response && s->una == s->next && s->completed < s->messages &&
	    s->ends[s->completed] <= s->next && s->heard_ns + s->timeout_ns < now &&
	    s->nudged_ns + s->timeout_ns < now)
		nudge(s);
	if (s->peer->options.probes == 0 && s->una < s->next &&
	    s->heard_ns + PROBE_AFTER_NS < now && s->probed_ns + PROBE_AFTER_NS < now)
		peer_sender_probe(s);
}

bool peer_sender_delivered(struct peer_sender *s, const struct peer_packet *pkt, bool whole)
{
	int64_t i = index_of(s, pkt->psn);
	struct peer_tx_packet *t;

	if (i < 0 || i >= (int64_t)s->next)
		return false;
	t = &s->packets[i];
	t->marked += pkt->ecn == 3;
	if (whole)
		return t->delivered++ > 0;
	t->cut += pkt->dscp == PEER_DSCP_TRIMMED;
	t->cut_last += pkt->dscp == PEER_DSCP_TRIMMED_LASTHOP;
	return t->delivered > 0;
}

void peer_sender_refused(struct peer_sender *s, uint32_t psn)
{
	int64_t i = index_of(s, psn);

	if (i >= 0 && i < (int64_t)s->next)
		s->packets[i].delivered = 0;
}
