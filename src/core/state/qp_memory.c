/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * qp_memory.c - a QP's windows come from the pool when they are first needed and go back when idle.
 *
 * There are three: the records of what is in flight (16 bytes a PSN) with the QP's place in the
 * rotation over its EVs and what each port has in flight, the bitmaps of what was received, and the
 * stash of early immediates.
 * Between two bursts none of them holds anything that the PSNs in the QP do not tell as well, so a
 * QP that nothing was sent or received on for a while has none. A clock finds them: every idle_ns
 * it goes round the QPs that hold memory, takes away the mark that use leaves, and the memory of
 * those that lost the mark the last time.
 */
#include "base/assert.h"
#include "base/bits.h"
#include "core/state/engine_state.h"
#include "core/state/qp.h"

/* One tick visits at most this many QPs; a longer round goes on a sixteenth of its time later. */
#define VISITS_MAX 256u
#define ROUND_PARTS 16u

static void own_windows(struct mt_qp *qp, uint64_t now_ns)
{
	struct mt_engine *e = qp->engine;

	if (!mb_link_is_empty(&qp->window_owner))
		return;
	if (e->n_window_owners++ == 0)
		e->sweep_ns = now_ns + e->cfg.timing.idle_ns;
	mb_list_push(&e->window_owners, &qp->window_owner);
	mb_assert(!mb_link_is_empty(&e->window_owners));
}

static void disown_windows(struct mt_qp *qp)
{
	struct mt_engine *e = qp->engine;

	if (mb_link_is_empty(&qp->window_owner))
		return;
	mb_assert(e->n_window_owners > 0);
	mb_link_remove(&qp->window_owner);
	e->n_window_owners--;
	if (e->sweep_left > e->n_window_owners)
		e->sweep_left = e->n_window_owners;
}

bool mt_qp_alloc_records(struct mt_qp *qp, uint64_t now_ns)
{
	uint32_t size = mb_pow2_ceil((uint32_t)qp->attr.mpr * MT_MPR_UNIT);
	uint32_t n_ports = qp->engine->cfg.n_ports;
	uint16_t n_evs = qp->ev_set->n_evs;
	void *mem, *place;

	mb_assert(!qp->req.window.recs && size >= qp->req.mpr * MT_MPR_UNIT);
	mem = mt_engine_alloc(qp->engine, size * sizeof(struct mt_tx_rec));
	if (!mem)
		return false;
	place = mt_engine_alloc(qp->engine, mt_spray_size(n_ports, n_evs));
	if (!place) {
		mb_pool_put(&qp->engine->pool, mem, size * sizeof(struct mt_tx_rec));
		return false;
	}
	mt_tx_window_attach(&qp->req.window, mem, size);
	mt_spray_attach(&qp->req.spray, place, n_ports, n_evs);
	own_windows(qp, now_ns);
	return true;
}

bool mt_qp_ensure_bitmaps(struct mt_qp *qp, uint64_t now_ns)
{
	struct mt_rx_window *w = &qp->rsp.window;
	void *mem;

	qp->used = true;
	if (w->received)
		return true;
	mem = mt_engine_alloc(qp->engine, mt_rx_window_size(w->limit));
	if (!mem)
		return false;
	mt_rx_window_attach(w, mem);
	qp->engine->receivers++;
	own_windows(qp, now_ns);
	return true;
}

bool mt_qp_ensure_stash(struct mt_qp *qp)
{
	struct mt_imm_stash *st = &qp->rsp.stash;
	void *mem;

	mb_assert(qp->used && !mb_link_is_empty(&qp->window_owner));
	if (st->slots)
		return true;
	mem = mt_engine_alloc(qp->engine, mt_imm_stash_size(st->limit));
	if (!mem)
		return false;
	mt_imm_stash_attach(st, mem);
	return true;
}

/*
 * A peer decides how many of its packets wait, and for how long. So a QP holds fewer than are left
 * for others. REQ(ext.order.bound)
 */
struct mt_buffered *mt_qp_alloc_buffered(struct mt_qp *qp, uint32_t len)
{
	struct mt_engine *e = qp->engine;
	uint32_t count = qp->ext->in_order.count;
	struct mt_buffered *w = NULL;

	mb_assert(qp->ext && len > 0 && e->n_buffered <= e->cfg.max_buffered);
	if (count < MT_IN_ORDER_MAX && count < e->cfg.max_buffered - e->n_buffered)
		w = mt_engine_alloc(e, mt_buffered_size(len));
	else
		e->stats.drop_no_buffer++;
	e->n_buffered += w != NULL;
	return w;
}

void mt_qp_free_buffered(struct mt_qp *qp, struct mt_buffered *w)
{
	mb_assert(qp->engine->n_buffered > 0);
	qp->engine->n_buffered--;
	mb_pool_put(&qp->engine->pool, w, mt_buffered_size(w->len));
}

/* They wait for packets above a hole, so that the bitmaps are there as long as they are. */
static void free_buffered(struct mt_qp *qp)
{
	struct mt_buffered *w;

	while (qp->ext && (w = mt_in_order_pop(&qp->ext->in_order, UINT64_MAX, UINT64_MAX)))
		mt_qp_free_buffered(qp, w);
}

