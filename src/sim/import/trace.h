/* SPDX-License-Identifier: BSD-2-Clause */
/* trace.h - traces of programs, GOAL and Chakra, as graphs. */
#ifndef SOFTMRC_SIM_IMPORT_TRACE_H
#define SOFTMRC_SIM_IMPORT_TRACE_H

#include "sim/import/input.h"
#include "sim/workload/graph.h"

/*
 * Traces of programs become graphs: ranks that compute, send, receive and wait.
 *
 * A reader adds operations of ranks and what they wait for; sends and receives are matched by
 * source, destination and tag, in their order, when all is there. An operation knows the line (of
 * a binary file: the number) that it came from, and every error names rank and line.
 *
 * What they become (graph.h): a calc is a compute of its stream; a send is a transfer, over when
 * it is acknowledged; a receive is a compute of 0 ns that waits for the transfer that it matches;
 * a send of a rank to itself is a compute of 0 ns. "Starts after the start of" another operation
 * means: after all that the other one waits for; that it may also wait for its stream is not taken
 * into account.
 */
/* Not to be written but by the calls below; collectives add to its graph. */
struct ms_trace {
	const char *file;
	struct ms_file_error *error;
	struct ms_graph *graph;
	uint32_t ranks;
	uint32_t *host;		/* of each rank */
	uint32_t *rank;		/* of each host */
	MS_GROW(uint32_t) line; /* of each node */
	MS_GROW(struct trace_end) end;
	MS_GROW(struct trace_need) need;
	MS_GROW(struct trace_gate) gate;
};

/* Hosts of ranks. */
struct ms_trace_place {
	uint32_t hosts;	       /* of the fabric */
	uint32_t hosts_per_t0; /* of it */
	enum ms_placement placement;
	uint64_t seed; /* MS_RANDOM */
};

/* ms_trace_create begins a trace of a file; allocates. NULL: no memory. */
struct ms_trace *ms_trace_create(const char *file, struct ms_file_error *error);
void ms_trace_destroy(struct ms_trace *t);

/* ms_trace_ranks says how many ranks there are, once, before any operation; false: *error says that
 * the fabric has fewer hosts. */
bool ms_trace_ranks(struct ms_trace *t, uint32_t ranks, const struct ms_trace_place *place,
		    uint32_t line);

/*
 * These add an operation of a rank and return its number, MS_NODE_NONE when *error says what is
 * wrong: a stream from MS_STREAMS on, a peer that is no rank, too long, no memory.
 */
uint32_t ms_trace_calc(struct ms_trace *t, uint32_t rank, uint32_t line, uint64_t stream,
		       uint64_t ns);
/* What a rank sends or receives. */
struct ms_trace_message {
	uint32_t peer, tag, line;
	uint64_t bytes;
	uint16_t channel; /* of sends */
};
uint32_t ms_trace_send(struct ms_trace *t, uint32_t rank, const struct ms_trace_message *m);
uint32_t ms_trace_recv(struct ms_trace *t, uint32_t rank, const struct ms_trace_message *m);
/* ms_trace_node takes a node that a collective made among the operations. */
bool ms_trace_node(struct ms_trace *t, uint32_t line, uint32_t node);
/* ms_trace_add_dependency lets `op` wait for the end of `on`, or for its start, both of one
 * rank. */
bool ms_trace_add_dependency(struct ms_trace *t, uint32_t op, uint32_t on, bool start);

/*
 * ms_trace_finish matches, puts in what waits for what, and seals. Returns the graph, which is now
 * the caller's; NULL: *error names a send or receive that nothing matches, a receive that is
 * shorter than what is sent, or operations that wait for each other.
 */
struct ms_graph *ms_trace_finish(struct ms_trace *t);

/* ms_trace_set_error writes an error "FILE:LINE: rank R: ...". Returns false. */
__attribute__((format(printf, 4, 5))) bool
ms_trace_set_error(struct ms_trace *t, uint32_t rank, uint32_t line, const char *format, ...);
/* ms_trace_set_no_memory says that memory ran out. Returns false. */
bool ms_trace_set_no_memory(struct ms_trace *t);

/*
 * Schedules in GOAL, the language of LogGOPSim and ATLAHS: for each rank what it sends, receives
 * and calculates, and in which order.
 *
 * 	num_ranks 2
 * 	rank 0 {
 * 	l1: calc 1000 cpu 0
 * 	l2: send 4096b to 1 tag 7 cpu 0 nic 0
 * 	l2 requires l1
 * 	}
 * 	rank 1 {
 * 	l1: recv 4096b from 0 tag 7
 * 	}
 *
 * Comments are // to the end of the line, and between slash-star and star-slash. A calc takes so
 * many ns. `requires` waits for the end, `irequires` for the start (trace.h). `nic` numbers the
 * connection between two ranks. The binary form that txt2bin makes of it is read too. Files are
 * read piece by piece, whatever their size; of the binary one a rank at a time.
 */
/*
 * ms_goal_read reads a schedule, in text or binary as its first bytes say. Returns its graph,
 * sealed, the caller's. NULL: *error names rank and line (binary: the number of the operation, from
 * 1) and what is wrong there. Blocks on the file.
 */
struct ms_graph *ms_goal_read(const char *path, const struct ms_trace_place *place,
			      struct ms_file_error *error);

