/* SPDX-License-Identifier: BSD-2-Clause */
/* nic_qp.h - queue pairs inside host: an engine's QP with its CQs, PD and inline data. */
#ifndef SOFTMRC_HOST_NIC_QP_H
#define SOFTMRC_HOST_NIC_QP_H

#include "host/nic_context.h"

#define MH_INLINE_MAX 1024u
#define MH_WR_MAX 32768u

struct mh_wr_count {
	uint64_t posted;
	uint64_t reported;	 /* as far as the engine's events tell */
	_Atomic uint64_t polled; /* as far as the program knows */
};

struct mh_qp {
	struct mb_link link;   /* in nic->qps */
	struct mb_link failed; /* in nic->failed, or alone */
	struct mh_device *dev;
	struct mt_qp *mt;	 /* NULL: a UD QP, which has */
	struct mu_qp *ud;	 /* this instead */
	struct mt_qp_cap mt_cap; /* with which it is made */
	void *mt_memory;
	uint32_t number;
	struct mh_qp_init init;
	/*
	 * WRs are numbered as they are posted. A place in a queue is free again when the completion
	 * of its WR, or of a later one, was polled: a program may post until ENOMEM and rely on its
	 * CQ.
	 */
	struct mh_wr_count send, recv;
	uint8_t *signaled;     /* by number modulo depth: this send WR reports success */
	uint8_t *inline_bytes; /* by number modulo depth: bytes until their WR is complete */
	bool memory_gone;      /* the next failed send is to be reported as LOC_PROT_ERR */
	bool send_failed;      /* a send completion said why the QP is in ERR */
	enum rd_wc_status why; /* of the event below */
	bool responder;
	bool sqd_notify;	      /* the move to SQD asked for the event below */
	struct mh_event_source fatal; /* in the device's queue, as the next */
	struct mh_event_source drained;
	struct mh_event_source last_wqe;
};

/*
 * mh_qp_mark_failed marks the QP as to be put to ERR because local memory of a WR is gone. The poll
 * loop does that when the engine is between two calls. Under nic->lock.
 */
static inline void mh_qp_mark_failed(struct mh_qp *qp)
{
	mb_list_push(&qp->dev->nic->failed, &qp->failed);
}

/* mh_qp_release_wrs notes that the program took a completion that sets free all WRs below `wr`. */
static inline void mh_qp_release_wrs(struct mh_qp *qp, bool recv, uint64_t wr)
{
	atomic_store_explicit(recv ? &qp->recv.polled : &qp->send.polled, wr, memory_order_relaxed);
}

/*
 * mh_post_gather turns n SGEs of a WR into the core's, at most RD_SGE_MAX, empty ones left out.
 * EINVAL: too many bytes.
 */
int mh_post_gather(const struct rd_sge *from, uint32_t n, struct rd_sge *sge, uint32_t *n_sge);

/* mh_qp_raise_last_wqe raises the event that the QP takes no receive of its SRQ any more. */
static inline void mh_qp_raise_last_wqe(struct mh_qp *qp)
{
	mh_event_raise(&qp->dev->events, &qp->last_wqe, true);
}

/* mh_qp_raise_sq_drained raises the event that the QP in SQD has finished, if it was asked for. */
static inline void mh_qp_raise_sq_drained(struct mh_qp *qp)
{
	if (qp->sqd_notify)
		mh_event_raise(&qp->dev->events, &qp->drained, true);
}

#endif
