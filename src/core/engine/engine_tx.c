/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_tx.c - which packet leaves next.
 *
 * Control packets first, each named one before the SACKs and ACKs that QPs owe; then data, a few
 * packets of each QP after the other, and no run cut short. A QP whose window is closed leaves the
 * round until something opens it; one that finds no port with room stays in it.
 */
#include "base/assert.h"
#include "core/qp/halves.h"

/*
 * Packets of a QP before the next one: among thousands of QPs none finds its state in a cache, so
 * one packet each would cost a miss each; with many packets the other QPs would wait long.
 */
#define TX_QUANTUM 8u

static uint32_t tx_control_ring(struct mt_engine *e, uint64_t now_ns, struct mt_tx_desc *descs,
				uint32_t n)
{
	struct mt_control c;
	uint32_t sent = 0;

	while (sent < n && mt_control_pop(&e->control_ring, &c))
		sent += mt_control_emit(e, now_ns, &c, &descs[sent]);
	return sent;
}

static uint32_t tx_pending_acks(struct mt_engine *e, uint64_t now_ns, struct mt_tx_desc *descs,
				uint32_t n)
{
	uint32_t sent = 0;

	while (sent < n && !mb_link_is_empty(&e->control)) {
		struct mt_qp *qp = mb_container_of(e->control.next, struct mt_qp, control);

		mb_assert_slow(qp->engine == e);
		if (mt_control_emit_pending(qp, now_ns, &descs[sent]))
			sent++;
		else
			mb_link_remove(&qp->control);
	}
	return sent;
}

static void requeue_qps(struct mt_engine *e, struct mb_link *qps)
{
	while (!mb_link_is_empty(qps)) {
		struct mb_link *l = qps->next;

		mb_link_remove(l);
		mb_list_push(&e->ready, l);
	}
}

static uint32_t tx_data(struct mt_engine *e, uint64_t now_ns, uint32_t free_ports,
			struct mt_tx_desc *descs, uint32_t n)
{
	struct mb_link waiting, served;
	uint32_t sent = 0;

	mb_link_init(&waiting);
	mb_link_init(&served);
	while (sent < n && !mb_link_is_empty(&e->ready)) {
		struct mt_qp *qp = mb_container_of(e->ready.next, struct mt_qp, ready);

		mb_assert_slow(qp->engine == e);
		switch (mt_requester_next(qp, now_ns, free_ports, &descs[sent])) {
		case MT_NEXT_SENT:
			sent++;
			if (++e->quantum_used >= TX_QUANTUM && qp->req.spray.run_left == 0) {
				mb_list_rotate(&e->ready);
				e->quantum_used = 0;
			}
			break;
		case MT_NEXT_BLOCKED:
			/* What comes later is no part of this burst, and so of no run. */
			qp->req.spray.run_left = 0;
			mb_link_remove(&qp->ready);
			e->quantum_used = 0;
			mt_qp_arm(qp); /* silence counts from here */
			break;
		case MT_NEXT_NO_ROOM:
			/*
			 * That ends its quantum, or ports that no QP may use would let the first QP
			 * begin its own again and again.
			 */
			mb_link_remove(&qp->ready);
			mb_list_push(e->quantum_used > 0 ? &served : &waiting, &qp->ready);
			e->quantum_used = 0;
			break;
		}
	}
	requeue_qps(e, &waiting);
	requeue_qps(e, &served);
	return sent;
}

uint32_t mt_engine_tx(struct mt_engine *e, uint64_t now_ns, uint32_t free_ports,
		      struct mt_tx_desc *descs, uint32_t n)
{
	uint32_t sent;

	if (e->ports.up == 0)
		return 0;
	sent = tx_control_ring(e, now_ns, descs, n);
	sent += tx_pending_acks(e, now_ns, descs + sent, n - sent);
	mb_assert(sent <= n);
	if (free_ports)
		sent += tx_data(e, now_ns, free_ports, descs + sent, n - sent);
	return sent;
}

bool mt_engine_tx_is_blocked(const struct mt_engine *e)
{
	return e->ports.up != 0 && !mb_link_is_empty(&e->ready);
}