/* ms_goal_is_binary says whether a file begins as binary schedules do; the file is at its begin. */
bool ms_goal_is_binary(const uint8_t first[8]);
/* ms_goal_text and ms_goal_binary add what a file says to a trace; false: the error is said. */
bool ms_goal_text(struct ms_trace *t, void *file, const struct ms_trace_place *place,
		  const char *path, struct ms_file_error *error);
bool ms_goal_binary(struct ms_trace *t, void *file, const struct ms_trace_place *place,
		    const char *path, struct ms_file_error *error);

/*
 * Execution traces of MLCommons Chakra: what each rank of a training job computed and sent, and
 * what waited for what. A file is a row of protobuf messages, each with its length before it:
 * first the metadata, then nodes.
 *
 * Of a node these count: id, type, duration_micros, ctrl_deps, data_deps, inputs.values where its
 * name holds "process_group:init", and the attributes comm_size, comm_type, comm_src, comm_dst,
 * comm_tag, is_cpu_op and pg_name. Computes of the GPU take place one after another, and so do
 * those of the CPU, in parallel with them. Collectives go as rings (all-to-all directly, broadcast
 * as a tree, a barrier is an all-reduce of nothing) among the ranks of their process group
 * (trace.h); the k-th one of a group at one rank is the k-th one at all others.
 */
#define MS_CHAKRA_RANKS_MAX 65536u

/*
 * ms_chakra_read reads the traces of `ranks` ranks: PATH.0.et, PATH.1.et and so on, or, where path
 * ends in .et, this one for all of them; what it sends to single ranks has then no meaning and is
 * refused. `groups` is a file that says who is in which process group; NULL: none. Returns a sealed
 * graph, the caller's. NULL: *error names rank and node (from 1) and what is wrong there. Blocks on
 * the files, and reads them a message at a time.
 */
struct ms_graph *ms_chakra_read(const char *path, const char *groups, uint32_t ranks,
				const struct ms_trace_place *place, struct ms_file_error *error);

/* What of a node counts. */
enum ms_chakra_type {
	MS_CHAKRA_METADATA = 1,
	MS_CHAKRA_LOAD,
	MS_CHAKRA_STORE,
	MS_CHAKRA_COMPUTE,
	MS_CHAKRA_SEND,
	MS_CHAKRA_RECV,
	MS_CHAKRA_COLLECTIVE,
	MS_CHAKRA_TYPES,
};

/* Bytes of a message; NULL: there are none. */
struct ms_chakra_text {
	const char *at;
	uint32_t len;
};

struct ms_chakra_node {
	uint64_t id, duration_us;
	uint64_t bytes;
	uint32_t type; /* enum ms_chakra_type */
	uint32_t collective, src, dst, tag;
	bool cpu, has_peer;
	struct ms_chakra_text group;  /* of a collective */
	struct ms_chakra_text groups; /* JSON: who is in which */
	const uint8_t *message;	      /* in which ms_chakra_dependencies finds what it depends on */
	size_t size;
};

/* ms_chakra_decode takes a message apart, which must live on; false: *why, a constant, says what is
 * wrong with it. */
bool ms_chakra_decode(const uint8_t *message, size_t size, struct ms_chakra_node *node,
		      const char **why);
/* ms_chakra_dependencies calls `take` for the id of each node that a decoded one depends on, until
 * that is false; returns whether it was not. */
bool ms_chakra_dependencies(const struct ms_chakra_node *node, bool (*take)(void *ctx, uint64_t id),
			    void *ctx);

/*
 * Process groups of Chakra: the names that collectives have for them, and which ranks are in them.
 * Who is in a group is said in JSON, in one of two forms:
 *
 * 	{"1": [0, 1], "2": [2, 3]}		a file next to the trace, as ASTRA-sim has it
 * 	[{"pg_name": "1", "ranks": [0, 1]}]	a node of the trace, as PyTorch has it
 *
 * PyTorch's may stand within the brackets and quotes of a list of Python. A list without a rank
 * means all ranks, and so does a group of which nothing is said. The order of ranks is that of the
 * ring in which collectives go.
 */
struct ms_chakra_group {
	bool said;	/* who is in it */
	uint32_t *rank; /* NULL: all */
	uint32_t n;
};

/* All zeros has none. */
struct ms_chakra_groups {
	struct ms_labels numbers; /* of groups, by their names */
	MS_GROW(struct ms_chakra_group) group;
};

void ms_chakra_groups_fini(struct ms_chakra_groups *g);

/* ms_chakra_groups_number numbers a group, from 0 as names are first met; false: no memory. */
bool ms_chakra_groups_number(struct ms_chakra_groups *g, const char *name, uint32_t len,
			     uint32_t *number);
/*
 * ms_chakra_groups_read takes over what JSON says of groups of a trace of so many ranks. false: why
 * (MS_WHY_BYTES) says what is wrong: no such JSON, a rank that there is not or that stands there
 * twice, or a group of which something else was said before.
 */
bool ms_chakra_groups_read(struct ms_chakra_groups *g, const char *json, size_t len, uint32_t ranks,
			   char *why);

#define MS_CHAKRA_NAME_BYTES 64u
/* ms_chakra_group_name writes the name of a group for messages, shortened, and returns it. */
const char *ms_chakra_group_name(const struct ms_chakra_groups *g, uint32_t number,
				 char out[MS_CHAKRA_NAME_BYTES]);

/*
 * Collectives of Chakra traces. At each rank one is two nodes: what it waits for is over, and it
 * is over. What lies between is made when all ranks are read.
 */
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
