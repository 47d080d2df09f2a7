/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * map_fit.c - how well a part explains what the routes over it counted.
 *
 * Two questions. Which part explains it best? The likelihood ratio of all packets over it: each
 * bad one speaks for it by log2(rate / usual), each good one against it. The part at fault has all
 * the bad routes and no good ones; parts behind or around it have fewer of the one or more of the
 * other. And may it be accused? That each watcher decides by its own packets,
 * with a limited voice, at the rate that the lower middle one of them saw. It may not if most of
 * them have bad routes beside good ones there, or if one of its cables works: then something
 * smaller is bad.
 */
#include "map/map_state.h"

#include <string.h>

#define ONE_BIT 16
/* Losses in a row on every route of a part, and routes, that mean that nothing gets through. */
#define GONE_STREAK 3u
/* What makes a watcher's silence a contradiction: 1 : 2^4. */
#define REFUTED_BITS 4
#define UNEVEN_BITS 4
/* What makes chance no reason why some of a part's cables work: 1 : 2^8. */
#define SPARED_BITS 8

int64_t mm_log2(uint64_t x)
{
	uint32_t whole = 63 - (uint32_t)__builtin_clzll(x);
	uint64_t m = whole > 31 ? x >> (whole - 31) : x << (31 - whole);
	int64_t log = whole;

	/* m is the mantissa, 1 .. 2, times 2^31; its square is the next bit's mantissa. */
	for (int i = 0; i < ONE_BIT; i++) {
		m = m * m >> 31;
		log <<= 1;
		if (m >> 32) {
			m >>= 1;
			log |= 1;
		}
	}
	return log;
}

struct watcher {
	uint32_t host;
	struct mm_sum sum;
	uint32_t rate_ppm;
	uint32_t routes;
	int64_t uneven;	 /* bits << 16 by which its routes are better off with a rate each */
	uint64_t spared; /* packets of routes that had nothing bad, and how many those are */
	uint32_t spared_routes;
};

struct watch {
	struct watcher by[MM_WATCHERS_MAX];
	uint32_t n;
	struct mm_sum all;
	uint32_t routes, gone;
};

/* log2 of the likelihood of a sum at its own rate. */
static int64_t own_likelihood(const struct mm_sum *sum)
{
	uint64_t good = sum->known - sum->bad;
	int64_t all;

	/* What is certain has a likelihood of 1: so are most routes, and logarithms are dear. */
	if (sum->bad == 0 || good == 0)
		return 0;
	all = mm_log2(sum->known);
	return (int64_t)sum->bad * (mm_log2(sum->bad) - all) +
	       (int64_t)good * (mm_log2(good) - all);
}

static void watch_add(struct watch *w, uint32_t host, const struct mm_sum *sum)
{
	uint32_t i = 0;

	w->all.known += sum->known;
	w->all.bad += sum->bad;
	while (i < w->n && w->by[i].host != host)
		i++;
	if (i == MM_WATCHERS_MAX)
		return;
	if (i == w->n)
		w->by[w->n++] = (struct watcher){.host = host};
	w->by[i].sum.known += sum->known;
	w->by[i].sum.bad += sum->bad;
	w->by[i].routes++;
	w->by[i].uneven += own_likelihood(sum);
	if (sum->bad == 0) {
		w->by[i].spared += sum->known;
		w->by[i].spared_routes++;
	}
}

/* By rate, so that the middle one can be taken. Insertion: they are few. */
static void watch_sort(struct watch *w)
{
	for (uint32_t i = 0; i < w->n; i++) {
		struct watcher x = w->by[i];
		uint32_t j = i;

		x.rate_ppm = (uint32_t)(x.sum.bad * MM_PPM / x.sum.known);
		for (; j > 0 && w->by[j - 1].rate_ppm > x.rate_ppm; j--)
			w->by[j] = w->by[j - 1];
		w->by[j] = x;
	}
}

int64_t mm_likelihood(const struct mm_sum *sum, uint32_t rate_ppm, uint32_t usual_ppm)
{
	return (int64_t)sum->bad * (mm_log2(rate_ppm) - mm_log2(usual_ppm)) +
	       (int64_t)(sum->known - sum->bad) *
		       (mm_log2(MM_PPM - rate_ppm) - mm_log2(MM_PPM - usual_ppm));
}

static uint32_t bounded_rate(uint64_t ppm)
{
	return ppm > MM_RATE_MAX_PPM ? MM_RATE_MAX_PPM : (uint32_t)ppm;
}

/* The rate that those saw who saw anything. */
static uint32_t rate_of_accusers(const struct watch *w)
{
	struct mm_sum sum = {0, 0};

	for (uint32_t i = 0; i < w->n; i++)
		if (w->by[i].sum.bad) {
			sum.known += w->by[i].sum.known;
			sum.bad += w->by[i].sum.bad;
		}
	/* None of those that are kept may have seen what others did: MM_WATCHERS_MAX. */
	return sum.known ? bounded_rate(sum.bad * MM_PPM / sum.known) : 0;
}

