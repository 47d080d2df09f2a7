/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * responses.h - READs and atomics of a QP, asked for and answered.
 *
 * A request is a message of one packet among all the others. Its answer goes back as a message in
 * PSNs of its own, with SACKs, retransmission and congestion control like any. So beside the QP
 * there is a second one, with the same number, whose packets are told apart by their opcodes: it
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
#ifndef SOFTMRC_CORE_RESPONSES_H
#define SOFTMRC_CORE_RESPONSES_H

#include "base/list.h"
#include "core/qp.h"

/* A request that waits for what lies before it. */
struct mt_request {
	uint64_t psn, msn;
	uint64_t va;
	uint64_t swap_add, compare;
	uint32_t rkey;
	uint32_t length; /* of a READ */
	uint8_t opcode;	 /* enum mw_opcode */
};

struct mt_responses {
	struct mt_qp qp;  /* that carries answers */
	struct mt_qp *of; /* whose they are */
	/* As requester: requests are counted from 0 as they begin. */
	uint64_t asked[MT_RD_ATOMIC_MAX]; /* MSNs, by number modulo */
	uint64_t n_asked;
	uint64_t n_answered; /* whole, in order */
	uint64_t acked;	     /* messages that the peer has, as far as it said */
	uint64_t nak_msn;    /* refused; told when all before it is complete ... */
	uint8_t nak;	     /* ... its syndrome, 0: none */
	/* As responder. */
	uint32_t n_waiting;
	struct mt_request waiting[MT_RD_ATOMIC_MAX]; /* by PSN */
	struct mt_wqe wqes[MT_RD_ATOMIC_MAX];
	struct mt_sge sges[MT_RD_ATOMIC_MAX];
};

/* mt_responses_of returns that of a QP of answers. */
static inline struct mt_responses *mt_responses_of(struct mt_qp *answers)
{
	return mb_container_of(answers, struct mt_responses, qp);
}

/* ---- life ---- */

/*
 * mt_responses_attach makes mem, sizeof(struct mt_responses) of the pool, the block of a QP whose
 * path set is there; it answers from then on. mt_responses_listen makes it take answers as well.
 * `a`: the QP's attributes.
 */
void mt_responses_attach(struct mt_qp *qp, void *mem, const struct mt_qp_attr *a);
void mt_responses_listen(struct mt_qp *qp, const struct mt_qp_attr *a);
/* mt_responses_free gives the block of a QP back, if it has one. */
void mt_responses_free(struct mt_qp *qp);
/* mt_responses_stop ends answering: what was not sent never will be. */
void mt_responses_stop(struct mt_responses *r);

/* ---- as requester ---- */

/* mt_responses_asked notes that the request with this MSN begins. */
MT_ASIDE void mt_responses_asked(struct mt_qp *qp, uint64_t msn);
/* mt_responses_open returns how many requests of a QP are not answered. */
static inline uint64_t mt_responses_open(const struct mt_qp *qp)
{
	const struct mt_responses *r = qp->ext->responses;

	return r ? r->n_asked - r->n_answered : 0;
}

/* mt_responses_taker returns the QP for a control packet in the PSNs of answers; NULL: none. */
struct mt_qp *mt_responses_taker(struct mt_qp *qp, uint8_t opcode);

#endif
