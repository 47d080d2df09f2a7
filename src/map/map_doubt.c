/* SPDX-License-Identifier: BSD-2-Clause */
/* map_doubt.c - see map_doubt.h. */
#include "map/map_doubt.h"

#include <stddef.h>

/* Slots that are looked at for a cable: one that finds none of them free is left out. */
#define TRIES 8u

static uint32_t place_of(uint32_t cable, uint32_t try)
{
	return ((uint32_t)(cable * UINT64_C(0x9e3779b97f4a7c15) >> 32) + try) & (MM_DOUBTS_MAX - 1);
}

static const struct mm_doubt_slot *find(const struct mm_doubts *d, uint32_t cable)
{
	for (uint32_t try = 0; try < TRIES; try++) {
		const struct mm_doubt_slot *s = &d->slot[place_of(cable, try)];

		if (s->cable == cable + 1)
			return s;
	}
	return NULL;
}

static bool is_over(const struct mm_doubt_slot *s, uint64_t step)
{
	return s->bad_until <= step && s->slow_until[0] <= step && s->slow_until[1] <= step;
}

/* The slot of a cable, a new one where it has none; NULL: there is no room. */
static struct mm_doubt_slot *take(struct mm_doubts *d, uint32_t cable, uint64_t step)
{
	const struct mm_doubt_slot *old = find(d, cable);

	if (old)
		return &d->slot[old - d->slot];
	for (uint32_t try = 0; try < TRIES; try++) {
		struct mm_doubt_slot *s = &d->slot[place_of(cable, try)];

		if (!is_over(s, step))
			continue;
		*s = (struct mm_doubt_slot){.cable = cable + 1};
		return s;
	}
	return NULL;
}

void mm_doubts_add(struct mm_doubts *d, const struct mm_route_of *of, enum mm_doubt what,
		   uint64_t step, uint64_t until)
{
	for (uint32_t i = 0; i < of->links; i++) {
		struct mm_doubt_slot *s = take(d, of->link[i] >> 1, step);
		uint64_t *at;

		if (!s)
			continue;
		at = what == MM_DOUBT_SLOW ? &s->slow_until[of->link[i] & 1] : &s->bad_until;
		*at = *at < until ? until : *at;
	}
	if (d->until[what] <= step)
		d->since[what] = step;
	if (d->until[what] < until)
		d->until[what] = until;
}

void mm_doubts_not_slow(struct mm_doubts *d, const struct mm_route_of *of)
{
	for (uint32_t i = 0; i < of->links; i++) {
		const struct mm_doubt_slot *s = find(d, of->link[i] >> 1);

		if (s)
			d->slot[s - d->slot].slow_until[of->link[i] & 1] = 0;
	}
}

static bool has(const struct mm_doubts *d, uint32_t link, enum mm_doubt what, uint64_t step)
{
	const struct mm_doubt_slot *s = find(d, link >> 1);

	return s && (what == MM_DOUBT_SLOW ? s->slow_until[link & 1] : s->bad_until) > step;
}

bool mm_doubts_has(const struct mm_doubts *d, const struct mm_route_of *of, enum mm_doubt what,
		   uint64_t step)
{
	bool is_short = of->links <= 2 || of->peer != MM_NO_HOST;
	uint32_t first = is_short ? 0 : 1, end = is_short ? of->links : of->links - 1;

	if (d->until[what] <= step)
		return false;
	for (uint32_t i = first; i < end; i++)
		if (has(d, of->link[i], what, step))
			return true;
	return false;
}
