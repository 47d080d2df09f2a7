/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * port_notify.c - tells the engines that QPs talk to which of our ports are up.
 *
 * When a port changes each of them gets a port status update, over any port that is up, again and
 * again on other EVs until it answers: after twice the wait each time, and not for ever, since a
 * peer that does not know this operation answers nothing. Only the newest mask is ever sent.
 * REQ(ep.port.status-update)
 *
 * As many updates are outstanding as there are slots for requests; other peers wait for the end of
 * one, in the order in which they came.
 */
#include "base/assert.h"
#include "core/endpoint/endpoint.h"
#include "core/ev/spray.h"
#include "core/state/peer.h"

#define TRIES_MAX 10u
#define WAIT_MIN_PROBES 4u

static void schedule_port_status(struct mt_engine *e, struct mt_peer *p, uint64_t when_ns)
{
	mb_timer_arm(&e->peer_timers, &p->timer, when_ns);
}

/*
 * A request has ended: those that wait go on, two for one, so that all slots that are free come
 * into use. Who waits needs its update still: a change of a port calls all that wait.
 */
static void wake_waiting(struct mt_engine *e, uint64_t when_ns)
{
	for (unsigned n = 0; n < 2 && !mb_link_is_empty(&e->peers_waiting); n++) {
		struct mt_peer *p = mb_container_of(e->peers_waiting.next, struct mt_peer, waiting);

		mb_link_remove(&p->waiting);
		schedule_port_status(e, p, when_ns);
	}
}

void mt_peer_share(struct mt_peer *p)
{
	mb_assert(p->refs > 0);
	p->refs++;
}

struct mt_peer *mt_peer_join(struct mt_engine *e, struct mt_ev_set *s, uint32_t dest_qpn,
			     uint64_t now_ns)
{
	uint16_t endpoint = (uint16_t)(dest_qpn >> e->cfg.qpn_index_bits);
	struct mt_peer *p, *spare;

	for (struct mb_link *l = s->peers.next; l != &s->peers; l = l->next) {
		p = mb_container_of(l, struct mt_peer, link);
		if (p->endpoint == endpoint) {
			mt_peer_share(p);
			return p;
		}
	}
	spare = mt_ev_sets_spare_peer(s);
	p = spare ? spare : mt_engine_alloc(e, sizeof(*p));
	if (!p)
		return NULL;
	s->has_spare_peer = false;
	*p = (struct mt_peer){.ev_set = s, .endpoint = endpoint, .refs = 1, .is_spare = spare};
	mt_liveness_init(&p->liveness);
	mb_link_init(&p->link);
	mb_link_init(&p->waiting);
	mb_timer_init(&p->timer);
	mb_list_push(&s->peers, &p->link);
	p->confirmed_ports = UINT32_MAX >> (MT_PORTS_MAX - e->cfg.n_ports);
	p->is_confirmed = true;
	if (p->confirmed_ports != e->ports.up)
		schedule_port_status(e, p, now_ns);
	return p;
}

/* The outstanding update has ended. */
static void end_update(struct mt_engine *e, struct mt_peer *p, uint64_t now_ns)
{
	mb_assert(p->slot && e->port_status_requests > 0);
	p->slot = NULL;
	e->port_status_requests--;
	wake_waiting(e, now_ns);
}

/* Gives up the update that is outstanding; its id rests. */
static void cancel_update(struct mt_engine *e, struct mt_peer *p, uint64_t now_ns)
{
	mb_assert(p->slot && mb_link_is_empty(&p->waiting));
	mt_ep_release(&e->ep_table, p->slot, now_ns, e->cfg.timing.ep_quarantine_ns);
	end_update(e, p, now_ns);
}

