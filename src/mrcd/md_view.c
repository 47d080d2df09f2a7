/* SPDX-License-Identifier: BSD-2-Clause */
/* md_view.c - see md_view.h. */
#include "mrcd/md_view.h"

#include <stdlib.h>
#include <string.h>

struct md_view {
	struct mm_map *map;
	uint32_t host;
	uint32_t number[PROBE_EVIDENCE_ROUTES]; /* in the map, of the route at each place */
	struct mm_sick sick[MD_VIEW_SICK];
	size_t n_sick;
	bool full; /* there may be more than that */
};

struct md_view *md_view_create(const struct mf_topology *t, uint32_t host, uint64_t probe_ns)
{
	const struct mm_cfg cfg = mm_cfg_default(t, PROBE_EVIDENCE_ROUTES, probe_ns);
	struct md_view *v = calloc(1, sizeof(*v));
	void *memory = v ? malloc(mm_map_bytes(&cfg, t)) : NULL;

	if (!memory) {
		free(v);
		return NULL;
	}
	v->map = mm_map_init(memory, &cfg, t);
	v->host = host;
	for (uint32_t i = 0; i < PROBE_EVIDENCE_ROUTES; i++)
		v->number[i] = MM_NO_ROUTE;
	return v;
}

void md_view_destroy(struct md_view *v)
{
	if (v)
		free(v->map);
	free(v);
}

/* A place that another route has now is looked up again. */
void md_view_route(struct md_view *v, uint32_t slot, const struct mm_route_of *of,
		   const struct mm_counts *counts, uint64_t now_ns)
{
	if (!v || slot >= PROBE_EVIDENCE_ROUTES)
		return;
	if (!mm_map_is_route(v->map, v->number[slot], of))
		v->number[slot] = mm_map_route(v->map, of, now_ns);
	if (v->number[slot] != MM_NO_ROUTE)
		mm_map_add(v->map, v->number[slot], v->host, counts, now_ns);
}

void md_view_plain(struct md_view *v, uint32_t plane, uint32_t sent, uint32_t lost, uint64_t now_ns)
{
	if (v)
		mm_map_plain(v->map, v->host, plane, sent, lost, now_ns);
}

void md_view_stray(struct md_view *v, uint32_t plane, uint32_t of_host, uint64_t now_ns)
{
	if (v)
		mm_map_stray(v->map, v->host, plane, of_host, now_ns);
}

void md_view_loop(struct md_view *v, uint32_t plane, uint32_t to, uint64_t now_ns)
{
	if (v)
		mm_map_loop(v->map, v->host, plane, to, now_ns);
}

void md_view_judge(struct md_view *v, uint64_t now_ns)
{
	if (!v)
		return;
	v->n_sick = mm_map_judge(v->map, now_ns, v->sick, MD_VIEW_SICK);
	v->full = v->n_sick == MD_VIEW_SICK || mm_map_is_full(v->map);
}

size_t md_view_sick(const struct md_view *v, struct mm_sick *sick, size_t max, bool *cut)
{
	size_t n = !v ? 0 : v->n_sick < max ? v->n_sick : max;

	*cut = v && (v->full || n < v->n_sick);
	if (n)
		memcpy(sick, v->sick, n * sizeof(*sick));
	return n;
}
