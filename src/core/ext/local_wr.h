/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local.h - send WRs that need no packet: binding memory windows, invalidating their keys.
 *
 * The count of a WQE is the MSN of its message, and the peer counts messages. So WRs that are none
 * have a ring of their own, and each knows how many WQEs were posted before it. It is executed
 * when all these have been sent in full and before the next one begins, with a fence when READs and
 * atomics among them are answered as well. Completions are taken from both queues in the order of
 * posting. One that fails waits until all before it is complete. REQ(ext.local.turn)
 * REQ(ext.local.order)
 *
 * The ring comes from the pool with the first such WR and goes back in RESET. REQ(ext.free)
 */
#ifndef SOFTMRC_CORE_EXT_LOCAL_WR_H
#define SOFTMRC_CORE_EXT_LOCAL_WR_H

#include "core/qp/qp.h"

struct mt_local_wqe {
	struct mt_local_wr wr;
	uint64_t before; /* WQEs posted before it since RESET */
	uint8_t status;	 /* enum rd_wc_status, once executed */
};

/* head <= next <= tail: not polled, executed | not executed */
struct mt_local_sq {
	uint64_t head, next, tail;
	uint32_t mask; /* slots - 1 */
	struct mt_local_wqe ring[];
};

/* mt_local_wr_pending says whether any is not executed. */
static inline bool mt_local_wr_pending(const struct mt_qp *qp)
{
	return qp->ext && qp->ext->local_sq && qp->ext->local_sq->next < qp->ext->local_sq->tail;
}

/*
 * mt_local_wr_execute executes those whose turn has come; false: one stands before the next WQE.
 * It may fail the QP.
 */
MT_COLD bool mt_local_wr_execute(struct mt_qp *qp);
/* mt_local_wr_flush completes what was not executed as flushed. */
MT_COLD void mt_local_wr_flush(struct mt_qp *qp);
/* mt_local_wr_poll takes the oldest completion of either queue of a QP that has this one. */
MT_COLD bool mt_local_wr_poll(struct mt_qp *qp, struct mt_event *ev);
/* mt_local_wr_free drops all, and unbinds the windows that were bound on the QP. */
void mt_local_wr_free(struct mt_qp *qp);

#endif
