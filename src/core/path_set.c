/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/path_set.h"

#include <string.h>

#include "base/assert.h"
#include "base/bits.h"

/* A probe id is a sequence number of 6 bits above the index of its path. */
#define ID_PATH_BITS 10u
_Static_assert(MT_EVS_MAX <= 1u << ID_PATH_BITS, "a probe id holds the index of every path");

size_t mt_path_set_size(uint16_t n_evs, uint32_t n_ports)
{
	return mb_align64(sizeof(struct mt_path_set)) + mb_align64(n_evs * sizeof(struct mt_path)) +
	       mb_align64(n_evs * sizeof(struct mt_path_cold)) +
	       mb_align64(n_evs * sizeof(uint16_t)) + n_ports * sizeof(struct mt_path_port);
}

/* Shares n_active out over the ports, at most one apart, as far as each has EVs. */
static void choose_active(struct mt_path_set *s, uint32_t n_active)
{
	uint32_t given;

	do {
		given = 0;
		for (uint32_t p = 0; p < s->n_ports && n_active > 0; p++) {
			if (s->ports[p].active == s->ports[p].count)
				continue;
			s->ports[p].active++;
			n_active--;
			given++;
		}
	} while (given > 0);
}

static void group_by_port(struct mt_path_set *s)
{
	uint16_t at = 0;

	for (uint8_t p = 0; p < s->n_ports; p++) {
		s->ports[p] = (struct mt_path_port){.first = at};
		for (uint16_t i = 0; i < s->n_paths; i++) {
			if (s->paths[i].port != p)
				continue;
			s->paths[i].place = at;
			s->order[at++] = i;
			s->ports[p].count++;
		}
		s->ports[p].usable = s->ports[p].count;
	}
}

struct mt_path_set *mt_path_set_init(void *mem, const struct mt_ev_profile_cfg *profile,
				     uint32_t n_ports, const struct mt_addr *peer)
{
	struct mt_path_set *s = mem;
	uint8_t *at = (uint8_t *)mem + mb_align64(sizeof(*s));
	uint16_t n = profile->n_evs;

	memset(mem, 0, mt_path_set_size(n, n_ports));
	s->paths = (struct mt_path *)(void *)at;
	at += mb_align64(n * sizeof(struct mt_path));
	s->cold = (struct mt_path_cold *)(void *)at;
	at += mb_align64(n * sizeof(struct mt_path_cold));
	s->order = (uint16_t *)(void *)at;
	at += mb_align64(n * sizeof(uint16_t));
	s->ports = (struct mt_path_port *)(void *)at;

	mb_link_init(&s->link);
	mb_link_init(&s->users);
	mb_timer_init(&s->timer);
	s->peer = *peer;
	s->n_paths = s->n_usable = n;
	s->n_ports = (uint8_t)n_ports;
	s->min_active = profile->min_active;
	s->revive_probes = profile->revive_probes;
	s->probe_interval_ns = profile->probe_interval_ns;
	s->probe_interval_max_ns = profile->probe_interval_max_ns;
	for (uint16_t i = 0; i < n; i++) {
		s->paths[i].value = profile->evs[i].value;
		s->paths[i].port = profile->evs[i].port;
		s->cold[i].next_probe_ns = MB_NEVER;
	}
	group_by_port(s);
	choose_active(s, profile->n_active);
	return s;
}

/* The one place where a state changes; keeps the counts of usable paths right. */
static void set_state(struct mt_path_set *s, uint16_t path, enum mt_ev_state state)
{
	struct mt_path *p = &s->paths[path];
	bool was = mt_path_usable(p), is;

	p->state = (uint8_t)state;
	is = mt_path_usable(p);
	if (was != is) {
		s->n_usable = (uint16_t)(s->n_usable + is - was);
		s->ports[p->port].usable = (uint16_t)(s->ports[p->port].usable + is - was);
	}
}

bool mt_path_set_skip(struct mt_path_set *s, uint16_t path)
{
	if (s->paths[path].state != MT_EV_GOOD)
		return false;
	set_state(s, path, MT_EV_SKIP);
	return true;
}

