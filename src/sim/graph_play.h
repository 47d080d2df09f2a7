/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_play.h - lets a graph take place: which nodes have begun, which are over, what may be sent.
 *
 * It knows of no network. Whoever has one (a simulated NIC of any transport, or arithmetic) tells
 * it that transfers were received and acknowledged and that time has come to where ms_play_next_ns
 * said, and after each of these asks with ms_play_due and ms_play_take what to send now.
 *
 * Threads: what belongs to one host is touched by one thread at a time; calls for different hosts
 * may come from different threads at once. The two ends of a transfer are two hosts.
 */
#ifndef SOFTMRC_SIM_GRAPH_PLAY_H
#define SOFTMRC_SIM_GRAPH_PLAY_H

#include "sim/graph.h"

struct ms_play;

/* Of one node. UINT64_MAX: has not happened, or not on this rank. */
struct ms_node_times {
	uint64_t begin_ns; /* a compute: began; a transfer: could have been sent */
	uint64_t end_ns;   /* a compute: was over; a transfer: was received */
};

/* ms_play_create lets a sealed graph, which the caller keeps, begin at start_ns. NULL: no
 * memory. */
struct ms_play *ms_play_create(const struct ms_graph *g, uint64_t start_ns);
void ms_play_destroy(struct ms_play *p);

/* ms_play_next_ns returns when ms_play_wake is to be called for a host; UINT64_MAX: not now. */
uint64_t ms_play_next_ns(const struct ms_play *p, uint32_t host);
/* ms_play_wake begins and ends what is to begin and end at a host by now. Calling it early does
 * nothing. */
void ms_play_wake(struct ms_play *p, uint32_t host, uint64_t now_ns);
/* ms_play_received and ms_play_sent say that transfer k of a channel has arrived at its
 * destination, and that its source knows; each once. */
void ms_play_received(struct ms_play *p, uint32_t channel, uint32_t k, uint64_t now_ns);
void ms_play_sent(struct ms_play *p, uint32_t channel, uint32_t k, uint64_t now_ns);
/* ms_play_due returns a channel that begins at the host and has something new to send, each once;
 * MS_NODE_NONE: none. */
uint32_t ms_play_due(struct ms_play *p, uint32_t host);
/* ms_play_take returns which transfer of a channel is to be sent next, and takes it off the queue;
 * MS_NODE_NONE: none is ready. */
uint32_t ms_play_take(struct ms_play *p, uint32_t channel);
/* ms_play_waits says whether any transfer of a channel is ready. */
bool ms_play_waits(const struct ms_play *p, uint32_t channel);

/* ms_play_times returns the times of all nodes, in their order. */
const struct ms_node_times *ms_play_times(const struct ms_play *p);
/* ms_play_graph returns the graph. */
const struct ms_graph *ms_play_graph(const struct ms_play *p);
/* ms_play_over returns how many nodes are over, of those whose end is known here; a pass over
 * all. */
uint32_t ms_play_over(const struct ms_play *p);
/* ms_play_set_times takes over the times of a node that another rank knows. */
void ms_play_set_times(struct ms_play *p, uint32_t node, const struct ms_node_times *times);
/* ms_play_bytes returns what playing a graph of so many nodes, channels, hosts allocates. */
size_t ms_play_bytes(const struct ms_graph *g);

#endif
