/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * workload.h - what hosts send to each other, and when.
 *
 * A workload is a set of flows. A flow is a connection from one host to another and the messages
 * that go over it, in order and all of one size except the last. Message k of a flow may begin when
 * the flow's start time has come and each of its needs is met: so many messages of another flow
 * have arrived at this host, or, of a flow that begins here, are complete. Every need is a fact
 * about the host at which the flow begins, so hosts never look at each other.
 *
 * Nothing is stored per flow except for lists: a generator computes a flow from its number, and so
 * 2,048 rings of 64 hosts cost as much as one. The flows of a host are its slots, numbered from 0:
 * first those that begin there, in each part in order of their start times, then those that end
 * there.
 *
 * A workload may have parts, as an incast and a permutation at the same time: the flows of each
 * part come after those of the part before, and so do the slots at either end.
 *
 * A graph is a part too: its channels are flows, whose messages have sizes of their own and may be
 * sent in any order; what they wait for is the graph's to know (graph.h).
 *
 * A workload does not change after it was made and may be read by any number of threads. All calls
 * are plain computations; none blocks or allocates unless it says so.
 */
#ifndef SOFTMRC_SIM_WORKLOAD_WORKLOAD_H
#define SOFTMRC_SIM_WORKLOAD_WORKLOAD_H

#include "sim/kernel/common.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ms_graph; /* graph.h */

#define MS_FLOW_NONE UINT32_MAX
/* Workloads that may run side by side. */
#define MS_PARTS_MAX 8u

enum ms_workload_kind {
	MS_PERMUTATION,		    /* each host sends to one other, and receives from one */
	MS_INCAST,		    /* of each group all others send to the first member */
	MS_OUTCAST,		    /* of each group the first member sends to all others */
	MS_ALL_TO_ALL,		    /* each member sends bytes to each other of its group */
	MS_ALL_REDUCE_RING,	    /* 2(N-1) steps of bytes/N to the next member */
	MS_ALL_REDUCE_TREE,	    /* up a binary tree and down again, in chunks */
	MS_ALL_REDUCE_DOUBLING,	    /* recursive doubling: log2 N steps of all bytes */
	MS_ALL_REDUCE_HIERARCHICAL, /* rings inside parts of the group, and across them */
	MS_ALL_GATHER,		    /* ring, N-1 steps of bytes/N */
	MS_REDUCE_SCATTER,	    /* ring, N-1 steps of bytes/N */
	MS_LIST,		    /* flows that a list names one by one */
	MS_GRAPH,		    /* computes and transfers of a graph; graph.h */
	MS_WORKLOAD_KINDS,
};

/* Which hosts are the members of which group. */
enum ms_placement {
	MS_PACKED,  /* group g has the hosts from g * group_size on */
	MS_STRIDED, /* member i of group g is host i * groups + g: rings go across T0s */
	MS_RANDOM,  /* a permutation of the hosts, by the seed */
	MS_PLACEMENTS,
};

/* What carries the flows of a part. */
enum ms_transport {
	MS_MRC,
	MS_ROCE, /* roce_nic.h */
	MS_TRANSPORTS,
};

/* Where the messages are counted that a need waits for. */
enum ms_end {
	MS_RECEIVED, /* at the destination of that flow: they have arrived */
	MS_SENT,     /* at its source: they are acknowledged */
};

/*
 * A need: message k >= from of a flow waits until `count` messages of `flow` have passed; with
 * `each` one more for each message after `from`. No more than that flow has is ever waited for.
 */
struct ms_dependency {
	uint32_t flow;
	uint32_t from;
	uint32_t count;
	bool each;
	enum ms_end end;
};

struct ms_flow {
	uint32_t src, dst;	     /* hosts */
	uint32_t src_slot, dst_slot; /* which of the host's connections it is */
	uint32_t messages;	     /* at least 1 */
	uint32_t n_needs;
	uint64_t message_bytes; /* of each but the last; below 2^32 */
	uint64_t bytes;		/* of all; 0 is one empty message */
	uint64_t start_ns;	/* not before */
};

/* A flow of a list. Slots are numbered by the list itself. */
struct ms_list_flow {
	uint32_t src, dst;
	uint64_t bytes;
	uint64_t start_ns;
	uint32_t first_need, n_needs; /* in ms_workload_cfg.list_needs */
};

