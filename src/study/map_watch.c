/* SPDX-License-Identifier: BSD-2-Clause */
/* map_watch.c - what probes meet, and who tells the maps: see map_watch.h. */
#include "study/map_watch.h"

#include "sim/scenario/scenario_keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Routes of a plane's map: of some faults at once, and lost probes of a minute. */
#define MAP_ROUTES 49152u
/* Routes that report of one fault; those of a T1 are more than are needed. */
#define OVER_MAX 8192u
#define BESIDE_MAX 4096u
/* Good probes that are told with a lost one: those of 40 s, of which the map keeps 20. */
#define KNOWN_STEPS 4000u

/* ---- begin and end ---- */

static struct mm_map *make_map(const struct mf_topology *t)
{
	struct mm_cfg cfg = mm_cfg_default(t, MAP_ROUTES, MM_PROBE_STEP_NS / MM_PROBE_PAIR);
	void *memory = malloc(mm_map_bytes(&cfg, t));

	return memory ? mm_map_init(memory, &cfg, t) : NULL;
}

int study_map_watch_init(struct study_map_watch *w, const struct mf_topology *t, uint32_t watchers,
			 uint64_t seed)
{
	bool whole = true;

	*w = (struct study_map_watch){.t = t};
	mb_prng_init(&w->chance, ms_mix(seed + MS_CLASSES));
	if (study_map_fabric_init(&w->fabric, t, watchers))
		return ENOMEM;
	w->lost_ppm = calloc(t->n_links, sizeof(*w->lost_ppm));
	w->reported = calloc(w->fabric.routes, sizeof(*w->reported));
	w->mark = calloc(w->fabric.routes, sizeof(*w->mark));
	w->map = calloc(t->cfg.planes, sizeof(struct mm_map *));
	for (uint32_t plane = 0; w->map && plane < t->cfg.planes; plane++) {
		w->map[plane] = make_map(t);
		whole = whole && w->map[plane];
	}
	if (whole && w->lost_ppm && w->reported && w->mark && w->map)
		return 0;
	study_map_watch_fini(w);
	return ENOMEM;
}

void study_map_watch_fini(struct study_map_watch *w)
{
	for (uint32_t plane = 0; w->map && plane < w->t->cfg.planes; plane++)
		free(w->map[plane]);
	free(w->map);
	free(w->lost_ppm);
	free(w->reported);
	free(w->mark);
	study_map_fabric_fini(&w->fabric);
	*w = (struct study_map_watch){0};
}

/* ---- faults ---- */

void study_map_lose(struct study_map_watch *w, const struct mm_part *part, uint32_t ppm,
		    bool afresh)
{
	uint32_t link;

	for (uint32_t i = 0; (link = mm_part_link(w->t, part, i)) != MF_LINK_NONE; i++)
		if (afresh || ppm > w->lost_ppm[link])
			w->lost_ppm[link] = ppm;
}

/* Adds the routes over a link that are not in the list, up to so many. */
static void add_over(struct study_map_watch *w, struct study_map_reporters *list, uint32_t link,
		     uint32_t most)
{
	const struct study_map_fabric *f = &w->fabric;

	for (uint32_t i = f->first[link]; i < f->first[link + 1] && list->n < most; i++) {
		uint32_t route = f->over[i];

		if (w->mark[route] == w->marks)
			continue;
		w->mark[route] = w->marks;
		list->route[list->n++] = route;
	}
}

int study_map_reporters_find(struct study_map_watch *w, const struct mm_part *part,
			     struct study_map_reporters *list)
{
	uint32_t link, over, every;
	uint32_t *fewer;