static void free_records(struct mt_qp *qp)
{
	struct mt_tx_window *w = &qp->req.window;
	struct mb_pool *pool = &qp->engine->pool;
	uint16_t n_evs;

	if (!w->recs)
		return;
	mb_assert(qp->ev_set && qp->engine->n_counting >= qp->req.spray.counts);
	qp->engine->n_counting -= qp->req.spray.counts;
	qp->req.spray.counts = false;
	n_evs = qp->ev_set->n_evs;
	mb_pool_put(pool, w->recs, w->size * sizeof(struct mt_tx_rec));
	mb_pool_put(pool, mt_spray_detach(&qp->req.spray, n_evs),
		    mt_spray_size(qp->engine->cfg.n_ports, n_evs));
	w->recs = NULL;
}

static void free_bitmaps(struct mt_qp *qp)
{
	struct mt_rx_window *w = &qp->rsp.window;

	if (!w->received)
		return;
	mb_pool_put(&qp->engine->pool, w->received, mt_rx_window_size(w->limit));
	w->received = NULL;
	mb_assert(qp->engine->receivers > 0);
	qp->engine->receivers--;
}

static void free_stash(struct mt_qp *qp)
{
	struct mt_imm_stash *st = &qp->rsp.stash;

	mb_pool_put(&qp->engine->pool, st->slots, mt_imm_stash_size(st->limit));
	st->slots = NULL;
}

void mt_qp_free_memory(struct mt_qp *qp)
{
	free_records(qp);
	free_bitmaps(qp);
	free_stash(qp);
	free_buffered(qp);
	disown_windows(qp);
	mb_assert(!qp->ext || qp->ext->in_order.count == 0);
}

/* Memory that something lies in is needed in the new size, other memory not at all. */
static bool alloc_if_needed(struct mt_engine *e, bool needed, size_t size, void **mem)
{
	*mem = needed ? mt_engine_alloc(e, size) : NULL;
	return *mem || !needed;
}

bool mt_qp_resize(struct mt_qp *qp, uint32_t limit, uint32_t wimm_limit)
{
	struct mt_rx_window *w = &qp->rsp.window;
	struct mt_imm_stash *st = &qp->rsp.stash;
	struct mt_rx_window old_window = *w;
	struct mt_imm_stash old_stash = *st;
	struct mb_pool *pool = &qp->engine->pool;
	uint32_t held = (uint32_t)(w->top - w->expected), span = mt_imm_stash_span(st);
	void *bitmaps, *places;

	limit = limit < held ? held : limit;
	wimm_limit = wimm_limit < span ? span : wimm_limit;
	if (!alloc_if_needed(qp->engine, w->ahead > 0, mt_rx_window_size(limit), &bitmaps))
		return false;
	if (!alloc_if_needed(qp->engine, span > 0, mt_imm_stash_size(wimm_limit), &places)) {
		mb_pool_put(pool, bitmaps, mt_rx_window_size(limit));
		return false;
	}
	mt_rx_window_resize(w, bitmaps, limit);
	mt_imm_stash_resize(st, places, wimm_limit);
	mb_assert(!old_window.received || qp->engine->receivers > 0);
	if (old_window.received && !bitmaps)
		qp->engine->receivers--;
	mb_pool_put(pool, old_window.received, mt_rx_window_size(old_window.limit));
	mb_pool_put(pool, old_stash.slots, mt_imm_stash_size(old_stash.limit));
	return true;
}

/* What was asked for, and cannot be executed yet, has its records already. */
static bool needs_records(struct mt_qp *qp)
{
	return qp->response_bit && mt_rd_atomic_of(qp)->n_queued > 0;
}

/* REQ(mem.idle) */
static void reclaim_if_idle(struct mt_qp *qp)
{
	bool over = qp->state == RD_QPS_ERR; /* what is in the windows matters no more */

	if (qp->used) {
		qp->used = false;
		return;
	}
	if (over || (mt_tx_is_empty(&qp->req.window) && qp->req.sq.done == qp->req.sq.tail &&
		     !needs_records(qp)))
		free_records(qp);
	if (over || qp->rsp.window.ahead == 0)
		free_bitmaps(qp);
	if (over || qp->rsp.stash.filled == 0)
		free_stash(qp);
	if (over)
		free_buffered(qp);
	if (!qp->req.window.recs && !qp->rsp.window.received && !qp->rsp.stash.slots)
		disown_windows(qp);
}

uint64_t mt_memory_deadline(const struct mt_engine *e)
{
	return e->n_window_owners == 0 || e->cfg.timing.idle_ns == 0 ? MB_NEVER : e->sweep_ns;
}

void mt_memory_tick(struct mt_engine *e, uint64_t now_ns)
{
	if (now_ns < mt_memory_deadline(e))
		return;
	mb_assert((e->n_window_owners == 0) == mb_link_is_empty(&e->window_owners));
	if (e->sweep_left == 0)
		e->sweep_left = e->n_window_owners;
	for (uint32_t n = 0; n < VISITS_MAX && e->sweep_left > 0; n++) {
		struct mb_link *l = e->window_owners.next;

		mb_assert(e->sweep_left <= e->n_window_owners);
		mb_list_rotate(&e->window_owners);
		e->sweep_left--;
		reclaim_if_idle(mb_container_of(l, struct mt_qp, window_owner));
	}
	e->sweep_ns = now_ns + e->cfg.timing.idle_ns / (e->sweep_left ? ROUND_PARTS : 1);
}
