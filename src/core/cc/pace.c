/* SPDX-License-Identifier: BSD-2-Clause */
/* pace.c - how the gap between packets is said, and how it changes. See the header. */
#include "core/cc/pace.h"

#include "base/assert.h"
#include "base/bits.h"

/* A code is (16 + its low half) << its high half, in units of 2 ns. */
#define UNIT_SHIFT 1u
#define STEPS 16u
#define CODE_MAX 255u

uint32_t mt_pace_decode(uint8_t code)
{
	return code ? (STEPS + code % STEPS) << code / STEPS << UNIT_SHIFT : 0;
}

uint8_t mt_pace_encode(uint64_t gap_ns)
{
	uint64_t units = (gap_ns + 1) >> UNIT_SHIFT;
	uint32_t shift;

	if (units <= STEPS)
		return 1;
	shift = mb_log2(units) - 4u;
	units = (units + (UINT64_C(1) << shift) - 1) >> shift; /* 16 to 32 of 2^shift */
	units += (uint64_t)shift * STEPS - STEPS;
	return units > CODE_MAX ? CODE_MAX : (uint8_t)units;
}

void mt_pace_set(struct mt_pace *p, uint64_t now_ns, uint32_t gap_ns, uint32_t random)
{
	mb_assert(gap_ns > 0);
	p->gap_ns = gap_ns;
	p->next_ns = now_ns + ((uint64_t)gap_ns * random >> 32);
}

/*
 * By a quarter: a half makes the queue swing until it is cut, an eighth leaves the last hop idle
 * when others have finished. The queue is short below the delay that congestion control aims at.
 */
void mt_pace_arrived(struct mt_pace *p, uint64_t delay_ns, uint64_t base_rtt_ns)
{
	mb_assert_slow(base_rtt_ns > 0);
	if (delay_ns < base_rtt_ns - base_rtt_ns / 4)
		p->gap_ns -= p->gap_ns / 4;
	if (p->gap_ns < base_rtt_ns / 64)
		p->gap_ns = 0;
}