	*list = (struct study_map_reporters){
		.route = malloc((OVER_MAX + BESIDE_MAX) * sizeof(uint32_t))};
	if (!list->route)
		return ENOMEM;
	w->marks++;
	for (uint32_t i = 0; (link = mm_part_link(w->t, part, i)) != MF_LINK_NONE; i++)
		add_over(w, list, link, OVER_MAX);
	over = list->n;
	/* Of a part with many routes those beside some of them do. */
	every = over / 64 + 1;
	for (uint32_t i = 0; i < over; i += every) {
		const struct mm_route_of *of = &w->fabric.route[list->route[i]];

		for (uint32_t k = 0; k < of->links; k++) {
			add_over(w, list, of->link[k], OVER_MAX + BESIDE_MAX);
			add_over(w, list, mf_link_reverse(of->link[k]), OVER_MAX + BESIDE_MAX);
		}
	}
	fewer = realloc(list->route, (list->n + 1) * sizeof(uint32_t));
	list->route = fewer ? fewer : list->route;
	return 0;
}

void study_map_reporters_begin(struct study_map_watch *w, const struct study_map_reporters *list,
			       uint32_t step)
{
	for (uint32_t i = 0; i < list->n; i++)
		if (w->reported[list->route[i]] + 2 * STUDY_MAP_SLOW_STEPS < step)
			w->reported[list->route[i]] = step - 1;
}

void study_map_reporters_free(struct study_map_reporters *list)
{
	free(list->route);
	*list = (struct study_map_reporters){0};
}

/* ---- reports ---- */

/* Of so many probes those that are lost. */
static uint32_t draw(struct study_map_watch *w, const struct mm_route_of *of, uint32_t probes)
{
	uint64_t passes = MS_SHARE_ONE;
	uint32_t lost = 0;

	for (uint32_t k = 0; k < of->links; k++)
		passes = passes * (MS_SHARE_ONE - w->lost_ppm[of->link[k]]) / MS_SHARE_ONE;
	if (passes == MS_SHARE_ONE)
		return 0;
	for (uint32_t i = 0; passes && i < probes; i++)
		lost += !mb_prng_chance(&w->chance, (uint32_t)passes);
	return passes ? lost : probes;
}

/* A route of neighbours, there by one plane and back by the next, is in the maps of both. */
static void tell(struct study_map_watch *w, const struct mm_route_of *of, uint32_t known,
		 uint32_t bad, uint64_t now_ns)
{
	const struct mm_counts counts = {.known[MM_LOST] = known, .bad[MM_LOST] = bad};
	uint32_t there = mf_link_plane(w->t, of->link[0]);
	uint32_t back = mf_link_plane(w->t, of->link[of->links - 1]);
	uint32_t route = mm_map_route(w->map[there], of, now_ns);

	if (route != MM_NO_ROUTE)
		mm_map_add(w->map[there], route, of->witness, &counts, now_ns);
	if (back == there)
		return;
	route = mm_map_route(w->map[back], of, now_ns);
	if (route != MM_NO_ROUTE)
		mm_map_add(w->map[back], route, of->witness, &counts, now_ns);
}

uint32_t study_map_report(struct study_map_watch *w, const struct study_map_reporters *list,
			  uint32_t step, uint64_t now_ns)
{
	uint32_t reports = 0;

	for (uint32_t i = 0; i < list->n; i++) {
		uint32_t route = list->route[i], steps = step - w->reported[route];
		const struct mm_route_of *of = &w->fabric.route[route];

		if (steps == 0)
			continue;
		w->reported[route] = step;
		if (steps > STUDY_MAP_SLOW_STEPS)
			steps = STUDY_MAP_SLOW_STEPS;
		tell(w, of, MM_PROBE_PAIR * steps, draw(w, of, MM_PROBE_PAIR * steps), now_ns);
		reports++;
	}
	return reports;
}

/* With all that went well before, or one bad probe would be half of what is known of the route. */
void study_map_lost_one(struct study_map_watch *w, uint32_t route, uint32_t step, uint64_t now_ns)
{
	uint32_t steps = step - w->reported[route];

	steps = steps == 0 ? 1 : steps < KNOWN_STEPS ? steps : KNOWN_STEPS;
	w->reported[route] = step;
	tell(w, &w->fabric.route[route], MM_PROBE_PAIR * steps, 1, now_ns);
}
