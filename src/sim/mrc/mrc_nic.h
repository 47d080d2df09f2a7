/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrc_nic.h - MRC in the simulated NICs: an engine of core/ for each host, bound to the fabric.
 *
 * A NIC is the adapter's loop of core/engine/engine.h and nothing else: packets in, timers when
 * due, packets out while a port has room, events. All of MRC is in the core, which does not know
 * that the fabric is simulated. A flow is a connection: a QP at its source, and at its destination
 * a QP and an MR.
 *
 * Pacing. Data is handed to a port only when its serialiser is free within the time of one packet,
 * so that EVs are chosen late, control packets overtake, and no queue builds up in the NIC.
 *
 * Connections. What a host does for a flow depends on the workload and on what arrived here: the
 * two QPNs of a flow follow from its slots, so the destination makes its QP when the first packet
 * comes. It keeps it until no packet has come for linger_ns after all had arrived, in case an
 * acknowledgement was lost.
 */
#ifndef SOFTMRC_SIM_MRC_MRC_NIC_H
#define SOFTMRC_SIM_MRC_MRC_NIC_H

#include "core/config.h"
#include "core/stats.h"
#include "fabric/topology.h"
#include "sim/kernel/sim_net.h"
#include "sim/nic/sim_nic.h"

#include <stdio.h>

struct ms_mrc;

struct ms_mrc_cfg {
	struct mf_topology topology;
	uint32_t threads;
	uint64_t seed;
	uint32_t path_mtu;    /* payload bytes of a packet: 256 .. 4096 */
	uint32_t frame_bytes; /* on the wire, MRC headers and payload not counted */
	uint32_t evs;	      /* of a plane; more than there are paths: all paths */
	uint32_t evs_active;  /* of these in the rotation, the others are backups; 0: all */
	bool evs_ordered;    /* each host has them in the order of links, from a place of its own */
	uint32_t min_active; /* of all planes: fewer are never left usable */
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
};

/*
 * ms_mrc_defaults fills in a configuration for a topology: MTU 4096, 256 EVs over all planes, NSCC
 * with the topology's rate and base RTT, trimming, MPR 8.
 */
void ms_mrc_defaults(struct ms_mrc_cfg *cfg, const struct mf_topology *topology);
/* ms_mrc_check says whether NICs can be made so; else why (MS_WHY_BYTES) says what is wrong. */
bool ms_mrc_check(const struct ms_mrc_cfg *cfg, char *why);
/* ms_mrc_memory returns what engines and connections of `hosts` hosts take at most with n checked
 * workloads, when all their flows are open at once; 0: none of the workloads uses MRC. */
uint64_t ms_mrc_memory(const struct ms_mrc_cfg *cfg, const struct ms_workload_cfg *workload,
		       uint32_t n, uint64_t hosts);

/* ms_mrc_create adds MRC to the NICs, which free it; hosts have no engine until something happens
 * there. cfg is copied. NULL: why (MS_WHY_BYTES) says what is wrong. */
struct ms_mrc *ms_mrc_create(const struct ms_mrc_cfg *cfg, struct ms_nics *nics, char *why);
/* ms_mrc_stats adds up the counters of all engines of this rank; between runs and at edges. */
void ms_mrc_stats(const struct ms_mrc *mrc, struct mt_stats *sum);

/*
 * What travels over some links of a run, as the frames that would be there: outer IPv6 with the
 * uSIDs that are left at that hop, inner IPv6, UDP, the MRC headers bit for bit, payload (all
 * zeros) and a right ICRC. As a pcapng file, with an interface for each link; packets begin with
 * an IP header.
 *
 * Threads may hand packets over at once; the file has them in the order of time.
 */
struct ms_capture;

/*
 * ms_capture_create begins a capture of n links to `to`, which stays the caller's; of each file
 * only the first `packets` packets are kept. Allocates; NULL: no memory. topology outlives it.
 */
struct ms_capture *ms_capture_create(const struct mf_topology *topology, const uint32_t *links,
				     uint32_t n, uint64_t packets, FILE *to);
/* ms_capture_destroy frees it; what was not flushed is lost. NULL is nothing. */
void ms_capture_destroy(struct ms_capture *c);

/* ms_capture_start has the captured links tapped. */
void ms_capture_start(const struct ms_capture *c, struct ms_net *net);

/* ms_capture_add_packet keeps a packet that begins to be sent on a link. Any thread. */
void ms_capture_add_packet(struct ms_capture *c, uint32_t link, uint64_t now_ps,
			   const struct ms_packet *p);
/*
 * ms_capture_flush writes what was taken since; no other call at the same time, and nothing may
 * come later that was sent earlier. false: the file cannot be written (errno), or memory ran out.
 */
bool ms_capture_flush(struct ms_capture *c);

/* Room for the longest frame: headers, 4096 bytes, pad and ICRC. */
#define MS_CAPTURE_FRAME_MAX 4352u

/*
 * ms_capture_frame writes the frame of a packet on a link, as it would be cut there, and returns
 * its bytes; 0: the packet does not take that link.
 */
uint32_t ms_capture_frame(const struct mf_topology *t, uint32_t link, const struct ms_packet *p,
			  uint8_t out[MS_CAPTURE_FRAME_MAX]);

#endif