/* Whether the middle watcher would have seen something of that, and did not. */
static bool watchers_refute(const struct watch *w, uint32_t usual)
{
	uint32_t rate = rate_of_accusers(w);

	if (rate <= usual)
		return true;
	return mm_likelihood(&w->by[(w->n - 1) / 2].sum, rate, usual) < -(REFUTED_BITS << ONE_BIT);
}

/* Chance makes routes uneven by less than a bit each, links that are crossed twice by the rest. */
static bool is_uneven(const struct watcher *w)
{
	int64_t chance = (int64_t)(w->routes + UNEVEN_BITS) << ONE_BIT;

	return w->uneven - own_likelihood(&w->sum) >
	       chance + ((int64_t)w->sum.bad << (ONE_BIT - 1));
}

/*
 * Whether some ports of a host or switch work that is to lose so much: then it is not that which
 * is bad. Of a host it alone may know: where two planes of three are dead to it no neighbour has a
 * route that works. That chance spares one of so many routes is as many times likelier than that
 * it spares this one, and that it spares all but one the same.
 */
static int64_t spared_bits(const struct watcher *w, uint32_t rate_ppm)
{
	uint32_t bad = w->routes - w->spared_routes;
	uint32_t fewer = bad < w->spared_routes ? bad : w->spared_routes;

	return (int64_t)w->spared * (mm_log2(MM_PPM) - mm_log2(MM_PPM - rate_ppm)) -
	       fewer * mm_log2(w->routes);
}

static bool host_works_in_part(const struct watch *w, uint32_t host, uint32_t rate_ppm)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (w->by[i].host == host)
			return spared_bits(&w->by[i], rate_ppm) > SPARED_BITS << ONE_BIT;
	return false;
}

/*
 * By routes: hosts of other T0s, which cross a switch by two or three alone, are the most and
 * cannot tell two of its cables from all of it.
 */
static bool watchers_are_uneven(const struct watch *w)
{
	uint32_t uneven = 0, with_bad = 0;

	for (uint32_t i = 0; i < w->n; i++) {
		if (w->by[i].sum.bad)
			with_bad += w->by[i].routes;
		if (is_uneven(&w->by[i]))
			uneven += w->by[i].routes;
	}
	return 2 * uneven > with_bad;
}

static bool watchers_accuse(const struct mm_cfg *cfg, const struct mm_part *part,
			    enum mm_symptom symptom, const struct watch *w, struct mm_fit *fit)
{
	uint32_t usual = cfg->usual_ppm[symptom];
	int64_t need = (int64_t)cfg->bits << ONE_BIT, voice = need * 3 / 5, sum = 0;
	uint32_t rate = bounded_rate(w->by[(w->n - 1) / 2].rate_ppm);

	if (rate < cfg->least_ppm[symptom] || w->all.bad < 2)
		return false;
	/* Whose word stands alone says that of most of what it sees. */
	if (part->kind == MM_WITNESS && 2 * rate < MM_PPM)
		return false;
	if (w->n > 1 && fit->for_it < 2)
		return false;
	for (uint32_t i = 0; i < w->n; i++) {
		int64_t one = mm_likelihood(&w->by[i].sum, rate, usual);

		if (w->n > 1 && one > voice)
			one = voice;
		if (w->n > 1 && one < -voice)
			one = -voice;
		sum += one;
	}
	fit->rate_ppm = rate;
	return sum >= need;
}

static void watch_routes(struct mm_map *map, const struct mm_part *part, uint32_t window,
			 enum mm_symptom symptom, uint64_t now_ns, struct watch *w)
{
	struct mm_walk walk;
	struct mm_route *r;

	mm_walk_begin(&walk, map, part);
	while ((r = mm_walk_next(&walk))) {
		struct mm_sum sum;

		if (r->explained)
			continue;
		sum = mm_route_sum(map, r, window, symptom, now_ns);
		if (sum.known == 0)
			continue;
		watch_add(w, r->of.witness, &sum);
		w->routes++;
		w->gone += r->streak >= GONE_STREAK;
	}
}

/* What is looked at: counts of a symptom in a window, now. */
struct look {
	uint32_t window;
	enum mm_symptom symptom;
	uint64_t now_ns;
};

/* Whether a route goes up to a cable, over it and back by the way that it came. */
static bool turns_behind(const struct mm_route *r, uint32_t cable)
{
	uint32_t top = r->of.links / 2;

	return r->of.links % 2 == 0 && r->of.link[top - 1] >> 1 == cable &&
	       r->of.link[top] >> 1 == cable;
}

static bool crosses_by(const struct mf_topology *t, const struct mm_part *part,
		       const struct mm_route *r, uint32_t cable)
{
	for (uint32_t i = 0; i < r->of.links; i++)
		if (r->of.link[i] >> 1 != cable && mm_part_has(t, part, r->of.link[i]))
			return false;
	return true;
}

