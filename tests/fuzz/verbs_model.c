/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs_model.c - what must come of the WRs of a QP. See verbs_world.h. */
#include <arpa/inet.h>

#include "base/assert.h"
#include "verbs_world.h"

/* A wr_id is the life, a bit that says that it is a receive, and the number. */
#define LIFE_SHIFT 32
#define RECV_BIT (UINT64_C(1) << 31)
/* An immediate is the number of the message above its place in SOURCE. */
#define PLACE_BITS 8

void model_open(struct model_end *e, const struct side *near, const struct side *far)
{
	*e = (struct model_end){.near = near, .far = far};
}

void model_forget(struct model_end *e)
{
	uint32_t life = e->life + 1;

	*e = (struct model_end){.near = e->near, .far = e->far, .life = life};
}

void model_connect(struct model_end *a, struct model_end *b)
{
	a->peer = b;
	a->peer_life = b->life;
	b->peer = a;
	b->peer_life = a->life;
}

/* peer_of returns the other end, NULL once either was reset: then what it knew is forgotten. */
static const struct model_end *peer_of(const struct model_end *e)
{
	return e->peer && e->peer->life == e->peer_life ? e->peer : NULL;
}

/* ---- posting ---- */

uint64_t model_send_id(const struct model_end *e)
{
	return (uint64_t)e->life << LIFE_SHIFT | e->send.posted;
}

uint64_t model_recv_id(const struct model_end *e)
{
	return (uint64_t)e->life << LIFE_SHIFT | RECV_BIT | e->recv.posted;
}

uint32_t model_imm(const struct model_end *e, const struct model_wr *wr)
{
	return htonl(e->n_takes << PLACE_BITS | wr->place);
}

bool model_is_recv(const struct ibv_wc *wc)
{
	return wc->wr_id & RECV_BIT;
}

void model_sent(struct model_end *e, const struct model_wr *wr)
{
	mb_assert(e->send.posted < STEPS_MAX);
	if (wr->kind == MODEL_SEND_IMM || wr->kind == MODEL_WRITE_IMM)
		e->takes[e->n_takes++] = e->send.posted;
	e->sent[e->send.posted++] = *wr;
	mb_assert(e->send.posted - e->send.done <= DEPTH);
}

void model_recv_posted(struct model_end *e)
{
	e->recv.posted++;
	mb_assert(e->recv.posted - e->recv.done <= DEPTH);
}

/* ---- completions ---- */

static uint32_t number_of(const struct model_end *e, const struct model_queue *q,
			  const struct ibv_wc *wc)
{
	uint32_t number = (uint32_t)(wc->wr_id & (RECV_BIT - 1));

	mb_assert(wc->wr_id >> LIFE_SHIFT == e->life);
	mb_assert(number >= q->done && number < q->posted);
	return number;
}

/* check_placed: the bytes of a WR are where it was to put them. */
static void check_placed(const struct side *near, const struct side *far, const struct model_wr *wr)
{
	uint32_t at = wr->place * PLACE_BYTES;

	if (wr->kind == MODEL_READ)
		world_check_bytes(near->memory[TARGET] + at, at, wr->len);
	if (wr->kind == MODEL_WRITE || wr->kind == MODEL_WRITE_IMM)
		world_check_bytes(far->memory[TARGET] + at, at, wr->len);
}

/* Sends that are not signalled complete with those behind them, or with an error. */
void model_send_done(struct model_end *e, const struct ibv_wc *wc)
{
	uint32_t number = number_of(e, &e->send, wc);
	bool ok = wc->status == IBV_WC_SUCCESS;

	mb_assert(!ok || e->sent[number].signaled);
	for (; e->send.done <= number; e->send.done++) {
		const struct model_wr *wr = &e->sent[e->send.done];

		mb_assert(e->send.done == number || !wr->signaled);
		if (!ok)
			continue;
		check_placed(e->near, e->far, wr);
		e->n_succeeded += wr->kind == MODEL_SEND_IMM || wr->kind == MODEL_WRITE_IMM;
	}
}

uint32_t model_recv_done(struct model_end *e, const struct ibv_wc *wc)
{
	uint32_t number = number_of(e, &e->recv, wc);

	mb_assert(number == e->recv.done);
	e->recv.done++;
	return number;
}

/* Once a message is received, all that the peer wrote before it is there. */
static void check_next(struct model_end *e, const struct model_end *peer, const struct ibv_wc *wc,
		       uint32_t number)
{
	const struct model_wr *wr;

	mb_assert(number == e->n_received && number < peer->n_takes);
	wr = &peer->sent[peer->takes[number]];
	mb_assert(wc->byte_len == wr->len);
	mb_assert((wr->kind == MODEL_SEND_IMM) == (wc->opcode == IBV_WC_RECV));
	mb_assert((ntohl(wc->imm_data) & (PLACES - 1)) == wr->place);
	for (; e->n_checked < peer->takes[number]; e->n_checked++)
		if (peer->sent[e->n_checked].kind != MODEL_READ)
			check_placed(peer->near, e->near, &peer->sent[e->n_checked]);
}

void model_received(struct model_end *e, const struct ibv_wc *wc, const uint8_t *slot)
{
	uint32_t imm = ntohl(wc->imm_data), at = (imm & (PLACES - 1)) * PLACE_BYTES;

	mb_assert(wc->wc_flags & IBV_WC_WITH_IMM && wc->byte_len <= SLOT_BYTES);
	mb_assert(wc->opcode == IBV_WC_RECV || wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM);
	world_check_bytes(wc->opcode == IBV_WC_RECV ? slot : e->near->memory[TARGET] + at, at,
			  wc->byte_len);
	if (peer_of(e))
		check_next(e, peer_of(e), wc, imm >> PLACE_BITS);
	e->n_received++;
}

void model_check_end(const struct model_end *e)
{
	mb_assert(!peer_of(e) || e->n_succeeded <= peer_of(e)->n_received);
}
