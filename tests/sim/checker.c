/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * checker.c - the rules of checker.h. None of this knows how the core works: it knows what was
 * posted, and sees packets, placements and completions.
 */
#include "checker.h"

#include <endian.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared.h"

#define PSN_MASK 0xFFFFFFu

void sim_fail(struct sim_check *check, const char *format, ...)
{
	va_list args;
	int n;

	if (check->failed)
		return;
	check->failed = true;
	n = snprintf(check->why, sizeof(check->why), "at %.3f us: ", (double)*check->now_ns / 1000);
	va_start(args, format);
	vsnprintf(check->why + n, sizeof(check->why) - (size_t)n, format, args);
	va_end(args);
}

static void *grow(void *array, size_t *room, size_t n, size_t size)
{
	if (n < *room)
		return array;
	*room = *room ? 2 * *room : 16;
	array = realloc(array, *room * size);
	if (!array) {
		perror("sim checker");
		abort();
	}
	return array;
}

static void *zeroed(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p) {
		perror("sim checker");
		abort();
	}
	return p;
}

/* ---- payload ---- */

static inline uint64_t pattern_word(uint32_t node, uint64_t word)
{
	uint64_t z = (word + ((uint64_t)node << 56)) * UINT64_C(0x9E3779B97F4A7C15);

	return z ^ z >> 29;
}

/* By words: byte by byte it took a third of the time of a world. */
void sim_pattern(uint32_t node, uint64_t addr, uint8_t *out, size_t len)
{
	unsigned shift = addr % 8 * 8;
	uint64_t at = pattern_word(node, addr / 8), next, word;

	for (;; len -= sizeof(word), out += sizeof(word), at = next) {
		addr += sizeof(word);
		next = pattern_word(node, addr / 8);
		word = htole64(shift ? at >> shift | next << (64 - shift) : at);
		if (len < sizeof(word))
			break;
		memcpy(out, &word, sizeof(word));
	}
	memcpy(out, &word, len);
}

/* Compares with the bytes that the message's SGEs name from `offset` on. */
static bool payload_is_right(const struct sim_msg *m, uint64_t offset, const uint8_t *src,
			     size_t len)
{
	uint8_t want[4096];

	if (m->opcode > RD_WR_READ)
		return offset == 0 && len == 8 && memcmp(&m->original, src, 8) == 0;
	for (uint32_t i = 0; i < m->n_sge && len > 0; i++) {
		size_t n;

		if (offset >= m->sge[i].length) {
			offset -= m->sge[i].length;
			continue;
		}
		while (len > 0 && offset < m->sge[i].length) {
			n = m->sge[i].length - offset < len ? m->sge[i].length - offset : len;
			n = n < sizeof(want) ? n : sizeof(want);
			sim_pattern(m->flow->src, m->sge[i].addr + offset, want, n);
			if (memcmp(want, src, n) != 0)
				return false;
			offset += n;
			src += n;
			len -= n;
		}
		offset = 0;
	}
	return len == 0;
}

/* ---- memory regions ---- */

uint64_t sim_mr_take(struct sim_mr *mr, uint64_t len)
{
	uint64_t offset = mr->taken;

	mr->taken += len;
	return offset;
}

static const struct sim_place *place_at(const struct sim_mr *mr, uint64_t offset)
{
	size_t low = 0, high = mr->n_places;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (mr->places[mid].offset <= offset)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &mr->places[low - 1] : NULL;
}

/* The message that a place belongs to now. */
static struct sim_msg *owner(const struct sim_mr *mr, const struct sim_place *p)
{
	if (p->srq)
		return sim_srq_take(p->srq, p->recv, mr->check->given);
	if (p->msg)
		return p->msg;
	return p->recv < p->flow->takes ? p->flow->takers[p->recv] : NULL;
}

/* Only what goes through a window begins in front of others, and of those not of many. */
void sim_mr_place(struct sim_mr *mr, const struct sim_place *p)
{
	size_t i = mr->n_places++;

	mr->places = grow(mr->places, &mr->room, i, sizeof(*mr->places));
	for (; i > 0 && mr->places[i - 1].offset > p->offset; i--)
		mr->places[i] = mr->places[i - 1];
	mr->places[i] = *p;
}

static void drop_place(struct sim_mr *mr, const struct sim_msg *m)
{
	size_t i = mr->n_places;

	while (i > 0 && mr->places[i - 1].msg != m)
		i--;
	if (i == 0)
		return;
	mr->n_places--;
	for (i--; i < mr->n_places; i++)
		mr->places[i] = mr->places[i + 1];
}

