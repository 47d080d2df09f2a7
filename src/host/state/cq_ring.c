/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cq_ring.c - the ring of a CQ, which the engine's events fill and polls empty.
 *
 * It has a small lock of its own, so that polling a CQ that holds something never meets the engine.
 * A producer holds nic->lock when it takes it; a poller holds nothing.
 */
#include <errno.h>
#include <stdlib.h>

#include "host/state/shards.h"

/* Head and tail change under the lock, which orders them; without it they are only looked at. */
static uint32_t load(const _Atomic uint32_t *index)
{
	return atomic_load_explicit(index, memory_order_relaxed);
}

static void store(_Atomic uint32_t *index, uint32_t value)
{
	atomic_store_explicit(index, value, memory_order_relaxed);
}

/* raise_if_armed raises the event that req_notify asked for, if this completion is one of those. */
static void raise_if_armed(struct mh_cq *cq, bool noteworthy)
{
	if (cq->armed == MH_CQ_IDLE || (cq->armed == MH_CQ_ARMED_SOLICITED && !noteworthy))
		return;
	cq->armed = MH_CQ_IDLE;
	mh_event_raise(&cq->channel->events, &cq->completion, false);
}

/* REQ(api.cq.overflow) */
bool mh_cq_add(struct mh_cq *cq, const struct mh_cqe *cqe, uint64_t now_ns)
{
	uint32_t tail;
	bool room;

	pthread_mutex_lock(&cq->lock);
	tail = load(&cq->tail);
	room = !cq->overran && tail - load(&cq->head) <= cq->mask;
	if (room) {
		cq->ring[tail & cq->mask] = *cqe;
		cq->ring[tail & cq->mask].wc.done_ns = now_ns;
		store(&cq->tail, tail + 1);
		raise_if_armed(cq, (cqe->wc.flags & RD_WC_SOLICITED) ||
					   cqe->wc.status != RD_WC_SUCCESS);
	} else if (!cq->overran) {
		cq->overran = true;
		raise_if_armed(cq, true);
		mh_event_raise(&cq->dev->events, &cq->overrun, true);
	}
	pthread_mutex_unlock(&cq->lock);
	return room;
}

/* Completions that stay keep their order; the place of those that go is free at once. */
void mh_cq_purge(struct mh_cq *cq, uint32_t qpn)
{
	uint32_t keep, tail;

	pthread_mutex_lock(&cq->lock);
	keep = load(&cq->head);
	tail = load(&cq->tail);
	for (uint32_t i = keep; i != tail; i++)
		if (cq->ring[i & cq->mask].wc.qpn != qpn)
			cq->ring[keep++ & cq->mask] = cq->ring[i & cq->mask];
	store(&cq->tail, keep);
	pthread_mutex_unlock(&cq->lock);
}

/* Receives and sends of one QP are counted apart; a completion says which it is by its opcode. */
static bool is_recv(const struct mh_wc *wc)
{
	return wc->opcode == RD_WC_RECV_IMM || wc->opcode == RD_WC_RECV;
}

/* The look at head and tail beforehand spares idle polls the lock. */
uint32_t mh_cq_pop(struct mh_cq *cq, uint32_t n, struct mh_wc *wc)
{
	uint32_t got = 0, head, tail;

	if (load(&cq->head) == load(&cq->tail))
		return 0;
	pthread_mutex_lock(&cq->lock);
	head = load(&cq->head);
	tail = load(&cq->tail);
	for (; got < n && head != tail; got++) {
		const struct mh_cqe *cqe = &cq->ring[head++ & cq->mask];

		wc[got] = cqe->wc;
		if (cqe->qp)
			mh_qp_release_wrs(cqe->qp, is_recv(&cqe->wc), cqe->wr);
	}
	store(&cq->head, head);
	pthread_mutex_unlock(&cq->lock);
	return got;
}

/*
 * Other shards have QPs of the CQ, too; a thread that sleeps hears of it.
 */
