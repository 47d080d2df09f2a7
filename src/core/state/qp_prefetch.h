/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * qp_prefetch.h - what a packet that comes touches of its QP, and then of what the QP points to.
 *
 * Data is for the half that receives, everything else mostly for the half that sends.
 */
#ifndef SOFTMRC_CORE_STATE_QP_PREFETCH_H
#define SOFTMRC_CORE_STATE_QP_PREFETCH_H

#include "base/prefetch.h"
#include "core/state/qp.h"

static inline void mt_qp_prefetch(const struct mt_qp *qp, bool data)
{
	size_t receive = offsetof(struct mt_qp, rsp.window);

	mb_prefetch(qp, offsetof(struct mt_qp, req));
	if (data) {
		mb_prefetch(&qp->rsp.window, offsetof(struct mt_qp, rsp.stash) - receive);
		__builtin_prefetch(&qp->req.spray); /* for the EV of its SACK */
	} else {
		mb_prefetch(&qp->req, sizeof(qp->req));
		mb_prefetch(&qp->timer, sizeof(qp->timer));
	}
}

static inline void mt_qp_prefetch_bitmaps(const struct mt_rx_window *w)
{
	uint64_t word = (w->expected & (w->size - 1)) / 64;

	if (!w->received)
		return;
	__builtin_prefetch(&w->received[word]);
	__builtin_prefetch(&w->ends[word]);
}

/* Two cache lines: the records of the oldest packets. */
#define MT_PREFETCH_RECORDS ((size_t)128)

/* The oldest packets and WRs, which are most likely to be acknowledged. */
static inline void mt_qp_prefetch_records(const struct mt_requester *req)
{
	if (!req->window.recs)
		return;
	mb_prefetch(mt_tx_rec(&req->window, req->window.una), MT_PREFETCH_RECORDS);
	__builtin_prefetch(mt_tx_rec(&req->window, req->window.next - 1));
	__builtin_prefetch(mt_sq_at(&req->sq, req->sq.done));
}

/* mt_qp_prefetch_parts is for a connected QP that is in a cache itself. */
static inline void mt_qp_prefetch_parts(const struct mt_qp *qp, bool data)
{
	mb_prefetch(qp->ev_set, sizeof(*qp->ev_set));
	mb_prefetch(&qp->peer->liveness,
		    offsetof(struct mt_peer, slot) - offsetof(struct mt_peer, liveness));
	if (data)
		mt_qp_prefetch_bitmaps(&qp->rsp.window);
	else
		mt_qp_prefetch_records(&qp->req);
}

#endif
