/* SPDX-License-Identifier: BSD-2-Clause */
/* slowest.c - the longest time that a peer took to answer lately. See the header. */
#include "core/ev/slowest.h"

/* The length of an interval, in times of the longest answer of it and of the one before. */
#define INTERVAL_TIMES 64u
/*
 * No pause for want of a core is longer. A host that was suspended finds samples of hours, and
 * would wait for as long for what is lost.
 */
#define TOOK_MAX_NS UINT64_C(1000000000)

/* REQ(req.retry.slow-peer) */
void mt_slowest_sample(struct mt_slowest *s, uint64_t now_ns, uint64_t took_ns)
{
	uint64_t most = s->now_ns > s->before_ns ? s->now_ns : s->before_ns;

	if (took_ns > TOOK_MAX_NS)
		took_ns = TOOK_MAX_NS;
	if (now_ns > s->began_ns + INTERVAL_TIMES * most) {
		s->before_ns = s->now_ns;
		s->now_ns = 0;
		s->began_ns = now_ns;
	}
	if (took_ns > s->now_ns)
		s->now_ns = took_ns;
}
