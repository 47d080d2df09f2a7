/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * map_cable.c - dead cables that are not dead: they lead to the wrong place.
 *
 * A packet by uSIDs that comes to the wrong switch or host is dropped there, so an exchanged cable
 * looks dead. Three things tell. Between hosts and T0s the packet is seen by a host where it was
 * not to go. Uplinks of one T0 that are exchanged at its end lead to another T1, which forwards
 * plain packets all the same: those get through. Cables of one T1 that are exchanged at its end
 * lead back to the T0 that the packet came from: a plain packet goes round between the two until
 * its hop limit is over, and the T0 says so to the host that sent it.
 */
#include "map/map_state.h"

/* Plain packets that must be known before they say anything, and which share may be missing. */
#define PLAIN_LEAST 16u
#define PLAIN_SHARE 4u

static bool dead_cable_of_host(const struct mf_topology *t, const struct mm_sick *s, uint32_t host,
			       uint32_t plane)
{
	return s->kind == MM_DEAD && s->part.kind == MM_CABLE &&
	       s->part.id == mf_link_host_t0(t, plane, host, false) >> 1;
}

/* Marks two host cables of a plane whose hosts see each other's probes. */
static void mark_hosts(const struct mm_map *map, struct mm_sick *sick, size_t n,
		       const struct mm_stray *stray)
{
	struct mm_sick *a = NULL, *b = NULL;

	for (size_t i = 0; i < n; i++) {
		if (dead_cable_of_host(map->t, &sick[i], stray->witness, stray->plane))
			a = &sick[i];
		if (dead_cable_of_host(map->t, &sick[i], stray->of_host, stray->plane))
			b = &sick[i];
	}
	if (!a || !b)
		return;
	a->kind = b->kind = MM_WRONG_CABLE;
	a->other = b->part;
	b->other = a->part;
}

/* ---- cables between T0s and T1s ---- */

static bool covers(const struct mf_topology *t, const struct mm_part *part, uint32_t link)
{
	struct mf_end from = mf_link_from(t, link), to = mf_link_to(t, link);

	switch (part->kind) {
	case MM_CABLE:
		return part->id == link >> 1;
	case MM_SWITCH:
		return part->id == to.node; /* the T1; a T0 that is dead is no exchange */
	case MM_TRANSCEIVER:
		return (part->id == from.node && part->index == from.port / MF_TRANSCEIVER_PORTS) ||
		       (part->id == to.node && part->index == to.port / MF_TRANSCEIVER_PORTS);
	case MM_HOST:
	case MM_PLANE:
	case MM_WITNESS:
		break;
	}
	return false;
}

static bool plain_gets_through(const struct mm_map *map, uint32_t plane, uint32_t t0, uint32_t dead,
			       uint64_t now_ns)
{
	const struct mm_plain *p = &map->plain[plane * map->t->n_t0s + t0];
	uint64_t half = now_ns / (map->cfg.window_ns[1] / 2);
	uint32_t sent, lost;

	if (half > p->half_of + 1)
		return false;
	sent = p->sent[0] + p->sent[1];
	lost = p->lost[0] + p->lost[1];
	/* Of dead cables as many packets would be missing as they are of all uplinks. */
	return sent * dead >= PLAIN_LEAST * map->t->cfg.t1s &&
	       (uint64_t)lost * map->t->cfg.t1s * PLAIN_SHARE <= (uint64_t)sent * dead;
}

static bool dead_between(const struct mf_topology *t, const struct mm_sick *s, uint32_t link)
{
	return s->kind == MM_DEAD && covers(t, &s->part, link);
}

/* What is dead and accounts for a link, or NULL. */
static struct mm_sick *dead_over(const struct mf_topology *t, struct mm_sick *sick, size_t n,
				 uint32_t link)
{
	for (size_t i = 0; i < n; i++)
		if (dead_between(t, &sick[i], link))
			return &sick[i];
	return NULL;
}

/* Whether anything came back over a cable lately; if not it may only not have been named yet. */
static bool is_alive(struct mm_map *map, uint32_t link, uint64_t now_ns)
{
	const struct mm_part cable = {.kind = MM_CABLE, .id = link >> 1};
	const struct mm_route *r;
	struct mm_walk walk;

	mm_walk_begin(&walk, map, &cable);
	while ((r = mm_walk_next(&walk)))
		if (r->streak == 0 && now_ns - r->heard_ns <= map->cfg.window_ns[0])
			return true;
	return false;
}

static void mark_uplinks(struct mm_map *map, struct mm_sick *sick, size_t n, uint32_t plane,
			 uint32_t t0, uint64_t now_ns)
{
	const struct mf_topology *t = map->t;
	struct mm_sick *by[MF_UPLINKS_MAX];
	uint32_t dead = 0, doubtful = 0;

	for (uint32_t up = 0; up < t->cfg.t1s; up++) {
		uint32_t link = mf_link_t0_t1(t, plane, t0, up, false);
		struct mm_sick *s = dead_over(t, sick, n, link);

		if (s)
			by[dead++] = s;
		else
			doubtful += !is_alive(map, link, now_ns);
	}
	/* One cable cannot be exchanged with itself. */
	if (dead < 2 || !plain_gets_through(map, plane, t0, dead, now_ns))
		return;
	for (uint32_t i = 0; i < dead; i++) {
		by[i]->kind = MM_WRONG_CABLE;
		/* Which of three or more leads where another should is not known. */
		by[i]->other = dead + doubtful == 2 ? by[1 - i]->part : by[i]->part;
	}
}

