/* SPDX-License-Identifier: BSD-2-Clause */
/* map_part.c - which routes cross a part, and which parts a bad route could accuse. */
#include "map/map_state.h"

#include "base/assert.h"

bool mm_part_same(const struct mm_part *a, const struct mm_part *b)
{
	return a->kind == b->kind && a->id == b->id && a->index == b->index;
}

/*
 * A cable in one direction is a special case of the cable, a switch fails more seldom than one of
 * its cables, and a whole plane hardly ever. Bits, so that a few packets decide against it.
 */
uint32_t mm_part_bits(const struct mm_part *part)
{
	const uint32_t bits[] = {[MM_CABLE] = 0, [MM_SWITCH] = 4, [MM_TRANSCEIVER] = 6,
				 [MM_HOST] = 6,	 [MM_PLANE] = 10, [MM_WITNESS] = 8};

	return bits[part->kind] + (part->direction == MF_DIRECTION_BOTH ? 0 : 2);
}

static bool is_of_group(const struct mm_part *part, struct mf_end end)
{
	return end.node == part->id && end.port / MF_TRANSCEIVER_PORTS == part->index;
}

bool mm_part_has(const struct mf_topology *t, const struct mm_part *part, uint32_t link)
{
	const struct mf_end from = mf_link_from(t, link), to = mf_link_to(t, link);

	switch (part->kind) {
	case MM_CABLE:
		/* From its lower end out: the even link of a cable. */
		return part->id == link >> 1 &&
		       part->direction != (link & 1 ? MF_DIRECTION_OUT : MF_DIRECTION_IN);
	case MM_TRANSCEIVER:
		return (is_of_group(part, from) && part->direction != MF_DIRECTION_IN) ||
		       (is_of_group(part, to) && part->direction != MF_DIRECTION_OUT);
	case MM_SWITCH:
	case MM_HOST:
	case MM_WITNESS:
		return part->id == from.node || part->id == to.node;
	case MM_PLANE:
		return part->id == mf_link_plane(t, link);
	}
	return false;
}

/* ---- links of a part ---- */

static uint32_t ports_of(const struct mf_topology *t, uint32_t node)
{
	return mf_node_ports(t, mf_node_at(t, node).tier);
}

static uint32_t count_ports(const struct mf_topology *t, const struct mm_part *part)
{
	uint32_t first = part->index * MF_TRANSCEIVER_PORTS, all;

	if (part->kind == MM_CABLE)
		return 1;
	all = ports_of(t, part->id);
	if (part->kind != MM_TRANSCEIVER)
		return all;
	return all - first < MF_TRANSCEIVER_PORTS ? all - first : MF_TRANSCEIVER_PORTS;
}

uint32_t mm_part_link(const struct mf_topology *t, const struct mm_part *part, uint32_t i)
{
	bool both = part->direction == MF_DIRECTION_BOTH;
	uint32_t port = both ? i / 2 : i, out;

	if (port >= count_ports(t, part))
		return MF_LINK_NONE;
	if (part->kind == MM_CABLE)
		out = part->id << 1;
	else if (part->kind == MM_TRANSCEIVER)
		out = mf_link_out(t, part->id, part->index * MF_TRANSCEIVER_PORTS + port);
	else
		out = mf_link_out(t, part->id, port);
	return part->direction == MF_DIRECTION_IN || (both && i & 1) ? mf_link_reverse(out) : out;
}

/* ---- routes of a part ---- */

void mm_walk_begin(struct mm_walk *w, struct mm_map *map, const struct mm_part *part)
{
	map->stamp++;
	*w = (struct mm_walk){.map = map, .part = *part, .route = MM_NO_ROUTE};
	if (part->kind == MM_PLANE)
		w->route = 0;
}

static bool in_plane(const struct mf_topology *t, const struct mm_route *r, uint32_t plane)
{
	for (uint32_t i = 0; i < r->of.links; i++)
		if (mf_link_plane(t, r->of.link[i]) == plane)
			return true;
	return false;
}

