/* SPDX-License-Identifier: BSD-2-Clause */
/* map_evidence.c - routes, and what they counted lately. */
#include "map/map_state.h"

#include <string.h>

#include "base/assert.h"

#define MS_NS UINT64_C(1000000)
#define S_NS (1000 * MS_NS)
/* Bits of certainty, beside those for the number of parts that could be accused by chance. */
#define SURE_BITS 16u

struct mm_cfg mm_cfg_default(const struct mf_topology *t, uint32_t routes, uint64_t probe_ns)
{
	/* Four probes of each route: with some watchers enough to tell a dead link from chance. */
	uint64_t shortest = 4 * probe_ns > 20 * MS_NS ? 4 * probe_ns : 20 * MS_NS;
	uint32_t bits = SURE_BITS;

	for (uint32_t n = t->n_links; n; n >>= 1)
		bits++;
	return (struct mm_cfg){
		.routes = routes,
		.window_ns = {2 * shortest, 20 * shortest, 1000 * shortest},
		/*
		 * A busy machine spreads some trains, for its timers are late; a slow link spreads
		 * all. So nine of ten must be, and no less.
		 */
		.usual_ppm = {200, 5, 200, 2000, 50000},
		.least_ppm = {600, 15, 600, 6000, 900000},
		.bits = bits,
		/* What begins between two probes of a route is seen whole by the next two. */
		.settle_ns = shortest / 2 > 20 * MS_NS ? shortest / 2 : 20 * MS_NS,
		.flap_ns = 10 * S_NS,
		.forget_ns = 60 * S_NS,
	};
}

static size_t aligned(size_t bytes)
{
	return (bytes + 63) & ~(size_t)63;
}

/* Gives out the memory piece by piece; at == NULL: only counts. */
static void *take(uint8_t **at, size_t *sum, size_t n, size_t size)
{
	void *piece = *at;

	*sum += aligned(n * size);
	if (*at)
		*at += aligned(n * size);
	return piece;
}

static size_t lay_out(struct mm_map *map, uint8_t *at, const struct mm_cfg *cfg,
		      const struct mf_topology *t)
{
	size_t sum = 0;

	take(&at, &sum, 1, sizeof(*map));
	map->head = take(&at, &sum, t->n_links, sizeof(*map->head));
	map->heard_ns = take(&at, &sum, t->n_hosts, sizeof(*map->heard_ns));
	map->asked = take(&at, &sum, t->n_hosts, sizeof(*map->asked));
	map->plain = take(&at, &sum, (size_t)t->cfg.planes * t->n_t0s, sizeof(*map->plain));
	map->route = take(&at, &sum, cfg->routes, sizeof(*map->route));
	map->bad = take(&at, &sum, cfg->routes, sizeof(*map->bad));
	map->plane_seen = take(&at, &sum, t->cfg.planes, sizeof(*map->plane_seen));
	map->node_seen = take(&at, &sum, t->n_nodes, sizeof(*map->node_seen));
	map->cable_seen = take(&at, &sum, t->n_links / 2, sizeof(*map->cable_seen));
	map->witness_seen = take(&at, &sum, t->n_hosts, sizeof(*map->witness_seen));
	map->module_seen = take(&at, &sum, t->n_links, sizeof(*map->module_seen));
	map->suspect = take(&at, &sum, MM_SUSPECTS_MAX, sizeof(*map->suspect));
	return sum;
}

size_t mm_map_bytes(const struct mm_cfg *cfg, const struct mf_topology *t)
{
	struct mm_map nowhere;

	return lay_out(&nowhere, NULL, cfg, t);
}

struct mm_map *mm_map_init(void *memory, const struct mm_cfg *cfg, const struct mf_topology *t)
{
	struct mm_map *map = memory;

	memset(memory, 0, mm_map_bytes(cfg, t));
	lay_out(map, memory, cfg, t);
	map->cfg = *cfg;
	map->t = t;
	for (uint32_t link = 0; link < t->n_links; link++)
		map->head[link] = MM_NO_ROUTE;
	return map;
}

/* ---- routes ---- */

static bool route_fits(const struct mf_topology *t, const struct mm_route_of *of)
{
	if (of->witness >= t->n_hosts || (of->peer >= t->n_hosts && of->peer != MM_NO_HOST) ||
	    of->links == 0 || of->links > MM_ROUTE_LINKS)
		return false;
	for (uint32_t i = 0; i < of->links; i++) {
		if (of->link[i] >= t->n_links)
			return false;
		/* A link twice would be twice in its own list. */
		for (uint32_t j = 0; j < i; j++)
			if (of->link[j] == of->link[i])
				return false;
	}
	return true;
}

static bool same_route(const struct mm_route_of *a, const struct mm_route_of *b)
{
	return a->witness == b->witness && a->peer == b->peer && a->links == b->links &&
	       memcmp(a->link, b->link, a->links * sizeof(a->link[0])) == 0;
}

