/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_exec.h - lets a graph take place: which nodes have begun, which are over, what may be sent.
 *
 * It knows of no network. Its caller (a simulated NIC of any transport, or arithmetic) tells
 * it that transfers were received and acknowledged and that time has come to where
 * ms_graph_exec_next_ns said, and after each of these asks with ms_graph_exec_next_channel and
 * ms_graph_exec_claim_transfer what to send now.
 *
 * Threads: what belongs to one host is touched by one thread at a time; calls for different hosts
 * may come from different threads at once. The two ends of a transfer are two hosts.
 */
#ifndef SOFTMRC_SIM_WORKLOAD_GRAPH_EXEC_H
#define SOFTMRC_SIM_WORKLOAD_GRAPH_EXEC_H

#include "sim/workload/graph.h"

struct ms_graph_exec;

/* Of one node. UINT64_MAX: has not happened, or not on this rank. */
struct ms_node_times {
	uint64_t begin_ns; /* a compute: began; a transfer: could have been sent */
	uint64_t end_ns;   /* a compute: was over; a transfer: was received */
};

/* ms_graph_exec_create lets a sealed graph, which the caller keeps, begin at start_ns. NULL: no
 * memory. */
struct ms_graph_exec *ms_graph_exec_create(const struct ms_graph *g, uint64_t start_ns);
void ms_graph_exec_destroy(struct ms_graph_exec *p);

/* ms_graph_exec_next_ns returns when ms_graph_exec_advance is to be called for a host; UINT64_MAX:
 * not now. */
uint64_t ms_graph_exec_next_ns(const struct ms_graph_exec *p, uint32_t host);
/* ms_graph_exec_advance begins and ends what is to begin and end at a host by now. Calling it early
 * does nothing. */
void ms_graph_exec_advance(struct ms_graph_exec *p, uint32_t host, uint64_t now_ns);
/* ms_graph_exec_received and ms_graph_exec_sent say that transfer k of a channel has arrived at its
 * destination, and that its source knows; each once. */
void ms_graph_exec_received(struct ms_graph_exec *p, uint32_t channel, uint32_t k, uint64_t now_ns);
void ms_graph_exec_sent(struct ms_graph_exec *p, uint32_t channel, uint32_t k, uint64_t now_ns);
/* ms_graph_exec_next_channel returns a channel that begins at the host and has something new to
 * send, each once; MS_NODE_NONE: none. */
uint32_t ms_graph_exec_next_channel(struct ms_graph_exec *p, uint32_t host);
/* ms_graph_exec_claim_transfer returns which transfer of a channel is to be sent next, and takes it
 * off the queue; MS_NODE_NONE: none is ready. */
uint32_t ms_graph_exec_claim_transfer(struct ms_graph_exec *p, uint32_t channel);
/* ms_graph_exec_has_transfer says whether any transfer of a channel is ready. */
bool ms_graph_exec_has_transfer(const struct ms_graph_exec *p, uint32_t channel);

/* ms_graph_exec_times returns the times of all nodes, in their order. */
const struct ms_node_times *ms_graph_exec_times(const struct ms_graph_exec *p);
/* ms_graph_exec_graph returns the graph. */
const struct ms_graph *ms_graph_exec_graph(const struct ms_graph_exec *p);
/* ms_graph_exec_set_times takes over the times of a node that another rank knows. */
void ms_graph_exec_set_times(struct ms_graph_exec *p, uint32_t node,
			     const struct ms_node_times *times);
/* ms_graph_exec_bytes returns what playing a graph of so many nodes, channels, hosts allocates. */
size_t ms_graph_exec_bytes(const struct ms_graph *g);

#endif
