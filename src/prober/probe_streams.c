/* SPDX-License-Identifier: BSD-2-Clause */
/* probe_streams.c - see probe_streams.h. */
#include "prober/probe_streams.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "prober/probe_trains.h"

_Static_assert(PROBE_BYTES_MIN + PROBE_HEADER_BYTES == MM_PROBE_WIRE_BYTES, "plans count with it");

void probe_carrier(const struct mf_topology *t, const struct mm_route_of *of, uint32_t first,
		   uint8_t out[MF_ADDRESS_BYTES])
{
	uint16_t usids[MM_ROUTE_USIDS];
	uint32_t plane, n = mm_route_usids(t, of, first, usids, &plane);

	memset(out, 0, MF_ADDRESS_BYTES);
	mb_store_be32(out, mf_usid_block(t, plane));
	for (uint32_t i = 0; i < n && i < MF_USIDS_MAX; i++)
		mb_store_be16(out + 4 + 2 * (size_t)i, usids[i]);
}

struct mm_route_of probe_train_of(const struct probe_stream *s)
{
	return s->of.peer == MM_NO_HOST ? s->of : mm_route_there(&s->of);
}

uint32_t probe_far_host(const struct mf_topology *t, uint32_t host, uint32_t turn)
{
	uint32_t own = t->cfg.hosts_per_t0, far = t->n_hosts - own, first = host / own * own;

	/* One T0 on for each turn, and within it another host whenever all were asked. */
	uint32_t n = turn % (t->n_t0s - 1) * own + (host + turn / (t->n_t0s - 1)) % own;

	return (first + own + n % far) % t->n_hosts;
}

/* The most that a plan has for a host: it is alone on its T0 and in its pod, or has neighbours. */
static uint32_t most_routes(const struct mf_topology *t)
{
	uint64_t n = (uint64_t)t->cfg.planes *
		     (1 + 3 * (uint64_t)t->cfg.t1s + (uint64_t)t->cfg.t1s * t->cfg.t1_uplinks +
		      t->cfg.hosts_per_t0);

	return n < PROBE_ROUTES_MAX ? (uint32_t)n : PROBE_ROUTES_MAX;
}

static uint32_t others(const struct mf_topology *t)
{
	return t->cfg.hosts_per_t0 - 1;
}

int probe_streams_init(struct probe_streams *s, const struct probe_host_cfg *cfg)
{
	uint32_t full = cfg->t->cfg.mtu - PROBE_HEADER_BYTES;

	*s = (struct probe_streams){.room = most_routes(cfg->t) + cfg->t->cfg.planes +
					    others(cfg->t)};
	s->pair_bytes = PROBE_PAIR * (PROBE_BYTES_MIN + PROBE_HEADER_BYTES) +
			(full - PROBE_BYTES_MIN) / PROBE_FULL_EVERY;
	s->stream = calloc(s->room, sizeof(*s->stream));
	return s->stream ? 0 : ENOMEM;
}

void probe_streams_fini(struct probe_streams *s)
{
	free(s->stream);
	s->stream = NULL;
}

/* ---- a plan ---- */

static bool same(const struct probe_stream *a, const struct probe_stream *b)
{
	if (a->kind != b->kind || a->plane != b->plane)
		return false;
	if (a->kind == PROBE_HELLO)
		return a->asked == b->asked;
	return a->kind == PROBE_PLAIN ||
	       (a->of.peer == b->of.peer && a->of.links == b->of.links &&
		memcmp(a->of.link, b->of.link, a->of.links * sizeof(a->of.link[0])) == 0);
}

/* What a plan wants: in the first round what is there already, in the second what is new. */
struct planning {
	struct probe_streams *s;
	const struct probe_host_cfg *cfg;
	const struct mm_route_of *of;
	bool adds;
};

static void want(const struct planning *p, const struct probe_stream *wanted)
{
	struct probe_stream *free_one = NULL;

	for (uint32_t i = 0; i < p->s->room; i++) {
		struct probe_stream *at = &p->s->stream[i];

		if (at->kind == PROBE_NOTHING && !free_one)
			free_one = at;
		if (at->kind == PROBE_NOTHING || !same(at, wanted))
			continue;
		at->planned = true;
		return;
	}
	if (!free_one || !p->adds)
		return;
	*free_one = *wanted;
	free_one->planned = true;
	free_one->memo = free_one->memo_there = MM_NO_ROUTE;
	free_one->book.slow_ns = probe_trains_slow_ns(p->cfg);
}

