/* SPDX-License-Identifier: BSD-2-Clause */
/* shards.c - the NICs of one device: their locks, and which of them gets a QP. */
#include "host/state/shards.h"

#include <unistd.h>

#include "base/assert.h"

void mh_shards_begin(struct mh_nic *nic)
{
	nic->first = nic;
	nic->shard[0] = nic;
	nic->n_shards = 1;
}

void mh_shards_add(struct mh_nic *first, struct mh_nic *nic)
{
	mb_assert(first->n_shards < MH_SHARDS_MAX);
	nic->first = first;
	first->shard[first->n_shards++] = nic;
}

void mh_shards_lock_others(struct mh_nic *first)
{
	for (uint32_t i = 1; i < first->n_shards; i++)
		mh_nic_lock(first->shard[i]);
}

/* In the opposite order, for each restores the cancellation state that it found. */
void mh_shards_unlock_others(struct mh_nic *first)
{
	for (uint32_t i = first->n_shards; i-- > 1;)
		mh_nic_unlock(first->shard[i]);
}

void mh_shards_lock(struct mh_nic *first)
{
	mh_nic_lock(first);
	mh_shards_lock_others(first);
}

void mh_shards_unlock(struct mh_nic *first)
{
	mh_shards_unlock_others(first);
	mh_nic_unlock(first);
}

void mh_shard_lock(struct mh_nic *nic)
{
	mh_nic_lock(nic->first);
	if (nic != nic->first)
		mh_nic_lock(nic);
}

void mh_shard_unlock(struct mh_nic *nic)
{
	if (nic != nic->first)
		mh_nic_unlock(nic);
	mh_nic_unlock(nic->first);
}

/* n_qps changes under the first's lock and that of the shard, so either does for reading it. */
struct mh_nic *mh_shards_least(const struct mh_nic *first)
{
	struct mh_nic *least = first->shard[0];

	for (uint32_t i = 1; i < first->n_shards; i++)
		if (first->shard[i]->n_qps < least->n_qps)
			least = first->shard[i];
	return least;
}

bool mh_shards_have_qps(const struct mh_nic *first)
{
	for (uint32_t i = 0; i < first->n_shards; i++)
		if (first->shard[i]->n_qps > 0)
			return true;
	return false;
}

void mh_cq_count_qp(struct mh_cq *cq, const struct mh_nic *nic, bool in)
{
	uint32_t shard = nic->env.shard, bit = UINT32_C(1) << shard;
	uint32_t mask = atomic_load_explicit(&cq->shards, memory_order_relaxed);

	cq->n_qps += in ? 1 : UINT32_MAX;
	cq->n_qps_of[shard] += in ? 1 : UINT32_MAX;
	mask = cq->n_qps_of[shard] > 0 ? mask | bit : mask & ~bit;
	atomic_store_explicit(&cq->shards, mask, memory_order_relaxed);
}

void mh_nic_kick(struct mh_nic *nic)
{
	int cancel_state = mh_cancel_disable();
	uint64_t one = 1;

	/* It may be full of kicks. If the program closed it, the thread looks on its own. */
	(void)!write(nic->progress.kick_fd, &one, sizeof(one));
	mh_cancel_restore(cancel_state);
}
