/* SPDX-License-Identifier: BSD-2-Clause */
/* map_doubt.c - see map_doubt.h. */
#include "map/map_doubt.h"

#include <stddef.h>

#include "fabric/fabric_node.h"

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

/*
 * One train over a direction says little about whether the other alone is slow: it takes some more,
 * so of a cable that is in doubt both directions are.
 */
static bool was_fast(const struct mm_doubts *d, uint32_t link, uint64_t step)
{
	const struct mm_doubt_slot *s = find(d, link >> 1);

	return s && s->fast_until[link & 1] > step && s->slow_until[~link & 1] <= step;
}

static bool all_were_fast(const struct mm_doubts *d, const struct mm_route_of *of, uint64_t step)
{
	for (uint32_t i = 0; i < of->links; i++)
		if (!was_fast(d, of->link[i], step))
			return false;
	return true;
}

void mm_doubts_add(struct mm_doubts *d, const struct mm_route_of *of, enum mm_doubt what,
		   uint64_t step, uint64_t until)
{
	bool all = what != MM_DOUBT_SLOW || all_were_fast(d, of, step);

	for (uint32_t i = 0; i < of->links; i++) {
		struct mm_doubt_slot *s = take(d, of->link[i] >> 1, step);
		uint64_t *at;

		if (!s || (!all && was_fast(d, of->link[i], step)))
			continue;
		at = what == MM_DOUBT_SLOW ? &s->slow_until[of->link[i] & 1] : &s->bad_until;
		*at = *at < until ? until : *at;
	}
	if (d->until[what] <= step)
		d->since[what] = step;
	if (d->until[what] < until)
		d->until[what] = until;
}

void mm_doubts_not_slow(struct mm_doubts *d, const struct mm_route_of *of, uint64_t step,
			uint64_t until)
{
	if (d->until[MM_DOUBT_SLOW] <= step)
		return;
	for (uint32_t i = 0; i < of->links; i++) {
		struct mm_doubt_slot *s = take(d, of->link[i] >> 1, step);

		if (!s)
			continue;
		s->slow_until[of->link[i] & 1] = 0;
		s->fast_until[of->link[i] & 1] = until;
	}
}

static bool has(const struct mm_doubts *d, uint32_t link, enum mm_doubt what, uint64_t step)
{
	const struct mm_doubt_slot *s = find(d, link >> 1);

	return s && (what == MM_DOUBT_SLOW ? s->slow_until[link & 1] : s->bad_until) > step;
}

static bool any_of(const struct mm_doubts *d, const struct mm_route_of *of, uint32_t first,
		   uint32_t end, enum mm_doubt what, uint64_t step)
{
	if (d->until[what] <= step)
		return false;
	for (uint32_t i = first; i < end; i++)
		if (has(d, of->link[i], what, step))
			return true;
	return false;
}

bool mm_doubts_has(const struct mm_doubts *d, const struct mm_route_of *of, enum mm_doubt what,
		   uint64_t step)
{
	bool is_short = of->links <= 2 || of->peer != MM_NO_HOST;

	return any_of(d, of, is_short ? 0 : 1, is_short ? of->links : of->links - 1, what, step);
}

bool mm_doubts_touches(const struct mm_doubts *d, const struct mm_route_of *of, enum mm_doubt what,
		       uint64_t step)
{
	return any_of(d, of, 0, of->links, what, step);
}

bool mm_doubts_any_slow(const struct mm_doubts *d, const struct mf_topology *t, bool of_hosts,
			uint64_t step)
{
	for (uint32_t i = 0; i < MM_DOUBTS_MAX; i++) {
		const struct mm_doubt_slot *s = &d->slot[i];

		if ((s->slow_until[0] > step || s->slow_until[1] > step) &&
		    (mf_link_kind(t, (s->cable - 1) << 1) == MF_HOST_T0) == of_hosts)
			return true;
	}
	return false;
}
