/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph.h - who computes how long, who sends what to whom, and what waits for what.
 *
 * A graph has nodes of two kinds. A compute keeps a host busy for some time. A transfer carries
 * bytes from one host to another. A node begins when all that it needs is over: computes of its
 * host, and transfers whose end its host sees (received by it, or sent by it and acknowledged). So
 * every need is a fact about one host, and hosts never look at each other. What is received and
 * then waited for together with other things is a compute of 0 ns that needs all of them.
 *
 * Streams. Computes of one host and one stream take place one at a time, in the order in which
 * they become ready. Computes of MS_STREAM_NONE take place in parallel with all others.
 *
 * Channels. All transfers of one source, destination and channel number go over one connection, in
 * the order in which they become ready. Connections live as long as the graph has transfers for
 * them, as those of training jobs do; what they learn of paths stays with them.
 *
 * A graph is built by one thread: create, add nodes, add needs, seal. After that it does not change
 * and may be read by any number of threads. graph_exec.h lets it take place; a workload of kind
 * MS_GRAPH runs it packet by packet, graph_ideal.h by arithmetic.
 */
#ifndef SOFTMRC_SIM_WORKLOAD_GRAPH_H
#define SOFTMRC_SIM_WORKLOAD_GRAPH_H

#include "sim/workload/workload.h"

#define MS_NODE_NONE UINT32_MAX
#define MS_NODES_MAX (UINT32_C(1) << 30)
/* Streams of a host are 0 .. MS_STREAMS - 1. */
#define MS_STREAMS 16u
#define MS_STREAM_NONE UINT16_MAX
#define MS_CHANNELS_MAX 65535u
/* Computes are shorter than this, 30 days; transfers are shorter than 2^32 bytes. */
#define MS_COMPUTE_MAX_NS UINT64_C(2592000000000000)

enum ms_node_kind {
	MS_COMPUTE,
	MS_TRANSFER,
};

struct ms_node {
	uint64_t amount; /* compute: ns; transfer: bytes */
	uint32_t host;	 /* where it begins */
	uint32_t peer;	 /* transfer: where it ends */
	uint32_t needs;	 /* how many */
	uint16_t worker; /* compute: stream; transfer: channel */
	uint8_t kind;	 /* enum ms_node_kind */
};

/* The transfers of one connection, in the order of their nodes. */
struct ms_channel {
	uint32_t src, dst;
	uint32_t first, n;	/* in ms_graph_message */
	uint64_t bytes;		/* of all */
	uint32_t longest_bytes; /* of one */
	uint16_t number;
};

struct ms_graph;

/* ms_graph_create makes an empty graph of hosts 0 .. hosts - 1; allocates. NULL: no memory. */
struct ms_graph *ms_graph_create(uint32_t hosts);
void ms_graph_destroy(struct ms_graph *g);

/*
 * ms_graph_compute and ms_graph_transfer add a node and return its number; nodes are numbered from
 * 0. MS_NODE_NONE: no memory, MS_NODES_MAX nodes, or a host, stream, channel, time or size out of
 * range; a transfer from a host to itself is out of range too.
 */
uint32_t ms_graph_compute(struct ms_graph *g, uint32_t host, uint16_t stream, uint64_t ns);
uint32_t ms_graph_transfer(struct ms_graph *g, uint32_t src, uint32_t dst, uint16_t channel,
			   uint64_t bytes);
/*
 * ms_graph_add_dependency lets `node` wait for `on`, and of a transfer for this end of it; for
 * computes `end` means nothing. MS_NODE_NONE for either is no need and returns true. false: no
 * memory or no such node. Whether the host of `node` can know is looked at by ms_graph_seal.
 */
bool ms_graph_add_dependency(struct ms_graph *g, uint32_t node, uint32_t on, enum ms_end end);
/*
 * ms_graph_seal checks the whole and makes it ready to be read. false: why (MS_WHY_BYTES) says what
 * is wrong, a need that another host would have to know or nodes that wait for each other, and *bad
 * (may be NULL) is the node, MS_NODE_NONE when memory ran out; the graph can only be destroyed.
 */
bool ms_graph_seal(struct ms_graph *g, char *why, uint32_t *bad);

/* ---- of any graph ---- */

uint32_t ms_graph_hosts(const struct ms_graph *g);
uint32_t ms_graph_nodes(const struct ms_graph *g);
/* ms_graph_node returns a node; valid until another one is added. */
const struct ms_node *ms_graph_node(const struct ms_graph *g, uint32_t node);

/* ---- of a sealed one ---- */

/* ms_graph_dependents returns the nodes that wait for this end of a node, *n of them; for computes
 * the end is MS_SENT. */
const uint32_t *ms_graph_dependents(const struct ms_graph *g, uint32_t node, enum ms_end end,
				    uint32_t *n);
uint32_t ms_graph_channels(const struct ms_graph *g);
/* ms_graph_channel returns a channel; they are sorted by source, destination and number. */
const struct ms_channel *ms_graph_channel(const struct ms_graph *g, uint32_t channel);
/* ms_graph_out and ms_graph_in return the channels that begin and end at a host, *n of them. */
uint32_t ms_graph_out(const struct ms_graph *g, uint32_t host, uint32_t *n);
const uint32_t *ms_graph_in(const struct ms_graph *g, uint32_t host, uint32_t *n);
/* ms_graph_in_slot returns which of the channels that end at its destination a channel is. */
uint32_t ms_graph_in_slot(const struct ms_graph *g, uint32_t channel);
/* ms_graph_message returns the node of transfer k of a channel, ms_graph_place which k a transfer
 * is and of which channel. */
uint32_t ms_graph_message(const struct ms_graph *g, uint32_t channel, uint32_t k);
uint32_t ms_graph_place(const struct ms_graph *g, uint32_t node, uint32_t *channel);
/* ms_graph_sizes returns the bytes of the transfers of a channel, in its order. */
const uint32_t *ms_graph_sizes(const struct ms_graph *g, uint32_t channel);
/* ms_graph_roots returns the nodes of a host that need nothing, *n of them. */
const uint32_t *ms_graph_roots(const struct ms_graph *g, uint32_t host, uint32_t *n);
/* ms_graph_streams returns one more than the highest stream that computes have. */
uint32_t ms_graph_streams(const struct ms_graph *g);
/* ms_graph_bytes returns what the graph has allocated. */
size_t ms_graph_bytes(const struct ms_graph *g);

#endif
