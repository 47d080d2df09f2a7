/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * map_doubt.h - which cables are in doubt: something was bad on a route over them, and more packets
 * decide which of them it is, or that it is none. Routes that tell are probed at a higher rate for
 * as long. What may be slow is a direction of a cable, and is in doubt no more as soon as a train
 * came over it as fast as it should: of those that left one after the other a slow link lets none
 * pass.
 *
 * A route tells if one of its cables between switches is in doubt. A host's cable is crossed by all
 * that the host sends, so of that only the short routes tell: to the T0 and back, and to
 * neighbours.
 *
 * Probers of one process share a set, so that all watchers of a cable look at once. Time is counted
 * in steps of the prober. Nothing allocates; one thread at a time.
 */
#ifndef SOFTMRC_MAP_MAP_DOUBT_H
#define SOFTMRC_MAP_MAP_DOUBT_H

#include "map/map.h"

/* Cables that are in doubt at once, a power of two; of more, those that come later are left out. */
#define MM_DOUBTS_MAX 512u

enum mm_doubt {
	MM_DOUBT_BAD,  /* lost, damaged, doubled, out of order: small packets tell */
	MM_DOUBT_SLOW, /* slow: trains tell, and little else is to be sent there */
	MM_DOUBT_KINDS
};

struct mm_doubt_slot {
	uint32_t cable; /* one more; 0: never used */
	uint64_t bad_until;
	uint64_t slow_until[2]; /* by the lowest bit of the link */
	uint64_t fast_until[2]; /* no longer in doubt for what others may have done */
};

/* A set of zeros is empty. */
struct mm_doubts {
	struct mm_doubt_slot slot[MM_DOUBTS_MAX];
	uint64_t until[MM_DOUBT_KINDS]; /* of the one that lasts longest */
	uint64_t since[MM_DOUBT_KINDS]; /* without a break there was one */
};

/*
 * mm_doubts_add puts the cables of a route in doubt from a step until another one; of those that
 * may be slow only such as were not fast lately, if it has any.
 */
void mm_doubts_add(struct mm_doubts *d, const struct mm_route_of *of, enum mm_doubt what,
		   uint64_t step, uint64_t until);
/*
 * mm_doubts_not_slow says that a train came over all links of a route as fast as it should; while
 * others are in doubt that is remembered until another step.
 */
void mm_doubts_not_slow(struct mm_doubts *d, const struct mm_route_of *of, uint64_t step,
			uint64_t until);
/* mm_doubts_has says whether more packets of a route would tell something in this step. */
bool mm_doubts_has(const struct mm_doubts *d, const struct mm_route_of *of, enum mm_doubt what,
		   uint64_t step);
/* mm_doubts_touches says whether a link of a route is in doubt, if more packets tell or not. */
bool mm_doubts_touches(const struct mm_doubts *d, const struct mm_route_of *of, enum mm_doubt what,
		       uint64_t step);
/* mm_doubts_any_slow says whether a cable of hosts, or one of switches alone, may be slow. */
bool mm_doubts_any_slow(const struct mm_doubts *d, const struct mf_topology *t, bool of_hosts,
			uint64_t step);

#endif
