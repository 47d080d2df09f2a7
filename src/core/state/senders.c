/* SPDX-License-Identifier: BSD-2-Clause */
/* senders.c - the periods in which senders are counted. See the header. */
#include "core/state/senders.h"

#include "base/assert.h"

/* A period that was not ended in time has counted too long, and says nothing of now. */
static void next_period(struct mt_senders *s, uint64_t now_ns, uint64_t length_ns)
{
	s->before = now_ns - s->end_ns < length_ns ? s->heard : 0;
	s->heard = 0;
	s->period++;
	s->end_ns = now_ns + length_ns;
}

void mt_senders_trimmed(struct mt_senders *s, uint64_t now_ns, uint64_t packet_ns, uint64_t min_ns)
{
	uint64_t length_ns = 2 * packet_ns * mt_senders_count(s);

	mb_assert(min_ns > 0);
	if (now_ns >= s->end_ns)
		next_period(s, now_ns, length_ns < min_ns ? min_ns : length_ns);
}
