/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shards.h - the NICs of one device, each with an engine, a lock, a process slot, ports and a
 * progress thread of its own, so that several cores work for one process.
 *
 * A QP lives in one of them, its number's slot says in which, and so does an SRQ with its QPs. An
 * MR is in all. What belongs to the device and not to a QP is the first's: openings, PDs, CQs,
 * channels, keys, counts of objects, the statistics, what controllers have decided.
 *
 * Locks are taken in the order of the shards, the first's before all others. Lists that all shards
 * read, as ev_cqs, change under the locks of all.
 */
#ifndef SOFTMRC_HOST_STATE_SHARDS_H
#define SOFTMRC_HOST_STATE_SHARDS_H

#include "host/state/nic_context.h"

/* mh_shards_begin makes a NIC the first of its device, and the only one so far. */
void mh_shards_begin(struct mh_nic *nic);
/* mh_shards_add makes another NIC, whose thread has not started, the next shard. */
void mh_shards_add(struct mh_nic *first, struct mh_nic *nic);

/*
 * mh_shards_lock_others takes the locks of the shards behind the first, whose own is held, and
 * mh_shards_unlock_others releases them. With one shard they do nothing.
 */
void mh_shards_lock_others(struct mh_nic *first);
void mh_shards_unlock_others(struct mh_nic *first);
/* mh_shards_lock and mh_shards_unlock: the first's, too. */
void mh_shards_lock(struct mh_nic *first);
void mh_shards_unlock(struct mh_nic *first);
/*
 * mh_shard_lock takes the first's lock and that of one shard, for what changes in both; and
 * mh_shard_unlock releases them.
 */
void mh_shard_lock(struct mh_nic *nic);
void mh_shard_unlock(struct mh_nic *nic);

/*
 * mh_shards_least returns the shard that has the fewest QPs. Under the first's lock.
 * REQ(api.shards)
 */
struct mh_nic *mh_shards_least(const struct mh_nic *first);
/* mh_shards_have_qps says whether any shard has QPs. Under the first's lock. */
bool mh_shards_have_qps(const struct mh_nic *first);
/* mh_cq_count_qp counts a QP of a shard in, or out of, its CQs. Under mh_shard_lock. */
void mh_cq_count_qp(struct mh_cq *cq, const struct mh_nic *nic, bool in);
/* mh_nic_kick wakes the progress thread of a NIC. Any thread, under any lock. */
void mh_nic_kick(struct mh_nic *nic);

#endif
