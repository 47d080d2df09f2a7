/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ack_hold.c - transport ACKs that wait for a reply, to leave in one burst with it.
 *
 * In a ping-pong the program answers a message a moment after it came, so that an ACK which leaves
 * before costs the adapter a burst, and the peer a wake-up, for itself alone. Where nobody replies,
 * an ACK that waits only delays the peer's completion. So a QP tries: after a wait in vain the next
 * ACK does not wait, after two in a row three do not, then 7, and at most 63. A reply that came in
 * time makes every ACK wait again. Without replies one in 64 is late.
 *
 * No ACK has a deadline of its own. They begin to wait on one of two lists; after each half of the
 * longest wait those on the other list leave, and the lists change places.
 */
#include "base/assert.h"
#include "core/state/engine_state.h"
#include "core/state/qp.h"

/* After so many waits in vain and more, 2^6 - 1 ACKs do not wait. */
#define MISSES_MAX 6u

enum { OLDER, NEWER };

void mt_acks_init(struct mt_engine *e)
{
	mb_link_init(&e->acks_held[OLDER]);
	mb_link_init(&e->acks_held[NEWER]);
	e->acks_held_ns = UINT64_MAX;
}

void mt_qp_queue_control(struct mt_qp *qp)
{
	if (qp->ack_held) {
		mb_link_remove(&qp->control);
		qp->ack_held = false;
	}
	mb_list_push(&qp->engine->control, &qp->control);
}

static uint64_t turn_ns(const struct mt_engine *e)
{
	return (e->cfg.timing.ack_hold_ns + UINT64_C(1)) / 2;
}

static void hold(struct mt_qp *qp, uint64_t now_ns)
{
	struct mt_engine *e = qp->engine;

	mb_list_push(&e->acks_held[NEWER], &qp->control);
	qp->ack_held = true;
	if (e->acks_held_ns == UINT64_MAX)
		e->acks_held_ns = now_ns + turn_ns(e);
}

/* An ACK that waits, or is about to leave, takes one more message with it. */
void mt_qp_queue_ack(struct mt_qp *qp, uint64_t now_ns, bool may_wait)
{
	bool queued = !mb_link_is_empty(&qp->control);

	mb_assert_slow(qp->state != RD_QPS_RESET && qp->ev_set);
	qp->rsp.ack_due = true;
	if (!may_wait) {
		mt_qp_queue_control(qp);
		return;
	}
	if (queued)
		return;
	if (qp->engine->cfg.timing.ack_hold_ns == 0) {
		mt_qp_queue_control(qp);
	} else if (qp->ack_skips > 0) {
		qp->ack_skips--;
		mt_qp_queue_control(qp);
	} else {
		hold(qp, now_ns);
	}
}

void mt_qp_ack_leaves(struct mt_qp *qp)
{
	mb_assert(qp->ack_held && qp->rsp.ack_due);
	qp->ack_misses = 0;
	mt_qp_queue_control(qp);
}

static void release(struct mt_qp *qp)
{
	mb_assert(qp->ack_held);
	if (qp->ack_misses < MISSES_MAX)
		qp->ack_misses++;
	qp->ack_skips = (uint8_t)((1u << qp->ack_misses) - 1);
	mt_qp_queue_control(qp);
}

static struct mt_qp *first_of(struct mb_link *held)
{
	return mb_link_is_empty(held) ? NULL : mb_container_of(held->next, struct mt_qp, control);
}

/* REQ(rsp.ack.held) */
void mt_acks_tick(struct mt_engine *e, uint64_t now_ns)
{
	struct mb_link *older = &e->acks_held[OLDER], *newer = &e->acks_held[NEWER];
	struct mt_qp *qp;

	while (now_ns >= e->acks_held_ns) {
		while ((qp = first_of(older)))
			release(qp);
		while ((qp = first_of(newer))) {
			mb_link_remove(&qp->control);
			mb_list_push(older, &qp->control);
		}
		e->acks_held_ns =
			mb_link_is_empty(older) ? UINT64_MAX : e->acks_held_ns + turn_ns(e);
	}
}