/* The place of link i's successor in the list of that link. */
static uint32_t *next_of(struct mm_map *map, uint32_t route, uint32_t link)
{
	struct mm_route *r = &map->route[route];

	for (uint32_t i = 0; i < r->of.links; i++)
		if (r->of.link[i] == link)
			return &r->next[i];
	mb_unreachable();
}

static void unlink_route(struct mm_map *map, uint32_t route)
{
	struct mm_route *r = &map->route[route];

	for (uint32_t i = 0; i < r->of.links; i++) {
		uint32_t *at = &map->head[r->of.link[i]];

		while (*at != route)
			at = next_of(map, *at, r->of.link[i]);
		*at = r->next[i];
	}
	r->used = false;
}

/* A slot: one never used, or that of a route that is silent. The search is short, and goes on. */
static uint32_t find_slot(struct mm_map *map, uint64_t now_ns)
{
	if (map->routes < map->cfg.routes)
		return map->routes++;
	for (uint32_t i = 0; i < map->cfg.routes && i < 64; i++) {
		uint32_t slot = map->look;

		map->look = slot + 1 < map->cfg.routes ? slot + 1 : 0;
		if (now_ns - map->route[slot].heard_ns < map->cfg.forget_ns)
			continue;
		unlink_route(map, slot);
		return slot;
	}
	return MM_NO_ROUTE;
}

uint32_t mm_map_route(struct mm_map *map, const struct mm_route_of *of, uint64_t now_ns)
{
	uint32_t slot;
	struct mm_route *r;

	if (!route_fits(map->t, of))
		return MM_NO_ROUTE;
	for (slot = map->head[of->link[0]]; slot != MM_NO_ROUTE;
	     slot = *next_of(map, slot, of->link[0]))
		if (same_route(&map->route[slot].of, of))
			return slot;
	slot = find_slot(map, now_ns);
	if (slot == MM_NO_ROUTE)
		return MM_NO_ROUTE;
	r = &map->route[slot];
	*r = (struct mm_route){.of = *of, .heard_ns = now_ns, .used = true};
	for (uint32_t i = 0; i < of->links; i++) {
		r->next[i] = map->head[of->link[i]];
		map->head[of->link[i]] = slot;
	}
	return slot;
}

bool mm_map_is_route(const struct mm_map *map, uint32_t route, const struct mm_route_of *of)
{
	return route < map->routes && map->route[route].used &&
	       same_route(&map->route[route].of, of);
}

/* ---- counts ---- */

static void add_u16(uint16_t *to, uint32_t n)
{
	*to = (uint16_t)(*to + n < UINT16_MAX ? *to + n : UINT16_MAX);
}

/* Brings the halves of a window up to now. */
static void turn_halves(const struct mm_map *map, struct mm_route *r, uint32_t window,
			uint64_t now_ns)
{
	uint32_t half = (uint32_t)(now_ns / (map->cfg.window_ns[window] / 2));
	uint32_t passed = half - r->half_of[window];

	if (passed == 0)
		return;
	if (passed == 1)
		r->half[window][1] = r->half[window][0];
	else
		memset(&r->half[window][1], 0, sizeof(r->half[window][1]));
	memset(&r->half[window][0], 0, sizeof(r->half[window][0]));
	r->half_of[window] = half;
}

static bool counts_fit(const struct mm_counts *c)
{
	for (uint32_t s = 0; s < MM_SYMPTOMS; s++)
		if (c->bad[s] > c->known[s])
			return false;
	return true;
}

bool mm_map_add(struct mm_map *map, uint32_t route, uint32_t witness,
		const struct mm_counts *counts, uint64_t now_ns)
{
	struct mm_route *r;

	if (route >= map->routes || !map->route[route].used ||
	    map->route[route].of.witness != witness || !counts_fit(counts))
		return false;
	r = &map->route[route];
	for (uint32_t s = 0; s < MM_SYMPTOMS; s++)
		if (counts->bad[s])
			r->bad_ns = now_ns + 1;
	for (uint32_t w = 0; w < MM_WINDOWS; w++) {
		turn_halves(map, r, w, now_ns);
		for (uint32_t s = 0; s < MM_SYMPTOMS; s++) {
			add_u16(&r->half[w][0].known[s], counts->known[s]);
			add_u16(&r->half[w][0].bad[s], counts->bad[s]);
		}
	}
	if (counts->bad[MM_LOST] == counts->known[MM_LOST]) {
		add_u16(&r->streak, counts->bad[MM_LOST]);
	} else {
		r->streak = 0;
		if (r->of.peer != MM_NO_HOST)
			map->heard_ns[r->of.peer] = now_ns + 1;
	}
	r->heard_ns = now_ns;
	map->heard_ns[witness] = now_ns + 1;
	return true;
}

