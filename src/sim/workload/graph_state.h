/* SPDX-License-Identifier: BSD-2-Clause */
/* graph_state.h - what a graph consists of; for graph*.c only. */
#ifndef SOFTMRC_SIM_WORKLOAD_GRAPH_STATE_H
#define SOFTMRC_SIM_WORKLOAD_GRAPH_STATE_H

#include "sim/workload/graph.h"

/* A need, while the graph is built. */
struct ms_graph_edge {
	uint32_t node, on;
	uint32_t end;
};

struct ms_graph {
	uint32_t hosts, streams;
	struct ms_node *node;
	uint32_t n, room;
	struct ms_graph_edge *edge;
	uint32_t n_edges, edges_room;
	/* Sealed. Dependents of node i at end e begin at first_dependent[2 * i + e]. */
	uint32_t *first_dependent, *dependents;
	struct ms_channel *channel;
	uint32_t n_channels;
	uint32_t *message; /* nodes, by channel */
	uint32_t *size;	   /* of them */
	uint32_t *place;   /* two of each node: its channel, and which of its transfers it is */
	uint32_t *first_out, *first_in, *in, *in_slot;
	uint32_t *first_root, *root;
};

/* ms_graph_sort fills in dependents, channels, what begins and ends where; false: no memory. */
bool ms_graph_sort(struct ms_graph *g);
/* ms_graph_check_order finds nodes that wait for each other; false: *bad is one of them, or
 * MS_NODE_NONE: no memory. */
bool ms_graph_check_order(const struct ms_graph *g, char *why, uint32_t *bad);

#endif
