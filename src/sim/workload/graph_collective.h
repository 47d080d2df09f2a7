/* SPDX-License-Identifier: BSD-2-Clause */
/* graph_collective.h - collectives as computes and transfers of a graph. */
#ifndef SOFTMRC_SIM_WORKLOAD_GRAPH_COLLECTIVE_H
#define SOFTMRC_SIM_WORKLOAD_GRAPH_COLLECTIVE_H

#include "sim/workload/graph.h"

enum ms_collective_kind {
	MS_COLL_ALL_REDUCE,	/* ring: 2(N-1) steps of bytes/N to the next member */
	MS_COLL_REDUCE_SCATTER, /* ring: N-1 steps of bytes/N */
	MS_COLL_ALL_GATHER,	/* ring: N-1 steps of bytes/N */
	MS_COLL_ALL_TO_ALL,	/* bytes from each member to each other */
	MS_COLL_BROADCAST,	/* all bytes from the first, down a binary tree */
	MS_COLLECTIVES,
};

struct ms_collective {
	enum ms_collective_kind kind;
	const uint32_t *member; /* hosts, all different */
	uint32_t n;		/* 1 or more */
	uint64_t bytes;		/* 0: messages without any */
	uint16_t channel;
	/*
	 * All-to-all with bytes that differ: member i sends share(ctx, i, k) to member k. NULL: all
	 * send `bytes`.
	 */
	uint64_t (*share)(const void *ctx, uint32_t from, uint32_t to);
	const void *ctx;
};

/*
 * ms_collective_add adds a collective. Member i sends nothing before node enter[i] is over
 * (MS_NODE_NONE: it may begin at once). leave[i] is made: a compute of 0 ns at member i which is
 * over when member i has entered and has received all that is for it. enter and leave may be one
 * array. false: no memory, or a member or a size is out of range.
 */
bool ms_collective_add(struct ms_graph *g, const struct ms_collective *c, const uint32_t *enter,
		       uint32_t *leave);

#endif
