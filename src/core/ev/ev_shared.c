/* SPDX-License-Identifier: BSD-2-Clause */
/* ev_shared.c - makes what the EV sets of a profile share: EV groups and places of the rotation. */
#include "core/ev/ev_shared.h"

#include <string.h>

#include "base/assert.h"
#include "core/ev/ev_set.h"

/* While it is made it can be changed. */
struct maker {
	struct mt_ev_shared *shared;
	uint16_t *order, *slot, *n_active;
	struct mt_ev_port *ports;
	struct mt_ev_group *groups;
	const uint16_t *ids;
};

static size_t round_up_words(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

static size_t total_size(size_t n_evs, size_t n_ports, bool copies_evs, bool has_groups)
{
	return round_up_words(sizeof(struct mt_ev_shared)) +
	       (copies_evs ? n_evs * sizeof(struct mt_ev) : 0) +
	       (has_groups ? round_up_words(n_evs * sizeof(struct mt_ev_group)) : 0) +
	       round_up_words((has_groups ? 3u : 2u) * n_evs * sizeof(uint16_t)) +
	       round_up_words(n_ports * sizeof(struct mt_ev_port));
}

size_t mt_ev_shared_size(const struct mt_ev_profile_cfg *profile, uint32_t n_ports)
{
	return total_size(profile->n_evs, n_ports, !profile->is_static, profile->group_ids != NULL);
}

size_t mt_ev_shared_bytes(const struct mt_ev_shared *c)
{
	return total_size(c->n_evs, c->n_ports, c->copies_evs, c->groups != NULL);
}

static uint16_t group_head(const struct maker *m, uint16_t ev)
{
	return m->groups ? m->groups[ev].head : ev;
}

/* Links the EVs of a port that have the same number into rings. */
static void link_groups(struct maker *m, uint8_t port)
{
	uint16_t n = m->shared->n_evs;

	/* Until rings are closed n_active is the head of the group with this number. */
	for (uint16_t i = 0; i < n; i++)
		m->n_active[i] = MT_EV_NONE;
	for (uint16_t i = 0; i < n; i++) {
		uint16_t *leader = &m->n_active[m->ids[i]];

		if (m->shared->evs[i].port != port)
			continue;
		if (*leader == MT_EV_NONE)
			*leader = m->groups[i].next = i;
		m->groups[i].head = *leader;
		m->groups[i].next = m->groups[*leader].next;
		m->groups[*leader].next = i;
	}
}

/* Gives the EVs of a port their places: first one of each group, then the others. */
static void order_port(struct maker *m, uint8_t p, uint16_t *at)
{
	for (int others = 0; others < 2; others++)
		for (uint16_t i = 0; i < m->shared->n_evs; i++) {
			if (m->shared->evs[i].port != p || (group_head(m, i) != i) != others)
				continue;
			m->slot[i] = *at;
			m->order[(*at)++] = i;
			m->ports[p].count++;
		}
}

static void order_by_port(struct maker *m)
{
	uint16_t at = 0;

	for (uint8_t p = 0; p < m->shared->n_ports; p++) {
		m->ports[p].first = at;
		if (m->groups)
			link_groups(m, p);
		order_port(m, p, &at);
	}
	mb_assert(at == m->shared->n_evs); /* each EV has its place */
	for (uint16_t i = 0; m->groups && i < m->shared->n_evs; i++)
		m->n_active[i] = 0;
}

/* Shares n_active out over the ports, at most one apart, as far as each has groups. */
static void choose_active(struct maker *m, uint32_t n_active)
{
	uint32_t given;

	do {
		given = 0;
		for (uint32_t p = 0; p < m->shared->n_ports && n_active > 0; p++) {
			struct mt_ev_port *port = &m->ports[p];
			uint16_t next = (uint16_t)(port->first + port->active);

			if (port->active == port->count ||
			    group_head(m, m->order[next]) != m->order[next])
				continue;
			if (m->groups)
				m->n_active[m->order[next]] = 1;
			port->active++;
			n_active--;
			given++;
		}
	} while (given > 0);
	for (uint32_t p = 0; p < m->shared->n_ports; p++)
		m->shared->has_backups |= m->ports[p].active < m->ports[p].count;
}

static void copy_settings(struct mt_ev_shared *c, const struct mt_ev_profile_cfg *profile)
{
	c->n_evs = profile->n_evs;
	c->min_active = profile->min_active;
	c->ignores = profile->ignores;
	c->ordered = profile->ordered;
	c->revive_probes = profile->revive_probes;
	c->probe_interval_ns = profile->probe_interval_ns;
	c->probe_interval_max_ns = profile->probe_interval_max_ns;
	c->copies_evs = !profile->is_static;
}

/* The arrays follow one after the other, those of wider elements first. */
static void lay_out(struct maker *m, uint8_t *at)
{
	struct mt_ev_shared *c = m->shared;
	size_t n = c->n_evs;

	if (m->ids) {
		c->groups = m->groups = (struct mt_ev_group *)(void *)at;
		at += round_up_words(n * sizeof(struct mt_ev_group));
	}
	c->places = m->order = (uint16_t *)(void *)at;
	m->slot = m->order + n;
	m->n_active = m->slot + n;
	at += round_up_words(mt_ev_places_size(c));
	c->ports = m->ports = (struct mt_ev_port *)(void *)at;
}

struct mt_ev_shared *mt_ev_shared_init(void *mem, const struct mt_ev_profile_cfg *profile,
				       uint32_t n_ports)
{
	struct mt_ev_shared *c = mem;
	struct maker m = {.shared = c, .ids = profile->group_ids};
	uint8_t *at = (uint8_t *)mem + round_up_words(sizeof(*c));
	size_t evs_size = profile->n_evs * sizeof(struct mt_ev);

	mb_assert(profile->n_evs > 0 && profile->n_evs <= MT_EVS_MAX);
	mb_assert(profile->n_active > 0 && profile->n_active <= profile->n_evs);
	mb_assert(n_ports > 0 && n_ports <= MT_PORTS_MAX);
	memset(mem, 0, mt_ev_shared_size(profile, n_ports));
	copy_settings(c, profile);
	c->n_ports = (uint8_t)n_ports;
	c->evs = profile->evs;
	if (c->copies_evs) {
		c->evs = memcpy(at, profile->evs, evs_size);
		at += evs_size;
	}
	for (uint16_t i = 0; i < c->n_evs; i++) {
		mb_assert(c->evs[i].port < n_ports);
		c->own_ports |= UINT32_C(1) << c->evs[i].port;
	}
	lay_out(&m, at);
	order_by_port(&m);
	choose_active(&m, profile->n_active);
	return c;
}

/* The copies follow the structure, see mt_ev_shared_init. */
void mt_ev_shared_set_value(struct mt_ev_shared *c, uint16_t ev, uint32_t value)
{
	uint8_t *at = (uint8_t *)c + round_up_words(sizeof(*c));

	mb_assert(c->copies_evs && ev < c->n_evs);
	((struct mt_ev *)(void *)at)[ev].value = value;
}
