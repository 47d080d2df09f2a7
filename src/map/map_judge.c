/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * map_judge.c - one judgement: for each symptom, window by window, the part that explains most of
 * the bad routes is found, its routes are taken out, and so on until nothing is left that could be
 * accused.
 */
#include "map/map_state.h"

#include "base/assert.h"

#define ONE_BIT 16

static bool is_bad(const struct mm_map *map, const struct mm_route *r, uint32_t window,
		   enum mm_symptom symptom, uint64_t now_ns)
{
	/* Most routes of a large map have nothing bad, and need no sum to say so. */
	return r->used && !r->explained && r->bad_ns &&
	       now_ns + 1 - r->bad_ns <= map->cfg.window_ns[window] &&
	       mm_route_sum(map, r, window, symptom, now_ns).bad;
}

static void collect_bad(struct mm_map *map, uint32_t window, enum mm_symptom symptom,
			uint64_t now_ns)
{
	map->n_bad = 0;
	for (uint32_t i = 0; i < map->routes; i++)
		if (is_bad(map, &map->route[i], window, symptom, now_ns))
			map->bad[map->n_bad++] = i;
}

/* Times that a route may cross a part, against one that crosses it once; bits against chance. */
#define CROSSINGS_MAX 3u
#define CHANCE_BITS 30
#define ALMOST_ALL_PPM 900000u

/*
 * Whether a part accounts for what is bad on a route over it. Of one that loses some of its packets
 * all that is lost there is taken to be its doing, but for a route that hardly anything gets over.
 */
static bool explains(const struct mm_sum *sum, uint32_t rate_ppm)
{
	uint32_t most = rate_ppm > ALMOST_ALL_PPM / CROSSINGS_MAX ? ALMOST_ALL_PPM
								  : rate_ppm * CROSSINGS_MAX;

	if (2 * rate_ppm >= MM_PPM || 10 * sum->bad < 9 * sum->known)
		return sum->bad;
	return (int64_t)sum->bad * (mm_log2(MM_PPM) - mm_log2(most)) <= (int64_t)CHANCE_BITS
										<< ONE_BIT;
}

/*
 * Takes out the bad routes that cross a part that was found. Good ones stay: they still speak for
 * the other parts on their way.
 */
static void explain(struct mm_map *map, const struct mm_part *part, uint32_t rate_ppm,
		    uint32_t window, enum mm_symptom symptom, uint64_t now_ns)
{
	struct mm_walk walk;
	struct mm_route *r;

	mm_walk_begin(&walk, map, part);
	while ((r = mm_walk_next(&walk))) {
		struct mm_sum sum = mm_route_sum(map, r, window, symptom, now_ns);

		if (explains(&sum, rate_ppm))
			r->explained = true;
	}
}

/* Whether some route crosses one direction of a part and not the other. */
static bool directions_told(struct mm_map *map, const struct mm_part *part, uint32_t window,
			    enum mm_symptom symptom, uint64_t now_ns)
{
	uint32_t n[MF_DIRECTION_IN + 1] = {0};

	if (part->kind != MM_CABLE && part->kind != MM_TRANSCEIVER)
		return true;
	for (enum mf_direction d = MF_DIRECTION_BOTH; d <= MF_DIRECTION_IN; d++) {
		struct mm_part one = *part;
		struct mm_walk walk;
		struct mm_route *r;

		one.direction = d;
		mm_walk_begin(&walk, map, &one);
		while ((r = mm_walk_next(&walk)))
			n[d] += mm_route_sum(map, r, window, symptom, now_ns).known > 0;
	}
	return n[MF_DIRECTION_OUT] != n[MF_DIRECTION_BOTH] ||
	       n[MF_DIRECTION_IN] != n[MF_DIRECTION_BOTH];
}

/*
 * By how many bits the best explanation must be ahead of the next that is not the same, with what
 * was likely beforehand: of a thousand names one may be that of a neighbour.
 */
#define AHEAD_BITS 10

struct ranking {
	struct mm_found best;
	int64_t rank, raw; /* of the best */
	int64_t other;	   /* the highest rank of those that differ */
};

/* What was sick a moment ago is likelier than anything new that explains the same. */
#define ACTIVE_BITS 1