static void tell_others(const struct mh_nic *nic)
{
	const struct mh_nic *first = nic->first;

	for (uint32_t i = 0; i < first->n_shards; i++)
		if (first->shard[i] != nic && !atomic_exchange(&first->shard[i]->cq_overran, true))
			mh_nic_kick(first->shard[i]);
}

/*
 * The overrun fails the QPs of the CQ, but not here: the caller may be between two events of the
 * same QP. It is noted, and mh_engine_events_drain does so after the batch.
 */
void mh_completion_push(struct mh_nic *nic, struct mh_cq *cq, const struct mh_cqe *cqe)
{
	if (mh_cq_add(cq, cqe, nic->engine_ns))
		return;
	nic->counts.cq_overruns++;
	atomic_store_explicit(&nic->cq_overran, true, memory_order_relaxed);
	tell_others(nic);
}

/* Indices run on, so a completion is at index & mask in either ring; none is renumbered. */
static int copy_to_ring(struct mh_cq *cq, uint32_t cqe, struct mh_cqe *ring, uint32_t mask)
{
	struct mh_cqe *old = cq->ring;
	uint32_t head = load(&cq->head), held = load(&cq->tail) - head;

	if (cq->overran || held > cqe) {
		free(ring);
		return cq->overran ? EOVERFLOW : EINVAL;
	}
	for (uint32_t i = 0; i < held; i++)
		ring[(head + i) & mask] = old[(head + i) & cq->mask];
	cq->ring = ring;
	cq->mask = mask;
	free(old);
	return 0;
}

int mh_cq_replace_ring(struct mh_cq *cq, uint32_t cqe, struct mh_cqe *ring, uint32_t mask)
{
	int err;

	pthread_mutex_lock(&cq->lock);
	err = copy_to_ring(cq, cqe, ring, mask);
	pthread_mutex_unlock(&cq->lock);
	return err;
}

/* A request for any completion is not weakened by a later one for solicited ones. */
void mh_cq_arm(struct mh_cq *cq, bool solicited_only)
{
	pthread_mutex_lock(&cq->lock);
	if (!solicited_only || cq->armed == MH_CQ_IDLE)
		cq->armed = solicited_only ? MH_CQ_ARMED_SOLICITED : MH_CQ_ARMED;
	/* One that has overrun adds no completions; its waiter must hear of that. */
	if (cq->overran)
		raise_if_armed(cq, true);
	pthread_mutex_unlock(&cq->lock);
}

/* ---- EV events ---- */

void mh_cq_add_ev_event(struct mh_cq *cq, const struct mh_ev_event *event)
{
	struct mh_ev_ring *r = cq->evs;

	pthread_mutex_lock(&cq->lock);
	if (r->tail - r->head > r->mask) {
		r->dropped += r->dropped < UINT32_MAX;
	} else {
		struct mh_ev_event *e = &r->event[r->tail++ & r->mask];

		*e = *event;
		e->dropped = r->dropped;
		r->dropped = 0;
		raise_if_armed(cq, true);
	}
	pthread_mutex_unlock(&cq->lock);
}

void mh_cq_drop_ev_events(struct mh_cq *cq, uint32_t n)
{
	struct mh_ev_ring *r = cq->evs;

	pthread_mutex_lock(&cq->lock);
	r->dropped = n < UINT32_MAX - r->dropped ? r->dropped + n : UINT32_MAX;
	pthread_mutex_unlock(&cq->lock);
}

uint32_t mh_cq_pop_ev_events(struct mh_cq *cq, uint32_t n, struct mh_ev_event *events)
{
	struct mh_ev_ring *r = cq->evs;
	uint32_t got = 0;

	pthread_mutex_lock(&cq->lock);
	while (got < n && r->head != r->tail)
		events[got++] = r->event[r->head++ & r->mask];
	pthread_mutex_unlock(&cq->lock);
	return got;
}