/* Sets the bits [from, to) and says whether all of them were clear. */
static bool claim(uint64_t *bits, uint64_t from, uint64_t to)
{
	bool clear = true;

	while (from < to) {
		uint64_t n = 64 - from % 64 < to - from ? 64 - from % 64 : to - from;
		uint64_t mask = (n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1) << from % 64;

		clear = clear && !(bits[from / 64] & mask);
		bits[from / 64] |= mask;
		from += n;
	}
	return clear;
}

static void advance_all_placed(struct sim_flow *f)
{
	while (f->all_placed < f->n &&
	       f->msgs[f->all_placed]->placed == f->msgs[f->all_placed]->len)
		f->all_placed++;
}

/* REQ(ext.order.wait) */
static void check_order(const struct sim_msg *m, uint64_t end)
{
	const struct sim_flow *f = m->flow;

	if (!f->in_order || m->opcode != RD_WR_WRITE || end < m->len)
		return;
	if (f->all_placed < m->number || (m->len - 1) / f->mtu * f->mtu != m->placed)
		sim_fail(f->check,
			 "%s: the end of message %zu is placed, but %zu messages and %" PRIu64
			 " bytes before it",
			 f->name, m->number, f->all_placed, m->placed);
}

void sim_mr_placed(struct sim_mr *mr, uint64_t offset, const uint8_t *src, uint32_t len)
{
	const struct sim_place *p = place_at(mr, offset);
	struct sim_msg *m = p ? owner(mr, p) : NULL;
	uint64_t at;

	if (len == 0 || offset > mr->length || len > mr->length - offset) {
		mr->check->outside = true;
		sim_fail(mr->check, "placed %u bytes at %" PRIu64 " of MR %u/%u of %" PRIu64, len,
			 offset, mr->node, mr->index, mr->length);
		return;
	}
	at = p ? p->at + (offset - p->offset) : 0;
	if (!m || offset - p->offset > p->len || len > p->len - (offset - p->offset) ||
	    at >= m->len || len > m->len - at) {
		sim_fail(mr->check, "placed %u bytes at %" PRIu64 " of MR %u/%u: no message's", len,
			 offset, mr->node, mr->index);
		return;
	}
	if (*m->flow->dst_life != m->flow->life) {
		sim_fail(mr->check, "%s: message %zu of life %u placed in life %u", m->flow->name,
			 m->number, m->flow->life, *m->flow->dst_life);
		return;
	}
	if (m->key && m->key->over)
		sim_fail(mr->check, "%s: message %zu is placed through key %x, which is over",
			 m->flow->name, m->number, m->key->rkey);
	if (!m->bits && m->placed < m->len)
		m->bits = zeroed((m->len + 63) / 64, sizeof(*m->bits));
	if (!m->bits || !claim(m->bits, at, at + len)) {
		sim_fail(mr->check, "%s: bytes %" PRIu64 " + %u of message %zu placed twice",
			 m->flow->name, at, len, m->number);
		return;
	}
	if (src && !payload_is_right(m, at, src, len))
		sim_fail(mr->check, "%s: wrong bytes at %" PRIu64 " + %u of message %zu",
			 m->flow->name, at, len, m->number);
	check_order(m, at + len);
	m->placed += len;
	if (m->placed == m->len) {
		free(m->bits);
		m->bits = NULL;
	}
	advance_all_placed(m->flow);
}

void sim_mr_fini(struct sim_mr *mr)
{
	free(mr->places);
	free(mr->words);
}

/* ---- messages ---- */

static void grow_arrived(struct sim_flow *f)
{
	uint64_t room = f->arrived_room ? f->arrived_room : 64;
	uint64_t *bits;

	while (room < f->n_packets)
		room *= 2;
	if (room == f->arrived_room)
		return;
	bits = zeroed(room / 64, sizeof(*bits));
	if (f->arrived)
		memcpy(bits, f->arrived, f->arrived_room / 8);
	free(f->arrived);
	f->arrived = bits;
	f->arrived_room = room;
}

/* REQ(wire.meth.rqmsn) REQ(ext.recv.match) */
static bool takes_receive(const struct sim_msg *m)
{
	return m->opcode == RD_WR_SEND || m->flags & RD_SEND_IMM;
}

