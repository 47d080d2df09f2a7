/* SPDX-License-Identifier: BSD-2-Clause */
/* sim_graph_done.h - a graph that ran to its end. */
#ifndef SIM_GRAPH_DONE_H
#define SIM_GRAPH_DONE_H

#include "support/test.h"

#include "sim/workload/graph.h"

static inline void assert_graph_done(const struct ms_graph_exec *p)
{
	for (uint32_t i = 0; i < p->g->n; i++)
		assert_true(p->times[i].end_ns != UINT64_MAX);
}

#endif
