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
 * and may be read by any number of threads. graph.h lets it take place; a workload of kind
 * MS_GRAPH runs it packet by packet, graph.h by arithmetic.
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

/* A need, while the graph is built. */
struct ms_graph_edge {
	uint32_t node, on;
	uint32_t end;
};

/* Not to be written but by the calls below. */
struct ms_graph {
	uint32_t hosts;
	uint32_t streams; /* one more than the highest that computes have */
	struct ms_node *node;
	uint32_t n; /* nodes */
	MS_GROW(struct ms_graph_edge) edges;
	size_t room;
	/* Sealed. Dependents of node i at end e begin at first_dependent[2 * i + e]. */
	uint32_t *first_dependent, *dependents;
	struct ms_channel *channel; /* sorted by source, destination and number */
	uint32_t n_channels;
	uint32_t *message; /* nodes, by channel */
	uint32_t *size;	   /* of them */
	uint32_t *place;   /* two of each node: its channel, and which of its transfers it is */
	uint32_t *first_out, *first_in, *in;
	uint32_t *in_slot; /* which of the channels that end at its destination a channel is */
	uint32_t *first_root, *root;
};

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

/* ---- of a sealed graph ---- */

/* ms_graph_dependents returns the nodes that wait for this end of a node, *n of them; for computes
 * the end is MS_SENT. */
const uint32_t *ms_graph_dependents(const struct ms_graph *g, uint32_t node, enum ms_end end,
				    uint32_t *n);
/* ms_graph_out and ms_graph_in return the channels that begin and end at a host, *n of them. */
uint32_t ms_graph_out(const struct ms_graph *g, uint32_t host, uint32_t *n);
const uint32_t *ms_graph_in(const struct ms_graph *g, uint32_t host, uint32_t *n);
/* ms_graph_message returns the node of transfer k of a channel, ms_graph_place which k a transfer
 * is and of which channel. */
uint32_t ms_graph_message(const struct ms_graph *g, uint32_t channel, uint32_t k);
uint32_t ms_graph_place(const struct ms_graph *g, uint32_t node, uint32_t *channel);
/* ms_graph_sizes returns the bytes of the transfers of a channel, in its order. */
const uint32_t *ms_graph_sizes(const struct ms_graph *g, uint32_t channel);
/* ms_graph_roots returns the nodes of a host that need nothing, *n of them. */
const uint32_t *ms_graph_roots(const struct ms_graph *g, uint32_t host, uint32_t *n);
/* ms_graph_bytes returns what the graph has allocated. */
size_t ms_graph_bytes(const struct ms_graph *g);

/* Collectives as computes and transfers of a graph. */
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

/*
 * Lets a graph take place: which nodes have begun, which are over, what may be sent.
 *
 * It knows of no network. Its caller (a simulated NIC of any transport, or arithmetic) tells it
 * that transfers were received and acknowledged and that time has come to where
 * ms_graph_exec_next_ns said, and after each of these asks with ms_graph_exec_next_channel and
 * ms_graph_exec_claim_transfer what to send now.
 *
 * Threads: what belongs to one host is touched by one thread at a time; calls for different hosts
 * may come from different threads at once. The two ends of a transfer are two hosts.
 */
/* Of one node. UINT64_MAX: has not happened, or not on this rank. */
struct ms_node_times {
	uint64_t begin_ns; /* a compute: began; a transfer: could have been sent */
	uint64_t end_ns;   /* a compute: was over; a transfer: was received */
};

/* Not to be written but by the calls below; `times` by who knows of what happened elsewhere. */
struct ms_graph_exec {
	const struct ms_graph *g;
	uint64_t start_ns;
	uint32_t *left; /* of each node: needs that are not met */
	uint32_t *next;
	struct ms_node_times *times; /* of each node */
	struct ms_exec_host *host;
	struct ms_exec_stream *stream; /* some of each host */
	struct ms_exec_channel *channel;
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

/* ms_graph_exec_bytes returns what playing a graph of so many nodes, channels, hosts allocates. */
size_t ms_graph_exec_bytes(const struct ms_graph *g);

/*
 * How a graph takes place on a network that arithmetic describes: a transfer keeps its source busy
 * for some time, one after the other, and arrives some time later. Nothing else is in its way.
 */
struct ms_ideal_cost {
	uint64_t busy_ns;    /* the source sends nothing else */
	uint64_t latency_ns; /* from then on until it is there, and for the answer's way back */
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
