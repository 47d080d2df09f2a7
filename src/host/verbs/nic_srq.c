/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic_srq.c - shared receive queues. The queue is the engine's; its memory, its owner and its event
 * are here. Everything that the engine reads is guarded by the lock of the NIC.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/assert.h"
#include "host/datapath/datapath.h"
#include "host/progress/progress.h"
#include "host/state/shards.h"

static bool srq_is_cap_valid(const struct mh_srq_cap *cap)
{
	return cap->max_wr >= 1 && cap->max_wr <= MH_WR_MAX && cap->max_sge <= RD_SGE_MAX;
}

/* srq_alloc needs no lock: mt_srq_init touches nothing of the engine that others use. */
static struct mh_srq *srq_alloc(struct mh_nic *nic, struct mh_pd *pd, const struct mh_srq_cap *cap,
				void *owner)
{
	struct mt_srq_cap core = {.depth = cap->max_wr, .max_sge = cap->max_sge, .pd = pd->number};
	struct mh_srq *srq = calloc(1, sizeof(*srq));
	int result;

	if (!srq)
		return NULL;
	srq->mt_memory = malloc(mt_srq_size(&core));
	if (!srq->mt_memory) {
		free(srq);
		return NULL;
	}
	srq->dev = pd->dev;
	srq->nic = nic;
	srq->pd = pd;
	srq->owner = owner;
	srq->cap = *cap;
	mh_event_source_init(&srq->limit, MH_ASYNC_SRQ_LIMIT, srq);
	result = mt_srq_init(srq->nic->engine, srq->mt_memory, &core, srq, &srq->mt);
	mb_assert(result == MT_OK);
	return srq;
}

int mh_srq_create(struct mh_pd *pd, const struct mh_srq_cap *cap, void *owner, struct mh_srq **srq)
{
	struct mh_nic *nic = pd->dev->nic, *at;

	if (mh_nic_is_inherited(nic))
		return ENODEV;
	if (!srq_is_cap_valid(cap))
		return EINVAL;
	mh_nic_lock(nic);
	pd->objects++;
	at = nic->shard[nic->next_srq++ % nic->n_shards];
	mh_nic_unlock(nic);
	*srq = srq_alloc(at, pd, cap, owner);
	if (*srq)
		return 0;
	mh_nic_lock(nic);
	pd->objects--;
	mh_nic_unlock(nic);
	return ENOMEM;
}

/*
 * The event is discarded without the lock, for that waits until the program has acknowledged it.
 * The PD is released last, so that it outlives the SRQ.
 */
int mh_srq_destroy(struct mh_srq *srq)
{
	struct mh_nic *nic = srq->nic;
	bool busy;

	if (mh_nic_is_inherited(nic))
		return ENODEV;
	mh_shard_lock(nic);
	busy = srq->n_qps > 0;
	if (!busy)
		mt_srq_fini(srq->mt);
	mh_shard_unlock(nic);
	if (busy)
		return EBUSY;
	mh_event_discard(&srq->dev->events, &srq->limit);
	mh_nic_lock(nic->first);
	srq->pd->objects--;
	mh_nic_unlock(nic->first);
	free(srq->mt_entries);
	free(srq->mt_memory);
	free(srq);
	return 0;
}

void mh_srq_query(const struct mh_srq *srq, struct mh_srq_cap *cap, uint32_t *limit)
{
	*limit = 0;
	if (mh_nic_is_inherited(srq->nic)) {
		*cap = srq->cap;
		return;
	}
	mh_nic_lock(srq->nic);
	*cap = srq->cap;
	*limit = mt_srq_limit(srq->mt);
	mh_nic_unlock(srq->nic);
}

/*
 * The memory is taken before the lock and given back after it: malloc may take long, and the lock
 * stops all traffic.
 */
int mh_srq_resize(struct mh_srq *srq, uint32_t max_wr)
{
	struct mt_srq_cap core = {.depth = max_wr, .max_sge = srq->cap.max_sge};
	struct mh_nic *nic = srq->nic;
	void *entries, *old = NULL;
	int result;

	if (mh_nic_is_inherited(nic))
		return ENODEV;
	if (max_wr < 1 || max_wr > MH_WR_MAX)
		return EINVAL;
	entries = malloc(mt_srq_size(&core));
	if (!entries)
		return ENOMEM;
	mh_nic_lock(nic);
	result = mt_srq_resize(srq->mt, entries, max_wr);
	if (result == MT_OK) {
		old = srq->mt_entries;
		srq->mt_entries = entries;
		srq->cap.max_wr = max_wr;
	}
	mh_nic_unlock(nic);
	free(result == MT_OK ? old : entries);
	return mh_engine_errno(result);
}

int mh_srq_arm(struct mh_srq *srq, uint32_t limit)
{
	struct mh_nic *nic = srq->nic;
	int result;

	if (mh_nic_is_inherited(nic))
		return ENODEV;
	mh_nic_lock(nic);
	result = mt_srq_arm(srq->mt, limit);
	mh_progress_flush(nic, mh_now_ns()); /* it may be reached already */
	mh_nic_unlock(nic);
	return mh_engine_errno(result);
}
