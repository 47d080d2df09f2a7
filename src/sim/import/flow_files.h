/* SPDX-License-Identifier: BSD-2-Clause */
/* flow_files.h - readers of lists of flows and of topologies. */
#ifndef SOFTMRC_SIM_IMPORT_FLOW_FILES_H
#define SOFTMRC_SIM_IMPORT_FLOW_FILES_H

#include "fabric/topology.h"
#include "sim/import/input.h"
#include "sim/workload/workload.h"

/*
 * Reads lists of flows as CSV.
 *
 * 	src,dst,bytes,start,after
 * 	0,5,1M,0,
 * 	5,3,1M,10us,1
 *
 * The first line names the columns, in any order; src, dst and bytes must be there. `start` is a
 * time ("10us"; nothing is 0), `after` the number of a flow, counted from 1 as they stand in the
 * file, or several with blanks between: this flow begins when they are over, and not before its
 * start. A host knows of its own flows only, so they must end or begin at this flow's source.
 */
/*
 * ms_flows_read reads the text of a file for a fabric of `hosts` hosts into an empty list. false:
 * *error says what is wrong and the list is empty. Allocates.
 */
bool ms_flows_read(struct ms_flow_list *list, uint32_t hosts, const char *file, const char *text,
		   struct ms_file_error *error);

/*
 * Reads connection matrices of htsim (*.cm).
 *
 * 	Nodes 16
 * 	Connections 2
 * 	Triggers 1
 * 	2->11 id 1 start 0 size 2000000 send_done_trigger 1
 * 	2->4 id 2 trigger 1 size 2000000
 * 	trigger id 1 oneshot
 *
 * Starts are in picoseconds, sizes in bytes. A flow begins at its start, or when its trigger
 * fires: a trigger of kind `oneshot` is fired by one flow, `barrier` by the last of `count` flows.
 * Here a host knows of its own flows only: where one waits for a flow of other hosts, an empty
 * flow brings the news, behind those of the file and as slow as any packet. `failure` lines name
 * links between T1 and T2 that are down throughout. Words that order what is sent first (prio,
 * msg) are read and have no meaning here.
 *
 * Refused, with line and reason: what htsim refuses, triggers of kind `multishot` (which flow they
 * start depends on which one ends first) that more than one flow fires or waits for, and triggers
 * that cannot fire. Source of the format: ultraethernet/uet-htsim, connection_matrix.cpp.
 */
#define MS_CM_FAILURES_MAX 1024u

/* A link that is down: uplink `uplink` of T1 number `t1`. */
struct ms_cm_failure {
	uint32_t t1, uplink;
	uint32_t line;
};

struct ms_cm {
	uint32_t nodes;
	struct ms_flow_list flows;
	uint32_t n_failures;
	struct ms_cm_failure failure[MS_CM_FAILURES_MAX];
};

/*
 * ms_cm_read reads the text of a file; `file` is its name in messages. false: *error says what is
 * wrong and cm is empty. Otherwise ms_cm_fini frees it. Allocates.
 */
bool ms_cm_read(struct ms_cm *cm, const char *file, const char *text, struct ms_file_error *error);
void ms_cm_fini(struct ms_cm *cm);

/*
 * Reads distributions of flow sizes, and draws from them.
 *
 * 	# bytes  share of flows that are no longer
 * 	1000     0
 * 	10000    0.53
 * 	1000000  1
 *
 * Sizes rise and shares do not fall, the last one is 1, or 100 where the file counts in percent.
 * Between two lines sizes are spread evenly. A first share above 0 is the share of flows of just
 * that size. A middle column, as some published files have it, is passed over.
 */
#define MS_CDF_POINTS_MAX 4096u
/* Shares are counted in parts of this. */
#define MS_CDF_ONE 1000000000u

struct ms_cdf_point {
	uint64_t bytes;
	uint32_t share; /* of MS_CDF_ONE */
};

struct ms_cdf {
	uint32_t n;
	struct ms_cdf_point point[MS_CDF_POINTS_MAX];
};

/* ms_cdf_read reads the text of a file; false: *error says what is wrong. */
bool ms_cdf_read(struct ms_cdf *cdf, const char *file, const char *text,
		 struct ms_file_error *error);
/* ms_cdf_bytes returns the size below which `share` (below MS_CDF_ONE) of the flows are. */
uint64_t ms_cdf_bytes(const struct ms_cdf *cdf, uint32_t share);
/* ms_cdf_mean returns the mean size, rounded, at least 1. */
uint64_t ms_cdf_mean(const struct ms_cdf *cdf);

/*
 * Flows that begin at random: sizes from a distribution, times of a Poisson process, source and
 * destination drawn evenly. All of it follows from the seed, on every machine alike: there is no
 * floating point in it.
 */
#define MS_LOAD_ONE 1000000u

struct ms_poisson_cfg {
	uint32_t hosts;	   /* 2 or more */
	uint64_t bit_s;	   /* of a host, all planes together */
	uint32_t load;	   /* what hosts are to send on average, of MS_LOAD_ONE; at least 1 */
	uint64_t start_ns; /* flows begin from here on */
	uint64_t for_ns;   /* for this long */
	uint64_t seed;
};

/* ms_poisson_expected returns how many flows to expect; UINT64_MAX: more than can be counted. */
uint64_t ms_poisson_expected(const struct ms_poisson_cfg *cfg, const struct ms_cdf *cdf);
/*
 * ms_poisson_flows appends the flows, in order of their starts. false: no memory, or more than
 * MS_LIST_MAX; what was appended stays in the list. Allocates.
 */
bool ms_poisson_flows(const struct ms_poisson_cfg *cfg, const struct ms_cdf *cdf,
		      struct ms_flow_list *list);

/*
 * Reads topology files of htsim (*.topo).
 *
 * 	Nodes 8192
 * 	Tiers 2
 * 	Podsize 8192
 *
 * 	Tier 0
 * 	Downlink_speed_Gbps 400
 * 	Radix_Down 64
 * 	Radix_Up 64
 * 	Downlink_Latency_ns 1000
 *
 * 	Tier 1
 * 	...
 *
 * Tier 0 is that of the T0s; `down` is what is below a switch. Names may be written in any case.
 * Such a fabric has one plane. Refused, with line and reason: what htsim refuses, several links
 * between one pair of switches (Bundle above 1), and switches whose tiers take different times.
 * Source of the format: ultraethernet/uet-htsim, fat_tree_topology.cpp.
 */
/*
 * ms_topo_read reads the text of a file into the counts, rates and latencies of *cfg; the rest of
 * it (name, MTU, addresses, uSIDs) stays as the caller has set it. `file` is its name in messages.
 * false: *error says what is wrong and *cfg is as before.
 */
bool ms_topo_read(struct mf_topology_cfg *cfg, const char *file, const char *text,
		  struct ms_file_error *error);

#endif
