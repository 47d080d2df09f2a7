/* SPDX-License-Identifier: BSD-2-Clause */
/* probe_trains.c - see probe_trains.h. */
#include "prober/probe_trains.h"

/* A train that is over in less is as fast as a machine sends its packets: a pace of 500M. */
#define LEAST_NS UINT64_C(280000)
/*
 * So many times as long as it takes at the pace is a train under way at most: half of that on each
 * link, for links carry twice the pace, with a packet more for each link and what else is there.
 */
#define UNDER_WAY_TIMES 2u

/* By how many routes the first trains of a host are ahead of those of the one before. */
#define BEGIN_APART 5u

static uint64_t at_pace_ns(const struct probe_host_cfg *cfg)
{
	return UINT64_C(8) * PROBE_NS_PER_S * PROBE_TRAIN * cfg->t->cfg.mtu / cfg->link_bit_s;
}

uint64_t probe_trains_slow_ns(const struct probe_host_cfg *cfg)
{
	uint64_t ns = cfg->link_bit_s ? at_pace_ns(cfg) : 0;

	return ns < LEAST_NS ? 0 : ns;
}

bool probe_trains_has(const struct probe_stream *s)
{
	return s->kind == PROBE_ROUTE && s->book.slow_ns;
}

/*
 * Of a host that begins nothing is known, so its first trains come one by one, before their turns
 * in the plan, and other hosts begin elsewhere.
 */
static bool may_begin(const struct probe_stream *s, const struct probe_host_cfg *cfg,
		      uint32_t number, uint32_t routes)
{
	return !s->had_train && s->turns >= (number + BEGIN_APART * cfg->host) % routes;
}

/* Turns of all routes of a host are spread over the time. */
bool probe_trains_has_turn(struct probe_stream *s, const struct probe_host_cfg *cfg,
			   const struct probe_streams *streams)
{
	uint32_t number = (uint32_t)(s - streams->stream), routes = streams->routes;

	if (!probe_trains_has(s))
		return false;
	s->wants_train |= s->turns % PROBE_TRAIN_EVERY ==
			  number * PROBE_TRAIN_EVERY / routes % PROBE_TRAIN_EVERY;
	return s->wants_train || may_begin(s, cfg, number, routes);
}

/* Links that share a place wait for each other, and that is all. */
static uint32_t place_of(uint32_t link)
{
	return link % PROBE_TRAIN_LINKS;
}

bool probe_trains_has_way(const struct probe_common *c, const struct mm_route_of *of, uint64_t step)
{
	for (uint32_t i = 0; i < of->links; i++)
		if (c->train_until[place_of(of->link[i])] > step)
			return false;
	return true;
}

void probe_trains_take_way(struct probe_common *c, const struct probe_host_cfg *cfg,
			   const struct mm_route_of *of, uint64_t step)
{
	uint64_t ns = UNDER_WAY_TIMES * at_pace_ns(cfg);
	uint64_t until = step + (ns + PROBE_STEP_NS - 1) / PROBE_STEP_NS;

	/* A neighbour sends it back in its next step. */
	until += of->peer != MM_NO_HOST;
	for (uint32_t i = 0; i < of->links; i++)
		c->train_until[place_of(of->link[i])] = until;
}
