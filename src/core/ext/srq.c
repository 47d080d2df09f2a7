/* SPDX-License-Identifier: BSD-2-Clause */
/* srq.c - shared receive queues: posting, taking for a QP, arming their limit. */

#include <string.h>

#include "base/assert.h"
#include "base/bits.h"
#include "core/ext/ext.h"

#define DEPTH_MAX 32768u

_Static_assert(sizeof(struct mt_srq) % 8 == 0 && sizeof(struct mt_srq_entry) % 8 == 0,
	       "what follows them in an SRQ's memory is aligned");

/* A receive that a QP took keeps its place until it is polled. */
static bool is_consistent(const struct mt_srq *srq)
{
	return srq->head <= srq->tail && srq->tail - srq->head + srq->taken <= srq->depth;
}

/* The size is 0 for a capability that is out of range. */
size_t mt_srq_size(const struct mt_srq_cap *cap)
{
	if (cap->depth == 0 || cap->depth > DEPTH_MAX || cap->max_sge > RD_SGE_MAX)
		return 0;
	return sizeof(struct mt_srq) +
	       mb_pow2_ceil(cap->depth) *
		       (sizeof(struct mt_srq_entry) + cap->max_sge * sizeof(struct rd_sge));
}

/* Header, entries and SGEs are one block, as a QP is. */
int mt_srq_init(struct mt_engine *e, void *mem, const struct mt_srq_cap *cap, void *user,
		struct mt_srq **out)
{
	struct mt_srq *srq = mem;

	if (mt_srq_size(cap) == 0)
		return MT_ERR_INVALID;
	*srq = (struct mt_srq){
		.engine = e,
		.user = user,
		.entries = (struct mt_srq_entry *)(srq + 1),
		.mask = mb_pow2_ceil(cap->depth) - 1,
		.depth = cap->depth,
		.max_sge = cap->max_sge,
		.pd = cap->pd,
	};
	srq->sges = (struct rd_sge *)(srq->entries + srq->mask + 1);
	mb_link_init(&srq->limited);
	*out = srq;
	return MT_OK;
}

/* Each slot has its own SGEs, at a place that follows from its number. */
static struct rd_sge *sges_of(const struct mt_srq *srq, uint64_t n)
{
	return &srq->sges[(n & srq->mask) * srq->max_sge];
}

/* The n-th receive as it was posted. */
static struct rd_recv_wr recv_at(const struct mt_srq *srq, uint64_t n)
{
	const struct mt_srq_entry *entry = &srq->entries[n & srq->mask];

	return (struct rd_recv_wr){
		.wr_id = entry->wr_id, .sge = sges_of(srq, n), .n_sge = entry->n_sge};
}

static void fill_rqe(struct mt_srq *srq, uint64_t n, const struct rd_recv_wr *wr)
{
	mb_assert(wr->n_sge <= srq->max_sge);
	srq->entries[n & srq->mask] = (struct mt_srq_entry){.wr_id = wr->wr_id, .n_sge = wr->n_sge};
	if (wr->n_sge)
		memcpy(sges_of(srq, n), wr->sge, wr->n_sge * sizeof(*wr->sge));
}

/*
 * Copies the receives to their slots in the new block; the mask changes, so the slots do, too.
 * REQ(api.srq.resize)
 */
int mt_srq_resize(struct mt_srq *srq, void *mem, uint32_t depth)
{
	struct mt_srq old = *srq;

	if (depth == 0 || depth > DEPTH_MAX || depth < srq->limit ||
	    depth < srq->tail - srq->head + srq->taken)
		return MT_ERR_INVALID;
	srq->entries = mem;
	srq->depth = depth;
	srq->mask = mb_pow2_ceil(depth) - 1;
	srq->sges = (struct rd_sge *)(srq->entries + srq->mask + 1);
	mb_assert(mem && is_consistent(srq));
	for (uint64_t n = srq->head; n != srq->tail; n++) {
		struct rd_recv_wr wr = recv_at(&old, n);

		fill_rqe(srq, n, &wr);
	}
	return MT_OK;
}

void mt_srq_fini(struct mt_srq *srq)
{
	mb_link_remove(&srq->limited);
}

/*
 * A receive that a QP took counts until its completion is polled, or a program could post more
 * than the depth.
 */