/* A need of a list: the whole of `flow`. */
struct ms_list_need {
	uint32_t flow;
	enum ms_end end;
};

struct ms_workload_cfg {
	enum ms_workload_kind kind;
	enum ms_transport transport;
	uint32_t hosts;	       /* of the topology, 2 .. 2^24 */
	uint32_t hosts_per_t0; /* of it, 1 .. hosts */
	uint64_t seed;	       /* permutation and random placement */
	/* Permutation, incast, outcast, all-to-all: of each flow. Collectives: of each member. */
	uint64_t bytes;
	uint64_t start_ns; /* of everything but lists */
	/* Permutation: no host sends to one of its own T0. */
	bool across_t0;
	/* Everything but permutation and lists; groups * group_size <= hosts. */
	uint32_t groups;     /* 0: as many as fit */
	uint32_t group_size; /* 2 .. hosts; incast and outcast: the fan and one */
	enum ms_placement placement;
	uint32_t parallel;   /* all-to-all: flows of a host at once; 0: all */
	uint32_t chunks;     /* tree: parts in the pipeline, 1 .. 65536 */
	uint32_t local_size; /* hierarchical: members of the inner rings; divides group_size */
	/* Lists; copied. */
	const struct ms_list_flow *list;
	uint32_t n_list;
	const struct ms_list_need *list_needs;
	uint32_t n_list_needs;
	/* Graphs: sealed, of no more hosts than there are; the caller's, outlives the workload. */
	const struct ms_graph *graph;
};

struct ms_workload;

/*
 * ms_workload_create makes a workload of n parts, 1 .. MS_PARTS_MAX; allocates. cfg and its lists
 * are copied. NULL: why (at most MS_WHY_BYTES with its end) says which field has a value that is
 * not allowed and what is; of a list that would wait for itself it says who waits for whom. *bad
 * (may be NULL) is then the part.
 */
struct ms_workload *ms_workload_create(const struct ms_workload_cfg *cfg, uint32_t n, char *why,
				       uint32_t *bad);
void ms_workload_destroy(struct ms_workload *w);
/* ms_workload_check says whether a part may be made so, its list not looked at; else why. */
bool ms_workload_check(const struct ms_workload_cfg *cfg, char *why);
/* ms_workload_bytes returns what a part will allocate, before it is made. */
size_t ms_workload_bytes(const struct ms_workload_cfg *cfg);
/* ms_workload_count returns how many flows a checked part has. */
uint64_t ms_workload_count(const struct ms_workload_cfg *cfg);

/* ms_workload_shape fills in messages and bytes of the longest flow of a checked part, or
 * nearly. */
void ms_workload_shape(const struct ms_workload_cfg *cfg, struct ms_flow *flow);

/* ms_workload_flows returns how many flows there are. */
uint32_t ms_workload_flows(const struct ms_workload *w);
/* ms_workload_flow computes flow `id`, below ms_workload_flows. */
void ms_workload_flow(const struct ms_workload *w, uint32_t id, struct ms_flow *flow);
/* ms_workload_dependency computes need i, below flow.n_needs, of flow `id`. */
void ms_workload_dependency(const struct ms_workload *w, uint32_t id, uint32_t i,
			    struct ms_dependency *need);
/*
 * ms_workload_dependent returns the i-th flow, from 0, with a need of messages of `id` counted at
 * this end; MS_FLOW_NONE when there are no more. All of them begin at the host where that end is.
 */
uint32_t ms_workload_dependent(const struct ms_workload *w, uint32_t id, enum ms_end end,
			       uint32_t i);
/* ms_workload_parts returns how many parts there are. */
uint32_t ms_workload_parts(const struct ms_workload *w);
/* ms_workload_part_transport returns what carries the flows of a part, ms_workload_transport that
 * of a flow. */
enum ms_transport ms_workload_part_transport(const struct ms_workload *w, uint32_t part);
enum ms_transport ms_workload_transport(const struct ms_workload *w, uint32_t id);
/* ms_workload_part_outgoing returns how many flows of a part begin at a host. */
uint32_t ms_workload_part_outgoing(const struct ms_workload *w, uint32_t part, uint32_t host);
/* ms_workload_first_ns returns when the first flow of a transport begins at a host; UINT64_MAX:
 * none does. */
