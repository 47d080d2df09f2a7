/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * responses.h - READs and atomics of a QP, asked for and answered.
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
#ifndef SOFTMRC_CORE_EXT_RD_ATOMIC_H
#define SOFTMRC_CORE_EXT_RD_ATOMIC_H

#include "base/list.h"
#include "core/qp/qp.h"

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
	uint64_t nak_msn;     /* refused; told when all before it is complete ... */
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

/* ---- life ---- */

/*
 * mt_rd_atomic_attach makes mem, sizeof(struct mt_rd_atomic) of the pool, the block of a QP whose
 * path set is there; it answers from then on. mt_rd_atomic_enable_rx makes it take answers as well.
 * `a`: the QP's attributes.
 */
void mt_rd_atomic_attach(struct mt_qp *qp, void *mem, const struct rd_qp_attr *a);
void mt_rd_atomic_enable_rx(struct mt_qp *qp, const struct rd_qp_attr *a);
/* mt_rd_atomic_free gives the block of a QP back, if it has one. */
void mt_rd_atomic_free(struct mt_qp *qp);
/* mt_rd_atomic_stop ends answering: what was not sent never will be. */
void mt_rd_atomic_stop(struct mt_rd_atomic *r);

/* ---- as requester ---- */

/* mt_rd_atomic_begin notes that the request with this MSN begins. */
MT_COLD void mt_rd_atomic_begin(struct mt_qp *qp, uint64_t msn);
/* mt_rd_atomic_outstanding returns how many requests of a QP are not answered. */
static inline uint64_t mt_rd_atomic_outstanding(const struct mt_qp *qp)
{
	const struct mt_rd_atomic *r = qp->ext->rd_atomic;

	return r ? r->n_requested - r->n_completed : 0;
}

/* mt_rd_atomic_control_qp returns the QP for a control packet in the PSNs of answers; NULL:
 * none. */
struct mt_qp *mt_rd_atomic_control_qp(struct mt_qp *qp, uint8_t opcode);

#endif
