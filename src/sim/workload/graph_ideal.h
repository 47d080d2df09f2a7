/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_ideal.h - how a graph takes place on a network that arithmetic describes: a transfer keeps
 * its source busy for some time, one after the other, and arrives some time later. Nothing else is
 * in its way.
 */
#ifndef SOFTMRC_SIM_WORKLOAD_GRAPH_IDEAL_H
#define SOFTMRC_SIM_WORKLOAD_GRAPH_IDEAL_H

#include "sim/workload/graph_exec.h"

struct ms_ideal_cost {
	uint64_t busy_ns; /* the source sends nothing else */
	uint64_t way_ns;  /* from then on until it is there, and for the answer's way back */
};

typedef struct ms_ideal_cost (*ms_ideal_cost_fn)(void *ctx, uint32_t src, uint32_t dst,
						 uint64_t bytes);

/* ms_ideal_free is the cost of a network that takes no time at all. */
struct ms_ideal_cost ms_ideal_free(void *ctx, uint32_t src, uint32_t dst, uint64_t bytes);

/*
 * ms_ideal_run lets a sealed graph take place to its end and returns what was played, whose times
 * can be looked at; the caller destroys it. NULL: no memory.
 */
struct ms_graph_exec *ms_ideal_run(const struct ms_graph *g, uint64_t start_ns,
				   ms_ideal_cost_fn cost, void *ctx);
/* ms_ideal_end_ns returns when the last node of what was played was over. */
uint64_t ms_ideal_end_ns(const struct ms_graph_exec *p);

#endif
