/* SPDX-License-Identifier: BSD-2-Clause */
/* flight.c - the end of a round: what a port carries, and how many packets that keeps busy. */
#include "core/ev/flight.h"

/* Two mean round trips: with less, planes of a fabric that is busy take turns to be called slow. */
#define ROUND_TRIPS 2u
/* An RTT is about the base if it is longer by no more than this part; growth is twice as fast. */
#define BASE_SHIFT 3u
#define GROWTH_SHIFT 2u
/* So many rounds without the base are no chance, and a round in nine costs little. */
#define AGE_MAX 8u
/* Less is sent in the round that looks for the base, and arrives in the one after it. */
#define ROUNDS_UNLIKE 2u

static uint32_t clamp_ns(uint64_t ns)
{
	return ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
}

static void update_gap(struct mt_flight *f, uint64_t now_ns)
{
	uint64_t gap_ns = (now_ns > f->round_ns ? now_ns - f->round_ns : 0) / f->arrived;

	if (f->unlike > 0)
		f->unlike--;
	else
		f->gap_ns = gap_ns ? clamp_ns(gap_ns) : 1;
}

/* With no more than the least in flight nothing of an RTT is a queue of this QP's own. */
static void update_base(struct mt_flight *f, uint32_t least)
{
	if (f->most <= least || f->base_ns == 0 || f->least_ns < f->base_ns) {
		f->base_ns = f->least_ns;
		f->age = 0;
	} else if (f->least_ns - f->base_ns <= f->base_ns >> BASE_SHIFT) {
		f->age = 0;
	} else {
		f->age++;
	}
}

static void set_most(struct mt_flight *f, const struct mt_flight_bounds *b)
{
	uint64_t time_ns = ROUND_TRIPS * b->smoothed_ns;
	uint64_t base_ns = (uint64_t)f->base_ns + (f->base_ns >> GROWTH_SHIFT);
	uint64_t most = UINT16_MAX;

	if (base_ns <= time_ns)
		f->age = 0; /* the base does not matter */
	if (f->age >= AGE_MAX) {
		f->most = (uint16_t)b->least;
		f->unlike = ROUNDS_UNLIKE;
		return;
	}
	if (f->gap_ns > 0 && b->smoothed_ns > 0)
		most = (base_ns > time_ns ? base_ns : time_ns) / f->gap_ns;
	if (most > b->share)
		most = b->share;
	if (most < b->least)
		most = b->least;
	f->most = (uint16_t)(most < UINT16_MAX ? most : UINT16_MAX);
}

void mt_flight_end_round(struct mt_flight *f, uint64_t now_ns, const struct mt_flight_bounds *b)
{
	mb_assert(f->arrived > 0 && b->least > 0 && b->least <= UINT16_MAX);
	update_gap(f, now_ns);
	update_base(f, b->least);
	set_most(f, b);
	mt_flight_begin_round(f, now_ns);
}
