/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * result_details.h - what a result says of its run beside figures, so that somebody can look at it
 * without the scenario: parameters, faults, and how completion times are distributed.
 */
#ifndef SOFTMRC_STUDY_RESULT_DETAILS_H
#define SOFTMRC_STUDY_RESULT_DETAILS_H

#include "sim/scenario/scenario.h"

#include <jansson.h>

/* sim_details_parameters returns every key that the run took a value from, "mrc.evs" and so on. */
json_t *sim_details_parameters(const struct ms_scenario *s);
/* sim_details_faults returns what was to go wrong: kind, target, at_us, for_us (none: to the
 * end). */
json_t *sim_details_faults(const struct ms_scenario *s);
/* sim_details_graph_us returns when the last node of a part that is a graph was over, in us; 0:
 * there is no such part, or none is over. */
double sim_details_graph_us(struct ms_run *run, uint32_t part);
/*
 * sim_details_cdf returns of n times, sorted, the values at about a hundred shares: `share`, `us`.
 */
json_t *sim_details_cdf(const uint64_t *sorted_ns, uint32_t n);

#endif
