/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mw.c - memory windows: entries of the MR table that are views of an MR while they are bound. See
 * ext.h for the two types.
 */
#include "base/assert.h"
#include "core/ext/ext.h"

#define KINDS ((uint32_t)MT_MR_MW_1 | MT_MR_MW_2)
#define PEERS_WRITE ((uint32_t)RD_ACCESS_REMOTE_WRITE | RD_ACCESS_REMOTE_ATOMIC)
#define PEERS_ALL (PEERS_WRITE | RD_ACCESS_REMOTE_READ)

/* The window with this index, or NULL. */
static struct mt_mr *window_at(struct mt_engine *e, uint32_t index)
{
	struct mt_mr *mw = index <= e->mrs.max ? &e->mrs.mrs[index] : NULL;

	return mw && mw->access & KINDS ? mw : NULL;
}

/* How many windows are views of an MR; for mb_assert_slow, since it walks the table. */
static uint32_t count_bound(const struct mt_mr_table *t, uint32_t index)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i <= t->max; i++)
		n += t->mrs[i].of == index;
	return n;
}

static void unbind_window(struct mt_engine *e, struct mt_mr *mw)
{
	mb_assert(mw->access & KINDS && mw->of <= e->mrs.max);
	if (mw->of != 0) {
		mb_assert(e->mrs.mrs[mw->of].windows > 0);
		e->mrs.mrs[mw->of].windows--;
		mb_assert_slow(count_bound(&e->mrs, mw->of) == e->mrs.mrs[mw->of].windows + 1);
	}
	*mw = (struct mt_mr){
		.key = mw->key,
		.pd = mw->pd,
		.access = (uint8_t)(mw->access & KINDS),
	};
}

/* A window shares the index space of MRs, so that one look-up serves both. */
int mt_mw_add(struct mt_engine *e, uint32_t key, uint32_t pd, enum rd_mw_type type)
{
	uint32_t index = mt_mr_index(&e->mrs, key);
	struct mt_mr *mw;

	if (index == 0 || index > e->mrs.max || (type != RD_MW_TYPE_1 && type != RD_MW_TYPE_2))
		return MT_ERR_INVALID;
	mw = &e->mrs.mrs[index];
	if (mw->key != 0)
		return MT_ERR_EXISTS;
	*mw = (struct mt_mr){
		.key = key,
		.pd = pd,
		.access = type == RD_MW_TYPE_1 ? MT_MR_MW_1 : MT_MR_MW_2,
	};
	return MT_OK;
}

/* A window may be removed while it is bound; its MR is then free to go. */
int mt_mw_remove(struct mt_engine *e, uint32_t index)
{
	struct mt_mr *mw = window_at(e, index);

	if (!mw)
		return MT_ERR_INVALID;
	unbind_window(e, mw);
	*mw = (struct mt_mr){.key = 0};
	return MT_OK;
}

/* A bind chooses the low 8 bits of a window's key. REQ(ext.mw.rkey) */
static bool is_key_of(const struct mt_mr *mw, uint32_t key)
{
	return ((mw->key ^ key) & ~UINT32_C(0xFF)) == 0;
}

/* What a window of this type may be made now. REQ(ext.mw.rebind) */
static bool can_bind(const struct mt_mr *mw, const struct mt_local_wr *wr)
{
	if (mw->access & MT_MR_MW_1)
		return true;
	return mw->of == 0 && wr->length > 0 && wr->rkey != mw->key;
}

/* The MR for it; what peers may write we must be allowed to write. REQ(ext.mw.rights) */
static struct mt_mr *find_mr(struct mt_qp *qp, const struct mt_local_wr *wr)
{
	struct mt_mr_table *t = &qp->engine->mrs;
	uint32_t needs = (uint32_t)RD_ACCESS_MW_BIND | MT_MR_LOCAL;

	if (wr->access & PEERS_WRITE)
		needs |= RD_ACCESS_LOCAL_WRITE;
	if (!mt_mr_check(t, wr->lkey, qp->cap.pd, wr->addr, wr->length, needs))
		return NULL;
	return &t->mrs[mt_mr_index(t, wr->lkey)];
}

/*
 * Makes the window a view of the MR: with its cookie and origin, so that placing treats both alike.
 */
static void bind_to_mr(struct mt_qp *qp, struct mt_mr *mw, struct mt_mr *mr,
		       const struct mt_local_wr *wr)
{
	mb_assert(mw->of == 0 && mr->access & MT_MR_LOCAL && mr->key == wr->lkey);
	mw->start = wr->zero_based ? 0 : wr->addr;
	mw->length = wr->length;
	mw->origin = wr->zero_based ? mr->origin - wr->addr : mr->origin;
	mw->user = mr->user;
	mw->qpn = mw->access & MT_MR_MW_2 ? qp->qpn : 0;
	mw->of = mt_mr_index(&qp->engine->mrs, wr->lkey);
	mw->access |= (uint8_t)(wr->access & PEERS_ALL);
	mr->windows++;
	mb_assert_slow(count_bound(&qp->engine->mrs, mw->of) == mr->windows);
}

/* Everything is checked before the old binding ends, so that a bind that fails leaves it valid. */
bool mt_mw_bind(struct mt_qp *qp, const struct mt_local_wr *wr)
{
	struct mt_mr *mw = window_at(qp->engine, wr->window);
	struct mt_mr *mr = NULL;

	if (!mw || mw->pd != qp->cap.pd || !is_key_of(mw, wr->rkey) || !can_bind(mw, wr))
		return false;
	if (wr->length > 0) {
		mr = find_mr(qp, wr);
		if (!mr)
			return false;
	}
	unbind_window(qp->engine, mw);
	mw->key = wr->rkey;
	if (mr)
		bind_to_mr(qp, mw, mr, wr);
	mb_assert(mw == window_at(qp->engine, wr->window) && (mw->of != 0) == (wr->length > 0));
	return true;
}

/* Only the QP that bound a window of type 2 may invalidate it, by itself or through its peer. */
bool mt_mw_invalidate(struct mt_qp *qp, uint32_t rkey)
{
	struct mt_mr *mw = window_at(qp->engine, mt_mr_index(&qp->engine->mrs, rkey));

	if (!mw || !(mw->access & MT_MR_MW_2) || mw->key != rkey || mw->qpn != qp->qpn)
		return false;
	unbind_window(qp->engine, mw);
	return true;
}

/* Its number may be another's soon. REQ(ext.mw.of-qp) */
void mt_mw_unbind_qp(struct mt_qp *qp)
{
	struct mt_mr_table *t = &qp->engine->mrs;

	for (uint32_t i = 1; i <= t->max; i++)
		if (t->mrs[i].qpn == qp->qpn)
			unbind_window(qp->engine, &t->mrs[i]);
}
