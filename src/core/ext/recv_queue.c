/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recv_queue.c - finds the receive that a packet of a SEND is for, and walks over its SGEs. See
 * ext.h.
 */
#include "base/assert.h"
#include "base/serial.h"
#include "core/ext/ext.h"

/*
 * A number below those in use belongs to a receive that is complete, and a peer that names it
 * breaks the protocol.
 */
enum mt_recv_found mt_recv_find(struct mt_rq *rq, uint16_t n, struct mt_rqe **rqe)
{
	uint64_t at = mb_serial_extend(rq->used, n, 16);

	/* A number from before the first one is, as a number, far ahead. */
	if (at >= rq->tail && at - rq->used >= UINT16_MAX)
		return MT_RECV_PAST;
	if (at >= rq->tail && !(rq->srq && mt_srq_fill(rq, at)))
		return MT_RECV_NOT_YET;
	if (at < rq->used)
		return MT_RECV_PAST;
	mb_assert(at >= rq->used && at < rq->tail);
	*rqe = mt_rq_at(rq, at);
	return MT_RECV_POSTED;
}

uint64_t mt_recv_room(const struct mt_rq *rq, const struct mt_rqe *rqe)
{
	const struct rd_sge *sge = mt_rq_sges(rq, rqe);
	uint64_t room = 0;

	mb_assert(rqe->n_sge <= rq->max_sge);
	for (uint32_t i = 0; i < rqe->n_sge; i++)
		room += sge[i].length;
	return room;
}

/*
 * Completes in the order of posting: a receive whose message is not complete blocks those behind
 * it.
 */
bool mt_recv_complete_below(struct mt_rq *rq, uint64_t msn)
{
	uint64_t before = rq->used;

	mb_assert(rq->head <= rq->used && rq->used <= rq->tail);
	while (rq->used < rq->tail) {
		struct mt_rqe *rqe = mt_rq_at(rq, rq->used);

		if (!rqe->arrived || (int32_t)((uint32_t)msn - rqe->msn) <= 0)
			break;
		rqe->status = RD_WC_SUCCESS;
		rq->used++;
	}
	return rq->used != before;
}

struct mt_recv_walk mt_recv_walk(const struct mt_rq *rq, const struct mt_rqe *rqe, uint64_t offset,
				 uint32_t len)
{
	return mt_sges_walk(mt_rq_sges(rq, rqe), rqe->n_sge, offset, len);
}

/* Skips the SGEs before `offset`; a walk that begins behind the last one yields nothing. */
struct mt_recv_walk mt_sges_walk(const struct rd_sge *sge, uint32_t n, uint64_t offset,
				 uint32_t len)
{
	struct mt_recv_walk w = {.sge = sge, .end = sge + n, .offset = offset, .left = len};

	while (w.sge < w.end && w.offset >= w.sge->length)
		w.offset -= w.sge++->length;
	return w;
}

/* Each piece lies in one SGE, so that it has one key and one check. */
bool mt_recv_next(struct mt_recv_walk *w, struct mt_recv_piece *piece)
{
	uint64_t room;

	while (w->sge < w->end && w->offset == w->sge->length) { /* an empty one, too */
		w->sge++;
		w->offset = 0;
	}
	if (w->left == 0 || w->sge == w->end)
		return false;
	mb_assert(w->offset < w->sge->length);
	room = w->sge->length - w->offset;
	piece->addr = w->sge->addr + w->offset;
	piece->lkey = w->sge->lkey;
	piece->len = room < w->left ? (uint32_t)room : w->left;
	mb_assert_slow(piece->len > 0 && piece->len <= w->left);
	w->offset += piece->len;
	w->left -= piece->len;
	return true;
}
