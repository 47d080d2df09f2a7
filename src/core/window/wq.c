/* SPDX-License-Identifier: BSD-2-Clause */
/* wq.c - send queue and receive queue: slots from post to poll. See the header. */
#include "core/window/wq.h"

#include <string.h>

#include "base/assert.h"

void mt_sq_reset(struct mt_sq *sq)
{
	sq->head = sq->done = sq->next = sq->tail = 0;
}

void mt_rq_reset(struct mt_rq *rq)
{
	rq->head = rq->used = rq->tail = 0;
}

/* The order that wq.h draws, and no more WRs than were asked for. */
static bool sq_is_consistent(const struct mt_sq *sq)
{
	return sq->head <= sq->done && sq->done <= sq->next && sq->next <= sq->tail &&
	       sq->tail - sq->head <= sq->depth;
}

static bool rq_is_consistent(const struct mt_rq *rq)
{
	return rq->head <= rq->used && rq->used <= rq->tail && rq->tail - rq->head <= rq->depth;
}

static bool is_silent_success(const struct mt_sq *sq, const struct mt_wqe *wqe)
{
	return wqe->status == RD_WC_SUCCESS && !sq->signal_all && !(wqe->flags & RD_SEND_SIGNALED);
}

static void free_silent(struct mt_sq *sq, uint64_t below)
{
	while (sq->head < below && is_silent_success(sq, mt_sq_at(sq, sq->head)))
		sq->head++;
}

struct mt_wqe *mt_sq_alloc(struct mt_sq *sq)
{
	mb_assert(sq_is_consistent(sq));
	if (sq->tail - sq->head == sq->depth)
		free_silent(sq, sq->done);
	if (sq->tail - sq->head == sq->depth)
		return NULL;
	return mt_sq_at(sq, sq->tail);
}

void mt_rq_push(struct mt_rq *rq, const struct rd_recv_wr *wr)
{
	struct mt_rqe *rqe = mt_rq_at(rq, rq->tail++);

	mb_assert(wr->n_sge <= rq->max_sge);
	*rqe = (struct mt_rqe){.wr_id = wr->wr_id, .n_sge = (uint8_t)wr->n_sge};
	if (wr->n_sge)
		memcpy(mt_rq_sges(rq, rqe), wr->sge, wr->n_sge * sizeof(*wr->sge));
}

void mt_sq_complete(struct mt_sq *sq, uint64_t msn)
{
	mb_assert(msn <= sq->next && sq->next <= sq->tail);
	for (; sq->done < msn; sq->done++)
		mt_sq_at(sq, sq->done)->status = RD_WC_SUCCESS;
	mb_assert_slow(sq_is_consistent(sq));
}

void mt_sq_flush(struct mt_sq *sq, enum rd_wc_status first)
{
	for (; sq->done < sq->tail; sq->done++) {
		mt_sq_at(sq, sq->done)->status = (uint8_t)first;
		first = RD_WC_WR_FLUSH_ERR;
	}
	sq->next = sq->tail;
	mb_assert(sq_is_consistent(sq) && sq->done == sq->tail);
}

void mt_rq_flush(struct mt_rq *rq, enum rd_wc_status first)
{
	for (; rq->used < rq->tail; rq->used++) {
		mt_rq_at(rq, rq->used)->status = (uint8_t)first;
		first = RD_WC_WR_FLUSH_ERR;
	}
	mb_assert(rq_is_consistent(rq));
}

bool mt_sq_poll(struct mt_sq *sq, uint64_t below, struct mt_event *ev)
{
	const struct mt_wqe *wqe;

	mb_assert_slow(sq_is_consistent(sq));
	if (below > sq->done)
		below = sq->done;
	free_silent(sq, below);
	if (sq->head >= below)
		return false;
	wqe = mt_sq_at(sq, sq->head++);
	*ev = (struct mt_event){
		.type = MT_EVENT_SEND,
		.status = wqe->status,
		.with_imm = wqe->flags & RD_SEND_IMM,
		.opcode = wqe->opcode,
		.wr_id = wqe->wr_id,
		.byte_len = wqe->length,
	};
	return true;
}

bool mt_rq_poll(struct mt_rq *rq, struct mt_event *ev)
{
	const struct mt_rqe *rqe;

	mb_assert_slow(rq_is_consistent(rq));
	if (rq->head == rq->used)
		return false;
	rqe = mt_rq_at(rq, rq->head++);
	*ev = (struct mt_event){
		.type = MT_EVENT_RECV,
		.status = rqe->status,
		.imm_valid = rqe->status == RD_WC_SUCCESS && rqe->with_imm,
		.invalidated = rqe->status == RD_WC_SUCCESS && rqe->with_inv,
		.opcode = rqe->opcode,
		.solicited = rqe->solicited,
		.wr_id = rqe->wr_id,
		.imm = rqe->imm,
		.byte_len = rqe->byte_len,
	};
	return true;
}