static void want_route(const struct planning *p, const struct mm_route_of *of)
{
	const struct mf_topology *t = p->cfg->t;
	struct probe_stream one = {.kind = PROBE_ROUTE, .of = *of, .asked = of->peer};

	one.plane = mf_link_plane(t, of->link[0]);
	one.back = mf_link_plane(t, of->link[of->links - 1]);
	probe_carrier(t, of, 0, one.to);
	want(p, &one);
}

/* Each neighbour is asked over planes in turn, so that a dead plane is not taken for dead hosts. */
static void want_all(const struct planning *p)
{
	const struct mf_topology *t = p->cfg->t;
	uint32_t first = mf_host_t0(t, p->cfg->host) * t->cfg.hosts_per_t0;

	for (uint32_t i = 0; i < p->s->routes; i++)
		want_route(p, &p->of[i]);
	for (uint32_t plane = 0; t->n_t0s > 1 && plane < t->cfg.planes; plane++)
		want(p, &(struct probe_stream){.kind = PROBE_PLAIN,
					       .asked = MM_NO_HOST,
					       .plane = plane,
					       .back = plane});
	for (uint32_t h = first; p->cfg->asks_who_lives && h < first + t->cfg.hosts_per_t0; h++)
		if (h != p->cfg->host)
			want(p, &(struct probe_stream){.kind = PROBE_HELLO, .asked = h});
}

/* Sets how often neighbours are asked, and returns the bits a second that it takes. */
static uint64_t set_hello_pace(struct probe_streams *s, const struct probe_host_cfg *cfg)
{
	const uint64_t steps_s = PROBE_NS_PER_S / PROBE_STEP_NS;
	uint64_t bits = UINT64_C(8) * PROBE_PAIR * (PROBE_BYTES_MIN + PROBE_HEADER_BYTES), least;

	s->hello_steps = PROBE_HELLO_STEPS;
	if (!cfg->asks_who_lives)
		return 0;
	bits *= cfg->t->cfg.hosts_per_t0 - 1;
	least = bits * steps_s * PROBE_HELLO_PART / cfg->rate_bit_s + 1;
	if (s->hello_steps < least)
		s->hello_steps = (uint32_t)least;
	return bits * steps_s / s->hello_steps;
}

static void set_pace(struct probe_streams *s, const struct probe_host_cfg *cfg)
{
	uint64_t hello_bit_s = set_hello_pace(s, cfg);
	struct mm_plan_cfg plan = {.watchers = cfg->share,
				   .interval_ns = PROBE_STEP_NS,
				   .bytes = s->pair_bytes,
				   .bit_s_max = cfg->rate_bit_s - hello_bit_s};
	size_t streams = s->routes + cfg->t->cfg.planes;

	s->round_steps =
		(uint32_t)((mm_plan_load_of(&plan, streams).interval_ns + PROBE_STEP_NS - 1) /
			   PROBE_STEP_NS);
	if (s->round_steps < cfg->steps_least)
		s->round_steps = cfg->steps_least;
	plan.interval_ns = s->round_steps * PROBE_STEP_NS;
	s->bit_s = mm_plan_load_of(&plan, streams).bit_s + hello_bit_s;
}

int probe_streams_plan(struct probe_streams *s, const struct probe_host_cfg *cfg, const bool *live)
{
	const struct mm_plan_cfg plan = {.watchers = cfg->share};
	struct mm_route_of *of = calloc(PROBE_ROUTES_MAX, sizeof(*of));
	struct planning p = {.s = s, .cfg = cfg, .of = of};
	size_t n;

	if (!of)
		return ENOMEM;
	n = mm_plan_routes(cfg->t, &plan, cfg->host, live, of, PROBE_ROUTES_MAX);
	s->routes = (uint32_t)(n < PROBE_ROUTES_MAX ? n : PROBE_ROUTES_MAX);
	s->left_out = (uint32_t)n - s->routes;
	for (uint32_t i = 0; i < s->room; i++)
		s->stream[i].planned = false;
	want_all(&p);
	for (uint32_t i = 0; i < s->room; i++)
		if (!s->stream[i].planned)
			s->stream[i].kind = PROBE_NOTHING;
	p.adds = true;
	want_all(&p);
	set_pace(s, cfg);
	free(of);
	return 0;
}
