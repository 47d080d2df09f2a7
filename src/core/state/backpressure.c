/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * backpressure.c - what a receiver that loses packets for want of buffers asks of its senders: a
 * window penalty for some RTTs, and smaller windows after that. See the header.
 */
#include "core/state/engine_state.h"

#include "base/assert.h"
#include "core/types.h"

/* In every SACK of an RTT this halves the sender's window. */
#define PENALTY 64u
/* An episode that lasts longer than this many periods is more than a burst. */
#define BURST_PERIODS 2u
/* Overflow this soon after the last episode belongs to it. */
#define RELAPSE_PERIODS 16u

#define WHOLE 256u
/* Half of a window comes back in 16 periods. */
#define STEP 8u

/* What remains of windows, in 1/WHOLE: what was taken off last comes back step by step. */
static uint32_t part_left(const struct mt_backpressure *p, uint64_t now_ns, uint64_t period_ns)
{
	uint64_t back = (now_ns - p->cut_ns) / period_ns * STEP;

	mb_assert(p->cut <= WHOLE);
	return (uint32_t)(WHOLE - (p->cut > back ? p->cut - back : 0));
}

void mt_backpressure_overflow(struct mt_backpressure *p, uint64_t now_ns, uint64_t period_ns)
{
	bool first = p->until_ns == 0;

	mb_assert(period_ns > 0);
	if (first || now_ns > p->until_ns + RELAPSE_PERIODS * period_ns)
		p->began_ns = now_ns;
	if (first || now_ns - p->cut_ns >= period_ns) {
		p->cut = (uint16_t)(WHOLE - part_left(p, now_ns, period_ns) / 2);
		mb_assert(p->cut >= WHOLE / 2);
		p->cut_ns = now_ns;
	}
	p->until_ns = now_ns + period_ns;
}

uint8_t mt_backpressure_penalty(const struct mt_backpressure *p, uint64_t now_ns)
{
	return now_ns < p->until_ns ? PENALTY : 0;
}

bool mt_backpressure_restore(const struct mt_backpressure *p, uint64_t now_ns, uint64_t period_ns)
{
	return p->until_ns != 0 && now_ns >= p->until_ns &&
	       p->until_ns - p->began_ns <= BURST_PERIODS * period_ns;
}

uint8_t mt_backpressure_mpr(const struct mt_backpressure *p, uint64_t now_ns, uint64_t period_ns,
			    uint8_t mpr, uint32_t receivers)
{
	uint32_t units = mpr;

	mb_assert(mpr > 0);
	if (p->capacity) {
		uint32_t part = p->capacity / MT_MPR_UNIT / (receivers ? receivers : 1);

		units = part < units ? part : units;
	}
	units = units * part_left(p, now_ns, period_ns) / WHOLE;
	return (uint8_t)(units ? units : 1);
}
