/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic.h - the simulated NICs: an engine of core/ for each host, bound to the fabric of net.h.
 *
 * A NIC is the adapter's loop of core/engine.h and nothing else: packets in, timers when due,
 * packets out while a port has room, events. Beside that it plays the application: it makes a
 * connection (a QP, and at the destination an MR) when a flow begins, posts messages as the
 * workload allows, and takes connections down again. All of MRC is in the core, which does not know
 * that nothing here is real.
 *
 * Pacing. Data is handed to a port only when its serialiser is free within the time of one packet,
 * so that EVs are chosen late, control packets overtake, and no queue builds up in the NIC.
 *
 * Connections. What a host does for a flow depends on the workload and on what arrived here: the
 * two QPNs of a flow follow from its slots, so the destination makes its QP when the first packet
 * comes. It keeps it until nothing has come for linger_ns after all had arrived, in case an
 * acknowledgement was lost.
 *
 * Threads: as net.h says; a NIC touches its own host, the flows that begin or end there, and its
 * worker.
 */
#ifndef SOFTMRC_SIM_MRC_MRC_NIC_H
#define SOFTMRC_SIM_MRC_MRC_NIC_H

#include "core/config.h"
#include "core/stats.h"
#include "sim/kernel/sim_net.h"
#include "sim/workload/workload.h"

struct ms_nics;
struct ms_graph_exec; /* graph_play.h */

struct ms_nic_cfg {
	struct mf_topology topology;
	uint32_t threads;
	uint64_t seed;
	uint32_t path_mtu;    /* payload bytes of a packet: 256 .. 4096 */
	uint32_t frame_bytes; /* on the wire beside MRC headers and payload; frame.h */
	uint32_t evs;	      /* of a plane; more than there are paths: all paths */
	uint32_t evs_active;  /* of these in the rotation, the others are backups; 0: all */
	uint32_t min_active;  /* of all planes: fewer are never left usable */
	uint8_t revive_probes;
	/* All true is MRC; each may be false to see what it is worth. */
	bool ev_feedback;  /* marks, trims and losses make EVs skip a round or retire them */
	bool ecn_steering; /* marks do */
	bool ev_probes;	   /* bad EVs are probed, and come back */
	uint64_t probe_interval_ns, probe_interval_max_ns;
	struct mt_cc_profile_cfg cc;
	struct mt_timing timing;
	bool trim_nack; /* packets may be cut, and a cut one is answered by a NACK */
	uint8_t mpr;	/* window, units of 128 PSNs; smaller where that is never filled */
	uint16_t depth; /* messages of a flow posted at once, at most */
	uint8_t timeout, retry_linear, retry_exp;
	uint64_t linger_ns;
	void *owner; /* for ms_nics_owner */
};

/*
 * ms_nic_defaults fills in a configuration for a topology: MTU 4096, 128 EVs over all planes, NSCC
 * with the topology's rate and base RTT, trimming, MPR 8.
 */
void ms_nic_defaults(struct ms_nic_cfg *cfg, const struct mf_topology *topology);
/* ms_nic_check says whether NICs can be made so; else why (MS_WHY_BYTES) says what is wrong. */
bool ms_nic_check(const struct ms_nic_cfg *cfg, char *why);
/* ms_nic_memory returns what `hosts` NICs of this rank take at most with n checked workloads, when
 * all their flows are open at once; records of flows included. */
uint64_t ms_nic_memory(const struct ms_nic_cfg *cfg, const struct ms_workload_cfg *workload,
		       uint32_t n, uint64_t hosts);

/* ms_nics_create makes the NICs of all hosts, without engines until something happens there; cfg is
 * copied, the workload is the caller's and outlives them. NULL: why says what is wrong. */
struct ms_nics *ms_nics_create(const struct ms_nic_cfg *cfg, const struct ms_workload *workload,
			       char *why);
void ms_nics_destroy(struct ms_nics *nics);
/* ms_nics_hosts fills in receive, wake, carrier, resumed and soon for the net; ctx is the
 * NICs, ... */
void ms_nics_hosts(struct ms_nics *nics, struct ms_hosts *hosts);
/* ... from which ms_nics_owner leads back to whoever sees to taps and edges. */
void *ms_nics_owner(const struct ms_nics *nics);
/* ms_nics_start wakes, through the net, the hosts of this rank at which flows begin. */
void ms_nics_start(struct ms_nics *nics, struct ms_net *net);

/* ms_nics_wake_ps returns when a host is to be woken next, for who shares its wake-ups. */
uint64_t ms_nics_wake_ps(const struct ms_nics *nics, uint32_t host);

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

/* Sums over the NICs of this rank. */
struct ms_nic_sums {
	struct mt_stats core;
	uint64_t sent, received; /* packets handed to the fabric, and taken from it */
	uint32_t arrived, acked; /* flows */
	uint32_t failed;
	uint32_t violations;
	uint32_t engines, connections; /* that exist now */
	uint64_t memory_bytes;
};

/* ms_nics_graph_exec returns what plays the graph of a part; NULL: the part is no graph. */
struct ms_graph_exec *ms_nics_graph_exec(const struct ms_nics *nics, uint32_t part);

/* ms_nics_sums adds up; between runs and at edges. */
void ms_nics_sums(const struct ms_nics *nics, struct ms_nic_sums *sums);
/* ms_nics_arrived returns sums.arrived alone, cheaply. */
uint32_t ms_nics_arrived(const struct ms_nics *nics);
/* ms_nics_out_of_memory says whether memory ran out. */
bool ms_nics_out_of_memory(const struct ms_nics *nics);
/* ms_nics_violation returns the first thing that the checker found; NULL: nothing. */
const char *ms_nics_violation(const struct ms_nics *nics);
/*
 * ms_nics_check_end holds what engines counted against what NICs saw, when nothing is on its way
 * any more: what all engines took is what all NICs were given. Adds a complaint if not.
 */
void ms_nics_check_end(struct ms_nics *nics);
/* ms_nics_progress returns how many messages of a flow have been posted, and have arrived here. */
void ms_nics_progress(const struct ms_nics *nics, uint32_t flow, uint32_t *posted,
		      uint32_t *arrived);

#endif
