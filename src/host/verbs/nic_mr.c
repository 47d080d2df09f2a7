/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic_mr.c - registering memory: checked, given a key, entered in the engine's table.
 *
 * The handle is the program's and the key the peers': the engine's table has what a packet needs,
 * and its cookie leads straight to the memory. Nothing is pinned; whether the memory is still there
 * when it is used is found by the guard (mem_guard.c).
 */
#include <errno.h>
#include <stdlib.h>

#include "base/assert.h"
#include "host/datapath/datapath.h"
#include "host/platform/platform.h"
#include "host/state/shards.h"

#define ACCESS_WRITES ((uint32_t)RD_ACCESS_REMOTE_WRITE | RD_ACCESS_REMOTE_ATOMIC)
#define ACCESS_ALL \
	(ACCESS_WRITES | RD_ACCESS_LOCAL_WRITE | RD_ACCESS_REMOTE_READ | RD_ACCESS_MW_BIND)

static bool mr_is_range_valid(const void *addr, size_t length, uint64_t iova, uint32_t access)
{
	if (length == 0 || (access & ~ACCESS_ALL))
		return false;
	if ((access & ACCESS_WRITES) && !(access & RD_ACCESS_LOCAL_WRITE))
		return false;
	return (uintptr_t)addr <= UINTPTR_MAX - length && iova <= UINT64_MAX - length;
}

/* A null MR has all addresses. */
static int mr_add_to(struct mh_nic *nic, const struct mh_mr *mr)
{
	int result;

	MH_ENGINE_CALL(nic, result,
		       mt_mr_add(nic->engine, mr->key, mr->pd->number, mr->iova,
				 mr->base ? mr->length : UINT64_MAX, mr->access, mr->base));
	return mh_engine_errno(result);
}

/* mr_add enters an MR in the tables of all shards, under all their locks, or in none. */
static int mr_add(struct mh_nic *first, const struct mh_mr *mr)
{
	int err = 0;
	uint32_t n;

	for (n = 0; n < first->n_shards && !err; n++)
		err = mr_add_to(first->shard[n], mr);
	/* The last one has it not. */
	while (err && --n > 0)
		mt_mr_remove(first->shard[n - 1]->engine, mh_mr_key_index(mr->key));
	return err;
}

/*
 * mr_remove takes an MR out of all tables; false: windows are bound to it. These are there only
 * where there is one shard.
 */
static bool mr_remove(struct mh_nic *first, const struct mh_mr *mr)
{
	bool removed = true;

	for (uint32_t i = 0; i < first->n_shards; i++)
		removed &= mt_mr_remove(first->shard[i]->engine, mh_mr_key_index(mr->key)) == MT_OK;
	return removed;
}

/* A key whose MR the engine has no memory for is given back at once: no peer has seen it. */
static int mr_insert(struct mh_nic *nic, struct mh_mr *mr)
{
	uint64_t random;
	int err = mh_entropy(&random);

	if (err)
		return err;
	mr->key = mh_mr_keys_alloc(&nic->mr_indices, random);
	if (mr->key == 0)
		return ENOMEM;
	err = mr_add(nic, mr);
	if (err)
		mh_mr_keys_free(&nic->mr_indices, mr->key);
	else
		mr->pd->objects++;
	return err;
}

/* mr_create makes an MR like `as`, whose values were checked. */
/* The handle is copied before the lock: malloc may take long, and the lock stops all traffic. */
static int mr_create(const struct mh_mr *as, struct mh_mr **mr)
{
	struct mh_nic *nic = as->pd->dev->nic;
	struct mh_mr *m = malloc(sizeof(*m));
	int err;

	if (!m)
		return ENOMEM;
	*m = *as;
	mh_shards_lock(nic);
	err = mr_insert(nic, m);
	mh_shards_unlock(nic);
	if (err)
		free(m);
	else
		*mr = m;
	return err;
}

/* The memory is checked before the lock is taken: faulting in pages may take seconds. */
int mh_mr_reg(struct mh_pd *pd, void *addr, size_t length, uint64_t iova, uint32_t access,
	      struct mh_mr **mr)
{
	struct mh_mr as = {
		.pd = pd, .base = addr, .length = length, .iova = iova, .access = access};
	int err;

	if (mh_nic_is_inherited(pd->dev->nic))
		return ENODEV;
	if (!mr_is_range_valid(addr, length, iova, access))
		return EINVAL;
	err = mh_mem_check(addr, length, access & RD_ACCESS_LOCAL_WRITE);
	return err ? err : mr_create(&as, mr);
}

/* REQ(api.null-mr) */
int mh_mr_reg_null(struct mh_pd *pd, struct mh_mr **mr)
{
	struct mh_mr as = {.pd = pd, .access = RD_ACCESS_LOCAL_WRITE};

	if (mh_nic_is_inherited(pd->dev->nic))
		return ENODEV;
	return mr_create(&as, mr);
}

/* mr_with_change is what a change makes of a registration; its key is the same. */
static struct mh_mr mr_with_change(const struct mh_mr *mr, const struct mh_mr_change *change)
{
	struct mh_mr next = *mr;

	if (change->mask & MH_MR_MEMORY) {
		next.base = change->addr;
		next.length = change->length;
		next.iova = change->iova;
	}
	if (change->mask & MH_MR_PD)
		next.pd = change->pd;
	if (change->mask & MH_MR_ACCESS)
		next.access = change->access;
	return next;
}

/* Frames are built and placed under this lock, each by one of the two. */
static int mr_replace(struct mh_nic *nic, struct mh_mr *mr, const struct mh_mr *next)
{
	int err;

	mh_shards_lock(nic);
	if (!mr_remove(nic, mr)) {
		mh_shards_unlock(nic);
		return EBUSY;
	}
	mr->pd->objects--;
	*mr = *next;
	mr->pd->objects++;
	err = mr_add(nic, mr);
	mb_assert(!err);
	mh_shards_unlock(nic);
	return 0;
}

int mh_mr_rereg(struct mh_mr *mr, const struct mh_mr_change *change)
{
	struct mh_nic *nic = mr->pd->dev->nic;
	struct mh_mr next;
	int err;

	if (mh_nic_is_inherited(nic))
		return ENODEV;
	if (!mr->base || ((change->mask & MH_MR_PD) && change->pd->dev != mr->pd->dev))
		return EINVAL;
	next = mr_with_change(mr, change);
	if (!mr_is_range_valid(next.base, next.length, next.iova, next.access))
		return EINVAL;
	err = mh_mem_check(next.base, next.length, next.access & RD_ACCESS_LOCAL_WRITE);
	return err ? err : mr_replace(nic, mr, &next);
}

/* EBUSY: windows are bound to it. */
int mh_mr_dereg(struct mh_mr *mr)
{
	struct mh_nic *nic = mr->pd->dev->nic;
	bool removed;

	if (mh_nic_is_inherited(nic))
		return ENODEV;
	/* Frames are built, sent and placed under these locks: nothing uses the memory after them.
	 */
	mh_shards_lock(nic);
	removed = mr_remove(nic, mr);
	if (removed) {
		mh_mr_keys_free(&nic->mr_indices, mr->key);
		mr->pd->objects--;
	}
	mh_shards_unlock(nic);
	if (!removed)
		return EBUSY;
	free(mr);
	return 0;
}

uint32_t mh_mr_lkey(const struct mh_mr *mr)
{
	return mr->key;
}

uint32_t mh_mr_rkey(const struct mh_mr *mr)
{
	return mr->key;
}