struct sim_msg *sim_flow_add(struct sim_flow *f, const struct sim_msg *proto, struct sim_mr *mr)
{
	struct sim_msg *m = zeroed(1, sizeof(*m));

	*m = *proto;
	m->flow = f;
	m->number = f->n;
	m->takes_before = f->takes;
	m->recv = SIM_NO_RECV;
	m->first_packet = f->n_packets;
	m->n_packets = m->len ? (m->len + (uint64_t)f->mtu - 1) / f->mtu : 1;
	f->n_packets += m->n_packets;
	f->bytes += m->len;
	if (takes_receive(m)) {
		f->takers = grow(f->takers, &f->takers_room, f->takes, sizeof(struct sim_msg *));
		f->takers[f->takes++] = m;
	}
	f->msgs = grow(f->msgs, &f->room, f->n, sizeof(struct sim_msg *));
	f->msgs[f->n++] = m;
	grow_arrived(f);
	advance_all_placed(f);
	if (mr && m->len && m->opcode == RD_WR_WRITE)
		sim_mr_place(mr,
			     &(struct sim_place){
				     .offset = m->mr_offset, .len = m->len, .msg = m, .flow = f});
	return m;
}

void sim_flow_recv(struct sim_flow *f, struct sim_mr *mr, uint64_t offset, uint64_t at,
		   uint32_t len)
{
	sim_mr_place(mr, &(struct sim_place){.offset = offset,
					     .len = len,
					     .flow = f,
					     .recv = f->recvs_posted,
					     .at = at});
}

void sim_flow_place(struct sim_msg *m, struct sim_mr *mr, uint64_t offset, uint64_t at,
		    uint32_t len)
{
	sim_mr_place(mr,
		     &(struct sim_place){
			     .offset = offset, .len = len, .msg = m, .flow = m->flow, .at = at});
}

static void free_message(struct sim_msg *m)
{
	free(m->bits);
	free(m);
}

void sim_flow_drop_last(struct sim_flow *f, struct sim_mr *mr)
{
	struct sim_msg *m = f->msgs[--f->n];

	if (mr && m->len && m->opcode == RD_WR_WRITE)
		drop_place(mr, m);
	f->n_packets -= m->n_packets;
	f->bytes -= m->len;
	f->takes -= takes_receive(m);
	if (f->all_placed > f->n)
		f->all_placed = f->n;
	free_message(m);
}

struct sim_flow *sim_flow_of_life(struct sim_flow *f, uint32_t life)
{
	while (f && f->life != life)
		f = f->before;
	return f;
}

uint64_t sim_flow_wr_id(const struct sim_flow *f, uint64_t n)
{
	return (uint64_t)f->life << 48 | n;
}

void sim_flow_fini(struct sim_flow *f)
{
	if (f->before) {
		sim_flow_fini(f->before);
		free(f->before);
	}
	for (size_t i = 0; i < f->n; i++)
		free_message(f->msgs[i]);
	free(f->msgs);
	free(f->takers);
	free(f->arrived);
}

/* ---- packets ---- */

uint64_t sim_flow_packet_of(const struct sim_flow *f, uint32_t psn)
{
	uint32_t ahead = (uint32_t)(psn - f->first_psn - f->sent) & PSN_MASK;

	return ahead < 0x800000u ? f->sent + ahead : f->sent - (0x1000000u - ahead);
}

struct sim_msg *sim_flow_message_of(const struct sim_flow *f, uint64_t n)
{
	size_t low = 0, high = f->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (f->msgs[mid]->first_packet <= n)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? f->msgs[low - 1] : NULL;
}

static uint8_t answer_opcode(const struct sim_msg *m, uint64_t i)
{
	if (m->opcode != RD_WR_READ)
		return MW_ATOMIC_RESPONSE;
	if (m->n_packets == 1)
		return MW_READ_RESPONSE_ONLY;
	if (i == 0)
		return MW_READ_RESPONSE_FIRST;
	return i + 1 < m->n_packets ? MW_READ_RESPONSE_MIDDLE : MW_READ_RESPONSE_LAST;
}