static struct mm_route *next_in_plane(struct mm_walk *w)
{
	while (w->route < w->map->routes) {
		struct mm_route *r = &w->map->route[w->route++];

		if (r->used && in_plane(w->map->t, r, w->part.id))
			return r;
	}
	return NULL;
}

static uint32_t next_over(const struct mm_route *r, uint32_t link)
{
	for (uint32_t i = 0; i < r->of.links; i++)
		if (r->of.link[i] == link)
			return r->next[i];
	mb_unreachable();
}

static struct mm_route *next_over_links(struct mm_walk *w)
{
	struct mm_map *map = w->map;

	for (;;) {
		struct mm_route *r;

		while (w->route == MM_NO_ROUTE) {
			w->link = mm_part_link(map->t, &w->part, w->at);
			if (w->link == MF_LINK_NONE)
				return NULL;
			w->at++;
			w->route = map->head[w->link];
		}
		r = &map->route[w->route];
		w->route = next_over(r, w->link);
		if (r->stamp == map->stamp)
			continue;
		r->stamp = map->stamp;
		return r;
	}
}

struct mm_route *mm_walk_next(struct mm_walk *w)
{
	struct mm_route *r;

	if (w->part.kind == MM_PLANE)
		return next_in_plane(w);
	do
		r = next_over_links(w);
	while (r && w->part.kind == MM_WITNESS && r->of.witness != w->part.id);
	return r;
}

/* ---- suspects ---- */

static void suspect(struct mm_map *map, struct mm_part part, bool directions)
{
	if (map->n_suspects + 3 > MM_SUSPECTS_MAX)
		return;
	for (enum mf_direction d = MF_DIRECTION_BOTH; d <= MF_DIRECTION_IN; d++) {
		part.direction = d;
		map->suspect[map->n_suspects++] = part;
		if (!directions)
			return;
	}
}

static bool first_time(const struct mm_map *map, uint32_t *seen)
{
	bool first = *seen != map->round;

	*seen = map->round;
	return first;
}

/* The node at one end of a link, and the transceiver in it there. */
static void suspect_end(struct mm_map *map, struct mf_end end)
{
	const struct mf_topology *t = map->t;
	uint32_t group = end.port / MF_TRANSCEIVER_PORTS;
	uint32_t first = mf_link_out(t, end.node, group * MF_TRANSCEIVER_PORTS);
	bool host = end.node < t->n_hosts;

	if (first_time(map, &map->node_seen[end.node]))
		suspect(map, (struct mm_part){.kind = host ? MM_HOST : MM_SWITCH, .id = end.node},
			false);
	/* A switch that has no more ports than these is not told apart from them. */
	if (!host && ports_of(t, end.node) > MF_TRANSCEIVER_PORTS &&
	    first_time(map, &map->module_seen[first]))
		suspect(map,
			(struct mm_part){.kind = MM_TRANSCEIVER, .id = end.node, .index = group},
			true);
}

static void suspect_link(struct mm_map *map, uint32_t link)
{
	if (!first_time(map, &map->cable_seen[link >> 1]))
		return;
	suspect(map, (struct mm_part){.kind = MM_CABLE, .id = link >> 1}, true);
	suspect_end(map, mf_link_from(map->t, link));
	suspect_end(map, mf_link_to(map->t, link));
	if (first_time(map, &map->plane_seen[mf_link_plane(map->t, link)]))
		suspect(map, (struct mm_part){.kind = MM_PLANE, .id = mf_link_plane(map->t, link)},
			false);
}

void mm_suspects_of(struct mm_map *map)
{
	map->round++;
	map->n_suspects = 0;
	for (uint32_t i = 0; i < map->n_bad; i++) {
		const struct mm_route *r = &map->route[map->bad[i]];

		if (first_time(map, &map->witness_seen[r->of.witness]))
			suspect(map, (struct mm_part){.kind = MM_WITNESS, .id = r->of.witness},
				false);
		for (uint32_t j = 0; j < r->of.links; j++)
			suspect_link(map, r->of.link[j]);
	}
}
