/* SPDX-License-Identifier: BSD-2-Clause */
/* scenario_run.h - one run of one scenario, from reading it to its result. */
#ifndef SOFTMRC_STUDY_SCENARIO_RUN_H
#define SOFTMRC_STUDY_SCENARIO_RUN_H

#include "sim/scenario/scenario.h"

#include <jansson.h>

struct sim_run_how {
	bool quiet;
	uint64_t memory; /* what it may take; 0: all that is available */
	bool account;	 /* the result has curves, distributions and parameters too */
};

/*
 * sim_run_scenario runs a scenario with its outputs and hands over its result; says on stderr what
 * went wrong. Returns an exit status: of a good run, a failed one, one without room, or one that a
 * signal broke off. *result is NULL where there is none.
 */
int sim_run_scenario(struct ms_scenario *s, const struct sim_run_how *how, json_t **result);

#endif