static bool is_silent(const struct mm_map *map, uint32_t host, uint64_t for_ns, uint64_t now_ns)
{
	return !map->heard_ns[host] || now_ns + 1 - map->heard_ns[host] > for_ns;
}

struct mm_sum mm_route_sum(const struct mm_map *map, const struct mm_route *r, uint32_t window,
			   enum mm_symptom symptom, uint64_t now_ns)
{
	uint32_t half = (uint32_t)(now_ns / (map->cfg.window_ns[window] / 2));
	uint32_t passed = half - r->half_of[window];
	struct mm_sum sum = {0, 0};

	/* A host that has to answer and is not heard of says nothing about links. */
	if (r->of.peer != MM_NO_HOST && is_silent(map, r->of.peer, map->cfg.window_ns[0], now_ns))
		return sum;
	for (uint32_t i = 0; i + passed < 2; i++) {
		sum.known += r->half[window][i].known[symptom];
		sum.bad += r->half[window][i].bad[symptom];
	}
	return sum;
}

void mm_route_absolve(struct mm_route *r, enum mm_symptom symptom)
{
	for (uint32_t w = 0; w < MM_WINDOWS; w++)
		for (uint32_t i = 0; i < 2; i++)
			r->half[w][i].bad[symptom] = 0;
	if (symptom == MM_LOST)
		r->streak = 0;
}

uint32_t mm_map_silent(const struct mm_map *map, uint64_t now_ns)
{
	uint32_t n = 0;

	for (uint32_t host = 0; host < map->t->n_hosts; host++)
		n += is_silent(map, host, map->cfg.window_ns[1], now_ns);
	return n;
}

/* ---- what is not about one route ---- */

bool mm_map_stray(struct mm_map *map, uint32_t witness, uint32_t plane, uint32_t of_host,
		  uint64_t now_ns)
{
	struct mm_stray *oldest = &map->stray[0];

	if (witness >= map->t->n_hosts || of_host >= map->t->n_hosts || witness == of_host ||
	    plane >= map->t->cfg.planes)
		return false;
	for (uint32_t i = 0; i < MM_STRAYS_MAX; i++) {
		struct mm_stray *s = &map->stray[i];

		if (s->witness == witness && s->of_host == of_host && s->plane == plane) {
			s->at_ns = now_ns + 1;
			return true;
		}
		if (s->at_ns < oldest->at_ns)
			oldest = s;
	}
	*oldest = (struct mm_stray){witness, of_host, plane, now_ns + 1};
	return true;
}

bool mm_map_loop(struct mm_map *map, uint32_t witness, uint32_t plane, uint32_t to, uint64_t now_ns)
{
	struct mm_loop *oldest = &map->loop[0], new = {.plane = plane, .at_ns = now_ns + 1};

	if (witness >= map->t->n_hosts || to >= map->t->n_hosts || plane >= map->t->cfg.planes)
		return false;
	new.t0[0] = mf_host_t0(map->t, witness);
	new.t0[1] = mf_host_t0(map->t, to);
	if (new.t0[0] == new.t0[1])
		return false;
	for (uint32_t i = 0; i < MM_LOOPS_MAX; i++) {
		struct mm_loop *l = &map->loop[i];

		if (l->plane == plane && l->t0[0] == new.t0[0] && l->t0[1] == new.t0[1]) {
			l->at_ns = now_ns + 1;
			return true;
		}
		if (l->at_ns < oldest->at_ns)
			oldest = l;
	}
	*oldest = new;
	return true;
}

bool mm_map_asked(struct mm_map *map, uint32_t witness, uint32_t by, uint64_t now_ns)
{
	if (witness >= map->t->n_hosts || by >= map->t->n_hosts || witness == by)
		return false;
	map->hears_questions = true;
	map->asked[witness].in_ns = now_ns + 1;
	map->asked[by].out_ns = now_ns + 1;
	return true;
}

bool mm_map_plain(struct mm_map *map, uint32_t witness, uint32_t plane, uint32_t sent,
		  uint32_t lost, uint64_t now_ns)
{
	uint64_t half = now_ns / (map->cfg.window_ns[1] / 2);
	struct mm_plain *p;

	if (witness >= map->t->n_hosts || plane >= map->t->cfg.planes || lost > sent)
		return false;
	p = &map->plain[plane * map->t->n_t0s + mf_host_t0(map->t, witness)];
	if (p->half_of != half) {
		p->sent[1] = p->half_of + 1 == half ? p->sent[0] : 0;
		p->lost[1] = p->half_of + 1 == half ? p->lost[0] : 0;
		p->sent[0] = p->lost[0] = 0;
		p->half_of = half;
	}
	if (sent > UINT32_MAX / 4 - p->sent[0])
		return false;
	p->sent[0] += sent;
	p->lost[0] += lost;
	return true;
}
