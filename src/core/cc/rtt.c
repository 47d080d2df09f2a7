/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rtt.c - the estimator of round-trip times: mean, deviation, smallest sample, and the times that
 * probes derive from them.
 */
#include "core/cc/cc.h"

#include "base/assert.h"

void mt_rtt_sample(struct mt_rtt *r, uint64_t rtt_ns)
{
	uint64_t off;

	if (rtt_ns < r->min_ns)
		r->min_ns = rtt_ns;
	if (r->smoothed_ns == 0) {
		r->smoothed_ns = rtt_ns;
		r->deviation_ns = rtt_ns / 2;
		return;
	}
	off = rtt_ns > r->smoothed_ns ? rtt_ns - r->smoothed_ns : r->smoothed_ns - rtt_ns;
	r->deviation_ns = r->deviation_ns - r->deviation_ns / 4 + off / 4;
	r->smoothed_ns = r->smoothed_ns - r->smoothed_ns / 8 + rtt_ns / 8;
	mb_assert(r->min_ns <= r->smoothed_ns);
}

uint64_t mt_rtt_tail_probe(const struct mt_rtt *r, const struct mt_timing *t)
{
	uint64_t wait = 2 * r->smoothed_ns + 4 * r->deviation_ns;

	return wait < t->tail_probe_min_ns ? t->tail_probe_min_ns : wait;
}

uint64_t mt_rtt_silence(const struct mt_rtt *r, uint64_t window_ns)
{
	uint64_t answer = 2 * r->smoothed_ns + 4 * r->deviation_ns;

	return answer > window_ns ? answer : window_ns;
}
