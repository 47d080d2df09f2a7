/* SPDX-License-Identifier: BSD-2-Clause */
/* map_world.c - see map_world.h. */
#include "map_world.h"

#include <stdio.h>

void world_init(struct map_world *w, const struct mf_topology *t, uint32_t watchers)
{
	const struct mm_plan_cfg plan = {watchers, WORLD_STEP_NS, 100, UINT64_MAX / 1000000000};
	struct mm_cfg cfg = mm_cfg_default(t, WORLD_ROUTES, 5000000);
	bool *live = calloc(t->n_hosts, sizeof(*live));

	*w = (struct map_world){.t = *t, .now_ns = 1000 * WORLD_STEP_NS};
	w->map = mm_map_init(malloc(mm_map_bytes(&cfg, t)), &cfg, &w->t);
	w->route = calloc(WORLD_ROUTES, sizeof(*w->route));
	w->number = calloc(WORLD_ROUTES, sizeof(*w->number));
	w->host = calloc(t->n_hosts, sizeof(*w->host));
	w->late = calloc(t->n_hosts, sizeof(*w->late));
	w->waiting = calloc((size_t)WORLD_ROUTES * WORLD_LATE, sizeof(*w->waiting));
	for (uint32_t s = 0; s < MM_SYMPTOMS; s++)
		w->ppm[s] = calloc(t->n_links, sizeof(*w->ppm[s]));
	memset(live, 1, t->n_hosts);
	for (uint32_t h = 0; h < t->n_hosts; h++) {
		w->routes += mm_plan_routes(t, &plan, h, live, w->route + w->routes,
					    WORLD_ROUTES - w->routes);
		assert_true(w->routes <= WORLD_ROUTES);
	}
	for (size_t i = w->routes; i-- > 0;)
		if (w->route[i].peer != MM_NO_HOST) {
			assert_true(w->routes < WORLD_ROUTES);
			w->route[w->routes++] = mm_route_there(&w->route[i]);
		}
	for (size_t i = 0; i < w->routes; i++) {
		w->number[i] = mm_map_route(w->map, &w->route[i], w->now_ns);
		assert_u_eq(w->number[i], i);
	}
	free(live);
}

void world_fini(struct map_world *w)
{
	free(w->map);
	free(w->route);
	free(w->number);
	free(w->host);
	free(w->late);
	free(w->waiting);
	for (uint32_t s = 0; s < MM_SYMPTOMS; s++)
		free(w->ppm[s]);
}

void world_fault(struct map_world *w, const char *name, enum mm_symptom symptom,
		 enum mf_direction direction, uint32_t ppm)
{
	struct mf_target target;
	struct mf_error e;

	if (!mf_target_find(&w->t, name, &target, &e))
		fail_msg("%s: %s", e.value, e.what);
	for (uint32_t i = 0; i < target.links; i++) {
		uint32_t link = mf_target_link(&w->t, &target, i);

		if (direction != MF_DIRECTION_IN)
			w->ppm[symptom][link] = ppm;
		if (direction != MF_DIRECTION_OUT)
			w->ppm[symptom][mf_link_reverse(link)] = ppm;
	}
}

/* A train to a neighbour tells how fast the way there is, which is a route of its own. */
static bool is_there(const struct mm_route_of *r)
{
	return r->peer != MM_NO_HOST && r->links == 2;
}

static bool happens(const struct map_world *w, const struct mm_route_of *r, enum mm_symptom s)
{
	for (uint32_t i = 0; i < r->links; i++)
		if (w->ppm[s][r->link[i]] && test_rand_chance(w->ppm[s][r->link[i]], 1000000))
			return true;
	return s == MM_LOST && w->background_ppm && test_rand_chance(w->background_ppm, 1000000);
}

static void probe(const struct map_world *w, const struct mm_route_of *r, uint32_t probes,
		  struct mm_counts *c)
{
	bool mute = r->peer != MM_NO_HOST && w->host[r->peer] == WORLD_SILENT;

	*c = (struct mm_counts){{0}, {0}};
	for (uint32_t i = 0; i < probes; i++) {
		bool lost = mute || happens(w, r, MM_LOST);

		c->known[MM_LOST] += !is_there(r);
		c->bad[MM_LOST] += lost && !is_there(r);
		for (enum mm_symptom s = MM_CORRUPTED; s < MM_SYMPTOMS && !lost; s++) {
			if (r->peer != MM_NO_HOST && is_there(r) != (s == MM_SLOWED))
				continue;
			c->known[s]++;
			c->bad[s] += happens(w, r, s);
		}
	}
	/* Who is asked writes into its answers when trains came. */
	if (is_there(r) && w->host[r->peer] == WORLD_CRIES)
		c->bad[MM_SLOWED] = c->known[MM_SLOWED];
	if (is_there(r) && w->host[r->peer] == WORLD_HIDES)
		c->bad[MM_SLOWED] = 0;
	if (w->host[r->witness] == WORLD_CRIES)
		c->bad[MM_LOST] = c->known[MM_LOST];
	if (w->host[r->witness] == WORLD_HIDES)
		memset(c->bad, 0, sizeof(c->bad));
}

/* Whether the way to a neighbour lets a question through, of a step's at least one. */
static bool question_comes(const struct map_world *w, const struct mm_route_of *r)
{
	return r->peer != MM_NO_HOST && !is_there(r) && w->host[r->peer] != WORLD_SILENT &&
	       w->ppm[MM_LOST][r->link[0]] < 1000000 && w->ppm[MM_LOST][r->link[1]] < 1000000;
}

void world_step(struct map_world *w, uint32_t probes)
{
	w->now_ns += WORLD_STEP_NS;
	w->steps++;
	for (size_t i = 0; i < w->routes; i++) {
		const struct mm_route_of *r = &w->route[i];
		struct mm_counts *waiting = &w->waiting[i * WORLD_LATE];
		uint32_t late = w->late[r->witness];

		if (w->host[r->witness] == WORLD_SILENT)
			continue;
		probe(w, r, probes, &waiting[w->steps % WORLD_LATE]);
		if (question_comes(w, r))
			assert_true(mm_map_asked(w->map, r->peer, r->witness, w->now_ns));
		if (w->steps > late)
			assert_true(mm_map_add(w->map, w->number[i], r->witness,
					       &waiting[(w->steps - late) % WORLD_LATE],
					       w->now_ns));
	}
	w->n_sick = mm_map_judge(w->map, w->now_ns, w->sick, WORLD_SICK);
}

const struct mm_sick *world_find(const struct map_world *w, const char *name)
{
	char is[MM_PART_NAME_BYTES];

	for (size_t i = 0; i < w->n_sick; i++)
		if (strcmp(mm_part_name(&w->t, &w->sick[i].part, is), name) == 0)
			return &w->sick[i];
	return NULL;
}

uint32_t world_until(struct map_world *w, const char *name, enum mm_kind kind, uint32_t steps,
		     uint32_t probes)
{
	for (uint32_t i = 1; i <= steps; i++) {
		const struct mm_sick *s;

		world_step(w, probes);
		s = world_find(w, name);
		if (s && s->kind == kind)
			return i;
	}
	return 0;
}

void world_fail(const struct map_world *w, const char *what)
{
	char text[MM_SICK_TEXT_BYTES];

	for (size_t i = 0; i < w->n_sick; i++)
		printf("  %s\n", mm_sick_text(&w->t, &w->sick[i], w->now_ns, text));
	fail_msg("%s; the map says the above", what);
	abort();
}