static uint8_t opcode_of(const struct sim_msg *m, uint64_t i)
{
	static const uint8_t request[] = {[RD_WR_READ] = MW_READ_REQUEST,
					  [RD_WR_COMPARE_SWAP] = MW_COMPARE_SWAP,
					  [RD_WR_FETCH_ADD] = MW_FETCH_ADD,
					  [RD_WR_ATOMIC_WRITE] = MW_ATOMIC_WRITE};
	bool imm = m->flags & RD_SEND_IMM, send = m->opcode == RD_WR_SEND;

	if (m->opcode >= RD_WR_READ)
		return m->flow->answers ? answer_opcode(m, i) : request[m->opcode];
	if (m->flags & RD_SEND_INV && i + 1 == m->n_packets)
		return m->n_packets == 1 ? MW_SEND_ONLY_INV : MW_SEND_LAST_INV;
	if (m->n_packets == 1 && imm)
		return send ? MW_SEND_ONLY_IMM : MW_WRITE_ONLY_IMM;
	if (m->n_packets == 1)
		return send ? MW_SEND_ONLY : MW_WRITE_ONLY;
	if (i == 0)
		return send ? MW_SEND_FIRST : MW_WRITE_FIRST;
	if (i + 1 < m->n_packets)
		return send ? MW_SEND_MIDDLE : MW_WRITE_MIDDLE;
	if (imm)
		return send ? MW_SEND_LAST_IMM : MW_WRITE_LAST_IMM;
	return send ? MW_SEND_LAST : MW_WRITE_LAST;
}

/* Payload of all packets of a message. */
static uint32_t wire_len(const struct sim_msg *m)
{
	if (m->opcode > RD_WR_READ && m->flow->answers)
		return 0;
	if (m->opcode > RD_WR_READ)
		return m->opcode == RD_WR_ATOMIC_WRITE ? 8 : MW_ATOMIC_BYTES;
	return m->len;
}

/* Packet i of message m as its headers must be; what may vary is copied from `got`. */
static struct mw_packet packet_of(const struct sim_flow *f, const struct sim_msg *m, uint64_t i,
				  const struct mw_packet *got)
{
	uint64_t offset = i * f->mtu;
	uint32_t whole = wire_len(m);
	uint32_t len = whole - offset < f->mtu ? (uint32_t)(whole - offset) : f->mtu;
	bool last = i + 1 == m->n_packets;
	struct mw_packet p = {.payload_len = len};

	p.bth = (struct mw_bth){.opcode = opcode_of(m, i),
				.se = last && m->flags & RD_SEND_SOLICITED,
				.m = got->bth.m,
				.pad = (uint8_t)(-len & 3),
				.p_key = f->p_key,
				.dqp = f->dst_qpn,
				.a = got->bth.a,
				.rtx = got->bth.rtx,
				.ts = got->bth.ts,
				.psn = got->bth.psn};
	p.data.meth =
		(struct mw_meth){.rqmsn = (uint16_t)m->takes_before, .msn = (uint16_t)m->number};
	p.data.tseth = got->data.tseth;
	p.data.reth =
		(struct mw_reth){.va = m->remote_addr + offset, .rkey = m->rkey, .dmalen = whole};
	if (f->answers && m->opcode > RD_WR_READ)
		p.data.reth.va = m->known ? m->original : got->data.reth.va;
	p.data.imm = last && m->flags & (RD_SEND_IMM | RD_SEND_INV) ? m->imm : m->asks;
	return p;
}

static bool bth_equal(const struct mw_bth *a, const struct mw_bth *b)
{
	return a->opcode == b->opcode && a->se == b->se && a->pad == b->pad && a->tver == b->tver &&
	       a->p_key == b->p_key && a->dqp == b->dqp && a->inv_res == b->inv_res && a->r == b->r;
}

static bool data_equal(const struct mw_packet *a, const struct mw_packet *b, bool imm)
{
	return a->data.meth.msn == b->data.meth.msn && a->data.meth.rqmsn == b->data.meth.rqmsn &&
	       a->data.reth.va == b->data.reth.va && a->data.reth.rkey == b->data.reth.rkey &&
	       a->data.reth.dmalen == b->data.reth.dmalen && (!imm || a->data.imm == b->data.imm) &&
	       a->payload_len == b->payload_len;
}

static void note_original(struct sim_msg *m, uint64_t original)
{
	m->original = original;
	m->known = true;
}

