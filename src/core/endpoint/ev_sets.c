/* SPDX-License-Identifier: BSD-2-Clause */
/* ev_sets.c - the engine's EV sets: one for each destination and EV profile in use. */
#include <string.h>

#include "base/assert.h"
#include "core/endpoint/endpoint.h"
#include "core/state/peer.h"

/*
 * Where the chain begins in which the sets of a destination are. The key is the engine's own, so
 * that nobody who may choose addresses chooses those of one chain.
 */
static struct mt_ev_set **bucket_of(struct mt_engine *e, const struct rd_gid *peer)
{
	struct mb_prng mix;
	uint64_t half[2];

	memcpy(half, peer, sizeof(half));
	mb_prng_init(&mix, e->ev_set_hash_key ^ half[0]);
	mb_prng_init(&mix, mb_prng_u64(&mix) ^ half[1]);
	return &e->ev_set_buckets[mb_prng_u64(&mix) & (e->cfg.max_qps - 1)];
}

struct mt_ev_set *mt_ev_sets_next(struct mt_engine *e, const struct rd_gid *peer,
				  const struct mt_ev_set *last)
{
	struct mt_ev_set *s = last ? last->chain : *bucket_of(e, peer);

	while (s && memcmp(&s->peer, peer, sizeof(*peer)) != 0)
		s = s->chain;
	return s;
}

void mt_ev_sets_share(struct mt_ev_set *s, struct mb_link *user)
{
	s->refs++;
	mb_list_push(&s->users, user);
}

size_t mt_ev_sets_bytes(uint16_t n_evs, uint32_t n_ports)
{
	return mt_ev_set_size(n_evs, n_ports) + sizeof(struct mt_peer);
}

struct mt_peer *mt_ev_sets_spare_peer(struct mt_ev_set *s)
{
	if (!s->has_spare_peer)
		return NULL;
	return (struct mt_peer *)(void *)((uint8_t *)s + mt_ev_set_size(s->n_evs, s->n_ports));
}

/* What the last set of a profile leaves behind. */
static void put_shared(struct mt_engine *e, struct mt_ev_shared *c)
{
	struct mt_ev_profile *p = &e->ev_profiles[c->profile];

	if (c->refs > 0)
		return;
	if (p->shared == c)
		p->shared = NULL;
	mb_pool_put(&e->pool, c, mt_ev_shared_bytes(c));
}

/* What the sets of a profile share, as it is set now; NULL: memory. */
static struct mt_ev_shared *get_shared(struct mt_engine *e, uint32_t profile)
{
	struct mt_ev_profile *p = &e->ev_profiles[profile];
	void *mem;

	if (p->shared)
		return p->shared;
	mem = mt_engine_alloc(e, mt_ev_shared_size(&p->cfg, e->cfg.n_ports));
	if (!mem)
		return NULL;
	p->shared = mt_ev_shared_init(mem, &p->cfg, e->cfg.n_ports);
	p->shared->profile = profile;
	return p->shared;
}

/* What the controller has denied is denied to a new destination, too; false: memory. */
static bool deny_in_set(struct mt_ev_set *s, const struct mt_ev_profile *p)
{
	if (p->denied && !mt_ev_set_own_places(s))
		return false;
	for (uint16_t i = 0; p->denied && i < s->n_evs; i++)
		if (mt_ev_profile_denies(p, i))
			mt_ev_deny(s, i, true);
	return true;
}

static struct mt_ev_set *make_set(struct mt_engine *e, uint32_t profile, const struct rd_gid *peer)
{
	struct mt_ev_shared *shared = get_shared(e, profile);
	struct mt_ev_set *s;
	void *mem;

	if (!shared)
		return NULL;
	mem = mt_engine_alloc(e, mt_ev_sets_bytes(shared->n_evs, shared->n_ports));
	if (!mem) {
		put_shared(e, shared);
		return NULL;
	}
	s = mt_ev_set_init(mem, shared, peer, &e->pool);
	if (!deny_in_set(s, &e->ev_profiles[profile])) {
		mt_ev_set_fini(s);
		mb_pool_put(&e->pool, mem, mt_ev_sets_bytes(shared->n_evs, shared->n_ports));
		put_shared(e, shared);
		return NULL;
	}
	s->has_spare_peer = true;
	return s;
}

struct mt_ev_set *mt_ev_sets_acquire(struct mt_engine *e, uint32_t profile,
				     const struct rd_gid *peer, struct mb_link *user)
{
	const struct mt_ev_profile *p = &e->ev_profiles[profile];
	struct mt_ev_set **chain, *s = NULL;

	mb_assert(profile < e->cfg.max_profiles && p->cfg.evs);
	while ((s = mt_ev_sets_next(e, peer, s)))
		if (s->shared == p->shared) {
			mt_ev_sets_share(s, user);
			return s;
		}
	s = make_set(e, profile, peer);
	if (!s)
		return NULL;
	mt_ev_sets_update_ports(e, s, 0);
	mb_list_push(&e->ev_sets, &s->link);
	chain = bucket_of(e, peer);
	s->chain = *chain;
	*chain = s;
	mt_ev_sets_share(s, user);
	return s;
}