/* T0s of a plane, first to last - 1, whose uplinks a part may account for. */
struct t0s {
	uint32_t plane, first, last;
};

/* A fabric has hundreds of T0s, and a part mostly one. False: what is dead are no uplinks. */
static bool find_t0s(const struct mf_topology *t, const struct mm_sick *s, struct t0s *out)
{
	struct mf_node node;

	if (s->kind != MM_DEAD)
		return false;
	if (s->part.kind == MM_CABLE) {
		struct mf_link l = mf_link_at(t, s->part.id << 1);

		*out = (struct t0s){l.plane, l.lower, l.lower + 1};
		return l.kind == MF_T0_T1;
	}
	if (s->part.kind != MM_SWITCH && s->part.kind != MM_TRANSCEIVER)
		return false;
	node = mf_node_at(t, s->part.id);
	if (node.tier == MF_T0)
		*out = (struct t0s){node.plane, node.index, node.index + 1};
	else
		*out = (struct t0s){node.plane, mf_t1_pod(t, node.index) * t->cfg.t0s,
				    (mf_t1_pod(t, node.index) + 1) * t->cfg.t0s};
	return node.tier == MF_T0 || node.tier == MF_T1;
}

/* ---- cables of one T1 ---- */

/* The cables of two T0s to one T1 that seem dead. */
struct crossing {
	struct mm_sick *by[2];
	uint32_t cable[2];
};

/* Whether exactly one T1 of a plane is behind what is dead for both T0s of a loop. */
static bool find_crossing(const struct mm_map *map, struct mm_sick *sick, size_t n,
			  const struct mm_loop *loop, struct crossing *c)
{
	const struct mf_topology *t = map->t;
	uint32_t found = 0;

	for (uint32_t up = 0; up < t->cfg.t1s; up++) {
		struct crossing one;

		for (uint32_t end = 0; end < 2; end++) {
			uint32_t link = mf_link_t0_t1(t, loop->plane, loop->t0[end], up, false);

			one.cable[end] = link >> 1;
			one.by[end] = dead_over(t, sick, n, link);
		}
		if (!one.by[0] || !one.by[1])
			continue;
		*c = one;
		found++;
	}
	return found == 1;
}

static void mark_crossed(struct mm_sick *s, uint32_t cable, uint32_t other)
{
	s->kind = MM_WRONG_CABLE;
	s->part = (struct mm_part){.kind = MM_CABLE, .id = cable};
	s->other = (struct mm_part){.kind = MM_CABLE, .id = other};
	s->direction_known = true;
}

/* Marks both cables; of a T1 that has no others, and so seemed dead itself, two are made. */
static size_t mark_loop(const struct mm_map *map, struct mm_sick *sick, size_t n, size_t max,
			const struct mm_loop *loop)
{
	struct crossing c;

	if (!find_crossing(map, sick, n, loop, &c))
		return n;
	if (c.by[0] == c.by[1]) {
		if (map->t->cfg.t0s != 2 || c.by[0]->part.kind != MM_SWITCH || n == max)
			return n;
		c.by[1] = &sick[n++];
		*c.by[1] = *c.by[0];
	} else if (c.by[0]->part.kind != MM_CABLE || c.by[1]->part.kind != MM_CABLE) {
		return n;
	}
	mark_crossed(c.by[0], c.cable[0], c.cable[1]);
	mark_crossed(c.by[1], c.cable[1], c.cable[0]);
	return n;
}

static bool is_recent(const struct mm_map *map, uint64_t at_ns, uint64_t now_ns)
{
	return at_ns && now_ns + 1 - at_ns <= map->cfg.window_ns[1];
}

size_t mm_cables_exchanged(struct mm_map *map, struct mm_sick *sick, size_t n, size_t max,
			   uint64_t now_ns)
{
	for (uint32_t i = 0; i < MM_STRAYS_MAX; i++)
		if (is_recent(map, map->stray[i].at_ns, now_ns))
			mark_hosts(map, sick, n, &map->stray[i]);
	for (size_t i = 0; i < n; i++) {
		struct t0s of;

		if (!find_t0s(map->t, &sick[i], &of))
			continue;
		for (uint32_t t0 = of.first; t0 < of.last; t0++)
			mark_uplinks(map, sick, n, of.plane, t0, now_ns);
	}
	for (uint32_t i = 0; i < MM_LOOPS_MAX; i++)
		if (is_recent(map, map->loop[i].at_ns, now_ns))
			n = mark_loop(map, sick, n, max, &map->loop[i]);
	return n;
}
