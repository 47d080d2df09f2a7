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
bool mt_recv_complete_below(struct mt_rq *rq, uint64_t msn, uint32_t mtu, bool *torn)
{
	uint64_t before = rq->used;

	mb_assert(rq->head <= rq->used && rq->used <= rq->tail);
	while (rq->used < rq->tail) {
		struct mt_rqe *rqe = mt_rq_at(rq, rq->used);

		if (!rqe->arrived || (int32_t)((uint32_t)msn - rqe->msn) <= 0)
			break;
		*torn = rqe->opcode == RD_WR_SEND &&
			!mt_parts_are_whole(&rqe->parts, rqe->byte_len, mtu);
		if (*torn)
			break;
		rqe->status = RD_WC_SUCCESS;
		rq->used++;
	}
	return rq->used != before;
}