static int32_t bits_beforehand(const struct mm_map *map, const struct mm_found *one)
{
	for (uint32_t i = 0; i < map->n_tracked; i++) {
		const struct mm_tracked *k = &map->tracked[i];

		if (k->active && k->symptom == one->symptom &&
		    mm_part_same(&k->sick.part, &one->part) &&
		    k->sick.part.direction == one->part.direction)
			return -ACTIVE_BITS;
	}
	return (int32_t)mm_part_bits(&one->part);
}

static void rank_one(struct ranking *r, const struct mm_found *one, int32_t beforehand)
{
	int64_t raw = one->fit.rank;
	int64_t rank = raw - (int64_t)beforehand * (1 << ONE_BIT);
	bool better = rank > r->rank;

	/* Equal likelihoods are the same routes: only what is likely beforehand decides. */
	if (better && r->rank != INT64_MIN && r->raw != raw && r->rank > r->other)
		r->other = r->rank;
	if (!better && raw != r->raw && rank > r->other)
		r->other = rank;
	if (!better)
		return;
	r->best = *one;
	r->rank = rank;
	r->raw = raw;
}

static bool may_be_accused(const struct ranking *r)
{
	return r->rank != INT64_MIN && r->best.fit.accused &&
	       (r->other == INT64_MIN || r->rank - r->other >= (int64_t)AHEAD_BITS << ONE_BIT);
}

/*
 * The suspects that explain most: of those that are as good as dead, by their share or because
 * nothing came back lately, whatever a window still has of the time before, and of all. Those whose
 * watchers contradict are passed over. One that is still open has what is around it wait, and so
 * has one that explains nearly as much, lest a neighbour that has some of its bad packets be taken
 * for it.
 */
static void rank_all(struct mm_map *map, uint32_t window, enum mm_symptom symptom, uint64_t now_ns,
		     struct ranking *dead, struct ranking *all)
{
	const struct ranking none = {.rank = INT64_MIN, .raw = INT64_MIN, .other = INT64_MIN};

	*dead = *all = none;
	mm_suspects_of(map);
	for (uint32_t i = 0; i < map->n_suspects; i++) {
		struct mm_found one = {map->suspect[i], symptom, window, {0}, false};
		int32_t beforehand;

		one.fit = mm_part_fit(map, &one.part, window, symptom, now_ns);
		if (!one.fit.accused && !one.fit.open)
			continue;
		beforehand = bits_beforehand(map, &one);
		rank_one(all, &one, beforehand);
		if (one.fit.rate_ppm >= ALMOST_ALL_PPM || one.fit.all_gone)
			rank_one(dead, &one, beforehand);
	}
}

/* The first that is looked at, in the shortest window that shows anything, leads. */
static void note_lead(struct mm_lead *l, const struct ranking *first, uint64_t now_ns)
{
	if (l->seen || first->rank == INT64_MIN)
		return;
	if (!l->since_ns || !mm_part_same(&l->part, &first->best.part))
		l->since_ns = now_ns + 1;
	l->part = first->best.part;
	l->seen = true;
}

static void add_found(struct mm_map *map, const struct mm_found *one, uint64_t now_ns)
{
	explain(map, &one->part, one->fit.rate_ppm, one->window, one->symptom, now_ns);
	map->found[map->n_found++] = *one;
	collect_bad(map, one->window, one->symptom, now_ns);
}

/* First what is as good as dead: two of those must not pass for a larger, lossy part. */
static void find_parts(struct mm_map *map, uint32_t window, enum mm_symptom symptom,
		       uint64_t now_ns)
{
	uint32_t before = UINT32_MAX;
	bool dead_first = true;

	/* What explains nothing is not looked at again. */
	while (map->n_bad && map->n_bad < before && map->n_found < MM_FOUND_MAX) {
		struct ranking dead, all;
		struct mm_found *best;

		before = map->n_bad;
		rank_all(map, window, symptom, now_ns, &dead, &all);
		dead_first = dead_first && may_be_accused(&dead);
		note_lead(&map->lead[symptom], dead_first ? &dead : &all, now_ns);
		if (!dead_first && !may_be_accused(&all))
			return;
		best = dead_first ? &dead.best : &all.best;
		best->direction_known = directions_told(map, &best->part, window, symptom, now_ns);
		add_found(map, best, now_ns);
	}
}

/*
 * Whether all that is bad to a host left by one of its ports, and others are there: then it is what
 * is behind that port, of which more may be known than of the others, for it is looked at.
 */
