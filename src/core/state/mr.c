/* SPDX-License-Identifier: BSD-2-Clause */
/* mr.c - the table of MRs and windows: adding, removing, and the check before each access. */
#include "core/state/engine_state.h"

#include "base/assert.h"

#define RIGHTS                                                                              \
	((uint32_t)RD_ACCESS_LOCAL_WRITE | RD_ACCESS_REMOTE_WRITE | RD_ACCESS_REMOTE_READ | \
	 RD_ACCESS_REMOTE_ATOMIC | RD_ACCESS_MW_BIND)

void mt_mr_table_init(struct mt_mr_table *t)
{
	mb_assert(t->mrs && t->max > 0);
	t->index_mask = mb_pow2_ceil(t->max + 1) - 1;
	t->mrs[0].key = UINT32_MAX;
}

const struct mt_mr *mt_mr_check(const struct mt_mr_table *t, uint32_t key, uint32_t pd,
				uint64_t addr, uint64_t len, uint32_t access)
{
	uint32_t index = mt_mr_index(t, key);
	const struct mt_mr *mr;

	if (index > t->max)
		return NULL;
	mr = &t->mrs[index];
	if (mr->key != key || mr->pd != pd)
		return NULL;
	if ((mr->access & access) != access)
		return NULL;
	/* In this order no sum can wrap. */
	if (addr < mr->start || len > mr->length || addr - mr->start > mr->length - len)
		return NULL;
	return mr;
}

int mt_mr_add(struct mt_engine *e, uint32_t key, uint32_t pd, uint64_t start, uint64_t length,
	      uint32_t access, void *mr_user)
{
	uint32_t index = mt_mr_index(&e->mrs, key);
	struct mt_mr *mr;

	if (index == 0 || index > e->mrs.max || start + length < start)
		return MT_ERR_INVALID;
	mr = &e->mrs.mrs[index];
	if (mr->key != 0)
		return MT_ERR_EXISTS;
	*mr = (struct mt_mr){
		.start = start,
		.length = length,
		.origin = start,
		.user = mr_user,
		.pd = pd,
		.key = key,
		.access = (uint8_t)((access & RIGHTS) | MT_MR_LOCAL),
	};
	return MT_OK;
}

/* REQ(ext.mw.holds-mr) */
int mt_mr_remove(struct mt_engine *e, uint32_t index)
{
	struct mt_mr *mr = index <= e->mrs.max ? &e->mrs.mrs[index] : NULL;

	if (index == 0 || !mr || !(mr->access & MT_MR_LOCAL))
		return MT_ERR_INVALID;
	if (mr->windows > 0)
		return MT_ERR_STATE;
	mb_assert(mr->of == 0 && mt_mr_index(&e->mrs, mr->key) == index);
	*mr = (struct mt_mr){.key = 0};
	return MT_OK;
}

bool mt_mr_find(const struct mt_engine *e, uint32_t lkey, uint64_t addr, uint64_t len,
		struct mt_mr_part *part)
{
	const struct mt_mr_table *t = &e->mrs;
	uint32_t index = mt_mr_index(t, lkey);
	const struct mt_mr *mr;

	if (index > t->max)
		return false;
	mr = mt_mr_check(t, lkey, t->mrs[index].pd, addr, len, MT_MR_LOCAL);
	if (!mr)
		return false;
	*part = (struct mt_mr_part){
		.mr_user = mr->user,
		.offset = addr - mr->origin,
		.pd = mr->pd,
		.access = mr->access & RIGHTS,
	};
	return true;
}
