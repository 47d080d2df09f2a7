/* SPDX-License-Identifier: BSD-2-Clause */
/* map_doubt.c - see map_doubt.h. */
#include "map/map_doubt.h"

/* Slots that are looked at for a cable: one that finds none of them free is left out. */
#define TRIES 8u

static uint32_t place_of(uint32_t cable, uint32_t try)
{
	return ((uint32_t)(cable * UINT64_C(0x9e3779b97f4a7c15) >> 32) + try) & (MM_DOUBTS_MAX - 1);
}

static bool is_over(const struct mm_doubts *d, uint32_t at, uint64_t step)
{
	return d->slot[at].until[MM_DOUBT_BAD] <= step && d->slot[at].until[MM_DOUBT_SLOW] <= step;
}

static void add(struct mm_doubts *d, uint32_t cable, enum mm_doubt what, uint64_t until,
		uint64_t step)
{
	uint32_t slot = MM_DOUBTS_MAX;

	for (uint32_t try = 0; try < TRIES; try++) {
		uint32_t at = place_of(cable, try);

		if (d->slot[at].cable == cable + 1) {
			slot = at;
			break;
		}
		if (slot == MM_DOUBTS_MAX && is_over(d, at, step))
			slot = at;
	}
	if (slot == MM_DOUBTS_MAX)
		return;
	if (d->slot[slot].cable != cable + 1) {
		d->slot[slot].cable = cable + 1;
		d->slot[slot].until[MM_DOUBT_BAD] = d->slot[slot].until[MM_DOUBT_SLOW] = 0;
	}
	if (d->slot[slot].until[what] < until)
		d->slot[slot].until[what] = until;
}

void mm_doubts_add(struct mm_doubts *d, const struct mm_route_of *of, enum mm_doubt what,
		   uint64_t step, uint64_t until)
{
	for (uint32_t i = 0; i < of->links; i++)
		add(d, of->link[i] >> 1, what, until, step);
	if (d->until[what] < until)
		d->until[what] = until;
}

static bool has(const struct mm_doubts *d, uint32_t cable, enum mm_doubt what, uint64_t step)
{
	for (uint32_t try = 0; try < TRIES; try++) {
		uint32_t at = place_of(cable, try);

		if (d->slot[at].cable == cable + 1)
			return d->slot[at].until[what] > step;
	}
	return false;
}

bool mm_doubts_has(const struct mm_doubts *d, const struct mm_route_of *of, enum mm_doubt what,
		   uint64_t step)
{
	bool is_short = of->links <= 2 || of->peer != MM_NO_HOST;
	uint32_t first = is_short ? 0 : 1, end = is_short ? of->links : of->links - 1;

	if (d->until[what] <= step)
		return false;
	for (uint32_t i = first; i < end; i++)
		if (has(d, of->link[i] >> 1, what, step))
			return true;
	return false;
}
