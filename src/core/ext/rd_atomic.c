/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rd_atomic.c - life of the response QP, which carries the responses to READs and atomics in a PSN
 * space of its own. See core/state/qp.h.
 */
#include <string.h>

#include "base/assert.h"
#include "core/endpoint/endpoint.h"
#include "core/ext/ext.h"

_Static_assert((RD_ATOMIC_MAX & (RD_ATOMIC_MAX - 1)) == 0, "counts are taken modulo");

/*
 * Answers begin with the PSN with which the requests do, the one number that both ends know before
 * either sends. Their window follows what its receiver offers, since a responder in RTR knows
 * nothing else; and they are tried for ever: it is the requester that gives up.
 */
static void set_attr(struct mt_qp *answers, const struct rd_qp_attr *a)
{
	uint8_t mpr = answers->attr.mpr;

	answers->attr = *a;
	answers->attr.sq_psn = a->rq_psn;
	answers->attr.rq_psn = a->sq_psn;
	answers->attr.dynamic_mpr = true;
	answers->attr.retry_exp = RD_RETRY_EXP_FOREVER;
	if (mpr != 0) /* records may be there, of that size */
		answers->attr.mpr = mpr;
}

/*
 * Builds the response QP: the same QPN and EV set as its QP, a send queue of its own, and no
 * receive queue.
 */
void mt_rd_atomic_attach(struct mt_qp *qp, void *mem, const struct rd_qp_attr *a)
{
	struct mt_rd_atomic *r = mem;
	struct mt_qp *answers = &r->qp;
	struct mt_engine *e = qp->engine;

	mb_assert(mem && qp->ext && !qp->ext->rd_atomic && !qp->response_bit);
	memset(r, 0, sizeof(*r));
	r->of = qp;
	answers->engine = e;
	answers->user = qp->user;
	answers->qpn = qp->qpn;
	answers->cap.pd = qp->cap.pd;
	answers->response_bit = MW_RESPONSE_BIT;
	answers->req.sq = (struct mt_sq){
		.wqes = r->wqes,
		.sges = r->sges,
		.depth = RD_ATOMIC_MAX,
		.mask = RD_ATOMIC_MAX - 1,
		.max_sge = 1,
	};
	mt_qp_init_links(answers);
	set_attr(answers, a);
	answers->ev_set = qp->ev_set;
	mt_ev_sets_share(answers->ev_set, &answers->ev_set_user);
	answers->peer = qp->peer;
	mt_peer_share(answers->peer);
	mt_spray_init(&answers->req.spray, mb_prng_u64(&e->prng));
	answers->state = RD_QPS_RTR;
	qp->ext->rd_atomic = r;
}

/* A requester alone knows with which PSN it begins, and so its answers. */
void mt_rd_atomic_enable_rx(struct mt_qp *qp, const struct rd_qp_attr *a)
{
	struct mt_rd_atomic *r = qp->ext->rd_atomic;

	mb_assert(r && r->of == qp && r->n_requested == 0);
	set_attr(&r->qp, a);
	mt_qp_begin_receiving(&r->qp, &r->qp.attr);
}

/* The response QP may be on lists of the engine: it leaves them before its memory goes back. */
void mt_rd_atomic_free(struct mt_qp *qp)
{
	struct mt_rd_atomic *r = qp->ext->rd_atomic;
	struct mt_engine *e = qp->engine;

	if (!r)
		return;
	mb_assert(r->of == qp && r->qp.engine == e);
	mt_rd_atomic_stop(r);
	mt_qp_free_memory(&r->qp);
	mt_peer_leave(e, r->qp.peer);
	mt_ev_sets_release(e, r->qp.ev_set, &r->qp.ev_set_user);
	mb_link_remove(&r->qp.control);
	mb_link_remove(&r->qp.completion);
	mt_control_clear(&e->controls, &r->qp.named_control);
	mb_pool_put(&e->pool, r, sizeof(*r));
	qp->ext->rd_atomic = NULL;
}

/* Responses name requests by number, so the MSN of each request is kept under its number. */
void mt_rd_atomic_begin(struct mt_qp *qp, uint64_t msn)
{
	struct mt_rd_atomic *r = qp->ext->rd_atomic;

	mb_assert(r && mt_rd_atomic_outstanding(qp) < RD_ATOMIC_MAX);
	mb_assert_slow(r->n_requested == r->n_completed ||
		       r->req_msns[(r->n_requested - 1) % RD_ATOMIC_MAX] < msn);
	r->resps[r->n_requested % RD_ATOMIC_MAX] = (struct mt_parts){0};
	r->req_msns[r->n_requested++ % RD_ATOMIC_MAX] = msn;
}

/*
 * What asks the half that takes answers finds it once requests may be sent; in ERR it says so.
 * REQ(ext.strict)
 */
struct mt_qp *mt_rd_atomic_control_qp(struct mt_qp *qp, uint8_t opcode)
{
	struct mt_rd_atomic *r = qp->ext ? qp->ext->rd_atomic : NULL;

	if (!r) {
		qp->engine->stats.drop_decode++; /* as one who never heard of it */
		return NULL;
	}
	if (opcode == MW_RESPONSE_PROBE && !mt_qp_may_send(qp) && r->qp.state != RD_QPS_ERR) {
		qp->engine->stats.drop_qp_state++;
		return NULL;
	}
	return &r->qp;
}