/* A set that goes is no evidence about any port. */
static void forget_losses(struct mt_engine *e, const struct mt_ev_set *s)
{
	for (uint32_t port = e->cfg.n_ports; port-- > 0;) {
		struct mt_uplink *u = &e->uplinks[port];

		for (uint32_t i = u->n_lost; i-- > 0;)
			if (u->lost[i] == s)
				u->lost[i] = u->lost[--u->n_lost];
	}
}

void mt_ev_sets_release(struct mt_engine *e, struct mt_ev_set *s, struct mb_link *user)
{
	struct mt_ev_set **at = bucket_of(e, &s->peer);
	struct mt_ev_shared *shared;

	mb_assert(s->refs > 0);
	mb_link_remove(user);
	if (--s->refs > 0)
		return;
	while (*at != s) {
		mb_assert(*at); /* a set that is in use is in its bucket */
		at = &(*at)->chain;
	}
	*at = s->chain;
	forget_losses(e, s);
	mb_timer_disarm(&e->ev_timers, &s->timer);
	mb_link_remove(&s->link);
	mb_link_remove(&s->probe_turn);
	mb_assert(mb_link_is_empty(&s->peers)); /* QPs leave their peer before its set */
	shared = s->shared;
	mt_ev_set_fini(s);
	mb_pool_put(&e->pool, s, mt_ev_sets_bytes(s->n_evs, s->n_ports));
	put_shared(e, shared);
}

void mt_ev_sets_arm_probes(struct mt_engine *e, struct mt_ev_set *s)
{
	uint64_t plane = mt_peer_ports_deadline(&s->peer_ports), ev = MB_NEVER;

	if (mb_link_is_empty(&s->probe_turn)) /* else their turn comes */
		ev = mt_ev_set_probe_deadline(s);

	mb_timer_arm(&e->ev_timers, &s->timer, ev < plane ? ev : plane);
}

int mt_ev_sets_deny(struct mt_engine *e, struct mt_ev_set *s, uint16_t ev, bool deny)
{
	struct mt_ev_change change = {.ev = ev, .state = MT_EV_GOOD, .cause = MT_EV_BY_OPERATOR};

	if (deny && !mt_ev_set_own_places(s))
		return MT_ERR_MEMORY;
	if (!mt_ev_deny(s, ev, deny))
		return MT_OK;
	if (!deny)
		mt_engine_report_ev(e, s, &change);
	mt_ev_sets_keep_floor(e, s);
	mt_ev_sets_arm_probes(e, s);
	return MT_OK;
}

void mt_ev_sets_keep_floor(struct mt_engine *e, struct mt_ev_set *s)
{
	struct mt_ev_change change = {.state = MT_EV_GOOD, .cause = MT_EV_BY_FLOOR};

	while ((change.ev = mt_ev_set_restore_to_floor(s)) != MT_EV_NONE)
		mt_engine_report_ev(e, s, &change);
}

void mt_ev_sets_update_ports(struct mt_engine *e, struct mt_ev_set *s, uint64_t now_ns)
{
	uint32_t open = mt_local_ports_open(&e->ports) & ~s->peer_ports.abandoned;

	/* Bad EVs are better than none. */
	s->open_ports = open & s->shared->own_ports ? open : e->ports.up;
	mt_ev_sets_keep_floor(e, s);
	mt_ev_sets_arm_probes(e, s);
	/* What waited for its port is due now; it is not late, as it would be if no engine had
	 * come. */
	if (s->timer.deadline_ns < now_ns)
		mb_timer_arm(&e->ev_timers, &s->timer, now_ns);
}

/*
 * A port is back. What was lost on it before the engine knew that it was down has made EVs bad, and
 * says nothing about them now. REQ(ep.port.not-attributed)
 */
void mt_ev_sets_port_restored(struct mt_engine *e, struct mt_ev_set *s, uint32_t port,
			      uint64_t down_ns)
{
	uint64_t notice_ns = e->cfg.timing.port_notice_ns;
	struct mt_ev_change change = {.state = MT_EV_GOOD, .cause = MT_EV_BY_PORT};

	mb_assert(port < e->cfg.n_ports);
	for (uint16_t i = 0; i < s->n_evs; i++) {
		if (mt_ev_port(s, i) != port ||
		    !mt_ev_restore_after_port_down(s, i,
						   down_ns > notice_ns ? down_ns - notice_ns : 0))
			continue;
		change.ev = i;
		mt_engine_report_ev(e, s, &change);
	}
}
