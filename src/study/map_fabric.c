/* SPDX-License-Identifier: BSD-2-Clause */
/* map_fabric.c - all routes that hosts probe: see map_hour.h. */
#include "study/map_hour.h"

#include "base/assert.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* More than can be counted by link. */
#define ROUTES_MAX (UINT32_MAX / MM_ROUTE_LINKS)

/* Room for all: a host shares in watchers / hosts of its T0's uplinks, three routes for each. */
static uint64_t room_for(const struct mf_topology *t, uint32_t watchers)
{
	uint64_t hosts = t->cfg.hosts_per_t0, share = watchers < hosts ? watchers : hosts;
	uint64_t of_t0 = hosts + 3 * (uint64_t)t->cfg.t1s * share + hosts * share;

	return of_t0 * t->cfg.planes * t->n_t0s;
}

static void plan_t0(struct study_map_fabric *f, const struct mm_plan_cfg *plan, uint32_t t0,
		    const bool *live, uint8_t *shares, uint64_t room)
{
	uint32_t hosts = f->t->cfg.hosts_per_t0;

	mm_plan_shares(f->t, plan, t0, shares);
	for (uint32_t host = t0 * hosts; host < (t0 + 1) * hosts; host++) {
		size_t n = mm_plan_routes_by(f->t, plan, host, live, shares, f->route + f->routes,
					     room - f->routes);

		mb_assert(n <= room - f->routes);
		f->routes += (uint32_t)n;
		f->most = n > f->most ? (uint32_t)n : f->most;
	}
}

static void count_links(struct study_map_fabric *f)
{
	memset(f->first, 0, ((size_t)f->t->n_links + 1) * sizeof(*f->first));
	for (uint32_t i = 0; i < f->routes; i++)
		for (uint32_t k = 0; k < f->route[i].links; k++)
			f->first[f->route[i].link[k] + 1]++;
	for (uint32_t link = 0; link < f->t->n_links; link++)
		f->first[link + 1] += f->first[link];
}

/* Behind this first[link] is where the next link begins; one shift puts them right. */
static void list_routes(struct study_map_fabric *f)
{
	for (uint32_t i = 0; i < f->routes; i++)
		for (uint32_t k = 0; k < f->route[i].links; k++)
			f->over[f->first[f->route[i].link[k]]++] = i;
	memmove(f->first + 1, f->first, f->t->n_links * sizeof(*f->first));
	f->first[0] = 0;
}

int study_map_fabric_init(struct study_map_fabric *f, const struct mf_topology *t,
			  uint32_t watchers)
{
	const struct mm_plan_cfg plan = {.watchers = watchers};
	uint64_t room = room_for(t, watchers);
	bool *live = malloc(t->n_hosts);
	uint8_t *shares = malloc(mm_plan_shares_bytes(t));

	*f = (struct study_map_fabric){.t = t};
	f->route = room < ROUTES_MAX ? malloc(room * sizeof(*f->route)) : NULL;
	f->first = malloc(((size_t)t->n_links + 1) * sizeof(*f->first));
	if (live && shares && f->route && f->first) {
		memset(live, true, t->n_hosts);
		for (uint32_t t0 = 0; t0 < t->n_t0s; t0++)
			plan_t0(f, &plan, t0, live, shares, room);
		count_links(f);
		f->over = malloc((size_t)f->first[t->n_links] * sizeof(*f->over));
	}
	free(live);
	free(shares);
	if (!f->over) {
		study_map_fabric_fini(f);
		return ENOMEM;
	}
	list_routes(f);
	return 0;
}

void study_map_fabric_fini(struct study_map_fabric *f)
{
	free(f->route);
	free(f->first);
	free(f->over);
	*f = (struct study_map_fabric){0};
}