int mt_srq_post(struct mt_srq *srq, const struct rd_recv_wr *wr)
{
	if (wr->n_sge > srq->max_sge)
		return MT_ERR_INVALID;
	if (srq->tail - srq->head + srq->taken >= srq->depth)
		return MT_ERR_FULL;
	fill_rqe(srq, srq->tail++, wr);
	mb_assert(is_consistent(srq));
	return MT_OK;
}

/* The limit fires once and must be armed again, as verbs define it. REQ(ext.srq.limit) */
static void check_limit(struct mt_srq *srq)
{
	if (srq->tail - srq->head >= srq->limit)
		return;
	srq->limit = 0;
	mb_list_push(&srq->engine->limited, &srq->limited);
}

int mt_srq_arm(struct mt_srq *srq, uint32_t limit)
{
	if (limit > srq->depth)
		return MT_ERR_INVALID;
	srq->limit = limit;
	check_limit(srq);
	return MT_OK;
}

uint32_t mt_srq_limit(const struct mt_srq *srq)
{
	return srq->limit;
}

/* The receive keeps its place in the depth of the SRQ, as one that was taken. */
static void move_to_rq(struct mt_srq *srq, struct mt_rq *rq)
{
	struct rd_recv_wr wr = recv_at(srq, srq->head);

	mb_assert(srq->head < srq->tail);
	mt_rq_push(rq, &wr);
	srq->head++;
	srq->taken++;
}

/*
 * Whether the SRQ has receives for the QP up to its n-th. The oldest message of a QP may take the
 * last one. Those behind it are numbers that a peer names, so that the QP holds as many for them at
 * most as it leaves to others. REQ(ext.srq.share)
 */
static bool srq_has_for(const struct mt_srq *srq, const struct mt_rq *rq, uint64_t n)
{
	uint64_t posted = srq->tail - srq->head, wanted = n + 1 - rq->tail;

	mb_assert(n >= rq->tail && n >= rq->used);
	return wanted <= posted && n - rq->used <= posted - wanted;
}

/* All or none: receives are bound to messages in the order of their numbers. REQ(ext.srq.take) */
bool mt_srq_fill(struct mt_rq *rq, uint64_t n)
{
	struct mt_srq *srq = rq->srq;

	if (n - rq->head >= rq->depth || !srq_has_for(srq, rq, n))
		return false;
	while (rq->tail <= n)
		move_to_rq(srq, rq);
	mb_assert(is_consistent(srq) && rq->tail - rq->head <= rq->depth);
	check_limit(srq);
	return true;
}

bool mt_srq_peek(const struct mt_srq *srq, struct rd_recv_wr *wr)
{
	if (srq->head == srq->tail)
		return false;
	*wr = recv_at(srq, srq->head);
	return true;
}

/* Takes one receive for a UD QP, which uses each at once. */
bool mt_srq_pop(struct mt_srq *srq, struct rd_recv_wr *wr)
{
	if (!mt_srq_peek(srq, wr))
		return false;
	srq->head++;
	srq->taken++;
	check_limit(srq);
	return true;
}

void mt_srq_polled(struct mt_srq *srq)
{
	mb_assert(srq->taken > 0);
	srq->taken--;
}

/* In front, in their order: a place that was taken is still theirs. REQ(ext.srq.take) */
void mt_srq_return(struct mt_rq *rq)
{
	struct mt_srq *srq = rq->srq;

	mb_assert(srq->taken >= rq->tail - rq->head);
	srq->taken -= (uint32_t)(rq->tail - rq->head);
	while (rq->tail > rq->used) {
		const struct mt_rqe *rqe = mt_rq_at(rq, --rq->tail);
		struct rd_recv_wr wr = {
			.wr_id = rqe->wr_id, .sge = mt_rq_sges(rq, rqe), .n_sge = rqe->n_sge};

		fill_rqe(srq, --srq->head, &wr);
	}
	rq->head = rq->used;
	mb_assert(is_consistent(srq) && rq->head == rq->tail);
}

/* The SRQ leaves the list with its event, so that the limit is reported once. */
bool mt_srq_poll(struct mt_engine *e, struct mt_event *ev)
{
	struct mt_srq *srq;

	if (mb_link_is_empty(&e->limited))
		return false;
	srq = mb_container_of(e->limited.next, struct mt_srq, limited);
	mb_link_remove(&srq->limited);
	*ev = (struct mt_event){.type = MT_EVENT_SRQ_LIMIT, .qp_user = srq->user};
	return true;
}
