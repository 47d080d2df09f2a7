/* SPDX-License-Identifier: BSD-2-Clause */
/* mr.c - registering memory: checked, entered in our table and in the engine's under one key. */
#include <errno.h>
#include <stdlib.h>

#include "base/assert.h"
#include "host/engine_host.h"
#include "host/entropy.h"
#include "host/nic_context.h"

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

static int mr_insert(struct mh_nic *nic, struct mh_mr *mr, uint32_t access)
{
	int result;

	if (!mh_mr_table_insert(&nic->mem, mr, mh_entropy()))
		return ENOMEM;
	MH_ENGINE_CALL(nic, result,
		       mt_mr_add(nic->engine, mh_mr_table_index(mr->key), (uint8_t)mr->key,
				 mr->pd->number, mr->iova, mr->null ? UINT64_MAX : mr->length,
				 access, mr));
	if (result != MT_OK) {
		mh_mr_table_remove(&nic->mem, mr);
		return mh_engine_errno(result);
	}
	mr->pd->objects++;
	return 0;
}

int mh_mr_reg(struct mh_pd *pd, void *addr, size_t length, uint64_t iova, uint32_t access,
	      struct mh_mr **mr)
{
	struct mh_nic *nic = pd->dev->nic;
	struct mh_mr *m;
	int err;

	if (mh_nic_is_inherited(nic))
		return ENODEV;
	if (!mr_is_range_valid(addr, length, iova, access))
		return EINVAL;
	err = mh_mem_check(addr, length, access & RD_ACCESS_LOCAL_WRITE);
	if (err)
		return err;
	m = malloc(sizeof(*m));
	if (!m)
		return ENOMEM;
	*m = (struct mh_mr){
		.pd = pd, .base = addr, .length = length, .iova = iova, .access = access};
	mh_nic_lock(nic);
	err = mr_insert(nic, m, access);
	mh_nic_unlock(nic);
	if (err)
		free(m);
	else
		*mr = m;
	return err;
}

/* REQ(api.null-mr) */
int mh_mr_reg_null(struct mh_pd *pd, struct mh_mr **mr)
{
	struct mh_nic *nic = pd->dev->nic;
	struct mh_mr *m;
	int err;

	if (mh_nic_is_inherited(nic))
		return ENODEV;
	m = malloc(sizeof(*m));
	if (!m)
		return ENOMEM;
	*m = (struct mh_mr){.pd = pd, .null = true, .access = RD_ACCESS_LOCAL_WRITE};
	mh_nic_lock(nic);
	err = mr_insert(nic, m, m->access);
	mh_nic_unlock(nic);
	if (err)
		free(m);
	else
		*mr = m;
	return err;
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
	uint32_t index = mh_mr_table_index(mr->key);
	int added;

	mh_nic_lock(nic);
	if (mt_mr_remove(nic->engine, index) != MT_OK) {
		mh_nic_unlock(nic);
		return EBUSY;
	}
	mr->pd->objects--;
	*mr = *next;
	mr->pd->objects++;
	added = mt_mr_add(nic->engine, index, (uint8_t)mr->key, mr->pd->number, mr->iova,
			  mr->length, mr->access, mr);
	mb_assert(added == MT_OK);
	mh_nic_unlock(nic);
	return 0;
}

int mh_mr_rereg(struct mh_mr *mr, const struct mh_mr_change *change)
{
	struct mh_nic *nic = mr->pd->dev->nic;
	struct mh_mr next;
	int err;

	if (mh_nic_is_inherited(nic))
		return ENODEV;
	if (mr->null || ((change->mask & MH_MR_PD) && change->pd->dev != mr->pd->dev))
		return EINVAL;
	next = mr_with_change(mr, change);
	if (!mr_is_range_valid(next.base, next.length, next.iova, next.access))
		return EINVAL;
	err = mh_mem_check(next.base, next.length, next.access & RD_ACCESS_LOCAL_WRITE);
	return err ? err : mr_replace(nic, mr, &next);
}

int mh_mr_dereg(struct mh_mr *mr)
{
	struct mh_nic *nic = mr->pd->dev->nic;
	int result;

	if (mh_nic_is_inherited(nic))
		return ENODEV;
	/* Frames are built, sent and placed under this lock: nothing uses the memory after it. */
	mh_nic_lock(nic);
	result = mt_mr_remove(nic->engine, mh_mr_table_index(mr->key));
	if (result == MT_OK) {
		mh_mr_table_remove(&nic->mem, mr);
		mr->pd->objects--;
	}
	mh_nic_unlock(nic);
	if (result != MT_OK)
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
