/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * srq.h - a shared receive queue: receives for several QPs.
 *
 * A QP with an SRQ has a receive queue of its own as others have, but nothing is posted there: when
 * a packet comes whose message takes the n-th receive of the QP, the QP takes the next ones of the
 * SRQ up to its n-th, all or none. So receives are bound to messages in the order in which packets
 * ask, and to no QP before one does. A QP that is reset gives back what it took and has not used.
 * REQ(ext.srq.take)
 */
#ifndef SOFTMRC_CORE_EXT_SRQ_H
#define SOFTMRC_CORE_EXT_SRQ_H

#include "base/list.h"
#include "core/engine/engine.h"
#include "core/qp/wq.h"

struct mt_srq_entry {
	uint64_t wr_id;
	uint32_t n_sge;
};

struct mt_srq {
	struct mt_engine *engine;
	void *user;
	struct mb_link limited; /* on engine->limited: the limit was reached and nobody told */
	struct mt_srq_entry *entries;
	struct rd_sge *sges; /* max_sge for each slot */
	uint64_t head, tail; /* posted and not taken */
	uint32_t taken;	     /* by QPs, and not polled */
	uint32_t limit;	     /* 0: not armed */
	uint32_t mask;	     /* slots - 1 */
	uint32_t depth;	     /* of posted and taken together */
	uint32_t max_sge, pd;
};

/* mt_srq_fill takes receives for a QP up to its n-th; false: there are too few, or no room. */
bool mt_srq_fill(struct mt_rq *rq, uint64_t n);
/* mt_srq_return returns all of a QP's receives, those that were used to nobody. */
void mt_srq_return(struct mt_rq *rq);
/* mt_srq_poll takes the event that a limit was reached; false when there is none. */
bool mt_srq_poll(struct mt_engine *e, struct mt_event *ev);

#endif
