/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace_graph.h - traces of programs become graphs: ranks that compute, send, receive and wait.
 *
 * A reader adds operations of ranks and what they wait for; sends and receives are
 * matched by source, destination and tag, in their order, when all is there. An operation knows the
 * line (of a binary file: the number) that it came from, and every error names rank and line.
 *
 * What they become (graph.h): a calc is a compute of its stream; a send is a transfer, over when it
 * is acknowledged; a receive is a compute of 0 ns that waits for the transfer that it matches; a
 * send of a rank to itself is a compute of 0 ns. "Starts after the start of" another operation
 * means: after all that the other one waits for; that it may also wait for its stream is not
 * taken into account.
 */
#ifndef SOFTMRC_SIM_IMPORT_TRACE_GRAPH_H
#define SOFTMRC_SIM_IMPORT_TRACE_GRAPH_H

#include "sim/import/file_error.h"
#include "sim/workload/graph.h"

struct ms_trace;

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
uint32_t ms_trace_n_ranks(const struct ms_trace *t);
/* ms_trace_hosts returns the host of each rank. */
const uint32_t *ms_trace_hosts(const struct ms_trace *t);
/* ms_trace_graph returns the graph, for collectives; still open. */
struct ms_graph *ms_trace_graph(struct ms_trace *t);

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
/* ms_trace_node takes a node that a collective made, of a rank, among its operations. */
bool ms_trace_node(struct ms_trace *t, uint32_t rank, uint32_t line, uint32_t node);
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

#endif
