/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * workload_state.h - what workloads and jobs consist of; for this folder only.
 *
 * A workload is a few parts side by side. A pattern describes the flows of one group among its
 * members 0 .. group_size-1. workload.c puts groups side by side and members on hosts. Permutations
 * and lists are one group of all hosts.
 */
#ifndef SOFTMRC_SIM_WORKLOAD_WORKLOAD_STATE_H
#define SOFTMRC_SIM_WORKLOAD_WORKLOAD_STATE_H

#include "sim/workload/graph.h"
#include "sim/workload/training_job.h"
#include "sim/workload/workload.h"

struct ms_part;

/* All numbers of flows and members are those within the group. */
struct ms_pattern {
	/* What is wrong with the cfg for this pattern; NULL: nothing. */
	const char *(*fault)(const struct ms_workload_cfg *cfg);
	uint64_t (*flows)(const struct ms_part *w);
	void (*flow)(const struct ms_part *w, uint32_t id, struct ms_flow *f);
	void (*need)(const struct ms_part *w, uint32_t id, uint32_t i, struct ms_dependency *need);
	uint32_t (*dependent)(const struct ms_part *w, uint32_t id, enum ms_end end, uint32_t i);
	/* How many flows begin at a member; NULL: at each `out_each`. */
	uint32_t (*outgoing)(const struct ms_part *w, uint32_t member);
	uint32_t out_each;
	/* How many flows begin and end at a member; NULL: twice as many as begin there. */
	uint32_t (*slots)(const struct ms_part *w, uint32_t member);
	uint32_t (*flow_at)(const struct ms_part *w, uint32_t member, uint32_t slot);
};

/* A list, sorted for its hosts. */
struct ms_list {
	struct ms_list_flow *flows;
	struct ms_list_need *needs;
	uint32_t n;
	uint32_t *first_out, *first_in; /* of each host, and one more */
	uint32_t *out, *in;		/* flows by host */
	uint32_t *slot;			/* two of each flow: at its source, at its destination */
	uint32_t *first_dependent, *dependents; /* flows by the flow that they need */
};

struct ms_part {
	struct ms_workload_cfg cfg; /* groups and group_size filled in */
	const struct ms_pattern *pattern;
	uint32_t flows_per_group;
	uint32_t *to, *from; /* permutation; random placement: member -> host, host -> member */
	struct ms_list list;
};

struct ms_workload {
	uint32_t n_parts;
	uint32_t first_flow[MS_PARTS_MAX + 1];
	struct ms_part parts[MS_PARTS_MAX];
};

extern const struct ms_pattern ms_pattern_permutation;
extern const struct ms_pattern ms_pattern_incast;
extern const struct ms_pattern ms_pattern_outcast;
extern const struct ms_pattern ms_pattern_all_to_all;
extern const struct ms_pattern ms_pattern_ring; /* all-reduce, all-gather, reduce-scatter */
extern const struct ms_pattern ms_pattern_tree;
extern const struct ms_pattern ms_pattern_doubling;
extern const struct ms_pattern ms_pattern_hierarchical;
extern const struct ms_pattern ms_pattern_list;
extern const struct ms_pattern ms_pattern_graph;

/* ms_list_open sorts the list of w->cfg; allocates. false: why says what is wrong. */
bool ms_list_open(struct ms_part *w, char *why);
void ms_list_close(struct ms_list *l);

/* ms_alloc_numbers returns n zeros, the caller's to free; NULL: no memory. */
static inline uint32_t *ms_alloc_numbers(size_t n)
{
	return calloc(n ? n : 1, sizeof(uint32_t));
}

/* ms_add_up turns counts, each one place on, into where each begins. */
static inline void ms_add_up(uint32_t *first, size_t n)
{
	for (size_t i = 0; i < n; i++)
		first[i + 1] += first[i];
}

/* ms_part_bytes returns the size of one of n equal parts of all bytes, rounded up. */
static inline uint64_t ms_part_bytes(uint64_t bytes, uint32_t n)
{
	return (bytes + n - 1) / n;
}

/* ms_flow_split gives a flow its size: so many messages, all alike. */
static inline void ms_flow_split(struct ms_flow *f, uint32_t messages, uint64_t message_bytes)
{
	f->messages = messages;
	f->message_bytes = message_bytes;
	f->bytes = message_bytes * messages;
}

/* What a graph consists of; for graph*.c only. */
/* ms_graph_sort fills in dependents, channels, what begins and ends where; false: no memory. */
bool ms_graph_sort(struct ms_graph *g);
/* ms_graph_check_order finds nodes that wait for each other; false: *bad is one of them, or
 * MS_NODE_NONE: no memory. */
bool ms_graph_check_order(const struct ms_graph *g, char *why, uint32_t *bad);

/* What a job consists of; for job*.c only. */
/* ms_job_place fills in the host of each rank; false: no memory. */
bool ms_job_place(const struct ms_job_cfg *cfg, uint32_t *host);
/* ms_job_build adds all steps to the job's graph; false: no memory, or a size out of range. */
bool ms_job_build(struct ms_job *job);

static inline uint32_t ms_job_rank(const struct ms_job_cfg *c, uint32_t p, uint32_t d, uint32_t t)
{
	return (p * c->dp + d) * c->tp + t;
}

#endif
