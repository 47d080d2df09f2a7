/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * poisson_flows.h - flows that begin at random: sizes from a distribution, times of a Poisson
 * process, source and destination drawn evenly. All of it follows from the seed, on every machine
 * alike:
 * there is no floating point in it.
 */
#ifndef SOFTMRC_SIM_IMPORT_POISSON_FLOWS_H
#define SOFTMRC_SIM_IMPORT_POISSON_FLOWS_H

#include "sim/import/read_cdf.h"
#include "sim/workload/flow_list.h"

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

#endif
