/* SPDX-License-Identifier: BSD-2-Clause */
/* ep_batch.h - endpoint requests under way together, for whose answers one thread sleeps. */
#ifndef SOFTMRC_HOST_EP_BATCH_H
#define SOFTMRC_HOST_EP_BATCH_H

#include "host/nic_context.h"

/* What the engine is given with a request, and names in its event. */
struct mh_ep_item {
	struct mh_ep_batch *batch;
	uint32_t index;
};

struct mh_ep_batch {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	const struct mh_probe *probes;
	struct mh_ep_item *items;
	struct mh_probe_answer *answers;
	uint32_t n, posted;	  /* the caller's */
	uint32_t ended, answered; /* under lock */
};

/* mh_ep_batch_init makes the items and locks of a batch of b->n, the rest of which is set; ENOMEM. */
int mh_ep_batch_init(struct mh_ep_batch *b);
/* mh_ep_batch_fini: no request of the batch may be under way. */
void mh_ep_batch_fini(struct mh_ep_batch *b);
/* mh_ep_batch_deliver takes an event of type ENDPOINT, of whichever batch. Under nic->lock. */
void mh_ep_batch_deliver(const struct mt_event *event);
/* mh_ep_batch_end_one counts a request as ended that the engine has not taken. */
void mh_ep_batch_end_one(struct mh_ep_batch *b);
/* mh_ep_batch_wait sleeps until all that was posted has ended, or it is time to post more. */
void mh_ep_batch_wait(struct mh_ep_batch *b, bool more);

#endif
