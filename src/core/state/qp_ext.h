/* SPDX-License-Identifier: BSD-2-Clause */
/* qp_ext.h - what a QP with extensions keeps beside its queues; the steps on it are in ext/. */
#ifndef SOFTMRC_CORE_STATE_QP_EXT_H
#define SOFTMRC_CORE_STATE_QP_EXT_H

#include "core/state/qp.h"

/* ---- send WRs that need no packet ---- */

/*
 * Send WRs that need no packet: binding memory windows, invalidating their keys.
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

/* mt_local_wqe_at returns the local WR with this number. */
static inline struct mt_local_wqe *mt_local_wqe_at(struct mt_local_sq *l, uint64_t n)
{
	return &l->ring[n & l->mask];
}

/* mt_local_wr_pending says whether any is not executed. */
static inline bool mt_local_wr_pending(const struct mt_qp *qp)
{
	return qp->ext && qp->ext->local_sq && qp->ext->local_sq->next < qp->ext->local_sq->tail;
}
/* mt_local_wr_flush completes what was not executed as flushed. */
void mt_local_wr_flush(struct mt_qp *qp);

/* ---- READs and atomics ---- */

/*
 * READs and atomics of a QP, asked for and answered.
 *
 * A request is a message of one packet among all the others. Its answer goes back as a message in
 * PSNs of its own, with SACKs, retransmission and congestion control like any. So beside the QP
 * there is a second one, with the same number, whose packets are distinguished by their opcodes: it
 * sends answers to the peer and takes the peer's. Its messages are the answers, in the order of
 * the requests: the n-th answers the n-th request, which says where its bytes go; nothing on the
 * wire names our memory. REQ(ext.response.space)
 *
 * As responder a QP keeps requests that came ahead of a hole and carries them out when all before
 * them is placed. What an atomic found is in its answer, which is kept until it is acknowledged.
 * REQ(ext.request.order) REQ(ext.atomic.once)
 *
 * All of this is one block of the pool that a QP takes on its way to RTR or RTS if it may have
 * READs or atomics, and gives back in RESET. REQ(ext.free)
 */

/* A request that waits for what lies before it. */
struct mt_rd_atomic_req {
	uint64_t psn, msn;
	uint64_t va;
	uint64_t swap_add, compare;
	uint32_t rkey;
	uint32_t length; /* of a READ */
	uint8_t opcode;	 /* enum mw_opcode */
};

struct mt_rd_atomic {
	struct mt_qp qp;  /* that carries answers */
	struct mt_qp *of; /* whose they are */
	/* As requester: requests are counted from 0 as they begin. */
	uint64_t req_msns[RD_ATOMIC_MAX]; /* MSNs, by number modulo */
	uint64_t n_requested;
	uint64_t n_completed; /* whole, in order */
	uint64_t acked;	      /* messages that the peer has, as far as it said */
	uint64_t nak_msn;     /* gets a NAK, which is handled when all before it is complete ... */
	uint8_t nak;	      /* ... its syndrome, 0: none */
	/* As responder. */
	uint32_t n_queued;
	struct mt_rd_atomic_req queued[RD_ATOMIC_MAX]; /* by PSN */
	struct mt_wqe wqes[RD_ATOMIC_MAX];
	struct rd_sge sges[RD_ATOMIC_MAX];
};

/* mt_rd_atomic_of returns that of a QP of answers. */
static inline struct mt_rd_atomic *mt_rd_atomic_of(struct mt_qp *answers)
{
	return mb_container_of(answers, struct mt_rd_atomic, qp);
}

/* mt_rd_atomic_outstanding returns how many requests of a QP are not answered. */
static inline uint64_t mt_rd_atomic_outstanding(const struct mt_qp *qp)
{
	const struct mt_rd_atomic *r = qp->ext->rd_atomic;

	return r ? r->n_requested - r->n_completed : 0;
}
/* mt_rd_atomic_stop ends answering: what was not sent never will be. */
void mt_rd_atomic_stop(struct mt_rd_atomic *r);

#endif
