/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_tx.c - which packet leaves next.
 *
 * Control packets first, a few of each QP after the other, then data likewise, no run cut short.
 * What a peer makes us send must not keep the data of others waiting, so that control packets leave
 * a part of each call to data. REQ(rsp.control.quota)
 *
 * A QP whose window is closed leaves the round until something opens it; one that finds no port
 * with room waits until a port that it could use has some.
 */
#include "base/assert.h"
#include "core/qp/halves.h"

/*
 * Packets of a QP before the next one: among thousands of QPs none finds its state in a cache, so
 * one packet each would cost a miss each; with many packets the other QPs would wait long.
 */
#define TX_QUANTUM 8u
/* One packet in so many is data, while data wait. */
#define DATA_SHARE 4u

static uint32_t tx_endpoint(struct mt_engine *e, struct mt_control_queue *q, uint64_t now_ns,
			    struct mt_tx_desc *descs, uint32_t n)
{
	struct mt_control c;
	uint32_t sent = 0;

	while (sent < n && q->count > 0 && mt_control_pop(&e->controls, q, &c))
		sent += mt_control_emit(e, now_ns, &c, &descs[sent]);
	return sent;
}

/* The endpoint's own requests are few; what it answers to unknown senders comes after all QPs. */
static uint32_t tx_control(struct mt_engine *e, uint64_t now_ns, struct mt_tx_desc *descs,
			   uint32_t n)
{
	uint32_t sent = tx_endpoint(e, &e->ep_requests, now_ns, descs, n);

	while (sent < n && !mb_link_is_empty(&e->control)) {
		struct mt_qp *qp = mb_container_of(e->control.next, struct mt_qp, control);

		mb_assert_slow(qp->engine == e);
		if (!mt_control_emit_next(qp, now_ns, &descs[sent])) {
			mb_link_remove(&qp->control);
			e->control_used = 0;
			continue;
		}
		sent++;
		if (++e->control_used >= TX_QUANTUM) {
			mb_list_rotate(&e->control);
			e->control_used = 0;
		}
	}
	return sent + tx_endpoint(e, &e->ep_responses, now_ns, descs + sent, n - sent);
}

/*
 * The QP that is served now. Those that found no room have waited longest: when a port has some
 * that one of them could use, they come before others, one after the other. None is looked at for
 * ports that are of no use to any, as those of a plane that is dead: these have room all the time.
 * REQ(req.spray.no-scan)
 */
static struct mt_qp *next_qp(struct mt_engine *e, uint32_t free_ports)
{
	struct mb_link *l = e->no_room.next;

	if (e->quantum_used == 0 && l != &e->no_room && free_ports & e->no_room_ports) {
		mb_link_remove(l);
		mb_list_push(e->ready.next, l); /* before the first */
	}
	if (mb_link_is_empty(&e->ready))
		return NULL;
	return mb_container_of(e->ready.next, struct mt_qp, ready);
}

/* What was lost goes by a port that has enough in flight, if there is no other. */
static uint32_t ports_of_use(const struct mt_qp *qp)
{
	uint32_t useful = mt_ev_set_useful_ports(qp->ev_set);

	return qp->req.spray.counts && qp->req.window.lost == 0
		       ? mt_spray_not_full(&qp->req.spray, qp->ev_set, useful)
		       : useful;
}

/* QPs that found no room in this call wait for those of `ports` that they could use. */
static void wait_for_room(struct mt_engine *e, struct mb_link *qps, uint32_t ports)
{
	while (!mb_link_is_empty(qps)) {
		struct mt_qp *qp = mb_container_of(qps->next, struct mt_qp, ready);

		if (mb_link_is_empty(&e->no_room))
			e->no_room_ports = 0;
		mb_link_remove(&qp->ready);
		mb_list_push(&e->no_room, &qp->ready);
		e->no_room_ports |= ports_of_use(qp) & ports;
		e->stats.tx_no_room++;
	}
}

/*
 * The port whose turn it is may have no room for long, as one whose link is paused: the other ports
 * wait for as long as its packet would take, so that a skip costs no more than the turn. Where
 * nobody knows how long that is, they do not wait: the QP is asked again, and has a skip less.
 */
static void wait_for_turn(struct mt_engine *e, struct mt_qp *qp, uint64_t now_ns,
			  struct mb_link *passed)
{
	uint64_t turn_ns = mt_qp_turn_ns(qp);

	if (turn_ns == 0)
		return;
	if (now_ns + turn_ns < e->turn_ns)
		e->turn_ns = now_ns + turn_ns;
	mb_link_remove(&qp->ready);
	mb_list_push(passed, &qp->ready);
	e->quantum_used = 0;
}

/* REQ(req.spray.skip-turn) */
void mt_engine_end_turn(struct mt_engine *e, uint64_t now_ns)
{
	if (now_ns < e->turn_ns)
		return;
	e->turn_ns = UINT64_MAX;
	e->no_room_ports = UINT32_MAX;
}

static uint32_t tx_data(struct mt_engine *e, uint64_t now_ns, uint32_t free_ports,
			struct mt_tx_desc *descs, uint32_t n)
{
	struct mb_link waiting, served, passed;
	struct mt_qp *qp;
	uint32_t sent = 0;

	mb_link_init(&waiting);
	mb_link_init(&served);
	mb_link_init(&passed);
	while (sent < n && (qp = next_qp(e, free_ports))) {
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
		case MT_NEXT_LOST_TURN:
			wait_for_turn(e, qp, now_ns, &passed);
			break;
		}
	}
	wait_for_room(e, &waiting, UINT32_MAX);
	wait_for_room(e, &served, UINT32_MAX);
	wait_for_room(e, &passed, ~free_ports);
	if (mb_link_is_empty(&e->no_room))
		e->turn_ns = UINT64_MAX;
	return sent;
}

static bool data_may_leave(const struct mt_engine *e, uint32_t free_ports)
{
	return free_ports && (!mb_link_is_empty(&e->ready) || free_ports & e->no_room_ports);
}

uint32_t mt_engine_tx(struct mt_engine *e, uint64_t now_ns, uint32_t free_ports,
		      struct mt_tx_desc *descs, uint32_t n)
{
	uint32_t sent, for_data = 0;

	if (e->ports.up == 0)
		return 0;
	if (data_may_leave(e, free_ports))
		for_data = n / DATA_SHARE;
	sent = tx_control(e, now_ns, descs, n - for_data);
	if (data_may_leave(e, free_ports))
		sent += tx_data(e, now_ns, free_ports, descs + sent, n - sent);
	if (for_data) /* which data may not have taken */
		sent += tx_control(e, now_ns, descs + sent, n - sent);
	mb_assert(sent <= n);
	return sent;
}

bool mt_engine_tx_is_blocked(const struct mt_engine *e)
{
	return e->ports.up != 0 && !(mb_link_is_empty(&e->ready) && mb_link_is_empty(&e->no_room));
}
