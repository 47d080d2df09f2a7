/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slowest.h - the longest time that a peer took to answer lately.
 *
 * A process that shares its cores is put aside for as long as others run, and meanwhile answers
 * nothing. Means forget that: between two such pauses come thousands of answers that were quick. So
 * the longest is kept, for as many times its own length as pauses must be apart for a packet that
 * goes again in each of them not to matter.
 */
#ifndef SOFTMRC_CORE_EV_SLOWEST_H
#define SOFTMRC_CORE_EV_SLOWEST_H

#include <stdint.h>

/* Times are kept in 2^14 ns, for a destination with its first peer is to fit into 1 KiB. */
#define MT_SLOWEST_LOG2 14u

/* A zeroed one has no sample. */
struct mt_slowest {
	uint32_t began;	 /* when the present interval did, without the highest bits */
	uint16_t now;	 /* the longest since then ... */
	uint16_t before; /* ... and of the interval before; 0: none */
};

/* mt_slowest_sample takes how long an answer took that has come at now_ns. */
void mt_slowest_sample(struct mt_slowest *s, uint64_t now_ns, uint64_t took_ns);

/*
 * mt_slowest_patience_ns returns how long to wait at least before silence means that something is
 * lost: the longest answer lately and a quarter; 0: nothing is known.
 */
static inline uint64_t mt_slowest_patience_ns(const struct mt_slowest *s)
{
	uint64_t most_ns = (uint64_t)(s->now > s->before ? s->now : s->before) << MT_SLOWEST_LOG2;

	return most_ns + most_ns / 4;
}

#endif
