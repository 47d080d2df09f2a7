/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * read_htsim_topo.h - reads topology files of htsim (*.topo).
 *
 *	Nodes 8192
 *	Tiers 2
 *	Podsize 8192
 *
 *	Tier 0
 *	Downlink_speed_Gbps 400
 *	Radix_Down 64
 *	Radix_Up 64
 *	Downlink_Latency_ns 1000
 *
 *	Tier 1
 *	...
 *
 * Tier 0 is that of the T0s; `down` is what is below a switch. Names may be written in any case.
 * Such a fabric has one plane. Refused, with line and reason: what htsim refuses, several links
 * between one pair of switches (Bundle above 1), and switches whose tiers take different times.
 * Source of the format: ultraethernet/uet-htsim, fat_tree_topology.cpp.
 */
#ifndef SOFTMRC_SIM_IMPORT_READ_HTSIM_TOPO_H
#define SOFTMRC_SIM_IMPORT_READ_HTSIM_TOPO_H

#include "fabric/topology.h"
#include "sim/import/file_error.h"

/*
 * ms_topo_read reads the text of a file into the counts, rates and latencies of *cfg; the rest of
 * it (name, MTU, addresses, uSIDs) stays as the caller has set it. `file` is its name in messages.
 * false: *error says what is wrong and *cfg is as before.
 */
bool ms_topo_read(struct mf_topology_cfg *cfg, const char *file, const char *text,
		  struct ms_file_error *error);

#endif
