/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_srq.c - the SRQ of a side of fuzz_verbs: receives that QPs of both pairs and the UD QP use,
 * and what must become of each.
 */
#include <errno.h>

#include "base/assert.h"
#include "fuzz_verbs.h"

#define DEPTH_FIRST 8u
#define DEPTH_MAX 32u
#define HOW_RESIZE 0x80u
/* A wr_id is a bit that says that it is of the SRQ, the SRQ's life, slot and number. */
#define SRQ_BIT (UINT64_C(1) << 63)
#define LIFE_SHIFT 40
#define SLOT_SHIFT 32
#define SLOT_MASK 0xFFu

bool verbs_srq_has(const struct ibv_wc *wc)
{
	return wc->wr_id & SRQ_BIT;
}

void verbs_srq_open(struct verbs *v, uint32_t side)
{
	struct srq *q = &v->of[side].srq;
	struct ibv_srq_init_attr init = {.srq_context = q, .attr = {DEPTH_FIRST, 2, 0}};

	*q = (struct srq){.life = q->life + 1, .max_wr = DEPTH_FIRST};
	q->srq = ibv_create_srq(v->w.side[side].pd, &init);
	mb_assert(q->srq);
}

static uint32_t n_users(const struct verbs *v, uint32_t side)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < ENDS; i++)
		n += v->of[side].end[i].shared;
	return n;
}

void verbs_srq_destroy(struct verbs *v, uint32_t side)
{
	struct srq *q = &v->of[side].srq;
	uint32_t users = n_users(v, side);

	mb_assert(ibv_dealloc_pd(v->w.side[side].pd) == EBUSY);
	mb_assert(ibv_destroy_srq(q->srq) == (users ? EBUSY : 0));
	if (!users)
		q->srq = NULL;
}

/* ---- receives ---- */

/* There is room if less is posted than fits; more room when completions are not polled yet. */
static int post(struct verbs *v, uint32_t side, uint32_t slot)
{
	const struct side *s = &v->w.side[side];
	struct srq *q = &v->of[side].srq;
	struct ibv_sge sge = {(uintptr_t)world_slot(s, SRQ_SLOTS_FIRST + slot), SLOT_BYTES,
			      world_key(s, RECEIVED)};
	struct ibv_recv_wr wr = {.wr_id = SRQ_BIT | (uint64_t)q->life << LIFE_SHIFT |
					  (uint64_t)slot << SLOT_SHIFT | q->next,
				 .sg_list = &sge,
				 .num_sge = 1};
	struct ibv_recv_wr *bad;
	int err = ibv_post_srq_recv(q->srq, &wr, &bad);

	mb_assert(err == 0 || (err == ENOMEM && bad == &wr && q->n_posted >= q->max_wr));
	return err;
}

void verbs_srq_post(struct verbs *v, uint32_t side)
{
	struct srq *q = &v->of[side].srq;
	uint32_t slot = 0;

	while (slot < SRQ_SLOTS && q->slots[slot])
		slot++;
	if (!q->srq || slot == SRQ_SLOTS || post(v, side, slot))
		return;
	q->slots[slot] = ++q->next;
	q->n_posted++;
}

/*
 * Each QP uses them in the order in which they were posted, unless one went back that it had taken.
 */
const uint8_t *verbs_srq_done(struct verbs *v, uint32_t side, struct end *e,
			      const struct ibv_wc *wc)
{
	struct srq *q = &v->of[side].srq;
	uint32_t slot = wc->wr_id >> SLOT_SHIFT & SLOT_MASK, number = (uint32_t)wc->wr_id;

	mb_assert((wc->wr_id & ~SRQ_BIT) >> LIFE_SHIFT == q->life && slot < SRQ_SLOTS);
	mb_assert(q->slots[slot] == number + 1 && q->n_posted > 0);
	q->slots[slot] = 0;
	q->n_posted--;
	if (number >= q->ordered_from) {
		mb_assert(number >= e->srq_last);
		e->srq_last = number + 1;
	}
	return world_slot(&v->w.side[side], SRQ_SLOTS_FIRST + slot);
}

/* ---- limit and size ---- */

/* An event for each limit at most; the limit is none then, unless another one is armed. */
void verbs_srq_limit_reached(struct srq *q)
{
	struct ibv_srq_attr attr;

	mb_assert(q->n_reached < q->n_armed);
	q->n_reached++;
	mb_assert(ibv_query_srq(q->srq, &attr) == 0);
	q->limit = attr.srq_limit;
}

void verbs_srq_check(const struct srq *q)
{
	struct ibv_srq_attr attr;

	if (!q->srq)
		return;
	mb_assert(ibv_query_srq(q->srq, &attr) == 0);
	mb_assert(attr.max_wr == q->max_wr && attr.max_sge == 2);
	/* Reached and not reported, or to be reached and not noticed. */
	mb_assert(attr.srq_limit == q->limit);
	mb_assert(attr.srq_limit <= q->n_posted);
}

static void arm(struct srq *q, uint32_t limit)
{
	struct ibv_srq_attr attr = {.srq_limit = limit};
	int err = ibv_modify_srq(q->srq, &attr, IBV_SRQ_LIMIT);

	mb_assert(err == (limit > q->max_wr ? EINVAL : 0));
	if (err)
		return;
	q->limit = limit;
	q->n_armed += limit > 0;
}

/* What is posted must fit, and the limit; with completions that are not polled less is posted. */
static void resize(struct srq *q, uint32_t max_wr)
{
	struct ibv_srq_attr now, attr = {.max_wr = max_wr};
	int err;

	mb_assert(ibv_query_srq(q->srq, &now) == 0);
	err = ibv_modify_srq(q->srq, &attr, IBV_SRQ_MAX_WR);
	mb_assert(err == 0 || err == EINVAL);
	mb_assert(err || (max_wr > 0 && max_wr >= now.srq_limit));
	mb_assert(!err || max_wr < now.srq_limit || max_wr < q->n_posted || max_wr == 0);
	if (!err)
		q->max_wr = max_wr;
}

void verbs_srq_modify(struct verbs *v, uint32_t side, uint8_t how)
{
	struct srq *q = &v->of[side].srq;

	if (!q->srq)
		return;
	if (how & HOW_RESIZE)
		resize(q, (how & ~HOW_RESIZE) % (DEPTH_MAX + 1));
	else
		arm(q, how % DEPTH_MAX);
	/* A limit that is reached already is reported by now. */
	verbs_take_events(v, side);
}

void verbs_srq_check_end(struct verbs *v, uint32_t side)
{
	struct srq *q = &v->of[side].srq;

	if (q->inexact)
		return;
	mb_assert(q->n_posted <= q->max_wr);
	while (q->n_posted < q->max_wr) {
		mb_assert(post(v, side, 0) == 0);
		q->n_posted++;
	}
	mb_assert(post(v, side, 0) == ENOMEM);
}
