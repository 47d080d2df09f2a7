/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * map_track.c - findings over time: what has just begun is kept back for a moment, what is over is
 * forgotten, and what begins again and again flaps.
 */
#include "map/map_state.h"

#include <string.h>

/* What loses more than that is dead. */
#define DEAD_PPM 900000u

static enum mm_kind kind_of(const struct mm_found *f)
{
	const enum mm_kind kinds[MM_SYMPTOMS] = {MM_LOSSY, MM_CORRUPTING, MM_DUPLICATING,
						 MM_REORDERING, MM_SLOW};

	if (f->symptom == MM_LOST && (f->fit.all_gone || f->fit.rate_ppm >= DEAD_PPM))
		return MM_DEAD;
	return kinds[f->symptom];
}

/* A damaged header is a lost packet: a link that corrupts loses some, and is not lossy for that. */
static bool follows_from_other(const struct mm_map *map, const struct mm_found *f)
{
	for (uint32_t i = 0; i < map->n_found; i++) {
		const struct mm_found *o = &map->found[i];

		if (o != f && o->symptom == MM_CORRUPTED && f->symptom == MM_LOST &&
		    mm_part_same(&o->part, &f->part) && kind_of(f) != MM_DEAD &&
		    f->fit.rate_ppm <= 3 * o->fit.rate_ppm)
			return true;
	}
	return false;
}

/* The entry of a finding: its own, or the one that has been over the longest. */
static struct mm_tracked *entry_of(struct mm_map *map, const struct mm_found *f)
{
	struct mm_tracked *oldest = NULL;

	for (uint32_t i = 0; i < map->n_tracked; i++) {
		struct mm_tracked *k = &map->tracked[i];

		if (k->symptom == f->symptom && mm_part_same(&k->sick.part, &f->part))
			return k;
		if (!k->active && (!oldest || k->found_ns < oldest->found_ns))
			oldest = k;
	}
	if (map->n_tracked < MM_TRACKED_MAX)
		oldest = &map->tracked[map->n_tracked++];
	if (oldest)
		*oldest = (struct mm_tracked){.sick.part = f->part, .symptom = f->symptom};
	return oldest;
}

/* What is known of a part in a window. */
static struct mm_sum sum_of(struct mm_map *map, const struct mm_part *part, uint32_t window,
			    enum mm_symptom symptom, uint64_t now_ns)
{
	struct mm_sum sum = {0, 0};
	struct mm_walk walk;
	struct mm_route *r;

	mm_walk_begin(&walk, map, part);
	while ((r = mm_walk_next(&walk))) {
		struct mm_sum one = mm_route_sum(map, r, window, symptom, now_ns);

		sum.known += one.known;
		sum.bad += one.bad;
	}
	return sum;
}

/* Whether what came over a part lately says that it is well, in bits. */
#define WELL_BITS 12

/*
 * How close packets leave decides how many are overtaken: a packet that is held until another one
 * has passed is behind the next of its route in a burst, in a pair as a rule behind one of others.
 */
#define PAIRS_SHOW_PART 10u

/* The share that it shows at least while it is sick; no less than is accused at all. */
static uint32_t least_rate_of(const struct mm_map *map, const struct mm_tracked *k)
{
	uint32_t least = map->cfg.least_ppm[k->symptom];

	if (k->was_dead)
		return DEAD_PPM;
	if (k->symptom != MM_REORDERED)
		return k->least_ppm;
	return k->least_ppm / PAIRS_SHOW_PART > least ? k->least_ppm / PAIRS_SHOW_PART : least;
}

/*
 * Whether what crossed a part lately, but not another one (NULL: none), says that it is well, from
 * a window on.
 */
static bool is_well(struct mm_map *map, const struct mm_tracked *k, const struct mm_part *part,
		    const struct mm_part *but, uint32_t window, uint64_t now_ns)
{
	for (uint32_t w = window; w < MM_WINDOWS; w++) {
		struct mm_sum sum = sum_of(map, part, w, k->symptom, now_ns);
		int64_t is_sick;

		if (but) {
			struct mm_sum over_it = sum_of(map, but, w, k->symptom, now_ns);

			sum.known -= over_it.known;
			sum.bad -= over_it.bad;
		}
		is_sick =
			mm_likelihood(&sum, least_rate_of(map, k), map->cfg.usual_ppm[k->symptom]);
		if (is_sick < -((int64_t)WELL_BITS << 16))
			return true;
		if (is_sick > 0)
			return false;
	}
	return false;
}

/*
 * Counts what came since the last bad packet. The longest window grows by what came, until its
 * older half goes, which says nothing.
 */
