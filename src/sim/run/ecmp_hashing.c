/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ecmp_hashing.c - the exact distribution link by link. When i links are filled the next one takes
 * of the flows that are left a binomial number, each with the chance 1 / (links left); P(no link
 * has more than k) follows by going through all links with all numbers of flows left. The chance of
 * b flows of r is built up from that of b - 1, so that nothing overflows. Groups are independent.
 */
#include "sim/run/ecmp_hashing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"

static bool is_cfg_valid(const struct ms_hashing_cfg *c)
{
	return c->flows >= 1 && c->flows <= MS_HASHING_FLOWS_MAX && c->links >= 1 &&
	       c->links <= MS_HASHING_LINKS_MAX && c->groups >= 1 &&
	       c->groups <= MS_HASHING_GROUPS_MAX;
}

/* One link, of `left` that are not filled, takes at most k of the flows: now -> next by flows
 * left. */
static void fill_link(const double *now, double *next, uint32_t flows, uint32_t left, uint32_t k)
{
	memset(next, 0, (flows + 1) * sizeof(*next));
	for (uint32_t r = 0; r <= flows; r++) {
		double p;

		if (now[r] < 1e-18)
			continue;
		if (left == 1) { /* the last one takes all */
			if (r <= k)
				next[0] += now[r];
			continue;
		}
		p = exp((double)r * log1p(-1.0 / left)); /* takes none */
		for (uint32_t b = 0; b <= r && b <= k; b++) {
			next[r - b] += now[r] * p;
			p *= (double)(r - b) / (b + 1) / (left - 1);
			if (p < 1e-18 && b > r / left)
				break;
		}
	}
}

/* P(no link of one group has more than k flows). */
static double none_above(const struct ms_hashing_cfg *c, uint32_t k, double *now, double *next)
{
	memset(now, 0, (c->flows + 1) * sizeof(*now));
	now[c->flows] = 1;
	for (uint32_t left = c->links; left > 0; left--) {
		double *was = now;

		fill_link(now, next, c->flows, left, k);
		now = next;
		next = was;
	}
	return now[0] < 1 ? now[0] : 1;
}

/* REQ(sim.hashing) */
bool ms_hashing_exact(const struct ms_hashing_cfg *c, struct ms_hashing *out)
{
	double *scratch, below = 0;
	uint32_t first = c->links ? (c->flows + c->links - 1) / c->links : 0;

	*out = (struct ms_hashing){0};
	if (!is_cfg_valid(c))
		return false;
	scratch = calloc(2 * ((size_t)c->flows + 1), sizeof(*scratch));
	if (!scratch)
		return false;
	out->mean_worst = first;
	for (uint32_t k = first; k <= c->flows && below < 1 - 1e-9; k++) {
		below = pow(none_above(c, k, scratch, scratch + c->flows + 1), c->groups);
		out->mean_worst += 1 - below;
		if (out->p50 == 0 && below >= 0.5)
			out->p50 = k;
		if (out->p99 == 0 && below >= 0.99)
			out->p99 = k;
	}
	free(scratch);
	out->over_mean = out->mean_worst * c->links / c->flows;
	return true;
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static uint32_t worst_of(const struct ms_hashing_cfg *c, uint32_t *load, struct mb_prng *r)
{
	uint32_t worst = 0;

	for (uint32_t g = 0; g < c->groups; g++) {
		memset(load, 0, c->links * sizeof(*load));
		for (uint32_t i = 0; i < c->flows; i++) {
			uint32_t n = ++load[mb_prng_below(r, c->links)];

			worst = n > worst ? n : worst;
		}
	}
	return worst;
}

bool ms_hashing_draw(const struct ms_hashing_cfg *c, uint32_t trials, uint64_t seed,
		     struct ms_hashing *out)
{
	uint32_t *load, *worst;
	struct mb_prng r;

	*out = (struct ms_hashing){0};
	if (!is_cfg_valid(c) || trials == 0)
		return false;
	load = malloc(((size_t)c->links + trials) * sizeof(*load));
	if (!load)
		return false;
	worst = load + c->links;
	mb_prng_init(&r, seed);
	for (uint32_t i = 0; i < trials; i++) {
		worst[i] = worst_of(c, load, &r);
		out->mean_worst += worst[i];
	}
	qsort(worst, trials, sizeof(*worst), by_value);
	out->p50 = worst[(trials * UINT64_C(50) + 99) / 100 - 1];
	out->p99 = worst[(trials * UINT64_C(99) + 99) / 100 - 1];
	free(load);
	out->mean_worst /= trials;
	out->over_mean = out->mean_worst * c->links / c->flows;
	return true;
}
