/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arrival_order.h - puts what comes to a unit in one window into its order.
 *
 * The keys are spread evenly, being times, so they are dealt into about as many buckets as there
 * are keys and an insertion sort does the rest: O(n), two passes, and the result does not depend on
 * the order in which they came, as keys differ.
 */
#ifndef SOFTMRC_SIM_KERNEL_ARRIVAL_ORDER_H
#define SOFTMRC_SIM_KERNEL_ARRIVAL_ORDER_H

#include <stdint.h>

#include "sim/kernel/sim_packet.h"

/* Something that comes: `when` (upper half, below the span) and a tie-break, and what it is. */
struct ms_key {
	uint64_t key;
	const struct ms_packet *p;
};

/* Buckets are at most this many. */
#define MS_ORDER_BUCKETS 8192u

/*
 * ms_order sorts n keys, all of whose upper halves are below `span` (1 .. 2^32). `other` has room
 * for n keys, `counts` for MS_ORDER_BUCKETS + 1 numbers. Returns where the result is: keys or
 * other.
 */
struct ms_key *ms_order(struct ms_key *keys, struct ms_key *other, uint32_t n, uint64_t span,
			uint32_t *counts);

#endif
