/* SPDX-License-Identifier: BSD-2-Clause */
/* slowest.c - the longest time that a peer took to answer lately. See the header. */
#include "core/ev/slowest.h"

#include <stdbool.h>

/* The length of an interval, in times of the longest answer of it and of the one before. */
#define INTERVAL_TIMES 64u
/*
 * No pause for want of a core is longer. A host that was suspended finds samples of hours, and
 * would wait for as long for what is lost.
 */
#define TOOK_MAX_NS UINT64_C(1000000000)
/* By so many units, a second, the stamp of an arrival may be behind that of one before. */
#define BEHIND_MAX (UINT32_C(1) << 16)

_Static_assert(TOOK_MAX_NS >> MT_SLOWEST_LOG2 < UINT16_MAX, "the longest fits");

/* The highest bits are gone: after a silence of just 19 hours the interval goes on for one more. */
static bool is_over(const struct mt_slowest *s, uint32_t now)
{
	uint32_t most = s->now > s->before ? s->now : s->before, since = now - s->began;

	return since > INTERVAL_TIMES * most && since < UINT32_MAX - BEHIND_MAX;
}

/* REQ(req.retry.slow-peer) */
void mt_slowest_sample(struct mt_slowest *s, uint64_t now_ns, uint64_t took_ns)
{
	uint32_t now = (uint32_t)(now_ns >> MT_SLOWEST_LOG2), took;

	if (took_ns > TOOK_MAX_NS)
		took_ns = TOOK_MAX_NS;
	took = (uint32_t)((took_ns + (1u << MT_SLOWEST_LOG2) - 1) >> MT_SLOWEST_LOG2);
	if (is_over(s, now)) {
		s->before = s->now;
		s->now = 0;
		s->began = now;
	}
	if (took > s->now)
		s->now = (uint16_t)took;
}