/*
 * Whether a route tells of a part by one of its cables. Those that turn behind it do: others cross
 * what may be bad beyond it. A host has one such route, so of its port in a transceiver all of its
 * own that cross no other do.
 */
static bool tells_by(const struct mf_topology *t, const struct mm_part *part,
		     const struct mm_route *r, uint32_t cable)
{
	struct mf_link link = mf_link_at(t, cable << 1);

	if (link.kind != MF_HOST_T0)
		return turns_behind(r, cable);
	return part->kind == MM_TRANSCEIVER && r->of.witness == link.lower &&
	       crosses_by(t, part, r, cable);
}

/*
 * Whether most of those who come to a part by one of its cables see that it works. Of a transceiver
 * that a host has a port in it may be that host alone.
 */
static bool works_by(struct mm_map *map, const struct mm_part *part, uint32_t cable,
		     const struct look *at, uint32_t rate_ppm)
{
	const struct mm_part over = {.kind = MM_CABLE, .id = cable};
	struct watch w;
	struct mm_walk walk;
	struct mm_route *r;
	int64_t all = 0;
	uint32_t good = 0;

	w.n = 0;
	w.all = (struct mm_sum){0, 0};
	mm_walk_begin(&walk, map, &over);
	while ((r = mm_walk_next(&walk))) {
		struct mm_sum sum = mm_route_sum(map, r, at->window, at->symptom, at->now_ns);

		if (sum.known && tells_by(map->t, part, r, cable))
			watch_add(&w, r->of.witness, &sum);
	}
	for (uint32_t i = 0; i < w.n; i++) {
		int64_t bits = spared_bits(&w.by[i], rate_ppm);

		good += bits > 0;
		all += bits > 0 ? bits : 0;
	}
	return (part->kind == MM_TRANSCEIVER || w.n > 1) && 2 * good > w.n &&
	       all > SPARED_BITS << ONE_BIT;
}

/*
 * Whether some of the cables of a part work that is to lose so much: then it is not that. Of a
 * cable of a host its word stands alone, so that it takes two of those: one may lie.
 */
static bool works_in_part(struct mm_map *map, const struct mm_part *part, const struct look *at,
			  uint32_t rate_ppm)
{
	struct mm_part whole = *part;
	uint32_t link, words = 0;

	whole.direction = MF_DIRECTION_BOTH;
	for (uint32_t i = 0; (link = mm_part_link(map->t, &whole, i)) != MF_LINK_NONE; i++)
		if (!(link & 1) && works_by(map, part, link >> 1, at, rate_ppm))
			words += mf_link_kind(map->t, link) == MF_HOST_T0 ? 1 : 2;
	return words > 1;
}

/* A host is looked at as a whole, and of a plane there are no links to go over. */
static bool has_cables(enum mm_part_kind kind)
{
	return kind == MM_CABLE || kind == MM_SWITCH || kind == MM_TRANSCEIVER;
}

/* Whether it is something smaller than the part that is bad. */
static bool is_smaller(struct mm_map *map, const struct mm_part *part, const struct watch *w,
		       const struct look *at, uint32_t rate_ppm)
{
	if (watchers_are_uneven(w))
		return true;
	if (part->kind == MM_HOST)
		return host_works_in_part(w, part->id, rate_ppm);
	return has_cables(part->kind) && works_in_part(map, part, at, rate_ppm);
}

struct mm_fit mm_part_fit(struct mm_map *map, const struct mm_part *part, uint32_t window,
			  enum mm_symptom symptom, uint64_t now_ns)
{
	uint32_t usual = map->cfg.usual_ppm[symptom];
	struct watch w;
	struct mm_fit fit = {0};

	w.n = w.routes = w.gone = 0;
	w.all = (struct mm_sum){0, 0};
	watch_routes(map, part, window, symptom, now_ns, &w);
	if (w.all.bad == 0 || w.all.bad * MM_PPM < w.all.known * usual)
		return fit;
	watch_sort(&w);
	fit.watchers = w.n;
	for (uint32_t i = 0; i < w.n; i++)
		fit.for_it += w.by[i].sum.bad > 0;
	fit.rank = mm_likelihood(&w.all, bounded_rate(w.all.bad * MM_PPM / w.all.known), usual);
	fit.rate_ppm = rate_of_accusers(&w);
	fit.accused = watchers_accuse(&map->cfg, part, symptom, &w, &fit);
	fit.open = !fit.accused && part->kind != MM_WITNESS && !watchers_refute(&w, usual);
	/* Last: it goes over the routes of each cable of the part. */
	if ((fit.accused || fit.open) &&
	    is_smaller(map, part, &w, &(struct look){window, symptom, now_ns}, fit.rate_ppm))
		fit.accused = fit.open = false;
	/* At the rate that is to be reported: good packets speak loudly against a dead part. */
	if (fit.accused)
		fit.rank = mm_likelihood(&w.all, fit.rate_ppm, usual);
	fit.all_gone = symptom == MM_LOST && w.gone == w.routes;
	return fit;
}