static void hear(struct mm_voice *v, const struct mm_sum *sum, uint64_t now_ns)
{
	if (!v->last.known || sum->bad > v->last.bad) {
		v->good = 0;
		v->bad_ns = now_ns;
	} else if (sum->known > v->last.known) {
		v->good += sum->known - v->last.known;
	}
	v->last = *sum;
}

/* The number of a host's voice, a new one where it has none; MM_VOICES_MAX: there is no room. */
static uint32_t voice_of(struct mm_tracked *k, uint32_t host)
{
	uint32_t i = 0;

	while (i < MM_VOICES_MAX && k->voice[i].host && k->voice[i].host != host + 1)
		i++;
	if (i < MM_VOICES_MAX)
		k->voice[i].host = host + 1;
	return i;
}

static void count_good(struct mm_map *map, struct mm_tracked *k, uint64_t now_ns)
{
	struct mm_sum all = {0, 0}, of[MM_VOICES_MAX + 1] = {{0, 0}};
	struct mm_walk walk;
	struct mm_route *r;

	k->unheard = 0;
	mm_walk_begin(&walk, map, &k->sick.part);
	while ((r = mm_walk_next(&walk))) {
		struct mm_sum one = mm_route_sum(map, r, MM_WINDOWS - 1, k->symptom, now_ns);
		uint32_t i = voice_of(k, r->of.witness);

		all.known += one.known;
		all.bad += one.bad;
		of[i].known += one.known;
		of[i].bad += one.bad;
		k->unheard += i == MM_VOICES_MAX;
	}
	hear(&k->all, &all, now_ns);
	for (uint32_t i = 0; i < MM_VOICES_MAX && k->voice[i].host; i++)
		hear(&k->voice[i], &of[i], now_ns);
}

/* Of a part of which both directions are sick: what crossed the one alone, and the other. */
static void count_good_of_directions(struct mm_map *map, struct mm_tracked *k, uint64_t now_ns)
{
	struct mm_part one = k->sick.part;

	for (uint32_t i = 0; i < 2; i++) {
		struct mm_sum sum;

		one.direction = i == 0 ? MF_DIRECTION_OUT : MF_DIRECTION_IN;
		sum = sum_of(map, &one, MM_WINDOWS - 1, k->symptom, now_ns);
		sum.known = k->all.last.known - sum.known;
		sum.bad = k->all.last.bad - sum.bad;
		hear(&k->but[i], &sum, now_ns);
	}
}

static void forget_good(struct mm_tracked *k)
{
	k->all = k->but[0] = k->but[1] = (struct mm_voice){0};
	memset(k->voice, 0, sizeof(k->voice));
}

/*
 * Whether so many good packets came since the last bad one that it is well: the middle window may
 * have too few for that, and the longest still what was bad. For as long as a window, or those of
 * some routes would do where others are bad.
 */
static bool says_well(const struct mm_map *map, const struct mm_tracked *k,
		      const struct mm_voice *v, uint32_t window, int64_t bits, uint64_t now_ns)
{
	const struct mm_sum sum = {.known = v->good};

	return v->last.known && now_ns - v->bad_ns >= map->cfg.window_ns[window] &&
	       mm_likelihood(&sum, least_rate_of(map, k), map->cfg.usual_ppm[k->symptom]) <
		       -(bits << 16);
}

/* As many bits of one watcher, where others contradict it. */
#define WELL_BITS_EACH 18

/*
 * Whether so many watchers say by their own packets that a part is well that it would not be
 * accused again: a host that goes on crying, or that lies, must not keep it sick for as long as the
 * longest window has what was bad. What a shorter one has is bad still.
 */
static bool watchers_say_well(const struct mm_map *map, const struct mm_tracked *k, uint64_t now_ns)
{
	uint32_t n = 0, well = 0;

	for (uint32_t i = 0; i < MM_VOICES_MAX && k->voice[i].host; i++) {
		n += k->voice[i].last.known > 0;
		well += says_well(map, k, &k->voice[i], 0, WELL_BITS_EACH, now_ns);
	}
	return n > 1 && !k->unheard && k->window == MM_WINDOWS - 1 && well > (n - 1) / 2;
}

/*
 * Whether a cable whose both directions were sick is well in the one that was not found now: not by
 * the shortest window, in which a small share shows nothing of it now and then.
 */
static bool other_direction_is_well(struct mm_map *map, const struct mm_tracked *k,
				    const struct mm_part *found, uint64_t now_ns)
{
	struct mm_part both = *found;

	both.direction = MF_DIRECTION_BOTH;
	return is_well(map, k, &both, found, 1, now_ns) ||
	       says_well(map, k, &k->but[found->direction == MF_DIRECTION_IN], 1, WELL_BITS,
			 now_ns);
}

