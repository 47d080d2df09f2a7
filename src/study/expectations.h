/* SPDX-License-Identifier: BSD-2-Clause */
/* expectations.h - is a result what its scenario says it must be? */
#ifndef SOFTMRC_STUDY_EXPECTATIONS_H
#define SOFTMRC_STUDY_EXPECTATIONS_H

#include "sim/scenario/scenario.h"

#include <jansson.h>

/*
 * sim_expect holds a result against the scenario's expectations and prints a line for each. Runs
 * the scenarios that they compare with. Returns an exit status.
 */
int sim_expect(const struct ms_scenario *s, const json_t *result);

#endif
