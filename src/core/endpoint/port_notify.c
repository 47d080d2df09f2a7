/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * port_notify.c - tells the engines that QPs talk to which of our ports are up.
 *
 * When a port changes each of them gets a port status update, over any port that is up, again and
 * again on other EVs until it answers: after twice the wait each time, and not for ever, since a
 * peer that does not know this operation answers nothing. Only the newest mask is ever sent.
 * REQ(ep.port.status-update)
 */
#include "base/assert.h"
#include "core/endpoint/endpoint.h"
#include "core/ev/spray.h"

#define TRIES_MAX 10u
#define WAIT_MIN_PROBES 4u

struct mt_peer {
	struct mb_link link; /* on the EV set's list */
	struct mb_timer timer;
	struct mt_ev_set *ev_set;
	struct mt_ep_slot *slot;  /* the update that is outstanding */
	uint32_t confirmed_ports; /* what it has confirmed */
	bool is_confirmed;	  /* and nothing else was sent since */
	uint32_t refs;
	uint16_t endpoint;
	uint8_t tries; /* updates sent since the last change */
};

static void schedule_port_status(struct mt_engine *e, struct mt_peer *p, uint64_t when_ns)
{
	mb_timer_arm(&e->peer_timers, &p->timer, when_ns);
}

struct mt_peer *mt_peer_join(struct mt_engine *e, struct mt_ev_set *s, uint32_t dest_qpn,
			     uint64_t now_ns)
{
	uint16_t endpoint = (uint16_t)(dest_qpn >> e->cfg.qpn_index_bits);
	struct mt_peer *p;

	for (struct mb_link *l = s->peers.next; l != &s->peers; l = l->next) {
		p = mb_container_of(l, struct mt_peer, link);
		if (p->endpoint == endpoint) {
			p->refs++;
			return p;
		}
	}
	p = mt_engine_alloc(e, sizeof(*p));
	if (!p)
		return NULL;
	*p = (struct mt_peer){.ev_set = s, .endpoint = endpoint, .refs = 1};
	mb_link_init(&p->link);
	mb_timer_init(&p->timer);
	mb_list_push(&s->peers, &p->link);
	p->confirmed_ports = UINT32_MAX >> (MT_PORTS_MAX - e->cfg.n_ports);
	p->is_confirmed = true;
	if (p->confirmed_ports != e->ports.up)
		schedule_port_status(e, p, now_ns);
	return p;
}

/* Gives up the outstanding update, if there is one; its id is quarantined. */
static void cancel_update(struct mt_engine *e, struct mt_peer *p, uint64_t now_ns)
{
	if (p->slot)
		mt_ep_quarantine(&e->ep_table, p->slot, now_ns, e->cfg.timing.ep_quarantine_ns);
	p->slot = NULL;
}

void mt_peer_leave(struct mt_engine *e, struct mt_peer *p)
{
	mb_assert(p->refs > 0);
	if (--p->refs > 0)
		return;
	/* Without a time to count from it rests from when it could have ended at the latest. */
	cancel_update(e, p, p->slot ? p->slot->timer.deadline_ns : 0);
	mb_timer_disarm(&e->peer_timers, &p->timer);
	mb_link_remove(&p->link);
	mb_pool_put(&e->pool, p, sizeof(*p));
}

void mt_peers_notify(struct mt_engine *e, struct mt_ev_set *s, uint64_t now_ns)
{
	for (struct mb_link *l = s->peers.next; l != &s->peers; l = l->next) {
		struct mt_peer *p = mb_container_of(l, struct mt_peer, link);

		cancel_update(e, p, now_ns);
		p->tries = 0;
		schedule_port_status(e, p, now_ns);
	}
}

static uint64_t answer_timeout_ns(const struct mt_engine *e, const struct mt_peer *p)
{
	uint64_t wait = WAIT_MIN_PROBES * e->cfg.timing.tail_probe_min_ns;

	mb_assert(p->tries <= TRIES_MAX);
	if (wait < 2 * p->ev_set->probe_rtt_ns)
		wait = 2 * p->ev_set->probe_rtt_ns;
	return wait << p->tries;
}

/* Any EV that may be used, another one each time. */
static uint16_t pick_random_ev(struct mt_engine *e, const struct mt_ev_set *s)
{
	uint32_t from = mb_prng_below(&e->prng, s->n_ports);

	for (uint32_t k = 0; k < s->n_ports; k++) {
		uint32_t port = (from + k) % s->n_ports;

		if (s->open_ports & s->own_ports & 1u << port)
			return mt_spray_pick_probe(s, port, (uint16_t)mb_prng_u64(&e->prng));
	}
	return MT_EV_NONE;
}

static bool is_up_to_date(const struct mt_engine *e, const struct mt_peer *p)
{
	return p->is_confirmed && p->confirmed_ports == e->ports.up;
}

static void send_port_status(struct mt_engine *e, struct mt_peer *p, uint64_t now_ns)
{
	const struct mt_ev_set *s = p->ev_set;
	uint16_t ev = pick_random_ev(e, s);
	struct mt_ep_request req = {
		.dst = s->peer,
		.endpoint = p->endpoint,
		.op = MW_EP_PORT_STATUS,
		.tclass = MT_CLASS_CONTROL,
		.port_mask = e->ports.up,
		.timeout_ns = answer_timeout_ns(e, p),
	};

	mb_assert(!p->slot && p->tries <= TRIES_MAX); /* one update at a time */
	if (is_up_to_date(e, p) || p->tries == TRIES_MAX || ev == MT_EV_NONE)
		return; /* the next change of a port begins again */
	req.ev = (struct mt_ev){s->evs[ev].value, s->evs[ev].port};
	if (mt_endpoint_request(e, now_ns, &req, p, &p->slot) != MT_OK) {
		p->slot = NULL;
		schedule_port_status(e, p, now_ns + answer_timeout_ns(e, p)); /* too many at once */
		return;
	}
	p->tries++;
	p->is_confirmed = false;
}

void mt_peers_tick(struct mt_engine *e, uint64_t now_ns)
{
	struct mb_timer *t;

	while ((t = mb_timers_expire(&e->peer_timers, now_ns)))
		send_port_status(e, mb_container_of(t, struct mt_peer, timer), now_ns);
}

void mt_peer_notify_done(struct mt_engine *e, struct mt_peer *p, const struct mt_ep_slot *slot)
{
	mb_assert(slot && p->slot == slot && slot->owner == p);
	p->slot = NULL;
	if (slot->status == MT_EP_ANSWERED) {
		p->confirmed_ports = slot->req.port_mask;
		p->is_confirmed = true;
	}
	if (!is_up_to_date(e, p))
		schedule_port_status(e, p, slot->ended_ns);
}