/* REQ(wire.meth.msn) REQ(wire.meth.rqmsn) REQ(wire.reth.address) REQ(req.segment) */
static void check_headers(struct sim_flow *f, const struct mt_tx_desc *d, uint64_t n)
{
	struct sim_msg *m = sim_flow_message_of(f, n);
	struct mw_packet want = packet_of(f, m, n - m->first_packet, &d->pkt);
	bool last = n - m->first_packet + 1 == m->n_packets;

	if (!bth_equal(&d->pkt.bth, &want.bth))
		sim_fail(f->check,
			 "%s: packet %" PRIu64
			 " of message %zu: BTH opcode %02x se %d pad %u qp %u",
			 f->name, n - m->first_packet, m->number, d->pkt.bth.opcode, d->pkt.bth.se,
			 d->pkt.bth.pad, d->pkt.bth.dqp);
	else if (!data_equal(&d->pkt, &want,
			     last && (m->flags & (RD_SEND_IMM | RD_SEND_INV) || m->asks)))
		sim_fail(f->check,
			 "%s: packet %" PRIu64 " of message %zu: msn %u rqmsn %u va %" PRIx64
			 " rkey %x dmalen %u len %u",
			 f->name, n - m->first_packet, m->number, d->pkt.data.meth.msn,
			 d->pkt.data.meth.rqmsn, d->pkt.data.reth.va, d->pkt.data.reth.rkey,
			 d->pkt.data.reth.dmalen, d->pkt.payload_len);
	else if (d->pkt.payload_len && d->offset != (n - m->first_packet) * f->mtu)
		sim_fail(f->check, "%s: packet %" PRIu64 " of message %zu: payload from %u",
			 f->name, n - m->first_packet, m->number, d->offset);
	/* What an atomic found does not change when it is sent again. REQ(ext.atomic.once) */
	if (f->answers && m->opcode > RD_WR_READ)
		note_original(m, d->pkt.data.reth.va);
}

/* The first packet of an immediate's message counts it as in flight. REQ(req.gate.wimm) */
static void check_wimm(struct sim_flow *f, uint64_t n)
{
	const struct sim_msg *m = sim_flow_message_of(f, n);

	if (f->extended || !(m->flags & RD_SEND_IMM) || n != m->first_packet)
		return;
	f->imms_started++;
	if (f->imms_started - f->takes_received > f->max_wimm)
		sim_fail(f->check, "%s: %" PRIu64 " immediates in flight, limit %u", f->name,
			 f->imms_started - f->takes_received, f->max_wimm);
}

/* REQ(req.gate.mpr) */
static void check_new(struct sim_flow *f, const struct mt_tx_desc *d, uint64_t n)
{
	if (d->pkt.bth.rtx || d->tclass != mw_dscp_class_of_data(false, f->trimmable))
		sim_fail(f->check, "%s: packet %" PRIu64 " is new: rtx %d class %u", f->name, n,
			 d->pkt.bth.rtx, d->tclass);
	else if (n >= f->expected + f->window)
		sim_fail(f->check,
			 "%s: packet %" PRIu64 " leaves the window [%" PRIu64 " + %" PRIu64,
			 f->name, n, f->expected, f->window);
	check_wimm(f, n);
	f->sent++;
}

/* REQ(req.rtx.flag) REQ(wire.dscp.retransmit-class) REQ(req.rtx.same-packet) */
static void check_again(struct sim_flow *f, const struct mt_tx_desc *d, uint64_t n)
{
	if (!d->pkt.bth.rtx || d->tclass != mw_dscp_class_of_data(true, f->trimmable))
		sim_fail(f->check, "%s: packet %" PRIu64 " was sent before: rtx %d class %u",
			 f->name, n, d->pkt.bth.rtx, d->tclass);
	f->resent++;
}

void sim_flow_sent(struct sim_flow *f, const struct mt_tx_desc *d)
{
	uint64_t n = sim_flow_packet_of(f, d->pkt.bth.psn);

	if (n > f->sent || n >= f->n_packets) {
		sim_fail(f->check,
			 "%s: sent packet %" PRId64 ", but %" PRIu64 " of %" PRIu64 " is next",
			 f->name, (int64_t)n, f->sent, f->n_packets);
		return;
	}
	check_headers(f, d, n);
	if (n == f->sent)
		check_new(f, d, n);
	else
		check_again(f, d, n);
}

void sim_flow_arrived(struct sim_flow *f, uint32_t psn)
{
	uint64_t n = sim_flow_packet_of(f, psn);

	if (n >= f->sent) {
		sim_fail(f->check, "%s: packet %" PRId64 " arrived unsent", f->name, (int64_t)n);
		return;
	}
	f->arrived[n / 64] |= UINT64_C(1) << n % 64;
	while (f->expected < f->sent && f->arrived[f->expected / 64] >> f->expected % 64 & 1)
		f->expected++;
}