/* REQ(req.ev.skip-once) */
void mt_path_set_turn_over(struct mt_path_set *s, uint16_t path)
{
	mb_assert(s->paths[path].state == MT_EV_SKIP);
	set_state(s, path, MT_EV_GOOD);
}

/* The first place in [from, to) of order[] whose path is usable, or is not; `to` when none is. */
static uint16_t find_place(const struct mt_path_set *s, uint16_t from, uint16_t to, bool usable)
{
	while (from < to && mt_path_usable(&s->paths[s->order[from]]) != usable)
		from++;
	return from;
}

static void swap_places(struct mt_path_set *s, uint16_t a, uint16_t b)
{
	uint16_t path = s->order[a];

	s->order[a] = s->order[b];
	s->order[b] = path;
	s->paths[s->order[a]].place = a;
	s->paths[s->order[b]].place = b;
}

/*
 * Keeps the rotation full after `path` changed: an active path of no use changes places with a
 * usable backup of its port, a usable backup with an active path of no use.
 * REQ(req.spray.backup-same-plane)
 */
static void settle(struct mt_path_set *s, uint16_t path)
{
	const struct mt_path *p = &s->paths[path];
	const struct mt_path_port *port = &s->ports[p->port];
	uint16_t backups = (uint16_t)(port->first + port->active);
	uint16_t end = (uint16_t)(port->first + port->count);
	bool active = p->place < backups, usable = mt_path_usable(p);
	uint16_t other;

	if (active == usable)
		return;
	other = active ? find_place(s, backups, end, true)
		       : find_place(s, port->first, backups, false);
	if (other != (active ? end : backups))
		swap_places(s, p->place, other);
}

/* What must hold between calls; for mb_assert_slow. */
static bool consistent(const struct mt_path_set *s)
{
	uint32_t usable = 0;

	for (uint8_t p = 0; p < s->n_ports; p++) {
		const struct mt_path_port *port = &s->ports[p];
		uint32_t here = 0;

		for (uint16_t at = port->first; at < port->first + port->count; at++) {
			const struct mt_path *path = &s->paths[s->order[at]];

			if (path->place != at || path->port != p)
				return false;
			here += mt_path_usable(path);
		}
		if (here != port->usable)
			return false;
		usable += here;
	}
	return usable == s->n_usable;
}

static uint16_t bad_longest(const struct mt_path_set *s)
{
	uint16_t found = MT_PATH_NONE;

	for (uint16_t i = 0; i < s->n_paths; i++)
		if (s->paths[i].state == MT_EV_ASSUMED_BAD &&
		    (found == MT_PATH_NONE ||
		     s->cold[i].bad_since_ns < s->cold[found].bad_since_ns))
			found = i;
	return found;
}

static void take_back(struct mt_path_set *s, uint16_t path)
{
	set_state(s, path, MT_EV_GOOD);
	s->cold[path].next_probe_ns = MB_NEVER;
	s->cold[path].probe_pending = 0;
	settle(s, path);
}

unsigned mt_path_set_retire(struct mt_path_set *s, uint16_t path, uint64_t now_ns,
			    enum mt_ev_cause cause, struct mt_path_change changes[2])
{
	struct mt_path_cold *c = &s->cold[path];
	unsigned n = 0;

	if (!mt_path_usable(&s->paths[path]))
		return 0;
	if (s->n_usable <= s->min_active) {
		uint16_t other = bad_longest(s);

		if (other == MT_PATH_NONE)
			return 0; /* all others are denied: a bad path is better than none */
		take_back(s, other);
		changes[n++] = (struct mt_path_change){other, MT_EV_GOOD, MT_EV_BY_FLOOR};
	}
	set_state(s, path, MT_EV_ASSUMED_BAD);
	c->bad_since_ns = now_ns;
	c->next_probe_ns = now_ns + s->probe_interval_ns;
	c->probe_pending = c->answered = c->backoff = 0;
	c->retired++;
	settle(s, path);
	changes[n++] = (struct mt_path_change){path, MT_EV_ASSUMED_BAD, (uint8_t)cause};
	mb_assert_slow(consistent(s));
	return n;
}

