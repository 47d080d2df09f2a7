/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_nic.h - the NICs of all hosts of a run, whichever transports they speak.
 *
 * A transport (mrc/, roce/) is an implementation of nic_set.h. This is what a run sees of them: the
 * callbacks that a net takes, the records of flows, the graphs that hosts execute, sums, and what
 * the checker found. A host has one wake-up, shared by its transports.
 *
 * Threads: as sim_net.h says; a NIC touches its own host, the flows that begin or end there, and
 * its worker.
 */
#ifndef SOFTMRC_SIM_NIC_SIM_NIC_H
#define SOFTMRC_SIM_NIC_SIM_NIC_H

#include "sim/kernel/sim_net.h"
#include "sim/workload/graph.h"
#include "sim/workload/workload.h"

struct ms_nics;

/*
 * ms_nics_create makes the NICs of all hosts of a topology, without any transport; the workload is
 * the caller's and outlives them, owner is for ms_nics_owner. NULL: no memory, and why
 * (MS_WHY_BYTES) says so.
 */
struct ms_nics *ms_nics_create(const struct mf_topology *topology, uint32_t threads,
			       const struct ms_workload *workload, void *owner, char *why);
/* ms_nics_destroy frees the NICs and their transports; NULL is ignored. */
void ms_nics_destroy(struct ms_nics *nics);
/* ms_nics_memory returns the bytes of n checked workloads' records and of the table of hosts. */
uint64_t ms_nics_memory(const struct mf_topology *topology, const struct ms_workload_cfg *workload,
			uint32_t n);
/* ms_nics_hosts fills in receive, wake, carrier, pfc_resumed and prefetch; ctx is the NICs. */
void ms_nics_hosts(struct ms_nics *nics, struct ms_hosts *hosts);
/* ms_nics_owner returns what ms_nics_create was given. */
void *ms_nics_owner(const struct ms_nics *nics);
/* ms_nics_start wakes, through the net, the hosts of this rank at which flows begin. */
void ms_nics_start(struct ms_nics *nics, struct ms_net *net);

/* What the NICs of this rank know of a flow. UINT64_MAX: has not happened, or not here. */
struct ms_flow_record {
	uint64_t start_ns, acked_ns; /* at its source */
	uint64_t end_ns;	     /* at its destination */
	uint32_t retransmits;
	bool failed;
};

void ms_nics_flow(const struct ms_nics *nics, uint32_t flow, struct ms_flow_record *record);
/* ms_nics_placed returns how many bytes of a flow have been placed at its destination so far; 0 of
 * a flow that ends on another rank. Between runs and at edges. */
uint64_t ms_nics_placed(const struct ms_nics *nics, uint32_t flow);
/* ms_nics_progress returns how many messages of a flow have been posted, and have arrived here. */
void ms_nics_progress(const struct ms_nics *nics, uint32_t flow, uint32_t *posted,
		      uint32_t *arrived);
/* ms_nics_graph_exec returns what executes the graph of a part; NULL: the part is no graph. */
struct ms_graph_exec *ms_nics_graph_exec(const struct ms_nics *nics, uint32_t part);

/* Sums over the NICs of this rank. */
struct ms_nic_sums {
	uint64_t sent, received; /* packets handed to the fabric, and taken from it */
	uint32_t arrived, acked; /* flows */
	uint32_t failed;
	uint32_t violations;
	uint32_t hosts, connections; /* that exist now; connections of MRC only */
	uint64_t memory_bytes;
};

/* ms_nics_sums adds up; between runs and at edges. */
void ms_nics_sums(const struct ms_nics *nics, struct ms_nic_sums *sums);
/* ms_nics_arrived returns sums.arrived alone, cheaply. */
uint32_t ms_nics_arrived(const struct ms_nics *nics);
/* ms_nics_out_of_memory returns whether memory ran out. */
bool ms_nics_out_of_memory(const struct ms_nics *nics);
/* ms_nics_violation returns the first thing that the checker found; NULL: nothing. */
const char *ms_nics_violation(const struct ms_nics *nics);
/*
 * ms_nics_check_end compares the transports' counters with what NICs saw, when no packet is on its
 * way any more: every packet given to a NIC was counted by its transport. Adds a violation if not.
 */
void ms_nics_check_end(struct ms_nics *nics);

#endif