static bool crosses(const struct mf_topology *t, const struct mm_route *r,
		    const struct mm_part *part)
{
	for (uint32_t i = 0; i < r->of.links; i++)
		if (mm_part_has(t, part, r->of.link[i]))
			return true;
	return false;
}

/* What a part did by its other direction alone would be found in the longest window for long. */
static void absolve_other_direction(struct mm_map *map, const struct mm_tracked *k)
{
	struct mm_part both = k->sick.part;
	struct mm_walk walk;
	struct mm_route *r;

	both.direction = MF_DIRECTION_BOTH;
	mm_walk_begin(&walk, map, &both);
	while ((r = mm_walk_next(&walk)))
		if (!crosses(map->t, r, &k->sick.part))
			mm_route_absolve(r, k->symptom);
}

/*
 * A direction that was told once stays where the packets of a window tell none, and both do until
 * one of them is seen to be well. Of several windows the shortest tells it, which comes first.
 */
static void track_direction(struct mm_map *map, struct mm_tracked *k, const struct mm_found *f,
			    uint64_t now_ns)
{
	enum mf_direction was = k->sick.part.direction, is = f->part.direction;
	bool was_both = k->sick.direction_known && was == MF_DIRECTION_BOTH && was != is;
	bool stays = (k->sick.direction_known && was != is && !f->direction_known) ||
		     (k->sick.direction_known && k->found_ns == now_ns) ||
		     (was_both && !other_direction_is_well(map, k, &f->part, now_ns));

	k->sick.part = f->part;
	k->sick.direction_known = k->sick.direction_known || f->direction_known;
	if (stays)
		k->sick.part.direction = was;
	else if (was_both)
		absolve_other_direction(map, k);
	if (k->sick.part.direction != was)
		forget_good(k); /* other routes cross it */
}

/* Whether nothing explains a symptom better. */
static bool leads(const struct mm_map *map, enum mm_symptom symptom, const struct mm_part *part)
{
	const struct mm_lead *l = &map->lead[symptom];

	return l->since_ns && mm_part_same(&l->part, part);
}

static void track(struct mm_map *map, const struct mm_found *f, uint64_t now_ns)
{
	struct mm_tracked *k = entry_of(map, f);

	if (!k)
		return;
	if (!k->active) {
		k->onset_ns[2] = k->onset_ns[1];
		k->onset_ns[1] = k->onset_ns[0];
		/* To explain most, if it does. */
		k->onset_ns[0] = leads(map, f->symptom, &f->part) ? map->lead[f->symptom].since_ns
								  : now_ns + 1;
		k->active = true;
		k->was_dead = false;
		k->least_ppm = MM_PPM;
		forget_good(k);
		k->sick.direction_known = false;
	}
	track_direction(map, k, f, now_ns);
	k->found_ns = now_ns;
	k->window = f->window;
	k->was_dead |= kind_of(f) == MM_DEAD;
	/* While it comes back, some of its packets are lost. */
	k->sick.kind = k->was_dead ? MM_DEAD : kind_of(f);
	k->sick.rate_ppm = f->fit.rate_ppm;
	if (k->least_ppm > f->fit.rate_ppm)
		k->least_ppm = f->fit.rate_ppm;
	k->sick.for_it = f->fit.for_it;
	k->sick.watchers = f->fit.watchers;
}

/* It was another part all the time: this one has not failed. */
static void take_back(struct mm_tracked *k)
{
	k->active = false;
	k->onset_ns[0] = k->onset_ns[1];
	k->onset_ns[1] = k->onset_ns[2];
	k->onset_ns[2] = 0;
}

/* Ends what is well again. */
static void end_if_well(struct mm_map *map, struct mm_tracked *k, uint64_t now_ns)
{
	struct mm_walk walk;
	struct mm_route *r;

	if (!k->active)
		return;
	count_good(map, k, now_ns);
	if (k->sick.part.direction == MF_DIRECTION_BOTH &&
	    (k->sick.part.kind == MM_CABLE || k->sick.part.kind == MM_TRANSCEIVER))
		count_good_of_directions(map, k, now_ns);
	if (!says_well(map, k, &k->all, 0, WELL_BITS, now_ns) &&
	    !watchers_say_well(map, k, now_ns) && !is_well(map, k, &k->sick.part, NULL, 0, now_ns))
		return;
	k->active = false;
	/* Or what it did would be seen in longer windows as a smaller share for long. */
	mm_walk_begin(&walk, map, &k->sick.part);
	while ((r = mm_walk_next(&walk)))
		mm_route_absolve(r, k->symptom);
}

/*
 * Takes back what was not found again: at once where something else was found in its place, else
 * after its window. What nobody says anything about stays as it was, and so does what explains most
 * and is not as far ahead as before.
 */