/* REQ(req.ev.denied) */
bool mt_path_set_deny(struct mt_path_set *s, uint16_t path, bool deny)
{
	enum mt_ev_state want = deny ? MT_EV_DENIED : MT_EV_GOOD;

	if (s->paths[path].state == want || (!deny && s->paths[path].state != MT_EV_DENIED))
		return false;
	take_back(s, path);
	set_state(s, path, want);
	settle(s, path);
	mb_assert_slow(consistent(s));
	return true;
}

static uint64_t probe_gap(const struct mt_path_set *s, uint8_t backoff)
{
	uint64_t gap = s->probe_interval_ns;

	for (uint8_t i = 0; i < backoff && gap < s->probe_interval_max_ns; i++)
		gap *= 2;
	if (gap > s->probe_interval_max_ns)
		gap = s->probe_interval_max_ns;
	return gap < 2 * s->probe_rtt_ns ? 2 * s->probe_rtt_ns : gap;
}

/* Rises at once, sinks slowly. */
static void sample_rtt(struct mt_path_set *s, uint64_t rtt_ns)
{
	s->probe_rtt_ns -= s->probe_rtt_ns / 8;
	if (rtt_ns > s->probe_rtt_ns)
		s->probe_rtt_ns = rtt_ns;
}

uint16_t mt_path_set_next_probe(struct mt_path_set *s, uint64_t now_ns)
{
	for (uint16_t i = 0; i < s->n_paths; i++) {
		struct mt_path_cold *c = &s->cold[i];

		if (c->next_probe_ns > now_ns)
			continue;
		if (c->probe_pending) {
			c->answered = 0;
			if (c->backoff < UINT8_MAX)
				c->backoff++;
		}
		c->probe_pending = 0;
		c->next_probe_ns = now_ns + probe_gap(s, c->backoff);
		return i;
	}
	return MT_PATH_NONE;
}

uint64_t mt_path_set_probe_deadline(const struct mt_path_set *s)
{
	uint64_t earliest = MB_NEVER;

	for (uint16_t i = 0; i < s->n_paths; i++)
		if (s->cold[i].next_probe_ns < earliest)
			earliest = s->cold[i].next_probe_ns;
	return earliest;
}

uint16_t mt_path_set_probe_id(struct mt_path_set *s, uint16_t path)
{
	return (uint16_t)(s->probe_seq++ << ID_PATH_BITS | path);
}

void mt_path_set_probe_sent(struct mt_path_set *s, uint16_t path, uint16_t id, uint64_t now_ns)
{
	struct mt_path_cold *c = &s->cold[path];

	c->probe_id = id;
	c->probe_sent_ns = now_ns;
	c->probe_pending = 1;
}

/* REQ(req.ev.revive-marked) */
bool mt_path_set_probe_answered(struct mt_path_set *s, uint16_t id, uint64_t now_ns, bool marked,
				uint64_t *sent_ns, uint16_t *path, bool *revived)
{
	uint16_t i = id & ((1u << ID_PATH_BITS) - 1);
	struct mt_path_cold *c;

	*revived = false;
	if (i >= s->n_paths)
		return false;
	c = &s->cold[i];
	if (!c->probe_pending || c->probe_id != id)
		return false;
	*path = i;
	*sent_ns = c->probe_sent_ns;
	c->probe_pending = 0;
	sample_rtt(s, now_ns - c->probe_sent_ns);
	if (s->paths[i].state != MT_EV_ASSUMED_BAD)
		return true;
	c->backoff = 0;
	c->next_probe_ns = now_ns + s->probe_interval_ns;
	if (++c->answered < s->revive_probes)
		return true;
	take_back(s, i);
	if (marked)
		set_state(s, i, MT_EV_SKIP);
	mb_assert_slow(consistent(s));
	c->revived++;
	*revived = true;
	return true;
}
