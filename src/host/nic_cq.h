/* SPDX-License-Identifier: BSD-2-Clause */
/* nic_cq.h - completion queues inside host: rings that the engine's events fill. */
#ifndef SOFTMRC_HOST_NIC_CQ_H
#define SOFTMRC_HOST_NIC_CQ_H

#include "host/nic_context.h"

#define MH_CQE_MAX (1u << 20)

enum mh_cq_arm {
	MH_CQ_IDLE,
	MH_CQ_ARMED_SOLICITED,
	MH_CQ_ARMED,
};

/* A completion in the ring, and what polling it sets free. */
struct mh_cqe {
	struct mh_wc wc;
	struct mh_qp *qp; /* NULL only in tests */
	uint64_t wr;	  /* the QP's send or receive WRs below this number are dealt with */
};

struct mh_cq {
	struct mh_device *dev;
	void *owner;
	struct mh_channel *channel; /* or NULL */
	uint32_t n_qps;		    /* guarded by nic->lock; a QP that uses it twice counts twice */

	pthread_mutex_t lock; /* of what follows */
	struct mh_cqe *ring;
	uint32_t mask;
	_Atomic uint32_t head; /* next to take; both run freely and are read without the lock */
	_Atomic uint32_t tail; /* next to fill */
	atomic_bool overran;
	enum mh_cq_arm armed;

	struct mh_event_source completion; /* in the channel's queue */
	struct mh_event_source overrun;	   /* in the device's queue */
};

/*
 * mh_cq_add adds a completion and raises the channel's event if one was asked for. false: there
 * was no room; the CQ has overrun for good. Under nic->lock.
 */
bool mh_cq_add(struct mh_cq *cq, const struct mh_cqe *cqe);
/*
 * mh_completion_push adds a completion to a CQ; one that does not fit is the end of the CQ's QPs,
 * when events are drained next. Under nic->lock.
 */
void mh_completion_push(struct mh_nic *nic, struct mh_cq *cq, const struct mh_cqe *cqe);
/* mh_cq_purge removes the completions of a QP. Under nic->lock. */
void mh_cq_purge(struct mh_cq *cq, uint32_t qpn);
/* mh_cq_pop takes at most n completions, oldest first, and returns how many. Any thread. */
uint32_t mh_cq_pop(struct mh_cq *cq, uint32_t n, struct mh_wc *wc);
/* mh_cq_arm notes which completion is to raise an event of the CQ's channel. Any thread. */
void mh_cq_arm(struct mh_cq *cq, bool solicited_only);
/*
 * mh_cq_replace_ring moves what the CQ holds into a ring of mask + 1 places, of which it wants cqe.
 * It takes the ring over, and frees it on an error: see mh_cq_resize. Any thread.
 */
int mh_cq_replace_ring(struct mh_cq *cq, uint32_t cqe, struct mh_cqe *ring, uint32_t mask);

#endif