static bool is_one_port(struct mm_map *map, const struct mm_part *witness, uint32_t window,
			enum mm_symptom symptom, uint64_t now_ns)
{
	uint32_t port = MF_LINK_NONE;
	struct mm_walk walk;
	struct mm_route *r;

	mm_walk_begin(&walk, map, witness);
	while ((r = mm_walk_next(&walk))) {
		if (r->explained || !mm_route_sum(map, r, window, symptom, now_ns).bad)
			continue;
		if (port != MF_LINK_NONE && port != r->of.link[0])
			return false;
		port = r->of.link[0];
	}
	return map->t->cfg.planes > 1;
}

/*
 * Hosts for which next to nothing works and through which everything works for others: their word
 * stands alone, and is left out before it is mixed with that of others.
 */
static void find_lone_witnesses(struct mm_map *map, uint32_t window, enum mm_symptom symptom,
				uint64_t now_ns)
{
	mm_suspects_of(map);
	for (uint32_t i = 0; i < map->n_suspects && map->n_found < MM_FOUND_MAX; i++) {
		struct mm_found one = {map->suspect[i], symptom, window, {0}, true};
		struct mm_part host = {.kind = MM_HOST, .id = one.part.id};
		struct mm_fit of_host;

		if (one.part.kind != MM_WITNESS)
			continue;
		one.fit = mm_part_fit(map, &one.part, window, symptom, now_ns);
		if (!one.fit.accused || one.fit.rate_ppm < ALMOST_ALL_PPM ||
		    is_one_port(map, &one.part, window, symptom, now_ns))
			continue;
		of_host = mm_part_fit(map, &host, window, symptom, now_ns);
		if (of_host.watchers > 1 && !of_host.accused && !of_host.open)
			add_found(map, &one, now_ns);
	}
}

static void find_in_window(struct mm_map *map, uint32_t window, enum mm_symptom symptom,
			   uint64_t now_ns)
{
	/* What was found in a shorter window is not found again in a longer one. */
	for (uint32_t i = 0; i < map->n_found; i++)
		if (map->found[i].symptom == symptom)
			explain(map, &map->found[i].part, map->found[i].fit.rate_ppm, window,
				symptom, now_ns);
	collect_bad(map, window, symptom, now_ns);
	if (!map->n_bad)
		return;
	find_lone_witnesses(map, window, symptom, now_ns);
	find_parts(map, window, symptom, now_ns);
}

/* Whether all that is bad about a part now is explained by others that were found. */
static bool is_covered(struct mm_map *map, const struct mm_tracked *k, uint64_t now_ns)
{
	bool any = false;
	struct mm_walk walk;
	struct mm_route *r;

	mm_walk_begin(&walk, map, &k->sick.part);
	while ((r = mm_walk_next(&walk))) {
		if (!mm_route_sum(map, r, k->window, k->symptom, now_ns).bad)
			continue;
		if (!r->explained)
			return false;
		any = true;
	}
	return any;
}

static void forget_explained(struct mm_map *map)
{
	for (uint32_t i = 0; i < map->routes; i++)
		map->route[i].explained = false;
}

/* Of what was sick and was not found this time: whether something else was found in its place. */
static void mark_covered(struct mm_map *map, enum mm_symptom symptom, uint64_t now_ns)
{
	forget_explained(map);
	for (uint32_t i = 0; i < map->n_found; i++) {
		struct mm_walk walk;
		struct mm_route *r;

		mm_walk_begin(&walk, map, &map->found[i].part);
		while (map->found[i].symptom == symptom && (r = mm_walk_next(&walk)))
			r->explained = true;
	}
	for (uint32_t i = 0; i < map->n_tracked; i++) {
		struct mm_tracked *k = &map->tracked[i];

		if (k->active && k->symptom == symptom)
			k->covered = is_covered(map, k, now_ns);
	}
}

void mm_judge_find(struct mm_map *map, uint64_t now_ns)
{
	map->n_found = 0;
	for (enum mm_symptom s = 0; s < MM_SYMPTOMS; s++) {
		forget_explained(map);
		map->lead[s].seen = false;
		for (uint32_t w = 0; w < MM_WINDOWS; w++)
			find_in_window(map, w, s, now_ns);
		if (!map->lead[s].seen)
			map->lead[s].since_ns = 0;
		mark_covered(map, s, now_ns);
	}
}