uint64_t ms_workload_first_ns(const struct ms_workload *w, uint32_t host,
			      enum ms_transport transport);
/* ms_workload_outgoing and _slots return how many flows begin at a host, and have an end there. */
uint32_t ms_workload_outgoing(const struct ms_workload *w, uint32_t host);
uint32_t ms_workload_slots(const struct ms_workload *w, uint32_t host);
/* ms_workload_flow_at returns the flow of a slot, below ms_workload_slots. */
uint32_t ms_workload_flow_at(const struct ms_workload *w, uint32_t host, uint32_t slot);

/* ms_dependency_count returns how many messages message k waits for; 0: none. `has`: of the needed
 * flow. */
static inline uint32_t ms_dependency_count(const struct ms_dependency *n, uint32_t k, uint32_t has)
{
	uint64_t count;

	if (k < n->from)
		return 0;
	count = (uint64_t)n->count + (n->each ? k - n->from : 0);
	return count < has ? (uint32_t)count : has;
}

/*
 * ms_workload_graph returns the graph of a flow, and which of its channels the flow is; NULL: it is
 * of no graph. *part (may be NULL) is the part in either case.
 */
const struct ms_graph *ms_workload_graph(const struct ms_workload *w, uint32_t id, uint32_t *part,
					 uint32_t *channel);
/* ms_workload_part_graph returns the graph of a part, *start_ns when it begins; NULL: none. */
const struct ms_graph *ms_workload_part_graph(const struct ms_workload *w, uint32_t part,
					      uint64_t *start_ns);
/* ms_workload_flow_of returns the flow that a channel of a part's graph is. */
uint32_t ms_workload_flow_of(const struct ms_workload *w, uint32_t part, uint32_t channel);

/* ms_workload_kind_name returns the name by which scenarios know a kind, as "all-reduce-ring". */
const char *ms_workload_kind_name(enum ms_workload_kind kind);

/*
 * A list of flows that grows while a file is read; what a workload of kind MS_LIST is made of. A
 * list of zeros is empty.
 */
/* Flows of a list, and their needs: as many as have a number in 32 bits with room to spare. */
#define MS_LIST_MAX 100000000u
/* The longest flow and the latest start that a file may ask for. */
#define MS_LIST_BYTES_MAX (UINT64_C(1) << 46)
#define MS_LIST_START_MAX_NS UINT64_C(86400000000000)

struct ms_flow_list {
	struct ms_list_flow *flow;
	uint32_t n; /* flows */
	size_t room;
	MS_GROW(struct ms_list_need) need;
};

/* ms_flow_list_fini frees the list and makes it empty. */
void ms_flow_list_fini(struct ms_flow_list *l);
/* ms_flow_list_add appends a flow without needs; false: no memory, the list is as before. */
bool ms_flow_list_add(struct ms_flow_list *l, const struct ms_list_flow *flow);
/*
 * ms_flow_list_add_dependency gives flow `of` one more need. The needs of one flow are given one
 * after the other, before those of the next. false: no memory.
 */
bool ms_flow_list_add_dependency(struct ms_flow_list *l, uint32_t of, uint32_t on, enum ms_end end);
/*
 * ms_flow_list_end says at which end of flow `on` the source of flow `of` learns that it is over;
 * false: at neither, so it cannot wait for it.
 */
bool ms_flow_list_end(const struct ms_flow_list *l, uint32_t of, uint32_t on, enum ms_end *end);

/* Random permutations that follow from a seed. */
/* ms_permutation_fill writes a random permutation of n, by the seed, and its inverse, which may be
 * NULL. */
void ms_permutation_fill(uint32_t *to, uint32_t *from, uint32_t n, uint64_t seed);
/*
 * ms_permutation_derange changes it so that no number maps to itself, or to another of the same
 * block of `block` numbers; false when no such permutation was found.
 */
bool ms_permutation_derange(uint32_t *to, uint32_t *from, uint32_t n, uint32_t block,
			    uint64_t seed);

#endif
