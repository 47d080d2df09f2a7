/* SPDX-License-Identifier: BSD-2-Clause */
/* nic_srq.h - shared receive queues inside host: an engine's SRQ and its event. */
#ifndef SOFTMRC_HOST_NIC_SRQ_H
#define SOFTMRC_HOST_NIC_SRQ_H

#include "host/nic_context.h"

struct mh_srq {
	struct mh_device *dev;
	struct mh_pd *pd;
	void *owner;
	struct mt_srq *mt;
	void *mt_memory;
	void *mt_entries; /* since it was resized; NULL: in mt_memory */
	struct mh_srq_cap cap;
	uint32_t n_qps;		      /* guarded by nic->lock */
	struct mh_event_source limit; /* in the device's queue */
};

#endif
