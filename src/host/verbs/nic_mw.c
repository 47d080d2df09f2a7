/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic_mw.c - memory windows: made and freed here, bound and invalidated by the engine when their
 * send WR begins.
 *
 * Windows share the indices of MRs. One of type 1 gets another key with every bind, one of type 2
 * the one that the WR says; the last of them counts when the index is given again.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/assert.h"
#include "host/datapath/datapath.h"
#include "host/platform/platform.h"
#include "host/verbs/verbs.h"

#define BIND_ACCESS                                                                         \
	((uint32_t)RD_ACCESS_LOCAL_WRITE | RD_ACCESS_REMOTE_WRITE | RD_ACCESS_REMOTE_READ | \
	 RD_ACCESS_REMOTE_ATOMIC)
#define LOCAL_FLAGS ((uint32_t)RD_SEND_SIGNALED | RD_SEND_FENCE)

static int mw_insert(struct mh_nic *nic, struct mh_mw *mw)
{
	uint64_t random;
	int result = mh_entropy(&random);

	if (result)
		return result;
	mw->key = mh_mr_keys_alloc(&nic->mr_indices, random);
	if (mw->key == 0)
		return ENOMEM;
	result = mt_mw_add(nic->engine, mw->key, mw->pd->number, mw->type);
	mb_assert(result == MT_OK); /* what has no key is free in the engine, too */
	mw->pd->objects++;
	return 0;
}

int mh_mw_alloc(struct mh_pd *pd, enum rd_mw_type type, struct mh_mw **mw)
{
	struct mh_nic *nic = pd->dev->nic;
	struct mh_mw *m;
	int err;

	if (mh_nic_is_inherited(nic))
		return ENODEV;
	if (type != RD_MW_TYPE_1 && type != RD_MW_TYPE_2)
		return EINVAL;
	if (nic->attr.max_mw == 0)
		return EOPNOTSUPP;
	m = calloc(1, sizeof(*m));
	if (!m)
		return ENOMEM;
	m->pd = pd;
	m->type = type;
	mh_nic_lock(nic);
	err = mw_insert(nic, m);
	mh_nic_unlock(nic);
	if (err)
		free(m);
	else
		*mw = m;
	return err;
}

int mh_mw_dealloc(struct mh_mw *mw)
{
	struct mh_nic *nic = mw->pd->dev->nic;
	int result;

	if (mh_nic_is_inherited(nic))
		return ENODEV;
	mh_nic_lock(nic);
	result = mt_mw_remove(nic->engine, mh_mr_key_index(mw->key));
	mb_assert(result == MT_OK);
	mh_mr_keys_free(&nic->mr_indices, mw->key);
	mw->pd->objects--;
	mh_nic_unlock(nic);
	free(mw);
	return 0;
}

uint32_t mh_mw_rkey(const struct mh_mw *mw)
{
	return mw->key;
}

/* ---- posting ---- */

static int mw_post(struct mh_qp *qp, const struct mt_local_wr *wr)
{
	int result;

	MH_ENGINE_CALL(qp->nic, result, mt_qp_post_local(qp->mt, wr));
	return mh_engine_errno(result);
}

/* mw_next_key finds the key that a bind gives: of type 2 as the WR has it, of type 1 any other. */
static int mw_next_key(const struct mh_mw *mw, uint32_t rkey, uint32_t *next)
{
	uint32_t key = mw->key;
	uint64_t random;
	int err;

	*next = rkey;
	if (mw->type == RD_MW_TYPE_2)
		return 0;
	err = mh_entropy(&random);
	if (!err)
		*next = (key & ~UINT32_C(0xFF)) | ((key + 1 + (uint32_t)(random % 255)) & 0xFF);
	return err;
}

/* REQ(ext.mw.rkey) */
int mh_mw_post_bind(struct mh_qp *qp, const struct rd_send_wr *wr)
{
	const struct rd_bind *bind = wr->bind;
	struct mt_local_wr out = {
		.wr_id = wr->wr_id,
		.addr = bind->addr,
		.length = bind->length,
		.lkey = bind->mr ? mh_mr_lkey(bind->mr) : 0,
		.window = mh_mr_key_index(bind->mw->key),
		.access = bind->access,
		.flags = wr->flags & LOCAL_FLAGS,
		.zero_based = bind->zero_based,
		.opcode = RD_WR_BIND_MW,
	};
	int err = mw_next_key(bind->mw, wr->rkey, &out.rkey);

	if (err)
		return err;
	if (bind->access & ~BIND_ACCESS || (out.rkey ^ bind->mw->key) >> 8 != 0)
		return EINVAL;
	err = mw_post(qp, &out);
	if (err)
		return err;
	bind->mw->key = out.rkey;
	return 0;
}

int mh_mw_post_invalidate(struct mh_qp *qp, const struct rd_send_wr *wr)
{
	struct mt_local_wr out = {
		.wr_id = wr->wr_id,
		.rkey = wr->rkey,
		.flags = wr->flags & LOCAL_FLAGS,
		.opcode = RD_WR_LOCAL_INV,
	};

	return mw_post(qp, &out);
}
