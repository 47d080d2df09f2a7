/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_queues.c - what every part of the core hands to the engine: memory taken from its pool,
 * control packets and endpoint requests that wait to be sent, events that wait to be polled.
 *
 * Nothing here calls another part, so that no part needs to call the engine.
 */
#include "base/assert.h"
#include "core/state/engine_state.h"
#include "core/state/qp.h"

void *mt_engine_alloc(struct mt_engine *e, size_t size)
{
	mb_assert(size > 0);
	return mb_pool_get(&e->pool, size);
}

void mt_qp_queue_control(struct mt_qp *qp)
{
	mb_list_push(&qp->engine->control, &qp->control);
}

/* REQ(rsp.control.quota) */
void mt_engine_queue_control(struct mt_engine *e, const struct mt_control *c)
{
	struct mt_control_queue *q = &e->ep_responses;

	if (c->qp) {
		q = &c->qp->named_control;
		mt_qp_queue_control(c->qp);
	} else if (c->kind == MT_CONTROL_EP_REQUEST) {
		q = &e->ep_requests;
	}
	if (!mt_control_push(&e->controls, q, c))
		e->stats.control_dropped++;
}

void mt_engine_queue_probe(struct mt_engine *e, struct mt_qp *qp, uint16_t ev,
			   enum mt_probe_purpose purpose)
{
	struct mt_control c = {
		.kind = MT_CONTROL_PROBE, .qp = qp, .index = ev, .purpose = (uint8_t)purpose};

	mb_assert(qp && ev != MT_EV_NONE);
	mt_engine_queue_control(e, &c);
}

int mt_endpoint_request(struct mt_engine *e, uint64_t now_ns, const struct mt_ep_request *req,
			void *owner, struct mt_ep_slot **slot)
{
	struct mt_control c = {.kind = MT_CONTROL_EP_REQUEST};
	int r = mt_ep_alloc(&e->ep_table, now_ns, req, slot);

	if (r != MT_OK)
		return r;
	(*slot)->owner = owner;
	c.index = (uint16_t)(*slot - e->ep_table.slots);
	mb_assert(*slot == &e->ep_table.slots[c.index]);
	mt_engine_queue_control(e, &c);
	return MT_OK;
}

static void report_event(struct mt_engine *e, const struct mt_event *ev)
{
	struct mt_event_ring *r = &e->events;

	mb_assert(r->tail - r->head <= r->mask + 1);
	if (r->tail - r->head > r->mask)
		e->stats.ev_events_dropped++;
	else
		r->events[r->tail++ & r->mask] = *ev;
}

/*
 * An EV that is good again may be what a QP without room waits for; one that is not leaves it those
 * ports that it passed over. REQ(req.ev.events)
 */
void mt_engine_report_ev(struct mt_engine *e, const struct mt_ev_set *s,
			 const struct mt_ev_change *change)
{
	struct mt_event ev = {
		.type = MT_EVENT_EV,
		.ev_state = change->state,
		.ev_cause = change->cause,
		.ev_profile = (uint16_t)s->shared->profile,
		.ev_index = change->ev,
		.ev = {mt_ev_value(s, change->ev), mt_ev_port(s, change->ev)},
		.peer = s->peer,
	};

	mb_assert(change->ev < s->n_evs);
	if (change->state == MT_EV_GOOD)
		e->no_room_ports |= UINT32_C(1) << mt_ev_port(s, change->ev);
	else if (e->n_counting > 0)
		e->no_room_ports |= mt_ev_set_useful_ports(s);
	report_event(e, &ev);
}

/* EV sets may use other ports now, and so may QPs without room. */
void mt_engine_port_event(struct mt_engine *e, const struct rd_gid *peer, uint32_t port, bool up)
{
	struct mt_event ev = {
		.type = MT_EVENT_PORT,
		.port_up = up,
		.port_of_peer = peer != NULL,
		.ev = {.port = (uint8_t)port},
	};

	mb_assert(port < e->cfg.n_ports);
	e->no_room_ports = UINT32_MAX;
	if (peer)
		ev.peer = *peer;
	report_event(e, &ev);
}

void mt_engine_use_ev_set(struct mt_engine *e, struct mt_ev_set *s, uint64_t now_ns)
{
	s->stretch = 1;
	mb_link_remove(&s->probe_turn);
	mt_ev_set_hasten_probes(s, now_ns);
	mb_timer_arm(&e->ev_timers, &s->timer, now_ns);
}