static void take_back_if_not_found(struct mm_map *map, struct mm_tracked *k, uint64_t now_ns)
{
	uint64_t after = k->covered ? map->cfg.settle_ns : map->cfg.window_ns[k->window];

	if (k->active && now_ns - k->found_ns > after && !leads(map, k->symptom, &k->sick.part) &&
	    sum_of(map, &k->sick.part, k->window, k->symptom, now_ns).known)
		take_back(k);
}

static bool flaps(const struct mm_map *map, const struct mm_tracked *k, uint64_t now_ns)
{
	return k->onset_ns[2] && k->onset_ns[0] - k->onset_ns[2] <= map->cfg.flap_ns &&
	       now_ns - k->found_ns <= map->cfg.flap_ns;
}

/* Whether questions would come, were it alive: it asks a neighbour, and one asks it. */
static bool is_asked_both_ways(struct mm_map *map, const struct mm_part *host)
{
	bool in = false, out = false;
	struct mm_walk walk;
	struct mm_route *r;

	mm_walk_begin(&walk, map, host);
	while ((r = mm_walk_next(&walk))) {
		in |= r->of.peer == host->id;
		out |= r->of.peer != MM_NO_HOST && r->of.witness == host->id;
	}
	return map->hears_questions && in && out;
}

/* A host that is dead in one direction has questions come by the other since it began. */
static void tell_direction_of_host(struct mm_map *map, const struct mm_tracked *k,
				   struct mm_sick *sick)
{
	const struct mm_asked *asked = &map->asked[k->sick.part.id];
	bool in = asked->in_ns > k->onset_ns[0], out = asked->out_ns > k->onset_ns[0];

	if (in != out)
		sick->part.direction = in ? MF_DIRECTION_OUT : MF_DIRECTION_IN;
	else
		sick->direction_known = is_asked_both_ways(map, &k->sick.part);
}

static bool worse(const struct mm_sick *a, const struct mm_sick *b)
{
	return a->kind != b->kind ? a->kind < b->kind : a->part.kind > b->part.kind;
}

/* Inserts by order; the last one falls out where there is no room. */
static size_t insert(struct mm_sick *sick, size_t n, size_t max, const struct mm_sick *one)
{
	size_t i = n;

	if (n == max && (n == 0 || !worse(one, &sick[n - 1])))
		return n;
	i = n < max ? n : n - 1;
	for (; i > 0 && worse(one, &sick[i - 1]); i--)
		sick[i] = sick[i - 1];
	sick[i] = *one;
	return n < max ? n + 1 : n;
}

/*
 * While a fault begins a window has what was good before it, too, and may show a share of another
 * part as lost: that is told only if it is still found, or explained most before, when it has
 * settled. What is dead is no mix.
 */
static bool is_told(const struct mm_map *map, const struct mm_tracked *k, uint64_t now_ns)
{
	uint64_t known_ns = k->was_dead ? now_ns : k->found_ns;

	return k->active && known_ns + 1 - k->onset_ns[0] >= map->cfg.settle_ns;
}

size_t mm_map_judge(struct mm_map *map, uint64_t now_ns, struct mm_sick *sick, size_t max)
{
	uint32_t in_use = 0;
	size_t n = 0;

	for (uint32_t i = 0; i < map->n_tracked; i++)
		end_if_well(map, &map->tracked[i], now_ns);
	mm_judge_find(map, now_ns);
	for (uint32_t i = 0; i < map->n_found; i++)
		if (map->found[i].part.kind != MM_WITNESS &&
		    !follows_from_other(map, &map->found[i]))
			track(map, &map->found[i], now_ns);
	for (uint32_t i = 0; i < map->n_tracked; i++) {
		struct mm_tracked *k = &map->tracked[i];
		struct mm_sick one;
		bool flapping;

		take_back_if_not_found(map, k, now_ns);
		flapping = flaps(map, k, now_ns);
		in_use += flapping || k->active;
		if (!flapping && !is_told(map, k, now_ns))
			continue;
		one = k->sick;
		one.kind = flapping ? MM_FLAPPING : one.kind;
		if (one.part.kind == MM_HOST && one.kind == MM_DEAD)
			tell_direction_of_host(map, k, &one);
		one.since_ns = k->onset_ns[flapping ? 2 : 0] - 1;
		n = insert(sick, n, max, &one);
	}
	/* Entries of what is well again are there for others. */
	map->full = map->n_found == MM_FOUND_MAX || in_use == MM_TRACKED_MAX;
	return mm_cables_exchanged(map, sick, n, max, now_ns);
}

bool mm_map_is_full(const struct mm_map *map)
{
	return map->full;
}
