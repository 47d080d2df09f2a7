/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/mr.h"

#include "core/engine_state.h"

const struct mt_mr *mt_mr_check(const struct mt_mr_table *t, uint32_t key, uint32_t pd,
				uint64_t addr, uint64_t len, uint32_t access)
{
	uint32_t index = key >> 8;
	const struct mt_mr *mr;

	if (index == 0 || index > t->max)
		return NULL;
	mr = &t->mrs[index];
	if (!mr->used || mr->tag != (uint8_t)key || mr->pd != pd)
		return NULL;
	if ((mr->access & access) != access)
		return NULL;
	/* In this order no sum can wrap. */
	if (addr < mr->start || len > mr->length || addr - mr->start > mr->length - len)
		return NULL;
	return mr;
}

int mt_mr_add(struct mt_engine *e, uint32_t index, uint8_t tag, uint32_t pd, uint64_t start,
	      uint64_t length, uint32_t access, void *mr_user)
{
	struct mt_mr *mr;

	if (index == 0 || index > e->mrs.max || start + length < start)
		return MT_ERR_INVALID;
	mr = &e->mrs.mrs[index];
	if (mr->used)
		return MT_ERR_EXISTS;
	*mr = (struct mt_mr){
		.start = start,
		.length = length,
		.user = mr_user,
		.pd = pd,
		.tag = tag,
		.access = (uint8_t)access,
		.used = true,
	};
	return MT_OK;
}

int mt_mr_remove(struct mt_engine *e, uint32_t index)
{
	if (index == 0 || index > e->mrs.max || !e->mrs.mrs[index].used)
		return MT_ERR_INVALID;
	e->mrs.mrs[index].used = false;
	return MT_OK;
}
