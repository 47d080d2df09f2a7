/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_model.c - what must become of the messages of fuzz_engine.c.
 *
 * A byte is a function of the address that it was sent from, so that what is placed tells which
 * message it is of: one that has these bytes for this place, and of which none was placed before.
 * Pieces have 4 bytes at least, too many to be right by chance. A WR that succeeds, and a receive,
 * was placed whole.
 *
 * The model judges a pair of QPs whose ends were connected before either sent, until one of them
 * is reset or modified; and nothing once a packet was made up.
 */
#include <string.h>

#include "base/assert.h"
#include "fuzz_engine.h"

/* What an atomic finds: this, and the number of atomics before it. */
#define FOUND UINT64_C(0xA70A1C0000000000)

/* The upper byte of a mixed address: neighbours have nothing in common. */
uint8_t model_byte(uint64_t addr)
{
	addr = (addr ^ addr >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	addr = (addr ^ addr >> 27) * UINT64_C(0x94D049BB133111EB);
	return (uint8_t)(addr >> 56);
}

bool model_judges(const struct fuzz *f, unsigned pair)
{
	return !f->lies && pair < QPS && f->judged[pair];
}

/* ---- life of an end ---- */

/* What an SRQ's receives had of the peer's messages is gone; they go to others. */
void model_forget(struct node *node, struct end *end)
{
	struct end *peer = &peer_of(node)->ends[end->pair];

	for (unsigned i = 0; i < SLOTS; i++) {
		struct slot *s = &end->receives->slots[i];

		if (s->message >= peer->messages && s->message < peer->messages + MESSAGES)
			s->message = NULL;
		s->posted = s->posted && end->receives != &end->own;
	}
	memset(end->messages, 0, sizeof(end->messages));
	end->n_takes = end->n_received = 0;
	end->fresh_mtu = 0;
	node->f->judged[end->pair] = false;
}

void model_connected(struct node *node, struct end *end, uint32_t mtu)
{
	const struct end *peer = &peer_of(node)->ends[end->pair];

	end->fresh_mtu = mtu;
	if (peer->fresh_mtu == mtu)
		node->f->judged[end->pair] = true;
}

/* ---- send WRs ---- */

static struct message *find(struct end *end, uint64_t wr_id)
{
	struct message *m = &end->messages[wr_id % MESSAGES];

	return m->live && m->wr_id == wr_id ? m : NULL;
}

void model_post(struct end *end, const struct rd_send_wr *wr)
{
	struct message *m = &end->messages[wr->wr_id % MESSAGES];
	/* Of the region, or of a window that counts from 0 and is bound to one of two places. */
	uint64_t from_0 = wr->remote_addr < REGION_START ? wr->remote_addr : 0;

	mb_assert(wr->n_sge <= 2);
	*m = (struct message){
		.live = true,
		.wr_id = wr->wr_id,
		.wr = *wr,
		.far = {wr->remote_addr, REGION_START + from_0,
			REGION_START + REGION_BYTES - 100 + from_0},
	};
	if (wr->n_sge)
		memcpy(m->sges, wr->sge, wr->n_sge * sizeof(*wr->sge));
	m->source = m->sges[0].addr;
	m->len = m->sges[0].length + m->sges[1].length;
	mb_assert(m->len <= MESSAGE_MAX);
	if (wr->opcode == RD_WR_SEND || (wr->opcode == RD_WR_WRITE && wr->flags & RD_SEND_IMM))
		end->takes[end->n_takes++ % MESSAGES] = wr->wr_id;
}

static bool is_atomic(const struct message *m)
{
	return m->wr.opcode == RD_WR_COMPARE_SWAP || m->wr.opcode == RD_WR_FETCH_ADD ||
	       m->wr.opcode == RD_WR_ATOMIC_WRITE;
}

void model_complete(struct node *node, struct end *end, const struct mt_event *ev)
{
	const struct message *m = find(end, ev->wr_id);

	if (ev->status != RD_WC_SUCCESS || !model_judges(node->f, end->pair))
		return;
	mb_assert(m && ev->opcode == m->wr.opcode);
	mb_assert(m->executed == is_atomic(m));
	mb_assert(m->n_placed == m->len || m->wr.opcode == RD_WR_ATOMIC_WRITE);
}

/* ---- what is placed ---- */

/* Whether bytes `at` of a message on are these, sent from `source`. */
static bool is_part(const struct message *m, uint64_t source, uint64_t at, const uint8_t *bytes,
		    uint32_t len)
{
	if (at > m->len || len > m->len - at)
		return false;
	for (uint32_t i = 0; i < len; i++)
		if (m->placed[at + i] || model_byte(source + at + i) != bytes[i])
			return false;
	return true;
}

static void note_placed(struct message *m, uint64_t at, uint32_t len)
{
	memset(m->placed + at, 1, len);
	m->n_placed += len;
}

static bool place_write(struct message *m, uint64_t addr, const uint8_t *bytes, uint32_t len)
{
	for (unsigned k = 0; k < 3; k++) {
		if (!is_part(m, m->source, addr - m->far[k], bytes, len))
			continue;
		note_placed(m, addr - m->far[k], len);
		return true;
	}
	return false;
}

/* The first piece tells which receive the message took; no other may have it. */
static bool place_send(struct end *receiver, struct message *m, uint64_t addr, const uint8_t *bytes,
		       uint32_t len)
{
	struct receives *r = receiver->receives;
	uint64_t first = model_slot_addr(r, r->slots), i = (addr - first) / SLOT_BYTES;
	uint64_t at = (addr - first) % SLOT_BYTES;

	if (addr < first || i >= SLOTS || !is_part(m, m->source, at, bytes, len))
		return false;
	mb_assert(r->slots[i].posted);
	mb_assert(r->slots[i].message == m || (!r->slots[i].message && !m->slot));
	r->slots[i].message = m;
	m->slot = &r->slots[i];
	note_placed(m, at, len);
	return true;
}

/* What was read at the peer goes to the SGEs of the READ. */
static bool place_read(struct message *m, uint64_t addr, const uint8_t *bytes, uint32_t len)
{
	uint64_t in_0 = addr - m->sges[0].addr, in_1 = addr - m->sges[1].addr;
	uint64_t at = in_0 < m->sges[0].length ? in_0 : m->sges[0].length + in_1;

	for (unsigned k = 0; k < 3; k++) {
		if (!is_part(m, m->far[k], at, bytes, len))
			continue;
		note_placed(m, at, len);
		return true;
	}
	return false;
}

/* What an atomic found goes to its one SGE. */
static bool place_found(struct node *node, struct message *m, uint64_t addr, const uint8_t *bytes,
			uint32_t len)
{
	uint64_t found;

	if (!m->executed || m->n_placed || len != sizeof(found) || addr != m->sges[0].addr)
		return false;
	memcpy(&found, bytes, sizeof(found));
	if (found < FOUND || found - FOUND >= peer_of(node)->atomics)
		return false;
	note_placed(m, 0, len);
	return true;
}

static bool place_of_peer(struct end *end, struct message *m, uint64_t addr, const uint8_t *bytes,
			  uint32_t len)
{
	if (m->live && m->wr.opcode == RD_WR_WRITE)
		return place_write(m, addr, bytes, len);
	return m->live && m->wr.opcode == RD_WR_SEND && place_send(end, m, addr, bytes, len);
}

static bool place_of_own(struct node *node, struct message *m, uint64_t addr, const uint8_t *bytes,
			 uint32_t len)
{
	if (m->live && m->wr.opcode == RD_WR_READ)
		return place_read(m, addr, bytes, len);
	return m->live && is_atomic(m) && place_found(node, m, addr, bytes, len);
}

void model_place(struct node *node, uint64_t addr, const uint8_t *bytes, uint32_t len)
{
	struct end *end, *peer;

	if (!model_judges(node->f, node->f->rx_pair))
		return;
	end = &node->ends[node->f->rx_pair];
	peer = &peer_of(node)->ends[node->f->rx_pair];
	for (unsigned i = 0; i < MESSAGES; i++)
		if (place_of_peer(end, &peer->messages[i], addr, bytes, len) ||
		    place_of_own(node, &end->messages[i], addr, bytes, len))
			return;
	mb_panic(__FILE__, __LINE__, "no message has these bytes for this place, or had them yet");
}

/* ---- atomics ---- */

static bool is_operation(const struct message *m, const struct mt_atomic *op)
{
	uint8_t bytes[sizeof(op->swap_add)];

	memcpy(bytes, &op->swap_add, sizeof(bytes));
	if (m->wr.opcode == RD_WR_COMPARE_SWAP)
		return op->swaps && op->compare == m->wr.compare_add && op->swap_add == m->wr.swap;
	if (m->wr.opcode == RD_WR_FETCH_ADD)
		return !op->swaps && !op->stores && op->swap_add == m->wr.compare_add;
	return m->wr.opcode == RD_WR_ATOMIC_WRITE && op->stores &&
	       is_part(m, m->source, 0, bytes, sizeof(bytes));
}

uint64_t model_atomic(struct node *node, uint64_t addr, const struct mt_atomic *op)
{
	struct end *peer;

	if (!model_judges(node->f, node->f->rx_pair))
		return FOUND + node->atomics++;
	peer = &peer_of(node)->ends[node->f->rx_pair];
	for (unsigned i = 0; i < MESSAGES; i++) {
		struct message *m = &peer->messages[i];

		if (!m->live || m->executed || !is_operation(m, op) ||
		    (addr != m->far[0] && addr != m->far[1] && addr != m->far[2]))
			continue;
		m->executed = true;
		return FOUND + node->atomics++;
	}
	mb_panic(__FILE__, __LINE__, "no one asked for this atomic, or it was done before");
}

/* ---- receives ---- */

struct slot *model_slot_free(struct receives *r)
{
	for (unsigned i = 0; i < SLOTS; i++)
		if (!r->slots[(r->next + i) % SLOTS].posted)
			return &r->slots[(r->next + i) % SLOTS];
	return NULL;
}

uint64_t model_slot_addr(const struct receives *r, const struct slot *s)
{
	return SLOTS_START + (r->queue * SLOTS + (uint64_t)(s - r->slots)) * SLOT_BYTES;
}

uint64_t model_next_id(const struct receives *r, const struct slot *s)
{
	return r->next << 8 | (uint64_t)(s - r->slots);
}

void model_posted(struct receives *r, struct slot *s)
{
	*s = (struct slot){.posted = true, .wr_id = model_next_id(r, s)};
	r->next++;
}

/* Messages get receives in their order, each its own, whatever queue it comes from. */
static void check_received(struct node *node, struct end *end, const struct slot *s,
			   const struct mt_event *ev)
{
	struct end *peer = &peer_of(node)->ends[end->pair];
	const struct message *m;

	mb_assert(end->n_received < peer->n_takes);
	m = find(peer, peer->takes[end->n_received++ % MESSAGES]);
	if (!m) /* the peer has posted so much since */
		return;
	mb_assert(ev->byte_len == m->len && m->n_placed == m->len);
	mb_assert(ev->opcode == m->wr.opcode);
	mb_assert(!(m->wr.flags & RD_SEND_IMM) || (ev->imm_valid && ev->imm == m->wr.imm));
	mb_assert(s->message == (m->wr.opcode == RD_WR_SEND && m->len ? m : NULL));
}

void model_received(struct node *node, struct end *end, const struct mt_event *ev)
{
	struct slot *s = &end->receives->slots[ev->wr_id % SLOTS];

	mb_assert((ev->wr_id & 0xFF) < SLOTS && s->posted && s->wr_id == ev->wr_id);
	if (ev->status == RD_WC_SUCCESS && model_judges(node->f, end->pair))
		check_received(node, end, s, ev);
	s->posted = false;
}