void mt_peer_leave(struct mt_engine *e, struct mt_peer *p)
{
	mb_assert(p->refs > 0);
	if (--p->refs > 0)
		return;
	mb_assert(p->liveness.waiting == 0);
	mb_link_remove(&p->waiting);
	/* Without a time to count from its end is when it could have been at the latest. */
	if (p->slot)
		cancel_update(e, p, p->slot->timer.deadline_ns);
	mb_timer_disarm(&e->peer_timers, &p->timer);
	mb_link_remove(&p->link);
	if (p->is_spare)
		p->ev_set->has_spare_peer = true;
	else
		mb_pool_put(&e->pool, p, sizeof(*p));
}

void mt_peers_notify(struct mt_engine *e, struct mt_ev_set *s, uint64_t now_ns)
{
	for (struct mb_link *l = s->peers.next; l != &s->peers; l = l->next) {
		struct mt_peer *p = mb_container_of(l, struct mt_peer, link);

		mb_link_remove(&p->waiting);
		if (p->slot)
			cancel_update(e, p, now_ns);
		p->tries = 0;
		schedule_port_status(e, p, now_ns);
	}
}

static uint64_t answer_timeout_ns(const struct mt_engine *e, const struct mt_peer *p)
{
	uint64_t wait = WAIT_MIN_PROBES * e->cfg.timing.tail_probe_min_ns;
	uint64_t rtts = 2 * p->ev_set->probe_rtt_ns;

	mb_assert(p->tries <= TRIES_MAX);
	if (wait < rtts)
		wait = rtts;
	return wait << p->tries;
}

/* Any EV that may be used, another one each time. */
static uint16_t pick_random_ev(struct mt_engine *e, const struct mt_ev_set *s)
{
	uint32_t from = mb_prng_below(&e->prng, s->n_ports);

	for (uint32_t k = 0; k < s->n_ports; k++) {
		uint32_t port = (from + k) % s->n_ports;

		if (s->open_ports & s->shared->own_ports & 1u << port)
			return mt_spray_pick_probe(s, port, (uint16_t)mb_prng_u64(&e->prng));
	}
	return MT_EV_NONE;
}

static bool is_up_to_date(const struct mt_engine *e, const struct mt_peer *p)
{
	return p->is_confirmed && p->confirmed_ports == e->ports.up;
}

/* When no update is outstanding, nothing tells when the adapter's requests have ended. */
static void wait_for_slot(struct mt_engine *e, struct mt_peer *p, uint64_t now_ns)
{
	if (e->port_status_requests > 0)
		mb_list_push(&e->peers_waiting, &p->waiting);
	else
		schedule_port_status(e, p, now_ns + answer_timeout_ns(e, p));
}

static void send_port_status(struct mt_engine *e, struct mt_peer *p, uint64_t now_ns)
{
	const struct mt_ev_set *s = p->ev_set;
	uint16_t ev = pick_random_ev(e, s);
	struct mt_ep_request req = {
		.dst = s->peer,
		.endpoint = p->endpoint,
		.op = MW_EP_PORT_STATUS,
		.tclass = MW_DSCP_CONTROL,
		.port_mask = e->ports.up,
		.timeout_ns = answer_timeout_ns(e, p),
	};

	mb_assert(!p->slot && p->tries <= TRIES_MAX); /* one update at a time */
	if (is_up_to_date(e, p) || p->tries == TRIES_MAX || ev == MT_EV_NONE)
		return; /* the next change of a port begins again */
	req.ev = (struct mt_ev){mt_ev_value(s, ev), mt_ev_port(s, ev)};
	if (mt_endpoint_request(e, now_ns, &req, p, &p->slot) != MT_OK) {
		p->slot = NULL;
		wait_for_slot(e, p, now_ns);
		return;
	}
	e->port_status_requests++;
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
	end_update(e, p, slot->ended_ns);
	if (slot->status == MT_EP_ANSWERED) {
		p->confirmed_ports = slot->req.port_mask;
		p->is_confirmed = true;
	}
	if (!is_up_to_date(e, p))
		schedule_port_status(e, p, slot->ended_ns);
}
