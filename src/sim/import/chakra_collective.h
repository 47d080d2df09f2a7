/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chakra_collective.h - collectives of Chakra traces. At each rank one is two nodes: what it waits
 * for is over, and it is over. What lies between is made when all ranks are read.
 */
#ifndef SOFTMRC_SIM_IMPORT_CHAKRA_COLLECTIVE_H
#define SOFTMRC_SIM_IMPORT_CHAKRA_COLLECTIVE_H

#include "sim/import/chakra_groups.h"
#include "sim/import/trace_graph.h"

/* What CollectiveCommType numbers, 0 and up to here. */
#define MS_CHAKRA_COLLECTIVES 10u

/* A collective at one rank. */
struct ms_chakra_part {
	uint64_t bytes;
	uint32_t group, order; /* which of its group and rank, from 0 */
	uint32_t rank, line;
	uint32_t kind;
	uint32_t enter, over; /* nodes */
};

/*
 * ms_chakra_collectives makes all collectives of a trace of n parts, which it sorts. false: the
 * error says which rank of which group has none, another one, or is not in the group.
 */
bool ms_chakra_collectives(struct ms_trace *t, struct ms_chakra_part *part, size_t n,
			   const struct ms_chakra_groups *groups);

#endif
