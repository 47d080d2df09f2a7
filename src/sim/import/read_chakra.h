/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * read_chakra.h - execution traces of MLCommons Chakra: what each rank of a training job computed
 * and sent, and what waited for what. A file is a row of protobuf messages, each with its length
 * before it: first the metadata, then nodes.
 *
 * Of a node these count: id, type, duration_micros, ctrl_deps, data_deps, inputs.values where its
 * name holds "process_group:init", and the attributes
 * comm_size, comm_type, comm_src, comm_dst, comm_tag, is_cpu_op and pg_name. Computes of the GPU
 * take place one after another, and so do those of the CPU, in parallel with them. Collectives go
 * as rings (all-to-all directly, broadcast as a tree, a barrier is an all-reduce of nothing) among
 * the ranks of their process group (chakra_groups.h); the k-th one of a group at one rank is the
 * k-th one at all others.
 */
#ifndef SOFTMRC_SIM_IMPORT_READ_CHAKRA_H
#define SOFTMRC_SIM_IMPORT_READ_CHAKRA_H

#include "sim/import/trace_graph.h"

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

#endif
