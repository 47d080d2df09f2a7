/* SPDX-License-Identifier: BSD-2-Clause */
/* reorder.c - the smallest and the largest RTT of a destination. See the header. */
#include "core/ev/reorder.h"

#include "base/assert.h"

/* The largest sinks by this part of its distance to a later sample of its EV ... */
#define SINK_SHIFT 1
/*
 * ... and by this part with any sample when so many times the samples of a round over all EVs have
 * brought none: an EV in the rotation is sampled once or twice in two rounds.
 */
#define SINK_SHIFT_OTHERS 6
#define ROUNDS_MAX 8u
/* Samples are of single packets; others of the slowest EV may be later by this part of it. */
#define MARGIN_SHIFT 2
/* An EV of which nothing was heard is given so many of the shortest round trips. */
#define UNKNOWN_RTTS 4u

void mt_reorder_init(struct mt_reorder *r, uint16_t n_evs)
{
	mb_assert(n_evs <= MT_EVS_MAX);
	*r = (struct mt_reorder){
		.min_ns = UINT64_MAX, .ev = UINT16_MAX, .most = (uint16_t)(ROUNDS_MAX * n_evs)};
}

/* REQ(req.loss.slowest-ev) */
void mt_reorder_sample(struct mt_reorder *r, uint16_t ev, uint64_t rtt_ns)
{
	if (rtt_ns < r->min_ns)
		r->min_ns = rtt_ns;
	if (rtt_ns >= r->max_ns) {
		r->max_ns = rtt_ns;
		r->ev = ev;
		r->age = 0;
	} else if (ev == r->ev) {
		r->max_ns -= (r->max_ns - rtt_ns) >> SINK_SHIFT;
		r->age = 0;
	} else if (r->age < r->most) {
		r->age++;
	} else {
		r->max_ns -= (r->max_ns - rtt_ns) >> SINK_SHIFT_OTHERS;
	}
	mb_assert(r->min_ns <= r->max_ns);
}

void mt_reorder_retire(struct mt_reorder *r, uint16_t ev)
{
	if (ev == r->ev)
		r->age = r->most;
}

uint64_t mt_reorder_window(const struct mt_reorder *r, const struct mt_timing *t)
{
	uint64_t spread = r->max_ns - r->min_ns;
	uint64_t window = spread + (spread >> MARGIN_SHIFT) + t->port_hold_ns;

	if (r->min_ns == UINT64_MAX)
		return t->reorder_max_ns;
	if (window < t->reorder_min_ns)
		return t->reorder_min_ns;
	return window < t->reorder_max_ns ? window : t->reorder_max_ns;
}

uint64_t mt_reorder_window_unknown(const struct mt_reorder *r, const struct mt_timing *t)
{
	uint64_t known = mt_reorder_window(r, t);
	uint64_t wait;

	if (r->min_ns >= t->reorder_max_ns / UNKNOWN_RTTS)
		return t->reorder_max_ns;
	wait = UNKNOWN_RTTS * r->min_ns;
	return wait > known ? wait : known;
}
