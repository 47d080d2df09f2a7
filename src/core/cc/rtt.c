/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rtt.c - the estimator of round-trip times: mean, deviation, smallest and slowly sinking largest
 * sample, and the times that loss detection and probes derive from them.
 */
#include "core/cc/cc.h"

#include "base/assert.h"

/* The largest sample sinks towards the mean by this part of their distance with each sample. */
#define MAX_DECAY_SHIFT 6

void mt_rtt_sample(struct mt_rtt *r, uint64_t rtt_ns)
{
	uint64_t off;

	if (rtt_ns < r->min_ns)
		r->min_ns = rtt_ns;
	if (r->smoothed_ns == 0) {
		r->smoothed_ns = r->max_ns = rtt_ns;
		r->deviation_ns = rtt_ns / 2;
		return;
	}
	off = rtt_ns > r->smoothed_ns ? rtt_ns - r->smoothed_ns : r->smoothed_ns - rtt_ns;
	r->deviation_ns = r->deviation_ns - r->deviation_ns / 4 + off / 4;
	r->smoothed_ns = r->smoothed_ns - r->smoothed_ns / 8 + rtt_ns / 8;
	if (rtt_ns >= r->max_ns)
		r->max_ns = rtt_ns;
	else if (r->max_ns > r->smoothed_ns)
		r->max_ns -= (r->max_ns - r->smoothed_ns) >> MAX_DECAY_SHIFT;
	mb_assert(r->min_ns <= r->smoothed_ns && r->min_ns <= r->max_ns);
}

uint64_t mt_rtt_reorder_window(const struct mt_rtt *r, const struct mt_timing *t)
{
	uint64_t spread =
		r->smoothed_ns ? r->max_ns - r->min_ns + t->port_hold_ns : t->reorder_max_ns;

	if (spread < t->reorder_min_ns)
		return t->reorder_min_ns;
	return spread < t->reorder_max_ns ? spread : t->reorder_max_ns;
}

uint64_t mt_rtt_tail_probe(const struct mt_rtt *r, const struct mt_timing *t)
{
	uint64_t wait = 2 * r->smoothed_ns + 4 * r->deviation_ns;

	return wait < t->tail_probe_min_ns ? t->tail_probe_min_ns : wait;
}

uint64_t mt_rtt_silence(const struct mt_rtt *r, const struct mt_timing *t)
{
	uint64_t window = mt_rtt_reorder_window(r, t);
	uint64_t answer = 2 * r->smoothed_ns + 4 * r->deviation_ns;

	return answer > window ? answer : window;
}
