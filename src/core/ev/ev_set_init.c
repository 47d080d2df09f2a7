/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ev_set_init.c - makes an EV set of a profile: its arrays, EV groups, and the places of the
 * rotation; and takes memory for faults when there are any.
 */
#include <string.h>

#include "base/assert.h"
#include "core/ev/ev_set.h"

/* The arrays of a set follow it one after the other, those of wider elements first. */
static size_t round_up_words(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

size_t mt_ev_set_size(uint16_t n_evs, uint32_t n_ports, bool group_ids)
{
	return sizeof(struct mt_ev_set) + n_ports * sizeof(struct mt_peer_port) +
	       round_up_words(n_evs * sizeof(struct mt_ev_entry)) +
	       (group_ids ? round_up_words(n_evs * sizeof(struct mt_ev_group)) : 0) +
	       round_up_words(n_evs * sizeof(uint16_t)) +
	       round_up_words(n_ports * sizeof(struct mt_ev_set_port));
}

void mt_ev_set_add_faults(struct mt_ev_set *s, void *mem)
{
	mb_assert(!s->faults && mem);
	s->faults = mem;
	memset(mem, 0, s->n_evs * sizeof(*s->faults));
	for (uint16_t i = 0; i < s->n_evs; i++)
		s->faults[i].next_probe_ns = MB_NEVER;
}

struct mt_ev_fault *mt_ev_get_fault(struct mt_ev_set *s, uint16_t ev)
{
	void *mem = s->faults ? NULL : mb_pool_get(s->pool, s->n_evs * sizeof(*s->faults));

	mb_assert(ev < s->n_evs);
	if (mem)
		mt_ev_set_add_faults(s, mem);
	return s->faults ? &s->faults[ev] : NULL;
}

void mt_ev_set_fini(struct mt_ev_set *s)
{
	mb_assert(s->refs == 0 && mb_link_is_empty(&s->users));
	mb_pool_put(s->pool, s->faults, s->n_evs * sizeof(struct mt_ev_fault));
	s->faults = NULL;
}

static uint16_t group_head(const struct mt_ev_set *s, uint16_t ev)
{
	return s->groups ? s->groups[ev].head : ev;
}

/* Shares n_active out over the ports, at most one apart, as far as each has groups. */
static void choose_active(struct mt_ev_set *s, uint32_t n_active)
{
	uint32_t given;

	do {
		given = 0;
		for (uint32_t p = 0; p < s->n_ports && n_active > 0; p++) {
			struct mt_ev_set_port *port = &s->ports[p];
			uint16_t next = (uint16_t)(port->first + port->active);

			if (port->active == port->count ||
			    group_head(s, s->order[next]) != s->order[next])
				continue;
			if (s->groups)
				s->groups[s->order[next]].n_active = 1;
			port->active++;
			n_active--;
			given++;
		}
	} while (given > 0);
}

/* Links the EVs of a port that have the same number into rings. */
static void link_groups(struct mt_ev_set *s, uint8_t port, const uint16_t *ids)
{
	uint16_t n = s->n_evs;

	/* Until rings are closed n_active is the head of the group with this number. */
	for (uint16_t i = 0; i < n; i++)
		s->groups[i].n_active = MT_EV_NONE;
	for (uint16_t i = 0; i < n; i++) {
		uint16_t *leader = &s->groups[ids[i]].n_active;

		if (s->evs[i].port != port)
			continue;
		if (*leader == MT_EV_NONE)
			*leader = s->groups[i].next = i;
		s->groups[i].head = *leader;
		s->groups[i].next = s->groups[*leader].next;
		s->groups[*leader].next = i;
	}
}

/* Puts the EVs of a port into order[]: first one of each group, then the others. */
static void order_port(struct mt_ev_set *s, uint8_t p, uint16_t *at)
{
	for (int others = 0; others < 2; others++)
		for (uint16_t i = 0; i < s->n_evs; i++) {
			if (s->evs[i].port != p || (group_head(s, i) != i) != others)
				continue;
			s->evs[i].slot = *at;
			s->order[(*at)++] = i;
			s->ports[p].count++;
		}
	s->ports[p].usable = s->ports[p].count;
}

static void order_by_port(struct mt_ev_set *s, const uint16_t *ids)
{
	uint16_t at = 0;

	for (uint8_t p = 0; p < s->n_ports; p++) {
		s->ports[p] = (struct mt_ev_set_port){.first = at, .reverse_ev = MT_EV_NONE};
		if (s->groups)
			link_groups(s, p, ids);
		order_port(s, p, &at);
	}
	mb_assert(at == s->n_evs); /* each EV has its place */
	for (uint16_t i = 0; s->groups && i < s->n_evs; i++)
		s->groups[i].n_active = 0;
}

struct mt_ev_set *mt_ev_set_init(void *mem, const struct mt_ev_profile_cfg *profile,
				 uint32_t n_ports, const struct rd_gid *peer, struct mb_pool *pool)
{
	struct mt_ev_set *s = mem;
	uint8_t *at = (uint8_t *)mem + sizeof(*s);
	uint16_t n = profile->n_evs;

	mb_assert(n > 0 && n <= MT_EVS_MAX && profile->n_active > 0 && profile->n_active <= n);
	mb_assert(n_ports > 0 && n_ports <= MT_PORTS_MAX);
	memset(mem, 0, mt_ev_set_size(n, n_ports, profile->group_ids != NULL));
	s->pool = pool;
	mt_peer_ports_init(&s->peer_ports, (struct mt_peer_port *)(void *)at, n_ports);
	at += n_ports * sizeof(struct mt_peer_port);
	s->evs = (struct mt_ev_entry *)(void *)at;
	at += round_up_words(n * sizeof(struct mt_ev_entry));
	if (profile->group_ids) {
		s->groups = (struct mt_ev_group *)(void *)at;
		at += round_up_words(n * sizeof(struct mt_ev_group));
	}
	s->order = (uint16_t *)(void *)at;
	at += round_up_words(n * sizeof(uint16_t));
	s->ports = (struct mt_ev_set_port *)(void *)at;
	mb_link_init(&s->peers);
	mt_reorder_init(&s->reorder, n);

	mb_link_init(&s->link);
	mb_link_init(&s->users);
	mb_timer_init(&s->timer);
	s->peer = *peer;
	s->trial = MT_EV_NONE;
	s->n_evs = s->n_usable = s->n_unheard = n;
	s->n_ports = (uint8_t)n_ports;
	s->open_ports = UINT32_MAX;
	s->min_active = profile->min_active;
	s->ignores = profile->ignores;
	s->ordered = profile->ordered;
	s->revive_probes = profile->revive_probes;
	s->probe_interval_ns = profile->probe_interval_ns;
	s->probe_interval_max_ns = profile->probe_interval_max_ns;
	for (uint16_t i = 0; i < n; i++) {
		s->evs[i].value = profile->evs[i].value;
		s->evs[i].port = profile->evs[i].port;
		mb_assert(s->evs[i].port < n_ports);
		s->own_ports |= 1u << s->evs[i].port;
	}
	order_by_port(s, profile->group_ids);
	choose_active(s, profile->n_active);
	return s;
}
